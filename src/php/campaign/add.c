/* Campaign::add() */
#include "stubs/mailqueue_methods.h"

#include "ext/json/php_json.h"
#include "zend_smart_str.h"

#include "campaign/adding.h"
#include "core/json_tree.h"
#include "php/campaign/campaign_object.h"
#include "php/class/conversion.h"
#include "php/class/queue_object.h"
#include "php/guard.h"
#include "php/message/given_message.h"
#include "php/message/holder.h"

/* A call of add(). A holder frees it if PHP code ends the request meanwhile. */
struct call {
    struct mq_php_campaign self;
    struct mq_adding *adding;
    struct mq_php_callable refused; /* not initialized: NULL */
    size_t number;                  /* of the next recipient */
    enum mq_status status;
    struct mq_error err;
};

static void clear_call(void *data)
{
    struct call *call = data;
    mq_adding_free(call->adding);
}

/* ---- one recipient ---- */

static enum mq_status read_text(HashTable *map, const char *name, struct mq_str *out,
                                struct mq_error *err)
{
    const zval *value = mq_php_fields_find(map, name);
    if (value && Z_TYPE_P(value) != IS_STRING) {
        return mq_php_wrong_type(name, "a string", value, err);
    }
    *out = value ? mq_php_str(Z_STR_P(value)) : MQ_STR("");
    return MQ_OK;
}

/* Whether a value has numbers only that JSON can write; it is written as 0 otherwise. */
static bool is_finite(zval *value, int depth)
{
    zval *item;
    bool ok = true;
    ZVAL_DEREF(value);
    if (Z_TYPE_P(value) != IS_ARRAY || depth == 0) {
        return Z_TYPE_P(value) != IS_DOUBLE || zend_finite(Z_DVAL_P(value));
    }
    ZEND_HASH_FOREACH_VAL (Z_ARRVAL_P(value), item) {
        ok = ok && is_finite(item, depth - 1);
    }
    ZEND_HASH_FOREACH_END();
    return ok;
}

static bool encode(zval *value, smart_str *json)
{
    int options = PHP_JSON_UNESCAPED_UNICODE | PHP_JSON_UNESCAPED_SLASHES;
    return is_finite(value, MQ_JSON_DEPTH) &&
           php_json_encode_ex(json, value, options, MQ_JSON_DEPTH) == SUCCESS;
}

/* Writes an array as JSON, which can run PHP code (JsonSerializable). */
static enum mq_status write_fields(zval *array, smart_str *json, struct mq_str *out,
                                   struct mq_error *err)
{
    bool ok = encode(array, json);
    if (EG(exception)) {
        return MQ_THROWN;
    }
    smart_str_0(json);
    *out = json->s ? mq_php_str(json->s) : MQ_STR("");
    return ok ? MQ_OK
              : mq_error_set(err, MQ_MESSAGE, "fields",
                             "fields: they cannot be written as JSON: give texts in UTF-8, finite "
                             "numbers, and at most %d arrays within each other",
                             MQ_JSON_DEPTH);
}

/* Reads the fields as JSON; `json` is room for it. */
static enum mq_status read_fields(HashTable *map, smart_str *json, struct mq_str *out,
                                  struct mq_error *err)
{
    zval *value = mq_php_fields_find(map, "fields");
    if (value == NULL ||
        (Z_TYPE_P(value) == IS_ARRAY && !zend_hash_num_elements(Z_ARRVAL_P(value)))) {
        return MQ_OK;
    }
    if (Z_TYPE_P(value) == IS_STRING) {
        *out = mq_php_str(Z_STR_P(value)); /* checked with the templates */
        return MQ_OK;
    }
    return Z_TYPE_P(value) == IS_ARRAY
               ? write_fields(value, json, out, err)
               : mq_php_wrong_type("fields", "an array or a JSON object as text", value, err);
}

static enum mq_status take_array(struct call *call, HashTable *map, smart_str *json)
{
    struct mq_addressee to = {.address = MQ_STR(""), .fields = MQ_STR("")};
    struct mq_error *err = &call->err;
    MQ_TRY(read_fields(map, json, &to.fields, err));
    MQ_TRY(read_text(map, "address", &to.address, err));
    MQ_TRY(read_text(map, "name", &to.name, err));
    struct mq_queue *queue = mq_php_queue_opened(call->self.object);
    return queue ? mq_adding_take(call->adding, queue, &to, err) : MQ_THROWN;
}

static enum mq_status take_one(struct call *call, zval *item)
{
    static const char *const keys[] = {"address", "name", "fields"};
    smart_str json = {0};
    zval copy;
    if (Z_TYPE_P(item) == IS_STRING) {
        const struct mq_addressee to = {.address = mq_php_str(Z_STR_P(item))};
        struct mq_queue *queue = mq_php_queue_opened(call->self.object);
        return queue ? mq_adding_take(call->adding, queue, &to, &call->err) : MQ_THROWN;
    }
    if (Z_TYPE_P(item) != IS_ARRAY) {
        return mq_php_wrong_type("address", "an address or an array", item, &call->err);
    }
    MQ_TRY(mq_php_check_keys(NULL, Z_ARRVAL_P(item), keys, 3, &call->err));
    mq_php_copy_values(Z_ARRVAL_P(item), &copy);
    enum mq_status status = take_array(call, Z_ARRVAL(copy), &json);
    smart_str_free(&json);
    zval_ptr_dtor(&copy);
    return status;
}

/* ---- all ---- */

/* Tells the callable which recipient is refused, and why; the next one is taken then. */
static enum mq_status tell(struct call *call)
{
    zval arguments[2], result;
    ZVAL_LONG(&arguments[0], (zend_long)call->number);
    ZVAL_STRING(&arguments[1], call->err.text);
    mq_php_call(&call->refused, 2, arguments, &result);
    if (EG(exception)) {
        return MQ_THROWN;
    }
    zval_ptr_dtor(&result);
    return MQ_OK;
}

static bool take(void *context, zval *item)
{
    struct call *call = context;
    struct mq_error *err = &call->err;
    call->status = take_one(call, item);
    if (call->status == MQ_MESSAGE && ZEND_FCI_INITIALIZED(call->refused.info)) {
        call->status = tell(call);
    } else if (call->status == MQ_MESSAGE) {
        mq_error_set(err, MQ_MESSAGE, err->field, "recipient %zu: %s", call->number, err->text);
    }
    call->number++;
    return call->status == MQ_OK && !mq_php_is_leaving();
}

/* Stores the rest, also of those before one that is refused. */
static void store_rest(struct call *call)
{
    struct mq_error err;
    struct mq_queue *queue = mq_php_is_leaving() ? NULL : mq_php_queue_opened(call->self.object);
    enum mq_status status = queue ? mq_adding_store(call->adding, queue, &err) : MQ_THROWN;
    if (status != MQ_OK) { /* also instead of the one that is refused: more are missing now */
        call->status = status;
        if (status != MQ_THROWN) {
            call->err = err;
        }
    }
}

static void add(struct call *call, zval *recipients)
{
    call->status = mq_adding_begin(call->self.queue, call->self.id, &call->adding, &call->err);
    if (call->status == MQ_OK) {
        mq_php_each(recipients, take, call);
    }
    if (call->adding && (call->status == MQ_OK || call->status == MQ_MESSAGE)) {
        store_rest(call);
    }
}

ZEND_METHOD(MailQueue_Campaign, add)
{
    zval *recipients, holder;
    struct mq_php_campaign self;
    struct mq_php_callable refused = {.info = empty_fcall_info};

    ZEND_PARSE_PARAMETERS_START(1, 2)
        Z_PARAM_ITERABLE(recipients)
        Z_PARAM_OPTIONAL
        Z_PARAM_FUNC_OR_NULL(refused.info, refused.cache)
    ZEND_PARSE_PARAMETERS_END();

    if (!mq_php_campaign_use(ZEND_THIS, &self)) {
        RETURN_THROWS();
    }
    struct call *call = mq_php_holder_new(&holder, sizeof *call, clear_call);
    call->self = self;
    call->refused = refused;
    add(call, recipients);
    const struct mq_error err = call->err;
    enum mq_status status = call->status;
    int64_t added = call->adding ? mq_adding_added(call->adding) : 0;
    zval_ptr_dtor(&holder);
    if (mq_php_campaign_ok(&self, status, &err) && !EG(exception)) {
        RETVAL_LONG((zend_long)added);
    }
}
