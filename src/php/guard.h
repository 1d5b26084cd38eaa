/* Calls PHP code from within the core. Always returns: a fatal error's longjmp() ends here. */
#ifndef MQ_PHP_GUARD_H
#define MQ_PHP_GUARD_H

#include <sys/types.h>

#include "php.h"

struct mq_db;

/* One run of the worker, as its callbacks see it. */
struct mq_php_run {
    pid_t pid;
    bool bailed;       /* PHP is unwinding after a fatal error: call no PHP code any more */
    struct mq_db *pdo; /* the application's PDO, which callbacks can use too; else NULL */
};

/* False while an exception is pending or PHP unwinds: then no PHP code may be called. */
bool mq_php_may_call(const struct mq_php_run *run);

/* Runs body(context), which only allocates request memory. False if the memory limit or another
 * fatal error made PHP unwind: the caller then frees what is malloc'ed and calls zend_bailout(). */
bool mq_php_survives(void (*body)(void *context), void *context);

/* A callable as the parameter parser of PHP fills it in. */
struct mq_php_callable {
    zend_fcall_info info;
    zend_fcall_info_cache cache;
};

/* Calls the callable and frees its `count` arguments. The caller frees `result`, which is never a
 * reference, and is undefined if an exception is pending afterwards. To be called only within
 * mq_php_survives(). */
void mq_php_call(struct mq_php_callable *callable, uint32_t count, zval *arguments, zval *result);

#endif
