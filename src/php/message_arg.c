#ifdef HAVE_CONFIG_H
#include "config.h"
#endif

#include "php/message_arg.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "mime/idn.h"
#include "mime/mend.h"
#include "php/fields.h"
#include "php/mail.h"
#include "php/message_object.h"
#include "php_mailqueue.h"

static struct mq_str str_of_zval(const zval *value)
{
    return (struct mq_str){Z_STRVAL_P(value), Z_STRLEN_P(value)};
}

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
    enum mq_status status = mq_mend_accept(raw, &wanted, &out->message, &info, err);
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

bool mq_php_recipient_add(HashTable *seen, struct mq_str address, struct mq_strings *out)
{
    const char *at = memrchr(address.data, '@', address.len);
    zend_string *key = zend_string_init(address.data, address.len, 1);
    for (size_t i = at ? (size_t)(at - address.data) : 0; i < address.len; i++) {
        ZSTR_VAL(key)[i] = (char)tolower((unsigned char)ZSTR_VAL(key)[i]);
    }
    bool added = zend_hash_add_empty_element(seen, key) != NULL;
    zend_string_release(key);
    return !added || mq_strings_add(out, address);
}

static enum mq_status add_recipient(HashTable *seen, const zval *item, size_t index,
                                    struct mq_strings *out, struct mq_error *err)
{
    char name[32];
    char *address = NULL;
    snprintf(name, sizeof name, "recipients[%zu]", index);
    if (Z_TYPE_P(item) != IS_STRING) {
        return mq_php_wrong_type(name, "a string", item, err);
    }
    enum mq_status status = mq_idn_address(str_of_zval(item), name, &address, err);
    if (status == MQ_OK && !mq_php_recipient_add(seen, mq_str_of(address), out)) {
        status = mq_error_nomem(err);
    }
    free(address);
    return status;
}

enum mq_status mq_php_recipients(HashTable *list, struct mq_strings *out, struct mq_error *err)
{
    size_t count = zend_hash_num_elements(list);
    size_t index = 0;
    enum mq_status status = MQ_OK;
    HashTable seen;
    zval *item;
    if (count == 0 || count > MQ_PHP_RECIPIENTS_MAX) {
        return mq_error_set(err, MQ_MESSAGE, "recipients",
                            "recipients: %zu addresses; give 1 to %d", count,
                            MQ_PHP_RECIPIENTS_MAX);
    }
    zend_hash_init(&seen, (uint32_t)count, NULL, NULL, 1);
    ZEND_HASH_FOREACH_VAL (list, item) {
        ZVAL_DEREF(item);
        status = add_recipient(&seen, item, index++, out, err);
        if (status != MQ_OK) {
            break;
        }
    }
    ZEND_HASH_FOREACH_END();
    zend_hash_destroy(&seen);
    return status;
}
