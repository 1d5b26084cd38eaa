/* Storing mail: one statement, or one short transaction. */
#include "queue/enqueue.h"

#include "db/db.h"
#include "policy/backoff.h"
#include "queue/handle.h"
#include "queue/sql/columns.h"
#include "queue/sql/insert.h"
#include "queue/sql/schema.h"
#include "queue/sql/transaction.h"

#define MESSAGE_ID_MAX 998 /* a line of a message (RFC 5322, section 2.1.1) */

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
    if (job->send_at < 0) {
        return mq_error_set(err, MQ_INVALID, "sendAt", "sendAt lies before 1970");
    }
    if (job->expires_at < 0) {
        return mq_error_set(err, MQ_INVALID, "expiresAt", "expiresAt lies before 1970");
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

enum mq_status mq_new_job_check(const struct mq_new_job *job, struct mq_error *err)
{
    if (job->reference.data) {
        MQ_TRY(check_word("reference", job->reference, MQ_REFERENCE_MAX, err));
    }
    MQ_TRY(check_word("type", job->mail_type, MQ_TYPE_MAX, err));
    MQ_TRY(check_word("messageId", mq_str_of(job->message_id), MESSAGE_ID_MAX, err));
    MQ_TRY(check_numbers(job, err));
    return mq_envelope_check(job->envelope_from, job->recipients, err);
}

/* The job that holds the pair. */
struct holder {
    int64_t id; /* 0: there is none any more */
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

static enum mq_status store(struct mq_tx *tx, const struct mq_new_job *job, int64_t *id,
                            struct mq_error *err)
{
    struct holder holder;
    enum mq_status status = mq_insert_job(tx->queue, job, tx->now_s, id, err);
    bool duplicate = status == MQ_DUPLICATE ? job->reference.data != NULL : *id == 0;
    if ((status != MQ_OK && status != MQ_DUPLICATE) || !duplicate) {
        return status;
    }
    MQ_TRY(find_holder(tx->queue, job, tx->now_s, &holder, err));
    if (!holder.dead) {
        return holder.id ? MQ_OK : status; /* a duplicate of another key is the application's */
    }
    MQ_TRY(mq_job_drop(tx->queue, holder.id, NULL, err));
    return mq_insert_job(tx->queue, job, tx->now_s, id, err);
}

static enum mq_status store_all(struct mq_tx *tx, const struct mq_new_job *jobs, size_t count,
                                int64_t *ids, struct mq_error *err)
{
    MQ_TRY(mq_insert_jobs(tx->queue, jobs, count, ids, err));
    for (size_t i = 0; i < count; i++) {
        if (ids[i] == 0) {
            MQ_TRY(store(tx, &jobs[i], &ids[i], err));
        }
    }
    return MQ_OK;
}

/* One statement without a transaction around it. *done is false where one has to follow. */
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
    enum mq_status status = mq_insert_job(queue, job, 0, id, err);
    if (status == MQ_OK && *id == 0) {
        status = find_holder(queue, job, 0, &holder, err);
    }
    *done = status == MQ_OK && (*id != 0 || (holder.id != 0 && !holder.dead));
    bool again = status == MQ_TX_ABORTED && what == MQ_ALONE_COMMITS;
    return again ? MQ_OK : status; /* as a transaction it is tried again */
}

static enum mq_status store_jobs(struct mq_queue *queue, const struct mq_new_job *jobs,
                                 size_t count, int64_t *ids, struct mq_error *err)
{
    struct mq_tx tx = {.queue = queue, .only_new = true};
    bool done = count == 0;
    enum mq_status status = count == 1 ? store_alone(queue, jobs, ids, &done, err) : MQ_OK;
    while (!done && mq_tx_next(&tx, &status, err)) {
        status = store_all(&tx, jobs, count, ids, err);
    }
    return status;
}

enum mq_status mq_queue_enqueue(struct mq_queue *queue, const struct mq_new_job *jobs, size_t count,
                                int64_t *ids, struct mq_error *err)
{
    enum mq_status status = store_jobs(queue, jobs, count, ids, err);
    if (status != MQ_DATABASE || queue->ready) {
        return status;
    }
    /* A server is not asked for the tables' version: they are made, or migrated, when that fails.
     */
    MQ_TRY(mq_schema_ready(queue, err));
    return store_jobs(queue, jobs, count, ids, err);
}
