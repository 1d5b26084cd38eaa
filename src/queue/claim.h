/* What a worker asks of the queue: the transaction in which it settles, recovers and claims,
 * leases, the sweep. */
#ifndef MQ_QUEUE_CLAIM_H
#define MQ_QUEUE_CLAIM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/error.h"
#include "policy/outcome.h"

struct mq_events;
struct mq_evidence_source;
struct mq_job;
struct mq_queue;

#define MQ_FINAL_TIMEOUT_S 600 /* RFC 5321, 4.5.3.2.6 */

enum { MQ_CLAIM_MAX = 1000 };                                          /* jobs a claim */
enum { MQ_LEASE_S = 900, MQ_LEASE_MIN_S = 5, MQ_LEASE_MAX_S = 86400 }; /* the default and limits */

struct mq_claim_request {
    int limit; /* jobs, at most; 0: only settle and recover */
    int64_t lease_s;
    const int *below;               /* only jobs of a lower priority; NULL: of any */
    const char *token;              /* MQ_TOKEN_HEX digits */
    const char *relay;              /* whose pause is asked for; NULL: none */
    const char *const *dead_tokens; /* their workers are known dead: recovered at once */
    size_t dead_count;
    const struct mq_evidence_source *evidence; /* NULL: none */
    enum mq_on_uncertain on_uncertain;
    int64_t final_timeout_s; /* how long a relay may take for a dead run's dot */
};

enum mq_claim_end {
    MQ_CLAIM_LIMIT,    /* as many as were asked for; more may be due */
    MQ_CLAIM_MORE,     /* stopped after 1,000 expired, orphaned or recovered rows, or 4 MiB of
                          their messages: claim again */
    MQ_CLAIM_EMPTY,    /* nothing more is due */
    MQ_CLAIM_TOKENS,   /* something is due, no token is left */
    MQ_CLAIM_DISABLED, /* mailQueueEnabled = 0 */
    MQ_CLAIM_PAUSED    /* the relay is paused */
};

struct mq_claim {
    struct mq_job *jobs;
    size_t count;
    enum mq_claim_end end;
    bool limited;          /* an hourly limit is set: claim no more than can leave at once */
    int64_t resume_s;      /* TOKENS: UTC second of the next token; PAUSED: end of the pause;
                              EMPTY: when the next job is due, 0 when none waits */
    char reason[256];      /* PAUSED: why */
    enum mq_status status; /* the claim part's own failure; the settle part stands */
    struct mq_error error;
    int64_t dropped_bytes; /* messages of expired and orphaned rows that were deleted */
};

void mq_claim_clear(struct mq_claim *claim);

/* What became of a claimed job. All borrowed until the settle returns. */
struct mq_settlement {
    const struct mq_job *job;
    /* By recipient: job->recipients.count (at least 1, at most MQ_RECIPIENTS_MAX) values; a job
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

/* What one transaction does. */
struct mq_cycle {
    struct mq_settlement *outcomes; /* borrowed */
    size_t outcome_count;
    const struct mq_claim_request *request; /* NULL: only settle */
    struct mq_claim *claim;                 /* filled when there is a request; initialised */
    struct mq_events *events;               /* appended to after the commit; NULL: not wanted */
    int64_t
        begun_ms; /* set: CLOCK_BOOTTIME when it had the write lock; 0: the application has it */
};

/* One transaction: settles the outcomes, then recovers and claims. Where the claim part fails, all
 * is undone and the settling done again alone, and claim->status says why. All leases of the dead
 * tokens are recovered for certain when claim->status is MQ_OK and claim->end is not
 * MQ_CLAIM_MORE: only then may their intent records go. */
enum mq_status mq_queue_cycle(struct mq_queue *queue, struct mq_cycle *cycle, struct mq_error *err);

/* After composing: writes job->envelope_from and job->recipients (which the caller has set) to the
 * row, where they override what composing returns from then on, pays for what the tokens reach and
 * fills job->targets. *lost: the lease was lost. */
enum mq_status mq_queue_set_envelope(struct mq_queue *queue, struct mq_job *job, bool *lost,
                                     struct mq_error *err);
/* Extends the leases of those jobs that are still held by the token in them (job->locked_by): sets
 * job->locked_until, or 0 where the lease was lost. */
enum mq_status mq_queue_renew(struct mq_queue *queue, struct mq_job *const *jobs, size_t count,
                              int64_t lease_s, struct mq_error *err);
/* How far a sweep has come; {0} before its first piece. */
struct mq_sweep {
    int64_t cursor;   /* the row behind which it goes on */
    int64_t begun_ms; /* CLOCK_BOOTTIME when its last piece had the write lock */
    bool done;        /* the end of the table was reached */
};
/* The next piece: deletes waiting jobs that are orphaned or expired, at most 1,000 rows looked at
 * in one short transaction, or 4 MiB of messages. The worker does this once a run. */
enum mq_status mq_queue_sweep(struct mq_queue *queue, struct mq_sweep *sweep,
                              struct mq_events *events, struct mq_error *err);
/* Takes up to `wanted` tokens for something outside the queue; without a limit, all of them. */
enum mq_status mq_queue_take_tokens(struct mq_queue *queue, int64_t wanted, int64_t *taken,
                                    struct mq_error *err);

#endif
