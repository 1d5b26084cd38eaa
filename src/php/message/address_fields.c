/* The address fields of an array message, in the forms that PHP code gives them:
 *   'Name <a@example.org>, b@example.org'
 *   ['Name <a@example.org>', 'b@example.org']
 *   ['a@example.org' => 'Name', 'b@example.org' => null]
 *   [['address' => 'a@example.org', 'name' => 'Name']], or one such entry alone */
#include "php/message/fields.h"

static const char *const entry_keys[] = {"address", "name"};

/* ['address' => …, 'name' => …] */
static enum mq_status read_entry(struct mq_php_path place, HashTable *entry,
                                 struct mq_compose_address *item, struct mq_error *err)
{
    enum mq_status status = mq_php_check_keys(place.field, entry, entry_keys, 2, err);
    if (status == MQ_OK && mq_php_fields_find(entry, "address") == NULL) {
        status = mq_error_set(err, MQ_MESSAGE, place.field,
                              "%s: the address is missing; write ['address' => 'a@example.org', "
                              "'name' => 'Name']",
                              place.field);
    }
    if (status == MQ_OK) {
        status = mq_php_read_member(place, entry, "address", &item->address, err);
    }
    item->name = MQ_STR("");
    return status == MQ_OK ? mq_php_read_member(place, entry, "name", &item->name, err) : status;
}

static enum mq_status read_item(struct mq_php_path place, zend_string *key, const zval *value,
                                struct mq_error *err)
{
    struct mq_compose_addresses *list = place.target;
    /* Allocated below, with room for all. */
    struct mq_compose_address *item = (struct mq_compose_address *)list->items + list->count++;
    item->field = place.field;
    if (key) { /* a name, though empty, says that the address stands apart */
        item->address = (struct mq_str){ZSTR_VAL(key), ZSTR_LEN(key)};
        item->name = MQ_STR("");
        place.target = &item->name;
        return Z_TYPE_P(value) == IS_NULL ? MQ_OK : mq_php_read_text(place, key, value, err);
    }
    if (Z_TYPE_P(value) == IS_ARRAY) {
        return read_entry(place, Z_ARRVAL_P(value), item, err);
    }
    if (Z_TYPE_P(value) != IS_STRING) {
        return mq_php_wrong_type(place.field, "a string or an array of address and name", value,
                                 err);
    }
    item->address = (struct mq_str){Z_STRVAL_P(value), Z_STRLEN_P(value)};
    return MQ_OK;
}

enum mq_status mq_php_read_addresses(struct mq_php_path place, zend_string *key, const zval *value,
                                     struct mq_error *err)
{
    struct mq_compose_addresses *out = place.target;
    HashTable *list = Z_TYPE_P(value) == IS_ARRAY ? Z_ARRVAL_P(value) : NULL;
    bool entry = list && zend_hash_str_exists(list, ZEND_STRL("address"));
    size_t n = list && !entry ? zend_hash_num_elements(list) : 1;
    (void)key;
    if (list == NULL && Z_TYPE_P(value) != IS_STRING) {
        return mq_php_wrong_type(place.field, "a string or an array", value, err);
    }
    if (n > MQ_PHP_RECIPIENTS_MAX) {
        return mq_error_set(err, MQ_MESSAGE, place.field, "%s: %zu addresses; give at most %d",
                            place.field, n, MQ_PHP_RECIPIENTS_MAX);
    }
    out->items = mq_php_fields_alloc(place.fields, n, sizeof *out->items);
    return entry ? read_item(place, NULL, value, err)
                 : mq_php_read_one_or_each(place, value, read_item, err);
}
