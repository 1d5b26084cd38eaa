#ifdef HAVE_CONFIG_H
#include "config.h"
#endif

#include "php/message/message_arg.h"

#include <stdlib.h>
#include <string.h>

#include "mime/idn.h"
#include "mime/wire/repair.h"
#include "php/message/fields.h"
#include "php/message/message_object.h"
#include "php/message/recipients.h"
#include "php_mailqueue.h"

void mq_php_wire_init(struct mq_php_wire *wire)
{
    memset(wire, 0, sizeof *wire);
    mq_buffer_init(&wire->message);
    mq_strings_init(&wire->recipients);
}

void mq_php_wire_clear(struct mq_php_wire *wire)
{
    mq_buffer_clear(&wire->message);
    mq_strings_clear(&wire->recipients);
    free(wire->envelope_from);
    mq_php_wire_init(wire);
}

enum mq_status mq_php_message_read(zval *value, zval *out, struct mq_error *err)
{
    ZVAL_UNDEF(out);
    if (Z_TYPE_P(value) == IS_ARRAY) {
        return mq_php_fields_read(value, out, err);
    }
    if (mq_php_is_message_object(value)) {
        return mq_php_object_read(value, out, err);
    }
    if (Z_TYPE_P(value) != IS_STRING) {
        return mq_php_wrong_type("message", MQ_PHP_MESSAGE_TYPES, value, err);
    }
    ZVAL_COPY(out, value);
    return MQ_OK;
}

static enum mq_status accept_text(struct mq_str raw, const struct mq_php_message_options *options,
                                  struct mq_php_wire *out, struct mq_error *err)
{
    struct mq_message_options wanted = {
        .max_size = (size_t)MAILQUEUE_G(max_message_size),
        .message_id = options->message_id,
        .date_s = options->date_s,
    };
    struct mq_message_info info = {0};
    enum mq_status status = mq_repair_accept(raw, &wanted, &out->message, &info, err);
    if (status == MQ_OK) {
        out->message_id = info.message_id;
    }
    return status;
}

enum mq_status mq_php_message_make(const zval *message,
                                   const struct mq_php_message_options *options,
                                   struct mq_php_wire *out, struct mq_error *err)
{
    if (Z_TYPE_P(message) == IS_OBJECT) {
        return mq_php_fields_compose(message, options, out, err);
    }
    return accept_text(mq_php_message_text(message), options, out, err);
}

static enum mq_status deduce_sender(const zval *message, char **from, struct mq_error *err)
{
    enum mq_status status = mq_php_message_sender(message, from, err);
    if (status == MQ_OK && *from == NULL) {
        status = mq_error_set(err, MQ_MESSAGE, "envelopeFrom",
                              "envelopeFrom: missing, and the message has no From to take it from; "
                              "give envelopeFrom: \"a@example.org\", or \"\" for none");
    }
    return status;
}

static enum mq_status deduce_recipients(const zval *message, struct mq_strings *recipients,
                                        struct mq_error *err)
{
    enum mq_status status = mq_php_message_recipients(message, recipients, err);
    if (status == MQ_OK && recipients->count == 0) {
        return mq_error_set(err, MQ_MESSAGE, "recipients",
                            "recipients: missing, and the message names none in To, Cc or Bcc; "
                            "give recipients: [\"a@example.org\"]");
    }
    if (status == MQ_OK && recipients->count > MQ_PHP_RECIPIENTS_MAX) {
        return mq_error_set(err, MQ_MESSAGE, "recipients",
                            "recipients: %zu addresses in the message's headers; at most %d",
                            recipients->count, MQ_PHP_RECIPIENTS_MAX);
    }
    return status;
}

enum mq_status mq_php_message_envelope(const zval *message, char **from,
                                       struct mq_strings *recipients, struct mq_error *err)
{
    enum mq_status status = MQ_OK;
    if (Z_TYPE_P(message) == IS_NULL || Z_TYPE_P(message) == IS_OBJECT) {
        return MQ_OK;
    }
    if (*from == NULL) {
        status = deduce_sender(message, from, err);
    }
    if (status == MQ_OK && recipients->count == 0) {
        status = deduce_recipients(message, recipients, err);
    }
    return status;
}

struct mq_str mq_php_message_domain(const zval *message, struct mq_buffer *scratch)
{
    char *from = NULL;
    if (Z_TYPE_P(message) == IS_OBJECT) {
        return mq_php_fields_domain(message, scratch);
    }
    if (Z_TYPE_P(message) != IS_NULL && mq_php_message_sender(message, &from, NULL) == MQ_OK &&
        from) {
        mq_buffer_cstr(scratch, strrchr(from, '@') + 1);
    }
    free(from);
    return mq_buffer_view(scratch);
}
