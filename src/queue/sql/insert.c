/* INSERTs of jobs and bodies. What a row has comes from the descriptor of the columns. */
#include "queue/sql/insert.h"

#include <stdlib.h>
#include <string.h>

#include "core/json.h"
#include "db/db.h"
#include "mime/notify.h"
#include "queue/enqueue.h"
#include "queue/handle.h"
#include "queue/sql/descriptor.h"

/* Octets of messages in one statement: the server and PDO hold them several times. */
#define STATEMENT_OCTETS (512 * 1024)

/* ---- the values of a row ---- */

#define VALUES_MAX (MQ_FIRST_NEW_PARAMETER - 1 + MQ_COL_COUNT)

/* ?1 and ?2, then those of the columns. Lists are the row's own, all else is the job's. */
struct row {
    struct mq_value values[VALUES_MAX];
    int count;
    struct mq_buffer recipients;
    struct mq_buffer notify;
};

static struct mq_value recipients_of(struct row *row, const struct mq_new_job *job)
{
    if (job->recipients && job->recipients->count) {
        mq_json_strings(&row->recipients, job->recipients);
    }
    return mq_text(mq_buffer_view(&row->recipients));
}

static struct mq_value notify_of(struct row *row, const struct mq_new_job *job)
{
    if (job->notify && mq_notify_asks(job->notify)) {
        mq_notify_write(job->notify, &row->notify);
    }
    return mq_text(mq_buffer_view(&row->notify));
}

static struct mq_value value_of(struct row *row, const struct mq_new_job *job,
                                const struct mq_column *column)
{
    const void *member = (const char *)job + column->fresh_at;
    switch (column->fresh) {
    case MQ_NEW_STR:
        return mq_text(*(const struct mq_str *)member);
    case MQ_NEW_NOTE:
        return mq_note(*(const struct mq_str *)member);
    case MQ_NEW_CSTR:
        return mq_cstr(*(const char *const *)member);
    case MQ_NEW_INT:
        return mq_int(*(const int *)member);
    case MQ_NEW_OPTION:
        return mq_int_or_null(*(const int *)member);
    case MQ_NEW_TIME:
        return mq_int_or_null(*(const int64_t *)member);
    case MQ_NEW_RECIPIENTS:
        return recipients_of(row, job);
    case MQ_NEW_NOTIFY:
        return notify_of(row, job);
    case MQ_NEW_NOT:
    case MQ_NEW_SQL:
        break;
    }
    return mq_null();
}

/* False without memory; to be cleared in any case. */
static bool make_row(struct row *row, const struct mq_new_job *job, int64_t now_s)
{
    mq_buffer_init(&row->recipients);
    mq_buffer_init(&row->notify);
    row->values[0] = mq_int(now_s);
    row->values[1] = mq_null();
    row->count = MQ_FIRST_NEW_PARAMETER - 1;
    for (size_t i = 0; i < MQ_COL_COUNT; i++) {
        if (mq_columns[i].fresh != MQ_NEW_NOT && mq_columns[i].fresh != MQ_NEW_SQL) {
            row->values[row->count++] = value_of(row, job, &mq_columns[i]);
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

/* For databases that report a duplicate as an error: MQ_OK if the pair is the duplicate,
 * MQ_DUPLICATE if it is in a key of the application's. */
static enum mq_status look_at_pair(struct mq_queue *queue, const struct mq_new_job *job,
                                   struct mq_error *err)
{
    int64_t id = 0;
    struct mq_args pair = MQ_ARGS(mq_int(0), mq_text(job->reference), mq_text(job->mail_type));
    if (job->reference.data) {
        MQ_TRY(mq_sql_int(queue, MQ_SQL_PAIR, pair, &id, err)); /* may be a deadlock's victim */
    }
    return id ? MQ_OK : MQ_DUPLICATE;
}

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

enum mq_status mq_insert_job(struct mq_queue *queue, const struct mq_new_job *job, int64_t now_s,
                             int64_t *id, struct mq_error *err)
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
    MQ_TRY(status == MQ_DUPLICATE ? look_at_pair(queue, job, err) : status);
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

/* A statement that is made for this number of rows, and its values. */
struct statement {
    struct mq_buffer text;
    struct mq_value *values;
    int count;
};

static enum mq_status run_statement(struct mq_queue *queue, const struct statement *made,
                                    struct mq_error *err)
{
    char *sql =
        made->text.failed ? NULL : mq_sql_expand(queue->dialect, &queue->names, made->text.data);
    struct mq_query query = {-1, sql, made->values, made->count};
    enum mq_status status =
        sql ? queue->db->driver->run(queue->db, &query, err) : mq_error_nomem(err);
    free(sql);
    return status;
}

/* Whether the row that was given back is that job's. Rows come in the order of the values, without
 * those of pairs that were there. */
static bool is_of(struct mq_queue *queue, const struct mq_new_job *job)
{
    struct mq_str reference = mq_sql_column_str(queue, 1);
    bool same = job->reference.data ? reference.data && mq_str_equal(reference, job->reference) &&
                                          mq_str_equal(mq_sql_column_str(queue, 2), job->mail_type)
                                    : !reference.data;
    return same && mq_str_equal(mq_sql_column_str(queue, 3), mq_str_of(job->message_id));
}

/* A body under another job's id would go to the wrong people: what does not fit is an error. */
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

static enum mq_status insert_rows(struct mq_queue *queue, const struct mq_new_job *jobs,
                                  struct row *rows, size_t count, struct mq_error *err)
{
    struct statement made = {.count = 0};
    bool ok = true;
    int next = 1;
    made.values = malloc(count * sizeof(rows->values));
    mq_buffer_init(&made.text);
    mq_buffer_cstr(&made.text, "INSERT INTO {t}({f}) VALUES ");
    for (size_t i = 0; i < count && made.values; i++) {
        const int skipped = MQ_FIRST_NEW_PARAMETER - 1; /* a server's time, and its own statement */
        ok = make_row(&rows[i], &jobs[i], 0) && ok;
        memcpy(&made.values[made.count], &rows[i].values[skipped],
               (size_t)(rows[i].count - skipped) * sizeof(struct mq_value));
        made.count += rows[i].count - skipped;
        mq_buffer_cstr(&made.text, i ? "," : "");
        next = mq_columns_write_values(&made.text, next);
    }
    mq_buffer_cstr(&made.text, queue->dialect->returning_many);
    enum mq_status status =
        ok && made.values ? run_statement(queue, &made, err) : mq_error_nomem(err);
    mq_buffer_clear(&made.text);
    free(made.values);
    return status;
}

struct stored {
    const struct mq_new_job *jobs;
    size_t count;
    const int64_t *ids;
};

/* The bodies of jobs that were stored, from jobs[*at] on, as many as one statement takes. */
static enum mq_status insert_bodies(struct mq_queue *queue, const struct stored *stored, size_t *at,
                                    struct mq_error *err)
{
    struct statement made = {.values = malloc(2 * stored->count * sizeof(struct mq_value))};
    size_t octets = 0;
    mq_buffer_init(&made.text);
    mq_buffer_cstr(&made.text, "INSERT INTO {b}(id, content) VALUES ");
    for (; *at < stored->count && made.values; (*at)++) {
        const struct mq_new_job *job = &stored->jobs[*at];
        if (stored->ids[*at] == 0 || !job->body.data) {
            continue;
        }
        octets += job->body.len;
        if (made.count && octets > STATEMENT_OCTETS) {
            break;
        }
        mq_buffer_printf(&made.text, "%s(?%d, ?%d)", made.count ? "," : "", made.count + 1,
                         made.count + 2);
        made.values[made.count++] = mq_int(stored->ids[*at]);
        made.values[made.count++] = mq_blob(job->body);
    }
    enum mq_status status = made.values ? MQ_OK : mq_error_nomem(err);
    if (made.count) {
        status = run_statement(queue, &made, err);
        mq_sql_finish(queue);
    }
    mq_buffer_clear(&made.text);
    free(made.values);
    return status;
}

enum mq_status mq_insert_jobs(struct mq_queue *queue, const struct mq_new_job *jobs, size_t count,
                              int64_t *ids, struct mq_error *err)
{
    struct stored stored = {jobs, count, ids};
    memset(ids, 0, count * sizeof(*ids));
    if (count < 2 || !queue->db->returning || !queue->dialect->returning_many) {
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
    if (status != MQ_OK) {
        memset(ids, 0, count * sizeof(*ids)); /* an unbuffered result gives rows before it fails */
    }
    if (status == MQ_DUPLICATE || status == MQ_FULL) {
        return MQ_OK; /* one by one they may be stored */
    }
    for (size_t at = 0; at < count && status == MQ_OK;) {
        status = insert_bodies(queue, &stored, &at, err);
    }
    return status;
}
