/* Statistics for people. The counts come from one query, the settings from others, without a
 * transaction, so that others can write meanwhile. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "db/db.h"
#include "queue/config/config.h"
#include "queue/config/keys.h"
#include "queue/config/relays.h"
#include "queue/handle.h"
#include "queue/manage.h"
#include "queue/queue.h"
#include "queue/sql/schema.h"
#include "queue/sql/transaction.h"

static enum mq_status count(struct mq_queue *queue, int64_t now_s, struct mq_stats *out,
                            struct mq_error *err)
{
    int64_t waiting = 0;
    int64_t *columns[] = {&waiting,
                          &out->due,
                          &out->next_due_s,
                          &out->oldest_waiting_s,
                          &out->counts[MQ_SENDING],
                          &out->counts[MQ_FAILED],
                          &out->counts[MQ_PARKED],
                          &out->counts[MQ_HELD]};
    enum mq_status status;
    if (mq_sql_row(queue, MQ_SQL_STATS, MQ_ARGS(mq_int(now_s)), &status, err)) {
        for (int i = 0; i < (int)(sizeof(columns) / sizeof(columns[0])); i++) {
            *columns[i] = mq_sql_column_int(queue, i);
        }
        mq_sql_finish(queue);
    }
    /* The index of waiting jobs does not distinguish pending from failed. */
    out->counts[MQ_PENDING] = waiting - out->counts[MQ_FAILED];
    return status;
}

static enum mq_status read_last_run(struct mq_queue *queue, struct mq_stats *out,
                                    struct mq_error *err)
{
    char *text = NULL;
    const struct mq_config_key *key = &mq_config_keys[MQ_KEY_LAST_RUN];
    MQ_TRY(mq_queue_config(queue, key->name, &text, err));
    mq_config_parse(key->kind, mq_str_of(text), &out->last_run_s);
    free(text);
    return MQ_OK;
}

/* Assumes one recipient per job, because the lists of recipients are not read for this. */
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
    char *relay = NULL;
    MQ_TRY(mq_settings_load(queue, now_s, &settings, err));
    out->enabled = settings.enabled;
    out->limit = settings.bucket.limit;
    out->rate_mode = settings.rate_mode;
    struct mq_pause pause = mq_pause_latest(settings.pauses, &relay);
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
    return MQ_OK;
}

static enum mq_status read_all(struct mq_queue *queue, struct mq_stats *out, struct mq_error *err)
{
    int64_t now_s = 0;
    MQ_TRY(mq_schema_check(queue, err));
    MQ_TRY(mq_queue_now(queue, &now_s, err));
    MQ_TRY(count(queue, now_s, out, err));
    MQ_TRY(read_last_run(queue, out, err));
    MQ_TRY(read_settings(queue, now_s, out, err));
    out->empty_in_s = empty_in(out);
    return MQ_OK;
}

enum mq_status mq_queue_stats(struct mq_queue *queue, struct mq_stats *out, struct mq_error *err)
{
    *out = (struct mq_stats){0};
    enum mq_status status = read_all(queue, out, err);
    if (status != MQ_OK) {
        mq_stats_clear(out);
    }
    return status;
}

void mq_stats_clear(struct mq_stats *stats)
{
    free(stats->paused);
    free(stats->paused_relay);
    free(stats->redirect_to);
    stats->paused = stats->paused_relay = stats->redirect_to = NULL;
}

/* ---- queries of PHP code ---- */

static void read_row(struct mq_queue *queue, const struct mq_reader *reader)
{
    struct mq_value values[MQ_SELECT_COLUMNS_MAX];
    int count = queue->db->driver->columns(queue->db);
    count = count < MQ_SELECT_COLUMNS_MAX ? count : MQ_SELECT_COLUMNS_MAX;
    for (int i = 0; i < count; i++) {
        values[i] = queue->db->driver->column(queue->db, i);
    }
    reader->row(reader->context, values, count);
}

enum mq_status mq_queue_select(struct mq_queue *queue, const struct mq_query *query,
                               const struct mq_reader *reader, struct mq_error *err)
{
    struct mq_args args = {query->params, query->param_count};
    MQ_TRY(mq_schema_check(queue, err));
    char *sql = mq_sql_expand(queue->dialect, &queue->names, query->sql);
    enum mq_status status = sql ? mq_sql_query_text(queue, sql, args, err) : mq_error_nomem(err);
    while (sql && mq_sql_next(queue, &status, err)) {
        read_row(queue, reader);
    }
    free(sql);
    return status;
}

enum mq_status mq_queue_note_run(struct mq_queue *queue, struct mq_error *err)
{
    struct mq_tx tx = {.queue = queue};
    enum mq_status status = MQ_OK;
    char now[24];
    while (mq_tx_next(&tx, &status, err)) {
        snprintf(now, sizeof(now), "%lld", (long long)tx.now_s);
        status = mq_config_put(queue, mq_config_keys[MQ_KEY_LAST_RUN].name, now, err);
    }
    return status;
}
