/* Reads the messages of claimed jobs, after the claim's commit: a message can be large, and other
 * processes must be able to write meanwhile. The caller decides how many are in memory. */
#include "queue/body.h"

#include <stdlib.h>
#include <string.h>

#include "db/db.h"
#include "queue/campaign/campaign.h"
#include "queue/claim.h"
#include "queue/handle.h"
#include "queue/job.h"
#include "queue/sql/columns.h"
#include "queue/sql/list.h"
#include "queue/sql/transaction.h"
#include "queue/steps.h"

static struct mq_job *find(struct mq_job *const *jobs, size_t count, int64_t id)
{
    for (size_t i = 0; i < count; i++) {
        if (jobs[i]->id == id && jobs[i]->body_state == MQ_BODY_UNKNOWN) {
            return jobs[i];
        }
    }
    return NULL;
}

static bool keep(struct mq_job *job, struct mq_str body)
{
    job->body = mq_str_dup(body.data ? body : MQ_STR(""));
    if (job->body) {
        job->body_len = body.len;
        job->body_state = MQ_BODY_LOADED;
    }
    return job->body != NULL;
}

/* Reads the current row of the result. If memory is short, the message stays STORED. */
static void take_row(struct mq_queue *queue, struct mq_job *job)
{
    struct mq_str body = mq_sql_column_str(queue, 2);
    struct mq_value octets = queue->db->driver->column(queue->db, 1);
    struct mq_value content = queue->db->driver->column(queue->db, 2);
    job->body_state = octets.type == MQ_NULL ? MQ_BODY_NONE : MQ_BODY_STORED;
    job->body_len = (size_t)mq_sql_column_int(queue, 1);
    if (content.type != MQ_NULL) {
        keep(job, body); /* "" if the column has a number, which is not a message */
    }
}

/* Reads the messages of `count` jobs with one claim token. SQLite takes up to MQ_BODIES_MAX ids as
 * parameters, because it may have no JSON functions; the other databases take a list. */
static enum mq_status read_chunk(struct mq_queue *queue, struct mq_job *const *jobs, size_t count,
                                 int64_t most, struct mq_error *err)
{
    struct mq_value values[2 + MQ_BODIES_MAX] = {mq_int(most), mq_cstr(jobs[0]->locked_by)};
    struct mq_args args = {values, 2 + MQ_BODIES_MAX};
    struct mq_buffer list = {0};
    bool listed = mq_sql_has(queue, MQ_SQL_CLAIM_TAKE_MANY);
    for (size_t i = 0; i < count; i++) {
        if (listed) {
            mq_sql_list_add(&list, jobs[i]->id, 0);
        } else {
            values[2 + i] = mq_int(jobs[i]->id);
        }
    }
    if (listed) {
        values[2] = mq_sql_list(&list);
        args.count = 3;
    }
    /* Does not keep the statement for large messages: it may hold its last result in memory. */
    int slot = most > MQ_BODY_SMALL ? -1 : MQ_SQL_BODIES;
    struct mq_query query = {slot, mq_sql_text(queue, MQ_SQL_BODIES), args.values, args.count};
    enum mq_status status = query.sql && !list.failed
                                ? queue->db->driver->run(queue->db, &query, err)
                                : mq_error_nomem(err);
    while (mq_sql_next(queue, &status, err)) {
        struct mq_job *job = find(jobs, count, mq_sql_column_int(queue, 0));
        if (job) {
            take_row(queue, job);
        }
    }
    for (size_t i = 0; i < count && status == MQ_OK; i++) {
        if (jobs[i]->body_state == MQ_BODY_UNKNOWN) {
            jobs[i]->body_state = MQ_BODY_LOST;
        }
    }
    mq_buffer_clear(&list);
    return status;
}

static enum mq_status read_chunks(struct mq_queue *queue, struct mq_job *const *jobs, size_t count,
                                  int64_t most, struct mq_error *err)
{
    size_t chunk = mq_sql_has(queue, MQ_SQL_CLAIM_TAKE_MANY) ? MQ_CLAIM_CHUNK : MQ_BODIES_MAX;
    for (size_t i = 0; i < count; i += chunk) {
        MQ_TRY(read_chunk(queue, jobs + i, count - i < chunk ? count - i : chunk, most, err));
    }
    return MQ_OK;
}

/* Copies to `rest` the jobs that belong to no campaign, and returns how many there are. */
static size_t without_campaigns(struct mq_job *const *jobs, size_t count, struct mq_job **rest)
{
    size_t n = 0;
    for (size_t i = 0; i < count; i++) {
        if (!jobs[i]->campaign_id) {
            rest[n++] = jobs[i];
        }
    }
    return n;
}

enum mq_status mq_queue_read_bodies(struct mq_queue *queue, struct mq_job *const *jobs,
                                    size_t count, int64_t most, struct mq_error *err)
{
    struct mq_job **rest = malloc((count + 1) * sizeof(*rest));
    size_t n = rest ? without_campaigns(jobs, count, rest) : 0;
    enum mq_status status = !rest        ? mq_error_nomem(err)
                            : n == count ? MQ_OK
                                         : mq_campaign_read_jobs(queue, jobs, count, err);
    if (status == MQ_OK) {
        status = read_chunks(queue, rest, n, most, err);
    }
    free(rest);
    return status;
}

enum mq_status mq_queue_read_body(struct mq_queue *queue, struct mq_job *job, struct mq_error *err)
{
    struct mq_db *db = queue->db;
    if (db->driver->has_room && !db->driver->has_room(db, job->body_len)) {
        return mq_error_nomem(err);
    }
    job->body_state = MQ_BODY_UNKNOWN;
    enum mq_status status = mq_queue_read_bodies(queue, &job, 1, INT64_MAX, err);
    if (status == MQ_OK && job->body_state == MQ_BODY_NONE) {
        job->body_state = MQ_BODY_LOST;
    }
    if (status != MQ_OK) {
        mq_job_drop_body(job); /* it was read before a later step failed */
        job->body_state = MQ_BODY_STORED;
    }
    return status == MQ_OK && job->body_state == MQ_BODY_STORED ? mq_error_nomem(err) : status;
}

enum mq_status mq_job_load_body(struct mq_queue *queue, struct mq_job *job, bool changes,
                                struct mq_error *err)
{
    struct mq_args id = MQ_ARGS(mq_int(job->id));
    const char *locked = "SELECT content FROM {b} WHERE id = ?1{u}";
    enum mq_status status = changes ? mq_sql_query_template(queue, locked, id, err)
                                    : mq_sql_query(queue, MQ_SQL_BODY, id, err);
    while (mq_sql_next(queue, &status, err)) {
        struct mq_str body = mq_sql_column_str(queue, 0);
        job->body = mq_str_dup(body.data ? body : MQ_STR(""));
        job->body_len = body.len;
        status = job->body ? MQ_OK : mq_error_nomem(err);
    }
    return status;
}

void mq_job_drop_body(struct mq_job *job)
{
    free(job->body);
    job->body = NULL;
    if (job->body_state == MQ_BODY_LOADED) {
        job->body_state = MQ_BODY_STORED;
    }
}

/* ---- a claim with its messages ---- */

/* Loads messages in the order of the jobs while they fit into `room` octets; *kept counts them. */
static enum mq_status load_claimed(struct mq_queue *queue, struct mq_claim *claim, int64_t room,
                                   size_t *kept, struct mq_error *err)
{
    while (*kept < claim->count) {
        struct mq_job *job = &claim->jobs[*kept];
        if (*kept > 0 && (int64_t)job->body_len > room) {
            break;
        }
        if (job->body_state == MQ_BODY_STORED) {
            enum mq_status status = mq_queue_read_body(queue, job, err);
            if (status == MQ_NOMEM && *kept > 0) {
                break;
            }
            MQ_TRY(status);
        }
        if (job->body_state == MQ_BODY_LOST) {
            mq_job_clear(job);
            memmove(job, job + 1, (--claim->count - *kept) * sizeof(*job));
        } else {
            room -= (int64_t)job->body_len;
            ++*kept;
        }
    }
    return MQ_OK;
}

/* Releases the jobs from `from` on. If that fails, their leases run out. */
static void give_back(struct mq_queue *queue, struct mq_claim *claim, size_t from)
{
    size_t count = claim->count - from;
    struct mq_settlement *outcomes = count ? calloc(count, sizeof(*outcomes)) : NULL;
    struct mq_cycle cycle = {.outcomes = outcomes, .outcome_count = count};
    for (size_t i = 0; outcomes && i < count; i++) {
        outcomes[i] = (struct mq_settlement){.job = &claim->jobs[from + i],
                                             .outcome = MQ_OUTCOME_RELEASED,
                                             .retry_after_s = -1,
                                             .ms = -1};
    }
    if (outcomes) {
        mq_queue_cycle(queue, &cycle, NULL);
    }
    free(outcomes);
    while (claim->count > from) {
        mq_job_clear(&claim->jobs[--claim->count]);
    }
}

/* Claims until there is a job or none is due: one claim deletes only some of the expired rows. */
static enum mq_status claim_some(struct mq_queue *queue, struct mq_cycle *cycle,
                                 struct mq_error *err)
{
    const struct mq_claim *claim = cycle->claim;
    do {
        MQ_TRY(mq_queue_cycle(queue, cycle, err));
        if (claim->dropped_bytes >= MQ_DROPPED_BYTES / 4) {
            mq_tx_leave_free(queue, cycle->begun_ms);
        }
    } while (claim->status == MQ_OK && claim->count == 0 && claim->end == MQ_CLAIM_MORE);
    return MQ_OK;
}

enum mq_status mq_queue_claim(struct mq_queue *queue, const struct mq_claim_request *request,
                              int64_t max_bytes, struct mq_claim *claim, struct mq_error *err)
{
    struct mq_cycle cycle = {.request = request, .claim = claim};
    size_t kept = 0;
    MQ_TRY(claim_some(queue, &cycle, err));
    if (claim->status != MQ_OK) {
        *err = claim->error;
        return claim->status;
    }
    struct mq_job **jobs = calloc(claim->count + 1, sizeof(*jobs));
    for (size_t i = 0; jobs && i < claim->count; i++) {
        jobs[i] = &claim->jobs[i];
    }
    enum mq_status status =
        jobs ? mq_queue_read_bodies(queue, jobs, claim->count, MQ_BODY_SMALL, err)
             : mq_error_nomem(err);
    free(jobs);
    if (status == MQ_OK) {
        status = load_claimed(queue, claim, max_bytes, &kept, err);
    }
    give_back(queue, claim, status == MQ_OK ? kept : 0);
    return status;
}
