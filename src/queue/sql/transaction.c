/* One write transaction of the queue: time, settings, events. */
#include "queue/sql/transaction.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "db/db.h"
#include "queue/campaign/feed.h"
#include "queue/config/keys.h"
#include "queue/event.h"
#include "queue/handle.h"
#include "queue/history.h"
#include "queue/job.h"
#include "queue/queue.h"
#include "queue/sql/schema.h"
#include "queue/windows/windows.h"

#define TRIES_MAX 5

static void note_lock(struct mq_tx *tx)
{
    const struct mq_clock *host = &tx->queue->host;
    tx->locked_ms = tx->joined ? 0 : host->boot_ms(host->context);
}

static enum mq_status begin(struct mq_tx *tx, struct mq_error *err)
{
    struct mq_queue *queue = tx->queue;
    const struct mq_db_driver *driver = queue->db->driver;
    bool inserts = tx->only_new && driver->begin_inserts;
    *tx = (struct mq_tx){.queue = queue,
                         .events = tx->events,
                         .only_new = tx->only_new,
                         .tries = tx->tries + 1,
                         .history_days = -1,
                         .events_before = tx->events ? tx->events->count : 0};
    enum mq_status status =
        inserts ? driver->begin_inserts(queue->db, err) : driver->begin(queue->db, err);
    if (status == MQ_OK) {
        tx->joined = driver->joined(queue->db);
        note_lock(tx);
    }
    if (status == MQ_OK && !(inserts && mq_sql_has(queue, MQ_SQL_NOW))) {
        /* Reads the time only now, because waiting for the lock can have taken some. */
        status = mq_queue_now(queue, &tx->now_s, err);
    }
    if (status != MQ_OK) {
        driver->rollback(queue->db);
    }
    return status;
}

/* On a server, where writers run at the same time, locks the bucket and the windows if there is a
 * limit, or a domain is slowed down. *locked says whether it is locked; with a file, whose writers
 * take turns, it is always true. */
static enum mq_status lock_bucket(struct mq_tx *tx, bool *locked, struct mq_error *err)
{
    int64_t found = 0;
    *locked = true;
    if (!mq_sql_has(tx->queue, MQ_SQL_LOCK_BUCKET)) {
        return MQ_OK;
    }
    struct mq_args keys = MQ_ARGS(mq_cstr(mq_config_keys[MQ_KEY_MAX_PER_HOUR].name),
                                  mq_cstr(mq_config_keys[MQ_KEY_LIMITS].name),
                                  mq_cstr(mq_config_keys[MQ_KEY_WARMUP].name),
                                  mq_cstr(mq_config_keys[MQ_KEY_SLOW_DOMAINS].name));
    MQ_TRY(mq_sql_int(tx->queue, MQ_SQL_LOCK_BUCKET, keys, &found, err));
    *locked = found != 0;
    /* While this transaction waited for the lock, another may have refilled the bucket up to a
     * later time. If this one kept its old time, the bucket would be refilled twice. */
    return *locked ? mq_queue_now(tx->queue, &tx->now_s, err) : MQ_OK;
}

static enum mq_status load_settings(struct mq_tx *tx, struct mq_error *err)
{
    bool locked = false;
    int tries = 0;
    do { /* again if a limit was set, or a domain slowed down, between the two statements */
        mq_settings_clear(&tx->settings);
        MQ_TRY(lock_bucket(tx, &locked, err));
        MQ_TRY(mq_settings_load(tx->queue, tx->now_s, &tx->settings, err));
        /* Only once for domains: a text that another program wrote may not be found. */
    } while (!locked && (mq_settings_limit(&tx->settings) ||
                         (++tries == 1 && mq_settings_pays(&tx->settings))));
    return MQ_OK;
}

enum mq_status mq_tx_settings(struct mq_tx *tx, struct mq_error *err)
{
    enum mq_status status = load_settings(tx, &tx->config_error);
    note_lock(tx); /* a server grants the lock only now */
    bool undone = status == MQ_DATABASE && tx->queue->dialect->shared;
    if (!undone && (status == MQ_CONFIG || status == MQ_DATABASE || status == MQ_SCHEMA)) {
        tx->config = status;
        return MQ_OK;
    }
    if (status != MQ_OK && err) {
        *err = tx->config_error;
    } else if (status == MQ_OK) {
        tx->history_days = tx->settings.history_days;
        if (tx->settings.bucket.limit > 0) {
            mq_bucket_refill(&tx->settings.bucket, tx->now_s);
        }
    }
    return status;
}

void mq_tx_leave_free(const struct mq_queue *queue, int64_t since_ms)
{
    int64_t ms = since_ms ? queue->host.boot_ms(queue->host.context) - since_ms : 0;
    struct timespec pause = {.tv_sec = ms / 1000, .tv_nsec = ms % 1000 * 1000000};
    nanosleep(&pause, NULL);
}

/* Whether the event may be the last trace of an uncertain attempt. */
static bool must_stay(const struct mq_event *event)
{
    bool may_delete = event->type == MQ_EVENT_SENT || event->type == MQ_EVENT_EXPIRED ||
                      event->type == MQ_EVENT_ORPHAN || event->type == MQ_EVENT_SUPPRESSED;
    return event->type == MQ_EVENT_UNCERTAIN || (may_delete && event->uncertain > 0);
}

/* The events of this transaction; borrowed. */
static struct mq_events noted(const struct mq_tx *tx)
{
    const struct mq_events *all = tx->events ? tx->events : tx->own;
    return !all || all->count == 0 ? (struct mq_events){0}
                                   : (struct mq_events){.items = all->items + tx->events_before,
                                                        .count = all->count - tx->events_before};
}

static enum mq_status keep(struct mq_tx *tx, struct mq_error *err)
{
    struct mq_events own = noted(tx);
    const struct mq_history history = {own.items, own.count, tx->now_s, tx->history_days,
                                       tx->joined};
    return mq_history_write(tx->queue, &history, err);
}

static void record(struct mq_tx *tx)
{
    const struct mq_events *all = tx->events;
    bool some = false;
    if (!all || !all->record || all->count == tx->events_before) {
        return;
    }
    struct mq_events own = noted(tx);
    for (size_t i = 0; i < own.count; i++) {
        own.items[i].recorded = must_stay(&own.items[i]);
        some = some || own.items[i].recorded;
    }
    if (some) {
        all->record(all->context, &own);
    }
}

static void forget_own(struct mq_tx *tx)
{
    if (tx->own) {
        mq_events_clear(tx->own);
        free(tx->own);
        tx->own = NULL;
    }
}

/* Commits when status is MQ_OK, otherwise rolls back. */
static enum mq_status end(struct mq_tx *tx, enum mq_status status, struct mq_error *err)
{
    struct mq_db *db = tx->queue->db;
    status = status == MQ_OK ? mq_campaign_count(tx, err) : status;
    status = status == MQ_OK ? keep(tx, err) : status;
    if (status == MQ_OK) {
        record(tx);
        status = db->driver->commit(db, err);
    }
    if (status != MQ_OK) {
        db->driver->rollback(db);
        if (tx->events) {
            mq_events_truncate(tx->events, tx->events_before);
        }
    }
    forget_own(tx);
    mq_campaign_forget(tx);
    mq_windows_free(tx->windows);
    tx->windows = NULL;
    mq_settings_clear(&tx->settings);
    return status;
}

/* Jitter keeps the victims of one deadlock from meeting again in the next. */
static void pause_before(const struct mq_queue *queue, int tries)
{
    double ms = (1 + 19 * queue->random.unit(queue->random.context)) * tries;
    struct timespec pause = {.tv_sec = 0, .tv_nsec = (long)(ms * 1e6)};
    nanosleep(&pause, NULL);
}

static bool is_victim(const struct mq_tx *tx, enum mq_status status)
{
    return status == MQ_TX_ABORTED && tx->tries > 0 && tx->tries < TRIES_MAX && !tx->joined;
}

bool mq_tx_next(struct mq_tx *tx, enum mq_status *status, struct mq_error *err)
{
    bool begins = tx->tries == 0;
    if (!begins) {
        *status = end(tx, *status, err);
    } else if (*status == MQ_OK && !tx->only_new) {
        *status = mq_schema_check(tx->queue, err);
    }
    begins = begins && *status == MQ_OK;
    while (begins || is_victim(tx, *status)) {
        if (!begins) {
            pause_before(tx->queue, tx->tries);
        }
        *status = begin(tx, err);
        if (*status == MQ_OK) {
            return true;
        }
        begins = false;
    }
    return false;
}

void mq_tx_event(struct mq_tx *tx, const struct mq_job *job, const struct mq_event *extra)
{
    mq_campaign_note(tx, job, (int)extra->type);
    int all = job->recipients.count ? (int)job->recipients.count : 1;
    int64_t waited_s = tx->now_s - extra->ms / 1000 - job->next_attempt_at;
    struct mq_event event = *extra;
    event.at_s = tx->now_s;
    event.id = job->id;
    event.reference = job->reference;
    event.mail_type = job->mail_type;
    event.subject = extra->type == MQ_EVENT_CLAIMED ? NULL : job->subject;
    event.attempt = job->attempts;
    event.uncertain = job->uncertain;
    event.counted = extra->recipients ? extra->recipients : all;
    event.waited_s = extra->ms < 0 ? -1 : waited_s > 0 ? waited_s : 0;
    if (!tx->events && !tx->own) {
        tx->own = calloc(1, sizeof(*tx->own));
    }
    if (tx->events || tx->own) {
        mq_events_add(tx->events ? tx->events : tx->own, &event);
    }
}

void mq_tx_gone(struct mq_tx *tx, const struct mq_job *job, bool expired)
{
    struct mq_event event = {.type = expired ? MQ_EVENT_EXPIRED : MQ_EVENT_ORPHAN, .ms = -1};
    mq_tx_event(tx, job, &event);
}
