/* Helpers for reading the fields of an array message: copying the array, memory, checks of keys. */
#include "php/message/fields.h"

#include <string.h>

#include "ext/date/php_date.h"
#include "ext/spl/spl_directory.h"
#include "zend_interfaces.h"

#include "php/class/conversion.h"

enum mq_status mq_php_wrong_type(const char *field, const char *wanted, const zval *value,
                                 struct mq_error *err)
{
    return mq_error_set(err, MQ_MESSAGE, field, "%s: must be %s, %s given", field, wanted,
                        zend_zval_type_name(value));
}

enum mq_status mq_php_check_count(const char *field, size_t count, const char *where,
                                  struct mq_error *err)
{
    return count <= MQ_PHP_RECIPIENTS_MAX
               ? MQ_OK
               : mq_error_set(err, MQ_MESSAGE, field, "%s: %zu addresses%s; give at most %d", field,
                              count, where, MQ_PHP_RECIPIENTS_MAX);
}

bool mq_php_is_text(const zval *value)
{
    return Z_TYPE_P(value) == IS_STRING ||
           (Z_TYPE_P(value) == IS_OBJECT &&
            instanceof_function(Z_OBJCE_P(value), zend_ce_stringable));
}

/* ---- the copy ---- */

/* No message has deeper arrays. They are not copied; the reader of the field refuses them. */
#define DEPTH_MAX 6

static bool is_file_or_date(const zend_string *key, const zval *value)
{
    return instanceof_function(Z_OBJCE_P(value), spl_ce_SplFileInfo) ||
           (key && zend_string_equals_literal(key, "date") &&
            instanceof_function(Z_OBJCE_P(value), php_date_get_interface_ce()));
}

static enum mq_status copy_array(zval *from, int depth, zval *out);

static enum mq_status copy_value(const zend_string *key, zval *value, int depth, zval *out)
{
    enum mq_status status = MQ_OK;
    zval held; /* PHP code could change a referenced value meanwhile */
    ZVAL_COPY_DEREF(&held, value);
    ZVAL_UNDEF(out);
    if (Z_TYPE(held) == IS_ARRAY && depth < DEPTH_MAX) {
        status = copy_array(&held, depth + 1, out);
    } else if (Z_TYPE(held) == IS_OBJECT && mq_php_is_text(&held) && !is_file_or_date(key, &held)) {
        zend_string *text = zval_try_get_string(&held);
        status = text ? MQ_OK : MQ_THROWN;
        if (text) {
            ZVAL_STR(out, text);
        }
    } else {
        ZVAL_COPY(out, &held);
    }
    zval_ptr_dtor(&held);
    return status;
}

static enum mq_status copy_array(zval *from, int depth, zval *out)
{
    zend_ulong index;
    zend_string *key;
    zval *item, copy;
    array_init_size(out, zend_hash_num_elements(Z_ARRVAL_P(from)));
    ZEND_HASH_FOREACH_KEY_VAL (Z_ARRVAL_P(from), index, key, item) {
        if (copy_value(key, item, depth, &copy) != MQ_OK) {
            zval_ptr_dtor(out);
            ZVAL_UNDEF(out);
            return MQ_THROWN;
        }
        if (key) {
            zend_hash_add_new(Z_ARRVAL_P(out), key, &copy);
        } else {
            zend_hash_index_add_new(Z_ARRVAL_P(out), index, &copy);
        }
    }
    ZEND_HASH_FOREACH_END();
    return MQ_OK;
}

enum mq_status mq_php_plain(const zval *value, zval *out)
{
    zval given;
    ZVAL_COPY_VALUE(&given, value);
    return copy_value(NULL, &given, 0, out);
}

/* ---- memory ---- */

struct mq_str mq_php_fields_keep(struct mq_php_fields *fields, zend_string *s)
{
    if (Z_ISUNDEF(fields->kept)) {
        array_init(&fields->kept);
    }
    add_next_index_str(&fields->kept, s);
    return (struct mq_str){ZSTR_VAL(s), ZSTR_LEN(s)};
}

void *mq_php_fields_alloc(struct mq_php_fields *fields, size_t count, size_t size)
{
    zend_string *block = zend_string_safe_alloc(count, size, 0, 0);
    memset(ZSTR_VAL(block), 0, ZSTR_LEN(block) + 1);
    mq_php_fields_keep(fields, block);
    return ZSTR_VAL(block);
}

void *mq_php_fields_grow(struct mq_php_fields *fields, void *items, size_t count, size_t size)
{
    if ((count & (count - 1)) != 0) { /* the block is full at 0, 1, 2, 4, 8 … items */
        return items;
    }
    void *larger = mq_php_fields_alloc(fields, count ? 2 * count : 1, size);
    return count ? memcpy(larger, items, count * size) : larger;
}

/* ---- reading ---- */

static struct mq_php_path path_of(struct mq_php_path path, zend_ulong index, const zend_string *key)
{
    zend_string *name = key ? strpprintf(0, "%s[%.40s]", path.field, ZSTR_VAL(key))
                            : strpprintf(0, "%s[" ZEND_LONG_FMT "]", path.field, (zend_long)index);
    path.field = mq_php_fields_keep(path.fields, name).data;
    path.key = key;
    return path;
}

enum mq_status mq_php_read_each(struct mq_php_path path, const zval *array, mq_php_reader *read,
                                struct mq_error *err)
{
    zend_ulong index;
    zend_string *key;
    zval *item;
    ZEND_HASH_FOREACH_KEY_VAL (Z_ARRVAL_P(array), index, key, item) {
        MQ_TRY(read(path_of(path, index, key), item, err));
    }
    ZEND_HASH_FOREACH_END();
    return MQ_OK;
}

enum mq_status mq_php_read_one_or_each(struct mq_php_path path, const zval *value,
                                       mq_php_reader *read, struct mq_error *err)
{
    return Z_TYPE_P(value) == IS_ARRAY ? mq_php_read_each(path, value, read, err)
                                       : read(path, value, err);
}

enum mq_status mq_php_read_text(struct mq_php_path path, const zval *value, struct mq_error *err)
{
    struct mq_str *out = path.target;
    if (Z_TYPE_P(value) != IS_STRING) {
        return mq_php_wrong_type(path.field, "a string", value, err);
    }
    *out = mq_php_str(Z_STR_P(value));
    return MQ_OK;
}

void mq_php_copy_values(HashTable *array, zval *out)
{
    zend_string *key;
    zval *value;
    array_init_size(out, zend_hash_num_elements(array));
    ZEND_HASH_FOREACH_STR_KEY_VAL (array, key, value) {
        ZVAL_DEREF(value);
        Z_TRY_ADDREF_P(value);
        zend_hash_add_new(Z_ARRVAL_P(out), key, value);
    }
    ZEND_HASH_FOREACH_END();
}

zval *mq_php_fields_find(HashTable *array, const char *key)
{
    zval *value = zend_hash_str_find(array, key, strlen(key));
    return value && Z_TYPE_P(value) != IS_NULL ? value : NULL;
}

enum mq_status mq_php_read_member(struct mq_php_path path, HashTable *array, const char *key,
                                  struct mq_str *out, struct mq_error *err)
{
    char name[MQ_ERROR_FIELD_MAX];
    const zval *value = mq_php_fields_find(array, key);
    snprintf(name, sizeof name, "%s[%s]", path.field, key);
    path.field = name;
    path.target = out;
    return value ? mq_php_read_text(path, value, err) : MQ_OK;
}

static enum mq_status unknown_key(const char *field, struct mq_str key, const char *const *known,
                                  size_t count, struct mq_error *err)
{
    char name[MQ_ERROR_FIELD_MAX], list[MQ_ERROR_TEXT_MAX] = "";
    for (size_t i = 0; i < count; i++) {
        const char *between = i == 0 ? "" : i + 1 < count ? ", " : " and ";
        size_t used = strlen(list);
        snprintf(list + used, sizeof list - used, "%s%s", between, known[i]);
    }
    mq_str_printable(name, sizeof name, 0, key);
    return field ? mq_error_set(err, MQ_MESSAGE, field, "%s: unknown key \"%.40s\"; known are %s",
                                field, name, list)
                 : mq_error_set(err, MQ_MESSAGE, name, "%.40s: unknown key; known are %s", name,
                                list);
}

enum mq_status mq_php_check_keys(const char *field, HashTable *array, const char *const *known,
                                 size_t count, struct mq_error *err)
{
    zend_ulong number;
    zend_string *key;
    char digits[32];
    ZEND_HASH_FOREACH_KEY(array, number, key)
    {
        struct mq_str name = mq_php_str(key);
        size_t i = 0;
        while (key && i < count && !mq_str_equal(name, mq_str_of(known[i]))) {
            i++;
        }
        if (key == NULL) {
            snprintf(digits, sizeof digits, ZEND_LONG_FMT, (zend_long)number);
            name = mq_str_of(digits);
        }
        if (key == NULL || i == count) {
            return unknown_key(field, name, known, count, err);
        }
    }
    ZEND_HASH_FOREACH_END();
    return MQ_OK;
}
