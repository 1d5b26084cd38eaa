/* The steps of a move: transactions, copying and comparing ranges of ids. */
#include "queue/copy_private.h"

#include <poll.h>
#include <string.h>

#define STORE_MS 200 /* in which an INSERT that was given its id has stored its row */

enum mq_status mq_copy_tell(struct mq_copy *move, enum mq_copy_phase phase, int64_t done,
                            int64_t total, struct mq_error *err)
{
    struct mq_copy_progress progress = {phase, done, done > total ? done : total};
    if (!move->options->progress || move->locked) {
        return MQ_OK;
    }
    return move->options->progress(move->options->context, &progress, err);
}

/* ---- transactions ---- */

enum mq_status mq_copy_begin(struct mq_queue *queue, struct mq_error *err)
{
    struct mq_db *db = queue->db;
    enum mq_status status = db->driver->begin(db, err);
    if (status == MQ_OK && db->driver->joined(db)) {
        db->driver->rollback(db);
        return mq_error_set(err, MQ_INVALID, "database",
                            "a queue cannot be moved within a transaction of the application's");
    }
    return status;
}

enum mq_status mq_copy_end(struct mq_queue *queue, enum mq_status status, struct mq_error *err)
{
    struct mq_db *db = queue->db;
    if (status == MQ_OK) {
        status = db->driver->commit(db, err);
    }
    if (status != MQ_OK) {
        db->driver->rollback(db);
    }
    return status;
}

/* The source, so that nobody writes to its jobs, and who began to has ended. */
enum mq_status mq_copy_lock_source(struct mq_copy *move, struct mq_error *err)
{
    enum mq_status status = mq_copy_begin(move->source, err);
    if (status != MQ_OK) {
        return status;
    }
    bool freezes = mq_sql_has(move->source, MQ_SQL_COPY_FREEZE);
    move->last = 0;
    if (freezes) {
        status = mq_sql_exec(move->source, MQ_SQL_COPY_FREEZE, MQ_NO_ARGS, err);
    }
    if (status == MQ_OK) {
        status = mq_sql_int(move->source, MQ_SQL_COPY_LAST, MQ_NO_ARGS, &move->last, err);
    }
    /* Where that keeps no inserts away, lower ids than the last one may have been given meanwhile:
     * those are waited for, once they have stored their row. */
    if (status == MQ_OK && freezes && move->source->db->driver->dialect == MQ_MYSQL) {
        poll(NULL, 0, STORE_MS);
        status = mq_sql_exec(move->source, MQ_SQL_COPY_FREEZE, MQ_NO_ARGS, err);
    }
    /* The last ones may have been deleted, and lower ones been stored since. */
    if (move->last < move->from.cursor) {
        move->last = move->from.cursor;
    }
    if (status != MQ_OK) {
        return mq_copy_end(move->source, status, err);
    }
    move->locked = true;
    return MQ_OK;
}

enum mq_status mq_copy_unlock_source(struct mq_copy *move, enum mq_status status,
                                     struct mq_error *err)
{
    move->locked = false;
    return mq_copy_end(move->source, status, err);
}

/* ---- the notes ---- */

enum mq_status mq_copy_taken_over(struct mq_error *err)
{
    return mq_error_set(err, MQ_INVALID, "source",
                        "another migrate-store has taken over this move, or it was given up: "
                        "nothing more was written by this one");
}

enum mq_status mq_copy_check_to(struct mq_copy *move, struct mq_error *err)
{
    struct mq_move_note now;
    bool found = false;
    enum mq_status status = mq_move_hold(move->source, MQ_MOVED_TO, &now, &found, err);
    if (status == MQ_OK && (!found || strcmp(now.id, move->to.id) != 0)) {
        return mq_copy_taken_over(err);
    }
    return status;
}

enum mq_status mq_copy_check_from(struct mq_copy *move, struct mq_error *err)
{
    struct mq_move_note now;
    const struct mq_move_note *own = &move->from;
    bool found = false;
    enum mq_status status = mq_move_hold(move->target, MQ_MOVED_FROM, &now, &found, err);
    if (status == MQ_OK && (!found || strcmp(now.id, own->id) != 0 ||
                            strcmp(now.run, own->run) != 0 || now.done != own->done)) {
        return mq_copy_taken_over(err);
    }
    return status;
}

enum mq_status mq_copy_put_to(struct mq_copy *move, const struct mq_move_note *note,
                              struct mq_error *err)
{
    enum mq_status status = mq_copy_begin(move->source, err);
    if (status != MQ_OK) {
        return status;
    }
    status = mq_copy_check_to(move, err);
    if (status == MQ_OK) {
        status = mq_move_put(move->source, MQ_MOVED_TO, note, err);
    }
    return mq_copy_end(move->source, status, err);
}

enum mq_status mq_copy_put_from(struct mq_copy *move, const struct mq_move_note *note,
                                struct mq_error *err)
{
    enum mq_status status = mq_copy_begin(move->target, err);
    if (status != MQ_OK) {
        return status;
    }
    status = mq_copy_check_from(move, err);
    if (status == MQ_OK) {
        status = mq_move_put(move->target, MQ_MOVED_FROM, note, err);
    }
    return mq_copy_end(move->target, status, err);
}

/* ---- copying ---- */

/* One range into the target, by a transaction of its own. */
static enum mq_status write_range(struct mq_copy *move, struct mq_copy_range range, int64_t cursor,
                                  struct mq_copy_write *write, struct mq_error *err)
{
    *write = (struct mq_copy_write){.source = move->source,
                                    .target = move->target,
                                    .range = range,
                                    .from = &move->from,
                                    .summed = move->summed};
    struct mq_move_note note = move->from;
    note.cursor = cursor;
    enum mq_status status = mq_copy_begin(move->target, err);
    if (status != MQ_OK) {
        return status;
    }
    status = mq_copy_check_from(move, err);
    if (status == MQ_OK) {
        status = mq_queue_now(move->target, &write->now_s, err);
    }
    if (status == MQ_OK) {
        status = mq_copy_write(write, err);
    }
    if (status == MQ_OK && cursor > move->from.cursor) {
        status = mq_move_put(move->target, MQ_MOVED_FROM, &note, err);
    }
    status = mq_copy_end(move->target, status, err);
    if (status == MQ_OK) {
        move->from.cursor = cursor > move->from.cursor ? cursor : move->from.cursor;
        move->report->copied += write->rows;
        mq_copy_sum(move->report->checksum, write->sum);
        mq_copy_sum(move->report->checksum, write->gone);
    }
    return status;
}

/* From where the cursor is up to an id, or to what is there. */
enum mq_status mq_copy_up_to(struct mq_copy *move, int64_t limit, struct mq_error *err)
{
    struct mq_copy_write write;
    bool more = true;
    enum mq_status status = MQ_OK;
    while (status == MQ_OK && move->from.cursor < limit) {
        struct mq_copy_range range = {move->from.cursor, limit};
        int64_t piece = limit;
        status = mq_copy_any(move->source, range, &more, err);
        if (status != MQ_OK || !more) {
            break;
        }
        status = mq_copy_piece(move->source, range, &piece, err);
        if (status == MQ_OK && piece == move->from.base - 1) {
            /* The last piece: the cursor must not run ahead of what will come. */
            int64_t last = 0;
            status = mq_sql_int(move->source, MQ_SQL_COPY_LAST, MQ_NO_ARGS, &last, err);
            piece = last;
        }
        range.to = piece;
        if (status == MQ_OK) {
            status = write_range(move, range, piece, &write, err);
        }
        if (status == MQ_OK) {
            status = mq_copy_tell(move, MQ_COPY_COPYING, move->report->copied, move->total, err);
        }
    }
    return status;
}

/* ---- comparing ---- */

/* The first id that is not the same in both, from places *a and *b on; 0: none. */
static int64_t next_difference(const struct mq_copy_hashes *source,
                               const struct mq_copy_hashes *target, size_t *a, size_t *b)
{
    while (*a < source->count || *b < target->count) {
        const struct mq_copy_hash *left = *a < source->count ? &source->items[*a] : NULL;
        const struct mq_copy_hash *right = *b < target->count ? &target->items[*b] : NULL;
        int64_t id = left && (!right || left->id <= right->id) ? left->id : right->id;
        bool in_left = left && left->id == id;
        bool in_right = right && right->id == id;
        *a += in_left;
        *b += in_right;
        if (!in_left || !in_right || memcmp(left->bytes, right->bytes, MQ_SHA256_SIZE) != 0) {
            return id;
        }
    }
    return 0;
}

/* Both sides' hashes of a range, and the way they are used. */
struct comparison {
    struct mq_copy_range range;
    bool bodies;
    struct mq_copy_hashes source;
    struct mq_copy_hashes target;
    struct mq_copy_hashes there; /* `target`, or what is known of it: borrowed */
};

/* What is known of the target's rows in the range. */
static void take_known(struct mq_copy *move, struct comparison *c)
{
    const struct mq_copy_hashes *known = &move->known;
    size_t first = move->known_at;
    while (move->known_at < known->count && known->items[move->known_at].id <= c->range.to) {
        move->known_at++;
    }
    c->there =
        (struct mq_copy_hashes){.items = known->items + first, .count = move->known_at - first};
}

static enum mq_status compare_range(struct mq_copy *move, struct comparison *c,
                                    struct mq_error *err)
{
    size_t a = 0;
    size_t b = 0;
    struct mq_copy_write write;
    struct mq_copy_range there = c->range;
    if (move->locked && there.to > move->last) {
        there.to = move->last;
    }
    enum mq_status status = mq_copy_hash_rows(move->source, there, c->bodies, &c->source, err);
    if (status == MQ_OK && move->locked) {
        take_known(move, c);
    } else if (status == MQ_OK) {
        status = mq_copy_hash_rows(move->target, c->range, c->bodies, &c->target, err);
        c->there = c->target;
    }
    if (status == MQ_OK && c->bodies) {
        move->summed = c->range.to;
    }
    for (size_t i = 0; status == MQ_OK && c->bodies && i < c->there.count; i++) {
        mq_copy_sum(move->report->checksum, c->there.items[i].bytes);
    }
    while (status == MQ_OK) {
        int64_t id = next_difference(&c->source, &c->there, &a, &b);
        if (id == 0) {
            break;
        }
        /* All that follows is new: one transaction. */
        bool rest = b == c->there.count && a && c->source.items[a - 1].id == id;
        int64_t to = rest ? c->source.items[c->source.count - 1].id : id;
        a = rest ? c->source.count : a;
        status = write_range(move, (struct mq_copy_range){id - 1, to}, rest ? to : 0, &write, err);
    }
    for (int i = 0; status == MQ_OK && i < MQ_STATE_COUNT; i++) {
        move->report->counts[i] += c->source.counts[i];
    }
    return status;
}

#define LIGHT_ROWS 5000

/* Without a look at the bodies' table, which is many times as large. */
static enum mq_status light_piece(struct mq_copy *move, struct mq_copy_range *range,
                                  struct mq_error *err)
{
    int64_t end = range->to;
    struct mq_args args = MQ_ARGS(mq_int(range->from), mq_int(LIGHT_ROWS));
    enum mq_status status = mq_sql_int(move->source, MQ_SQL_WALK_END, args, &end, err);
    if (status == MQ_OK && end < range->to) {
        range->to = end;
    }
    return status;
}

/* Makes the target what the source is, by comparing all rows. */
enum mq_status mq_copy_compare(struct mq_copy *move, bool bodies, struct mq_error *err)
{
    int64_t done = 0;
    struct comparison c = {.range = mq_copy_all(move), .bodies = bodies};
    const int64_t limit = c.range.to;
    enum mq_status status = MQ_OK;
    memset(move->report->counts, 0, sizeof(move->report->counts));
    if (bodies) {
        memset(move->report->checksum, 0, MQ_SHA256_SIZE);
        move->summed = 0;
    }
    while (status == MQ_OK && c.range.from < limit) {
        c.range.to = limit;
        status = bodies ? mq_copy_piece(move->source, c.range, &c.range.to, err)
                        : light_piece(move, &c.range, err);
        if (status == MQ_OK) {
            status = compare_range(move, &c, err);
        }
        if (status == MQ_OK) {
            done += (int64_t)c.source.count;
            c.range.from = c.range.to;
            status = mq_copy_tell(move, MQ_COPY_VERIFYING, done, move->total, err);
        }
    }
    move->summed = INT64_MAX;
    mq_copy_hashes_clear(&c.source);
    mq_copy_hashes_clear(&c.target);
    return status;
}

enum mq_status mq_copy_know_target(struct mq_copy *move, struct mq_error *err)
{
    move->known_at = 0;
    return mq_copy_hash_rows(move->target, mq_copy_all(move), false, &move->known, err);
}

/* Once: what is written now is read back, and the source does not change any more. */
enum mq_status mq_copy_compare_locked(struct mq_copy *move, struct mq_error *err)
{
    enum mq_status status = mq_copy_check_ids(move, move->from.base, err);
    if (status == MQ_OK) {
        status = mq_copy_compare(move, false, err);
    }
    if (status == MQ_OK && move->report->counts[MQ_SENDING]) {
        return mq_copy_busy(move, move->report->counts[MQ_SENDING], err);
    }
    return status;
}
