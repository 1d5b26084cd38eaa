/* A time, as PHP code gives it. */
#ifndef MQ_PHP_CLASS_TIME_ARG_H
#define MQ_PHP_CLASS_TIME_ARG_H

#include "php.h"

#include "core/error.h"

/* UTC seconds of a DateTimeInterface or an int into *out; *given is false for null. MQ_MESSAGE or
 * MQ_INVALID with the field; MQ_THROWN where PHP code threw. */
enum mq_status mq_php_time_of(zval *value, const char *field, int64_t *out, bool *given,
                              struct mq_error *err);

#endif
