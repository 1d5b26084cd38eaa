/* Between a row of the job table and struct mq_job. */
#include "queue/sql/columns.h"

#include <stdlib.h>
#include <string.h>

#include "core/json.h"
#include "mime/address.h"
#include "queue/handle.h"
#include "queue/job.h"
#include "queue/sql/descriptor.h"

void mq_job_init(struct mq_job *job)
{
    memset(job, 0, sizeof(*job));
    mq_strings_init(&job->recipients);
    mq_strings_init(&job->targets);
}

void mq_job_clear(struct mq_job *job)
{
    for (size_t i = 0; i < MQ_COL_COUNT; i++) {
        if (mq_columns[i].read == MQ_READ_TEXT) {
            free(*(char **)(void *)((char *)job + mq_columns[i].read_at));
        }
    }
    mq_strings_clear(&job->recipients);
    free(job->body);
    mq_strings_clear(&job->targets);
    free(job->target_of);
    free(job->original_to);
    mq_job_init(job);
}

/* Reads a column into its member; false without memory. */
static bool read_column(struct mq_queue *queue, struct mq_job *job, size_t i)
{
    char *member = (char *)job + mq_columns[i].read_at;
    struct mq_str text;
    switch (mq_columns[i].read) {
    case MQ_READ_NOT:
        return true;
    case MQ_READ_INT:
        *(int *)(void *)member = (int)mq_sql_column_int(queue, (int)i);
        return true;
    case MQ_READ_INT64:
        *(int64_t *)(void *)member = mq_sql_column_int(queue, (int)i);
        return true;
    case MQ_READ_TEXT:
        text = mq_sql_column_str(queue, (int)i);
        *(char **)(void *)member = text.data ? mq_str_dup(text) : NULL;
        return !text.data || *(char **)(void *)member;
    }
    return true;
}

static bool read_columns(struct mq_queue *queue, struct mq_job *job)
{
    bool ok = true;
    for (size_t i = 0; i < MQ_COL_COUNT && ok; i++) {
        ok = read_column(queue, job, i);
    }
    return ok;
}

/* Addresses go into SMTP commands as they are: what another program wrote into the row is checked
 * as what is enqueued. */
static bool usable(const struct mq_job *job)
{
    bool utf8;
    const char *from = job->envelope_from;
    bool ok = !from || !from[0] ||
              mq_address_check(mq_str_of(from), "envelopeFrom", &utf8, NULL) == MQ_OK;
    for (size_t i = 0; i < job->recipients.count && ok; i++) {
        struct mq_str address = mq_str_of(job->recipients.items[i]);
        ok = mq_address_check(address, "recipients", &utf8, NULL) == MQ_OK;
    }
    return ok;
}

/* The list of recipients; NULL is an empty one. */
static enum mq_status read_recipients(struct mq_queue *queue, struct mq_job *job, bool *readable,
                                      struct mq_error *err)
{
    struct mq_str text = mq_sql_column_str(queue, MQ_COL_RECIPIENTS);
    *readable = true;
    if (!text.data) {
        *readable = usable(job);
        return MQ_OK;
    }
    struct mq_error why;
    enum mq_status status = mq_json_read_strings(text, &job->recipients, &why);
    if (status == MQ_NOMEM) {
        return mq_error_nomem(err);
    }
    if (status != MQ_OK || !usable(job)) {
        mq_strings_clear(&job->recipients);
        *readable = false;
    }
    return MQ_OK;
}

bool mq_job_has_state(struct mq_queue *queue)
{
    enum mq_state state;
    return mq_state_parse(mq_sql_column_str(queue, MQ_COL_STATUS), &state);
}

enum mq_status mq_job_read(struct mq_queue *queue, struct mq_job *job, bool *readable,
                           struct mq_error *err)
{
    mq_job_init(job);
    bool ok = read_columns(queue, job);
    struct mq_str state = mq_sql_column_str(queue, MQ_COL_STATUS);
    if (!mq_state_parse(state, &job->state)) {
        return mq_error_set(err, MQ_SCHEMA, "status",
                            "job %lld has the unknown status \"%.*s\": a newer version wrote it, "
                            "or another program; upgrade the extension or correct the row",
                            (long long)job->id, (int)mq_utf8_cut(state, 40),
                            state.data ? state.data : "");
    }
    struct mq_str token = mq_sql_column_str(queue, MQ_COL_LOCKED_BY);
    if (token.data && token.len <= MQ_TOKEN_HEX) {
        memcpy(job->locked_by, token.data, token.len);
    }
    if (!ok) {
        return mq_error_nomem(err);
    }
    enum mq_status status =
        mq_notify_read(mq_sql_column_str(queue, MQ_COL_FIELDS), &job->notify, err);
    if (status == MQ_OK) {
        status = read_recipients(queue, job, readable, err);
    }
    if (job->state == MQ_SENDING && !job->locked_by[0]) {
        *readable = false; /* no settle would ever fit, and its recovery never end */
    }
    return status;
}

enum mq_status mq_job_load_body(struct mq_queue *queue, struct mq_job *job, struct mq_error *err)
{
    bool row = false;
    enum mq_status status = mq_sql_query(queue, MQ_SQL_BODY, MQ_ARGS(mq_int(job->id)), err);
    if (status == MQ_OK) {
        status = mq_sql_next(queue, &row, err);
    }
    if (status != MQ_OK || !row) {
        return status;
    }
    struct mq_str body = mq_sql_column_str(queue, 0);
    job->body = mq_str_dup(body.data ? body : MQ_STR(""));
    job->body_len = body.len;
    mq_sql_finish(queue);
    return job->body ? MQ_OK : mq_error_nomem(err);
}

enum mq_status mq_job_transition(struct mq_queue *queue, const struct mq_transition *change,
                                 struct mq_error *err)
{
    if (!mq_state_may(change->from, change->to)) {
        return mq_error_set(err, MQ_DATABASE, "status", "a job cannot go from %s to %s",
                            mq_state_name(change->from), mq_state_name(change->to));
    }
    change->values[0] = mq_cstr(mq_state_name(change->to));
    return mq_sql_exec(queue, change->slot, (struct mq_args){change->values, change->count}, err);
}

static enum mq_status delete_row(struct mq_queue *queue, int64_t id, bool *gone,
                                 struct mq_error *err)
{
    enum mq_status status = mq_sql_exec(queue, MQ_SQL_DELETE_JOB, MQ_ARGS(mq_int(id)), err);
    *gone = status == MQ_OK && mq_sql_changes(queue) > 0;
    return *gone ? mq_sql_exec(queue, MQ_SQL_DELETE_BODY, MQ_ARGS(mq_int(id)), err) : status;
}

enum mq_status mq_job_delete(struct mq_queue *queue, int64_t id, struct mq_error *err)
{
    bool gone;
    return delete_row(queue, id, &gone, err);
}

enum mq_status mq_job_drop(struct mq_queue *queue, int64_t id, struct mq_dropped *sum,
                           struct mq_error *err)
{
    bool gone = false;
    int64_t octets = 0;
    enum mq_status status =
        mq_sql_int(queue, MQ_SQL_BODY_OCTETS, MQ_ARGS(mq_int(id)), &octets, err);
    if (status == MQ_OK) {
        status = delete_row(queue, id, &gone, err);
    }
    sum->rows += gone;
    sum->bytes += gone ? octets : 0;
    return status;
}

int mq_job_max_attempts(const struct mq_queue *queue, const struct mq_job *job)
{
    return job->max_attempts > 0 ? job->max_attempts : queue->backoff.max_attempts;
}
