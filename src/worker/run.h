/* A worker run from the inside. Nothing outside src/worker/ includes this.
 *
 * A claimed job is a delivery. It is in one of four lists:
 *   waiting    claimed, not begun
 *   under_way  the transport has it
 *   done       its outcome is known and not committed yet
 *   doubted    it failed, and whether that is its own fault or the relay's is not known yet
 *              (trouble.c)
 * Its slot in the intent file is taken when it begins and freed after its outcome's commit. */
#ifndef MQ_WORKER_RUN_H
#define MQ_WORKER_RUN_H

#include "core/clock.h"
#include "queue/event.h"
#include "queue/manage.h"
#include "send/intent/intent.h"
#include "worker/dead_runs.h"
#include "worker/signals.h"
#include "worker/slot.h"
#include "worker/worker.h"

#define MQ_RUN_SETTLE_JOBS 100  /* outcomes are committed at so many … */
#define MQ_RUN_SETTLE_MS   50   /* … or so long after the first */
#define MQ_RUN_CLAIM_MAX   1000 /* jobs a claim */
#define MQ_RUN_MANY        3    /* mails that fail in a row: perhaps it is the relay */
/* Octets of messages that a transaction deletes, if it is not one message. */
#define MQ_RUN_SETTLE_BYTES (INT64_C(4) << 20)
#define MQ_FLIGHT_BUCKETS   512
#define MQ_FLIGHT_ERROR     MQ_ERROR_TEXT_MAX

struct mq_run;

struct mq_delivery {
    struct mq_run *run;
    struct mq_job job;
    int slot;             /* in the intent file; -1 before it has begun */
    int64_t lease_end_ms; /* CLOCK_BOOTTIME; nothing may leave after it. 0: known to be lost */
    struct mq_composed composed;
    struct mq_buffer converted; /* the message, where the relay takes 7 bits only */
    char *original_to;          /* header line before the message, or NULL */
    char *prefix;               /* that and signatures before it, or NULL */
    struct mq_transfer transfer;
    struct mq_target *targets;

    /* The outcome, once it is in `done` or `doubted`. */
    enum mq_outcome outcome; /* of the whole job, unless … */
    bool by_recipient;       /* … it differs: `results` say it */
    unsigned char *results;  /* enum mq_outcome, one a recipient */
    const char **replies;    /* one a recipient, pointing into targets */
    int handed_over;
    int64_t back_after_s; /* where no attempt counts: not due again before; -1: as it was */
    char error[MQ_FLIGHT_ERROR];

    struct mq_delivery *prev, *next; /* in its list */
    struct mq_delivery *chain;       /* in its bucket */
};

/* Whether it goes back as it was. */
static inline bool mq_delivery_goes_back(const struct mq_delivery *delivery)
{
    return !delivery->by_recipient && delivery->outcome == MQ_OUTCOME_RELEASED;
}

/* The failures since the last acceptance of this run. */
struct mq_doubts {
    int64_t mails;        /* that failed: in `doubted`, or settled to give back their tokens */
    int64_t drew_trouble; /* times that a mail drew a session's or the relay's trouble */
    bool denied;          /* one of them, or a denial by policy, is among them */
    uint64_t domain;      /* hash of the first recipient's */
    bool domains;         /* there are others */
    int below;            /* the lowest of their priorities */
    bool lower;           /* only mail of lower ones is claimed: does the relay take that? */
    int64_t pauses;       /* mq_queue_count_pauses(); -1: not asked yet */
};

struct mq_deliveries {
    struct mq_delivery *head, *tail;
    size_t count;
};

struct mq_run {
    const struct mq_worker *worker;
    const struct mq_worker_options *options;
    struct mq_queue *queue;
    struct mq_transport *transport;
    struct mq_clock clock; /* mq_queue_clock(): dates are the queue's, not this machine's */
    const char *relay;
    char token[MQ_TOKEN_HEX + 1];
    struct mq_slot slot;
    struct mq_intent *intent;
    size_t slots;
    struct mq_signals signals;
    struct mq_recovery recovery;

    struct mq_deliveries waiting, under_way, done, doubted;
    struct mq_delivery *buckets[MQ_FLIGHT_BUCKETS];
    size_t held;        /* in the four lists together */
    int64_t bytes;      /* of messages in memory */
    int64_t max_bytes;  /* options->max_bytes, less once memory was short */
    int64_t mean_bytes; /* of the last messages; 0: none was seen yet */
    int claim_max;      /* jobs a claim: less once memory was short */
    int good_claims;    /* since it was short, or more was allowed again */
    struct mq_events events;
    struct mq_settlement outcomes[MQ_RUN_SETTLE_JOBS]; /* of the cycle under way */

    /* Times are CLOCK_BOOTTIME in ms. */
    int64_t start_ms;
    int64_t deadline_ms;   /* INT64_MAX: none */
    int64_t first_done_ms; /* when `done` stopped being empty */
    int64_t renew_ms;      /* the next renewal of leases */
    int64_t lease_low_s;   /* UTC; no lease held ends before it */
    int64_t clock_s;       /* UTC, before the wall clock went back, if it did */
    int64_t clock_ms;      /* when it was so */
    int64_t next_claim_ms; /* no claim of its own before */
    int64_t free_until_ms; /* the write lock is others' until then */
    int64_t token_ms;      /* when the last claim expected one */
    int64_t next_maintain_ms;
    int64_t next_sweep_ms;
    struct mq_sweep sweep;

    enum mq_claim_end claim_end; /* of the last claim */
    bool claim_fresh;            /* nothing was settled since without a claim */
    bool claimed_once;
    int64_t claimed_total;
    bool limited;
    bool no_slot; /* the intent file is full until something is settled */
    int64_t claim_resume_s;
    char claim_reason[256];

    bool stopping; /* no claims, nothing begins; what waits is released */
    int64_t stop_ms;
    int64_t signal_ms;   /* of the first signal; 0: none came */
    int64_t dot_ms;      /* how long the relay takes for a mail, on average; 0: not known yet */
    bool recalled;       /* what had no body out after the grace period came back */
    bool aborted;        /* the transport is closed */
    int64_t database_ms; /* since when a transaction fails; 0: none does */
    bool lost;           /* the connection is, and was not opened anew yet */
    int64_t slot_ms;     /* since when the new one lacks the old one's slot; 0: it does not */
    int64_t retry_ms;
    int64_t retry_wait_ms;
    bool unknown_jobs; /* claimed by us without a delivery, or perhaps so */
    bool gave_up;      /* outcomes stay unsettled */

    int64_t accepted;   /* jobs with an accepted recipient; 0 again when the relay is doubted */
    int64_t accepted_s; /* UTC, of the last of this run; 0: none was */
    struct mq_doubts doubts;
    char trouble_reason[MQ_TARGET_REPLY_MAX]; /* of the last one */
    int64_t untouched;                        /* in a row */
    bool pause_settled;     /* the first acceptance has cleared the relay's pause */
    int64_t clear_pause_ms; /* when to try that again */
    bool troubled;
    const char *finding;     /* of the transport, as the queue has it */
    int64_t finding_ms;      /* when to try again to keep another one */
    int64_t finding_until_s; /* UTC; believed so long */

    struct mq_report *report;
    enum mq_status status; /* why the run ends early; MQ_OK: no failure */
    struct mq_error error;
};

static inline int64_t mq_run_now_ms(const struct mq_run *run)
{
    return run->clock.boot_ms(run->clock.context);
}
static inline int64_t mq_run_now_s(const struct mq_run *run)
{
    return run->clock.now_s(run->clock.context);
}
/* Nothing is begun from then on: the time limit, or before it where the relay is so slow that a
 * mail begun at the limit would be under way for longer than the grace period. */
static inline int64_t mq_run_deadline_ms(const struct mq_run *run)
{
    int64_t over_ms = run->dot_ms - run->options->grace_s * 1000;
    return run->deadline_ms - (over_ms > 0 ? over_ms : 0);
}
/* Nothing is begun until a transaction succeeds again. */
static inline bool mq_run_database_fails(const struct mq_run *run)
{
    return run->database_ms != 0;
}

/* ---- delivery.c ---- */

void mq_deliveries_add(struct mq_deliveries *list, struct mq_delivery *delivery);
void mq_deliveries_remove(struct mq_deliveries *list, struct mq_delivery *delivery);

/* Takes over the contents of `job`, which is initialised afterwards; into `waiting`. NULL without
 * memory, job untouched. */
struct mq_delivery *mq_delivery_new(struct mq_run *run, struct mq_job *job, int64_t lease_end_ms);
/* Frees one that is in no list. Its slot stays as it is: evidence, should nobody settle it. */
void mq_delivery_free(struct mq_delivery *delivery);
/* The same after its outcome's commit: the slot is free again. */
void mq_delivery_settled(struct mq_delivery *delivery);
struct mq_delivery *mq_delivery_find(struct mq_run *run, int64_t job_id);
/* Into `done`, with the outcome that is set; the delivery is in no list. */
void mq_delivery_done(struct mq_delivery *delivery);
/* The same with an outcome for the whole job. */
void mq_delivery_end(struct mq_delivery *delivery, enum mq_outcome outcome, const char *error);

/* Begins a waiting delivery: composes, pays, hands to the transport. False when that took time or
 * cannot be now (run->no_slot): look after the others first. */
bool mq_delivery_start(struct mq_delivery *delivery);
/* Whether a waiting delivery could begin now. */
bool mq_run_can_start(const struct mq_run *run);

/* ---- message.c ---- */

/* Whether the next one that waits has room in memory, as far as is known. */
bool mq_run_fits_next(const struct mq_run *run);
/* Loads the next one's message, if it has one. False: none can begin now. */
bool mq_run_load_next(struct mq_run *run);
/* A message of so many octets has come into memory. */
void mq_run_count_message(struct mq_run *run, size_t octets);
/* It is not needed any more. */
void mq_delivery_drop_message(struct mq_delivery *delivery);
/* How many more may be claimed, by the size of the last ones: those that wait for memory hold
 * leases that other runs could use. */
int64_t mq_run_claim_room(const struct mq_run *run);
/* A claim of up to `limit` lacked memory: fewer at a time from now on. False: none can be made. */
bool mq_run_claims_less(struct mq_run *run, int limit);
/* A claim of some jobs had memory: after some such, both bounds double, up to what was asked for.
 */
void mq_run_claimed(struct mq_run *run);

/* ---- collect.c ---- */

/* Takes back what the transport has finished. */
void mq_run_collect(struct mq_run *run);
/* Fills outcome, results, handed_over and error from the targets' results. */
void mq_delivery_map(struct mq_delivery *delivery, enum mq_blame blame);
/* UTC now, as far as the hourly limit is concerned. */
int64_t mq_run_limit_s(struct mq_run *run);
void mq_delivery_settlement(const struct mq_delivery *delivery, struct mq_settlement *out);

/* ---- cycle.c ---- */

bool mq_run_cycle_due(const struct mq_run *run, int64_t now_ms);
/* One transaction: what is done is settled, leases of the dead are recovered, jobs are claimed. */
void mq_run_cycle(struct mq_run *run);
/* Renews the leases of all that is held when it is time. */
void mq_run_renew(struct mq_run *run);

/* ---- database.c ---- */

/* Notes that a transaction failed and handles it as far as can be: reopens, waits, gives up. */
void mq_run_database_failed(struct mq_run *run, enum mq_status status, const struct mq_error *err);
/* Before a transaction: whether it may be made. A slot that went with a lost connection is taken
 * again. */
bool mq_run_has_slot(struct mq_run *run);
/* A transaction was long, perhaps for large messages that it deleted: those who enqueue get the
 * write lock for as long as we had it, since begun_ms. */
void mq_run_leave_free(struct mq_run *run, int64_t begun_ms);
/* When the next piece of the sweep is due. */
int64_t mq_run_sweep_ms(const struct mq_run *run, bool idle);
/* A piece of the sweep and of the database's upkeep, when it is time. */
void mq_run_upkeep(struct mq_run *run, bool idle);

/* ---- trouble.c ---- */

/* A job was accepted, or failed and nothing else (the delivery, in no list, goes into `doubted`).
 */
void mq_run_accepted(struct mq_run *run);
void mq_run_doubted(struct mq_run *run, struct mq_delivery *delivery);
/* A job failed: whether it is known, since its last attempt, that the relay works. */
bool mq_run_relay_works(struct mq_run *run, const struct mq_job *job);
/* A job that the transport gave back drew the trouble itself: it goes back behind the others. */
void mq_run_drew_trouble(struct mq_run *run, struct mq_delivery *delivery);
/* Whether what this run met is to be judged before it ends. */
bool mq_run_doubts_relay(const struct mq_run *run);
/* Whether so many failed that nothing more may begin until what is under way has ended. */
bool mq_run_suspects_relay(const struct mq_run *run);
/* Looks for trouble: of the transport, or failures without an acceptance. `idle`: nothing else is
 * under way or to be claimed. */
void mq_run_watch_relay(struct mq_run *run, bool idle);

/* ---- finding.c ---- */

/* Tells the transport what earlier runs found its relay to be able to do. */
void mq_run_remember(struct mq_run *run);
/* Keeps what this one has found. */
void mq_run_keep_finding(struct mq_run *run);

/* ---- stop.c ---- */

/* Ends the run in order: no more claims, what waits goes back. The first reason stays. */
void mq_run_stop(struct mq_run *run, enum mq_run_end end);
/* The same for a failure; the first one is what mq_worker_run() returns. */
void mq_run_fail(struct mq_run *run, enum mq_status status, const struct mq_error *err);
/* What waits goes back. */
void mq_run_release_waiting(struct mq_run *run);
/* A signal was caught, so many by now: the grace period begins, or a second one ends it. */
void mq_run_signalled(struct mq_run *run, int caught);
/* While the run ends: gives up what lasts longer than the grace period. A body that is out is
 * waited for as long as the transport waits; only a signal's grace period cuts it off. */
void mq_run_wind_up(struct mq_run *run);
/* Closes the transport and takes everything back. */
void mq_run_abort(struct mq_run *run);

/* ---- report.c ---- */

/* Tells the events collected since the last time, and counts them. */
void mq_run_tell(struct mq_run *run);
/* Adds an event that is not about one job; `reply` and `next_attempt_at` may be NULL and 0. */
void mq_run_happened(struct mq_run *run, enum mq_event_type type, const char *reply,
                     int64_t next_attempt_at);
/* The event of the run's end, with the counts as text. */
void mq_run_tell_end(struct mq_run *run);

#endif
