/* The relays of a run, from runWorker()'s arguments and php.ini. */
#ifndef MQ_PHP_WORKER_RELAY_ARGUMENTS_H
#define MQ_PHP_WORKER_RELAY_ARGUMENTS_H

#include "php.h"

#include "core/buffer.h"
#include "core/clock.h"
#include "php/guard.h"
#include "worker/relay/relay_list.h"

struct mq_php_relays {
    /* The arguments; borrowed from the call. */
    zend_object *closure; /* the transport, if it is a Closure */
    zend_string *dsn;     /* the transport, if it is text; both NULL: the ini setting */
    zval *given;          /* the map, or a Closure; NULL: none */
    bool in_request;      /* no argument of the present call is blamed */
    zend_long connections, lease_s;
    const struct mq_rules *verdicts; /* NULL: none */
    struct mq_clock clock;
    struct mq_php_run *run;

    /* What is opened. */
    struct mq_relays all;
    struct mq_php_callable transport, choose;
    struct mq_transport *closure_transport;
    int64_t final_timeout_ms; /* the longest; 0: no transport waits for something after a message */
};

/* Whether an argument is a map, a Closure or null; if not, an exception is pending. */
bool mq_php_relays_are(uint32_t arg, const zval *given);
/* Must be closed, also after a failure. MQ_THROWN: an exception is pending. */
enum mq_status mq_php_relays_open(struct mq_php_relays *relays, struct mq_error *err);
void mq_php_relays_close(struct mq_php_relays *relays);

/* Whether runWorker() would take this transport. Opens no connection and creates no directory.
 * Appends the text without secrets. */
enum mq_status mq_php_try_transport(struct mq_str text, int64_t *final_timeout_ms,
                                    struct mq_buffer *redacted, struct mq_error *err);

#endif
