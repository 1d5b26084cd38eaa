/* Write transactions: how they run, their time and settings, the events of their commit. */
#ifndef MQ_QUEUE_SQL_TRANSACTION_H
#define MQ_QUEUE_SQL_TRANSACTION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/error.h"
#include "queue/config/settings.h"

struct mq_campaign_counts;
struct mq_event;
struct mq_events;
struct mq_job;
struct mq_queue;
struct mq_windows;

/* One write transaction: its time, its events, the settings and the bucket as it found them. */
struct mq_tx {
    struct mq_queue *queue;   /* set by the caller; mq_tx_next() sets all below `only_new` */
    struct mq_events *events; /* set by the caller: gets the events of the commit; NULL: none */
    bool only_new;            /* set by the caller: see mq_tx_next() */
    bool only_read;           /* set by a caller that never begins: windows are only read */
    int tries;
    size_t events_before;
    int64_t now_s;
    struct mq_settings settings; /* valid after mq_tx_settings() */
    enum mq_status config; /* of mq_tx_settings(); after a failure, `settings` has limits at most */
    struct mq_error config_error;
    int64_t history_days;  /* mailHistoryDays; -1: not read, or not readable */
    struct mq_events *own; /* the events, if the caller wants none: the history needs them */
    bool joined;           /* within the application's transaction */
    int64_t locked_ms;     /* host.boot_ms when it got the write lock; 0 if joined */
    int64_t under_way; /* strict mode, after mq_limit_allowance(): tokens paid by current leases */
    int64_t spent;     /* strict mode, from the same call: recipients in the ledger's last hour */
    int64_t handed;    /* recipients handed over at handed_at_s, not in the ledger yet */
    int64_t handed_at_s;
    struct mq_windows *windows; /* of mailLimits; NULL: not used yet (windows/windows.h) */
    struct mq_campaign_counts *campaigns; /* what became of their jobs; NULL: none were changed */
    bool campaigns_failed;                /* a lack of memory: it is not all in there */
};

/* A transaction is a loop:
 *
 *     struct mq_tx tx = {.queue = queue};
 *     while (mq_tx_next(&tx, &status, err)) {
 *         status = body(&tx, …, err);
 *     }
 *
 * Do not leave the loop with break or return. If *status is a failure already, mq_tx_next() does
 * nothing. Otherwise it begins; after the body it commits, or rolls back if the body failed. If the
 * database undid the transaction as the victim of a deadlock, the body runs again, up to five times
 * in all, so it sets its results each time. It does not run again within the application's
 * transaction, which was undone as well.
 *
 * Before it begins, it refuses tables of another version. `only_new` is for storing mail: it skips
 * reading the version, which would cost a web request a tenth of its time. So an older producer
 * works with newer tables; a migration that must stop it renames a column, so that its INSERT
 * fails. On a server, `only_new` leaves tx->now_s unset: statements use {y}. */
bool mq_tx_next(struct mq_tx *tx, enum mq_status *status, struct mq_error *err);
/* Reads the settings; a value that cannot be read sets tx->config and is not a failure here.
 * Refills the bucket up to now. */
enum mq_status mq_tx_settings(struct mq_tx *tx, struct mq_error *err);
/* Waits as long as this process held the write lock, so that others can take it. `since_ms`: when
 * it got the lock, by host.boot_ms; 0: does not wait. */
void mq_tx_leave_free(const struct mq_queue *queue, int64_t since_ms);
/* Notes an event about a job. `extra` has the members that the job does not have: type, recipients,
 * relay, reply, ms, next_attempt_at. */
void mq_tx_event(struct mq_tx *tx, const struct mq_job *job, const struct mq_event *extra);
/* Notes that a waiting job is deleted: because it has expired, or as an orphan. */
void mq_tx_gone(struct mq_tx *tx, const struct mq_job *job, bool expired);

#endif
