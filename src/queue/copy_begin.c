/* The beginning of a move: what may be moved where, the notes, waiting for what is being sent. */
#include "queue/copy_private.h"

#include <poll.h>
#include <stdio.h>
#include <string.h>

#define GAP 1000000 /* ids, at least, between the source's last and the target's first own */

/* ---- looking ---- */

static enum mq_status count(struct mq_queue *queue, struct mq_copy_range range, int64_t *rows,
                            struct mq_error *err)
{
    return mq_sql_int(queue, MQ_SQL_COPY_COUNT, MQ_ARGS(mq_int(range.from), mq_int(range.to)), rows,
                      err);
}

enum mq_status mq_copy_any(struct mq_queue *queue, struct mq_copy_range range, bool *is,
                           struct mq_error *err)
{
    int64_t id = INT64_MIN;
    struct mq_args args = MQ_ARGS(mq_int(range.from), mq_int(range.to), mq_int(1));
    enum mq_status status = mq_sql_int(queue, MQ_SQL_COPY_SIZES, args, &id, err);
    *is = id != INT64_MIN;
    return status;
}

/* All of the source's ids, that is, those below the target's own. */
struct mq_copy_range mq_copy_all(const struct mq_copy *move)
{
    return (struct mq_copy_range){0, move->from.base - 1};
}

/* Up to an id. */
static enum mq_status check_empty(struct mq_copy *move, int64_t to, struct mq_error *err)
{
    int64_t rows = 0;
    int64_t body = to;
    enum mq_status status = count(move->target, (struct mq_copy_range){INT64_MIN, to}, &rows, err);
    if (status == MQ_OK) {
        status = mq_sql_int(move->target, MQ_SQL_COPY_BODIES, MQ_NO_ARGS, &body, err);
    }
    if (status != MQ_OK || (rows == 0 && body >= to)) {
        return status;
    }
    return mq_error_set(err, MQ_INVALID, "target",
                        "the target has mail of its own already (%lld mails in %s of %s): move "
                        "into an empty queue",
                        (long long)rows, move->target->names.table, move->options->target_name);
}

/* Ids from 1 up to where the target's own begin. */
enum mq_status mq_copy_check_ids(struct mq_copy *move, int64_t base, struct mq_error *err)
{
    bool low = false;
    bool high = false;
    enum mq_status status =
        mq_copy_any(move->source, (struct mq_copy_range){INT64_MIN, 0}, &low, err);
    if (status == MQ_OK) {
        status = mq_copy_any(move->source, (struct mq_copy_range){base - 1, INT64_MAX}, &high, err);
    }
    if (status != MQ_OK || (!low && !high)) {
        return status;
    }
    return low ? mq_error_set(err, MQ_INVALID, "source", "the source has ids below 1")
               : mq_error_set(err, MQ_INVALID, "source",
                              "the source has ids from %lld on, where the target's own begin: let "
                              "its producers store their mail in the target",
                              (long long)base);
}

static enum mq_status unfinished(const struct mq_move_note *note, const char *which,
                                 struct mq_error *err)
{
    return mq_error_set(err, MQ_INVALID, which,
                        "the %s is the target of an unfinished move from %s: finish or abort that "
                        "first",
                        which, note->name);
}

enum mq_status mq_copy_elsewhere(const struct mq_move_note *note, struct mq_error *err)
{
    return mq_error_set(err, MQ_INVALID, "target",
                        "the source is being moved to %s: finish or abort that first", note->name);
}

/* Reads the notes of both, and refuses what does not fit. */
static enum mq_status find_notes(struct mq_copy *move, struct mq_error *err)
{
    struct mq_move_note other;
    bool found = false;
    enum mq_status status = mq_move_find(move->source, MQ_MOVED_TO, &move->to, &move->has_to, err);
    if (status == MQ_OK) {
        status = mq_move_find(move->target, MQ_MOVED_FROM, &move->from, &move->has_from, err);
    }
    if (status == MQ_OK) {
        status = mq_move_find(move->source, MQ_MOVED_FROM, &other, &found, err);
    }
    if (status == MQ_OK && found && !other.done) {
        return unfinished(&other, "source", err);
    }
    if (status == MQ_OK) {
        strcpy(move->seen_to, move->has_to ? move->to.id : "");
        strcpy(move->seen_from, move->has_from ? move->from.id : "");
    }
    bool same = move->has_to && move->has_from && strcmp(move->to.id, move->from.id) == 0;
    if (status == MQ_OK && same) {
        status = mq_move_find(move->target, MQ_MOVED_TO, &other, &found, err);
        if (status == MQ_OK && found) {
            return mq_error_set(err, MQ_INVALID, "target", "the target itself was moved to %s",
                                other.name);
        }
    }
    if (status != MQ_OK || same) {
        return status;
    }
    if (move->has_to && move->to.done) {
        return mq_error_set(err, MQ_INVALID, "source", "the source was moved to %s already",
                            move->to.name);
    }
    if (move->has_to && strcmp(move->to.name, move->options->target_name) != 0) {
        return mq_copy_elsewhere(&move->to, err);
    }
    if (move->has_from && !move->from.done) {
        return unfinished(&move->from, "target", err);
    }
    /* One that was never begun in the target, or that the target knows no more. */
    move->has_to = move->has_from = false;
    return MQ_OK;
}

/* Both are locked at once at the end, which one file cannot be. */
static enum mq_status check_files(const struct mq_copy *move, struct mq_error *err)
{
    struct mq_db *source = move->source->db;
    struct mq_db *target = move->target->db;
    const char *from = source->driver->dialect == MQ_SQLITE ? source->driver->path(source) : NULL;
    const char *to = target->driver->dialect == MQ_SQLITE ? target->driver->path(target) : NULL;
    if (!from || !to || from[0] == ':' || strcmp(from, to) != 0) { /* ":memory:": in tests */
        return MQ_OK;
    }
    return mq_error_set(err, MQ_INVALID, "target",
                        "source and target are the same file: a queue is moved into another "
                        "database");
}

enum mq_status mq_copy_look(struct mq_copy *move, struct mq_error *err)
{
    int64_t base = INT64_MAX;
    enum mq_status status = check_files(move, err);
    if (status == MQ_OK) {
        status = mq_copy_prepare(move->source, err);
    }
    if (status == MQ_OK) {
        status = mq_copy_prepare(move->target, err);
    }
    if (status == MQ_OK) {
        status = find_notes(move, err);
    }
    if (status == MQ_OK && !move->has_from) {
        status = check_empty(move, INT64_MAX, err);
    } else {
        base = move->from.base;
    }
    if (status == MQ_OK) {
        status = mq_copy_check_ids(move, base, err);
    }
    if (status == MQ_OK) {
        int64_t from = move->has_from && move->from.done ? move->from.cursor : 0;
        status = count(move->source, (struct mq_copy_range){from, INT64_MAX}, &move->total, err);
    }
    return status == MQ_OK ? mq_copy_find_ignored(move->source, move->report, err) : status;
}

/* ---- beginning ---- */

/* The id that a mail would get now. */
static enum mq_status next_id(struct mq_queue *queue, int64_t *id, struct mq_error *err)
{
    struct mq_args args =
        MQ_ARGS(mq_null(), mq_cstr("move"), mq_int(0), mq_null(), mq_int(0), mq_null(), mq_int(0),
                mq_cstr(""), mq_null(), mq_null(), mq_null());
    enum mq_status status = mq_copy_begin(queue, err);
    if (status != MQ_OK) {
        return status;
    }
    *id = 0;
    if (queue->spelling->returning[0]) {
        status = mq_sql_int(queue, MQ_SQL_INSERT_JOB, args, id, err);
    } else {
        status = mq_sql_exec(queue, MQ_SQL_INSERT_JOB, args, err);
        *id = status == MQ_OK ? queue->db->driver->last_id(queue->db) : 0;
    }
    queue->db->driver->rollback(queue->db);
    if (status == MQ_OK && *id <= 0) {
        status = mq_error_set(err, MQ_DATABASE, "database",
                              "the database did not say which id comes next");
    }
    return status;
}

/* Makes ids begin there: by a row with the one before, which is deleted, where the database has no
 * word for it. */
static enum mq_status ids_from(struct mq_queue *queue, int64_t base, struct mq_error *err)
{
    int64_t set = 0;
    size_t columns;
    const struct mq_column *column = mq_schema_columns(&columns);
    struct mq_value values[32];
    if (mq_sql_has(queue, MQ_SQL_COPY_IDS_FROM)) {
        return mq_sql_int(queue, MQ_SQL_COPY_IDS_FROM, MQ_ARGS(mq_int(base)), &set, err);
    }
    for (size_t i = 0; i < columns; i++) {
        bool needed = strstr(column[i].declaration, "NOT NULL") != NULL;
        bool text = column[i].kind == MQ_COLUMN_TEXT;
        values[i] = !needed ? mq_null() : text ? mq_cstr("") : mq_int(0);
        if (column[i].kind == MQ_COLUMN_STATUS) {
            values[i] = mq_cstr(mq_state_name(MQ_PARKED));
        } else if (column[i].kind == MQ_COLUMN_ID) {
            values[i] = mq_int(base - 1);
        }
    }
    enum mq_status status =
        mq_sql_exec(queue, MQ_SQL_COPY_INSERT, (struct mq_args){values, (int)columns}, err);
    return status == MQ_OK ? mq_sql_exec(queue, MQ_SQL_DELETE_JOB, MQ_ARGS(mq_int(base - 1)), err)
                           : status;
}

/* As mq_copy_begin(), and one at a time: there may be no note yet that could be held. */
static enum mq_status begin_alone(struct mq_queue *queue, struct mq_error *err)
{
    int64_t got = 1;
    enum mq_status status = mq_copy_begin(queue, err);
    if (status == MQ_OK && mq_sql_has(queue, MQ_SQL_LOCK_SCHEMA)) {
        status = mq_sql_int(queue, MQ_SQL_LOCK_SCHEMA, MQ_NO_ARGS, &got, err);
        if (status == MQ_OK && !got) {
            status = mq_error_set(err, MQ_BUSY, "database",
                                  "another process has been making tables or beginning a move for "
                                  "a minute: try again when it is done");
        }
        status = status == MQ_OK ? MQ_OK : mq_copy_end(queue, status, err);
    }
    return status;
}

static enum mq_status end_alone(struct mq_queue *queue, enum mq_status status, struct mq_error *err)
{
    status = mq_copy_end(queue, status, err);
    if (mq_sql_has(queue, MQ_SQL_UNLOCK_SCHEMA)) {
        mq_sql_exec(queue, MQ_SQL_UNLOCK_SCHEMA, MQ_NO_ARGS, NULL);
    }
    return status;
}

/* Writes a note where there is still the one that was `seen`. */
static enum mq_status replace_note(struct mq_queue *queue, enum mq_move_side side,
                                   const struct mq_move_note *note, const char *seen,
                                   struct mq_error *err)
{
    struct mq_move_note now;
    bool found = false;
    enum mq_status status = mq_move_hold(queue, side, &now, &found, err);
    if (status == MQ_OK && strcmp(found ? now.id : "", seen) != 0) {
        return mq_copy_taken_over(err);
    }
    return status == MQ_OK ? mq_move_put(queue, side, note, err) : status;
}

static enum mq_status note_source(struct mq_copy *move, struct mq_error *err)
{
    struct mq_move_note other;
    bool found = false;
    move->to = (struct mq_move_note){0};
    mq_random_hex(move->to.id, MQ_TOKEN_HEX / 2);
    snprintf(move->to.name, sizeof(move->to.name), "%s", move->options->target_name);
    enum mq_status status = begin_alone(move->source, err);
    if (status == MQ_OK) {
        status = replace_note(move->source, MQ_MOVED_TO, &move->to, move->seen_to, err);
        status = end_alone(move->source, status, err);
    }
    if (status == MQ_OK) {
        status = mq_move_find(move->target, MQ_MOVED_TO, &other, &found, err);
    }
    if (status == MQ_OK && found && strcmp(other.id, move->to.id) == 0) {
        mq_copy_put_to(move, NULL, NULL);
        status = mq_error_set(err, MQ_INVALID, "target",
                              "source and target are the same table of the same database");
    }
    return status;
}

static enum mq_status freeze_target(struct mq_copy *move, struct mq_error *err)
{
    return mq_sql_has(move->target, MQ_SQL_COPY_FREEZE)
               ? mq_sql_exec(move->target, MQ_SQL_COPY_FREEZE, MQ_NO_ARGS, err)
               : MQ_OK;
}

/* Where inserts cannot be kept away, one may have got an id below the target's own just before
 * those were set, which the freeze waits for. */
static enum mq_status check_target(struct mq_copy *move, struct mq_error *err)
{
    enum mq_status status = mq_copy_begin(move->target, err);
    if (status != MQ_OK) {
        return status;
    }
    status = freeze_target(move, err);
    if (status == MQ_OK) {
        status = check_empty(move, move->from.base - 1, err);
    }
    return mq_copy_end(move->target, status, err);
}

static enum mq_status note_target(struct mq_copy *move, struct mq_error *err)
{
    int64_t source_next = 0;
    int64_t target_next = 0;
    enum mq_status status = next_id(move->source, &source_next, err);
    if (status == MQ_OK) {
        status = next_id(move->target, &target_next, err);
    }
    if (status != MQ_OK) {
        return status;
    }
    int64_t next = source_next > target_next ? source_next : target_next;
    move->from = (struct mq_move_note){.base = (next + next / 10 + GAP) / GAP * GAP + GAP};
    memcpy(move->from.id, move->to.id, sizeof(move->from.id));
    mq_random_hex(move->from.run, sizeof(move->from.run) / 2);
    snprintf(move->from.name, sizeof(move->from.name), "%s", move->options->source_name);
    status = begin_alone(move->target, err);
    if (status != MQ_OK) {
        return status;
    }
    status = freeze_target(move, err);
    if (status == MQ_OK) {
        status = check_empty(move, INT64_MAX, err);
    }
    if (status == MQ_OK) {
        status = replace_note(move->target, MQ_MOVED_FROM, &move->from, move->seen_from, err);
    }
    if (status == MQ_OK) {
        status = mq_move_put(move->target, MQ_MOVED_TO, NULL, err);
    }
    if (status == MQ_OK) {
        status = ids_from(move->target, move->from.base, err);
    }
    return end_alone(move->target, status, err);
}

enum mq_status mq_copy_take_over(struct mq_copy *move, struct mq_error *err)
{
    struct mq_move_note now;
    bool found = false;
    enum mq_status status = mq_copy_begin(move->target, err);
    if (status != MQ_OK) {
        return status;
    }
    status = mq_move_hold(move->target, MQ_MOVED_FROM, &now, &found, err);
    if (status == MQ_OK &&
        (!found || strcmp(now.id, move->from.id) != 0 || now.done != move->from.done)) {
        status = mq_copy_taken_over(err);
    }
    if (status == MQ_OK) {
        mq_random_hex(now.run, sizeof(now.run) / 2);
        status = mq_move_put(move->target, MQ_MOVED_FROM, &now, err);
    }
    status = mq_copy_end(move->target, status, err);
    if (status == MQ_OK) {
        move->from = now;
    }
    return status;
}

enum mq_status mq_copy_start(struct mq_copy *move, struct mq_error *err)
{
    enum mq_status status = MQ_OK;
    if (move->has_from) {
        status = mq_copy_take_over(move, err);
    } else {
        status = note_source(move, err);
        if (status != MQ_OK) {
            return status;
        }
        status = note_target(move, err);
        if (status == MQ_INVALID) {
            mq_copy_put_to(move, NULL, NULL);
        }
    }
    if (status != MQ_OK || move->from.done || move->from.cursor > 0) {
        return status;
    }
    status = check_target(move, err);
    if (status == MQ_INVALID && mq_copy_put_from(move, NULL, NULL) == MQ_OK) {
        mq_copy_put_to(move, NULL, NULL);
    }
    return status;
}

/* ---- waiting for what is being sent ---- */

enum mq_status mq_copy_busy(struct mq_copy *move, int64_t sending, struct mq_error *err)
{
    const char *what = sending ? "mails are still being sent" : "transactions are still open";
    return mq_error_set(err, MQ_BUSY, "source",
                        "%s after %lld s. The source stays paused: repeat the command to go on, "
                        "or give the move up with --abort",
                        what, (long long)move->options->timeout_s);
}

static enum mq_status look(struct mq_copy *move, int64_t since_s, int64_t *sending, int64_t *older,
                           struct mq_error *err)
{
    int64_t recovered = 0;
    enum mq_status status =
        mq_queue_recover(move->source, 0, move->options->evidence, &recovered, err);
    if (status == MQ_OK) {
        status = mq_sql_int(move->source, MQ_SQL_STATS_SENDING, MQ_NO_ARGS, sending, err);
    }
    if (status == MQ_OK && mq_sql_has(move->source, MQ_SQL_COPY_OLDER)) {
        status = mq_sql_int(move->source, MQ_SQL_COPY_OLDER, MQ_ARGS(mq_int(since_s)), older, err);
    }
    return status;
}

/* Until all that was claimed before the pause was settled or recovered, and nobody is left who may
 * have read the config before. */
enum mq_status mq_copy_drain(struct mq_copy *move, struct mq_error *err)
{
    int64_t start_s = 0;
    int64_t now_s = 0;
    enum mq_status status = mq_queue_now(move->source, &start_s, err);
    while (status == MQ_OK) {
        int64_t sending = 0;
        int64_t older = 0;
        status = look(move, start_s + 1, &sending, &older, err);
        if (status == MQ_OK && !sending && !older) {
            return MQ_OK;
        }
        if (status == MQ_OK) {
            status = mq_queue_now(move->source, &now_s, err);
        }
        if (status == MQ_OK && now_s - start_s >= move->options->timeout_s) {
            return mq_copy_busy(move, sending, err);
        }
        if (status == MQ_OK) {
            status = mq_copy_tell(move, MQ_COPY_WAITING, 0, sending, err);
        }
        poll(NULL, 0, move->options->look_ms);
    }
    return status;
}
