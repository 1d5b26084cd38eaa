/* Claiming jobs, and the transaction in which a worker settles, recovers and claims. */
#ifndef MQ_QUEUE_CLAIM_H
#define MQ_QUEUE_CLAIM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/error.h"
#include "queue/job.h"
#include "queue/settle.h"

struct mq_events;
struct mq_queue;

#define MQ_FINAL_TIMEOUT_S 600 /* RFC 5321, 4.5.3.2.6 */

/* What a worker's intent record says of one of its jobs. */
struct mq_evidence {
    /* UNCERTAIN: no readable record. RELEASED: never begun. DEFERRED: begun, but no body went out:
     * the attempt counts. */
    enum mq_outcome outcome;
    bool by_recipient; /* the body may have gone out: `results` say more */
    bool replied;      /* a reply to the dot was read, at at_s: nothing more may happen */
    unsigned char results[MQ_JOB_RECIPIENTS_MAX]; /* enum mq_outcome */
    int code;                                     /* last reply code, 0 when unknown */
    int handed_over;
    int64_t at_s;
};

/* Asked inside the transaction; must not touch the database and must be quick. */
struct mq_evidence_source {
    void (*find)(void *context, const char *token, int64_t job_id, struct mq_evidence *out);
    void *context;
};

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
/* Recovers leases that were over at now_s (0: now) without claiming; *count says how many.
 * evidence NULL: none. */
enum mq_status mq_queue_recover(struct mq_queue *queue, int64_t now_s,
                                const struct mq_evidence_source *evidence, int64_t *count,
                                struct mq_error *err);
/* Takes up to `wanted` tokens for something outside the queue; without a limit, all of them. */
enum mq_status mq_queue_take_tokens(struct mq_queue *queue, int64_t wanted, int64_t *taken,
                                    struct mq_error *err);

#endif
