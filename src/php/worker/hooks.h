/* The worker's callbacks into PHP: composing, events; and its log. */
#ifndef MQ_PHP_WORKER_HOOKS_H
#define MQ_PHP_WORKER_HOOKS_H

#include "php.h"

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

/* The hooks as the worker takes them; `hooks` is their context and has to live as long. */
struct mq_worker_hooks mq_php_worker_hooks(struct mq_php_hooks *hooks);

#endif
