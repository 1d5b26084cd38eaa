/* A worker run from the inside. Nothing outside src/worker/ includes this.
 *
 * A claimed job is a delivery. It is in one of six lists:
 *   waiting    its route's: claimed, not begun
 *   paid       its lane's: likewise, if relays have limits (relay/paying.h)
 *   kept       likewise, but its domain has all its sessions (relay/kept.h)
 *   under_way  the transport has it
 *   done       its outcome is known and not committed yet
 *   doubted    its lane's: it failed, and it is not known yet if that is its own fault or the
 *              relay's (trouble.c)
 * It takes a slot in the intent file when it begins, and frees it after the commit of its outcome.
 *
 * Calls go one way: worker.c and cycle.c at the top, report.c and deliveries.c at the bottom. A
 * lower file only writes into its part of struct mq_run what happened, and the loop acts on it. For
 * example, mq_run_stop() itself releases nothing. */
#ifndef MQ_WORKER_RUN_H
#define MQ_WORKER_RUN_H

#include "core/clock.h"
#include "policy/job_state.h"
#include "queue/event.h"
#include "worker/database.h"
#include "worker/lock.h"
#include "worker/memory.h"
#include "worker/relay/lane.h"
#include "worker/worker.h"

#define MQ_RUN_SETTLE_JOBS 100 /* a commit is due with this many outcomes */
#define MQ_RUN_SETTLE_MS   50  /* or so long after the first of them */
#define MQ_RUN_MANY        3   /* mails failed in a row: the relay may be the cause */
#define MQ_RUN_BUCKETS     512

struct mq_domain_sessions;
struct mq_domains;
struct mq_intent;
struct mq_mailings;
struct mq_manager;
struct mq_recovery;
struct mq_relays;

/* The latest time that the wall clock has shown, in case it goes back. */
struct mq_limit_clock {
    int64_t at_s;  /* UTC; 0: never read */
    int64_t at_ms; /* CLOCK_BOOTTIME */
};

/* Times are CLOCK_BOOTTIME in ms. */
struct mq_stop {
    bool begun; /* nothing is claimed or begun any more; what waits is released */
    int64_t begun_ms;
    int64_t signal_ms;     /* of the first signal; 0: none came */
    bool recalled;         /* mails without a body out were recalled after the grace period */
    bool aborted;          /* the transport is closed */
    bool gave_up;          /* outcomes stay unsettled */
    enum mq_status status; /* why the run ends early; MQ_OK: no failure */
    struct mq_error error;
};

struct mq_run {
    const struct mq_worker *worker;
    const struct mq_worker_options *options;
    struct mq_queue *queue;
    struct mq_clock clock; /* mq_queue_clock(): dates are the queue's, not this machine's */
    struct mq_relays *relays;
    char token[MQ_TOKEN_HEX + 1];
    struct mq_report *report;

    struct mq_slot slot;
    int signals; /* how many the process had caught before the run */
    int hangups; /* SIGHUPs for which the log was opened again */
    struct mq_manager *manager;
    struct mq_recovery *recovery;
    struct mq_intent *intent;
    size_t slots; /* of the intent file */
    bool no_slot; /* the intent file is full until something is settled */

    struct mq_domains *domains;          /* relay/domain_answers.h; NULL: no mail has ended yet */
    struct mq_domain_sessions *sessions; /* relay/kept.h; NULL: no rules */
    bool domain_left;                    /* a domain has fewer deliveries under way than before */
    struct mq_deliveries under_way, done;
    struct mq_deliveries kept;                   /* wait for sessions of their domains */
    struct mq_delivery *buckets[MQ_RUN_BUCKETS]; /* deliveries of all six lists, by job id */
    size_t held;                                 /* how many are in the six lists */
    int64_t first_done_ms;                       /* when `done` stopped being empty */
    bool unknown_jobs; /* perhaps this run has claimed jobs that have no delivery */
    struct mq_events events;
    struct mq_mailings *mailings; /* campaign/mailing.h; NULL: no mail of a campaign yet */
    bool finished;                /* perhaps a campaign has finished that was not told of */

    int64_t start_ms;    /* CLOCK_BOOTTIME, as deadline_ms */
    int64_t deadline_ms; /* INT64_MAX: none */

    struct mq_claims claim;
    struct mq_leases lease;
    struct mq_limit_clock limit_clock;
    struct mq_memory memory;
    struct mq_database database;
    struct mq_stop stop;
};

/* Tells the loop to end the run, and so to release what waits. The first reason is kept. */
void mq_run_stop(struct mq_run *run, enum mq_run_end end);
/* Ends the run for a failure. mq_worker_run() returns the first one, but a bailout replaces it. */
void mq_run_fail(struct mq_run *run, enum mq_status status, const struct mq_error *err);

/* Passes the events since the last call to the hooks and counts them in the report. */
void mq_run_tell(struct mq_run *run);
/* Tells the event of the run's end, with the counts as text. */
void mq_run_tell_end(struct mq_run *run);

static inline int64_t mq_run_now_ms(const struct mq_run *run)
{
    return run->clock.boot_ms(run->clock.context);
}
static inline int64_t mq_run_now_s(const struct mq_run *run)
{
    return mq_clock_now_s(&run->clock);
}
static inline int64_t mq_least(int64_t a, int64_t b)
{
    return a < b ? a : b;
}
/* Whether the last transaction failed: nothing begins until one succeeds. */
static inline bool mq_run_database_fails(const struct mq_run *run)
{
    return run->database.failing_ms != 0;
}

#endif
