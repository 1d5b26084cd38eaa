/* PHP code called from within the core. Whatever it does, the core's frames are left the normal
 * way: a fatal error's jump ends here. */
#ifndef MQ_PHP_GUARD_H
#define MQ_PHP_GUARD_H

#include <sys/types.h>

#include "php.h"

struct mq_db;

/* One run of the worker, as its callbacks see it. */
struct mq_php_run {
    pid_t pid;
    bool bailed;       /* PHP is unwinding: nothing of it may be called any more */
    struct mq_db *pdo; /* over the application's PDO, which callbacks may use as well; else NULL */
};

/* Whether PHP code may be called: not while an exception is pending or PHP unwinds. */
bool mq_php_may_call(const struct mq_php_run *run);

/* Runs body(context), which only allocates request memory. False if the memory limit or another
 * fatal error made PHP unwind: the caller then frees what is malloc'ed and calls zend_bailout(). */
bool mq_php_survives(void (*body)(void *context), void *context);

/* A callable and its resolution, as parameters give them. */
struct mq_php_callable {
    zend_fcall_info info;
    zend_fcall_info_cache cache;
};

/* Calls with `count` arguments, which it frees; `result` is the caller's, undefined when an
 * exception is pending afterwards. Only within mq_php_survives(). */
void mq_php_call(struct mq_php_callable *callable, uint32_t count, zval *arguments, zval *result);

#endif
