/* The worker's callbacks into PHP: composing, events, a Closure as its transport; and its log. */
#ifndef MQ_PHP_WORKER_HOOKS_H
#define MQ_PHP_WORKER_HOOKS_H

#include "php.h"

#include "core/error.h"
#include "php/guard.h"

struct mq_clock;
struct mq_dkim;
struct mq_log;
struct mq_transport;
struct mq_worker_hooks;

struct mq_php_hooks {
    struct mq_php_run *run;
    struct mq_php_callable *compose;     /* NULL: none */
    struct mq_php_callable *sign;        /* NULL: none */
    struct mq_php_callable *on_event;    /* NULL: none */
    struct mq_php_callable *on_finished; /* NULL: none */
    zval *queue;                         /* the MailQueue object; borrowed */
    struct mq_log *log;                  /* NULL: none */
    struct mq_dkim *dkim;                /* NULL: nothing is signed */
};

/* Runs body(context), which must do all that touches PHP values; error texts call it `name`. If it
 * forks, the child ends here. MQ_THROWN, MQ_BAILOUT: PHP has ended, now or before. MQ_DATABASE: the
 * body left a transaction open. */
enum mq_status mq_php_call_out(struct mq_php_run *run, const char *name,
                               void (*body)(void *context), void *context, struct mq_error *err);

/* Takes a pending exception: MQ_MESSAGE, so the mail is tried later; MQ_THROWN: exit() was called,
 * and the run ends. The text begins with `name`. */
enum mq_status mq_php_take_exception(const char *name, struct mq_error *err);

/* Fills in the hooks for the worker. `hooks` is their context and must live as long. */
void mq_php_worker_hooks(struct mq_php_hooks *hooks, struct mq_worker_hooks *out);

/* Makes a transport that hands each mail to a PHP Closure (Job, message, from, recipients). If the
 * Closure returns, the mail is accepted. RefusedException means refused, TransportException the
 * relay's trouble, any other exception try later. `run` and `closure` are borrowed and must live as
 * long. */
enum mq_status mq_closure_transport_new(struct mq_php_run *run, struct mq_php_callable *closure,
                                        const struct mq_clock *clock, struct mq_transport **out,
                                        struct mq_error *err);

#endif
