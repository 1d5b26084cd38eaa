/* What becomes of mail to suppressed recipients. Mail without a scope is kept for a person, parked,
 * because somebody may ask for it; nobody asks for a newsletter that was not sent. */
#include <stdlib.h>

#include "core/json.h"
#include "policy/consequence.h"
#include "queue/event.h"
#include "queue/handle.h"
#include "queue/job.h"
#include "queue/sql/columns.h"
#include "queue/sql/transaction.h"
#include "queue/steps.h"
#include "queue/suppress/internal.h"

/* The reason of the first suppressed recipient; if there are others, the recipient before it. */
static char *first_why(const struct mq_job *job, size_t *count)
{
    struct mq_buffer text = {0};
    *count = 0;
    for (size_t i = 0; i < job->recipients.count; i++) {
        if (job->suppressed[i] && (*count)++ == 0) {
            mq_buffer_cstr(&text, job->recipients.count > 1 ? job->recipients.items[i] : "");
            mq_buffer_cstr(&text, job->recipients.count > 1 ? " " : "");
            mq_buffer_cstr(&text, job->suppressed[i]);
        }
    }
    char *why = mq_buffer_take(&text);
    mq_buffer_clear(&text);
    return why;
}

static void tell(struct mq_tx *tx, const struct mq_job *job, enum mq_event_type type, size_t count,
                 const char *why)
{
    struct mq_event event = {
        .type = type, .recipients = (int)count, .reply = (char *)why, .ms = -1}; /* copied */
    mq_tx_event(tx, job, &event);
}

/* ---- some are left ---- */

static bool copy_others(const struct mq_job *job, struct mq_strings *out)
{
    bool ok = true;
    for (size_t i = 0; i < job->recipients.count && ok; i++) {
        ok = job->suppressed[i] || mq_strings_add(out, mq_str_of(job->recipients.items[i]));
    }
    return ok;
}

/* Writes the object of refused recipients with the suppressed ones. */
static void write_refused(const struct mq_job *job, struct mq_buffer *out)
{
    struct mq_str before = mq_str_trim(mq_str_of(job->refused));
    if (before.len > 2) {
        mq_buffer_append(out, before.data, before.len - 1);
    }
    for (size_t i = 0; i < job->recipients.count; i++) {
        if (job->suppressed[i]) {
            mq_buffer_char(out, out->len ? ',' : '{');
            mq_json_string(out, mq_str_of(job->recipients.items[i]));
            mq_buffer_char(out, ':');
            mq_json_string(out, mq_str_of(job->suppressed[i]));
        }
    }
    mq_buffer_char(out, '}');
}

static void forget_marks(struct mq_job *job)
{
    for (size_t i = 0; job->suppressed && i < job->recipients.count; i++) {
        free(job->suppressed[i]);
    }
    free(job->suppressed);
    job->suppressed = NULL;
}

/* Takes the suppressed ones off the list in memory, and keeps in job->refused why. */
static enum mq_status shorten(struct mq_job *job, struct mq_unshortened *before,
                              struct mq_error *err)
{
    struct mq_buffer refused = {0};
    struct mq_strings others = {0};
    bool ok = copy_others(job, &others);
    char *was = job->refused ? mq_str_dup(mq_str_of(job->refused)) : NULL;
    if (!job->scope) {
        write_refused(job, &refused);
    }
    if (!ok || refused.failed || (job->refused && !was)) {
        mq_buffer_clear(&refused);
        mq_strings_clear(&others);
        free(was);
        return mq_error_nomem(err);
    }
    forget_marks(job);
    *before = (struct mq_unshortened){job->recipients, was};
    job->recipients = others;
    if (!job->scope) {
        free(job->refused);
        job->refused = mq_buffer_take(&refused);
    }
    return MQ_OK;
}

void mq_suppress_restore(struct mq_job *job, struct mq_unshortened *before)
{
    if (before->recipients.count) {
        mq_strings_clear(&job->recipients);
        free(job->refused);
        job->recipients = before->recipients;
        job->refused = before->refused;
        *before = (struct mq_unshortened){.refused = NULL};
    }
}

void mq_unshortened_clear(struct mq_unshortened *before)
{
    mq_strings_clear(&before->recipients);
    free(before->refused);
    before->refused = NULL;
}

static enum mq_status write_shortened(struct mq_queue *queue, const struct mq_job *job,
                                      struct mq_error *err)
{
    struct mq_buffer list = {0};
    mq_json_strings(&list, &job->recipients);
    struct mq_args args =
        MQ_ARGS(mq_text(mq_buffer_view(&list)), mq_note(mq_str_of(job->refused)), mq_int(job->id));
    enum mq_status status =
        list.failed
            ? mq_error_nomem(err)
            : mq_sql_exec_text(queue, "UPDATE {t} SET recipients = ?1, refused = ?2 WHERE id = ?3",
                               args, err);
    mq_buffer_clear(&list);
    return status;
}

/* Deletes, parks or shortens the job. */
static enum mq_status apply(struct mq_tx *tx, struct mq_job *job, const char *why,
                            struct mq_dropped *sum, struct mq_error *err)
{
    bool nobody = true;
    for (size_t i = 0; i < job->recipients.count; i++) {
        nobody = nobody && job->suppressed[i];
    }
    if (nobody && job->scope) {
        return mq_job_drop(tx->queue, job->id, sum, err);
    }
    sum->rows++;
    if (nobody) {
        return mq_job_park(tx, job, MQ_OUTCOME_SUPPRESSED, why, err);
    }
    struct mq_unshortened before = {.refused = NULL};
    MQ_TRY(shorten(job, &before, err));
    mq_unshortened_clear(&before);
    return write_shortened(tx->queue, job, err);
}

enum mq_status mq_suppress_apply(struct mq_tx *tx, struct mq_job *job, struct mq_dropped *sum,
                                 bool *done, struct mq_error *err)
{
    size_t count;
    char *why = first_why(job, &count);
    if (!why) {
        return mq_error_nomem(err);
    }
    *done = count == job->recipients.count;
    tell(tx, job, MQ_EVENT_SUPPRESSED, count, why);
    enum mq_status status = apply(tx, job, why, sum, err);
    free(why);
    return status;
}

/* Writes them to a job that is being sent; its recipients are written with its sender. */
static enum mq_status write_refused_ones(struct mq_queue *queue, const struct mq_job *job,
                                         struct mq_error *err)
{
    struct mq_args args =
        MQ_ARGS(mq_note(mq_str_of(job->refused)), mq_int(job->id), mq_cstr(job->locked_by));
    return mq_sql_exec_text(queue, "UPDATE {t} SET refused = ?1 WHERE id = ?2 AND locked_by = ?3",
                            args, err);
}

enum mq_status mq_suppress_composed(struct mq_tx *tx, struct mq_job *job,
                                    struct mq_unshortened *before, struct mq_error *err)
{
    struct mq_job_list one = {job, 1, 1};
    size_t count;
    forget_marks(job); /* of a transaction that was undone */
    job->cleared = 0;  /* composing says who the recipients are */
    MQ_TRY(mq_suppress_find(tx, &one, err));
    if (!job->suppressed) {
        return MQ_OK;
    }
    char *why = first_why(job, &count);
    enum mq_status status = why ? MQ_OK : mq_error_nomem(err);
    if (why && count < job->recipients.count) {
        tell(tx, job, MQ_EVENT_SUPPRESSED, count, why);
        status = shorten(job, before, err);
        status = status == MQ_OK ? write_refused_ones(tx->queue, job, err) : status;
    }
    free(why);
    return status;
}
