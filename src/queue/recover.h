/* Recovers jobs whose worker is gone, by what its intent record says about them. */
#ifndef MQ_QUEUE_RECOVER_H
#define MQ_QUEUE_RECOVER_H

#include <stdbool.h>
#include <stdint.h>

#include "core/error.h"
#include "policy/job_state.h"
#include "policy/outcome.h"

struct mq_queue;

/* What a worker's intent record says about one of its jobs. */
struct mq_recorded {
    /* UNCERTAIN: no readable record. RELEASED: never begun. DEFERRED: begun, but no body went out:
     * the attempt counts. */
    enum mq_outcome outcome;
    bool by_recipient; /* the body may have gone out: `results` has an outcome for each */
    bool replied;      /* the reply to the dot was read, at at_s: `results` are final */
    unsigned char results[MQ_RECIPIENTS_MAX]; /* enum mq_outcome */
    int code;                                 /* last reply code, 0 when unknown */
    int handed_over;
    int64_t at_s;
};

/* find() is called inside the transaction: it must not use the database, and must be quick. */
struct mq_record_source {
    void (*find)(void *context, const char *token, int64_t job_id, struct mq_recorded *out);
    void *context;
};

/* Recovers leases that were over at now_s (0: now) without claiming; *count says how many.
 * records NULL: none. */
enum mq_status mq_queue_recover(struct mq_queue *queue, int64_t now_s,
                                const struct mq_record_source *records, int64_t *count,
                                struct mq_error *err);

#endif
