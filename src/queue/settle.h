/* What became of a claimed job, as it is handed to the queue to be recorded. */
#ifndef MQ_QUEUE_SETTLE_H
#define MQ_QUEUE_SETTLE_H

#include <stdbool.h>
#include <stdint.h>

struct mq_job;

enum mq_on_uncertain { MQ_UNCERTAIN_RETRY, MQ_UNCERTAIN_HOLD };

enum mq_recipient_result {
    MQ_RECIPIENT_UNTRIED = 0, /* stays, nothing counted */
    MQ_RECIPIENT_ACCEPTED,
    MQ_RECIPIENT_REFUSED,
    MQ_RECIPIENT_LATER,
    MQ_RECIPIENT_UNCERTAIN
};

enum mq_settle_kind {
    MQ_SETTLE_RESULTS,   /* by recipient; a job without recipients: results[0] is for all of it */
    MQ_SETTLE_RELEASE,   /* as before the claim: attempt and tokens back */
    MQ_SETTLE_LATER,     /* the whole job failed: backoff or parked */
    MQ_SETTLE_REFUSED,   /* the whole job is refused: parked */
    MQ_SETTLE_ORPHAN,    /* what it refers to is gone: deleted */
    MQ_SETTLE_UNREADABLE /* nobody could be sent it as it is in the row: parked, nothing counted */
};

/* One outcome. All borrowed until the settle returns. */
struct mq_settlement {
    const struct mq_job *job;
    enum mq_settle_kind kind;
    const unsigned char *results; /* job->recipients.count (at least 1) values, or NULL */
    const char *const *replies;   /* per recipient, for refused ones; may be NULL */
    int handed_over;              /* tokens that are spent: targets accepted or uncertain */
    int64_t at_s;                 /* when they were handed over */
    int64_t taken_by_s;           /* until when the relay may take what is uncertain; 0: at_s */
    const char *error;            /* last_error; NULL: none */
    int64_t retry_after_s; /* instead of the backoff; -1: none. A job that goes back as it was
                              is not due again before, when above 0 */
    int64_t relay_wait_s;  /* what the relay asked for: the backoff is no shorter; 0: nothing */
    enum mq_on_uncertain on_uncertain;
    const char *relay; /* for the event */
    int64_t ms;        /* for the event; -1 none */
    bool stale;        /* out: the lease was lost, nothing was touched */
};

#endif
