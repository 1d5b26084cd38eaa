/* The worker's callbacks into PHP: composing, events, a Closure as its transport; and its log. */
#ifndef MQ_PHP_WORKER_HOOKS_H
#define MQ_PHP_WORKER_HOOKS_H

#include "php.h"

#include "core/clock.h"
#include "mime/dkim/sign.h"
#include "php/guard.h"
#include "worker/log.h"
#include "worker/worker.h"

struct mq_php_hooks {
    struct mq_php_run *run;
    struct mq_php_callable *compose;  /* NULL: none */
    struct mq_php_callable *on_event; /* NULL: none */
    struct mq_log *log;               /* NULL: none */
    struct mq_dkim *dkim;             /* NULL: nothing is signed */
};

/* body(context), which calls PHP code that messages call `name`. */
struct mq_php_callback {
    const char *name;
    void (*body)(void *context);
    void *context;
};
/* Runs it. MQ_THROWN, MQ_BAILOUT: PHP has ended, or had; MQ_DATABASE: it left a transaction open.
 */
enum mq_status mq_php_call_out(struct mq_php_run *run, const struct mq_php_callback *callback,
                               struct mq_error *err);

/* The hooks as the worker takes them; `hooks` is their context and has to live as long. */
struct mq_worker_hooks mq_php_worker_hooks(struct mq_php_hooks *hooks);

/* A transport that hands each mail to a PHP Closure (Job, message, from, recipients): returning
 * means accepted, RefusedException refused, TransportException the relay's trouble, any other
 * exception try later. `run` and `closure` are borrowed and have to live as long. */
enum mq_status mq_closure_transport_new(struct mq_php_run *run, struct mq_php_callable *closure,
                                        struct mq_clock clock, struct mq_transport **out,
                                        struct mq_error *err);

#endif
