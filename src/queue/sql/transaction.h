/* Write transactions: their time, the settings as they found them, the events of their commit. */
#ifndef MQ_QUEUE_SQL_TRANSACTION_H
#define MQ_QUEUE_SQL_TRANSACTION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/error.h"
#include "queue/config/settings.h"

struct mq_event;
struct mq_events;
struct mq_job;
struct mq_queue;

/* One write transaction: its time, what happened, the settings and the bucket as it found them. */
struct mq_tx {
    struct mq_queue *queue;   /* the caller's; all below `only_new` is mq_tx_next()'s */
    struct mq_events *events; /* the caller's: where the events of the commit go; NULL: nowhere */
    bool only_new;            /* the caller's: see mq_tx_next() */
    int tries;
    size_t events_before;
    int64_t now_s;
    struct mq_settings settings; /* after mq_tx_settings() */
    enum mq_status config;       /* of reading the settings; then settings is all off */
    struct mq_error config_error;
    bool joined;       /* within the application's transaction */
    int64_t locked_ms; /* host.boot_ms when it had the write lock; 0: it stays locked behind it */
    int64_t flying;    /* strict mode, after mq_limit_allowance(): paid for leases under way */
    int64_t spent;     /* and the ledger's last hour */
    int64_t handed;    /* recipients that are not in the ledger yet, … */
    int64_t handed_at_s;
};

/* A transaction is a loop:
 *
 *     struct mq_tx tx = {.queue = queue};
 *     while (mq_tx_next(&tx, &status, err)) {
 *         status = body(&tx, …, err);
 *     }
 *
 * Nothing leaves the loop in another way. If *status is a failure already, it does nothing. Else it
 * begins; after the body it commits, or undoes all if the body failed. The body may run more than
 * once, so it sets its results each time. It runs up to five times if the database undid the
 * transaction as the victim of a deadlock; not within the application's transaction, which was
 * undone with it.
 *
 * Tables of another version are migrated, or refused, before it begins. `only_new` is for storing
 * mail: then it does not read the version, which would cost a request a tenth of its time. So an
 * older producer goes on beside newer tables; a migration that must stop it renames a column, so
 * that its INSERT fails. On a server tx->now_s is not set then: {y} is the time. */
bool mq_tx_next(struct mq_tx *tx, enum mq_status *status, struct mq_error *err);
/* Reads the settings; a value that cannot be read is noted in tx->config and is no failure here.
 * Refills the bucket up to now. */
enum mq_status mq_tx_settings(struct mq_tx *tx, struct mq_error *err);
/* Waits for as long as the write lock was held (since `since_ms` of host.boot_ms), so that others
 * get it. 0: does not wait. */
void mq_tx_leave_free(const struct mq_queue *queue, int64_t since_ms);
/* Notes an event about a job. `extra` gives what the job does not say: type, recipients, relay,
 * reply, ms, next_attempt_at. */
void mq_tx_event(struct mq_tx *tx, const struct mq_job *job, const struct mq_event *extra);
/* Notes that a waiting job is deleted because it has expired, else as an orphan. */
void mq_tx_gone(struct mq_tx *tx, const struct mq_job *job, bool expired);

#endif
