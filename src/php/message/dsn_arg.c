/* enqueue()'s argument dsn. Runs no PHP code. */
#include "php/message/mail.h"

#include "php/message/fields.h"

static struct mq_str view(const zval *value)
{
    return (struct mq_str){Z_STRVAL_P(value), Z_STRLEN_P(value)};
}

static enum mq_status take_when(struct mq_notify *notify, zval *value, struct mq_error *err)
{
    enum mq_status status = MQ_OK;
    zval *item;
    if (Z_TYPE_P(value) == IS_STRING) {
        return mq_notify_add_when(notify, view(value), err);
    }
    if (Z_TYPE_P(value) != IS_ARRAY) {
        return mq_php_wrong_type("dsn[notify]", "a string or a list of strings", value, err);
    }
    ZEND_HASH_FOREACH_VAL (Z_ARRVAL_P(value), item) {
        ZVAL_DEREF(item);
        status = Z_TYPE_P(item) == IS_STRING
                     ? mq_notify_add_when(notify, view(item), err)
                     : mq_php_wrong_type("dsn[notify]", "a list of strings", item, err);
        if (status != MQ_OK) {
            break;
        }
    }
    ZEND_HASH_FOREACH_END();
    return status;
}

static enum mq_status take(struct mq_notify *notify, zend_string *key, zval *value,
                           struct mq_error *err)
{
    bool ret = key != NULL && mq_php_key_is(key, "ret");
    bool envid = key != NULL && mq_php_key_is(key, "envid");
    if (!ret && !envid && (key == NULL || !mq_php_key_is(key, "notify"))) {
        return mq_error_set(err, MQ_MESSAGE, "dsn",
                            "dsn: unknown key; allowed are notify, ret and envid");
    }
    if (Z_TYPE_P(value) == IS_NULL) {
        return MQ_OK;
    }
    if (!ret && !envid) {
        return take_when(notify, value, err);
    }
    if (Z_TYPE_P(value) != IS_STRING) {
        return mq_php_wrong_type(ret ? "dsn[ret]" : "dsn[envid]", "a string or null", value, err);
    }
    return ret ? mq_notify_set_ret(notify, view(value), err)
               : mq_notify_set_envid(notify, view(value), err);
}

enum mq_status mq_php_arguments_dsn(struct mq_php_arguments *args, const zval *value,
                                    struct mq_error *err)
{
    struct mq_notify notify = {0};
    enum mq_status status = MQ_OK;
    zend_string *key;
    zval *item;
    if (Z_TYPE_P(value) == IS_NULL) {
        return MQ_OK;
    }
    if (Z_TYPE_P(value) != IS_ARRAY) {
        return mq_php_wrong_type("dsn", "an array or null", value, err);
    }
    ZEND_HASH_FOREACH_STR_KEY_VAL (Z_ARRVAL_P(value), key, item) {
        ZVAL_DEREF(item);
        status = take(&notify, key, item, err);
        if (status != MQ_OK) {
            return status;
        }
    }
    ZEND_HASH_FOREACH_END();
    args->notify = notify;
    return MQ_OK;
}
