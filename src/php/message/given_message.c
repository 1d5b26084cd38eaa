/* Reads a message of any form, and finds its envelope. */
#include "php/message/given_message.h"

#include <stdio.h>
#include <string.h>

#include "mime/mailbox.h"
#include "mime/wire/envelope.h"
#include "php/class/conversion.h"
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

/* Reports the error that ask_half() kept for now, such as "bcc: App\Mail::getBcc() must …". */
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

static enum mq_status sender_of_fields(const struct mq_php_fields *fields, char **from,
                                       struct mq_error *err)
{
    struct mq_mailboxes list = {0};
    enum mq_status status =
        mq_mailboxes_parse(fields->compose.from.items->address, "from", &list, err);
    if (status == MQ_OK) {
        *from = list.addresses.items[0];
        list.addresses.items[0] = NULL;
    }
    mq_mailboxes_clear(&list);
    return status;
}

enum mq_status mq_php_message_sender(const struct mq_php_message *message, char **from,
                                     struct mq_error *err)
{
    if (message->text == NULL) {
        return sender_of_fields(&message->fields, from, err);
    }
    MQ_TRY(check_answer(&message->sender, err));
    if (message->sender.lines) {
        MQ_TRY(mq_envelope_sender(mq_php_str(message->sender.lines), from, err));
    }
    return *from ? MQ_OK : mq_envelope_sender(mq_php_str(message->text), from, err);
}

enum mq_status mq_php_message_recipients(const struct mq_php_message *message,
                                         struct mq_strings *out, struct mq_error *err)
{
    const zend_string *named = message->recipients.lines;
    MQ_TRY(check_answer(&message->recipients, err));
    return mq_envelope_recipients(mq_php_str(named ? named : message->text), out, err);
}
