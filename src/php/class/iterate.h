/* One value after another of an array or a Traversable. */
#ifndef MQ_PHP_CLASS_ITERATE_H
#define MQ_PHP_CLASS_ITERATE_H

#include "php.h"

#include "core/error.h"

struct mq_php_iterator {
    zval array; /* undefined for a Traversable */
    HashPosition position;
    zend_object_iterator *object;
    bool started;
};

/* False when an exception was thrown. */
bool mq_php_iterator_begin(struct mq_php_iterator *iterator, zval *iterable);
void mq_php_iterator_end(struct mq_php_iterator *iterator);

/* *more: `value` is a copy that the caller frees. MQ_THROWN. A generator is moved on only when the
 * next value is asked for. */
enum mq_status mq_php_iterator_next(struct mq_php_iterator *iterator, zval *value, bool *more);

#endif
