/* enqueue()'s arguments, from a call or from an array of enqueueMany(). */
#include "php/message/mail.h"

#include <string.h>

#include "php/class/conversion.h"
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
    release_string(args->relay);
    release_string(args->list);
    memset(args, 0, sizeof *args);
}

enum mq_status mq_php_arguments_recipients(struct mq_php_arguments *args, const zval *value,
                                           struct mq_error *err)
{
    if (Z_TYPE_P(value) != IS_ARRAY) {
        return mq_php_wrong_type("recipients", "a list of strings or null", value, err);
    }
    return mq_php_plain(value, &args->recipients);
}

/* ---- dsn ---- */

static enum mq_status add_when(struct mq_php_path path, const zval *value, struct mq_error *err)
{
    struct mq_notify *notify = path.target;
    struct mq_str when;
    path.target = &when;
    MQ_TRY(mq_php_read_text(path, value, err));
    return mq_notify_add_when(notify, when, err);
}

static enum mq_status read_dsn(struct mq_php_path path, HashTable *dsn, struct mq_error *err)
{
    static const char *const keys[] = {"notify", "ret", "envid"};
    struct mq_notify *notify = path.target;
    struct mq_str ret = {0}, envid = {0};
    const zval *when = mq_php_fields_find(dsn, "notify");
    MQ_TRY(mq_php_check_keys("dsn", dsn, keys, 3, err));
    MQ_TRY(mq_php_read_member(path, dsn, "ret", &ret, err));
    MQ_TRY(mq_php_read_member(path, dsn, "envid", &envid, err));
    MQ_TRY(ret.data ? mq_notify_set_ret(notify, ret, err) : MQ_OK);
    MQ_TRY(envid.data ? mq_notify_set_envid(notify, envid, err) : MQ_OK);
    path.field = "dsn[notify]";
    return when ? mq_php_read_one_or_each(path, when, add_when, err) : MQ_OK;
}

enum mq_status mq_php_arguments_dsn(struct mq_php_arguments *args, const zval *value,
                                    struct mq_error *err)
{
    struct mq_php_fields fields = {0}; /* owns the strings that `notify` is made from */
    if (Z_TYPE_P(value) != IS_ARRAY) {
        return mq_php_wrong_type("dsn", "an array or null", value, err);
    }
    struct mq_php_path path = {&fields, "dsn", &args->notify, NULL};
    enum mq_status status = mq_php_plain(value, &fields.given);
    if (status == MQ_OK) {
        status = read_dsn(path, Z_ARRVAL(fields.given), err);
    }
    mq_php_array_clear(&fields);
    return status;
}

/* ---- an array of enqueueMany() ---- */

static enum mq_status read_string(HashTable *array, const char *name, zend_string **out,
                                  struct mq_error *err)
{
    zval *value = mq_php_fields_find(array, name);
    if (value == NULL) {
        return MQ_OK;
    }
    if (!mq_php_is_text(value)) {
        return mq_php_wrong_type(name, "a string or null", value, err);
    }
    *out = zval_try_get_string(value);
    return *out ? MQ_OK : MQ_THROWN;
}

static enum mq_status read_int(HashTable *array, const char *name, zend_long *out, bool *given,
                               struct mq_error *err)
{
    const zval *value = mq_php_fields_find(array, name);
    *given = value != NULL;
    if (value && Z_TYPE_P(value) != IS_LONG) {
        return mq_php_wrong_type(name, "an int", value, err);
    }
    *out = value ? Z_LVAL_P(value) : *out;
    return MQ_OK;
}

static enum mq_status read_time(HashTable *array, const char *name, int64_t *out, bool *given,
                                struct mq_error *err)
{
    zval *value = mq_php_fields_find(array, name);
    return value ? mq_php_time_of(value, name, out, given, err) : MQ_OK;
}

static enum mq_status read_arguments(struct mq_php_arguments *args, HashTable *array,
                                     struct mq_error *err)
{
    bool given;
    zval *message = mq_php_fields_find(array, "message");
    const zval *recipients = mq_php_fields_find(array, "recipients");
    const zval *dsn = mq_php_fields_find(array, "dsn");
    MQ_TRY(message ? mq_php_message_read(message, &args->message, err) : MQ_OK);
    MQ_TRY(read_string(array, "reference", &args->reference, err));
    MQ_TRY(read_string(array, "type", &args->type, err));
    MQ_TRY(read_int(array, "priority", &args->priority, &given, err));
    MQ_TRY(read_time(array, "sendAt", &args->send_at, &given, err));
    MQ_TRY(read_time(array, "expiresAt", &args->expires_at, &args->expires, err));
    MQ_TRY(read_int(array, "maxAttempts", &args->max_attempts, &args->max_attempts_given, err));
    MQ_TRY(read_string(array, "envelopeFrom", &args->envelope_from, err));
    MQ_TRY(read_string(array, "relay", &args->relay, err));
    MQ_TRY(read_string(array, "list", &args->list, err));
    MQ_TRY(recipients ? mq_php_arguments_recipients(args, recipients, err) : MQ_OK);
    return dsn ? mq_php_arguments_dsn(args, dsn, err) : MQ_OK;
}

enum mq_status mq_php_arguments_read(struct mq_php_arguments *args, HashTable *array,
                                     struct mq_error *err)
{
    static const char *const names[] = {"message",    "reference", "type",        "priority",
                                        "sendAt",     "expiresAt", "maxAttempts", "envelopeFrom",
                                        "recipients", "dsn",       "relay",       "list"};
    zval copy;
    MQ_TRY(mq_php_check_keys(NULL, array, names, sizeof names / sizeof *names, err));
    mq_php_copy_values(array, &copy);
    enum mq_status status = read_arguments(args, Z_ARRVAL(copy), err);
    zval_ptr_dtor(&copy);
    return status;
}
