/* What sendmail -t -i adds to a mail: domains for users of this host, a From, and a sender. */
#include "php/capture/as_sendmail.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "mime/mailbox.h"
#include "mime/wire/envelope.h"
#include "mime/wire/message.h"
#include "php/capture/command_line.h"
#include "php/capture/local_mail.h"
#include "php/ini.h"

#define ADDRESS_MAX 320
#define FROM_MAX    2048

static struct mq_str view(const zend_string *s)
{
    return s ? (struct mq_str){ZSTR_VAL(s), ZSTR_LEN(s)} : (struct mq_str){NULL, 0};
}

/* ---- the sender ---- */

static enum mq_status read_one(struct mq_str text, const char *field, char out[ADDRESS_MAX],
                               struct mq_error *err)
{
    struct mq_strings found;
    smart_str full = {0};
    mq_strings_init(&found);
    mq_local_qualify(text, &full);
    enum mq_status status = mq_addresses_of_header(view(full.s), field, &found, err);
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

/* The sender that -f names; "" for the null reverse-path, or where it names none. */
static enum mq_status given_sender(const struct mq_capture_command *command, char out[ADDRESS_MAX],
                                   struct mq_error *err)
{
    struct mq_str text = mq_str_trim(view(command->sender));
    *out = '\0';
    return text.len == 0 || mq_str_equal(text, MQ_STR("<>")) ? MQ_OK
                                                             : read_one(text, "-f", out, err);
}

/* The sender of mail that says nothing of one. */
static enum mq_status usual_sender(char out[ADDRESS_MAX], struct mq_error *err)
{
    struct mq_local_user user;
    struct mq_str set = mq_str_trim(mq_str_of(MQ_PHP_INI("sendmail_from")));
    mq_local_user_read(&user);
    return set.len > 0 ? read_one(set, "sendmail_from", out, err)
                       : read_one(mq_str_of(user.name), "From", out, err);
}

/* A sender in the headers that is not an address, such as "From: Our Club", is accepted: sendmail
 * does not look either. */
static enum mq_status find_sender(const zend_string *text, const struct mq_capture_command *command,
                                  char out[ADDRESS_MAX], struct mq_error *err)
{
    char *named = NULL;
    if (command->sender) {
        return MQ_OK;
    }
    if (mq_envelope_sender(view(text), &named, err) != MQ_OK || named == NULL) {
        return usual_sender(out, err);
    }
    snprintf(out, ADDRESS_MAX, "%s", named);
    free(named);
    return MQ_OK;
}

/* ---- the message ---- */

/* With the name that -F gives, else the user's, where a header can hold it. */
static void write_from(const zend_string *name, const char *address, char out[FROM_MAX])
{
    struct mq_local_user user;
    struct mq_mailboxes list;
    struct mq_buffer line;
    mq_mailboxes_init(&list);
    mq_buffer_init(&line);
    mq_local_user_read(&user);
    struct mq_str shown = mq_str_trim(name ? view(name) : mq_str_of(user.full_name));
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

static enum mq_status add_from(zend_string **text, const struct mq_capture_command *command,
                               const char *sender, struct mq_error *err)
{
    char address[ADDRESS_MAX], from[FROM_MAX];
    struct mq_str value;
    enum mq_status status = MQ_OK;
    if (mq_message_header(view(*text), "From", &value)) {
        return MQ_OK;
    }
    strcpy(address, sender);
    if (*address == '\0') {
        status = usual_sender(address, err);
    }
    if (status == MQ_OK) {
        write_from(command->name, address, from);
        mq_capture_replace(
            text, zend_string_concat2(from, strlen(from), ZSTR_VAL(*text), ZSTR_LEN(*text)));
    }
    return status;
}

static bool has_addresses(struct mq_str name)
{
    static const char *const names[] = {"To",          "Cc",           "Bcc",       "From",
                                        "Sender",      "Resent-To",    "Resent-Cc", "Resent-Bcc",
                                        "Resent-From", "Resent-Sender"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        if (mq_str_equal_nocase(name, mq_str_of(names[i]))) {
            return true;
        }
    }
    return false;
}

/* Gives the users of this host in the headers its domain. A signature may be over these fields. */
static void qualify(zend_string **text)
{
    struct mq_str signature;
    if (mq_message_header(view(*text), "DKIM-Signature", &signature)) {
        return;
    }
    struct mq_message_fields fields;
    smart_str out = {0};
    const char *done = ZSTR_VAL(*text);
    mq_message_fields_init(&fields, view(*text));
    while (mq_message_fields_next(&fields)) {
        if (fields.value.len > 0 && has_addresses(fields.name)) {
            smart_str_appendl(&out, done, (size_t)(fields.value.data - done));
            mq_local_qualify(fields.value, &out);
            done = fields.value.data + fields.value.len;
        }
    }
    smart_str_appendl(&out, done, (size_t)(ZSTR_VAL(*text) + ZSTR_LEN(*text) - done));
    mq_capture_replace(text, smart_str_extract(&out));
}

enum mq_status mq_capture_arguments(const struct mq_capture *mail, struct mq_php_arguments *args,
                                    struct mq_error *err)
{
    char sender[ADDRESS_MAX];
    struct mq_capture_command command;
    zend_string *text = NULL;
    mq_capture_command_read(mail->parameters, &command);
    enum mq_status status = given_sender(&command, sender, err);
    if (status == MQ_OK) {
        text = mq_capture_message(mail, command.recipients);
        qualify(&text);
        status = add_from(&text, &command, sender, err);
    }
    if (status == MQ_OK) {
        status = find_sender(text, &command, sender, err);
    }
    if (status == MQ_OK) {
        zval message;
        args->envelope_from = zend_string_init(sender, strlen(sender), 0);
        ZVAL_STR(&message, text); /* borrowed */
        status = mq_php_arguments_message(args, &message, err);
    }
    mq_capture_replace(&text, NULL);
    mq_capture_command_clear(&command);
    return status;
}
