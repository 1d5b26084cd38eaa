/* A message of any form: reading it, its envelope, the domain of its sender. */
#include "php/message/given_message.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "mime/mailbox.h"
#include "mime/wire/envelope.h"
#include "php/message/holder.h"

/* ---- reading ---- */

static void clear_message(void *data)
{
    struct mq_php_message *message = data;
    zend_string *strings[] = {message->text, message->sender.lines, message->sender.error,
                              message->recipients.lines, message->recipients.error};
    for (size_t i = 0; i < sizeof strings / sizeof *strings; i++) {
        if (strings[i]) {
            zend_string_release(strings[i]);
        }
    }
    mq_php_array_clear(&message->fields);
}

static enum mq_status read_value(zval *value, struct mq_php_message *out, struct mq_error *err)
{
    if (Z_TYPE_P(value) == IS_ARRAY) {
        return mq_php_array_read(value, &out->fields, err);
    }
    if (mq_php_is_message_object(value)) {
        return mq_php_object_read(value, out, err);
    }
    if (Z_TYPE_P(value) != IS_STRING) {
        return mq_php_wrong_type("message", MQ_PHP_MESSAGE_TYPES, value, err);
    }
    out->text = zend_string_copy(Z_STR_P(value));
    return MQ_OK;
}

enum mq_status mq_php_message_read(zval *value, zval *out, struct mq_error *err)
{
    zval holder;
    struct mq_php_message *message = mq_php_holder_new(&holder, sizeof *message, clear_message);
    enum mq_status status = read_value(value, message, err);
    if (status == MQ_OK) {
        ZVAL_COPY_VALUE(out, &holder);
    } else {
        ZVAL_UNDEF(out);
        zval_ptr_dtor(&holder);
    }
    return status;
}

const struct mq_php_message *mq_php_message_of(const zval *holder)
{
    return mq_php_holder_data(holder);
}

/* ---- the envelope ---- */

static struct mq_str view(const zend_string *s)
{
    return (struct mq_str){ZSTR_VAL(s), ZSTR_LEN(s)};
}

/* "bcc: App\Mail::getBcc() must …": the error that waited until the answer was needed. */
static enum mq_status check_answer(const struct mq_php_answer *answer, struct mq_error *err)
{
    char field[MQ_ERROR_FIELD_MAX];
    if (answer->error == NULL) {
        return MQ_OK;
    }
    const char *text = ZSTR_VAL(answer->error);
    snprintf(field, sizeof field, "%.*s", (int)strcspn(text, ":"), text);
    return mq_error_set(err, MQ_MESSAGE, field, "%s", text);
}

enum mq_status mq_php_message_sender(const struct mq_php_message *message, char **from,
                                     struct mq_error *err)
{
    enum mq_status status = check_answer(&message->sender, err);
    if (status == MQ_OK && message->sender.lines) {
        status = mq_envelope_sender(view(message->sender.lines), from, err);
    }
    bool open = status == MQ_OK && *from == NULL;
    return open ? mq_envelope_sender(view(message->text), from, err) : status;
}

enum mq_status mq_php_message_recipients(const struct mq_php_message *message,
                                         struct mq_strings *out, struct mq_error *err)
{
    enum mq_status status = check_answer(&message->recipients, err);
    const zend_string *named = message->recipients.lines;
    return status == MQ_OK ? mq_envelope_recipients(view(named ? named : message->text), out, err)
                           : status;
}

/* ---- the sender's domain ---- */

static void add_domain(const char *address, struct mq_buffer *out)
{
    const char *at = address ? strrchr(address, '@') : NULL;
    mq_buffer_cstr(out, at ? at + 1 : "");
}

static void add_domain_of_fields(const struct mq_php_fields *fields, struct mq_buffer *out)
{
    const struct mq_compose_address *from = fields->compose.from.items;
    struct mq_mailboxes boxes;
    mq_mailboxes_init(&boxes);
    enum mq_status status = from->name.data
                                ? mq_mailboxes_add(from->name, from->address, "from", &boxes, NULL)
                                : mq_mailboxes_parse(from->address, "from", &boxes, NULL);
    if (status == MQ_OK && boxes.count > 0) {
        add_domain(boxes.items[0].address, out);
    }
    mq_mailboxes_clear(&boxes);
}

struct mq_str mq_php_message_domain(const struct mq_php_message *message, struct mq_buffer *scratch)
{
    char *from = NULL;
    if (message->text == NULL) {
        add_domain_of_fields(&message->fields, scratch);
    } else if (mq_php_message_sender(message, &from, NULL) == MQ_OK) {
        add_domain(from, scratch);
    }
    free(from);
    return mq_buffer_view(scratch);
}
