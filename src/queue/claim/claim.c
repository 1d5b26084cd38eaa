/* Claims due rows, those of the highest priority first, as many as limit and tokens allow. */
#include "queue/claim.h"

#include <stdio.h>

#include "policy/limits.h"
#include "queue/all_limits.h"
#include "queue/claim/closed.h"
#include "queue/claim/taking.h"
#include "queue/claim/turns.h"
#include "queue/handle.h"
#include "queue/job.h"
#include "queue/redirect.h"
#include "queue/sql/columns.h"
#include "queue/sql/list.h"
#include "queue/steps.h"
#include "queue/suppress/suppress.h"
#include "queue/windows/payments.h"

#define PRIORITY_ABOVE_ALL (INT64_C(1) << 40)

void mq_claim_clear(struct mq_claim *claim)
{
    struct mq_job_list list = {claim->jobs, claim->count, 0};
    mq_job_list_clear(&list);
    free(claim->slow);
    free(claim->sessions);
    *claim = (struct mq_claim){0};
}

/* Whether a job has no attempt left, because the maximum was lowered since the last failure. One
 * try of all recipients can take a claim for each (settle.c), and each claim counts an attempt. */
static bool is_exhausted(const struct mq_queue *queue, const struct mq_job *job)
{
    int64_t claims_a_try = job->recipients.count ? (int64_t)job->recipients.count : 1;
    return job->attempts >= mq_job_max_attempts(queue, job) * claims_a_try;
}

/* ---- one row ---- */

/* Deletes or parks a row that cannot be claimed; *dropped says so. */
static enum mq_status drop(struct mq_taking *t, struct mq_job *job, bool *dropped,
                           struct mq_error *err)
{
    bool orphaned = false;
    struct mq_queue *queue = t->tx->queue;
    bool expired = mq_job_expired(job, t->tx->now_s);
    if (!expired) {
        MQ_TRY(mq_job_orphaned(queue, job->reference, &orphaned, err));
    }
    *dropped = true;
    if (expired || orphaned) {
        mq_tx_gone(t->tx, job, expired);
        return mq_job_drop(queue, job->id, &t->dropped, err);
    }
    if (job->unreadable || is_exhausted(queue, job)) {
        t->dropped.rows++;
        return job->unreadable ? mq_job_park_unreadable(t->tx, job, err)
                               : mq_job_park(t->tx, job, MQ_OUTCOME_DEFERRED, NULL, err);
    }
    *dropped = false;
    return job->suppressed ? mq_suppress_apply(t->tx, job, &t->dropped, dropped, err) : MQ_OK;
}

/* Writes the claim to the row, unless write_many() does that later. */
static enum mq_status write_claim(struct mq_taking *t, struct mq_job *job, struct mq_error *err)
{
    struct mq_value values[] = {
        mq_null(),         mq_int(job->locked_until), mq_cstr(job->locked_by),
        mq_int(job->paid), mq_int(job->id),           mq_cstr(job->paid_to)};
    struct mq_transition change = {job->state, MQ_SENDING, MQ_SQL_CLAIM_TAKE, values, 6};
    job->state = MQ_SENDING;
    job->attempts++;
    return t->many ? MQ_OK : mq_job_transition(t->tx->queue, &change, err);
}

/* Writes the claims that are not written yet. All have the same token and lease. */
static enum mq_status write_many(struct mq_taking *t, struct mq_error *err)
{
    struct mq_buffer list = {0};
    const struct mq_job *jobs = t->taken.jobs;
    if (!t->many || t->written == t->taken.count) {
        return MQ_OK;
    }
    for (; t->written < t->taken.count; t->written++) {
        mq_sql_list_add(&list, jobs[t->written].id, jobs[t->written].paid);
    }
    struct mq_value values[] = {mq_null(), mq_int(jobs[0].locked_until), mq_cstr(jobs[0].locked_by),
                                mq_sql_list(&list), mq_cstr(jobs[0].paid_to)};
    struct mq_transition change = {MQ_PENDING, MQ_SENDING, MQ_SQL_CLAIM_TAKE_MANY, values, 5};
    enum mq_status status =
        list.failed ? mq_error_nomem(err) : mq_job_transition(t->tx->queue, &change, err);
    mq_buffer_clear(&list);
    return status;
}

/* The run's relay; NULL if it can use several. */
static const char *only_relay(const struct mq_claim_request *request)
{
    return request->relay_count == 1 && !request->relays_of ? request->relays[0].name : NULL;
}

static struct mq_party party_of(const struct mq_taking *t, const struct mq_job *job)
{
    return (struct mq_party){.relay = only_relay(t->request),
                             .from = job ? job->envelope_from : NULL,
                             .to = job,
                             .leaves = t->leaves};
}

/* Each recipient costs a token; a job that is composed when sent pays for one now. */
static enum mq_status pay(struct mq_taking *t, struct mq_job *job, struct mq_error *err)
{
    struct mq_party party = party_of(t, job);
    job->paid = job->recipients.count ? (int)job->targets.count : 1;
    t->allowance -= job->paid;
    MQ_TRY(mq_limit_set_relay(t->tx, job, party.relay, err));
    return mq_limit_take(t->tx, &party, job->paid, true, err);
}

/* Claims a job, for at most `most` of its recipients. */
static enum mq_status take(struct mq_taking *t, struct mq_job *job, int64_t most,
                           struct mq_error *err)
{
    struct mq_tx *tx = t->tx;
    MQ_TRY(mq_job_set_targets(job, &tx->settings, most, err));
    MQ_TRY(mq_settings_pays(&tx->settings) ? pay(t, job, err) : MQ_OK);
    job->locked_until = tx->now_s + t->request->lease_s;
    snprintf(job->locked_by, sizeof(job->locked_by), "%s", t->request->token);
    MQ_TRY(write_claim(t, job, err));
    struct mq_event event = {.type = MQ_EVENT_CLAIMED,
                             .recipients = (int)job->targets.count,
                             .relay = (char *)only_relay(t->request), /* copied */
                             .ms = -1};
    mq_tx_event(tx, job, &event);
    struct mq_job *taken = mq_job_list_add(&t->taken);
    if (!taken) {
        return mq_error_nomem(err);
    }
    *taken = *job;
    *job = (struct mq_job){0};
    return MQ_OK;
}

/* ---- mail that limits keep ---- */

/* From now on the claim leaves the reserve. */
static enum mq_status leave_reserve(struct mq_taking *t, struct mq_error *err)
{
    t->leaves = true;
    struct mq_party anyone = party_of(t, NULL);
    return mq_limit_still_allows(t->tx, &anyone, &t->allowance, err);
}

/* Stops the claim because no mail from any sender can go, or none to `whole` at once. */
static enum mq_status stop_for_tokens(struct mq_taking *t, int64_t whole, struct mq_error *err)
{
    struct mq_claim *claim = t->claim;
    struct mq_party anyone = party_of(t, NULL);
    const struct mq_limit *full = NULL;
    int64_t others_s = 0;
    anyone.whole = whole;
    claim->end = MQ_CLAIM_TOKENS;
    t->stop = true;
    anyone.leaves = false;
    MQ_TRY(t->leaves ? mq_limit_resume(t->tx, &anyone, &others_s, &full, err) : MQ_OK);
    anyone.leaves = t->leaves;
    MQ_TRY(mq_limit_resume(t->tx, &anyone, &claim->resume_s, &full, err));
    claim->spare = t->leaves && others_s < claim->resume_s;
    mq_str_printable(claim->reason, sizeof(claim->reason), 0, full ? full->text : MQ_STR(""));
    return MQ_OK;
}

/* Parks a mail that its relay only takes whole, and that never goes whole; or returns false. */
static bool is_refused(struct mq_taking *t, struct mq_job *job, const char *limit,
                       enum mq_status *status, struct mq_error *err)
{
    char why[MQ_WAITS_FOR_MAX + 200];
    size_t count = job->recipients.count;
    if (count > MQ_RECIPIENTS_MAX) {
        snprintf(why, sizeof(why),
                 "recipients: this relay sends to all of them at once, and %zu are more than the "
                 "%d that a mail can go to at once; send it to fewer, or over SMTP",
                 count, MQ_RECIPIENTS_MAX);
    } else {
        snprintf(why, sizeof(why),
                 "recipients: this relay sends to all of them at once, and the limit %s never lets "
                 "%zu go at once; raise it, or mailBurst, or send the mail over SMTP",
                 limit, count);
    }
    bool is = count > MQ_RECIPIENTS_MAX || limit[0] != '\0';
    t->dropped.rows += is;
    *status = is ? mq_job_park(t->tx, job, MQ_OUTCOME_REFUSED, why, err) : MQ_OK;
    return is;
}

/* How much room there is for the job; none if it goes whole and does not fit. `room` is that of the
 * limits in windows. */
static enum mq_status find_room(struct mq_taking *t, const struct mq_party *party,
                                struct mq_room *room, int64_t *most, struct mq_error *err)
{
    *room = (struct mq_room){.party = *party, .recipients = t->allowance};
    if (t->allowance > 0 && t->tx->settings.limits) {
        MQ_TRY(mq_windows_room(t->tx, party, room, err));
    }
    *most = room->recipients < t->allowance ? room->recipients : t->allowance;
    *most = *most < party->whole ? 0 : *most;
    return MQ_OK;
}

/* Takes the row as far as tokens and limits allow, or puts it back, or sets `stop`. */
static enum mq_status take_allowed(struct mq_taking *t, struct mq_job *job,
                                   struct mq_relay_list *relays, struct mq_error *err)
{
    struct mq_room room;
    struct mq_party party = party_of(t, job);
    char never[MQ_WAITS_FOR_MAX] = "";
    enum mq_status status;
    int64_t most;
    party.whole = t->request->whole || relays->all_whole ? mq_job_reach(job) : 0;
    MQ_TRY(find_room(t, &party, &room, &most, err));
    if (most < party.whole) {
        mq_limit_forbids(t->tx, &room, never);
    }
    if (party.whole > 0 && is_refused(t, job, never, &status, err)) {
        return status;
    }
    if (most <= 0 && !room.sender_full) {
        return stop_for_tokens(t, party.whole, err);
    }
    if (most <= 0) {
        struct mq_kept why = {&room, 1, INT64_MAX};
        MQ_TRY(mq_windows_put_back(t->tx, &why, job, err));
    } else if (t->claim->pays_later) {
        MQ_TRY(mq_relays_promise(t->tx, job, relays, &most, err));
        if (relays->never[0] && is_refused(t, job, relays->never, &status, err)) {
            return status;
        }
    }
    t->dropped.rows += most <= 0; /* a transaction puts back a limited number */
    t->puts_back = t->puts_back || most <= 0;
    return most > 0 ? take(t, job, most, err) : MQ_OK;
}

/* Takes the row, drops it, puts it back, or sets `stop`. If it is taken, *job moves into the claim.
 */
static enum mq_status consider(struct mq_taking *t, struct mq_job *job, struct mq_error *err)
{
    bool dropped = false;
    struct mq_relay_list relays = {.count = 0};
    if (mq_dropped_enough(&t->dropped)) {
        t->claim->end = MQ_CLAIM_MORE;
        t->stop = true;
        return MQ_OK;
    }
    MQ_TRY(drop(t, job, &dropped, err));
    MQ_TRY(dropped ? MQ_OK : mq_taking_has_no_relay(t, job, &dropped, err));
    if (!dropped && t->request->relays_of) {
        t->request->relays_of(t->request->relays_context, job, &relays);
    }
    if (dropped || mq_taking_puts_back(t, job, &relays)) {
        return MQ_OK;
    }
    MQ_TRY(take_allowed(t, job, &relays, err));
    if (t->taken.count >= (size_t)t->request->limit) {
        t->claim->end = MQ_CLAIM_LIMIT;
        t->stop = true;
    }
    return MQ_OK;
}

/* ---- many rows ---- */

/* How many rows to read: no more than jobs are wanted and tokens allow, but at least one, to see
 * whether anything is due. Where mail is put back or passed over, more of it may follow. `most`:
 * routes have room for no more there. */
static size_t wanted(const struct mq_taking *t, int64_t most)
{
    bool passes = t->puts_back || (t->request->turns && t->request->turns->passed > 0);
    int64_t n = passes ? MQ_CLAIM_CHUNK : t->request->limit - (int64_t)t->taken.count;
    n = n > most && !passes ? most : n;
    if (n > t->allowance && !passes) {
        n = t->allowance > 0 ? t->allowance : 1;
    }
    return n < MQ_CLAIM_CHUNK ? (size_t)n : MQ_CLAIM_CHUNK;
}

/* Passes over the row, or considers it. *reached becomes its place, unless it may be left. */
static enum mq_status look_at(struct mq_taking *t, struct mq_job *job, struct mq_place *reached,
                              struct mq_error *err)
{
    struct mq_turns *turns = t->request->turns;
    struct mq_turn *turn;
    const struct mq_place place = {job->priority, job->next_attempt_at, job->id};
    size_t before = t->taken.count;
    if (!mq_turns_pass(turns, job, &turn)) {
        MQ_TRY(consider(t, job, err));
    }
    if (t->taken.count > before) {
        mq_turns_take(turns, turn, &place);
    }
    *reached = t->stop ? *reached : place;
    t->stop = t->stop || (turns && turns->goes_on);
    return MQ_OK;
}

/* Reads the next due rows of a priority behind `from`. */
static enum mq_status read_due(struct mq_taking *t, const struct mq_place *from, size_t want,
                               struct mq_job_list *due, struct mq_error *err)
{
    bool front = from->due_s == INT64_MIN;
    struct mq_args args = MQ_ARGS(mq_int(from->priority), mq_int(t->tx->now_s),
                                  mq_int((int64_t)want), mq_int(from->due_s), mq_int(from->id));
    args.count -= front ? 2 : 0;
    return mq_jobs_read(t->tx->queue, front ? MQ_SQL_CLAIM_DUE : MQ_SQL_CLAIM_DUE_BEHIND, args, due,
                        err);
}

/* Considers the next due rows of a priority: `want` of them, or all that are left. */
static enum mq_status take_chunk(struct mq_taking *t, struct mq_place from, size_t want,
                                 struct mq_job_list *due, struct mq_error *err)
{
    MQ_TRY(read_due(t, &from, want, due, err));
    if (due->count) {
        MQ_TRY(mq_claim_look_again(t->tx, t->claim, &t->stop, err));
    }
    MQ_TRY(mq_suppress_find(t->tx, due, err));
    for (size_t i = 0; i < due->count && !t->stop; i++) {
        MQ_TRY(look_at(t, &due->jobs[i], &from, err));
    }
    mq_turns_reach(t->request->turns, &from);
    MQ_TRY(mq_taking_write_back(t, err));
    return write_many(t, err);
}

static enum mq_status take_priority(struct mq_taking *t, int64_t priority, struct mq_error *err)
{
    bool more = true;
    enum mq_status status = MQ_OK;
    while (more && !t->stop && status == MQ_OK) {
        struct mq_job_list due = {0};
        struct mq_place from;
        int64_t most;
        t->stop = !mq_turns_first(t->request->turns, priority, &from, &most);
        if (t->stop) {
            break;
        }
        size_t want = wanted(t, most);
        status = take_chunk(t, from, want, &due, err);
        more = due.count == want;
        mq_job_list_clear(&due);
    }
    return status;
}

/* Notes when the next job of this priority becomes due. */
static enum mq_status note_next(struct mq_taking *t, int64_t priority, struct mq_error *err)
{
    int64_t next = 0;
    int64_t *resume = &t->claim->resume_s;
    MQ_TRY(mq_sql_int(t->tx->queue, MQ_SQL_CLAIM_NEXT, MQ_ARGS(mq_int(priority)), &next, err));
    if (next && next <= t->tx->now_s) {
        next = t->tx->now_s + 1; /* another run is about to claim this job */
    }
    if (next && (*resume == 0 || next < *resume)) {
        *resume = next;
    }
    return MQ_OK;
}

/* Makes PostgreSQL plan its statements again when many mails follow an empty queue, because other
 * plans can be better then. Does it only once, because that costs a millisecond. */
static enum mq_status plan_again(struct mq_taking *t, struct mq_error *err)
{
    struct mq_queue *queue = t->tx->queue;
    int64_t before = queue->streak;
    queue->streak = t->claim->end == MQ_CLAIM_EMPTY ? 0 : before + (int64_t)t->taken.count;
    bool due = before < MQ_CLAIM_CHUNK && queue->streak >= MQ_CLAIM_CHUNK;
    return due && mq_sql_has(queue, MQ_SQL_CLAIM_REPLAN)
               ? mq_sql_exec(queue, MQ_SQL_CLAIM_REPLAN, MQ_NO_ARGS, err)
               : MQ_OK;
}

static enum mq_status take_all(struct mq_taking *t, struct mq_error *err)
{
    int64_t priority = t->request->below ? *t->request->below : PRIORITY_ABOVE_ALL;
    while (!t->stop) {
        int64_t below = priority;
        struct mq_args args = MQ_ARGS(mq_int(below));
        MQ_TRY(mq_sql_int(t->tx->queue, MQ_SQL_CLAIM_PRIORITY, args, &priority, err));
        if (priority == below) {
            break;
        }
        MQ_TRY(priority < 0 && !t->leaves ? leave_reserve(t, err) : MQ_OK);
        MQ_TRY(take_priority(t, priority, err));
        if (!t->stop) {
            MQ_TRY(note_next(t, priority, err));
        }
    }
    if (!t->stop && !mq_turns_full(t->request->turns)) {
        t->claim->end = MQ_CLAIM_EMPTY;
    } else if (t->claim->end != MQ_CLAIM_TOKENS) {
        t->claim->resume_s = 0;
    }
    mq_turns_end(t->request->turns, t->claim->end == MQ_CLAIM_EMPTY, t->tx->now_s);
    return plan_again(t, err);
}

enum mq_status mq_claim_take(struct mq_tx *tx, const struct mq_claim_request *request,
                             struct mq_claim *claim, struct mq_error *err)
{
    bool is_closed = false, more = false;
    struct mq_taking t = {.tx = tx, .request = request, .claim = claim};
    t.many = mq_sql_has(tx->queue, MQ_SQL_CLAIM_TAKE_MANY) && request->limit > 1;
    mq_turns_begin(request->turns);
    claim->end = MQ_CLAIM_LIMIT;
    claim->limited = mq_settings_limit(&tx->settings);
    claim->pays_later = request->relays_of && mq_settings_limit_by(&tx->settings, MQ_SCOPE_RELAY);
    MQ_TRY(mq_claim_closed(tx, request, claim, &is_closed, err));
    if (is_closed || request->limit <= 0) {
        return MQ_OK;
    }
    struct mq_party anyone = party_of(&t, NULL);
    t.marked = mq_settings_marked(&tx->settings, tx->queue->names.table);
    MQ_TRY(mq_taking_forward(&t, &more, err));
    MQ_TRY(mq_limit_allowance(tx, &anyone, &t.allowance, err));
    enum mq_status status = take_all(&t, err);
    if (more && claim->end != MQ_CLAIM_LIMIT) {
        claim->end = MQ_CLAIM_MORE;
    }
    claim->jobs = t.taken.jobs;
    claim->count = t.taken.count;
    claim->dropped_bytes = t.dropped.bytes;
    return status;
}
