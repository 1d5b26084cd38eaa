/* Asks DateTimeZone when a zone's clocks are changed. */
#include "php/zone_reader.h"

#include "php.h"

#include "ext/date/php_date.h"

#include "php/guard.h"
#include "php/pdo/call_method.h"

struct wanted {
    const char *name;
    zval zone, text; /* an object whose constructor was not called yet; its argument */
};

static void make(void *context)
{
    struct wanted *wanted = context;
    ZVAL_STRING(&wanted->text, wanted->name);
    object_init_ex(&wanted->zone, php_date_get_timezone_ce());
}

static enum mq_status bailed(struct mq_error *err)
{
    return mq_error_set(err, MQ_BAILOUT, "", "PHP stopped with a fatal error");
}

/* Calls a method of the zone. *known is false if it threw, as the constructor does for an unknown
 * name; otherwise the caller frees the result. */
static enum mq_status call(const struct mq_php_method *method, zval *result, bool *known,
                           struct mq_error *err)
{
    zend_object *thrown = NULL;
    enum mq_php_call_end end = mq_php_call_method(method, result, &thrown);
    *known = end == MQ_PHP_CALL_RETURNED;
    if (thrown) {
        OBJ_RELEASE(thrown);
    }
    return end == MQ_PHP_CALL_BAILED ? bailed(err) : MQ_OK;
}

static int64_t number(zval *transition, const char *name)
{
    const zval *value = zend_hash_str_find(Z_ARRVAL_P(transition), name, strlen(name));
    return value && Z_TYPE_P(value) == IS_LONG ? Z_LVAL_P(value) : 0;
}

/* Reads what getTransitions() returned: first how it is at the begin, then each change. Offsets
 * and abbreviations are not zones: for them it returned false. */
static bool read_transitions(const zval *list, int64_t until_s, struct mq_zone *out)
{
    zval *transition;
    *out = (struct mq_zone){.until_s = until_s};
    if (Z_TYPE_P(list) != IS_ARRAY) {
        return false;
    }
    ZEND_HASH_FOREACH_VAL (Z_ARRVAL_P(list), transition) {
        if (Z_TYPE_P(transition) != IS_ARRAY) {
            return false;
        }
        int64_t at_s = number(transition, "ts");
        if (out->count == MQ_ZONE_SHIFTS_MAX) {
            out->until_s = at_s;
            return true;
        }
        out->shifts[out->count].from_s = at_s;
        out->shifts[out->count++].east_s = number(transition, "offset");
    }
    ZEND_HASH_FOREACH_END();
    return out->count > 0;
}

static enum mq_status read_zone(struct wanted *wanted, int64_t from_s, struct mq_zone *out,
                                bool *known, struct mq_error *err)
{
    zval span[2], result;
    struct mq_php_method construct = {&wanted->zone, "__construct", &wanted->text, 1};
    struct mq_php_method transitions = {&wanted->zone, "gettransitions", span, 2};
    ZVAL_LONG(&span[0], (zend_long)from_s);
    ZVAL_LONG(&span[1], (zend_long)(from_s + MQ_ZONE_AHEAD_S));
    MQ_TRY(call(&construct, &result, known, err));
    if (!*known) {
        return MQ_OK;
    }
    zval_ptr_dtor(&result);
    MQ_TRY(call(&transitions, &result, known, err));
    if (*known) {
        *known = read_transitions(&result, from_s + MQ_ZONE_AHEAD_S, out);
        zval_ptr_dtor(&result);
    }
    return MQ_OK;
}

static enum mq_status load(void *context, const char *name, int64_t from_s, struct mq_zone *out,
                           struct mq_error *err)
{
    struct wanted wanted = {.name = name};
    bool known = false;
    (void)context;
    if (!mq_php_survives(make, &wanted)) {
        return bailed(err);
    }
    enum mq_status status = read_zone(&wanted, from_s, out, &known, err);
    if (status == MQ_BAILOUT) {
        return status; /* PHP frees what it has made when the request ends */
    }
    zval_ptr_dtor(&wanted.zone);
    zval_ptr_dtor(&wanted.text);
    return known ? MQ_OK : mq_error_set(err, MQ_CONFIG, NULL, "there is no time zone \"%s\"", name);
}

const struct mq_zone_source mq_php_zones = {load, NULL};
