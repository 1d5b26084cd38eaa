/* Does for a captured mail what sendmail -t -i would do: reads its options, adds this host's domain
 * to local users, adds a From, and finds the sender. */
#include "php/capture/internal.h"

#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "zend_smart_str.h"

#include "core/ascii.h"
#include "mime/address.h"
#include "mime/mailbox.h"
#include "mime/wire/envelope.h"
#include "mime/wire/message.h"
#include "php/class/conversion.h"
#include "php/ini.h"
#include "php/message/given_message.h"
#include "php/message/holder.h"
#include "php/message/mail.h"

#define HOST_CHARACTERS "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789.-"
#define ADDRESS_MAX     320
#define FROM_MAX        2048
#define NAME_SIZE       256

/* ---- the command line ---- */

/* What the command line says about the envelope; NULL: nothing. */
struct command {
    zend_string *sender;     /* value of the last -f or -r, as given */
    zend_string *name;       /* value of -F */
    zend_string *recipients; /* the words after the options, with commas between */
    struct mq_notify notify; /* values of -N, -R and -V */
};

/* Returns the next word of a command line, or NULL at its end; the caller releases it. mail() has
 * passed the fifth argument through escapeshellcmd(). So special characters and backslashes stand
 * for themselves, and so do unpaired quotes; a line end is dropped. */
static zend_string *next_word(const char **rest)
{
    const char *p = *rest + strspn(*rest, " \t\n");
    smart_str word = {0};
    char quote = '\0';
    if (*p == '\0') {
        return NULL;
    }
    for (; *p && (quote || (*p != ' ' && *p != '\t')); p++) {
        bool is_quote = *p == '"' || *p == '\'';
        if (quote ? *p == quote : is_quote && strchr(p + 1, *p)) {
            quote = quote ? '\0' : *p;
        } else if (*p != '\n') {
            smart_str_appendc(&word, *p);
        }
    }
    *rest = p;
    return smart_str_extract(&word);
}

/* Stores the value of -N, -R or -V. Like Postfix's sendmail, it ignores one that is wrong. */
static void take_notify(struct mq_notify *out, char option, struct mq_str value)
{
    if (option == 'N') {
        mq_notify_set_when(out, value, NULL);
    } else if (option == 'R') {
        mq_notify_set_ret(out, value, NULL);
    } else if (option == 'V') {
        mq_notify_set_envid(out, value, NULL);
    }
}

/* Stores the value of one option; takes over `value`. */
static void take_value(struct command *out, char option, zend_string *value)
{
    if (option == 'F') {
        mq_capture_replace(&out->name, value);
    } else if (option == 'f' || option == 'r') {
        mq_capture_replace(&out->sender, value);
    } else {
        take_notify(&out->notify, option, mq_php_str(value));
        zend_string_release(value);
    }
}

/* Reads one word of options ("-ti", "-fann@example.org", "-f" with its value in the next word). */
static void take_options(const char **words, const char *letters, struct command *out)
{
    static const char with_value[] = "ABCFLNORVXbefhopr";
    static const char with_attached_value[] = "dMqQ";
    for (; *letters && !strchr(with_attached_value, *letters); letters++) {
        if (strchr(with_value, *letters)) {
            const char *attached = letters + 1;
            zend_string *value =
                *attached ? zend_string_init(attached, strlen(attached), 0) : next_word(words);
            if (value) {
                take_value(out, *letters, value);
            }
            return;
        }
    }
}

static void add_recipient(struct command *out, zend_string *word)
{
    zend_string *line = mq_capture_one_line(word);
    const char *before = out->recipients ? ZSTR_VAL(out->recipients) : "";
    mq_capture_replace(&out->recipients,
                       strpprintf(0, "%s%s%s", before, *before ? ", " : "", ZSTR_VAL(line)));
    zend_string_release(line);
}

static void read_words(const char *words, bool recipients, struct command *out)
{
    bool options = true;
    zend_string *word;
    while ((word = next_word(&words)) != NULL) {
        const char *text = ZSTR_VAL(word);
        if (options && strcmp(text, "--") == 0) {
            options = false;
        } else if (options && text[0] == '-' && text[1] == '-') {
            /* Ignore long options, which only some programs have. */
        } else if (options && text[0] == '-' && text[1]) {
            take_options(&words, text + 1, out);
        } else if (recipients && ZSTR_LEN(word) > 0) {
            add_recipient(out, word);
        }
        zend_string_release(word);
    }
}

/* Reads the options of sendmail_path, then mail.force_extra_parameters if that is set, else
 * `parameters`. Other words of sendmail_path are ignored: they may be a wrapper's command or an
 * account. */
static void read_command(const zend_string *parameters, struct command *out)
{
    const char *path = MQ_PHP_INI("sendmail_path");
    const char *forced = MQ_PHP_INI("mail.force_extra_parameters");
    read_words(path ? path : "", false, out);
    read_words(forced ? forced : parameters ? ZSTR_VAL(parameters) : "", true, out);
}

static void clear_command(struct command *command)
{
    mq_capture_replace(&command->sender, NULL);
    mq_capture_replace(&command->name, NULL);
    mq_capture_replace(&command->recipients, NULL);
}

/* ---- users of this host ---- */

static bool is_host(const char *name)
{
    return *name && *name != '.' && *name != '-' && name[strspn(name, HOST_CHARACTERS)] == '\0';
}

/* Reads the domain of local addresses from /etc/mailname, a file of Debian. */
static void read_mailname(char out[NAME_SIZE])
{
    FILE *file = fopen("/etc/mailname", "re");
    bool has = file && fgets(out, NAME_SIZE, file);
    out[has ? strcspn(out, " \t\r\n") : 0] = '\0';
    if (file) {
        fclose(file);
    }
}

/* Whether a line of /etc/hosts names the host `name`; then replaces it by the line's first name. */
static bool is_in_hosts(char *line, char name[NAME_SIZE])
{
    char *rest = NULL, *first = NULL;
    line[strcspn(line, "#\n")] = '\0';
    if (strtok_r(line, " \t", &rest) != NULL) {
        first = strtok_r(NULL, " \t", &rest);
    }
    for (char *word = first; word; word = strtok_r(NULL, " \t", &rest)) {
        if (strcasecmp(word, name) == 0 && is_host(first) && strchr(first, '.')) {
            snprintf(name, NAME_SIZE, "%s", first);
            return true;
        }
    }
    return false;
}

/* Finds the full name of this host, with the help of /etc/hosts. We do not call getaddrinfo(),
 * because it could ask the DNS, and the request would wait. */
static void full_host_name(char out[NAME_SIZE])
{
    char line[1024];
    if (gethostname(out, NAME_SIZE) != 0) {
        *out = '\0';
    }
    out[NAME_SIZE - 1] = '\0';
    FILE *file = *out && !strchr(out, '.') ? fopen("/etc/hosts", "re") : NULL;
    while (file && fgets(line, sizeof line, file) && !is_in_hosts(line, out)) {
        continue;
    }
    if (file) {
        fclose(file);
    }
}

static void find_host(char out[NAME_SIZE])
{
    read_mailname(out);
    if (!is_host(out)) {
        full_host_name(out);
    }
    if (!is_host(out)) { /* not a valid host name, such as a container's with "_" */
        snprintf(out, NAME_SIZE, "localhost");
    }
}

/* Reads from passwd(5) the login name or the full name of the user that PHP runs as. */
static void read_user(bool full, char out[NAME_SIZE])
{
    char scratch[4096];
    struct passwd entry, *found = NULL;
    const char *name = full ? "" : "nobody";
    if (getpwuid_r(geteuid(), &entry, scratch, sizeof scratch, &found) == 0 && found) {
        name = full ? found->pw_gecos : found->pw_name;
    }
    snprintf(out, NAME_SIZE, "%s", name ? name : "");
    out[strcspn(out, ",")] = '\0';
}

/* A local user: atext (RFC 5322, 3.2.3) and dots. */
static bool is_user(struct mq_str name)
{
    for (size_t i = 0; i < name.len; i++) {
        if (!mq_is_atext(name.data[i]) && name.data[i] != '.') {
            return false;
        }
    }
    return name.len > 0;
}

/* Appends the value of an address field; users such as "root" or "Name <root>" get this host's
 * domain. From the first address that cannot be parsed, the value stays as it is. */
static void append_qualified(smart_str *out, struct mq_str value)
{
    struct mq_address_reader reader = {.rest = mq_str_trim(value)};
    struct mq_str address;
    const char *done = value.data;
    char host[NAME_SIZE] = "";
    while (mq_address_next(&reader, &address)) {
        if (is_user(address)) {
            if (*host == '\0') {
                find_host(host);
            }
            const char *end = address.data + address.len;
            smart_str_appendl(out, done, (size_t)(end - done));
            smart_str_append_printf(out, "@%s", host);
            done = end;
        }
    }
    smart_str_appendl(out, done, (size_t)(value.data + value.len - done));
}

/* ---- the sender ---- */

static enum mq_status read_one(struct mq_str text, const char *field, char out[ADDRESS_MAX],
                               struct mq_error *err)
{
    struct mq_strings found = {0};
    smart_str full = {0};
    append_qualified(&full, text);
    enum mq_status status = mq_addresses_of_header(mq_php_str(full.s), field, &found, err);
    if (status == MQ_OK && found.count != 1) {
        status =
            mq_error_set(err, MQ_MESSAGE, field, "%s: %zu addresses; give one", field, found.count);
    }
    if (status == MQ_OK) {
        snprintf(out, ADDRESS_MAX, "%s", found.items[0]);
    }
    mq_strings_clear(&found);
    smart_str_free(&full);
    return status;
}

/* Finds the sender that -f names; "" if that is the null reverse-path, or if there is no -f. */
static enum mq_status given_sender(const struct command *command, char out[ADDRESS_MAX],
                                   struct mq_error *err)
{
    struct mq_str text = mq_str_trim(mq_php_str(command->sender));
    *out = '\0';
    return text.len == 0 || mq_str_equal(text, MQ_STR("<>")) ? MQ_OK
                                                             : read_one(text, "-f", out, err);
}

/* Finds the sender of a mail that names none. */
static enum mq_status usual_sender(char out[ADDRESS_MAX], struct mq_error *err)
{
    char user[NAME_SIZE];
    struct mq_str set = mq_str_trim(mq_str_of(MQ_PHP_INI("sendmail_from")));
    if (set.len > 0) {
        return read_one(set, "sendmail_from", out, err);
    }
    read_user(false, user);
    return read_one(mq_str_of(user), "From", out, err);
}

/* Finds the sender if there is no -f. A From that is not an address, such as "Our Club", is
 * accepted, because sendmail does not check it either; the usual sender takes its place. */
static enum mq_status find_sender(const zend_string *head, const struct command *command,
                                  char out[ADDRESS_MAX], struct mq_error *err)
{
    char *named = NULL;
    if (command->sender) {
        return MQ_OK;
    }
    if (mq_envelope_sender(mq_php_str(head), &named, err) != MQ_OK || named == NULL) {
        return usual_sender(out, err);
    }
    snprintf(out, ADDRESS_MAX, "%s", named);
    free(named);
    return MQ_OK;
}

/* ---- the header section ---- */

/* Writes a From with the name of -F or else the user's, or with none if a header cannot hold it. */
static void write_from(const zend_string *name, const char *address, char out[FROM_MAX])
{
    char full_name[NAME_SIZE];
    struct mq_mailboxes list = {0};
    struct mq_buffer line = {0};
    read_user(true, full_name);
    struct mq_str shown = mq_str_trim(name ? mq_php_str(name) : mq_str_of(full_name));
    snprintf(out, FROM_MAX, "From: %s\r\n", address);
    if (mq_mailboxes_add(shown, mq_str_of(address), "From", &list, NULL) == MQ_OK) {
        mq_mailboxes_write(&line, "From", &list);
        if (!line.failed && line.len < FROM_MAX) {
            snprintf(out, FROM_MAX, "%s", line.data);
        }
    }
    mq_buffer_clear(&line);
    mq_mailboxes_clear(&list);
}

static enum mq_status add_from(zend_string **head, const struct command *command,
                               const char *sender, struct mq_error *err)
{
    char address[ADDRESS_MAX], from[FROM_MAX];
    struct mq_str value;
    if (mq_message_header(mq_php_str(*head), "From", &value)) {
        return MQ_OK;
    }
    strcpy(address, sender);
    if (*address == '\0') {
        MQ_TRY(usual_sender(address, err));
    }
    write_from(command->name, address, from);
    mq_capture_replace(head,
                       zend_string_concat2(from, strlen(from), ZSTR_VAL(*head), ZSTR_LEN(*head)));
    return MQ_OK;
}

static bool has_addresses(struct mq_str name)
{
    if (mq_str_begins_nocase(name, "Resent-")) {
        name = mq_str_skip(name, strlen("Resent-"));
    }
    return mq_str_word(name, "To Cc Bcc From Sender", mq_str_equal_nocase) >= 0;
}

/* Returns the header section, with this host's domain added to local users. */
static zend_string *qualified(const zend_string *head)
{
    struct mq_message_fields fields;
    smart_str out = {0};
    const char *done = ZSTR_VAL(head);
    mq_message_fields_init(&fields, mq_php_str(head));
    while (mq_message_fields_next(&fields)) {
        if (fields.value.len > 0 && has_addresses(fields.name)) {
            smart_str_appendl(&out, done, (size_t)(fields.value.data - done));
            append_qualified(&out, fields.value);
            done = fields.value.data + fields.value.len;
        }
    }
    smart_str_appendl(&out, done, (size_t)(ZSTR_VAL(head) + ZSTR_LEN(head) - done));
    return smart_str_extract(&out);
}

/* ---- the arguments of enqueue() ---- */

static void clear_list(void *list)
{
    mq_strings_clear(list);
}

/* Collects the recipients of header section and command line. `out` stays undefined without any. */
static enum mq_status set_recipients(const zend_string *head, const zend_string *words, zval *out,
                                     struct mq_error *err)
{
    zval holder; /* frees the list if PHP's memory limit ends this function */
    struct mq_strings *list = mq_php_holder_new(&holder, sizeof *list, clear_list);
    smart_str more = {0};
    enum mq_status status = mq_envelope_recipients(mq_php_str(head), list, err);
    if (status == MQ_OK && words) {
        append_qualified(&more, mq_php_str(words));
        status = mq_addresses_of_header(mq_php_str(more.s), "additional_params", list, err);
    }
    if (status == MQ_OK && list->count > 0) {
        array_init(out);
    }
    for (size_t i = 0; i < list->count && status == MQ_OK; i++) {
        add_assoc_string(out, list->items[i], list->items[i]); /* as keys: no address comes twice */
    }
    zval_ptr_dtor(&holder);
    smart_str_free(&more);
    return status;
}

/* Makes the header section and the envelope. If there is a DKIM-Signature, the header section must
 * not change: local users get this host's domain in the envelope only. */
static enum mq_status read_head(const struct mq_capture *mail, const struct command *command,
                                zend_string **head, struct mq_php_arguments *args,
                                struct mq_error *err)
{
    char sender[ADDRESS_MAX];
    struct mq_str signature;
    *head = mq_capture_head(mail);
    zend_string *full = qualified(*head);
    if (!mq_message_header(mq_php_str(*head), "DKIM-Signature", &signature)) {
        mq_capture_replace(head, zend_string_copy(full));
    }
    enum mq_status status = given_sender(command, sender, err);
    if (status == MQ_OK) {
        status = set_recipients(full, command->recipients, &args->recipients, err);
    }
    if (status == MQ_OK) {
        status = add_from(head, command, sender, err);
    }
    if (status == MQ_OK) {
        status = find_sender(full, command, sender, err);
    }
    args->envelope_from = zend_string_init(sender, strlen(sender), 0);
    zend_string_release(full);
    return status;
}

enum mq_status mq_capture_arguments(const struct mq_capture *mail, struct mq_php_arguments *args,
                                    struct mq_error *err)
{
    struct command command = {0};
    zend_string *head = NULL;
    read_command(mail->parameters, &command);
    args->notify = command.notify;
    enum mq_status status = read_head(mail, &command, &head, args, err);
    if (status == MQ_OK) {
        zval message;
        ZVAL_STR(&message, mq_capture_message(mail, head));
        status = mq_php_message_read(&message, &args->message, err);
        zval_ptr_dtor(&message);
    }
    clear_command(&command);
    mq_capture_replace(&head, NULL);
    return status;
}
