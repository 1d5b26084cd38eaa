/* A transport that hands each mail to a PHP Closure (Job, message, from, recipients): returning
 * means accepted, RefusedException refused, TransportException the relay's trouble, any other
 * exception try later. */
#ifndef MQ_PHP_WORKER_CLOSURE_TRANSPORT_H
#define MQ_PHP_WORKER_CLOSURE_TRANSPORT_H

#include "php.h"

#include "core/clock.h"
#include "php/guard.h"
#include "send/transport.h"

/* `run` and `closure` are borrowed and have to live as long as the transport. */
enum mq_status mq_closure_transport_new(struct mq_php_run *run, struct mq_php_callable *closure,
                                        struct mq_clock clock, struct mq_transport **out,
                                        struct mq_error *err);

#endif
