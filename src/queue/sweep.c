/* Deletes what nobody needs any more: waiting jobs that have expired or are orphans, and old rows
 * of the history. Adds up old counters.
 *
 * An index finds expired rows, in a time that does not depend on what waits. No index finds
 * orphans, so with an orphan check the sweep walks the table by id: about 1 ms for 1,000 rows. */
#include "queue/claim.h"
#include "queue/event.h"
#include "queue/handle.h"
#include "queue/history.h"
#include "queue/job.h"
#include "queue/queue.h"
#include "queue/sql/columns.h"
#include "queue/sql/transaction.h"

#define HOUR_S 3600
/* When the parts of an hour's counters are added up: few transactions still count in it then. */
#define PARTS_AFTER_S 7200
/* Then the counters of a day's hours are added up, so that sums over all time stay quick. */
#define HOURS_FOR_S (90 * MQ_DAY_S)

/* Reads rows that may be deleted: the next rows by id if orphans are checked, or expired rows. */
static enum mq_status read_rows(struct mq_tx *tx, struct mq_sweep *sweep, struct mq_job_list *rows,
                                struct mq_error *err)
{
    int64_t end = 0;
    struct mq_args expired = MQ_ARGS(mq_int(tx->now_s), mq_int(MQ_ROWS_A_CYCLE));
    struct mq_args range =
        MQ_ARGS(mq_int(sweep->cursor), mq_int(MQ_ROWS_A_CYCLE), mq_int(tx->now_s));
    if (!tx->queue->names.orphan_table[0]) {
        MQ_TRY(mq_jobs_read(tx->queue, MQ_SQL_EXPIRED, expired, rows, err));
        sweep->done = rows->count < MQ_ROWS_A_CYCLE;
        return MQ_OK;
    }
    MQ_TRY(mq_sql_int(tx->queue, MQ_SQL_WALK_END, (struct mq_args){range.values, 2}, &end, err));
    sweep->done = end == 0;
    if (end) {
        MQ_TRY(mq_jobs_read(tx->queue, MQ_SQL_WALK, range, rows, err));
        sweep->cursor = end;
    }
    return MQ_OK;
}

static enum mq_status delete_row(struct mq_tx *tx, const struct mq_job *job, struct mq_dropped *sum,
                                 struct mq_error *err)
{
    bool expired = mq_job_expired(job, tx->now_s);
    bool gone = expired || tx->queue->names.orphan_table[0]; /* why else was it read? */
    if (!expired && tx->queue->dialect->walks_all) {
        MQ_TRY(mq_job_orphaned(tx->queue, job->reference, &gone, err));
    }
    if (!gone) {
        return MQ_OK;
    }
    mq_tx_gone(tx, job, expired);
    return mq_job_drop(tx->queue, job->id, sum, err);
}

static enum mq_status sweep_piece(struct mq_tx *tx, struct mq_sweep *sweep, struct mq_error *err)
{
    struct mq_job_list rows = {0};
    struct mq_dropped sum = {0, 0};
    size_t i = 0;
    int64_t cursor = sweep->cursor;
    enum mq_status status = read_rows(tx, sweep, &rows, err);
    while (status == MQ_OK && i < rows.count && sum.bytes < MQ_DROPPED_BYTES) {
        status = delete_row(tx, &rows.jobs[i++], &sum, err);
    }
    if (i < rows.count) {
        sweep->done = false; /* the next piece reads the rest again */
        sweep->cursor = cursor;
    }
    mq_job_list_clear(&rows);
    return status;
}

/* What there is to delete. */
struct found {
    bool jobs;
    int64_t before_s; /* rows of the history from before then; 0: there are none */
    int64_t counts_s; /* from then on counters are to be added up; 0: there are none */
    int64_t span_s;   /* for as long: an hour, or a day */
};

/* Looks for an hour whose counters have parts, or else for an old day whose hours have their own.
 */
static enum mq_status look_for_counts(struct mq_queue *queue, int64_t now_s, struct found *found,
                                      struct mq_error *err)
{
    struct mq_args past = MQ_ARGS(mq_int(now_s - PARTS_AFTER_S));
    struct mq_args old =
        MQ_ARGS(mq_int((now_s - HOURS_FOR_S) / MQ_DAY_S * MQ_DAY_S), mq_int(MQ_DAY_S));
    found->span_s = HOUR_S;
    if (queue->dialect->shared) {
        MQ_TRY(mq_sql_int(queue, MQ_SQL_COUNT_PARTS, past, &found->counts_s, err));
    }
    if (!found->counts_s) {
        MQ_TRY(mq_sql_int(queue, MQ_SQL_COUNT_HOURS, old, &found->counts_s, err));
        found->counts_s -= found->counts_s % MQ_DAY_S;
        found->span_s = MQ_DAY_S;
    }
    return MQ_OK;
}

/* Looks without the write lock: mostly there is nothing to delete. */
static enum mq_status look(struct mq_queue *queue, struct found *found, struct mq_error *err)
{
    int64_t id = 0, old = 0, now_s = 0, days = 0;
    *found = (struct found){.jobs = true};
    MQ_TRY(mq_queue_now(queue, &now_s, err));
    if (!queue->names.orphan_table[0]) {
        MQ_TRY(mq_sql_int(queue, MQ_SQL_EXPIRED, MQ_ARGS(mq_int(now_s), mq_int(1)), &id, err));
        found->jobs = id != 0;
    }
    MQ_TRY(look_for_counts(queue, now_s, found, err));
    MQ_TRY(mq_history_days(queue, &days, err));
    if (days < 0) {
        return MQ_OK;
    }
    int64_t before_s = days ? now_s - days * MQ_DAY_S : INT64_MAX;
    MQ_TRY(mq_sql_int(queue, MQ_SQL_LOG_OLD, MQ_ARGS(mq_int(before_s)), &old, err));
    found->before_s = old ? before_s : 0;
    return MQ_OK;
}

static enum mq_status purge(struct mq_queue *queue, int64_t before_s, bool *done,
                            struct mq_error *err)
{
    struct mq_args old = MQ_ARGS(mq_int(before_s), mq_int(MQ_ROWS_A_CYCLE));
    MQ_TRY(mq_sql_exec(queue, MQ_SQL_LOG_PURGE, old, err));
    *done = mq_sql_changes(queue) < MQ_ROWS_A_CYCLE;
    return MQ_OK;
}

static enum mq_status merge_counts(struct mq_queue *queue, const struct found *found,
                                   struct mq_error *err)
{
    int64_t from_s = found->counts_s, to_s = from_s + found->span_s;
    struct mq_args marked = MQ_ARGS(mq_int(-from_s), mq_int(-to_s));
    MQ_TRY(mq_sql_exec(queue, MQ_SQL_COUNT_MARK, MQ_ARGS(mq_int(from_s), mq_int(to_s)), err));
    MQ_TRY(mq_sql_exec(queue, MQ_SQL_COUNT_MERGE, marked, err));
    return mq_sql_exec(queue, MQ_SQL_COUNT_MERGED, marked, err);
}

/* A piece of the history goes when the jobs are done. */
static enum mq_status delete_piece(struct mq_tx *tx, const struct found *found,
                                   struct mq_sweep *piece, struct mq_error *err)
{
    piece->done = true;
    if (found->jobs) {
        MQ_TRY(sweep_piece(tx, piece, err));
    }
    if (found->counts_s) {
        MQ_TRY(merge_counts(tx->queue, found, err));
        piece->done = false; /* there may be more */
    }
    return piece->done && found->before_s ? purge(tx->queue, found->before_s, &piece->done, err)
                                          : MQ_OK;
}

enum mq_status mq_queue_sweep(struct mq_queue *queue, struct mq_sweep *sweep,
                              struct mq_events *events, struct mq_error *err)
{
    struct mq_tx tx = {.queue = queue, .events = events};
    struct mq_sweep piece = {.done = true};
    struct found found = {0};
    enum mq_status status = look(queue, &found, err);
    while ((found.jobs || found.before_s || found.counts_s) && mq_tx_next(&tx, &status, err)) {
        piece.cursor = sweep->cursor;
        status = delete_piece(&tx, &found, &piece, err);
        piece.begun_ms = tx.locked_ms;
    }
    if (status == MQ_OK) {
        *sweep = piece;
    }
    return status;
}
