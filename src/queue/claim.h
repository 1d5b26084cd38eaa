/* The worker's calls to the queue: settle, recover and claim; envelopes, leases, the sweep. */
#ifndef MQ_QUEUE_CLAIM_H
#define MQ_QUEUE_CLAIM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/error.h"
#include "policy/outcome.h"

struct mq_events;
struct mq_record_source;
struct mq_job;
struct mq_payment;
struct mq_queue;
struct mq_relay_list;
struct mq_turns;

#define MQ_FINAL_TIMEOUT_S 600                        /* RFC 5321, 4.5.3.2.6 */
enum { MQ_CLAIM_MAX = 1000, MQ_CLAIM_WHY_MAX = 256 }; /* jobs per claim; octets of a reason */
/* The most that one transaction deletes, recovers or passes over. */
#define MQ_ROWS_A_CYCLE  1000               /* expired, orphaned, recovered, deleted rows */
#define MQ_DROPPED_BYTES (INT64_C(4) << 20) /* octets of deleted messages, or one message */
enum { MQ_LEASE_S = 900, MQ_LEASE_MIN_S = 5, MQ_LEASE_MAX_S = 86400 }; /* default, limits */

/* A relay that the run can use. */
struct mq_relay_state {
    const char *name;
    int64_t until_s;  /* out: the end of its pause; 0: none */
    char reason[256]; /* out: why it is paused */
};

struct mq_claim_request {
    int limit; /* maximum of jobs; 0: only settle and recover */
    int64_t lease_s;
    const int *below;              /* only jobs of a lower priority than this; NULL: any */
    const char *token;             /* MQ_TOKEN_HEX digits */
    struct mq_relay_state *relays; /* claims nothing while all of these are paused */
    size_t relay_count;
    bool opens_more;        /* claims then, too, as the run can open others for the mail */
    struct mq_turns *turns; /* claim/turns.h; NULL: no job is passed over */
    /* Lists a job's open relays; none: not known, or it waits until `opens_s`. NULL: it has one. */
    void (*relays_of)(void *context, const struct mq_job *job, struct mq_relay_list *out);
    /* Says why a job goes back, as the run has no relay of the name that it has; or NULL. */
    bool (*has_no_relay)(void *context, const struct mq_job *job, char why[MQ_CLAIM_WHY_MAX]);
    void *relays_context;           /* for both functions */
    bool whole;                     /* the only relay sends a mail to all its recipients at once */
    const char *const *dead_tokens; /* of workers known to be dead: their jobs are recovered */
    size_t dead_count;
    const struct mq_record_source *records; /* of intents; NULL: none */
    enum mq_on_uncertain on_uncertain;
    int64_t final_timeout_s; /* how long a relay can still accept a dead run's mail after its dot */
};

enum mq_claim_end {
    MQ_CLAIM_LIMIT,    /* as many as were asked for, or routes are full; more can be due */
    MQ_CLAIM_MORE,     /* MQ_ROWS_A_CYCLE or _DROPPED_BYTES, or mailHours to load: claim again */
    MQ_CLAIM_EMPTY,    /* nothing more is due */
    MQ_CLAIM_TOKENS,   /* a job is due, but no token is left */
    MQ_CLAIM_DISABLED, /* mailQueueEnabled = 0 */
    MQ_CLAIM_PAUSED    /* all relays are paused */
};

struct mq_claim {
    struct mq_job *jobs;
    size_t count;
    enum mq_claim_end end;
    bool finished;         /* a campaign has finished */
    bool limited;          /* a limit is set: claim no more than can leave at once */
    bool spare;            /* MQ_CLAIM_TOKENS: mail of priority >= 0 can go before resume_s */
    bool pays_later;       /* a relay has a limit, and relays_of is set: no job has paid for that */
    char *slow, *sessions; /* domains slowed down, with spaces between; mailDomainSessions */
    int64_t resume_s;      /* UTC second; TOKENS: of the next token; PAUSED: of the first pause's
                              end; EMPTY: when the next job is due, 0 when none waits */
    char reason[256];      /* TOKENS: the limit of mailLimits that is full, or "" */
    enum mq_status status; /* a failure of recovery or claim only; the outcomes are settled */
    struct mq_error error;
    int64_t forward_after; /* up to this id, mail that older rules put back was brought forward */
    int64_t forward_mark;  /* the older and the present rules, for which that was done */
    int64_t dropped_bytes; /* octets of messages deleted with expired and orphaned rows */
};
void mq_claim_clear(struct mq_claim *claim);

/* What became of a claimed job. All pointers are borrowed until the settle returns. */
struct mq_settlement {
    const struct mq_job *job;
    /* An enum mq_outcome per recipient (at most MQ_RECIPIENTS_MAX), or one if the job has none.
     * NULL: `outcome` is that of the whole job, or of all recipients that this claim reached. */
    const unsigned char *results;
    enum mq_outcome outcome;
    const char *const *phases;  /* of each result (send/transfer.h); NULL: `phase` is that of all */
    const char *phase;          /* NULL: not known */
    const char *const *replies; /* per recipient; the array or an entry may be NULL */
    int handed_over;            /* tokens that are spent: targets accepted or uncertain */
    int64_t at_s;               /* when they were handed over */
    int64_t taken_by_s;         /* until when the relay can accept an uncertain mail; 0: at_s */
    const char *error;          /* last_error; NULL: none */
    const char *trouble;        /* the relay's, told if the job goes back without an error; NULL */
    int64_t retry_after_s; /* replaces the backoff, and if above 0 delays a release; -1: none */
    const char *waits_for; /* what the job waits for, if it goes back; NULL: not told */
    int64_t relay_wait_s;  /* the least backoff that the relay asks for; 0: none */
    enum mq_on_uncertain on_uncertain;
    const char *relay; /* for the event */
    int64_t ms;        /* milliseconds reported in the event; -1: not known */
    /* Out. LOST: the lease was lost, so nothing was written. */
    enum mq_settled_row { MQ_ROW_STANDS, MQ_ROW_LOST, MQ_ROW_GONE } row;
};

/* What one transaction does. */
struct mq_cycle {
    struct mq_settlement *outcomes; /* borrowed */
    size_t outcome_count;
    struct mq_payment *payments; /* borrowed; made after the outcomes are settled */
    size_t payment_count;
    const struct mq_claim_request *request; /* NULL: only settle */
    struct mq_claim *claim;   /* initialised by the caller; filled if `request` is set */
    struct mq_events *events; /* gets the commit's events; NULL: not wanted */
    int64_t begun_ms; /* out: CLOCK_BOOTTIME of the write lock; 0: in the application's own */
};

/* One transaction: settles the outcomes, pays, then recovers and claims. If recovery or claim
 * fails, all is undone, the first two are done alone, and claim->status says why. The intent
 * records of the dead tokens may be deleted only if claim->status is MQ_OK and claim->end is not
 * MQ_CLAIM_MORE: then all their leases are recovered. */
enum mq_status mq_queue_cycle(struct mq_queue *queue, struct mq_cycle *cycle, struct mq_error *err);

/* After composing: writes the sender and the recipients, which the caller has set in the job, to
 * its row; later attempts use them. Pays for as many recipients as tokens allow, and fills
 * job->targets. If all are suppressed, only sets job->suppressed. *lost: the lease was lost. */
enum mq_status mq_queue_set_envelope(struct mq_queue *queue, struct mq_job *job,
                                     struct mq_events *events, bool *lost, struct mq_error *err);
/* Extends the leases of jobs. Sets job->locked_until, to 0 if the lease was lost. */
enum mq_status mq_queue_renew(struct mq_queue *queue, struct mq_job *const *jobs, size_t count,
                              int64_t lease_s, struct mq_error *err);
/* How far a sweep has come; {0} before its first piece. */
struct mq_sweep {
    int64_t cursor;   /* the id after which it continues */
    int64_t begun_ms; /* CLOCK_BOOTTIME when its last piece got the write lock */
    bool done;        /* the end of the table was reached */
};
/* Sweeps the next piece, once a run: deletes waiting jobs that are orphaned or expired, and what is
 * too old in the history; 1,000 rows of each, or 4 MiB of messages, in one short transaction. */
enum mq_status mq_queue_sweep(struct mq_queue *queue, struct mq_sweep *sweep,
                              struct mq_events *events, struct mq_error *err);
/* Takes up to `wanted` tokens for something outside the queue; without a limit, all of them. */
enum mq_status mq_queue_take_tokens(struct mq_queue *queue, int64_t wanted, int64_t *taken,
                                    struct mq_error *err);

#endif
