/* A run of the worker within a web server's process. */
#ifndef MQ_PHP_CLASS_QUEUE_RUN_H
#define MQ_PHP_CLASS_QUEUE_RUN_H

#include "php/guard.h"

/* Sends what is due, as runWorker() does, at most so many mails, and claims nothing after so many
 * seconds. `relays`: the map, or a Closure; NULL: none. An exception is pending if it failed. */
void mq_php_run_in_request(zval *object, zend_long seconds, zend_long mails,
                           const struct mq_php_callable *compose,
                           const struct mq_php_callable *sign, zval *relays);

#endif
