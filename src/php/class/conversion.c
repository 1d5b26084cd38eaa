/* Converts values from and to PHP. */
#include "php/class/conversion.h"

#include "ext/date/php_date.h"
#include "ext/spl/spl_iterators.h"
#include "zend_interfaces.h"

#include "php/message/fields.h"

/* The end of the year 9999: later times are mistakes (milliseconds, say). */
#define TIME_MAX_S INT64_C(253402300799)

void mq_php_set_text(zval *value, const char *text)
{
    if (text) {
        ZVAL_STRING(value, text);
    } else {
        ZVAL_NULL(value);
    }
}

void mq_php_set_int(zval *value, bool given, int64_t number)
{
    if (given) {
        ZVAL_LONG(value, (zend_long)number);
    } else {
        ZVAL_NULL(value);
    }
}

void mq_php_set_list(zval *value, const struct mq_strings *list)
{
    array_init_size(value, (uint32_t)list->count);
    for (size_t i = 0; i < list->count; i++) {
        add_next_index_string(value, list->items[i]);
    }
}

void mq_php_add_text(zval *array, const char *key, const char *text)
{
    zval value;
    mq_php_set_text(&value, text);
    add_assoc_zval(array, key, &value);
}

void mq_php_add_int(zval *array, const char *key, bool given, int64_t number)
{
    zval value;
    mq_php_set_int(&value, given, number);
    add_assoc_zval(array, key, &value);
}

static enum mq_status timestamp_of(zval *date, zval *out)
{
    zend_call_method_with_0_params(Z_OBJ_P(date), Z_OBJCE_P(date), NULL, "gettimestamp", out);
    return EG(exception) ? MQ_THROWN : MQ_OK;
}

enum mq_status mq_php_time_of(zval *value, const char *field, int64_t *out, bool *given,
                              struct mq_error *err)
{
    zval seconds;
    enum mq_status status = MQ_OK;
    *given = Z_TYPE_P(value) != IS_NULL;
    if (!*given) {
        return MQ_OK;
    }
    ZVAL_UNDEF(&seconds);
    if (Z_TYPE_P(value) == IS_OBJECT &&
        instanceof_function(Z_OBJCE_P(value), php_date_get_interface_ce())) {
        status = timestamp_of(value, &seconds);
    } else {
        ZVAL_COPY(&seconds, value);
    }
    if (status == MQ_OK && Z_TYPE(seconds) != IS_LONG) {
        status = mq_php_wrong_type(field, "a DateTimeInterface, an int or null", &seconds, err);
    } else if (status == MQ_OK && (Z_LVAL(seconds) < 0 || Z_LVAL(seconds) > TIME_MAX_S)) {
        status = mq_error_set(err, MQ_INVALID, field,
                              "%s: must be seconds since 1970, between 0 and the end of the year "
                              "9999",
                              field);
    } else if (status == MQ_OK) {
        *out = Z_LVAL(seconds);
    }
    zval_ptr_dtor(&seconds);
    return status;
}

/* ---- each value of an array or a Traversable ---- */

struct each {
    bool (*take)(void *context, zval *value);
    void *context;
};

static bool take_copy(const struct each *each, zval *value)
{
    zval copy;
    ZVAL_COPY_DEREF(&copy, value);
    bool more = each->take(each->context, &copy);
    zval_ptr_dtor(&copy);
    return more && EG(exception) == NULL;
}

static int take_current(zend_object_iterator *iterator, void *context)
{
    zval *value = iterator->funcs->get_current_data(iterator);
    bool more = value && EG(exception) == NULL && take_copy(context, value);
    return more ? ZEND_HASH_APPLY_KEEP : ZEND_HASH_APPLY_STOP;
}

void mq_php_each(zval *iterable, bool (*take)(void *context, zval *value), void *context)
{
    struct each each = {take, context};
    zval array, *value;
    if (Z_TYPE_P(iterable) == IS_OBJECT) {
        spl_iterator_apply(iterable, take_current, &each);
        return;
    }
    ZVAL_COPY(&array, iterable);
    ZEND_HASH_FOREACH_VAL (Z_ARRVAL(array), value) {
        if (!take_copy(&each, value)) {
            break;
        }
    }
    ZEND_HASH_FOREACH_END();
    zval_ptr_dtor(&array);
}

int64_t *mq_php_ids_read(uint32_t arg, HashTable *list)
{
    int64_t *ids = safe_emalloc(zend_hash_num_elements(list) + 1, sizeof *ids, 0);
    size_t count = 0;
    zval *item;
    ZEND_HASH_FOREACH_VAL (list, item) {
        ZVAL_DEREF(item);
        if (Z_TYPE_P(item) != IS_LONG) {
            efree(ids);
            zend_argument_type_error(arg, "must be a list of ids of type int, %s given",
                                     zend_zval_type_name(item));
            return NULL;
        }
        ids[count++] = Z_LVAL_P(item);
    }
    ZEND_HASH_FOREACH_END();
    return ids;
}
