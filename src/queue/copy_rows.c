/* Rows of a queue that is moved: reading, hashing, writing them. */
#include "queue/copy_private.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#define PIECE_ROWS  500
#define PIECE_BYTES (8 << 20)
#define COLUMNS_MAX 31 /* what a driver binds, less one */

/* The row on which a statement stands. */
struct row {
    int64_t id;
    enum mq_state state;
    struct mq_value values[COLUMNS_MAX + 1]; /* borrowed; the last one is the body */
    size_t count;                            /* of columns, without the body */
};

void mq_copy_hashes_clear(struct mq_copy_hashes *hashes)
{
    free(hashes->items);
    memset(hashes, 0, sizeof(*hashes));
}

void mq_copy_sum(unsigned char sum[MQ_SHA256_SIZE], const unsigned char hash[MQ_SHA256_SIZE])
{
    for (int i = 0; i < MQ_SHA256_SIZE; i++) {
        sum[i] ^= hash[i];
    }
}

/* ---- reading ---- */

static bool is_paid(const struct mq_column *column)
{
    return column->name && strcmp(column->name, "paid") == 0;
}

/* Nobody's in flight, so that nothing is paid for. */
static enum mq_status read_row(struct mq_queue *queue, struct row *row, struct mq_error *err)
{
    const struct mq_column *columns = mq_schema_columns(&row->count);
    row->id = mq_sql_column_int(queue, 0);
    row->values[row->count] = mq_null();
    for (size_t i = 0; i < row->count; i++) {
        row->values[i] = queue->db->driver->column(queue->db, (int)i);
        if (is_paid(&columns[i])) {
            row->values[i] = mq_int(0);
        }
        if (columns[i].kind == MQ_COLUMN_STATUS &&
            !mq_state_parse(mq_sql_column_str(queue, (int)i), &row->state)) {
            return mq_error_set(err, MQ_MESSAGE, "status",
                                "mail %lld has an unknown status: correct it, or delete the mail",
                                (long long)row->id);
        }
    }
    return MQ_OK;
}

/* What the value is in whatever column of whatever database: NULL, or octets. */
static struct mq_str canonical(const struct mq_value *value, char number[24])
{
    if (value->type == MQ_INT) {
        int n = snprintf(number, 24, "%lld", (long long)value->i);
        return (struct mq_str){number, (size_t)n};
    }
    return value->type == MQ_NULL ? (struct mq_str){NULL, 0} : value->s;
}

static void hash_row(const struct row *row, bool body, struct mq_copy_hash *out)
{
    struct mq_sha256 hash;
    mq_sha256_init(&hash);
    for (size_t i = 0; i < row->count + body; i++) {
        char number[24];
        char length[24];
        bool null = row->values[i].type == MQ_NULL;
        struct mq_str text = canonical(&row->values[i], number);
        int n = snprintf(length, sizeof(length), "%c%zu:", null ? 'N' : 'V', text.len);
        mq_sha256_add(&hash, (struct mq_str){length, (size_t)n});
        mq_sha256_add(&hash, text);
    }
    out->id = row->id;
    mq_sha256_end(&hash, out->bytes);
}

static bool keep_hash(struct mq_copy_hashes *hashes, const struct row *row, bool body)
{
    if (hashes->count == hashes->room) {
        size_t room = hashes->room ? hashes->room * 2 : 512;
        struct mq_copy_hash *items = realloc(hashes->items, room * sizeof(*items));
        if (!items) {
            return false;
        }
        hashes->items = items;
        hashes->room = room;
    }
    hash_row(row, body, &hashes->items[hashes->count++]);
    hashes->counts[row->state]++;
    return true;
}

/* The next row of MQ_SQL_COPY_ROWS or _LIGHT. */
static enum mq_status next_row(struct mq_queue *queue, bool bodies, struct row *row, bool *more,
                               struct mq_error *err)
{
    enum mq_status status = mq_sql_next(queue, more, err);
    if (status != MQ_OK || !*more) {
        return status;
    }
    status = read_row(queue, row, err);
    if (bodies) {
        row->values[row->count] = queue->db->driver->column(queue->db, (int)row->count);
    }
    if (status != MQ_OK) {
        mq_sql_finish(queue);
    }
    return status;
}

enum mq_status mq_copy_hash_rows(struct mq_queue *queue, struct mq_copy_range range, bool bodies,
                                 struct mq_copy_hashes *out, struct mq_error *err)
{
    struct row row;
    bool more = true;
    enum mq_status status = mq_sql_query(queue, bodies ? MQ_SQL_COPY_ROWS : MQ_SQL_COPY_LIGHT,
                                         MQ_ARGS(mq_int(range.from), mq_int(range.to)), err);
    out->count = 0;
    memset(out->counts, 0, sizeof(out->counts));
    while (status == MQ_OK) {
        status = next_row(queue, bodies, &row, &more, err);
        if (status != MQ_OK || !more) {
            break;
        }
        if (!keep_hash(out, &row, bodies)) {
            mq_sql_finish(queue);
            return mq_error_nomem(err);
        }
    }
    return status;
}

enum mq_status mq_copy_piece(struct mq_queue *queue, struct mq_copy_range range, int64_t *end,
                             struct mq_error *err)
{
    bool row = true;
    int rows = 0;
    int64_t bytes = 0;
    int64_t last = range.to;
    enum mq_status status =
        mq_sql_query(queue, MQ_SQL_COPY_SIZES,
                     MQ_ARGS(mq_int(range.from), mq_int(range.to), mq_int(PIECE_ROWS)), err);
    while (status == MQ_OK) {
        status = mq_sql_next(queue, &row, err);
        if (status != MQ_OK || !row) {
            break;
        }
        last = mq_sql_column_int(queue, 0);
        bytes += mq_sql_column_int(queue, 1);
        if (bytes >= PIECE_BYTES) {
            mq_sql_finish(queue);
            row = true;
            rows = PIECE_ROWS;
            break;
        }
        rows++;
    }
    if (status == MQ_OK) {
        *end = rows < PIECE_ROWS ? range.to : last;
    }
    return status;
}

/* ---- writing ---- */

static const char *name_of(const struct mq_queue *queue, const struct mq_column *column)
{
    return column->name ? column->name : queue->names.reference;
}

static enum mq_status misfit(const struct mq_copy_write *write, const struct row *row,
                             size_t column, const char *why, struct mq_error *err)
{
    const struct mq_column *columns = mq_schema_columns(&(size_t){0});
    const char *name = name_of(write->source, &columns[column]);
    return mq_error_set(err, MQ_MESSAGE, name,
                        "mail %lld cannot be moved: its column %s %s. Correct the row in the "
                        "source, or delete the mail, and repeat the command",
                        (long long)row->id, name, why);
}

static bool to_int(const struct mq_value *value, int64_t *out)
{
    struct mq_str digits = value->s;
    if (value->type == MQ_INT) {
        *out = value->i;
        return true;
    }
    bool minus = digits.len > 1 && digits.data[0] == '-';
    digits.data += minus;
    digits.len -= minus;
    if (!mq_config_parse_int(digits, out)) {
        return false;
    }
    *out = minus ? -*out : *out;
    return true;
}

/* Makes the value what the target's column takes. */
static enum mq_status fit(const struct mq_copy_write *write, struct row *row, size_t i,
                          struct mq_error *err)
{
    const struct mq_column *column = &mq_schema_columns(&(size_t){0})[i];
    struct mq_value *value = &row->values[i];
    bool sqlite = write->target->db->driver->dialect == MQ_SQLITE;
    int64_t number;
    if (value->type == MQ_NULL) {
        return MQ_OK;
    }
    if (column->kind == MQ_COLUMN_ID || column->kind == MQ_COLUMN_INT ||
        column->kind == MQ_COLUMN_TIME) {
        if (!to_int(value, &number)) {
            return misfit(write, row, i, "holds no integer", err);
        }
        bool narrow = strncmp(column->declaration, "INTEGER", 7) == 0 && !sqlite;
        if (narrow && (number > INT32_MAX || number < INT32_MIN)) {
            return misfit(write, row, i, "holds a number that is too large there", err);
        }
        *value = mq_int(number);
        return MQ_OK;
    }
    if (value->type == MQ_INT) {
        return MQ_OK;
    }
    if (!sqlite && (!mq_utf8_valid(value->s) || memchr(value->s.data, '\0', value->s.len))) {
        return misfit(write, row, i, "holds octets that are no UTF-8 text", err);
    }
    *value = mq_text(value->s);
    return MQ_OK;
}

static enum mq_status text_of_int(struct mq_value *value, char number[24])
{
    if (value->type == MQ_INT) {
        *value = mq_text(canonical(value, number));
    }
    return MQ_OK;
}

static size_t column_of(enum mq_column_kind kind, const char *name)
{
    size_t count;
    const struct mq_column *columns = mq_schema_columns(&count);
    for (size_t i = 0; i < count; i++) {
        if (columns[i].kind == kind && (!name || strcmp(columns[i].name, name) == 0)) {
            return i;
        }
    }
    return count;
}

/* Whether the target's row was written by this move, and nobody may have changed it since. */
static bool is_copy(const struct mq_copy_write *write, int64_t id)
{
    const struct mq_move_note *from = write->from;
    bool in_range = id > write->range.from && id <= write->range.to;
    return !from->done && id > 0 && id < from->base && (id <= from->cursor || in_range);
}

/* Ids up to the cursor are this move's; what came above it, below the target's own ids, is not. */
static enum mq_status foreign(int64_t id, struct mq_error *err)
{
    return mq_error_set(err, MQ_INVALID, "target",
                        "the target has mail %lld, which this move did not write: delete it "
                        "there, or give the move up with --abort",
                        (long long)id);
}

/* Deletes what is in the target's range, and puts its sum into `gone`. */
static enum mq_status clear_range(struct mq_copy_write *write, struct mq_copy_range range,
                                  int64_t own, struct mq_error *err)
{
    struct mq_copy_hashes old = {0};
    enum mq_status status = mq_copy_hash_rows(write->target, range, true, &old, err);
    for (size_t i = 0; i < old.count && status == MQ_OK; i++) {
        int64_t id = old.items[i].id;
        if (id <= write->summed) {
            mq_copy_sum(write->gone, old.items[i].bytes);
        }
        status = id > own ? foreign(id, err) : mq_job_delete(write->target, id, err);
    }
    mq_copy_hashes_clear(&old);
    return status;
}

/* A pair that the target has already. Of a copy, which the source has under a newer id by now, it
 * is out of date; one of the target's own is parked or has expired and gives way, as to an enqueue,
 * or somebody must decide. */
static enum mq_status clear_pair(struct mq_copy_write *write, const struct row *row,
                                 struct mq_error *err)
{
    bool found = false;
    const struct mq_value *reference = &row->values[column_of(MQ_COLUMN_REFERENCE, NULL)];
    const struct mq_value *type = &row->values[column_of(MQ_COLUMN_TEXT, "mail_type")];
    if (reference->type == MQ_NULL) {
        return MQ_OK;
    }
    enum mq_status status = mq_sql_query(write->target, MQ_SQL_PAIR,
                                         MQ_ARGS(*reference, *type, mq_int(write->now_s)), err);
    if (status == MQ_OK) {
        status = mq_sql_next(write->target, &found, err);
    }
    if (status != MQ_OK || !found) {
        return status;
    }
    int64_t id = mq_sql_column_int(write->target, 0);
    bool dead = mq_sql_column_int(write->target, 1) != 0;
    mq_sql_finish(write->target);
    if (is_copy(write, id)) {
        return clear_range(write, (struct mq_copy_range){id - 1, id}, id, err);
    }
    if (dead) {
        return mq_job_delete(write->target, id, err);
    }
    return mq_error_set(err, MQ_MESSAGE, write->source->names.reference,
                        "mail %lld (%.*s, %.*s) is queued in the target already, as mail %lld: "
                        "delete one of them and repeat the command",
                        (long long)row->id, (int)mq_utf8_cut(reference->s, 190), reference->s.data,
                        (int)mq_utf8_cut(type->s, 64), type->s.data, (long long)id);
}

/* Says which mail it was. */
static enum mq_status blame(int64_t id, enum mq_status status, struct mq_error *err)
{
    if (err && (status == MQ_DATABASE || status == MQ_SCHEMA)) {
        struct mq_error why = *err;
        return mq_error_set(err, status, why.field, "mail %lld could not be stored: %.560s",
                            (long long)id, why.text);
    }
    return status;
}

static enum mq_status insert(struct mq_copy_write *write, struct row *row, struct mq_error *err)
{
    char numbers[COLUMNS_MAX][24];
    enum mq_status status = MQ_OK;
    for (size_t i = 0; i < row->count && status == MQ_OK; i++) {
        enum mq_column_kind kind = mq_schema_columns(&(size_t){0})[i].kind;
        status = fit(write, row, i, err);
        if (status == MQ_OK && (kind == MQ_COLUMN_TEXT || kind == MQ_COLUMN_REFERENCE)) {
            status = text_of_int(&row->values[i], numbers[i]);
        }
    }
    if (status == MQ_OK) {
        status = clear_pair(write, row, err);
    }
    if (status != MQ_OK) {
        return status;
    }
    status = mq_sql_exec(write->target, MQ_SQL_COPY_INSERT,
                         (struct mq_args){row->values, (int)row->count}, err);
    struct mq_value body = row->values[row->count];
    if (status == MQ_OK && body.type != MQ_NULL) {
        status = mq_sql_exec(write->target, MQ_SQL_INSERT_BODY,
                             MQ_ARGS(mq_int(row->id), mq_blob(body.s)), err);
    }
    return blame(row->id, status, err);
}

static enum mq_status insert_all(struct mq_copy_write *write, struct mq_copy_hashes *written,
                                 struct mq_error *err)
{
    struct row row;
    bool more = true;
    struct mq_args args = MQ_ARGS(mq_int(write->range.from), mq_int(write->range.to));
    enum mq_status status = mq_sql_query(write->source, MQ_SQL_COPY_ROWS, args, err);
    while (status == MQ_OK) {
        status = next_row(write->source, true, &row, &more, err);
        if (status != MQ_OK || !more) {
            break;
        }
        if (!keep_hash(written, &row, true)) {
            status = mq_error_nomem(err);
        } else if (row.state == MQ_SENDING) {
            status = mq_error_set(err, MQ_BUSY, "database",
                                  "mail %lld is being sent: repeat the command", (long long)row.id);
        } else {
            status = insert(write, &row, err);
        }
        if (status != MQ_OK) {
            mq_sql_finish(write->source);
        }
    }
    return status;
}

/* Names the column that is not the same in both. */
static enum mq_status name_difference(const struct mq_copy_write *write, int64_t id,
                                      struct mq_error *err)
{
    struct row a = {0};
    struct row b = {0};
    bool have_a = false;
    bool have_b = false;
    struct mq_args one = MQ_ARGS(mq_int(id - 1), mq_int(id));
    enum mq_status status = mq_sql_query(write->source, MQ_SQL_COPY_ROWS, one, err);
    if (status == MQ_OK) {
        status = next_row(write->source, true, &a, &have_a, err);
    }
    if (status == MQ_OK) {
        status = mq_sql_query(write->target, MQ_SQL_COPY_ROWS, one, err);
    }
    if (status == MQ_OK) {
        status = next_row(write->target, true, &b, &have_b, err);
    }
    const char *name = "content";
    for (size_t i = 0; status == MQ_OK && have_a && have_b && i < a.count; i++) {
        char numbers[2][24];
        struct mq_str left = canonical(&a.values[i], numbers[0]);
        struct mq_str right = canonical(&b.values[i], numbers[1]);
        if (!mq_str_equal(left, right)) {
            name = name_of(write->source, &mq_schema_columns(&(size_t){0})[i]);
            break;
        }
    }
    mq_sql_finish(write->source);
    mq_sql_finish(write->target);
    return status != MQ_OK ? status
                           : mq_error_set(err, MQ_MESSAGE, name,
                                          "mail %lld is not read back as it was stored: its "
                                          "column %s differs (too long there, or cut). Correct "
                                          "the row in the source, or delete the mail",
                                          (long long)id, name);
}

enum mq_status mq_copy_write(struct mq_copy_write *write, struct mq_error *err)
{
    struct mq_copy_hashes sent = {0};
    struct mq_copy_hashes stored = {0};
    memset(write->sum, 0, sizeof(write->sum));
    memset(write->gone, 0, sizeof(write->gone));
    enum mq_status status = clear_range(write, write->range, write->from->cursor, err);
    if (status == MQ_OK) {
        status = insert_all(write, &sent, err);
    }
    if (status == MQ_OK) {
        status = mq_copy_hash_rows(write->target, write->range, true, &stored, err);
    }
    for (size_t i = 0; i < sent.count && status == MQ_OK; i++) {
        if (i >= stored.count || memcmp(&sent.items[i], &stored.items[i], sizeof(*sent.items))) {
            status = name_difference(write, sent.items[i].id, err);
        } else {
            mq_copy_sum(write->sum, sent.items[i].bytes);
        }
    }
    write->rows = (int64_t)sent.count;
    mq_copy_hashes_clear(&sent);
    mq_copy_hashes_clear(&stored);
    return status;
}
