/* Claims due rows, those of the highest priority first, as many as limit and tokens allow. */
#include "queue/claim.h"

#include <stdio.h>

#include "policy/limits.h"
#include "queue/claim/closed.h"
#include "queue/claim/turns.h"
#include "queue/config/kept_hours.h"
#include "queue/config/relays.h"
#include "queue/handle.h"
#include "queue/job.h"
#include "queue/limit.h"
#include "queue/redirect.h"
#include "queue/sql/columns.h"
#include "queue/sql/list.h"
#include "queue/steps.h"
#include "queue/suppress/suppress.h"
#include "queue/windows/payments.h"

#define PRIORITY_ABOVE_ALL (INT64_C(1) << 40)

/* The state of one claim. */
struct taking {
    struct mq_tx *tx;
    const struct mq_claim_request *request;
    struct mq_claim *claim;
    struct mq_job_list taken;
    bool many;                 /* rows are written together: each statement is a round trip */
    size_t written;            /* how many of `taken` are written */
    int64_t allowance;         /* recipients that tokens can still pay for … */
    bool leaves;               /* … without the reserve, as the priority is below 0 */
    struct mq_dropped dropped; /* expired, orphaned, unreadable and put back rows */
    struct put_back {
        int64_t id;     /* 0: written already */
        int64_t open_s; /* when its hours open, … */
        bool pause;     /* … or its relays, which are paused */
    } back[MQ_CLAIM_CHUNK];
    size_t back_count;
    bool puts_back;
    int64_t marked; /* mq_settings_marked() */
    bool stop;
};

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
static enum mq_status drop(struct taking *t, struct mq_job *job, bool *dropped,
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
static enum mq_status write_claim(struct taking *t, struct mq_job *job, struct mq_error *err)
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
static enum mq_status write_many(struct taking *t, struct mq_error *err)
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

static struct mq_party party_of(const struct taking *t, const struct mq_job *job)
{
    return (struct mq_party){.relay = only_relay(t->request),
                             .from = job ? job->envelope_from : NULL,
                             .to = job,
                             .leaves = t->leaves};
}

/* Each recipient costs a token; a job that is composed when sent pays for one now. */
static enum mq_status pay(struct taking *t, struct mq_job *job, struct mq_error *err)
{
    struct mq_party party = party_of(t, job);
    job->paid = job->recipients.count ? (int)job->targets.count : 1;
    t->allowance -= job->paid;
    MQ_TRY(mq_limit_set_relay(t->tx, job, party.relay, err));
    return mq_limit_take(t->tx, &party, job->paid, true, err);
}

/* Claims a job, for at most `most` of its recipients. */
static enum mq_status take(struct taking *t, struct mq_job *job, int64_t most, struct mq_error *err)
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

/* ---- mail outside its hours, and of relays that are paused ---- */

/* Writes one opening to all jobs of the chunk that wait for it, beginning with the first of them.
 */
static enum mq_status write_opening(struct taking *t, struct put_back *first, struct mq_error *err)
{
    struct mq_queue *queue = t->tx->queue;
    struct mq_buffer text = {0};
    int64_t open_s = first->open_s;
    bool pause = first->pause;
    mq_buffer_printf(&text, "UPDATE {t} SET next_attempt_at = ?1, %s WHERE id IN (0",
                     pause ? "waits_for = '" MQ_FOR_PAUSE "'" : "parked_for = '" MQ_FOR_HOURS "'");
    for (; first < t->back + t->back_count; first++) {
        if (first->id && first->open_s == open_s && first->pause == pause) {
            mq_buffer_printf(&text, ",%lld", (long long)first->id);
            first->id = 0;
        }
    }
    mq_buffer_char(&text, ')');
    enum mq_status status = text.failed
                                ? mq_error_nomem(err)
                                : mq_sql_exec_text(queue, text.data, MQ_ARGS(mq_int(open_s)), err);
    mq_buffer_clear(&text);
    return status;
}

static enum mq_status write_back(struct taking *t, struct mq_error *err)
{
    const struct mq_tx *tx = t->tx;
    int64_t mark = mq_settings_mark(&tx->settings);
    bool first =
        mark && !t->marked && (t->puts_back || t->claim->pays_later); /* payments put back, too */
    for (size_t i = 0; i < t->back_count; i++) {
        if (t->back[i].id) {
            MQ_TRY(write_opening(t, &t->back[i], err));
        }
    }
    t->back_count = 0;
    t->marked = first ? mark : t->marked;
    return first ? mq_mark_put(tx->queue, tx->queue->names.table, mark, err) : MQ_OK;
}

/* Puts a job back whose hours have not begun or whose relays are all paused, so that the first due
 * rows do not become ever more of them. Returns whether it did. */
static bool is_put_back(struct taking *t, const struct mq_job *job,
                        const struct mq_relay_list *relays)
{
    const struct mq_tx *tx = t->tx;
    int64_t open_s = mq_hours_opening(tx->queue, &tx->settings, job->mail_type, tx->now_s);
    bool pause = open_s <= tx->now_s && relays->count == 0 && relays->opens_s > 0;
    if (pause) {
        open_s = relays->opens_s > tx->now_s ? relays->opens_s : tx->now_s + 1;
    }
    if (open_s <= tx->now_s) {
        return false;
    }
    t->back[t->back_count++] = (struct put_back){job->id, open_s, pause};
    t->dropped.rows++;
    t->puts_back = true;
    return true;
}

/* Brings forward the next rows that other hours or limits than the present ones put back. *more:
 * there may be others. */
static enum mq_status forward(struct taking *t, bool *more, struct mq_error *err)
{
    struct mq_tx *tx = t->tx;
    struct mq_queue *queue = tx->queue;
    int64_t mark = mq_settings_mark(&tx->settings), end = 0;
    int64_t after = queue->forward_mark == mark ? queue->forward_after : 0;
    struct mq_args range = MQ_ARGS(mq_int(after), mq_int(MQ_ROWS_A_CYCLE));
    if (t->marked == 0 || t->marked == mark) {
        return MQ_OK;
    }
    MQ_TRY(after ? MQ_OK : mq_lines_forget(tx, err));
    MQ_TRY(mq_sql_int(queue, MQ_SQL_WALK_END, range, &end, err));
    t->claim->forward_after = end;
    t->claim->forward_mark = mark;
    *more = end != 0;
    if (!*more) {
        t->marked = mark;
        return mq_mark_put(queue, queue->names.table, mark, err);
    }
    return mq_sql_exec_text(queue,
                            "UPDATE {t} SET next_attempt_at = ?1, parked_for = NULL, "
                            "waits_for = NULL WHERE id > ?2 AND id <= ?3 AND " MQ_CLAIMABLE_SQL
                            " AND (parked_for = '" MQ_FOR_HOURS "' OR waits_for IS NOT NULL) "
                            "AND next_attempt_at > ?1",
                            MQ_ARGS(mq_int(tx->now_s), mq_int(after), mq_int(end)), err);
}

/* ---- mail that limits keep ---- */

/* From now on the claim leaves the reserve. */
static enum mq_status leave_reserve(struct taking *t, struct mq_error *err)
{
    t->leaves = true;
    struct mq_party anyone = party_of(t, NULL);
    return mq_limit_still_allows(t->tx, &anyone, &t->allowance, err);
}

/* Stops the claim because no mail from any sender can go. */
static enum mq_status stop_for_tokens(struct taking *t, struct mq_error *err)
{
    struct mq_claim *claim = t->claim;
    struct mq_party anyone = party_of(t, NULL);
    const struct mq_limit *full = NULL;
    int64_t others_s = 0;
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

/* Takes the row as far as tokens and limits allow, or puts it back, or sets `stop`. */
static enum mq_status take_allowed(struct taking *t, struct mq_job *job,
                                   struct mq_relay_list *relays, struct mq_error *err)
{
    struct mq_room room = {.recipients = t->allowance};
    struct mq_party party = party_of(t, job);
    if (t->allowance > 0 && t->tx->settings.limits) {
        MQ_TRY(mq_windows_room(t->tx, &party, &room, err));
    }
    int64_t most = room.recipients < t->allowance ? room.recipients : t->allowance;
    if (most <= 0 && !room.sender_full) {
        return stop_for_tokens(t, err);
    }
    if (most <= 0) {
        struct mq_kept why = {&room, 1, INT64_MAX};
        MQ_TRY(mq_windows_put_back(t->tx, &why, job, err));
    } else if (t->claim->pays_later) {
        MQ_TRY(mq_relays_promise(t->tx, job, relays, &most, err));
    }
    t->dropped.rows += most <= 0; /* a transaction puts back a limited number */
    t->puts_back = t->puts_back || most <= 0;
    return most > 0 ? take(t, job, most, err) : MQ_OK;
}

/* Takes the row, drops it, puts it back, or sets `stop`. If it is taken, *job moves into the claim.
 */
static enum mq_status consider(struct taking *t, struct mq_job *job, struct mq_error *err)
{
    bool dropped = false;
    struct mq_relay_list relays = {.count = 0};
    if (mq_dropped_enough(&t->dropped)) {
        t->claim->end = MQ_CLAIM_MORE;
        t->stop = true;
        return MQ_OK;
    }
    MQ_TRY(drop(t, job, &dropped, err));
    if (!dropped && t->request->relays_of) {
        t->request->relays_of(t->request->relays_context, job, &relays);
    }
    if (dropped || is_put_back(t, job, &relays)) {
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
static size_t wanted(const struct taking *t, int64_t most)
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
static enum mq_status look_at(struct taking *t, struct mq_job *job, struct mq_place *reached,
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
static enum mq_status read_due(struct taking *t, const struct mq_place *from, size_t want,
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
static enum mq_status take_chunk(struct taking *t, struct mq_place from, size_t want,
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
    MQ_TRY(write_back(t, err));
    return write_many(t, err);
}

static enum mq_status take_priority(struct taking *t, int64_t priority, struct mq_error *err)
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
static enum mq_status note_next(struct taking *t, int64_t priority, struct mq_error *err)
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
static enum mq_status plan_again(struct taking *t, struct mq_error *err)
{
    struct mq_queue *queue = t->tx->queue;
    int64_t before = queue->streak;
    queue->streak = t->claim->end == MQ_CLAIM_EMPTY ? 0 : before + (int64_t)t->taken.count;
    bool due = before < MQ_CLAIM_CHUNK && queue->streak >= MQ_CLAIM_CHUNK;
    return due && mq_sql_has(queue, MQ_SQL_CLAIM_REPLAN)
               ? mq_sql_exec(queue, MQ_SQL_CLAIM_REPLAN, MQ_NO_ARGS, err)
               : MQ_OK;
}

static enum mq_status take_all(struct taking *t, struct mq_error *err)
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
    struct taking t = {.tx = tx, .request = request, .claim = claim};
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
    MQ_TRY(forward(&t, &more, err));
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
