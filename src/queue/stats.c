/* Figures for people. A snapshot of several queries, not of one transaction: nobody is kept from
 * writing. Costs one pass over the entries of the partial indexes, none over the table: about 0.1 s
 * for a million jobs waiting, parked or failed. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "queue/config/config.h"
#include "queue/config/keys.h"
#include "queue/config/pause.h"
#include "queue/config/store.h"
#include "queue/handle.h"
#include "queue/limit.h"
#include "queue/manage.h"
#include "queue/queue.h"
#include "queue/sql/schema.h"

static enum mq_status count_waiting(struct mq_queue *queue, int64_t now_s, struct mq_stats *out,
                                    struct mq_error *err)
{
    bool row = false;
    int64_t oldest = 0;
    enum mq_status status = mq_sql_query(queue, MQ_SQL_STATS_DUE, MQ_ARGS(mq_int(now_s)), err);
    if (status == MQ_OK) {
        status = mq_sql_next(queue, &row, err);
    }
    if (status != MQ_OK || !row) {
        return status;
    }
    out->counts[MQ_PENDING] = mq_sql_column_int(queue, 0);
    out->due = mq_sql_column_int(queue, 1);
    oldest = mq_sql_column_int(queue, 2);
    out->next_due_s = mq_sql_column_int(queue, 3);
    mq_sql_finish(queue);
    if (!oldest) {
        return MQ_OK;
    }
    /* Ids grow with time: the smallest is the oldest. */
    return mq_sql_int(queue, MQ_SQL_STATS_CREATED, MQ_ARGS(mq_int(oldest)), &out->oldest_waiting_s,
                      err);
}

static enum mq_status count_states(struct mq_queue *queue, int64_t now_s, struct mq_stats *out,
                                   struct mq_error *err)
{
    static const struct {
        enum mq_sql slot;
        enum mq_state state;
    } counts[] = {{MQ_SQL_STATS_SENDING, MQ_SENDING},
                  {MQ_SQL_STATS_FAILED, MQ_FAILED},
                  {MQ_SQL_STATS_PARKED, MQ_PARKED},
                  {MQ_SQL_STATS_HELD, MQ_HELD}};
    enum mq_status status = count_waiting(queue, now_s, out, err);
    for (size_t i = 0; i < sizeof(counts) / sizeof(counts[0]) && status == MQ_OK; i++) {
        int64_t *count = &out->counts[counts[i].state];
        status = mq_sql_int(queue, counts[i].slot, MQ_NO_ARGS, count, err);
    }
    /* The index of what waits knows no difference between pending and failed. */
    out->counts[MQ_PENDING] -= out->counts[MQ_FAILED];
    if (out->counts[MQ_PENDING] < 0) {
        out->counts[MQ_PENDING] = 0;
    }
    return status;
}

static enum mq_status read_last_run(struct mq_queue *queue, struct mq_stats *out,
                                    struct mq_error *err)
{
    char *text = NULL;
    enum mq_status status =
        mq_queue_config(queue, mq_config_keys[MQ_KEY_LAST_RUN].name, &text, err);
    if (status == MQ_OK && text) {
        mq_config_parse_time(mq_str_of(text), &out->last_run_s);
    }
    free(text);
    return status;
}

/* One recipient a job is assumed: their lists are not read for this. */
static int64_t empty_in(const struct mq_stats *stats)
{
    if (stats->limit <= 0) {
        return -1;
    }
    int64_t waiting =
        stats->counts[MQ_PENDING] + stats->counts[MQ_FAILED] + stats->counts[MQ_SENDING];
    double missing = (double)waiting - stats->tokens;
    return missing > 0 ? (int64_t)(missing * 3600.0 / (double)stats->limit + 0.5) : 0;
}

static enum mq_status read_settings(struct mq_queue *queue, int64_t now_s, struct mq_stats *out,
                                    struct mq_error *err)
{
    struct mq_settings settings = {0};
    char *pauses = NULL;
    enum mq_status status = mq_settings_load(queue, now_s, &settings, &pauses, err);
    if (status != MQ_OK) {
        return status;
    }
    out->enabled = settings.enabled;
    out->limit = settings.bucket.limit;
    out->rate_mode = settings.rate_mode;
    char *relay = NULL;
    struct mq_pause pause = mq_pause_latest(pauses, &relay);
    free(pauses);
    if (pause.until_s > now_s) {
        out->paused_until_s = pause.until_s;
        out->paused = mq_str_dup(mq_str_of(pause.reason));
        out->paused_relay = relay;
        relay = NULL;
    }
    free(relay);
    out->redirect_to = settings.redirect_to;
    settings.redirect_to = NULL;
    if (out->limit > 0) {
        mq_bucket_refill(&settings.bucket, now_s);
        out->burst = settings.bucket.cap;
        out->tokens = (double)settings.bucket.units / MQ_BUCKET_UNITS;
    }
    mq_settings_clear(&settings);
    return mq_sql_int(queue, MQ_SQL_SPENT_SUM,
                      MQ_ARGS(mq_int(now_s - MQ_LIMIT_HOUR_S), mq_int(now_s + MQ_LIMIT_HOUR_S)),
                      &out->spent_last_hour, err);
}

enum mq_status mq_queue_stats(struct mq_queue *queue, struct mq_stats *out, struct mq_error *err)
{
    struct mq_stats stats = {0};
    int64_t now_s = 0;
    enum mq_status status = mq_schema_ready(queue, err);
    if (status == MQ_OK) {
        status = mq_queue_now(queue, &now_s, err);
    }
    if (status == MQ_OK) {
        status = count_states(queue, now_s, &stats, err);
    }
    if (status == MQ_OK) {
        status = read_last_run(queue, &stats, err);
    }
    if (status == MQ_OK) {
        status = read_settings(queue, now_s, &stats, err);
    }
    if (status != MQ_OK) {
        mq_stats_clear(&stats);
        return status;
    }
    stats.empty_in_s = empty_in(&stats);
    *out = stats;
    return MQ_OK;
}

void mq_stats_clear(struct mq_stats *stats)
{
    free(stats->paused);
    free(stats->paused_relay);
    free(stats->redirect_to);
    stats->paused = stats->paused_relay = stats->redirect_to = NULL;
}

static enum mq_status put_now(struct mq_tx *tx, void *context, struct mq_error *err)
{
    char now[24];
    (void)context;
    snprintf(now, sizeof(now), "%lld", (long long)tx->now_s);
    return mq_config_put(tx->queue, mq_config_keys[MQ_KEY_LAST_RUN].name, now, err);
}

enum mq_status mq_queue_note_run(struct mq_queue *queue, struct mq_error *err)
{
    struct mq_tx_work work = {.body = put_now};
    return mq_tx_run(queue, &work, err);
}
