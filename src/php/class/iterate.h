/* Each value of an array or a Traversable. */
#ifndef MQ_PHP_CLASS_ITERATE_H
#define MQ_PHP_CLASS_ITERATE_H

#include "php.h"

/* Hands a copy of each value to take(), which runs PHP code if it likes, until that returns false
 * or an exception is pending. A generator is moved on only when the next value is asked for. */
void mq_php_each(zval *iterable, bool (*take)(void *context, zval *value), void *context);

#endif
