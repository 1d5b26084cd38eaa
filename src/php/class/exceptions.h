/* Turns errors of the core into PHP exceptions. No other place does that. */
#ifndef MQ_PHP_CLASS_EXCEPTIONS_H
#define MQ_PHP_CLASS_EXCEPTIONS_H

#include "php.h"

#include "core/error.h"

/* Throws for a failure that argument number `arg` (from 1) caused. MQ_CONFIG and MQ_INVALID become
 * a ValueError that names the argument. */
void mq_php_throw_argument(uint32_t arg, const struct mq_error *err);

#define MQ_PHP_SPAN_MAX_S (366 * 86400) /* of spans in arguments */

/* Check that an argument is in range, or has no null bytes. If not, they throw a ValueError and
 * return false. `unit` follows the range in the text: " (seconds)". */
bool mq_php_check_range(uint32_t arg, zend_long value, zend_long min, zend_long max,
                        const char *unit);
bool mq_php_check_text(uint32_t arg, const zend_string *text);

/* True for MQ_OK. Otherwise throws, unless an exception is pending already. MQ_BAILOUT makes PHP
 * unwind and does not return, so the caller must have freed its memory. */
bool mq_php_ok(enum mq_status status, const struct mq_error *err);

/* Writes "Class: message" of the pending exception to `out`, printable and cut between characters.
 * The extension's own exceptions give "message", or "450 message" if they have a reply's code. */
void mq_php_exception_text(char *out, size_t size);

/* The pending exception's code if it can be an SMTP reply's (400 … 599), or 0. */
int mq_php_exception_code(void);

/* Whether exit() or the end of a fiber is pending, which PHP code cannot catch. */
bool mq_php_exiting(void);

#endif
