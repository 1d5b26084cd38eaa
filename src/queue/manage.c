/* What people do with jobs: list, retry, hold, delete. */
#include "queue/manage.h"

#include <stdlib.h>
#include <string.h>

#include "core/json.h"
#include "queue/body.h"
#include "queue/campaign/feed.h"
#include "queue/handle.h"
#include "queue/job.h"
#include "queue/sql/columns.h"
#include "queue/sql/schema.h"
#include "queue/sql/transaction.h"
#include "queue/steps.h"

/* ---- lists ---- */

#define FILTER_MAX 10

/* A list's statement with the filter's conditions in it. */
struct list_query {
    struct mq_buffer sql;
    struct mq_value values[FILTER_MAX];
    int count;
};

/* Adds a condition, a template in which %d is the parameter's number, if there is a value. */
static void add_condition(struct list_query *list, const char *condition, struct mq_value value)
{
    if (value.type != MQ_NULL) {
        list->values[list->count++] = value;
        mq_buffer_printf(&list->sql, condition, list->count, list->count);
    }
}

#define LOWER(text)      "lower(CAST(" text " AS {A}))"
#define HOLDS(column, n) "{F}(" LOWER(column) ", " LOWER("?" n) ") > 0"

static enum mq_sql slot_of(const struct mq_job_filter *filter)
{
    return filter->state < 0 ? MQ_SQL_JOBS : (enum mq_sql)(MQ_SQL_JOBS_PENDING + filter->state);
}

/* Writes a slot's statement, from `text` on behind `head`, with the conditions before the one for
 * the id. */
static char *write_list(const struct mq_queue *queue, const char *head, const char *text,
                        const struct mq_job_filter *filter, struct list_query *list)
{
    const char *rest = strstr(text, " AND id > ?1");
    list->values[list->count++] = mq_int(filter->after);
    list->values[list->count++] = mq_int(filter->limit);
    mq_buffer_cstr(&list->sql, head);
    mq_buffer_append(&list->sql, text, (size_t)(rest - text));
    add_condition(list, " AND mail_type = ?%d", mq_text(filter->type));
    add_condition(list, " AND {r} = ?%d", mq_text(filter->reference));
    add_condition(list, " AND (" HOLDS("recipients", "%d") " OR " HOLDS("refused", "%d") ")",
                  mq_text(filter->recipient));
    add_condition(list, " AND " HOLDS("last_error", "%d"), mq_text(filter->error));
    add_condition(list, " AND " HOLDS("subject", "%d"), mq_text(filter->subject));
    add_condition(list, " AND created_at < ?%d", mq_int_or_null(filter->created_before_s));
    add_condition(list, " AND id <= ?%d", mq_int_or_null(filter->until));
    add_condition(list, " AND campaign_id = (SELECT id FROM {M} WHERE name = ?%d)",
                  mq_text(filter->campaign));
    mq_buffer_cstr(&list->sql, filter->uncertain ? " AND uncertain_to IS NOT NULL" : "");
    mq_buffer_cstr(&list->sql, rest);
    return list->sql.failed ? NULL : mq_sql_expand(queue->dialect, &queue->names, list->sql.data);
}

static enum mq_status list_jobs(struct mq_queue *queue, const struct mq_job_filter *filter,
                                struct mq_job_list *out, struct mq_error *err)
{
    enum mq_sql slot = slot_of(filter);
    const char *text = mq_sql_text(queue, slot);
    struct list_query list = {0};
    char *sql = text ? write_list(queue, "", text, filter, &list) : NULL;
    bool plain = list.count == 2 && !filter->uncertain;
    struct mq_args args = {list.values, list.count};
    enum mq_status status = MQ_OK;
    if (!sql) {
        status = mq_error_nomem(err);
    } else {
        status =
            plain ? mq_sql_query(queue, slot, args, err) : mq_sql_query_text(queue, sql, args, err);
    }
    if (status == MQ_OK) {
        status = mq_jobs_take(queue, out, err);
    }
    if (status == MQ_OK && filter->expected) {
        status = mq_queue_expect(queue, out->jobs, out->count, err);
    }
    mq_buffer_clear(&list.sql);
    free(sql);
    return status;
}

enum mq_status mq_queue_jobs(struct mq_queue *queue, const struct mq_job_filter *filter,
                             struct mq_job_list *out, struct mq_error *err)
{
    *out = (struct mq_job_list){0};
    MQ_TRY(mq_schema_check(queue, err));
    enum mq_status status = list_jobs(queue, filter, out, err);
    if (status != MQ_OK) {
        mq_job_list_clear(out);
    }
    return status;
}

/* Reads ids alone, into `items`. */
static enum mq_status list_ids(struct mq_queue *queue, const struct mq_job_filter *filter,
                               int64_t *items, size_t *count, struct mq_error *err)
{
    const char *text = mq_sql_text(queue, slot_of(filter));
    struct list_query list = {0};
    char *sql = text ? write_list(queue, "SELECT id", strstr(text, " FROM "), filter, &list) : NULL;
    struct mq_args args = {list.values, list.count};
    enum mq_status status = sql ? mq_sql_query_text(queue, sql, args, err) : mq_error_nomem(err);
    for (*count = 0; sql && mq_sql_next(queue, &status, err); ++*count) {
        items[*count] = mq_sql_column_int(queue, 0);
    }
    mq_buffer_clear(&list.sql);
    free(sql);
    return status;
}

enum mq_status mq_queue_job_ids(struct mq_queue *queue, const struct mq_job_filter *filter,
                                int64_t *items, size_t *count, struct mq_error *err)
{
    MQ_TRY(mq_schema_check(queue, err));
    return list_ids(queue, filter, items, count, err);
}

enum mq_status mq_queue_strays(struct mq_queue *queue, struct mq_strays *out, struct mq_error *err)
{
    const int64_t room = sizeof out->items / sizeof out->items[0];
    out->count = 0;
    MQ_TRY(mq_schema_check(queue, err));
    enum mq_status status = mq_sql_query(queue, MQ_SQL_STRAYS, MQ_ARGS(mq_int(room)), err);
    while (mq_sql_next(queue, &status, err)) {
        struct mq_stray *stray = &out->items[out->count++];
        stray->id = mq_sql_column_int(queue, 0);
        mq_str_printable(stray->status, sizeof stray->status, 0, mq_sql_column_str(queue, 1));
    }
    return status;
}

enum mq_status mq_queue_job(struct mq_queue *queue, int64_t id, struct mq_job *out, bool *found,
                            struct mq_error *err)
{
    struct mq_job_list list = {0};
    MQ_TRY(mq_schema_check(queue, err));
    enum mq_status status = mq_jobs_read(queue, MQ_SQL_JOB, MQ_ARGS(mq_int(id)), &list, err);
    if (status == MQ_OK && list.count) {
        status = mq_job_load_body(queue, &list.jobs[0], false, err);
    }
    if (status == MQ_OK) {
        status = mq_queue_expect(queue, list.jobs, list.count, err);
    }
    if (status == MQ_OK) {
        *found = list.count > 0;
        if (*found) {
            *out = list.jobs[0];
            list.count = 0; /* the caller owns it */
        }
    }
    mq_job_list_clear(&list);
    return status;
}

/* ---- changes by id ---- */

enum mq_status mq_job_bring_back(struct mq_job *job, struct mq_error *err)
{
    struct mq_strings refused = {0}; /* each address and its reply */
    bool ok = true;
    if (!job->refused) {
        return MQ_OK;
    }
    enum mq_status status = mq_json_read(mq_str_of(job->refused), '{', &refused);
    for (size_t i = 0; i < refused.count && ok; i += 2) {
        if (!mq_strings_contains(&job->recipients, refused.items[i])) {
            ok = mq_strings_add(&job->recipients, mq_str_of(refused.items[i]));
        }
    }
    mq_strings_clear(&refused);
    if (status == MQ_NOMEM || !ok) {
        return mq_error_nomem(err);
    }
    if (status != MQ_OK) {
        return mq_error_set(err, MQ_SCHEMA, "refused",
                            "the column refused of job %lld is not a JSON object: correct the row",
                            (long long)job->id);
    }
    return MQ_OK;
}

static enum mq_status write_retry(struct mq_tx *tx, const struct mq_job *job, bool reset,
                                  struct mq_error *err)
{
    int last = mq_job_max_attempts(tx->queue, job) - 1;
    int attempts = reset ? 0 : last;
    if (!reset && job->state == MQ_FAILED && job->attempts < last) {
        attempts = job->attempts; /* more than one is left */
    }
    struct mq_buffer list = {0};
    if (job->recipients.count) {
        mq_json_strings(&list, &job->recipients);
    }
    struct mq_value values[] = {mq_null(), mq_int(attempts), mq_int(tx->now_s),
                                mq_text(mq_buffer_view(&list)), mq_int(job->id)};
    struct mq_transition to = {job->state, MQ_PENDING, MQ_SQL_RETRY, values, 5};
    enum mq_status status =
        list.failed ? mq_error_nomem(err) : mq_job_transition(tx->queue, &to, err);
    mq_buffer_clear(&list);
    return status;
}

/* Whether a run has put a pending job back without an attempt: for its relay, or for a limit. A job
 * that is to be sent later, as it was enqueued, has neither. */
static bool was_put_back(const struct mq_tx *tx, const struct mq_job *job)
{
    return job->state == MQ_PENDING && job->next_attempt_at > tx->now_s &&
           (job->last_error || job->put_back);
}

/* Retries a job if it is parked or failed, or was put back, and counts it in *changed. */
static enum mq_status retry_one(struct mq_tx *tx, int64_t id, bool reset, int64_t *changed,
                                struct mq_error *err)
{
    struct mq_job_list list = {0};
    struct mq_args args = MQ_ARGS(mq_int(id));
    enum mq_status status = mq_jobs_read(tx->queue, MQ_SQL_JOB_CHANGE, args, &list, err);
    struct mq_job *job = list.jobs;
    bool readable = status == MQ_OK && list.count && !job->unreadable;
    if (readable && was_put_back(tx, job)) {
        struct mq_args now = MQ_ARGS(mq_int(tx->now_s), mq_null(), mq_int(id));
        status = mq_sql_exec(tx->queue, MQ_SQL_PUT_BACK, now, err);
        ++*changed;
    } else if (readable && (job->state == MQ_PARKED || job->state == MQ_FAILED)) {
        status = mq_job_bring_back(job, err);
        if (status == MQ_OK) {
            status = write_retry(tx, job, reset, err);
            mq_campaign_back(tx, job);
        }
        ++*changed;
    }
    mq_job_list_clear(&list);
    return status;
}

/* So many of all jobs are retried in one transaction. */
#define RETRY_CHUNK 500

/* Reads the next ids of jobs that are failed, or parked as refused or exhausted. */
static enum mq_status next_ids(struct mq_queue *queue, int64_t behind, int64_t *items,
                               size_t *count, struct mq_error *err)
{
    struct mq_args args = MQ_ARGS(mq_int(behind), mq_int(RETRY_CHUNK));
    enum mq_status status = mq_sql_query(queue, MQ_SQL_RETRYABLE, args, err);
    for (*count = 0; mq_sql_next(queue, &status, err); ++*count) {
        items[*count] = mq_sql_column_int(queue, 0);
    }
    return status;
}

enum mq_status mq_retry_within(struct mq_tx *tx, const struct mq_ids *ids, bool reset,
                               int64_t *changed, struct mq_error *err)
{
    *changed = 0;
    for (size_t i = 0; i < ids->count; i++) {
        MQ_TRY(retry_one(tx, ids->items[i], reset, changed, err));
    }
    return MQ_OK;
}

/* What one transaction retried. */
struct retried {
    int64_t changed;
    int64_t last; /* id; of all jobs */
    bool more;    /* there may be jobs behind it */
};

/* Retries the next of all jobs, behind an id: so one that fails again is not tried twice. */
static enum mq_status retry_next(struct mq_tx *tx, int64_t behind, bool reset, struct retried *out,
                                 struct mq_error *err)
{
    int64_t items[RETRY_CHUNK];
    struct mq_ids ids = {items, 0};
    MQ_TRY(next_ids(tx->queue, behind, items, &ids.count, err));
    out->last = ids.count ? items[ids.count - 1] : behind;
    out->more = ids.count == RETRY_CHUNK;
    return mq_retry_within(tx, &ids, reset, &out->changed, err);
}

enum mq_status mq_queue_retry(struct mq_queue *queue, const struct mq_ids *ids, bool reset,
                              int64_t *changed, struct mq_error *err)
{
    struct retried some = {0, 0, false};
    int64_t sum = 0;
    do {
        struct mq_tx tx = {.queue = queue};
        enum mq_status status = MQ_OK;
        int64_t behind = some.last;
        while (mq_tx_next(&tx, &status, err)) {
            status = ids ? mq_retry_within(&tx, ids, reset, &some.changed, err)
                         : retry_next(&tx, behind, reset, &some, err);
        }
        MQ_TRY(status);
        sum += some.changed;
        if (some.more) {
            mq_tx_leave_free(queue, tx.locked_ms);
        }
    } while (some.more);
    *changed = sum;
    return MQ_OK;
}

static enum mq_status hold(struct mq_queue *queue, const struct mq_ids *ids, int64_t *changed,
                           struct mq_error *err)
{
    *changed = 0;
    for (size_t i = 0; i < ids->count; i++) {
        struct mq_value values[] = {mq_null(), mq_int(ids->items[i])};
        struct mq_transition to = {MQ_PENDING, MQ_PARKED, MQ_SQL_HOLD, values, 2};
        MQ_TRY(mq_job_transition(queue, &to, err));
        *changed += mq_sql_changes(queue) > 0;
    }
    return MQ_OK;
}

enum mq_status mq_queue_hold(struct mq_queue *queue, const struct mq_ids *ids, int64_t *changed,
                             struct mq_error *err)
{
    struct mq_tx tx = {.queue = queue};
    enum mq_status status = MQ_OK;
    while (mq_tx_next(&tx, &status, err)) {
        status = hold(queue, ids, changed, err);
    }
    return status;
}

enum mq_status mq_queue_erase_history(struct mq_queue *queue, const struct mq_ids *rows,
                                      struct mq_error *err)
{
    struct mq_tx tx = {.queue = queue};
    enum mq_status status = MQ_OK;
    while (mq_tx_next(&tx, &status, err)) {
        for (size_t i = 0; i < rows->count && status == MQ_OK; i++) {
            status = mq_sql_exec_text(queue, "DELETE FROM {H} WHERE id = ?1",
                                      MQ_ARGS(mq_int(rows->items[i])), err);
        }
    }
    return status;
}

/* Deletes from ids[*next] on, until that is enough for one transaction. */
static enum mq_status delete_some(struct mq_queue *queue, const struct mq_ids *ids, size_t *next,
                                  struct mq_dropped *sum, struct mq_error *err)
{
    while (*next < ids->count && !mq_dropped_enough(sum)) {
        MQ_TRY(mq_job_drop(queue, ids->items[(*next)++], sum, err));
    }
    return MQ_OK;
}

enum mq_status mq_queue_delete(struct mq_queue *queue, const struct mq_ids *ids, int64_t *changed,
                               struct mq_error *err)
{
    int64_t deleted = 0;
    size_t first = 0;
    do {
        struct mq_tx tx = {.queue = queue};
        struct mq_dropped sum = {0, 0};
        size_t next = first;
        enum mq_status status = MQ_OK;
        while (mq_tx_next(&tx, &status, err)) {
            sum = (struct mq_dropped){0, 0};
            next = first;
            status = delete_some(queue, ids, &next, &sum, err);
        }
        MQ_TRY(status);
        if (next < ids->count) {
            mq_tx_leave_free(queue, tx.locked_ms);
        }
        deleted += sum.rows;
        first = next;
    } while (first < ids->count);
    *changed = deleted;
    return MQ_OK;
}
