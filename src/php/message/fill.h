/* Fills the readonly properties of an object made here, in the order in which the stub declares
 * them: PHP code cannot, and nothing else has to be asked. */
#ifndef MQ_PHP_MESSAGE_FILL_H
#define MQ_PHP_MESSAGE_FILL_H

#include "php.h"

struct mq_php_fill {
    zval *next; /* the property that comes next */
};

static inline struct mq_php_fill mq_php_fill_begin(zend_object *object)
{
    return (struct mq_php_fill){OBJ_PROP_NUM(object, 0)};
}
static inline zval *mq_php_fill_next(struct mq_php_fill *fill)
{
    return fill->next++;
}
static inline void mq_php_fill_int(struct mq_php_fill *fill, int64_t value)
{
    ZVAL_LONG(mq_php_fill_next(fill), (zend_long)value);
}
/* 0 stands for null, as it does for times in the core. */
static inline void mq_php_fill_int_or_null(struct mq_php_fill *fill, int64_t value)
{
    zval *property = mq_php_fill_next(fill);
    if (value) {
        ZVAL_LONG(property, (zend_long)value);
    } else {
        ZVAL_NULL(property);
    }
}
static inline void mq_php_fill_bool(struct mq_php_fill *fill, bool value)
{
    ZVAL_BOOL(mq_php_fill_next(fill), value);
}
static inline void mq_php_fill_double(struct mq_php_fill *fill, double value)
{
    ZVAL_DOUBLE(mq_php_fill_next(fill), value);
}
static inline void mq_php_fill_null(struct mq_php_fill *fill)
{
    ZVAL_NULL(mq_php_fill_next(fill));
}
static inline void mq_php_fill_string(struct mq_php_fill *fill, const char *value)
{
    zval *property = mq_php_fill_next(fill);
    if (value) {
        ZVAL_STRING(property, value);
    } else {
        ZVAL_NULL(property);
    }
}

#endif
