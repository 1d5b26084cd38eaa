/* A cycle: settle what is finished, recover what was lost, claim what is due, in one transaction.
 */
#include "queue/claim.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "queue/batch.h"
#include "queue/config/move_record.h"
#include "queue/config/pause.h"
#include "queue/handle.h"
#include "queue/limit.h"
#include "queue/redirect.h"
#include "queue/sql/columns.h"
#include "queue/steps.h"

#define PRIORITY_ABOVE_ALL (INT64_C(1) << 40)

/* The state of one claim. */
struct taking {
    struct mq_tx *tx;
    const struct mq_claim_request *request;
    struct mq_claim *claim;
    bool many;      /* rows are written together */
    size_t written; /* of claim->jobs */
    size_t room;
    int64_t allowance;         /* recipients that may still be paid */
    struct mq_dropped dropped; /* expired, orphaned and unreadable rows */
    bool stop;
};

void mq_claim_init(struct mq_claim *claim)
{
    memset(claim, 0, sizeof(*claim));
}

static void clear_jobs(struct mq_claim *claim)
{
    for (size_t i = 0; i < claim->count; i++) {
        mq_job_clear(&claim->jobs[i]);
    }
    free(claim->jobs);
    claim->jobs = NULL;
    claim->count = 0;
}

void mq_claim_clear(struct mq_claim *claim)
{
    clear_jobs(claim);
    mq_claim_init(claim);
}

enum mq_status mq_job_orphaned(struct mq_queue *queue, const char *reference, bool *orphaned,
                               struct mq_error *err)
{
    int64_t found = 0;
    *orphaned = false;
    if (!queue->names.orphan_table[0] || !reference) {
        return MQ_OK;
    }
    enum mq_status status =
        mq_sql_int(queue, MQ_SQL_ORPHAN, MQ_ARGS(mq_cstr(reference)), &found, err);
    *orphaned = status == MQ_OK && !found;
    return status;
}

/* `error` NULL: the row keeps what it has. */
static enum mq_status park(struct mq_tx *tx, const struct mq_job *job, enum mq_outcome why,
                           const char *error, struct mq_error *err)
{
    struct mq_value values[] = {mq_null(), mq_cstr(mq_outcomes[why].parked_for), mq_cstr(error),
                                mq_int(job->id)};
    struct mq_transition change = {job->state, MQ_PARKED, MQ_SQL_PARK, values, 4};
    enum mq_status status = mq_job_transition(tx->queue, &change, err);
    if (status == MQ_OK) {
        struct mq_event event = {
            .type = MQ_EVENT_PARKED, .reply = (char *)(error ? error : job->last_error), .ms = -1};
        mq_tx_event(tx, job, &event);
    }
    return status;
}

enum mq_status mq_job_park_unreadable(struct mq_tx *tx, const struct mq_job *job,
                                      struct mq_error *err)
{
    return park(tx, job, MQ_OUTCOME_UNREADABLE,
                "the row cannot be read: recipients is no JSON array of addresses, envelope_from "
                "is none, or locked_by no claim token: correct it, then retry it, or delete it",
                err);
}

/* The maximum was lowered since the last failure. One try of several recipients may take as many
 * claims (settle.c), so such a job is parked here only when it has had its tries in any case. */
static bool is_exhausted(const struct mq_queue *queue, const struct mq_job *job)
{
    int64_t claims_a_try = job->recipients.count ? (int64_t)job->recipients.count : 1;
    return job->attempts >= mq_job_max_attempts(queue, job) * claims_a_try;
}

/* ---- one row ---- */

/* Deletes or parks a row that cannot be claimed; *dropped says so. */
static enum mq_status drop(struct taking *t, const struct mq_job *job, bool readable, bool *dropped,
                           struct mq_error *err)
{
    bool orphaned = false;
    struct mq_queue *queue = t->tx->queue;
    bool expired = job->expires_at && job->expires_at <= t->tx->now_s;
    enum mq_status status =
        expired ? MQ_OK : mq_job_orphaned(queue, job->reference, &orphaned, err);
    bool parked = !readable || is_exhausted(queue, job);
    *dropped = expired || orphaned || parked;
    if (status != MQ_OK || !*dropped) {
        return status;
    }
    if (!expired && !orphaned) {
        t->dropped.rows++;
        return readable ? park(t->tx, job, MQ_OUTCOME_DEFERRED, NULL, err)
                        : mq_job_park_unreadable(t->tx, job, err);
    }
    mq_tx_happened(t->tx, job, expired ? MQ_EVENT_EXPIRED : MQ_EVENT_ORPHAN);
    return mq_job_drop(queue, job->id, &t->dropped, err);
}

/* Writes the claim's row; or later, in write_many(). */
static enum mq_status write_claim(struct taking *t, struct mq_job *job, struct mq_error *err)
{
    struct mq_value values[] = {mq_null(), mq_int(job->locked_until), mq_cstr(job->locked_by),
                                mq_int(job->paid), mq_int(job->id)};
    struct mq_transition change = {job->state, MQ_SENDING, MQ_SQL_CLAIM_TAKE, values, 5};
    enum mq_status status = t->many ? MQ_OK : mq_job_transition(t->tx->queue, &change, err);
    job->state = MQ_SENDING;
    job->attempts++;
    return status;
}

static enum mq_status write_many(struct taking *t, struct mq_error *err)
{
    size_t first = t->written;
    t->written = t->claim->count;
    return t->many && t->written > first
               ? mq_batch_take(t->tx, t->claim->jobs + first, t->written - first, err)
               : MQ_OK;
}

/* A recipient costs a token; a job that is composed when sent pays for one now. */
static enum mq_status take(struct taking *t, struct mq_job *job, struct mq_error *err)
{
    struct mq_tx *tx = t->tx;
    enum mq_status status = mq_job_set_targets(job, &tx->settings, t->allowance, err);
    if (status != MQ_OK) {
        return status;
    }
    if (t->claim->limited) {
        job->paid = job->recipients.count ? (int)job->targets.count : 1;
        t->allowance -= job->paid;
        mq_limit_take(tx, job->paid);
    }
    job->locked_until = tx->now_s + t->request->lease_s;
    snprintf(job->locked_by, sizeof(job->locked_by), "%s", t->request->token);
    status = write_claim(t, job, err);
    if (status == MQ_OK) {
        struct mq_event event = {.type = MQ_EVENT_CLAIMED,
                                 .recipients = (int)job->targets.count,
                                 .relay = (char *)t->request->relay,
                                 .ms = -1};
        mq_tx_event(tx, job, &event);
    }
    return status;
}

static bool make_room(struct taking *t)
{
    if (t->claim->count < t->room) {
        return true;
    }
    size_t room = t->room ? t->room * 2 : 8;
    struct mq_job *jobs = realloc(t->claim->jobs, room * sizeof(*jobs));
    if (!jobs) {
        return false;
    }
    t->claim->jobs = jobs;
    t->room = room;
    return true;
}

/* Takes the row, drops it, or sets `stop`. The job moves into the claim when it is taken. */
static enum mq_status consider(struct taking *t, struct mq_job *job, bool readable,
                               struct mq_error *err)
{
    bool dropped = false;
    if (mq_dropped_enough(&t->dropped)) {
        t->claim->end = MQ_CLAIM_MORE;
        t->stop = true;
        return MQ_OK;
    }
    enum mq_status status = drop(t, job, readable, &dropped, err);
    if (status != MQ_OK || dropped) {
        return status;
    }
    if (t->allowance <= 0) {
        t->claim->end = MQ_CLAIM_TOKENS;
        t->stop = true;
        return mq_limit_resume(t->tx, &t->claim->resume_s, err);
    }
    if (!make_room(t)) {
        return mq_error_nomem(err);
    }
    status = take(t, job, err);
    if (status == MQ_OK) {
        t->claim->jobs[t->claim->count++] = *job;
        mq_job_init(job);
    }
    return status;
}

/* ---- many rows ---- */

/* Due rows of one priority, read before the first of them is written. */
struct chunk {
    struct mq_job jobs[MQ_CLAIM_CHUNK];
    bool readable[MQ_CLAIM_CHUNK];
    size_t count;
};

static enum mq_status read_chunk(struct taking *t, int64_t priority, size_t want,
                                 struct chunk *chunk, struct mq_error *err)
{
    bool row = true;
    struct mq_queue *queue = t->tx->queue;
    enum mq_status status =
        mq_sql_query(queue, MQ_SQL_CLAIM_DUE,
                     MQ_ARGS(mq_int(priority), mq_int(t->tx->now_s), mq_int((int64_t)want)), err);
    chunk->count = 0;
    while (status == MQ_OK) {
        status = mq_sql_next(queue, &row, err);
        if (status != MQ_OK || !row || chunk->count == MQ_CLAIM_CHUNK) {
            break;
        }
        size_t i = chunk->count++;
        status = mq_job_read(queue, &chunk->jobs[i], &chunk->readable[i], err);
        if (status != MQ_OK) {
            mq_sql_finish(queue);
        }
    }
    return status;
}

/* As many rows as can be of use: no more than jobs are wanted, nor than tokens are there, but one
 * at least, to see whether anything is due. */
static size_t wanted(const struct taking *t)
{
    int64_t n = t->request->limit - (int64_t)t->claim->count;
    if (n > t->allowance) {
        n = t->allowance > 0 ? t->allowance : 1;
    }
    return n < MQ_CLAIM_CHUNK ? (size_t)n : MQ_CLAIM_CHUNK;
}

/* The settings were read before the rows were locked: a move may have begun, or ended, between. */
static enum mq_status look_again(struct taking *t, struct mq_error *err)
{
    bool moved = false;
    enum mq_status status = mq_move_look(t->tx->queue, &moved, err);
    if (moved) {
        t->claim->end = MQ_CLAIM_DISABLED;
        t->stop = true;
    }
    return status;
}

static enum mq_status take_priority(struct taking *t, int64_t priority, struct chunk *chunk,
                                    struct mq_error *err)
{
    enum mq_status status = MQ_OK;
    size_t want;
    do {
        want = wanted(t);
        status = read_chunk(t, priority, want, chunk, err);
        if (status == MQ_OK && chunk->count) {
            status = look_again(t, err);
        }
        for (size_t i = 0; i < chunk->count && status == MQ_OK && !t->stop; i++) {
            status = consider(t, &chunk->jobs[i], chunk->readable[i], err);
        }
        for (size_t i = 0; i < chunk->count; i++) {
            mq_job_clear(&chunk->jobs[i]);
        }
        if (status == MQ_OK) {
            status = write_many(t, err);
        }
        if (status == MQ_OK && !t->stop && t->claim->count >= (size_t)t->request->limit) {
            t->claim->end = MQ_CLAIM_LIMIT;
            t->stop = true;
        }
    } while (status == MQ_OK && !t->stop && chunk->count == want);
    return status;
}

/* Notes when the first job of this priority is due that is not yet. */
static enum mq_status note_next(struct taking *t, int64_t priority, struct mq_error *err)
{
    int64_t next = 0;
    enum mq_status status =
        mq_sql_int(t->tx->queue, MQ_SQL_CLAIM_NEXT, MQ_ARGS(mq_int(priority)), &next, err);
    int64_t *resume = &t->claim->resume_s;
    if (next && next <= t->tx->now_s) {
        next = t->tx->now_s + 1; /* others are about to claim it */
    }
    if (status == MQ_OK && next && (*resume == 0 || next < *resume)) {
        *resume = next;
    }
    return status;
}

/* Many mails after none: other plans than before may be right. Once, for they cost a millisecond.
 */
static enum mq_status plan_anew(struct taking *t, struct mq_error *err)
{
    struct mq_queue *queue = t->tx->queue;
    int64_t before = queue->streak;
    queue->streak = t->claim->end == MQ_CLAIM_EMPTY ? 0 : before + (int64_t)t->claim->count;
    bool due = before < MQ_CLAIM_CHUNK && queue->streak >= MQ_CLAIM_CHUNK;
    return due && mq_sql_has(queue, MQ_SQL_CLAIM_REPLAN)
               ? mq_sql_exec(queue, MQ_SQL_CLAIM_REPLAN, MQ_NO_ARGS, err)
               : MQ_OK;
}

static enum mq_status take_all(struct taking *t, struct mq_error *err)
{
    struct chunk *chunk = malloc(sizeof(*chunk));
    if (!chunk) {
        return mq_error_nomem(err);
    }
    enum mq_status status = MQ_OK;
    int64_t priority = t->request->below ? *t->request->below : PRIORITY_ABOVE_ALL;
    while (status == MQ_OK && !t->stop) {
        int64_t below = priority;
        status =
            mq_sql_int(t->tx->queue, MQ_SQL_CLAIM_PRIORITY, MQ_ARGS(mq_int(below)), &priority, err);
        if (status != MQ_OK || priority == below) {
            break;
        }
        status = take_priority(t, priority, chunk, err);
        if (status == MQ_OK && !t->stop) {
            status = note_next(t, priority, err);
        }
    }
    if (!t->stop) {
        t->claim->end = MQ_CLAIM_EMPTY;
    } else if (t->claim->end != MQ_CLAIM_TOKENS) {
        t->claim->resume_s = 0;
    }
    free(chunk);
    return status == MQ_OK ? plan_anew(t, err) : status;
}

/* Whether claims are switched off or the relay is paused; then the claim's end is set. */
static enum mq_status closed(struct mq_tx *tx, const struct mq_claim_request *request,
                             struct mq_claim *claim, bool *is, struct mq_error *err)
{
    struct mq_pause pause;
    bool found = false;
    *is = !tx->settings.enabled;
    if (*is) {
        claim->end = MQ_CLAIM_DISABLED;
        return MQ_OK;
    }
    if (!request->relay) {
        return MQ_OK;
    }
    enum mq_status status = mq_pause_find(tx->pauses, request->relay, &pause, &found, err);
    if (status == MQ_OK && found && pause.until_s > tx->now_s) {
        *is = true;
        claim->end = MQ_CLAIM_PAUSED;
        claim->resume_s = pause.until_s;
        memcpy(claim->reason, pause.reason, sizeof(claim->reason));
    }
    return status;
}

enum mq_status mq_claim_take(struct mq_tx *tx, const struct mq_claim_request *request,
                             struct mq_claim *claim, struct mq_error *err)
{
    bool is_closed = false;
    struct taking t = {.tx = tx, .request = request, .claim = claim};
    t.many = mq_batch_claims(tx->queue) && request->limit > 1;
    claim->end = MQ_CLAIM_LIMIT;
    claim->limited = tx->settings.bucket.limit > 0;
    enum mq_status status = closed(tx, request, claim, &is_closed, err);
    if (status != MQ_OK || is_closed || request->limit <= 0) {
        return status;
    }
    status = mq_limit_allowance(tx, &t.allowance, err);
    if (status == MQ_OK) {
        status = take_all(&t, err);
    }
    claim->dropped_bytes = t.dropped.bytes;
    return status;
}
