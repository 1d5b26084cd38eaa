/* A worker run from the inside. Nothing outside src/worker/ includes this.
 *
 * A claimed job is a delivery. It is in one of four lists:
 *   waiting    claimed, not begun
 *   under_way  the transport has it
 *   done       its outcome is known and not committed yet
 *   doubted    it failed, and whether that is its own fault or the relay's is not known yet
 *              (trouble.c)
 * Its slot in the intent file is taken when it begins and freed after its outcome's commit.
 *
 * Calls go one way: worker.c and cycle.c at the top, report.c and deliveries.c at the bottom. What
 * is below notes in its part of struct mq_run what happened, and the loop acts on it. For example,
 * mq_run_stop() releases nothing. */
#ifndef MQ_WORKER_RUN_H
#define MQ_WORKER_RUN_H

#include "worker/database.h"
#include "worker/dead_runs.h"
#include "worker/deliveries.h"
#include "worker/lock.h"
#include "worker/memory.h"
#include "worker/report.h"
#include "worker/signals.h"
#include "worker/trouble.h"

#define MQ_RUN_SETTLE_JOBS 100  /* outcomes are committed at so many … */
#define MQ_RUN_SETTLE_MS   50   /* … or so long after the first */
#define MQ_RUN_CLAIM_MAX   1000 /* jobs a claim */
#define MQ_RUN_MANY        3    /* mails that fail in a row: perhaps it is the relay */
/* Octets of messages that a transaction deletes, if it is not one message. */
#define MQ_RUN_SETTLE_BYTES (INT64_C(4) << 20)
#define MQ_RUN_BUCKETS      512

struct mq_intent;

struct mq_run {
    const struct mq_worker *worker;
    const struct mq_worker_options *options;
    struct mq_queue *queue;
    struct mq_transport *transport;
    struct mq_clock clock; /* mq_queue_clock(): dates are the queue's, not this machine's */
    const char *relay;
    char token[MQ_TOKEN_HEX + 1];
    struct mq_report *report;

    struct mq_slot slot;
    struct mq_signals signals;
    struct mq_recovery recovery;
    struct mq_intent *intent;
    size_t slots; /* of the intent file */
    bool no_slot; /* it is full until something is settled */

    struct mq_deliveries waiting, under_way, done, doubted;
    struct mq_delivery *buckets[MQ_RUN_BUCKETS]; /* of all four, by id */
    size_t held;                                 /* in the four lists together */
    int64_t first_done_ms;                       /* when `done` stopped being empty */
    bool unknown_jobs; /* claimed by us without a delivery, or perhaps so */
    struct mq_events events;

    int64_t start_ms;    /* CLOCK_BOOTTIME, as the next */
    int64_t deadline_ms; /* INT64_MAX: none */
    int64_t dot_ms;      /* how long the relay takes for a mail, on average; 0: not known yet */

    struct mq_claims claim;
    struct mq_leases lease;
    struct mq_limit_clock limit_clock;
    struct mq_memory memory;
    struct mq_database database;
    struct mq_doubts doubts;
    struct mq_trouble trouble;
    struct mq_finding finding;
    struct mq_stop stop;
};

static inline int64_t mq_run_now_ms(const struct mq_run *run)
{
    return run->clock.boot_ms(run->clock.context);
}
static inline int64_t mq_run_now_s(const struct mq_run *run)
{
    return run->clock.now_s(run->clock.context);
}
static inline int64_t mq_least(int64_t a, int64_t b)
{
    return a < b ? a : b;
}
/* Nothing is under way, waits or is to be settled. Doubted jobs may be held back. */
static inline bool mq_run_is_idle(const struct mq_run *run)
{
    return run->held == run->doubted.count;
}
/* Nothing is begun until a transaction succeeds again. */
static inline bool mq_run_database_fails(const struct mq_run *run)
{
    return run->database.failing_ms != 0;
}

#endif
