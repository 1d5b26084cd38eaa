/* The ledger of a window, its bucket, the rows that hold one amount alone, and the names of all. */
#include <stdio.h>
#include <string.h>

#include "core/ascii.h"
#include "core/hash.h"
#include "queue/enqueue.h"
#include "queue/handle.h"
#include "queue/sql/statements.h"
#include "queue/windows/internal.h"

#define STEPS   1000 /* a ledger's times are rounded to this part of the window */
#define PURGE_S 3600 /* as long a ledger keeps what has left its window */

int64_t mq_window_span_s(const struct mq_limit *limit)
{
    return limit->length_s + 1;
}

static int64_t step_s(const struct mq_limit *limit)
{
    return limit->length_s > STEPS ? limit->length_s / STEPS : 1;
}

/* Rows that leave the window after this time were written by a clock that was ahead, or are read by
 * one that is behind. */
static int64_t horizon_s(const struct mq_tx *tx, const struct mq_limit *limit)
{
    return tx->now_s + 2 * mq_window_span_s(limit) + step_s(limit);
}

static enum mq_status ledger_add(struct mq_tx *tx, const struct mq_window *w, int64_t leaves_s,
                                 int64_t n, struct mq_error *err)
{
    struct mq_args old = MQ_ARGS(mq_cstr(w->scope), mq_int(tx->now_s - PURGE_S));
    struct mq_args row = MQ_ARGS(mq_cstr(w->scope), mq_int(leaves_s), mq_int(n));
    MQ_TRY(mq_sql_exec(tx->queue, MQ_SQL_WINDOW_DROP, old, err));
    return mq_sql_exec(tx->queue, MQ_SQL_WINDOW_ADD, row, err);
}

enum mq_status mq_ledger_write(struct mq_tx *tx, struct mq_window *w, struct mq_error *err)
{
    int64_t handed = w->handed;
    w->handed = 0;
    return handed ? ledger_add(tx, w, w->leaves_s, handed, err) : MQ_OK;
}

enum mq_status mq_ledger_hand(struct mq_tx *tx, struct mq_window *w, int64_t n, int64_t at_s,
                              struct mq_error *err)
{
    int64_t step = step_s(w->limit);
    int64_t most_s = tx->now_s + mq_window_span_s(w->limit);
    at_s = at_s <= 0 ? tx->now_s : at_s < most_s ? at_s : most_s;
    int64_t leaves_s = (at_s + mq_window_span_s(w->limit) + step - 1) / step * step;
    if (w->handed && w->leaves_s != leaves_s) {
        MQ_TRY(mq_ledger_write(tx, w, err));
    }
    w->leaves_s = leaves_s;
    w->handed += n;
    return MQ_OK;
}

/* Reads what counts of the ledger. Rows of a clock that was ahead, or is behind now, count as of
 * now and are marked; they count once more when their time has come. */
enum mq_status mq_ledger_read(struct mq_tx *tx, struct mq_window *w, struct mq_error *err)
{
    int64_t ahead = 0;
    int64_t beyond_s = horizon_s(tx, w->limit);
    enum mq_status status;
    MQ_TRY(mq_ledger_write(tx, w, err));
    struct mq_args args = MQ_ARGS(mq_cstr(w->scope), mq_int(tx->now_s), mq_int(beyond_s));
    if (mq_sql_row(tx->queue, MQ_SQL_WINDOW_SUM, args, &status, err)) {
        w->spent = mq_sql_column_int(tx->queue, 0);
        ahead = mq_sql_column_int(tx->queue, 1);
        mq_sql_finish(tx->queue);
    }
    w->spent += ahead;
    if (status != MQ_OK || ahead == 0 || tx->only_read) {
        return status;
    }
    struct mq_args marks = MQ_ARGS(mq_cstr(w->scope), mq_int(beyond_s));
    MQ_TRY(mq_sql_exec(tx->queue, MQ_SQL_WINDOW_MARK, marks, err));
    return ledger_add(tx, w, tx->now_s + mq_window_span_s(w->limit), ahead, err);
}

enum mq_status mq_ledger_frees(struct mq_tx *tx, const struct mq_window *w, int64_t excess,
                               int64_t *at_s, struct mq_error *err)
{
    struct mq_args args = MQ_ARGS(mq_cstr(w->scope), mq_int(tx->now_s));
    enum mq_status status = mq_sql_query(tx->queue, MQ_SQL_WINDOW_ROWS, args, err);
    while (excess > 0 && mq_sql_next(tx->queue, &status, err)) {
        *at_s = mq_sql_column_int(tx->queue, 0);
        excess -= mq_sql_column_int(tx->queue, 1);
    }
    mq_sql_finish(tx->queue);
    return status;
}

/* ---- rows ---- */

enum mq_status mq_window_get(struct mq_tx *tx, const char *scope, int64_t *at_s, int64_t *n,
                             struct mq_error *err)
{
    struct mq_args args = MQ_ARGS(mq_cstr(scope), mq_int(0));
    enum mq_status status;
    if (mq_sql_row(tx->queue, MQ_SQL_WINDOW_ROWS, args, &status, err)) {
        *at_s = mq_sql_column_int(tx->queue, 0);
        *n = mq_sql_column_int(tx->queue, 1);
        mq_sql_finish(tx->queue);
    }
    return status;
}

enum mq_status mq_window_put(struct mq_tx *tx, const char *scope, int64_t at_s, int64_t n,
                             struct mq_error *err)
{
    struct mq_args all = MQ_ARGS(mq_cstr(scope), mq_int(INT64_MAX));
    MQ_TRY(mq_sql_exec(tx->queue, MQ_SQL_WINDOW_DROP, all, err));
    struct mq_args row = MQ_ARGS(mq_cstr(scope), mq_int(at_s), mq_int(n));
    return mq_sql_exec(tx->queue, MQ_SQL_WINDOW_ADD, row, err);
}

/* ---- the bucket ---- */

static void bucket_name(const struct mq_window *w, char out[MQ_REFERENCE_MAX + 1])
{
    snprintf(out, MQ_REFERENCE_MAX + 1, "bucket %s", w->scope);
}

enum mq_status mq_bucket_read(struct mq_tx *tx, struct mq_window *w, struct mq_error *err)
{
    const struct mq_limit *limit = w->limit;
    struct mq_bucket *bucket = &w->bucket;
    char name[MQ_REFERENCE_MAX + 1];
    bucket_name(w, name);
    *bucket = (struct mq_bucket){
        .limit = limit->n, .length_s = limit->length_s, .cap = mq_bucket_default_cap(limit->n)};
    if (tx->settings.burst) {
        bucket->cap = tx->settings.burst < limit->n ? tx->settings.burst : limit->n;
    }
    bucket->units = bucket->cap * limit->length_s;
    bucket->last_refill_s = tx->now_s;
    MQ_TRY(mq_window_get(tx, name, &bucket->last_refill_s, &bucket->units, err));
    mq_bucket_refill(bucket, tx->now_s);
    mq_bucket_give(bucket, w->given);
    return MQ_OK;
}

enum mq_status mq_bucket_write(struct mq_tx *tx, const struct mq_window *w, struct mq_error *err)
{
    char name[MQ_REFERENCE_MAX + 1];
    bucket_name(w, name);
    return mq_window_put(tx, name, w->bucket.last_refill_s, w->bucket.units, err);
}

/* ---- names ---- */

char *mq_window_name(const struct mq_limit *limit, struct mq_str who)
{
    static const char *const words[] = {"", " relay ", " sender ", " domain ", " to "};
    struct mq_buffer name = {0};
    if (limit->slow) { /* its length changes */
        mq_buffer_cstr(&name, "slow ");
    } else {
        mq_buffer_printf(&name, "%lld ", (long long)limit->length_s);
    }
    mq_buffer_printf(&name, "%s%s", limit->mails ? "mails" : "recipients", words[limit->scope]);
    for (size_t i = 0; i < who.len; i++) {
        mq_buffer_char(&name, mq_ascii_lower(who.data[i]));
    }
    if (limit->only.len) {
        mq_buffer_printf(&name, " (%.*s)", (int)limit->only.len, limit->only.data);
    }
    char *text = mq_buffer_take(&name);
    mq_buffer_clear(&name);
    size_t most = MQ_REFERENCE_MAX - 10; /* line.c and the bucket write words before it */
    if (text && strlen(text) > most) {
        uint64_t hash = mq_hash(MQ_HASH_BEGIN, mq_str_of(text));
        size_t cut = mq_utf8_cut(mq_str_of(text), most - 17); /* databases take whole characters */
        snprintf(text + cut, 18, "#%016llx", (unsigned long long)hash);
    }
    return text;
}
