/* What reading any of the fields of an array message needs. */
#include "php/message/fields.h"

#include <string.h>

#include "zend_interfaces.h"

enum mq_status mq_php_wrong_type(const char *field, const char *wanted, const zval *value,
                                 struct mq_error *err)
{
    return mq_error_set(err, MQ_MESSAGE, field, "%s: must be %s, %s given", field, wanted,
                        zend_zval_type_name(value));
}

void *mq_php_fields_grow(void *items, size_t count, size_t size)
{
    if ((count & (count - 1)) == 0) { /* full: 0, 1, 2, 4, 8 … */
        items = safe_erealloc(items, count ? 2 * count : 1, size, 0);
    }
    memset((char *)items + count * size, 0, size);
    return items;
}

struct mq_str mq_php_fields_keep(struct mq_php_fields *fields, zend_string *s)
{
    if (fields->kept_count == fields->kept_capacity) {
        size_t capacity = fields->kept_capacity ? 2 * fields->kept_capacity : 32;
        fields->kept = safe_erealloc(fields->kept, capacity, sizeof *fields->kept, 0);
        fields->kept_capacity = capacity;
    }
    fields->kept[fields->kept_count++] = s;
    return (struct mq_str){ZSTR_VAL(s), ZSTR_LEN(s)};
}

struct mq_php_path mq_php_path_of(struct mq_php_path place, zend_ulong index, zend_string *key)
{
    zend_string *name = key ? strpprintf(0, "%s[%.40s]", place.field, ZSTR_VAL(key))
                            : strpprintf(0, "%s[" ZEND_LONG_FMT "]", place.field, (zend_long)index);
    place.field = mq_php_fields_keep(place.fields, name).data;
    return place;
}

bool mq_php_is_text(const zval *value)
{
    return Z_TYPE_P(value) == IS_STRING ||
           (Z_TYPE_P(value) == IS_OBJECT &&
            instanceof_function(Z_OBJCE_P(value), zend_ce_stringable));
}

enum mq_status mq_php_read_text(struct mq_php_path place, const zval *value, struct mq_str *out,
                                struct mq_error *err)
{
    zval copy;
    if (!mq_php_is_text(value)) {
        return mq_php_wrong_type(place.field, "a string", value, err);
    }
    ZVAL_COPY_VALUE(&copy, value);
    zend_string *text = zval_try_get_string(&copy);
    if (text == NULL) {
        return MQ_THROWN;
    }
    *out = mq_php_fields_keep(place.fields, text);
    return MQ_OK;
}

enum mq_status mq_php_read_member(struct mq_php_path place, const zval *value, const char *key,
                                  struct mq_str *out, struct mq_error *err)
{
    char name[MQ_ERROR_FIELD_MAX];
    if (mq_php_is_text(value)) {
        return mq_php_read_text(place, value, out, err);
    }
    snprintf(name, sizeof name, "%s[%s]", place.field, key);
    return mq_php_wrong_type(name, "a string", value, err);
}

void mq_php_fields_find(HashTable *array, const char *key, zval *copy)
{
    zval *value = zend_hash_str_find(array, key, strlen(key));
    ZVAL_UNDEF(copy);
    if (value) {
        ZVAL_COPY_DEREF(copy, value);
    }
    if (Z_TYPE_P(copy) == IS_NULL) {
        ZVAL_UNDEF(copy);
    }
}

static void list_words(struct mq_buffer *out, const char *const *words, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        mq_buffer_cstr(out, i == 0 ? "" : i + 1 < count ? ", " : " and ");
        mq_buffer_cstr(out, words[i]);
    }
}

enum mq_status mq_php_fields_unknown_key(const char *field, zend_string *key,
                                         const char *const *known, size_t count,
                                         struct mq_error *err)
{
    struct mq_buffer text;
    mq_buffer_init(&text);
    mq_buffer_cstr(&text, "known are ");
    list_words(&text, known, count);
    enum mq_status status =
        text.failed ? mq_error_nomem(err)
        : field     ? mq_error_set(err, MQ_MESSAGE, field, "%s: unknown key \"%.40s\"; %s", field,
                                   ZSTR_VAL(key), text.data)
                    : mq_error_set(err, MQ_MESSAGE, ZSTR_VAL(key), "%.40s: unknown field; %s",
                                   ZSTR_VAL(key), text.data);
    mq_buffer_clear(&text);
    return status;
}
