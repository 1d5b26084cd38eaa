/* A move from one database to another. */
#include "queue/copy_private.h"

#include <string.h>

const char *mq_copy_phase_name(enum mq_copy_phase phase)
{
    static const char *const names[] = {"waiting", "copying", "verifying", "deleting"};
    return names[phase];
}

void mq_copy_report_init(struct mq_copy_report *report)
{
    memset(report, 0, sizeof(*report));
}

void mq_copy_report_clear(struct mq_copy_report *report)
{
    mq_strings_clear(&report->ignored);
    mq_strings_clear(&report->changed);
    mq_strings_clear(&report->kept);
}

/* ---- the end ---- */

static enum mq_status copy_rest(struct mq_copy *move, struct mq_error *err)
{
    enum mq_status status = mq_copy_begin(move->target, err);
    if (status != MQ_OK) {
        return status;
    }
    status = mq_copy_check_from(move, err);
    if (status == MQ_OK) {
        status = mq_copy_settings(move->source, move->target, move->report, err);
    }
    if (status == MQ_OK) {
        status = mq_copy_ledger(move->source, move->target, err);
    }
    return mq_copy_end(move->target, status, err);
}

/* First the source is told that it is over, then the target: killed in between, none sends. */
static enum mq_status finish(struct mq_copy *move, struct mq_error *err)
{
    enum mq_status status = mq_copy_know_target(move, err);
    if (status == MQ_OK) {
        status = mq_copy_lock_source(move, err);
    }
    if (status != MQ_OK) {
        return status;
    }
    status = mq_copy_check_to(move, err);
    if (status == MQ_OK) {
        status = mq_copy_compare_locked(move, err);
    }
    if (status == MQ_OK) {
        status = copy_rest(move, err);
    }
    move->to.done = true;
    if (status == MQ_OK) {
        status = mq_move_put(move->source, MQ_MOVED_TO, &move->to, err);
    }
    status = mq_copy_unlock_source(move, status, err);
    if (status == MQ_OK) {
        struct mq_move_note done = move->from;
        done.done = true;
        done.cursor = move->last > done.cursor ? move->last : done.cursor;
        status = mq_copy_put_from(move, &done, err);
        move->from = status == MQ_OK ? done : move->from;
    }
    for (int i = 0; i < MQ_STATE_COUNT && status == MQ_OK; i++) {
        move->report->mails += move->report->counts[i];
    }
    return status;
}

/* What came after the end. Up to an id below which everything is committed, since the cursor never
 * goes back. */
static enum mq_status copy_late(struct mq_copy *move, struct mq_error *err)
{
    enum mq_status status = mq_copy_lock_source(move, err);
    if (status != MQ_OK) {
        return status;
    }
    status = mq_copy_check_to(move, err);
    if (status == MQ_OK) {
        status = mq_copy_check_ids(move, move->from.base, err);
    }
    status = mq_copy_unlock_source(move, status, err);
    if (status == MQ_OK) {
        status = mq_copy_up_to(move, move->last, err);
    }
    move->report->mails = move->report->copied;
    return status;
}

static enum mq_status remove_piece(struct mq_copy *move, const struct mq_copy_hashes *rows,
                                   struct mq_error *err)
{
    enum mq_status status = mq_copy_begin(move->source, err);
    if (status != MQ_OK) {
        return status;
    }
    status = mq_copy_check_to(move, err);
    for (size_t i = 0; i < rows->count && status == MQ_OK; i++) {
        status = mq_job_delete(move->source, rows->items[i].id, err);
    }
    return mq_copy_end(move->source, status, err);
}

static enum mq_status remove_copied(struct mq_copy *move, struct mq_error *err)
{
    struct mq_copy_hashes rows = {0};
    struct mq_copy_range range = {0, move->from.cursor};
    enum mq_status status = MQ_OK;
    while (status == MQ_OK && range.from < move->from.cursor) {
        range.to = move->from.cursor;
        status = mq_copy_piece(move->source, range, &range.to, err);
        if (status == MQ_OK) {
            status = mq_copy_hash_rows(move->source, range, false, &rows, err);
        }
        if (status == MQ_OK) {
            status = remove_piece(move, &rows, err);
        }
        if (status == MQ_OK) {
            range.from = range.to;
            move->report->removed += (int64_t)rows.count;
            status = mq_copy_tell(move, MQ_COPY_DELETING, move->report->removed, move->total, err);
        }
    }
    mq_copy_hashes_clear(&rows);
    return status;
}

/* ---- all of it ---- */

enum mq_status mq_queue_move(struct mq_queue *source, struct mq_queue *target,
                             const struct mq_copy_options *options, struct mq_copy_report *report,
                             struct mq_error *err)
{
    struct mq_copy move = {.source = source,
                           .target = target,
                           .options = options,
                           .report = report,
                           .summed = INT64_MAX};
    enum mq_status status = mq_copy_look(&move, err);
    report->late = move.has_from && move.from.done;
    if (status != MQ_OK || options->dry_run) {
        report->mails = move.total;
        return status;
    }
    status = mq_copy_start(&move, err);
    if (status == MQ_OK && report->late) {
        status = copy_late(&move, err);
    } else if (status == MQ_OK) {
        status = mq_copy_drain(&move, err);
        if (status == MQ_OK) {
            status = mq_copy_up_to(&move, move.from.base - 1, err);
        }
        if (status == MQ_OK) {
            status = mq_copy_compare(&move, true, err);
        }
        if (status == MQ_OK) { /* little is left to do when enqueues must wait */
            status = mq_copy_up_to(&move, move.from.base - 1, err);
        }
        if (status == MQ_OK) {
            status = finish(&move, err);
        }
    }
    mq_copy_hashes_clear(&move.known);
    return status == MQ_OK && options->remove ? remove_copied(&move, err) : status;
}

static enum mq_status empty_piece(struct mq_copy *move, const struct mq_copy_hashes *rows,
                                  struct mq_error *err)
{
    enum mq_status status = mq_copy_begin(move->target, err);
    if (status != MQ_OK) {
        return status;
    }
    status = mq_copy_check_from(move, err);
    for (size_t i = 0; i < rows->count && status == MQ_OK; i++) {
        status = mq_job_delete(move->target, rows->items[i].id, err);
    }
    return mq_copy_end(move->target, status, err);
}

/* Of what this move wrote. */
static enum mq_status empty_target(struct mq_copy *move, struct mq_error *err)
{
    struct mq_copy_hashes rows = {0};
    const int64_t limit = move->from.cursor;
    struct mq_copy_range range = {0, limit};
    enum mq_status status = MQ_OK;
    while (status == MQ_OK && range.from < limit) {
        range.to = limit;
        status = mq_copy_piece(move->target, range, &range.to, err);
        if (status == MQ_OK) {
            status = mq_copy_hash_rows(move->target, range, false, &rows, err);
        }
        if (status == MQ_OK) {
            status = empty_piece(move, &rows, err);
        }
        range.from = range.to;
    }
    mq_copy_hashes_clear(&rows);
    return status;
}

enum mq_status mq_queue_move_abort(struct mq_queue *source, struct mq_queue *target,
                                   const char *target_name, struct mq_error *err)
{
    struct mq_copy move = {.source = source, .target = target};
    enum mq_status status = mq_copy_prepare(target, err);
    if (status == MQ_OK) {
        status = mq_move_find(source, MQ_MOVED_TO, &move.to, &move.has_to, err);
    }
    if (status == MQ_OK) {
        status = mq_move_find(target, MQ_MOVED_FROM, &move.from, &move.has_from, err);
    }
    if (status != MQ_OK) {
        return status;
    }
    bool same = move.has_to && move.has_from && strcmp(move.to.id, move.from.id) == 0;
    if (!move.has_to || (move.to.done && !same)) {
        return mq_error_set(err, MQ_INVALID, "source", "there is no unfinished move to give up");
    }
    if (same && move.from.done) {
        return mq_error_set(err, MQ_INVALID, "source",
                            "the move is over, and the target sends: to go back, move the target "
                            "into an empty queue");
    }
    if (!same && strcmp(move.to.name, target_name) != 0) {
        return mq_copy_elsewhere(&move.to, err);
    }
    if (same) {
        status = mq_copy_take_over(&move, err);
        if (status == MQ_OK) {
            status = empty_target(&move, err);
        }
        if (status == MQ_OK) {
            status = mq_copy_put_from(&move, NULL, err);
        }
    }
    return status == MQ_OK ? mq_copy_put_to(&move, NULL, err) : status;
}
