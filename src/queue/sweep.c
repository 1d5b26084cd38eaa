/* Deletes waiting jobs that nobody waits for any more: expired, or what they refer to is gone.
 *
 * Expired rows are found by their index, in time that does not depend on what waits. Orphans are
 * not, so with an orphan check the sweep walks the table by id: about 1 ms for 1,000 rows. */
#include <stdlib.h>
#include <string.h>

#include "queue/handle.h"
#include "queue/manage.h"
#include "queue/sql/columns.h"
#include "queue/sql/transaction.h"

/* Rows to be deleted, read before the first of them is. */
struct doomed {
    struct mq_job jobs[MQ_ROWS_A_CYCLE];
    size_t count;
};

static enum mq_status read_doomed(struct mq_queue *queue, enum mq_sql slot, struct mq_args args,
                                  struct doomed *doomed, struct mq_error *err)
{
    bool row = true;
    bool readable;
    enum mq_status status = mq_sql_query(queue, slot, args, err);
    while (status == MQ_OK) {
        status = mq_sql_next(queue, &row, err);
        if (status != MQ_OK || !row) {
            break;
        }
        if (doomed->count == MQ_ROWS_A_CYCLE) {
            mq_sql_finish(queue);
            break;
        }
        status = mq_job_read(queue, &doomed->jobs[doomed->count++], &readable, err);
        if (status != MQ_OK) {
            mq_sql_finish(queue);
        }
    }
    return status;
}

/* With an orphan check: the next rows by id. *end is the last id looked at, 0 at the table's end.
 */
static enum mq_status find_by_id(struct mq_tx *tx, int64_t cursor, int64_t *end,
                                 struct doomed *doomed, struct mq_error *err)
{
    *end = 0;
    struct mq_args from = MQ_ARGS(mq_int(cursor), mq_int(MQ_ROWS_A_CYCLE));
    enum mq_status status = mq_sql_int(tx->queue, MQ_SQL_WALK_END, from, end, err);
    if (status != MQ_OK || *end == 0) {
        return status;
    }
    struct mq_args range = MQ_ARGS(mq_int(cursor), mq_int(MQ_ROWS_A_CYCLE), mq_int(tx->now_s));
    return read_doomed(tx->queue, MQ_SQL_WALK, range, doomed, err);
}

/* *all: none of them was left for the next transaction. */
static enum mq_status delete_doomed(struct mq_tx *tx, struct doomed *doomed, bool *all,
                                    struct mq_error *err)
{
    struct mq_dropped sum = {0, 0};
    enum mq_status status = MQ_OK;
    *all = true;
    for (size_t i = 0; i < doomed->count && status == MQ_OK; i++) {
        if (sum.bytes >= MQ_DROPPED_BYTES) {
            *all = false;
            break;
        }
        struct mq_job *job = &doomed->jobs[i];
        bool expired = job->expires_at && job->expires_at <= tx->now_s;
        bool orphaned = true;
        if (!expired && tx->queue->dialect->walks_all) {
            status = mq_job_orphaned(tx->queue, job->reference, &orphaned, err);
        }
        if (status != MQ_OK || !orphaned) {
            continue;
        }
        mq_tx_happened(tx, job, expired ? MQ_EVENT_EXPIRED : MQ_EVENT_ORPHAN);
        status = mq_job_drop(tx->queue, job->id, &sum, err);
    }
    return status;
}

static enum mq_status sweep_locked(struct mq_tx *tx, int64_t *cursor, bool *done,
                                   struct doomed *doomed, struct mq_error *err)
{
    int64_t end = 0;
    int64_t from = *cursor;
    bool all = true;
    enum mq_status status;
    if (tx->queue->names.orphan_table[0]) {
        status = find_by_id(tx, *cursor, &end, doomed, err);
        *done = end == 0;
        *cursor = end ? end : *cursor;
    } else {
        struct mq_args args = MQ_ARGS(mq_int(tx->now_s), mq_int(MQ_ROWS_A_CYCLE));
        status = read_doomed(tx->queue, MQ_SQL_EXPIRED, args, doomed, err);
        *done = doomed->count < MQ_ROWS_A_CYCLE;
    }
    if (status == MQ_OK) {
        status = delete_doomed(tx, doomed, &all, err);
    }
    if (!all) {
        *done = false;
        *cursor = from;
    }
    return status;
}

/* Whether there is anything to do, asked without the lock: mostly there is not. */
static enum mq_status nothing_expired(struct mq_queue *queue, bool *nothing, struct mq_error *err)
{
    int64_t id = 0;
    *nothing = false;
    if (queue->names.orphan_table[0]) {
        return MQ_OK;
    }
    int64_t now_s = 0;
    enum mq_status status = mq_queue_now(queue, &now_s, err);
    if (status == MQ_OK) {
        status = mq_sql_int(queue, MQ_SQL_EXPIRED, MQ_ARGS(mq_int(now_s), mq_int(1)), &id, err);
    }
    *nothing = status == MQ_OK && id == 0;
    return status;
}

/* A piece of the sweep. */
struct piece {
    struct mq_sweep *sweep;
    struct doomed *doomed;
    int64_t at; /* the cursor behind it */
    bool end;
};

static void forget(struct doomed *doomed)
{
    while (doomed->count > 0) {
        mq_job_clear(&doomed->jobs[--doomed->count]);
    }
}

static enum mq_status sweep_piece(struct mq_tx *tx, void *context, struct mq_error *err)
{
    struct piece *piece = context;
    struct mq_queue *queue = tx->queue;
    forget(piece->doomed);
    piece->at = piece->sweep->cursor;
    piece->sweep->begun_ms = queue->host.boot_ms(queue->host.context);
    return sweep_locked(tx, &piece->at, &piece->end, piece->doomed, err);
}

enum mq_status mq_queue_sweep(struct mq_queue *queue, struct mq_sweep *sweep,
                              struct mq_events *events, struct mq_error *err)
{
    struct piece piece = {.sweep = sweep};
    struct mq_tx_work work = {sweep_piece, &piece, events};
    bool nothing = false;
    enum mq_status status = nothing_expired(queue, &nothing, err);
    if (status != MQ_OK || nothing) {
        sweep->done = sweep->done || status == MQ_OK;
        return status;
    }
    piece.doomed = calloc(1, sizeof(*piece.doomed));
    if (!piece.doomed) {
        return mq_error_nomem(err);
    }
    status = mq_tx_run(queue, &work, err);
    forget(piece.doomed);
    free(piece.doomed);
    if (status == MQ_OK) {
        sweep->cursor = piece.at;
        sweep->done = piece.end;
    }
    return status;
}
