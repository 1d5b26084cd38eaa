/* A run of the worker within a web server's process. */
#ifndef MQ_PHP_CLASS_QUEUE_RUN_H
#define MQ_PHP_CLASS_QUEUE_RUN_H

#include "php/guard.h"

/* As runWorker() has them. */
struct mq_php_request_run {
    zend_long seconds;                    /* nothing is claimed after so many */
    zend_long mails;                      /* at most */
    struct mq_php_callable compose, sign; /* not initialized: NULL */
    zval *relays;                         /* the map, or a Closure; NULL: none */
};
/* Sends what is due, as runWorker() does. An exception is pending if it failed. */
void mq_php_run_in_request(zval *object, const struct mq_php_request_run *given);

#endif
