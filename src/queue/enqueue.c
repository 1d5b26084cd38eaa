/* Stores mail, with one statement or in one short transaction. */
#include "queue/enqueue.h"

#include <stdlib.h>
#include <string.h>

#include "core/ascii.h"
#include "core/json.h"
#include "db/db.h"
#include "mime/encode.h"
#include "mime/notify.h"
#include "mime/verp.h"
#include "policy/backoff.h"
#include "policy/types.h"
#include "queue/handle.h"
#include "queue/queue.h"
#include "queue/sql/columns.h"
#include "queue/sql/descriptor.h"
#include "queue/sql/schema.h"
#include "queue/sql/transaction.h"
#include "queue/suppress/suppress.h"

static enum mq_status check_word(const char *field, struct mq_str s, size_t max,
                                 struct mq_error *err)
{
    if (s.len == 0 || s.len > max) {
        return mq_error_set(err, MQ_INVALID, field, "%s must have 1 to %zu octets, not %zu", field,
                            max, s.len);
    }
    for (size_t at = 0, step; at < s.len; at += step) {
        uint32_t code = 0;
        step = mq_utf8_next((struct mq_str){s.data + at, s.len - at}, &code);
        if (step == 0) {
            return mq_error_set(err, MQ_INVALID, field, "%s is not valid UTF-8", field);
        }
        if (mq_utf8_steers(code)) {
            return mq_error_set(err, MQ_INVALID, field,
                                "%s has the control character U+%04X at octet %zu; remove it",
                                field, (unsigned)code, at + 1);
        }
    }
    return MQ_OK;
}

static enum mq_status check_numbers(const struct mq_new_job *job, struct mq_error *err)
{
    if (job->priority < -MQ_PRIORITY_MAX || job->priority > MQ_PRIORITY_MAX) {
        return mq_error_set(err, MQ_INVALID, "priority", "priority must be -%d … %d, not %d",
                            MQ_PRIORITY_MAX, MQ_PRIORITY_MAX, job->priority);
    }
    if (job->expires_at && job->expires_at <= job->send_at) {
        return mq_error_set(err, MQ_INVALID, "expiresAt",
                            "expiresAt is not after sendAt: the mail could never be sent");
    }
    if (job->max_attempts < 0 || job->max_attempts > MQ_ATTEMPTS_MAX) {
        return mq_error_set(err, MQ_INVALID, "maxAttempts",
                            "maxAttempts must be 1 … %d, or null for what the backoff policy says",
                            MQ_ATTEMPTS_MAX);
    }
    return MQ_OK;
}

static enum mq_status check_scope(struct mq_str scope, struct mq_error *err)
{
    size_t len = strlen(MQ_SCOPE_OF_LIST);
    return mq_str_begins_nocase(scope, MQ_SCOPE_OF_LIST)
               ? check_word("list", mq_str_skip(scope, len), MQ_SCOPE_MAX - len, err)
               : check_word("scope", scope, MQ_SCOPE_MAX, err);
}

enum mq_status mq_new_job_check(const struct mq_new_job *job, struct mq_error *err)
{
    if (job->reference.data) {
        MQ_TRY(check_word("reference", job->reference, MQ_REFERENCE_MAX, err));
    }
    MQ_TRY(check_word("type", job->mail_type, MQ_TYPE_MAX, err));
    if (job->relay.data) {
        MQ_TRY(check_word("relay", job->relay, MQ_REFERENCE_MAX, err));
    }
    if (job->scope.data) {
        MQ_TRY(check_scope(job->scope, err));
    }
    MQ_TRY(check_word("messageId", mq_str_of(job->message_id), MQ_LINE_MAX, err));
    MQ_TRY(check_numbers(job, err));
    MQ_TRY(mq_envelope_check(job->envelope_from, job->recipients, err));
    return mq_verp_check(mq_str_of(job->envelope_from), "envelopeFrom", err);
}

/* The most octets of messages in one statement: server and PDO hold several copies of them. */
#define STATEMENT_OCTETS (512 * 1024)

/* ---- the values of a row ---- */

#define VALUES_MAX (MQ_FIRST_NEW_PARAMETER - 1 + MQ_COL_COUNT)

/* Values for ?1 and ?2, then for the columns. The row owns the two buffers, the job all else. */
struct row {
    struct mq_value values[VALUES_MAX];
    int count;
    struct mq_buffer recipients;
    struct mq_buffer notify;
};

#define VALUE(symbol, name, type, read, sql, value) value,

/* Returns false without memory. The caller clears the row in any case. */
static bool make_row(struct row *row, const struct mq_new_job *job, int64_t now_s)
{
    row->recipients = row->notify = (struct mq_buffer){0};
    if (job->recipients && job->recipients->count) {
        mq_json_strings(&row->recipients, job->recipients);
    }
    if (job->notify && mq_notify_asks(job->notify)) {
        mq_notify_write(job->notify, &row->notify);
    }
    const struct mq_value all[MQ_COL_COUNT] = {MQ_COLUMNS(VALUE)};
    row->values[0] = mq_int(now_s);
    row->values[1] = mq_null();
    row->count = MQ_FIRST_NEW_PARAMETER - 1;
    for (size_t i = 0; i < MQ_COL_COUNT; i++) {
        if (mq_columns[i].sql && strchr(mq_columns[i].sql, '?')) {
            row->values[row->count++] = all[i];
        }
    }
    return !row->recipients.failed && !row->notify.failed;
}

static void clear_row(struct row *row)
{
    mq_buffer_clear(&row->recipients);
    mq_buffer_clear(&row->notify);
}

/* ---- one job ---- */

static enum mq_status insert_row(struct mq_queue *queue, enum mq_sql slot, struct mq_args args,
                                 int64_t *id, struct mq_error *err)
{
    if (queue->db->returning) {
        return mq_sql_int(queue, slot, args, id, err);
    }
    MQ_TRY(mq_sql_exec(queue, slot, args, err));
    if (mq_sql_changes(queue) > 0) {
        *id = queue->db->driver->last_id(queue->db);
    }
    return MQ_OK;
}

/* Stores a job with its body. If the pair (reference, type) exists already, *id is 0, or the result
 * is MQ_DUPLICATE, depending on the database. now_s is used only with SQLite. */
static enum mq_status insert_job(struct mq_queue *queue, const struct mq_new_job *job,
                                 int64_t now_s, int64_t *id, struct mq_error *err)
{
    struct row row;
    bool whole = mq_sql_has(queue, MQ_SQL_STORE);
    enum mq_sql slot = whole ? MQ_SQL_STORE : MQ_SQL_INSERT_JOB;
    *id = 0;
    bool made = make_row(&row, job, now_s);
    row.values[1] = whole && job->body.data ? mq_blob(job->body) : mq_null();
    struct mq_args values = {row.values, row.count};
    enum mq_status status = made ? insert_row(queue, slot, values, id, err) : mq_error_nomem(err);
    clear_row(&row);
    MQ_TRY(status);
    if (*id <= 0 && !job->reference.data) {
        /* Without a reference nothing can be a duplicate. */
        return mq_error_set(err, MQ_DATABASE, "database",
                            "the database did not say under which id the mail was stored");
    }
    if (*id <= 0 || !job->body.data || whole) {
        return MQ_OK;
    }
    /* After the job, so that a duplicate leaves no body behind. */
    return mq_sql_exec(queue, MQ_SQL_INSERT_BODY, MQ_ARGS(mq_int(*id), mq_blob(job->body)), err);
}

/* ---- many ---- */

/* Runs a template that was written for a certain number of rows. */
static enum mq_status run_made(struct mq_queue *queue, const struct mq_buffer *text,
                               struct mq_args args, struct mq_error *err)
{
    char *sql = text->failed ? NULL : mq_sql_expand(queue->dialect, &queue->names, text->data);
    struct mq_query query = {-1, sql, args.values, args.count};
    enum mq_status status =
        sql ? queue->db->driver->run(queue->db, &query, err) : mq_error_nomem(err);
    free(sql);
    return status;
}

/* Whether the row that the INSERT returned is that of the job. Rows come in the order of the
 * values, without those whose pair existed. */
static bool is_of(struct mq_queue *queue, const struct mq_new_job *job)
{
    return mq_str_equal(mq_sql_column_str(queue, 1), job->reference) &&
           mq_str_equal(mq_sql_column_str(queue, 2), job->mail_type) &&
           mq_str_equal(mq_sql_column_str(queue, 3), mq_str_of(job->message_id));
}

/* Reads the new ids. A row that fits no job is an error: its body could go to the wrong people. */
static enum mq_status take_ids(struct mq_queue *queue, const struct mq_new_job *jobs, size_t count,
                               int64_t *ids, struct mq_error *err)
{
    bool fits = true;
    size_t at = 0;
    enum mq_status status = MQ_OK;
    while (fits && mq_sql_next(queue, &status, err)) {
        while (at < count && jobs[at].reference.data && !is_of(queue, &jobs[at])) {
            at++;
        }
        fits = at < count && is_of(queue, &jobs[at]);
        if (fits) {
            ids[at++] = mq_sql_column_int(queue, 0);
        }
    }
    for (; at < count && fits; at++) {
        fits = jobs[at].reference.data != NULL;
    }
    mq_sql_finish(queue);
    return status != MQ_OK || fits
               ? status
               : mq_error_set(err, MQ_DATABASE, "database",
                              "the database did not say under which ids the mails were stored");
}

/* Inserts the jobs with one statement. Fills `rows`, which the caller clears. */
static enum mq_status insert_rows(struct mq_queue *queue, const struct mq_new_job *jobs,
                                  struct row *rows, size_t count, struct mq_error *err)
{
    const int skipped = MQ_FIRST_NEW_PARAMETER - 1; /* ?1 and ?2 are not used here */
    struct mq_buffer text = {0};
    struct mq_value *values = malloc(count * sizeof(rows->values));
    bool ok = values != NULL;
    int next = 1;
    mq_buffer_cstr(&text, "INSERT INTO {t}({f}) VALUES ");
    for (size_t i = 0; i < count && ok; i++) {
        ok = make_row(&rows[i], &jobs[i], 0);
        memcpy(&values[next - 1], &rows[i].values[skipped],
               (size_t)(rows[i].count - skipped) * sizeof(*values));
        mq_buffer_cstr(&text, i ? "," : "");
        next = mq_columns_write_values(&text, next);
    }
    mq_buffer_cstr(&text, "{R}");
    enum mq_status status =
        ok ? run_made(queue, &text, (struct mq_args){values, next - 1}, err) : mq_error_nomem(err);
    mq_buffer_clear(&text);
    free(values);
    return status;
}

/* Inserts the bodies of the stored jobs, with as few statements as their size allows. */
static enum mq_status insert_bodies(struct mq_queue *queue, const struct mq_new_job *jobs,
                                    const int64_t *ids, size_t count, struct mq_error *err)
{
    struct mq_value *values = malloc(2 * count * sizeof(*values));
    struct mq_buffer text = {0};
    struct mq_args args = {values, 0};
    size_t octets = 0;
    enum mq_status status = values ? MQ_OK : mq_error_nomem(err);
    for (size_t i = 0; i <= count && status == MQ_OK; i++) {
        bool has = i < count && ids[i] && jobs[i].body.data;
        bool full = i == count || (has && octets + jobs[i].body.len > STATEMENT_OCTETS);
        if (full && args.count) {
            status = run_made(queue, &text, args, err);
            mq_sql_finish(queue);
            mq_buffer_reset(&text);
            args.count = 0;
            octets = 0;
        }
        if (has) {
            mq_buffer_printf(&text, "%s(?%d, ?%d)",
                             args.count ? "," : "INSERT INTO {b}(id, content) VALUES ",
                             args.count + 1, args.count + 2);
            values[args.count++] = mq_int(ids[i]);
            values[args.count++] = mq_blob(jobs[i].body);
            octets += jobs[i].body.len;
        }
    }
    mq_buffer_clear(&text);
    free(values);
    return status;
}

/* Stores many jobs with one statement, if the database can. ids[i] is 0 if jobs[i] was not stored
 * because its pair exists. All are 0 if they have to be stored one by one. */
static enum mq_status insert_jobs(struct mq_queue *queue, const struct mq_new_job *jobs,
                                  size_t count, int64_t *ids, struct mq_error *err)
{
    memset(ids, 0, count * sizeof(*ids));
    if (count < 2 || !queue->db->returning || !queue->dialect->words['R']) {
        return MQ_OK;
    }
    struct row *rows = calloc(count, sizeof(*rows));
    enum mq_status status = rows ? insert_rows(queue, jobs, rows, count, err) : mq_error_nomem(err);
    if (status == MQ_OK) {
        status = take_ids(queue, jobs, count, ids, err);
    }
    for (size_t i = 0; rows && i < count; i++) {
        clear_row(&rows[i]);
    }
    free(rows);
    if (status == MQ_OK) {
        return insert_bodies(queue, jobs, ids, count, err);
    }
    memset(ids, 0, count * sizeof(*ids)); /* an unbuffered result can give rows before it fails */
    /* Storing them one by one may still succeed. */
    return status == MQ_DUPLICATE || status == MQ_FULL ? MQ_OK : status;
}

/* ---- storing ---- */

/* The job that has the pair (reference, type) already. */
struct holder {
    int64_t id; /* 0: it is gone */
    bool dead;  /* parked or expired: it is not sent any more */
};

static enum mq_status find_holder(struct mq_queue *queue, const struct mq_new_job *job,
                                  int64_t now_s, struct holder *holder, struct mq_error *err)
{
    enum mq_status status;
    struct mq_args pair = MQ_ARGS(mq_int(now_s), mq_text(job->reference), mq_text(job->mail_type));
    *holder = (struct holder){0};
    if (mq_sql_row(queue, MQ_SQL_PAIR, pair, &status, err)) {
        holder->id = mq_sql_column_int(queue, 0);
        holder->dead = mq_sql_column_int(queue, 1) != 0;
        mq_sql_finish(queue);
    }
    return status;
}

enum mq_status mq_job_store(struct mq_tx *tx, const struct mq_new_job *job, int64_t *id,
                            struct mq_error *err)
{
    for (bool again = false;; again = true) {
        struct holder holder;
        enum mq_status status = insert_job(tx->queue, job, tx->now_s, id, err);
        bool duplicate = status == MQ_DUPLICATE ? job->reference.data != NULL : *id == 0;
        if ((status != MQ_OK && status != MQ_DUPLICATE) || !duplicate) {
            return status;
        }
        MQ_TRY(find_holder(tx->queue, job, tx->now_s, &holder, err));
        if (!holder.dead || again) {
            return holder.id ? MQ_OK : status; /* no holder: the row violates another unique key */
        }
        MQ_TRY(mq_job_drop(tx->queue, holder.id, NULL, err));
    }
}

static enum mq_status store_all(struct mq_tx *tx, struct mq_new_job *jobs, size_t count,
                                int64_t *ids, struct mq_error *err)
{
    MQ_TRY(mq_suppress_new(tx, jobs, count, err));
    MQ_TRY(insert_jobs(tx->queue, jobs, count, ids, err));
    for (size_t i = 0; i < count; i++) {
        if (ids[i] == 0) {
            MQ_TRY(mq_job_store(tx, &jobs[i], &ids[i], err));
        }
    }
    return MQ_OK;
}

/* Tries to store a job with one statement; if *done is false, it needs a transaction. */
static enum mq_status store_alone(struct mq_queue *queue, const struct mq_new_job *job, int64_t *id,
                                  bool *done, struct mq_error *err)
{
    struct holder holder = {0, false};
    struct mq_db *db = queue->db;
    enum mq_alone what = MQ_ALONE_NEVER;
    if (mq_sql_has(queue, MQ_SQL_STORE) && db->driver->alone) {
        MQ_TRY(db->driver->alone(db, &what, err));
    }
    if (what == MQ_ALONE_NEVER) {
        return MQ_OK;
    }
    enum mq_status status = insert_job(queue, job, 0, id, err);
    if (status == MQ_IO && err) {
        err->in_doubt = what == MQ_ALONE_COMMITS;
    }
    if (status == MQ_OK && *id == 0) {
        status = find_holder(queue, job, 0, &holder, err);
    }
    *done = status == MQ_OK && (*id != 0 || (holder.id != 0 && !holder.dead));
    bool again = status == MQ_TX_ABORTED && what == MQ_ALONE_COMMITS;
    return again ? MQ_OK : status; /* a transaction tries it again */
}

static enum mq_status store_jobs(struct mq_queue *queue, struct mq_new_job *jobs, size_t count,
                                 int64_t *ids, struct mq_error *err)
{
    struct mq_tx tx = {.queue = queue, .only_new = true};
    bool done = count == 0;
    enum mq_status status = count == 1 ? store_alone(queue, jobs, ids, &done, err) : MQ_OK;
    while (!done && mq_tx_next(&tx, &status, err)) {
        status = store_all(&tx, jobs, count, ids, err);
    }
    return status;
}

enum mq_status mq_queue_enqueue(struct mq_queue *queue, struct mq_new_job *jobs, size_t count,
                                int64_t *ids, struct mq_error *err)
{
    enum mq_status status = store_jobs(queue, jobs, count, ids, err);
    if (status != MQ_DATABASE || queue->ready) {
        return status;
    }
    /* Perhaps the tables are missing or old. */
    MQ_TRY(mq_queue_prepare(queue, err));
    return store_jobs(queue, jobs, count, ids, err);
}
