/* Errors of the core as PHP exceptions: the only place that turns one into the other. */
#ifndef MQ_PHP_CLASS_EXCEPTIONS_H
#define MQ_PHP_CLASS_EXCEPTIONS_H

#include "php.h"

#include "core/error.h"

/* Throws for a failure that argument number `arg` (from 1) is the cause of: a ValueError that names
 * it. */
void mq_php_throw_argument(uint32_t arg, const struct mq_error *err);

/* Whether an argument is in range, and a string without null bytes; else a ValueError. `unit`
 * follows the range: " (seconds)". */
bool mq_php_check_range(uint32_t arg, zend_long value, zend_long min, zend_long max,
                        const char *unit);
bool mq_php_check_text(uint32_t arg, const zend_string *text);

/* True for MQ_OK. Otherwise throws, unless an exception is pending already, or lets PHP unwind: the
 * caller has freed what is its own. */
bool mq_php_ok(enum mq_status status, const struct mq_error *err);

/* "Class: message" of the pending exception into `out`, printable and cut on a character; of the
 * extension's own exceptions the message alone, after a code that can be a reply's. */
void mq_php_exception_text(char *out, size_t size);

/* The pending exception's code where it can be an SMTP reply's (400 … 599), else 0. */
int mq_php_exception_code(void);

/* Whether what is pending is exit() or the end of a fiber: nothing that PHP code may catch. */
bool mq_php_exiting(void);

#endif
