/* One claim under way, for the files of this folder. */
#ifndef MQ_QUEUE_CLAIM_TAKING_H
#define MQ_QUEUE_CLAIM_TAKING_H

#include "queue/claim.h"
#include "queue/job.h"
#include "queue/sql/columns.h"
#include "queue/sql/statements.h"

struct mq_relay_list;
struct mq_tx;

/* The state of one claim. */
struct mq_taking {
    struct mq_tx *tx;
    const struct mq_claim_request *request;
    struct mq_claim *claim;
    struct mq_job_list taken;
    bool many;                 /* rows are written together: each statement is a round trip */
    size_t written;            /* how many of `taken` are written */
    int64_t allowance;         /* recipients that tokens can still pay for */
    bool leaves;               /* the priority is below 0: `allowance` is without the reserve */
    struct mq_dropped dropped; /* expired, orphaned, unreadable and put back rows */
    struct mq_put_back {
        int64_t id;     /* 0: written already */
        int64_t open_s; /* when its hours open, or the pause of its relays ends */
        bool pause;     /* its relays are paused */
    } back[MQ_CLAIM_CHUNK];
    size_t back_count;
    bool puts_back;
    int64_t marked; /* mq_settings_marked() */
    bool stop;
};

/* Puts a job back whose hours have not begun or whose relays are all paused, so that the first due
 * rows do not become ever more of them. Returns whether it did. */
bool mq_taking_puts_back(struct mq_taking *t, const struct mq_job *job,
                         const struct mq_relay_list *relays);
/* Puts a job back that names a relay which the run does not know, with the reason in last_error.
 * *does: it was such a job. */
enum mq_status mq_taking_has_no_relay(struct mq_taking *t, const struct mq_job *job, bool *does,
                                      struct mq_error *err);
/* Writes what was put back since the last call. */
enum mq_status mq_taking_write_back(struct mq_taking *t, struct mq_error *err);
/* Brings forward the next rows that other hours or limits than the present ones put back. *more:
 * there may be others. */
enum mq_status mq_taking_forward(struct mq_taking *t, bool *more, struct mq_error *err);

#endif
