/* Statistics for people: counts, which are exact up to a number and then estimated, so that no
 * index is read to its end; the settings; and when a job will go. All without a transaction, so
 * that others can write meanwhile. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "db/db.h"
#include "policy/limits.h"
#include "queue/all_limits.h"
#include "queue/config/kept_hours.h"
#include "queue/config/keys.h"
#include "queue/config/relays.h"
#include "queue/config/settings.h"
#include "queue/handle.h"
#include "queue/job.h"
#include "queue/manage.h"
#include "queue/queue.h"
#include "queue/sql/schema.h"
#include "queue/sql/transaction.h"

#define NONE       (INT64_C(1) << 40) /* no priority is as large */
#define SAMPLES    250                /* ids that are looked up for an estimate */
#define SURE_TIMES 8
#define SURE_HITS  20

/* Reads a number or a time. If the key is unset or unreadable, it counts as its default. */
static void parse_number(enum mq_config_id id, struct mq_str text, int64_t *out)
{
    const struct mq_config_key *key = &mq_config_keys[id];
    mq_config_parse(key->kind, mq_str_of(key->standard), out);
    mq_config_parse(key->kind, mq_str_trim(text), out);
}

/* ---- estimates ---- */

/* What is known of the rows: their ids, and of those that were looked up, how many have each
 * status, and how many are due. */
struct sample {
    int64_t now_s; /* they are due by then */
    int64_t first;
    int64_t range;    /* ids from the least to the greatest */
    int64_t priority; /* the highest of a row that waits, or NONE */
    bool leaves;      /* a row of a priority below 0 waits */
    bool is_current;  /* the tables have this version */
    int64_t looked;
    int64_t state[MQ_STATE_COUNT];
    int64_t due;
};

/* Reads all that needs nothing else first: on a server each statement costs a round trip. */
static enum mq_status look(struct mq_queue *queue, struct sample *sample, struct mq_stats *out,
                           struct mq_error *err)
{
    bool on_server = mq_sql_has(queue, MQ_SQL_NOW);
    int64_t host_s = on_server ? 0 : mq_clock_now_s(&queue->clock);
    struct mq_args args = MQ_ARGS(mq_int(host_s), mq_cstr(queue->names.version_key),
                                  mq_cstr(mq_config_keys[MQ_KEY_LAST_RUN].name));
    enum mq_status status;
    *sample = (struct sample){.priority = NONE};
    if (mq_sql_row(queue, MQ_SQL_LOOK, args, &status, err)) {
        sample->first = mq_sql_column_int(queue, 0);
        sample->range = mq_sql_column_int(queue, 1) - sample->first + 1;
        mq_value_int(queue->db->driver->column(queue->db, 2), &sample->priority);
        sample->now_s = on_server ? mq_sql_column_int(queue, 3) : host_s;
        sample->is_current = mq_schema_is(queue, mq_sql_column_str(queue, 4));
        parse_number(MQ_KEY_LAST_RUN, mq_sql_column_str(queue, 5), &out->last_run_s);
        mq_sql_finish(queue);
    }
    return status;
}

/* Writes one id from each of as many equal parts of the range, at a place that is as good as random
 * (Knuth's MMIX generator), so that rows that repeat in a pattern are hit evenly. The next call
 * takes about the same rows, which are in memory by then, and a page that shows the estimate every
 * few seconds does not flicker. */
static void write_ids(struct mq_buffer *ids, struct sample *sample)
{
    int64_t most = sample->range < SAMPLES ? sample->range : SAMPLES;
    uint64_t random = 0;
    for (; sample->looked < most; sample->looked++) {
        random = random * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
        double part = (double)sample->looked + (double)(random >> 11) * 0x1p-53;
        double at = part / (double)most * (double)sample->range;
        mq_buffer_printf(ids, "%s%lld", sample->looked ? "," : "",
                         (long long)(sample->first + (int64_t)at));
    }
}

/* PostgreSQL takes longer to parse so many numbers in a statement than to look them up, so it gets
 * them as an array. */
static enum mq_status look_up(struct mq_queue *queue, const char *ids, int64_t now_s,
                              struct mq_error *err)
{
    struct mq_buffer sql = {0}, array = {0};
    bool takes_arrays = queue->dialect->takes_arrays;
    mq_buffer_printf(&array, "{%s}", ids);
    mq_buffer_printf(&sql,
                     "SELECT status, count(*), count(CASE WHEN next_attempt_at <= ?1 THEN 1 END) "
                     "FROM {t} WHERE id %s%s) GROUP BY status",
                     takes_arrays ? "= ANY(CAST(?2 AS BIGINT[])" : "IN (", takes_arrays ? "" : ids);
    const struct mq_value values[] = {mq_int(now_s), mq_text(mq_buffer_view(&array))};
    struct mq_args args = {values, takes_arrays ? 2 : 1};
    enum mq_status status = sql.failed || array.failed
                                ? mq_error_nomem(err)
                                : mq_sql_query_template(queue, sql.data, args, err);
    mq_buffer_clear(&sql);
    mq_buffer_clear(&array);
    return status;
}

static enum mq_status take_sample(struct mq_queue *queue, struct sample *sample,
                                  struct mq_error *err)
{
    struct mq_buffer ids = {0};
    enum mq_state state;
    write_ids(&ids, sample);
    enum mq_status status =
        ids.failed ? mq_error_nomem(err) : look_up(queue, ids.data, sample->now_s, err);
    mq_buffer_clear(&ids);
    while (mq_sql_next(queue, &status, err)) {
        if (mq_state_parse(mq_sql_column_str(queue, 0), &state)) {
            sample->state[state] = mq_sql_column_int(queue, 1);
            bool waits = state == MQ_PENDING || state == MQ_FAILED;
            sample->due += waits ? mq_sql_column_int(queue, 2) : 0;
        }
    }
    return status;
}

static int64_t estimate(const struct sample *sample, int64_t hits, int64_t at_least)
{
    double share = sample->looked ? (double)hits / (double)sample->looked : 0;
    int64_t number = (int64_t)(share * (double)sample->range);
    return number > at_least ? number : at_least;
}

/* How many to count: none if the sample shows that there are more than the limit. It does if it has
 * 20 of them, which stand for eight times the limit: by chance, this happens once in 10^11 times
 * (Poisson's distribution). */
static int64_t left_to_count(const struct sample *sample, int64_t hits, int64_t exact_up_to)
{
    bool are_more = hits >= SURE_HITS && estimate(sample, hits, 0) / SURE_TIMES > exact_up_to;
    return are_more ? 0 : exact_up_to < INT64_MAX ? exact_up_to + 1 : exact_up_to;
}

/* Replaces the counts that stopped at the limit. */
static enum mq_status estimate_counts(struct mq_queue *queue, int64_t exact_up_to,
                                      struct sample *sample, struct mq_stats *out,
                                      struct mq_error *err)
{
    int64_t waiting = out->counts[MQ_PENDING];
    bool any = out->due_estimated = out->due > exact_up_to;
    for (int i = 0; i < MQ_STATE_COUNT; i++) {
        out->estimated[i] = out->counts[i] > exact_up_to;
        any = any || out->estimated[i];
    }
    if (any && sample->looked == 0) {
        MQ_TRY(take_sample(queue, sample, err));
    }
    for (int i = 0; i < MQ_STATE_COUNT; i++) {
        if (out->estimated[i]) {
            /* The index of waiting jobs does not distinguish pending from failed. */
            int64_t least = i == MQ_PENDING ? 0 : exact_up_to;
            out->counts[i] = estimate(sample, sample->state[i], least);
        }
    }
    if (out->due_estimated) {
        out->due = estimate(sample, sample->due, exact_up_to);
    }
    int64_t least = waiting - out->counts[MQ_FAILED];
    if (!out->estimated[MQ_PENDING] || out->counts[MQ_PENDING] < least) {
        out->counts[MQ_PENDING] = least > 0 ? least : 0;
    }
    return MQ_OK;
}

/* ---- by priority ---- */

/* Counts up to that many that are due, and finds when the next one is; an index has the rows of
 * each priority. */
static enum mq_status count_due(struct mq_queue *queue, struct sample *sample, int64_t most,
                                struct mq_stats *out, struct mq_error *err)
{
    enum mq_status status = MQ_OK;
    for (int64_t below, priority = sample->priority; priority != NONE; priority = below) {
        struct mq_args args =
            MQ_ARGS(mq_int(priority), mq_int(sample->now_s), mq_int(most - out->due));
        below = NONE;
        if (mq_sql_row(queue, MQ_SQL_DUE, args, &status, err)) {
            int64_t next = mq_sql_column_int(queue, 0);
            if (next && (!out->next_due_s || next < out->next_due_s)) {
                out->next_due_s = next;
            }
            out->due += mq_sql_column_int(queue, 1);
            mq_value_int(queue->db->driver->column(queue->db, 2), &below);
            sample->leaves = sample->leaves || mq_sql_column_int(queue, 3) < 0;
            mq_sql_finish(queue);
        }
    }
    return status;
}

static enum mq_status count_states(struct mq_queue *queue, const struct sample *sample,
                                   int64_t exact_up_to, struct mq_stats *out, struct mq_error *err)
{
    /* The first is what waits: pending and failed. */
    int64_t *columns[] = {&out->counts[MQ_PENDING], &out->counts[MQ_SENDING],
                          &out->counts[MQ_FAILED],  &out->counts[MQ_PARKED],
                          &out->counts[MQ_HELD],    &out->oldest_waiting_s};
    const int64_t *state = sample->state;
    const int64_t hits[] = {state[MQ_PENDING] + state[MQ_FAILED], 0, state[MQ_FAILED],
                            state[MQ_PARKED], state[MQ_HELD]};
    struct mq_value most[6];
    enum mq_status status;
    for (int i = 0; i < 5; i++) {
        most[i] = mq_int(left_to_count(sample, hits[i], exact_up_to));
    }
    most[5] = mq_int(exact_up_to);
    if (mq_sql_row(queue, MQ_SQL_STATS, (struct mq_args){most, 6}, &status, err)) {
        for (int i = 0; i < 6; i++) {
            bool is_counted = most[i].i > 0;
            *columns[i] = is_counted ? mq_sql_column_int(queue, i) : exact_up_to + 1;
        }
        mq_sql_finish(queue);
    }
    return status;
}

static enum mq_status count(struct mq_queue *queue, struct sample *sample, int64_t exact_up_to,
                            struct mq_stats *out, struct mq_error *err)
{
    if (sample->range / SURE_TIMES > exact_up_to) {
        MQ_TRY(take_sample(queue, sample, err));
    }
    MQ_TRY(count_states(queue, sample, exact_up_to, out, err));
    int64_t due = left_to_count(sample, sample->due, exact_up_to);
    MQ_TRY(count_due(queue, sample, due, out, err));
    out->due = due > 0 ? out->due : exact_up_to + 1;
    return estimate_counts(queue, exact_up_to, sample, out, err);
}

/* ---- all ---- */

static enum mq_status add_closed(struct mq_stats *out, struct mq_buffer *types, int64_t open_s,
                                 struct mq_error *err)
{
    struct mq_closed *closed = realloc(out->closed, (out->closed_count + 1) * sizeof(*out->closed));
    out->closed = closed ? closed : out->closed;
    char *text = mq_buffer_take(types);
    if (!closed || !text) {
        free(text);
        return mq_error_nomem(err);
    }
    closed[out->closed_count++] = (struct mq_closed){text, open_s};
    return MQ_OK;
}

static enum mq_status read_hours(struct mq_queue *queue, const struct mq_settings *settings,
                                 int64_t now_s, struct mq_stats *out, struct mq_error *err)
{
    struct mq_buffer types = {0};
    int64_t open_s = 0;
    enum mq_status status = mq_hours_load(queue, settings, now_s, err);
    for (size_t i = 0; status == MQ_OK && mq_hours_rule(queue, i, now_s, &types, &open_s); i++) {
        if (open_s > now_s) {
            status = add_closed(out, &types, open_s, err);
        }
        mq_buffer_reset(&types);
    }
    mq_buffer_clear(&types);
    return status;
}

/* Assumes one recipient per job, because the lists of recipients are not read for this. */
static enum mq_status read_empty_in(struct mq_tx *tx, const struct sample *sample,
                                    struct mq_stats *out, struct mq_error *err)
{
    int64_t waiting = out->counts[MQ_PENDING] + out->counts[MQ_FAILED] + out->counts[MQ_SENDING];
    const struct mq_ahead all = {waiting, waiting, sample->leaves};
    return mq_limits_expect(tx, &all, &out->empty_in_s, err);
}

static enum mq_status read_limits(struct mq_tx *tx, struct mq_stats *out, struct mq_error *err)
{
    struct mq_limits *limits = tx->settings.limits;
    struct mq_room room;
    for (size_t i = 0; limits && i < limits->count; i++) {
        const struct mq_limit *limit = &limits->items[i];
        if (limit->slow) {
            continue;
        }
        struct mq_limit_state *state = &out->limits[out->limit_count++];
        mq_str_printable(state->text, sizeof(state->text), 0, limit->text);
        state->left = -1;
        if (limit->scope == MQ_SCOPE_ALL) {
            MQ_TRY(mq_windows_left(tx, limit, &room, err));
            state->left = room.recipients;
            state->full_until_s = room.free_s;
        }
    }
    return MQ_OK;
}

/* What the hourly limit leaves. */
static enum mq_status read_tokens(struct mq_tx *tx, struct mq_stats *out, struct mq_error *err)
{
    const struct mq_bucket *bucket = &tx->settings.bucket;
    out->limit = bucket->limit;
    if (out->limit > 0) {
        MQ_TRY(mq_limit_look(tx, &out->token_s, err));
        out->token_s = out->token_s > tx->now_s ? out->token_s : 0;
        out->burst = bucket->cap;
        out->reserve = mq_limit_reserve(tx, true);
        out->tokens = bucket->units > 0 ? (double)bucket->units / MQ_BUCKET_UNITS : 0;
    }
    return MQ_OK;
}

static void read_pause(struct mq_settings *settings, int64_t now_s, struct mq_stats *out)
{
    char *relay = NULL;
    struct mq_pause pause = mq_pause_latest(settings->pauses, now_s, &relay);
    if (pause.until_s > 0) {
        out->paused_until_s = pause.until_s;
        out->paused = mq_str_dup(mq_str_of(pause.reason));
        out->paused_relay = relay;
        relay = NULL;
    }
    free(relay);
}

static enum mq_status read_settings(struct mq_queue *queue, const struct sample *sample,
                                    struct mq_stats *out, struct mq_error *err)
{
    int64_t now_s = sample->now_s;
    struct mq_tx tx = {.queue = queue, .only_read = true, .now_s = now_s};
    struct mq_settings settings = {0};
    enum mq_status status = mq_settings_load(queue, now_s, &settings, err);
    if (status != MQ_OK) {
        mq_settings_clear(&settings);
        return status;
    }
    out->enabled = settings.enabled;
    out->rate_mode = settings.rate_mode;
    read_pause(&settings, now_s, out);
    out->redirect_to = settings.redirect_to;
    settings.redirect_to = NULL;
    tx.settings = settings;
    status = read_tokens(&tx, out, err);
    status = status == MQ_OK ? read_limits(&tx, out, err) : status;
    status = status == MQ_OK ? read_empty_in(&tx, sample, out, err) : status;
    mq_windows_free(tx.windows);
    status = status == MQ_OK ? read_hours(queue, &settings, now_s, out, err) : status;
    mq_settings_clear(&settings);
    return status;
}

static enum mq_status read_all(struct mq_queue *queue, int64_t exact_up_to, struct mq_stats *out,
                               struct mq_error *err)
{
    struct sample sample;
    enum mq_status status = look(queue, &sample, out, err);
    bool ran = status == MQ_OK || status == MQ_DATABASE;
    if (ran && !sample.is_current) {
        MQ_TRY(mq_queue_prepare(queue, err));
        status = look(queue, &sample, out, err);
    }
    MQ_TRY(status);
    MQ_TRY(count(queue, &sample, exact_up_to, out, err));
    return read_settings(queue, &sample, out, err);
}

static enum mq_status look_for_worker(struct mq_queue *queue, struct mq_stats *out,
                                      struct mq_error *err)
{
    struct sample sample;
    int64_t after_s = 0;
    char *text = NULL;
    const char *name = mq_config_keys[MQ_KEY_STALE_AFTER].name;
    MQ_TRY(mq_sql_text_of(queue, MQ_SQL_CONFIG_GET, MQ_ARGS(mq_cstr(name)), &text, err));
    parse_number(MQ_KEY_STALE_AFTER, mq_str_of(text), &after_s);
    free(text);
    MQ_TRY(after_s > 0 ? look(queue, &sample, out, err) : MQ_OK);
    if (after_s == 0 || out->last_run_s > sample.now_s - after_s) {
        return MQ_OK;
    }
    sample.now_s -= after_s;
    return count_due(queue, &sample, 1, out, err);
}

enum mq_status mq_queue_is_stale(struct mq_queue *queue, bool *stale, int64_t *last_run_s,
                                 struct mq_error *err)
{
    struct mq_stats stats = {0};
    enum mq_alone what = MQ_ALONE_NEVER;
    if (queue->db->driver->alone) {
        MQ_TRY(queue->db->driver->alone(queue->db, &what, err));
    }
    if (what != MQ_ALONE_JOINS) {
        MQ_TRY(look_for_worker(queue, &stats, err));
    }
    *stale = stats.due > 0;
    *last_run_s = stats.last_run_s;
    return MQ_OK;
}

enum mq_status mq_queue_stats(struct mq_queue *queue, int64_t exact_up_to, struct mq_stats *out,
                              struct mq_error *err)
{
    *out = (struct mq_stats){0};
    enum mq_status status = read_all(queue, exact_up_to, out, err);
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
    for (size_t i = 0; i < stats->closed_count; i++) {
        free(stats->closed[i].types);
    }
    free(stats->closed);
    stats->closed = NULL;
    stats->closed_count = 0;
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
