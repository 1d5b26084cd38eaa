/* The claimed jobs of a run. Each is in one of the six lists that worker/run.h names. */
#ifndef MQ_WORKER_DELIVERIES_H
#define MQ_WORKER_DELIVERIES_H

#include "policy/consequence.h"
#include "queue/job.h"
#include "send/transfer.h"
#include "worker/worker.h"

struct mq_deliveries;
struct mq_domain_use;
struct mq_lane;
struct mq_route;
struct mq_run;
struct mq_settlement;

struct mq_delivery {
    struct mq_run *run;
    struct mq_route *route;
    struct mq_lane *lane; /* where it is sent, or was last; NULL: it has not begun */
    size_t moves;         /* how often it went to another lane of its route */
    bool recalled;        /* by mq_run_recall(): not because of the relay */
    struct mq_job job;
    int slot;             /* in the intent file; -1 before it has begun */
    int64_t lease_end_ms; /* CLOCK_BOOTTIME; nothing is sent after it. 0: the lease is lost */
    struct mq_composed composed;
    struct mq_buffer changed; /* after seal(), sign() or to_7bit(); empty: as it was */
    char *original_to;        /* header line before the message, or NULL */
    char *prefix;             /* signatures and original_to, or NULL */
    char *sender;             /* of the envelope, with a token; NULL: the job's */
    struct mq_transfer transfer;
    struct mq_target *targets;

    /* The outcome, once the delivery is in `done` or `doubted`. */
    enum mq_outcome outcome; /* of the whole job, unless by_recipient */
    bool by_recipient;       /* `results` has the outcome of each recipient */
    unsigned char *results;  /* enum mq_outcome, one per recipient */
    const char **replies;    /* one per recipient, pointing into targets */
    const char **phases;     /* likewise, behind the replies */
    int64_t back_after_s;    /* if no attempt counts: seconds until due; -1: due as before */
    const char *waits_for;   /* MQ_FOR_PAUSE if it is put back for that; NULL */
    char error[MQ_ERROR_TEXT_MAX];

    struct mq_domain_use **uses; /* relay/kept.h: the domains that it counts for */
    size_t use_count;
    bool is_kept; /* for which it is one of those that are held */

    struct mq_deliveries *list; /* the list that it is in; NULL: none */
    struct mq_delivery *prev, *next;
    struct mq_delivery *chain; /* the next one in its hash bucket */
};

/* Whether the job goes back as before its claim. */
static inline bool mq_delivery_goes_back(const struct mq_delivery *delivery)
{
    return !delivery->by_recipient && delivery->outcome == MQ_OUTCOME_RELEASED;
}

/* Moves a delivery from its list to the end of another, or to the beginning. */
void mq_delivery_move(struct mq_delivery *delivery, struct mq_deliveries *list);

void mq_delivery_move_first(struct mq_delivery *delivery, struct mq_deliveries *list);
/* Counts it for no domain any more: it is not under way. */
void mq_delivery_leaves(struct mq_delivery *delivery);

/* Makes a delivery that is in no list yet. It takes over the contents of `job` and zeroes that.
 * NULL without memory; `job` is unchanged then. */
struct mq_delivery *mq_delivery_new(struct mq_run *run, struct mq_job *job, int64_t lease_end_ms);
/* Frees the message, which is not needed any more. */
void mq_delivery_drop_message(struct mq_delivery *delivery);
/* Frees a delivery. Its slot in the intent file stays if nobody settles the job. */
void mq_delivery_free(struct mq_delivery *delivery);
/* Frees a delivery and its slot, after the commit of its outcome. */
void mq_delivery_settled(struct mq_delivery *delivery);
struct mq_delivery *mq_delivery_find(struct mq_run *run, int64_t job_id);
/* Moves a delivery to `done`, with the outcome that is set. */
void mq_delivery_done(struct mq_delivery *delivery);
/* Moves a delivery to `done`, with this outcome for the whole job. */
void mq_delivery_end(struct mq_delivery *delivery, enum mq_outcome outcome, const char *error);
/* How many deliveries wait, in the lists of all routes and lanes. */
size_t mq_run_waiting(const struct mq_run *run);
/* How many are in the lanes' lists of doubted ones. */
size_t mq_run_doubted(const struct mq_run *run);
/* Whether nothing is under way, waits or is to be settled. Doubted jobs may be left. */
bool mq_run_is_idle(const struct mq_run *run);
/* Releases all that wait. */
void mq_deliveries_release_waiting(struct mq_run *run);

/* Forgets what was done for a delivery that has begun, so that it can begin again. */
void mq_delivery_reset(struct mq_delivery *delivery);

/* Begins a delivery on this lane: composes, pays, hands it to the transport. False: it has not
 * begun, and the caller looks after others first: its message failed, it moved to another route, or
 * the intent file is full (run->no_slot). */
bool mq_delivery_start(struct mq_delivery *delivery, struct mq_lane *lane);

/* Fills outcome, results and error from the targets' results. */
void mq_delivery_map(struct mq_delivery *delivery, enum mq_blame blame);
/* UTC now for the hourly limit. If the wall clock jumps back, this time follows an hour later. */
int64_t mq_run_limit_s(struct mq_run *run);
void mq_delivery_settlement(const struct mq_delivery *delivery, struct mq_settlement *out);

#endif
