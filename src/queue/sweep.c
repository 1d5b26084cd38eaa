/* Deletes waiting jobs that nobody needs any more: expired ones, and orphans.
 *
 * An index finds expired rows, in a time that does not depend on what waits. No index finds
 * orphans, so with an orphan check the sweep walks the table by id: about 1 ms for 1,000 rows. */
#include "queue/claim.h"
#include "queue/event.h"
#include "queue/handle.h"
#include "queue/job.h"
#include "queue/queue.h"
#include "queue/sql/columns.h"
#include "queue/sql/transaction.h"

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

/* Checks without the write lock whether there may be rows to delete: mostly there are none. */
static enum mq_status look(struct mq_queue *queue, bool *some, struct mq_error *err)
{
    int64_t id = 0;
    int64_t now_s = 0;
    *some = true;
    if (queue->names.orphan_table[0]) {
        return MQ_OK;
    }
    MQ_TRY(mq_queue_now(queue, &now_s, err));
    MQ_TRY(mq_sql_int(queue, MQ_SQL_EXPIRED, MQ_ARGS(mq_int(now_s), mq_int(1)), &id, err));
    *some = id != 0;
    return MQ_OK;
}

enum mq_status mq_queue_sweep(struct mq_queue *queue, struct mq_sweep *sweep,
                              struct mq_events *events, struct mq_error *err)
{
    struct mq_tx tx = {.queue = queue, .events = events};
    struct mq_sweep piece = {.done = true};
    bool some = false;
    enum mq_status status = look(queue, &some, err);
    while (some && mq_tx_next(&tx, &status, err)) {
        piece.cursor = sweep->cursor;
        status = sweep_piece(&tx, &piece, err);
        piece.begun_ms = tx.locked_ms;
    }
    if (status == MQ_OK) {
        *sweep = piece;
    }
    return status;
}
