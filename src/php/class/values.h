/* Text and numbers that may be missing, as PHP values. */
#ifndef MQ_PHP_CLASS_VALUES_H
#define MQ_PHP_CLASS_VALUES_H

#include "php.h"

static inline void mq_php_set_text(zval *value, const char *text)
{
    if (text) {
        ZVAL_STRING(value, text);
    } else {
        ZVAL_NULL(value);
    }
}

static inline void mq_php_set_int(zval *value, bool given, int64_t number)
{
    if (given) {
        ZVAL_LONG(value, (zend_long)number);
    } else {
        ZVAL_NULL(value);
    }
}

static inline void mq_php_add_text(zval *array, const char *key, const char *text)
{
    zval value;
    mq_php_set_text(&value, text);
    add_assoc_zval(array, key, &value);
}

static inline void mq_php_add_int(zval *array, const char *key, bool given, int64_t number)
{
    zval value;
    mq_php_set_int(&value, given, number);
    add_assoc_zval(array, key, &value);
}

#endif
