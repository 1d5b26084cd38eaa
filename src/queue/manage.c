/* What people do with jobs: look, retry, hold, delete; and the sweep of what nobody waits for. */
#include "queue/manage.h"

#include <stdlib.h>
#include <string.h>

#include "core/json.h"
#include "queue/handle.h"
#include "queue/sql/columns.h"
#include "queue/sql/schema.h"
#include "queue/sql/transaction.h"

#define LIST_MAX 100000

/* ---- lists ---- */

void mq_job_list_clear(struct mq_job_list *list)
{
    for (size_t i = 0; i < list->count; i++) {
        mq_job_clear(&list->jobs[i]);
    }
    free(list->jobs);
    list->jobs = NULL;
    list->count = 0;
}

/* *after and *left: the last row that was read, and how many more there was room for. */
static enum mq_status read_list(struct mq_queue *queue, int64_t *after, int *left,
                                struct mq_job_list *list, struct mq_error *err)
{
    bool row = true;
    bool readable;
    while (row) {
        enum mq_status status = mq_sql_next(queue, &row, err);
        if (status != MQ_OK || !row) {
            return status;
        }
        if (*left == 0) {
            break;
        }
        --*left;
        *after = mq_sql_column_int(queue, 0);
        if (!mq_job_has_state(queue)) {
            continue;
        }
        status = mq_job_read(queue, &list->jobs[list->count++], &readable, err);
        if (status != MQ_OK) {
            mq_sql_finish(queue);
            return status;
        }
    }
    mq_sql_finish(queue);
    return MQ_OK;
}

enum mq_status mq_queue_jobs(struct mq_queue *queue, const struct mq_job_filter *filter,
                             struct mq_job_list *out, struct mq_error *err)
{
    if (filter->limit < 1 || filter->limit > LIST_MAX) {
        return mq_error_set(err, MQ_INVALID, "limit", "limit must be 1 … %d, not %d", LIST_MAX,
                            filter->limit);
    }
    if (filter->state >= MQ_STATE_COUNT) {
        return mq_error_set(err, MQ_INVALID, "status", "there is no such status");
    }
    struct mq_job_list list = {calloc((size_t)filter->limit, sizeof(struct mq_job)), 0};
    if (!list.jobs) {
        return mq_error_nomem(err);
    }
    enum mq_sql slot =
        filter->state < 0 ? MQ_SQL_JOBS : (enum mq_sql)(MQ_SQL_JOBS_PENDING + filter->state);
    enum mq_status status = mq_schema_ready(queue, err);
    int64_t after = filter->after;
    int left = 0;
    while (status == MQ_OK && left == 0 && list.count < (size_t)filter->limit) {
        left = filter->limit - (int)list.count;
        status = mq_sql_query(queue, slot, MQ_ARGS(mq_int(after), mq_int(left)), err);
        if (status == MQ_OK) {
            status = read_list(queue, &after, &left, &list, err);
        }
    }
    if (status != MQ_OK) {
        mq_job_list_clear(&list);
        return status;
    }
    *out = list;
    return MQ_OK;
}

enum mq_status mq_queue_strays(struct mq_queue *queue, struct mq_stray *out, size_t room,
                               size_t *count, struct mq_error *err)
{
    bool row = true;
    size_t found = 0;
    enum mq_status status = mq_schema_ready(queue, err);
    if (status == MQ_OK) {
        status = mq_sql_query(queue, MQ_SQL_STRAYS, MQ_ARGS(mq_int((int64_t)room)), err);
    }
    while (status == MQ_OK) {
        status = mq_sql_next(queue, &row, err);
        if (status != MQ_OK || !row || found == room) {
            break;
        }
        out[found].id = mq_sql_column_int(queue, 0);
        mq_str_printable(out[found].status, sizeof(out[found].status), 0,
                         mq_sql_column_str(queue, 1));
        found++;
    }
    mq_sql_finish(queue);
    if (status == MQ_OK) {
        *count = found;
    }
    return status;
}

/* One row, if it is there. */
struct one {
    struct mq_job job;
    bool found;
    bool readable; /* its recipients are */
};

/* Reads one row by id, by MQ_SQL_JOB or MQ_SQL_JOB_CHANGE; the job is initialised in any case. */
static enum mq_status read_one(struct mq_queue *queue, enum mq_sql slot, int64_t id,
                               struct one *one, struct mq_error *err)
{
    bool row = false;
    mq_job_init(&one->job);
    one->found = false;
    one->readable = false;
    enum mq_status status = mq_sql_query(queue, slot, MQ_ARGS(mq_int(id)), err);
    if (status == MQ_OK) {
        status = mq_sql_next(queue, &row, err);
    }
    if (status != MQ_OK || !row) {
        return status;
    }
    status = mq_job_read(queue, &one->job, &one->readable, err);
    mq_sql_finish(queue);
    one->found = status == MQ_OK;
    return status;
}

enum mq_status mq_queue_job(struct mq_queue *queue, int64_t id, struct mq_job *out, bool *found,
                            struct mq_error *err)
{
    struct one one;
    enum mq_status status = mq_schema_ready(queue, err);
    if (status != MQ_OK) {
        return status;
    }
    status = read_one(queue, MQ_SQL_JOB, id, &one, err);
    if (status == MQ_OK && one.found) {
        status = mq_job_load_body(queue, &one.job, err);
    }
    if (status != MQ_OK || !one.found) {
        mq_job_clear(&one.job);
    }
    if (status == MQ_OK) {
        *found = one.found;
        if (one.found) {
            *out = one.job;
        }
    }
    return status;
}

/* ---- changes by id ---- */

/* One change that a person makes to one job; *changed counts it. */
struct change {
    struct mq_tx *tx;
    const struct mq_ids *ids; /* NULL: all that is retryable */
    bool reset;
    int64_t changed;
    enum mq_status (*apply)(struct change *change, int64_t id, struct mq_error *err);
};

static enum mq_status apply_ids(struct change *change, const struct mq_ids *ids,
                                struct mq_error *err)
{
    enum mq_status status = MQ_OK;
    for (size_t i = 0; i < ids->count && status == MQ_OK; i++) {
        status = change->apply(change, ids->items[i], err);
    }
    return status;
}

/* Refused recipients come back behind those that are left. */
static enum mq_status bring_back(struct mq_job *job, struct mq_error *err)
{
    struct mq_strings addresses;
    struct mq_strings replies;
    struct mq_error why;
    bool ok = true;
    if (!job->refused) {
        return MQ_OK;
    }
    mq_strings_init(&addresses);
    mq_strings_init(&replies);
    enum mq_status status =
        mq_json_read_object(mq_str_of(job->refused), &addresses, &replies, &why);
    for (size_t i = 0; status == MQ_OK && i < addresses.count && ok; i++) {
        if (!mq_strings_contains(&job->recipients, addresses.items[i])) {
            ok = mq_strings_add(&job->recipients, mq_str_of(addresses.items[i]));
        }
    }
    mq_strings_clear(&addresses);
    mq_strings_clear(&replies);
    if (status == MQ_NOMEM || !ok) {
        return mq_error_nomem(err);
    }
    if (status != MQ_OK) {
        return mq_error_set(err, MQ_SCHEMA, "refused",
                            "the column refused of job %lld is no JSON object: correct the row",
                            (long long)job->id);
    }
    return MQ_OK;
}

static enum mq_status write_retry(struct change *change, const struct mq_job *job,
                                  struct mq_error *err)
{
    struct mq_queue *queue = change->tx->queue;
    int last = mq_job_max_attempts(queue, job) - 1;
    int attempts = change->reset ? 0 : last;
    if (!change->reset && job->state == MQ_FAILED && job->attempts < last) {
        attempts = job->attempts; /* it has more of them anyway */
    }
    struct mq_buffer list;
    mq_buffer_init(&list);
    if (job->recipients.count) {
        mq_json_strings(&list, &job->recipients);
    }
    struct mq_value values[] = {mq_null(), mq_int(attempts), mq_int(change->tx->now_s),
                                mq_text(mq_buffer_view(&list)), mq_int(job->id)};
    struct mq_transition to = {job->state, MQ_PENDING, MQ_SQL_RETRY, values, 5};
    enum mq_status status = list.failed ? mq_error_nomem(err) : mq_job_transition(queue, &to, err);
    change->changed += status == MQ_OK;
    mq_buffer_clear(&list);
    return status;
}

static enum mq_status retry_one(struct change *change, int64_t id, struct mq_error *err)
{
    struct one one;
    enum mq_status status = read_one(change->tx->queue, MQ_SQL_JOB_CHANGE, id, &one, err);
    bool fits = one.readable && (one.job.state == MQ_PARKED || one.job.state == MQ_FAILED);
    if (status == MQ_OK && fits) {
        status = bring_back(&one.job, err);
    }
    if (status == MQ_OK && fits) {
        status = write_retry(change, &one.job, err);
    }
    mq_job_clear(&one.job);
    return status;
}

#define RETRY_CHUNK 500

/* Ids after *cursor of what waits for its next attempt, or is parked as refused or exhausted. */
static enum mq_status read_retryable(struct mq_queue *queue, int64_t *cursor, int64_t *ids,
                                     size_t *count, struct mq_error *err)
{
    bool row = true;
    struct mq_args args = MQ_ARGS(mq_int(*cursor), mq_int(RETRY_CHUNK));
    enum mq_status status = mq_sql_query(queue, MQ_SQL_RETRYABLE, args, err);
    *count = 0;
    while (status == MQ_OK) {
        status = mq_sql_next(queue, &row, err);
        if (status != MQ_OK || !row || *count == RETRY_CHUNK) {
            break;
        }
        ids[(*count)++] = *cursor = mq_sql_column_int(queue, 0);
    }
    return status;
}

static enum mq_status retry_all(struct change *change, struct mq_error *err)
{
    int64_t items[RETRY_CHUNK];
    int64_t cursor = 0;
    struct mq_ids ids = {items, 0};
    enum mq_status status;
    do {
        status = read_retryable(change->tx->queue, &cursor, items, &ids.count, err);
        if (status == MQ_OK) {
            status = apply_ids(change, &ids, err);
        }
    } while (status == MQ_OK && ids.count == RETRY_CHUNK);
    return status;
}

static enum mq_status change_body(struct mq_tx *tx, void *context, struct mq_error *err)
{
    struct change *change = context;
    change->tx = tx;
    change->changed = 0;
    return change->ids ? apply_ids(change, change->ids, err) : retry_all(change, err);
}

static enum mq_status run_change(struct mq_queue *queue, struct change *change,
                                 const struct mq_ids *ids, int64_t *changed, struct mq_error *err)
{
    change->ids = ids;
    struct mq_tx_work work = {.body = change_body, .context = change};
    enum mq_status status = mq_tx_run(queue, &work, err);
    if (status == MQ_OK) {
        *changed = change->changed;
    }
    return status;
}

enum mq_status mq_queue_retry(struct mq_queue *queue, const struct mq_ids *ids, bool reset,
                              int64_t *changed, struct mq_error *err)
{
    struct change change = {.reset = reset, .apply = retry_one};
    return run_change(queue, &change, ids, changed, err);
}

static enum mq_status hold_one(struct change *change, int64_t id, struct mq_error *err)
{
    struct one one;
    struct mq_queue *queue = change->tx->queue;
    enum mq_status status = read_one(queue, MQ_SQL_JOB_CHANGE, id, &one, err);
    bool waits = one.job.state == MQ_PENDING || one.job.state == MQ_FAILED;
    if (status == MQ_OK && one.found && waits) {
        struct mq_value values[] = {mq_null(), mq_cstr("hold"), mq_null(), mq_int(id)};
        struct mq_transition to = {one.job.state, MQ_PARKED, MQ_SQL_PARK, values, 4};
        status = mq_job_transition(queue, &to, err);
        change->changed += status == MQ_OK;
    }
    mq_job_clear(&one.job);
    return status;
}

enum mq_status mq_queue_hold(struct mq_queue *queue, const struct mq_ids *ids, int64_t *changed,
                             struct mq_error *err)
{
    struct change change = {.apply = hold_one};
    return run_change(queue, &change, ids, changed, err);
}

/* A transaction's part of the ids: from `next` on, until it has deleted enough. */
struct piece {
    const struct mq_ids *ids;
    size_t next;
    size_t end;      /* the first that it left */
    int64_t deleted; /* rows */
    int64_t begun_ms;
    bool joined;
};

static enum mq_status delete_some(struct mq_tx *tx, void *context, struct mq_error *err)
{
    struct piece *piece = context;
    struct mq_queue *queue = tx->queue;
    struct mq_dropped sum = {0, 0};
    enum mq_status status = MQ_OK;
    piece->end = piece->next;
    piece->joined = tx->joined;
    piece->begun_ms = queue->host.boot_ms(queue->host.context);
    while (piece->end < piece->ids->count && !mq_dropped_enough(&sum) && status == MQ_OK) {
        status = mq_job_drop(queue, piece->ids->items[piece->end++], &sum, err);
    }
    piece->deleted = sum.rows;
    return status;
}

enum mq_status mq_queue_delete(struct mq_queue *queue, const struct mq_ids *ids, int64_t *changed,
                               struct mq_error *err)
{
    struct piece piece = {.ids = ids};
    struct mq_tx_work work = {.body = delete_some, .context = &piece};
    int64_t deleted = 0;
    for (;;) {
        enum mq_status status = mq_tx_run(queue, &work, err);
        if (status != MQ_OK) {
            return status;
        }
        deleted += piece.deleted;
        piece.next = piece.end;
        if (piece.next >= ids->count) {
            break;
        }
        /* Within the application's transaction the lock stays taken, however long we wait. */
        if (!piece.joined) {
            mq_tx_leave_free(queue, piece.begun_ms);
        }
    }
    *changed = deleted;
    return MQ_OK;
}
