/* Each value of an array or a Traversable. */
#ifndef MQ_PHP_CLASS_ITERATE_H
#define MQ_PHP_CLASS_ITERATE_H

#include "php.h"

/* Hands a copy of each value to take(), until that returns false or an exception is pending. take()
 * may run PHP code. A generator advances only when its next value is needed. */
void mq_php_each(zval *iterable, bool (*take)(void *context, zval *value), void *context);

#endif
