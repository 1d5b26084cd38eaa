/* Lists of envelope addresses, each once. */
#include "php/message/recipients.h"

#include <stdlib.h>
#include <string.h>

#include "core/ascii.h"
#include "mime/idn.h"
#include "php/message/fields.h"

bool mq_php_recipient_add(HashTable *seen, struct mq_str address, struct mq_strings *out)
{
    const char *at = memrchr(address.data, '@', address.len);
    zend_string *key = zend_string_init(address.data, address.len, 1);
    for (size_t i = at ? (size_t)(at - address.data) : 0; i < address.len; i++) {
        ZSTR_VAL(key)[i] = mq_ascii_lower(ZSTR_VAL(key)[i]);
    }
    bool added = zend_hash_add_empty_element(seen, key) != NULL;
    zend_string_release(key);
    return !added || mq_strings_add(out, address);
}

static enum mq_status add_recipient(HashTable *seen, const zval *item, size_t index,
                                    struct mq_strings *out, struct mq_error *err)
{
    char name[32];
    char *address = NULL;
    snprintf(name, sizeof name, "recipients[%zu]", index);
    if (Z_TYPE_P(item) != IS_STRING) {
        return mq_php_wrong_type(name, "a string", item, err);
    }
    struct mq_str text = {Z_STRVAL_P(item), Z_STRLEN_P(item)};
    enum mq_status status = mq_idn_address(text, name, &address, err);
    if (status == MQ_OK && !mq_php_recipient_add(seen, mq_str_of(address), out)) {
        status = mq_error_nomem(err);
    }
    free(address);
    return status;
}

enum mq_status mq_php_recipients(HashTable *list, struct mq_strings *out, struct mq_error *err)
{
    size_t count = zend_hash_num_elements(list);
    size_t index = 0;
    enum mq_status status = MQ_OK;
    HashTable seen;
    zval *item;
    if (count == 0 || count > MQ_PHP_RECIPIENTS_MAX) {
        return mq_error_set(err, MQ_MESSAGE, "recipients",
                            "recipients: %zu addresses; give 1 to %d", count,
                            MQ_PHP_RECIPIENTS_MAX);
    }
    zend_hash_init(&seen, (uint32_t)count, NULL, NULL, 1);
    ZEND_HASH_FOREACH_VAL (list, item) {
        ZVAL_DEREF(item);
        status = add_recipient(&seen, item, index++, out, err);
        if (status != MQ_OK) {
            break;
        }
    }
    ZEND_HASH_FOREACH_END();
    zend_hash_destroy(&seen);
    return status;
}
