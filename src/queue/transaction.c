/* One write transaction of the queue: time, settings, events. */
#include "queue/internal.h"

#include <stdlib.h>
#include <string.h>

enum mq_status mq_tx_begin_store(struct mq_tx *tx, struct mq_queue *queue, struct mq_error *err)
{
    memset(tx, 0, sizeof(*tx));
    tx->queue = queue;
    mq_events_init(&tx->events);
    enum mq_status status = queue->db->driver->begin(queue->db, err);
    if (status != MQ_OK) {
        queue->db->driver->rollback(queue->db);
        return status;
    }
    /* Only now: the lock may have been waited for. */
    tx->now_s = queue->clock.now_s(queue->clock.context);
    return MQ_OK;
}

enum mq_status mq_tx_begin(struct mq_tx *tx, struct mq_queue *queue, struct mq_events *sink,
                           struct mq_error *err)
{
    enum mq_status status = mq_tx_begin_store(tx, queue, err);
    if (status == MQ_OK && !mq_schema_current(queue)) {
        queue->db->driver->rollback(queue->db);
        status = mq_schema_ready(queue, err);
        if (status == MQ_OK) {
            status = mq_tx_begin_store(tx, queue, err);
        }
    }
    tx->sink = sink;
    return status;
}

enum mq_status mq_tx_settings(struct mq_tx *tx, struct mq_error *err)
{
    struct mq_error why;
    enum mq_status status =
        mq_settings_load(tx->queue, tx->now_s, &tx->settings, &tx->pauses, &why);
    if (status == MQ_CONFIG || status == MQ_DATABASE || status == MQ_SCHEMA) {
        tx->config = status;
        tx->config_error = why;
        return MQ_OK;
    }
    if (status != MQ_OK) {
        if (err) {
            *err = why;
        }
        return status;
    }
    if (tx->settings.bucket.limit > 0) {
        mq_bucket_refill(&tx->settings.bucket, tx->now_s);
    }
    return MQ_OK;
}

static void tell(struct mq_tx *tx)
{
    for (size_t i = 0; i < tx->events.count; i++) {
        mq_events_add(tx->sink, &tx->events.items[i]);
    }
}

enum mq_status mq_tx_end(struct mq_tx *tx, enum mq_status status, struct mq_error *err)
{
    struct mq_db *db = tx->queue->db;
    if (status == MQ_OK) {
        status = db->driver->commit(db, err);
    }
    if (status != MQ_OK) {
        db->driver->rollback(db);
    } else if (tx->sink) {
        tell(tx);
    }
    mq_events_clear(&tx->events);
    mq_settings_clear(&tx->settings);
    free(tx->pauses);
    tx->pauses = NULL;
    return status;
}

void mq_tx_event(struct mq_tx *tx, const struct mq_job *job, const struct mq_event *extra)
{
    if (!tx->sink) {
        return;
    }
    struct mq_event event = *extra;
    event.at_s = tx->now_s;
    event.id = job->id;
    event.reference = job->reference;
    event.mail_type = job->mail_type;
    event.attempt = job->attempts;
    mq_events_add(&tx->events, &event);
}

void mq_tx_happened(struct mq_tx *tx, const struct mq_job *job, enum mq_event_type type)
{
    struct mq_event event = {.type = type, .ms = -1};
    mq_tx_event(tx, job, &event);
}
