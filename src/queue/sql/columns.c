/* Between a row of the job table and struct mq_job. */
#include "queue/sql/columns.h"

#include <stdlib.h>
#include <string.h>

#include "core/json.h"
#include "mime/address.h"
#include "queue/handle.h"
#include "queue/job.h"

/* In the order of the columns in statements.c. */
enum column {
    COL_ID,
    COL_REFERENCE,
    COL_MAIL_TYPE,
    COL_STATUS,
    COL_PRIORITY,
    COL_ATTEMPTS,
    COL_MAX_ATTEMPTS,
    COL_UNCERTAIN,
    COL_PAID,
    COL_NEXT_ATTEMPT_AT,
    COL_EXPIRES_AT,
    COL_LOCKED_UNTIL,
    COL_LOCKED_BY,
    COL_LAST_ATTEMPT_AT,
    COL_CREATED_AT,
    COL_LAST_ERROR,
    COL_PARKED_FOR,
    COL_MESSAGE_ID,
    COL_ENVELOPE_FROM,
    COL_RECIPIENTS,
    COL_REFUSED,
    COL_FIELDS
};

void mq_job_init(struct mq_job *job)
{
    memset(job, 0, sizeof(*job));
    mq_strings_init(&job->recipients);
    mq_strings_init(&job->targets);
}

void mq_job_clear(struct mq_job *job)
{
    free(job->reference);
    free(job->mail_type);
    free(job->last_error);
    free(job->parked_for);
    free(job->message_id);
    free(job->envelope_from);
    mq_strings_clear(&job->recipients);
    free(job->refused);
    free(job->body);
    mq_strings_clear(&job->targets);
    free(job->target_of);
    free(job->original_to);
    mq_job_init(job);
}

/* Copies a text column; false without memory. */
static bool copy(struct mq_queue *queue, enum column column, char **out)
{
    struct mq_str s = mq_sql_column_str(queue, (int)column);
    *out = s.data ? mq_str_dup(s) : NULL;
    return *out || !s.data;
}

static bool copy_texts(struct mq_queue *queue, struct mq_job *job)
{
    return copy(queue, COL_REFERENCE, &job->reference) &&
           copy(queue, COL_MAIL_TYPE, &job->mail_type) &&
           copy(queue, COL_LAST_ERROR, &job->last_error) &&
           copy(queue, COL_PARKED_FOR, &job->parked_for) &&
           copy(queue, COL_MESSAGE_ID, &job->message_id) &&
           copy(queue, COL_ENVELOPE_FROM, &job->envelope_from) &&
           copy(queue, COL_REFUSED, &job->refused);
}

static void read_numbers(struct mq_queue *queue, struct mq_job *job)
{
    job->id = mq_sql_column_int(queue, COL_ID);
    job->priority = (int)mq_sql_column_int(queue, COL_PRIORITY);
    job->attempts = (int)mq_sql_column_int(queue, COL_ATTEMPTS);
    job->max_attempts = (int)mq_sql_column_int(queue, COL_MAX_ATTEMPTS);
    job->uncertain = (int)mq_sql_column_int(queue, COL_UNCERTAIN);
    job->paid = (int)mq_sql_column_int(queue, COL_PAID);
    job->next_attempt_at = mq_sql_column_int(queue, COL_NEXT_ATTEMPT_AT);
    job->expires_at = mq_sql_column_int(queue, COL_EXPIRES_AT);
    job->locked_until = mq_sql_column_int(queue, COL_LOCKED_UNTIL);
    job->last_attempt_at = mq_sql_column_int(queue, COL_LAST_ATTEMPT_AT);
    job->created_at = mq_sql_column_int(queue, COL_CREATED_AT);
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
    struct mq_str text = mq_sql_column_str(queue, COL_RECIPIENTS);
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
    return mq_state_parse(mq_sql_column_str(queue, COL_STATUS), &state);
}

enum mq_status mq_job_read(struct mq_queue *queue, struct mq_job *job, bool *readable,
                           struct mq_error *err)
{
    mq_job_init(job);
    read_numbers(queue, job);
    struct mq_str state = mq_sql_column_str(queue, COL_STATUS);
    if (!mq_state_parse(state, &job->state)) {
        return mq_error_set(err, MQ_SCHEMA, "status",
                            "job %lld has the unknown status \"%.*s\": a newer version wrote it, "
                            "or another program; upgrade the extension or correct the row",
                            (long long)job->id, (int)mq_utf8_cut(state, 40),
                            state.data ? state.data : "");
    }
    struct mq_str token = mq_sql_column_str(queue, COL_LOCKED_BY);
    if (token.data && token.len <= MQ_TOKEN_HEX) {
        memcpy(job->locked_by, token.data, token.len);
    }
    if (!copy_texts(queue, job)) {
        return mq_error_nomem(err);
    }
    enum mq_status status = mq_notify_read(mq_sql_column_str(queue, COL_FIELDS), &job->notify, err);
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
