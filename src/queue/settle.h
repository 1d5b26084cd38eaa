/* What became of a claimed job, as it is handed to the queue to be recorded. */
#ifndef MQ_QUEUE_SETTLE_H
#define MQ_QUEUE_SETTLE_H

#include <stdbool.h>
#include <stdint.h>

#include "policy/outcome.h"

struct mq_job;

enum mq_on_uncertain { MQ_UNCERTAIN_RETRY, MQ_UNCERTAIN_HOLD };

/* One outcome. All borrowed until the settle returns. */
struct mq_settlement {
    const struct mq_job *job;
    /* By recipient: job->recipients.count (at least 1, at most MQ_JOB_RECIPIENTS_MAX) values; a job
     * without recipients has one. NULL: `outcome` is for all of the job, or for all that this claim
     * reached. */
    const unsigned char *results;
    enum mq_outcome outcome;
    const char *const *replies; /* per recipient, for refused ones; may be NULL */
    int handed_over;            /* tokens that are spent: targets accepted or uncertain */
    int64_t at_s;               /* when they were handed over */
    int64_t taken_by_s;         /* until when the relay may take what is uncertain; 0: at_s */
    const char *error;          /* last_error; NULL: none */
    int64_t retry_after_s;      /* instead of the backoff; -1: none. A job that goes back as it was
                                   is not due again before, when above 0 */
    int64_t relay_wait_s; /* what the relay asked for: the backoff is no shorter; 0: nothing */
    enum mq_on_uncertain on_uncertain;
    const char *relay; /* for the event */
    int64_t ms;        /* for the event; -1 none */
    /* Out. LOST: the lease was, and nothing was touched. */
    enum mq_settled_row { MQ_ROW_STANDS, MQ_ROW_LOST, MQ_ROW_GONE } row;
};

#endif
