/* The address fields of an array message, in the forms that PHP code gives them:
 *   'Name <a@example.org>, b@example.org'
 *   ['Name <a@example.org>', 'b@example.org']
 *   ['a@example.org' => 'Name', 'b@example.org' => null]
 *   [['address' => 'a@example.org', 'name' => 'Name']], or one such entry alone */
#include "php/message/fields.h"

static const char *const entry_keys[] = {"address", "name"};

static enum mq_status check_entry_keys(const char *field, HashTable *entry, struct mq_error *err)
{
    zend_string *key;
    ZEND_HASH_FOREACH_STR_KEY(entry, key)
    {
        if (key == NULL) {
            return mq_error_set(err, MQ_MESSAGE, field,
                                "%s: an array here has the keys address and name, such as "
                                "['address' => 'a@example.org', 'name' => 'Name']",
                                field);
        }
        if (!mq_php_key_is(key, "address") && !mq_php_key_is(key, "name")) {
            return mq_php_fields_unknown_key(field, key, entry_keys, 2, err);
        }
    }
    ZEND_HASH_FOREACH_END();
    return MQ_OK;
}

/* ['address' => …, 'name' => …] */
static enum mq_status read_entry(struct mq_php_path place, HashTable *entry,
                                 struct mq_compose_address *item, struct mq_error *err)
{
    zval address, name;
    enum mq_status status = check_entry_keys(place.field, entry, err);
    if (status != MQ_OK) {
        return status;
    }
    mq_php_fields_find(entry, "address", &address);
    if (Z_ISUNDEF(address)) {
        return mq_error_set(err, MQ_MESSAGE, place.field,
                            "%s: the address is missing; write ['address' => 'a@example.org', "
                            "'name' => 'Name']",
                            place.field);
    }
    status = mq_php_read_member(place, &address, "address", &item->address, err);
    zval_ptr_dtor(&address);
    if (status == MQ_OK) {
        mq_php_fields_find(entry, "name", &name);
        item->name = MQ_STR("");
        if (!Z_ISUNDEF(name)) {
            status = mq_php_read_member(place, &name, "name", &item->name, err);
        }
        zval_ptr_dtor(&name);
    }
    return status;
}

static enum mq_status read_item(struct mq_php_path place, zend_string *key, const zval *value,
                                struct mq_compose_address *item, struct mq_error *err)
{
    item->field = place.field;
    if (key) { /* an empty name is one all the same: it says that the address stands apart */
        item->address = mq_php_fields_keep(place.fields, zend_string_copy(key));
        item->name = MQ_STR("");
        return Z_TYPE_P(value) == IS_NULL ? MQ_OK
                                          : mq_php_read_text(place, value, &item->name, err);
    }
    if (Z_TYPE_P(value) == IS_ARRAY) {
        return read_entry(place, Z_ARRVAL_P(value), item, err);
    }
    if (!mq_php_is_text(value)) {
        return mq_php_wrong_type(place.field, "a string or an array of address and name", value,
                                 err);
    }
    return mq_php_read_text(place, value, &item->address, err);
}

static enum mq_status read_list(struct mq_php_path place, HashTable *list,
                                struct mq_compose_address *items, struct mq_error *err)
{
    enum mq_status status = MQ_OK;
    zend_ulong index;
    zend_string *key;
    zval *element;
    ZEND_HASH_FOREACH_KEY_VAL (list, index, key, element) {
        zval value;
        ZVAL_COPY_DEREF(&value, element);
        status = read_item(mq_php_path_of(place, index, key), key, &value, items++, err);
        zval_ptr_dtor(&value);
        if (status != MQ_OK) {
            break;
        }
    }
    ZEND_HASH_FOREACH_END();
    return status;
}

enum mq_status mq_php_read_addresses(struct mq_php_path place, const zval *value,
                                     struct mq_compose_address **items, size_t *count,
                                     struct mq_error *err)
{
    HashTable *list = Z_TYPE_P(value) == IS_ARRAY ? Z_ARRVAL_P(value) : NULL;
    bool entry = list && zend_hash_str_exists(list, ZEND_STRL("address"));
    size_t n = list && !entry ? zend_hash_num_elements(list) : 1;
    if (list == NULL && !mq_php_is_text(value)) {
        return mq_php_wrong_type(place.field, "a string or an array", value, err);
    }
    if (n > MQ_PHP_RECIPIENTS_MAX) {
        return mq_error_set(err, MQ_MESSAGE, place.field, "%s: %zu addresses; give at most %d",
                            place.field, n, MQ_PHP_RECIPIENTS_MAX);
    }
    if (n == 0) {
        return MQ_OK;
    }
    *items = ecalloc(n, sizeof **items);
    *count = n;
    return list && !entry ? read_list(place, list, *items, err)
                          : read_item(place, NULL, value, *items, err);
}
