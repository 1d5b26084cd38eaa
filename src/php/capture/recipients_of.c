/* The envelope of a captured mail: what sendmail -t would find in its headers and its command line.
 */
#include "php/capture/recipients_of.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "mime/mailbox.h"
#include "mime/wire/message.h"
#include "php/capture/local_mail.h"
#include "php/ini.h"

static struct mq_str view(const zend_string *s)
{
    return s ? (struct mq_str){ZSTR_VAL(s), ZSTR_LEN(s)} : (struct mq_str){NULL, 0};
}

/* ---- senders ---- */

/* Appends the addresses of a list that does not come from a header. */
static enum mq_status read_list(struct mq_str text, const char *field, struct mq_strings *out,
                                struct mq_error *err)
{
    struct mq_buffer full;
    mq_buffer_init(&full);
    mq_local_qualify(text, &full);
    enum mq_status status = full.failed
                                ? mq_error_nomem(err)
                                : mq_addresses_of_header(mq_buffer_view(&full), field, out, err);
    mq_buffer_clear(&full);
    return status;
}

static enum mq_status read_one(struct mq_str text, const char *field,
                               char out[MQ_CAPTURE_ADDRESS_MAX], struct mq_error *err)
{
    struct mq_strings found;
    mq_strings_init(&found);
    enum mq_status status = read_list(text, field, &found, err);
    if (status == MQ_OK && found.count != 1) {
        status =
            mq_error_set(err, MQ_MESSAGE, field, "%s: %zu addresses; give one", field, found.count);
    }
    if (status == MQ_OK) {
        snprintf(out, MQ_CAPTURE_ADDRESS_MAX, "%s", found.items[0]);
    }
    mq_strings_clear(&found);
    return status;
}

enum mq_status mq_capture_sender_read(const struct mq_capture_command *command,
                                      struct mq_capture_sender *out, struct mq_error *err)
{
    struct mq_str text = mq_str_trim(view(command->sender));
    *out = (struct mq_capture_sender){.given = command->sender != NULL};
    if (text.len == 0 || mq_str_equal(text, MQ_STR("<>"))) {
        return MQ_OK;
    }
    return read_one(text, "-f", out->address, err);
}

/* The sender of mail that says nothing of one. */
static enum mq_status usual_sender(const struct mq_local_user *user,
                                   char out[MQ_CAPTURE_ADDRESS_MAX], struct mq_error *err)
{
    struct mq_str set = mq_str_trim(mq_str_of(MQ_PHP_INI("sendmail_from")));
    return set.len > 0 ? read_one(set, "sendmail_from", out, err)
                       : read_one(mq_str_of(user->name), "From", out, err);
}

static enum mq_status write_from(struct mq_str name, const char *address,
                                 char out[MQ_CAPTURE_FROM_MAX], struct mq_error *err)
{
    struct mq_mailboxes list;
    struct mq_buffer line;
    mq_mailboxes_init(&list);
    mq_buffer_init(&line);
    enum mq_status status = mq_mailboxes_add(name, mq_str_of(address), "From", &list, err);
    if (status == MQ_OK) {
        mq_mailboxes_write(&line, "From", &list);
        if (line.failed) {
            status = mq_error_nomem(err);
        } else if (line.len >= MQ_CAPTURE_FROM_MAX) {
            status = mq_error_set(err, MQ_MESSAGE, "From", "From: the name is too long");
        } else {
            snprintf(out, MQ_CAPTURE_FROM_MAX, "%s", line.data);
        }
    }
    mq_buffer_clear(&line);
    mq_mailboxes_clear(&list);
    return status;
}

enum mq_status mq_capture_from(const struct mq_capture_command *command,
                               const struct mq_capture_sender *sender,
                               char out[MQ_CAPTURE_FROM_MAX], struct mq_error *err)
{
    char address[MQ_CAPTURE_ADDRESS_MAX];
    struct mq_local_user user;
    enum mq_status status = MQ_OK;
    mq_local_user_read(&user);
    strcpy(address, sender->address);
    if (address[0] == '\0') {
        status = usual_sender(&user, address, err);
    }
    if (status != MQ_OK) {
        return status;
    }
    /* NAME: as sendmail does. */
    const char *usual = getenv("NAME") ? getenv("NAME") : user.full_name;
    struct mq_str name = mq_str_trim(command->name ? view(command->name) : mq_str_of(usual));
    if (write_from(name, address, out, err) == MQ_OK) {
        return MQ_OK;
    }
    return write_from((struct mq_str){NULL, 0}, address, out, err);
}

/* ---- the whole ---- */

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

/* The header section with domains for this host's users. */
static void qualify_header(struct mq_str message, struct mq_buffer *out)
{
    struct mq_message_fields fields;
    mq_message_fields_init(&fields, message);
    while (mq_message_fields_next(&fields)) {
        mq_buffer_str(out, fields.name);
        mq_buffer_cstr(out, ": ");
        if (has_addresses(fields.name)) {
            mq_local_qualify(fields.value, out);
        }
        mq_buffer_cstr(out, "\r\n");
    }
    mq_buffer_cstr(out, "\r\n");
}

static enum mq_status add_more(const zend_string *more, struct mq_strings *recipients,
                               struct mq_error *err)
{
    struct mq_strings found;
    mq_strings_init(&found);
    enum mq_status status = read_list(view(more), "additional_params", &found, err);
    for (size_t i = 0; status == MQ_OK && i < found.count; i++) {
        if (!mq_strings_contains(recipients, found.items[i]) &&
            !mq_strings_add(recipients, mq_str_of(found.items[i]))) {
            status = mq_error_nomem(err);
        }
    }
    mq_strings_clear(&found);
    return status;
}

static enum mq_status find_recipients(struct mq_str header,
                                      const struct mq_capture_command *command,
                                      struct mq_strings *out, struct mq_error *err)
{
    enum mq_status status = mq_envelope_recipients(header, out, err);
    if (status == MQ_OK && command->recipients) {
        status = add_more(command->recipients, out, err);
    }
    if (status == MQ_OK && out->count == 0) {
        status = mq_error_set(err, MQ_MESSAGE, "to",
                              "to: no recipient; give one there, or in a header Cc or Bcc");
    }
    return status;
}

/* A sender in the headers that is not an address, such as "From: Our Club", is accepted: sendmail
 * does not look either. */
static enum mq_status find_sender(struct mq_str header, const struct mq_capture_sender *sender,
                                  char **out, struct mq_error *err)
{
    char address[MQ_CAPTURE_ADDRESS_MAX];
    struct mq_local_user user;
    enum mq_status status = MQ_OK;
    if (!sender->given && mq_envelope_sender(header, out, err) == MQ_OK && *out) {
        return MQ_OK;
    }
    strcpy(address, sender->address);
    if (!sender->given) {
        mq_local_user_read(&user);
        status = usual_sender(&user, address, err);
    }
    if (status == MQ_OK && (*out = mq_str_dup(mq_str_of(address))) == NULL) {
        status = mq_error_nomem(err);
    }
    return status;
}

enum mq_status mq_capture_envelope(struct mq_str message, const struct mq_capture_command *command,
                                   const struct mq_capture_sender *sender, struct mq_envelope *out,
                                   struct mq_error *err)
{
    struct mq_buffer header;
    mq_buffer_init(&header);
    qualify_header(message, &header);
    enum mq_status status = header.failed ? mq_error_nomem(err) : MQ_OK;
    if (status == MQ_OK) {
        status = find_recipients(mq_buffer_view(&header), command, &out->recipients, err);
    }
    if (status == MQ_OK) {
        status = find_sender(mq_buffer_view(&header), sender, &out->from, err);
    }
    mq_buffer_clear(&header);
    return status;
}
