/* Reads rows of the job table into struct mq_job; changes their status and deletes them. */
#include "queue/sql/columns.h"

#include <stdlib.h>
#include <string.h>

#include "core/json.h"
#include "mime/address.h"
#include "queue/claim.h"
#include "queue/handle.h"
#include "queue/job.h"
#include "queue/sql/descriptor.h"

void mq_job_clear(struct mq_job *job)
{
    for (size_t i = 0; i < MQ_COL_COUNT; i++) {
        if (mq_columns[i].read == MQ_READ_TEXT) {
            free(*(char **)(void *)((char *)job + mq_columns[i].read_at));
        }
    }
    for (size_t i = 0; job->suppressed && i < job->recipients.count; i++) {
        free(job->suppressed[i]);
    }
    free(job->suppressed);
    mq_strings_clear(&job->recipients);
    free(job->recipient_name);
    free(job->recipient_fields);
    free(job->body);
    mq_strings_clear(&job->targets);
    free(job->target_of);
    free(job->original_to);
    *job = (struct mq_job){0};
}

struct mq_job *mq_job_list_add(struct mq_job_list *list)
{
    if (list->count == list->room) {
        size_t room = list->room ? list->room * 2 : 8;
        struct mq_job *jobs = realloc(list->jobs, room * sizeof(*jobs));
        if (!jobs) {
            return NULL;
        }
        list->jobs = jobs;
        list->room = room;
    }
    return &list->jobs[list->count++];
}

void mq_job_list_clear(struct mq_job_list *list)
{
    for (size_t i = 0; i < list->count; i++) {
        mq_job_clear(&list->jobs[i]);
    }
    free(list->jobs);
    *list = (struct mq_job_list){0};
}

/* Reads a column into its member of struct mq_job; false without memory. */
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

bool mq_dropped_enough(const struct mq_dropped *sum)
{
    return sum->rows >= MQ_ROWS_A_CYCLE || sum->bytes >= MQ_DROPPED_BYTES;
}

enum mq_status mq_envelope_check(const char *from, const struct mq_strings *recipients,
                                 struct mq_error *err)
{
    if (from && from[0]) {
        MQ_TRY(mq_address_check(mq_str_of(from), "envelopeFrom", err));
    }
    for (size_t i = 0; recipients && i < recipients->count; i++) {
        MQ_TRY(mq_address_check(mq_str_of(recipients->items[i]), "recipients", err));
    }
    return MQ_OK;
}

/* Reads the list of recipients; NULL is an empty list. */
static enum mq_status read_recipients(struct mq_queue *queue, struct mq_job *job,
                                      struct mq_error *err)
{
    struct mq_str text = mq_sql_column_str(queue, MQ_COL_RECIPIENTS);
    enum mq_status status = text.data ? mq_json_read(text, '[', &job->recipients) : MQ_OK;
    if (status == MQ_NOMEM) {
        return mq_error_nomem(err);
    }
    /* Checks the addresses, because they go into SMTP commands as they are. */
    job->unreadable =
        status != MQ_OK || mq_envelope_check(job->envelope_from, &job->recipients, NULL) != MQ_OK;
    if (job->unreadable) {
        mq_strings_clear(&job->recipients);
    }
    return MQ_OK;
}

static enum mq_status read_job(struct mq_queue *queue, struct mq_job *job, struct mq_error *err)
{
    *job = (struct mq_job){0};
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
    MQ_TRY(mq_notify_read(mq_sql_column_str(queue, MQ_COL_FIELDS), &job->notify, err));
    MQ_TRY(read_recipients(queue, job, err));
    job->from_paid = job->envelope_from != NULL;
    job->to_paid = job->recipients.count > 0;
    if (job->state == MQ_SENDING && !job->locked_by[0]) {
        job->unreadable = true; /* no settle would match the row, and recovery would never end */
    }
    return MQ_OK;
}

enum mq_status mq_jobs_read(struct mq_queue *queue, enum mq_sql slot, struct mq_args args,
                            struct mq_job_list *list, struct mq_error *err)
{
    MQ_TRY(mq_sql_query(queue, slot, args, err));
    return mq_jobs_take(queue, list, err);
}

enum mq_status mq_jobs_take(struct mq_queue *queue, struct mq_job_list *list, struct mq_error *err)
{
    enum mq_status status = MQ_OK;
    while (mq_sql_next(queue, &status, err)) {
        struct mq_job *job = mq_job_list_add(list);
        status = job ? read_job(queue, job, err) : mq_error_nomem(err);
    }
    return status;
}

/* Sets the new status, if the transition is legal. */
static enum mq_status set_status(const struct mq_transition *change, struct mq_error *err)
{
    change->values[0] = mq_cstr(mq_state_name(change->to));
    return mq_state_may(change->from, change->to)
               ? MQ_OK
               : mq_error_set(err, MQ_DATABASE, "status", "a job cannot go from %s to %s",
                              mq_state_name(change->from), mq_state_name(change->to));
}

enum mq_status mq_job_transition(struct mq_queue *queue, const struct mq_transition *change,
                                 struct mq_error *err)
{
    MQ_TRY(set_status(change, err));
    return mq_sql_exec(queue, change->slot, (struct mq_args){change->values, change->count}, err);
}

enum mq_status mq_jobs_transition(struct mq_queue *queue, const struct mq_transition *change,
                                  const char *text, struct mq_error *err)
{
    MQ_TRY(set_status(change, err));
    return mq_sql_exec_text(queue, text, (struct mq_args){change->values, change->count}, err);
}

enum mq_status mq_job_orphaned(struct mq_queue *queue, const char *reference, bool *orphaned,
                               struct mq_error *err)
{
    int64_t found = 0;
    *orphaned = false;
    if (!queue->names.orphan_table[0] || !reference) {
        return MQ_OK;
    }
    MQ_TRY(mq_sql_int(queue, MQ_SQL_ORPHAN, MQ_ARGS(mq_cstr(reference)), &found, err));
    *orphaned = !found;
    return MQ_OK;
}

enum mq_status mq_job_drop(struct mq_queue *queue, int64_t id, struct mq_dropped *sum,
                           struct mq_error *err)
{
    struct mq_args args = MQ_ARGS(mq_int(id));
    int64_t octets = 0;
    if (sum) {
        MQ_TRY(mq_sql_int(queue, MQ_SQL_BODY_OCTETS, args, &octets, err));
    }
    MQ_TRY(mq_sql_exec(queue, MQ_SQL_DELETE_JOB, args, err));
    if (mq_sql_changes(queue) == 0) {
        return MQ_OK;
    }
    if (sum) {
        sum->rows++;
        sum->bytes += octets;
    }
    return mq_sql_exec(queue, MQ_SQL_DELETE_BODY, args, err);
}

int mq_job_max_attempts(const struct mq_queue *queue, const struct mq_job *job)
{
    return job->max_attempts > 0 ? job->max_attempts : queue->backoff.max_attempts;
}
