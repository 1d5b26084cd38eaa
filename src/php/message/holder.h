/* A C struct in a PHP value: PHP frees it with the value, and after a fatal error with the request.
 * So what it owns besides request memory (descriptors, malloc'ed memory) never leaks. PHP code
 * never gets to see the value. */
#ifndef MQ_PHP_MESSAGE_HOLDER_H
#define MQ_PHP_MESSAGE_HOLDER_H

#include "php.h"

/* Returns a zeroed struct. clear() frees what the struct owns, but not the struct itself; it must
 * not run PHP code, except destructors. */
void *mq_php_holder_new(zval *out, size_t size, void (*clear)(void *data));
void *mq_php_holder_data(const zval *holder);

#endif
