/* enqueue()'s arguments, from a call or from an array of enqueueMany(). */
#include "php/message/mail.h"

#include <string.h>

#include "php/class/time_arg.h"
#include "php/message/given_message.h"

static void release_string(zend_string *s)
{
    if (s) {
        zend_string_release(s);
    }
}

void mq_php_arguments_drop_message(struct mq_php_arguments *args)
{
    zval_ptr_dtor(&args->message);
    ZVAL_UNDEF(&args->message);
}

void mq_php_arguments_clear(struct mq_php_arguments *args)
{
    zval_ptr_dtor(&args->message);
    zval_ptr_dtor(&args->recipients);
    release_string(args->reference);
    release_string(args->type);
    release_string(args->envelope_from);
    memset(args, 0, sizeof *args);
}

enum mq_status mq_php_arguments_message(struct mq_php_arguments *args, zval *value,
                                        struct mq_error *err)
{
    zval message;
    if (Z_TYPE_P(value) == IS_NULL) {
        return MQ_OK;
    }
    enum mq_status status = mq_php_message_read(value, &message, err);
    if (status == MQ_OK) {
        mq_php_arguments_drop_message(args);
        ZVAL_COPY_VALUE(&args->message, &message);
    }
    return status;
}

enum mq_status mq_php_arguments_recipients(struct mq_php_arguments *args, const zval *value,
                                           struct mq_error *err)
{
    zval list;
    if (Z_TYPE_P(value) == IS_NULL) {
        return MQ_OK;
    }
    if (Z_TYPE_P(value) != IS_ARRAY) {
        return mq_php_wrong_type("recipients", "a list of strings or null", value, err);
    }
    if (mq_php_plain(value, &list) != MQ_OK) {
        return MQ_THROWN;
    }
    zval_ptr_dtor(&args->recipients);
    ZVAL_COPY_VALUE(&args->recipients, &list);
    return MQ_OK;
}

static enum mq_status take_string(zval *value, const char *field, zend_string **out,
                                  struct mq_error *err)
{
    if (Z_TYPE_P(value) == IS_NULL) {
        return MQ_OK;
    }
    if (!mq_php_is_text(value)) {
        return mq_php_wrong_type(field, "a string or null", value, err);
    }
    zend_string *text = zval_try_get_string(value);
    if (text == NULL) {
        return MQ_THROWN;
    }
    release_string(*out);
    *out = text;
    return MQ_OK;
}

static enum mq_status take_int(zval *value, const char *field, zend_long *out, bool *given,
                               struct mq_error *err)
{
    *given = Z_TYPE_P(value) != IS_NULL;
    if (!*given) {
        return MQ_OK;
    }
    if (Z_TYPE_P(value) != IS_LONG) {
        return mq_php_wrong_type(field, "an int", value, err);
    }
    *out = Z_LVAL_P(value);
    return MQ_OK;
}

static enum mq_status unknown_key(struct mq_str key, struct mq_error *err)
{
    char name[MQ_ERROR_FIELD_MAX];
    mq_str_printable(name, sizeof name, 0, key);
    return mq_error_set(err, MQ_MESSAGE, name,
                        "%s: unknown key; allowed are the names of enqueue()'s parameters: "
                        "message, reference, type, priority, sendAt, expiresAt, maxAttempts, "
                        "envelopeFrom, recipients, dsn",
                        name);
}

static enum mq_status take_named(struct mq_php_arguments *args, zend_string *key, zval *value,
                                 struct mq_error *err)
{
    const char *name = ZSTR_VAL(key);
    bool given;
    if (mq_php_key_is(key, "message")) {
        return mq_php_arguments_message(args, value, err);
    }
    if (mq_php_key_is(key, "reference")) {
        return take_string(value, name, &args->reference, err);
    }
    if (mq_php_key_is(key, "type")) {
        return take_string(value, name, &args->type, err);
    }
    if (mq_php_key_is(key, "priority")) {
        return take_int(value, name, &args->priority, &given, err);
    }
    if (mq_php_key_is(key, "sendAt")) {
        return mq_php_time_of(value, name, &args->send_at, &given, err);
    }
    if (mq_php_key_is(key, "expiresAt")) {
        return mq_php_time_of(value, name, &args->expires_at, &args->expires, err);
    }
    if (mq_php_key_is(key, "maxAttempts")) {
        return take_int(value, name, &args->max_attempts, &args->max_attempts_given, err);
    }
    if (mq_php_key_is(key, "envelopeFrom")) {
        return take_string(value, name, &args->envelope_from, err);
    }
    if (mq_php_key_is(key, "recipients")) {
        return mq_php_arguments_recipients(args, value, err);
    }
    if (mq_php_key_is(key, "dsn")) {
        return mq_php_arguments_dsn(args, value, err);
    }
    return unknown_key((struct mq_str){ZSTR_VAL(key), ZSTR_LEN(key)}, err);
}

enum mq_status mq_php_arguments_read(struct mq_php_arguments *args, HashTable *array,
                                     struct mq_error *err)
{
    zend_string *key;
    zend_ulong number;
    zval *value;
    enum mq_status status = MQ_OK;
    ZEND_HASH_FOREACH_KEY_VAL (array, number, key, value) {
        zval copy;
        if (key == NULL) {
            char name[32];
            snprintf(name, sizeof name, ZEND_LONG_FMT, (zend_long)number);
            status = unknown_key(mq_str_of(name), err);
            break;
        }
        /* Code that a conversion runs may change what a reference points to. */
        ZVAL_COPY_DEREF(&copy, value);
        status = take_named(args, key, &copy, err);
        zval_ptr_dtor(&copy);
        if (status != MQ_OK) {
            break;
        }
    }
    ZEND_HASH_FOREACH_END();
    return status;
}
