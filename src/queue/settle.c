/* Writes outcomes to rows. Each write is fenced by the claim token and the attempt: a worker that
 * lost its lease changes nothing. */
#include <stdlib.h>
#include <string.h>

#include "core/json.h"
#include "policy/consequence.h"
#include "queue/all_limits.h"
#include "queue/claim.h"
#include "queue/handle.h"
#include "queue/job.h"
#include "queue/sql/columns.h"
#include "queue/sql/list.h"
#include "queue/steps.h"

#define ERROR_MAX 500 /* octets of last_error */

/* The recipients' results, counted. A job without recipients (composed when sent) counts as one
 * recipient. */
struct tally {
    int all;
    int count[MQ_OUTCOME_RECIPIENTS];
    int becomes[MQ_STATE_COUNT + 1];          /* how many have an outcome with this state */
    int left;                                 /* how many stay in the list */
    const char *reply[MQ_OUTCOME_RECIPIENTS]; /* the first for this outcome; NULL: none */
    const char *phase[MQ_OUTCOME_RECIPIENTS]; /* likewise */
};

/* What the row becomes. Empty texts leave their columns as they are. */
struct plan {
    enum mq_state to;
    const char *parked_for;
    int attempts, uncertain;
    int64_t next_attempt_at, last_attempt_at;
    struct mq_buffer error, recipients, refused, uncertain_to;
};

/* The outcome of one recipient. If the worker gave one for the whole job, recipients that the claim
 * did not reach are released. */
static enum mq_outcome result_of(const struct mq_settlement *s, size_t i)
{
    const struct mq_job *job = s->job;
    if (s->results) {
        bool known = i < MQ_RECIPIENTS_MAX && s->results[i] < MQ_OUTCOME_RECIPIENTS;
        return known ? mq_outcomes[s->results[i]].row : MQ_OUTCOME_RELEASED;
    }
    bool reached = job->targets.count == 0 || !job->target_of || job->target_of[i] >= 0;
    return reached ? mq_outcomes[s->outcome].row : MQ_OUTCOME_RELEASED;
}

static bool is_whole(const struct mq_settlement *s, enum mq_outcome outcome)
{
    return !s->results && s->outcome == outcome;
}

/* The reply for one recipient, or `other` if there is none. */
static const char *reply_of(const struct mq_settlement *s, size_t i, const char *other)
{
    return s->replies && s->replies[i] ? s->replies[i] : other;
}

static struct tally add_up(const struct mq_settlement *s)
{
    size_t n = s->job->recipients.count ? s->job->recipients.count : 1;
    struct tally t = {.all = (int)n};
    for (size_t i = 0; i < n; i++) {
        enum mq_outcome result = result_of(s, i);
        t.count[result]++;
        t.becomes[mq_outcomes[result].state]++;
        t.left += mq_outcomes[result].stays;
        if (!t.phase[result]) {
            t.phase[result] = s->results && s->phases ? s->phases[i] : s->phase;
        }
        if (!t.reply[result]) {
            t.reply[result] = reply_of(s, i, result == MQ_OUTCOME_DELIVERED ? NULL : s->error);
        }
    }
    return t;
}

/* ---- what becomes of the row ---- */

static void keep_recipients(const struct mq_settlement *s, bool tried, struct mq_buffer *out)
{
    for (size_t i = 0; i < s->job->recipients.count; i++) {
        enum mq_outcome result = result_of(s, i);
        if (mq_outcomes[result].stays && tried == (result != MQ_OUTCOME_RELEASED)) {
            mq_buffer_char(out, out->len ? ',' : '[');
            mq_json_string(out, mq_str_of(s->job->recipients.items[i]));
        }
    }
}

/* Writes the recipients that stay, those not tried this time first. Otherwise, if tokens or an SMTP
 * transaction reach only some recipients of each claim, one that is always deferred could be the
 * only one ever tried, until the job is parked. */
static void write_recipients(const struct mq_settlement *s, struct mq_buffer *out)
{
    keep_recipients(s, false, out);
    keep_recipients(s, true, out);
    mq_buffer_cstr(out, out->len ? "]" : "[]");
}

/* Writes all refused recipients, of earlier attempts and of now: a JSON object, address → reply. */
static void write_refused(const struct mq_settlement *s, struct mq_buffer *out)
{
    struct mq_str before = mq_str_trim(mq_str_of(s->job->refused));
    struct mq_strings pairs = {0};
    if (mq_json_read(before, '{', &pairs) == MQ_OK && pairs.count > 0) {
        mq_buffer_append(out, before.data, before.len - 1);
    }
    mq_strings_clear(&pairs);
    for (size_t i = 0; i < s->job->recipients.count; i++) {
        if (result_of(s, i) == MQ_OUTCOME_REFUSED) {
            mq_buffer_char(out, out->len ? ',' : '{');
            mq_json_string(out, mq_str_of(s->job->recipients.items[i]));
            mq_buffer_char(out, ':');
            mq_json_string(out, mq_str_of(reply_of(s, i, s->error ? s->error : "")));
        }
    }
    mq_buffer_cstr(out, "}");
}

/* Writes the recipients that stay and may have got the message, now or in an earlier attempt. A
 * message that is composed when sent has no recipients yet: its list is empty. */
static void write_uncertain(const struct mq_settlement *s, struct mq_buffer *out)
{
    const struct mq_job *job = s->job;
    struct mq_strings before = {0};
    out->failed = mq_json_read(mq_str_of(job->uncertain_to), '[', &before) == MQ_NOMEM;
    for (size_t i = 0; i < job->recipients.count; i++) {
        const char *address = job->recipients.items[i];
        enum mq_outcome result = result_of(s, i);
        if (result == MQ_OUTCOME_UNCERTAIN ||
            (mq_outcomes[result].stays && mq_strings_contains(&before, address))) {
            mq_buffer_char(out, out->len ? ',' : '[');
            mq_json_string(out, mq_str_of(address));
        }
    }
    if (out->len > 0 || job->recipients.count == 0) {
        mq_buffer_cstr(out, out->len ? "]" : "[]");
    }
    mq_strings_clear(&before);
}

static void write_error(const char *error, struct mq_buffer *out)
{
    mq_buffer_printable(out, mq_str_of(error));
    if (out->len > ERROR_MAX) {
        out->len = mq_utf8_cut(mq_buffer_view(out), ERROR_MAX);
        out->data[out->len] = '\0';
    }
}

/* Plans that the job goes back, and that the attempt does not count. */
static void plan_back(const struct mq_tx *tx, const struct mq_settlement *s, struct plan *plan)
{
    const struct mq_job *job = s->job;
    int64_t wait_s = s->retry_after_s > 0 ? s->retry_after_s : s->relay_wait_s;
    if (wait_s > 0) {
        plan->next_attempt_at = tx->now_s + wait_s;
    }
    plan->attempts = job->attempts > 0 ? job->attempts - 1 : 0;
    plan->to = plan->attempts > 0 ? MQ_FAILED : MQ_PENDING;
    plan->last_attempt_at = job->last_attempt_at;
}

static void plan_parked(struct plan *plan, enum mq_outcome why)
{
    plan->to = MQ_PARKED;
    plan->parked_for = mq_outcomes[why].parked_for;
}

/* How many claims like this one it takes to try all recipients once. */
static int64_t claims_a_try(const struct tally *t)
{
    int64_t tried = t->all - t->count[MQ_OUTCOME_RELEASED];
    return (t->all + tried - 1) / tried;
}

/* Whether a claim that reached only some recipients finished any of them. No attempt counts then.
 * That cannot go on for ever, because the list gets shorter. */
static bool progressed(const struct tally *t)
{
    return t->count[MQ_OUTCOME_RELEASED] > 0 && t->count[MQ_OUTCOME_UNCERTAIN] == 0 &&
           t->count[MQ_OUTCOME_DELIVERED] + t->count[MQ_OUTCOME_REFUSED] > 0;
}

/* At least one recipient failed: plans the next attempt, or parks the job. Before it is parked,
 * recipients that tokens or an SMTP transaction did not reach must get their tries. */
static void plan_failed(struct mq_tx *tx, const struct mq_settlement *s, const struct tally *t,
                        struct plan *plan)
{
    const struct mq_queue *queue = tx->queue;
    bool uncertain = t->count[MQ_OUTCOME_UNCERTAIN] > 0;
    plan->uncertain += uncertain;
    if (uncertain && s->on_uncertain == MQ_UNCERTAIN_HOLD) {
        plan_parked(plan, MQ_OUTCOME_UNCERTAIN);
        return;
    }
    if (!progressed(t) && plan->attempts >= mq_job_max_attempts(queue, s->job) * claims_a_try(t)) {
        plan_parked(plan, MQ_OUTCOME_DEFERRED);
        return;
    }
    int64_t delay = s->retry_after_s;
    if (delay < 0) {
        delay = mq_backoff_delay_s(&queue->backoff, plan->attempts, queue->random);
        delay = s->relay_wait_s > delay ? s->relay_wait_s : delay;
    }
    plan->to = MQ_FAILED;
    plan->next_attempt_at = tx->now_s + delay;
    plan->attempts -= progressed(t);
}

static void make_plan(struct mq_tx *tx, const struct mq_settlement *s, const struct tally *t,
                      struct plan *plan)
{
    const struct mq_job *job = s->job;
    int released = t->count[MQ_OUTCOME_RELEASED];
    *plan = (struct plan){.attempts = job->attempts,
                          .uncertain = job->uncertain,
                          .next_attempt_at = job->next_attempt_at,
                          .last_attempt_at = s->at_s > 0 ? s->at_s : tx->now_s};
    if (is_whole(s, MQ_OUTCOME_UNREADABLE) || is_whole(s, MQ_OUTCOME_SUPPRESSED)) {
        plan_back(tx, s, plan);
        plan_parked(plan, s->outcome);
    } else if (t->left == 0) {
        plan_parked(plan, MQ_OUTCOME_REFUSED);
    } else if (t->becomes[MQ_FAILED] > 0) {
        plan_failed(tx, s, t, plan);
    } else {
        plan_back(tx, s, plan);
    }
    if (t->left < (int)job->recipients.count || (released > 0 && released < t->left)) {
        write_recipients(s, &plan->recipients);
    }
    if (t->count[MQ_OUTCOME_REFUSED] > 0 && job->recipients.count) {
        write_refused(s, &plan->refused);
    }
    if (t->count[MQ_OUTCOME_UNCERTAIN] > 0 || job->uncertain_to) {
        write_uncertain(s, &plan->uncertain_to);
    }
    write_error(s->error ? s->error : t->reply[MQ_OUTCOME_REFUSED], &plan->error);
}

static enum mq_status write_row(struct mq_tx *tx, struct mq_settlement *s, const struct plan *plan,
                                struct mq_error *err)
{
    const struct mq_job *job = s->job;
    struct mq_value values[] = {mq_null(),
                                mq_int(job->id),
                                mq_cstr(job->locked_by),
                                mq_int(job->attempts),
                                mq_int(plan->attempts),
                                mq_int(plan->uncertain),
                                mq_int(plan->next_attempt_at),
                                mq_int_or_null(plan->last_attempt_at),
                                mq_note(mq_buffer_view(&plan->error)),
                                mq_cstr(plan->parked_for),
                                mq_text(mq_buffer_view(&plan->recipients)),
                                mq_note(mq_buffer_view(&plan->refused)),
                                mq_text(mq_buffer_view(&plan->uncertain_to)),
                                mq_cstr(s->waits_for)};
    struct mq_transition change = {MQ_SENDING, plan->to, MQ_SQL_SETTLE, values, 14};
    if (plan->error.failed || plan->recipients.failed || plan->refused.failed ||
        plan->uncertain_to.failed) {
        return mq_error_nomem(err);
    }
    MQ_TRY(mq_job_transition(tx->queue, &change, err));
    s->row = mq_sql_changes(tx->queue) > 0 ? MQ_ROW_STANDS : MQ_ROW_LOST;
    return MQ_OK;
}

/* ---- what is told ---- */

static void tell(struct mq_tx *tx, const struct mq_settlement *s, struct mq_event event)
{
    event.relay = (char *)s->relay; /* all strings are borrowed: the event list copies them */
    event.ms = s->ms;
    mq_tx_event(tx, s->job, &event);
}

/* The phase of a failure that parks the job, or that of the job. */
static const char *last_phase(const struct mq_settlement *s, const struct tally *t)
{
    const char *phase = s->phase;
    for (size_t i = MQ_OUTCOME_DELIVERED + 1; i < MQ_OUTCOME_RECIPIENTS; i++) {
        phase = t->phase[i] ? t->phase[i] : phase;
    }
    return phase;
}

/* Reports how many recipients had which outcome, or `back` if the job only went back. */
static void tell_plan(struct mq_tx *tx, const struct mq_settlement *s, const struct tally *t,
                      const struct plan *plan, enum mq_event_type back)
{
    bool parked = plan->to == MQ_PARKED;
    bool some = false;
    char *error = plan->error.data;
    int64_t next = plan->to == MQ_FAILED ? plan->next_attempt_at : 0;
    if (parked && is_whole(s, MQ_OUTCOME_SUPPRESSED)) {
        tell(tx, s, (struct mq_event){.type = MQ_EVENT_SUPPRESSED, .reply = error});
    }
    for (size_t i = MQ_OUTCOME_RELEASED + 1; i < MQ_OUTCOME_RECIPIENTS; i++) {
        const struct mq_outcome_facts *facts = &mq_outcomes[i];
        if (t->count[i] > 0 && !(parked && facts->event == MQ_EVENT_TRY_LATER)) {
            tell(tx, s,
                 (struct mq_event){.type = facts->event,
                                   .recipients = t->count[i],
                                   .phase = t->phase[i],
                                   .reply = facts->stays ? error : (char *)t->reply[i],
                                   .next_attempt_at = facts->stays ? next : 0});
            some = true;
        }
    }
    if (parked || !some) {
        tell(tx, s,
             (struct mq_event){.type = parked ? MQ_EVENT_PARKED : back,
                               .reply = error ? error : (char *)s->trouble,
                               .phase = last_phase(s, t)});
    }
}

/* ---- one ---- */

static enum mq_status delete_row(struct mq_tx *tx, struct mq_settlement *s, struct mq_error *err)
{
    const struct mq_job *job = s->job;
    struct mq_args fence = MQ_ARGS(mq_int(job->id), mq_cstr(job->locked_by), mq_int(job->attempts));
    MQ_TRY(mq_sql_exec(tx->queue, MQ_SQL_SETTLE_DELETE, fence, err));
    s->row = mq_sql_changes(tx->queue) > 0 ? MQ_ROW_GONE : MQ_ROW_LOST;
    return s->row == MQ_ROW_GONE
               ? mq_sql_exec(tx->queue, MQ_SQL_DELETE_BODY, MQ_ARGS(mq_int(job->id)), err)
               : MQ_OK;
}

static bool deletes(const struct mq_settlement *s, const struct tally *t)
{
    bool all_sent = t->becomes[MQ_STATE_COUNT] == t->all && s->job->refused == NULL;
    bool to_nobody = is_whole(s, MQ_OUTCOME_SUPPRESSED) && s->job->scope;
    return all_sent || to_nobody || is_whole(s, MQ_OUTCOME_ORPHAN);
}

bool mq_settle_deletes(const struct mq_settlement *s)
{
    struct tally t = add_up(s);
    return deletes(s, &t);
}

/* The latest time at which the relay can have accepted what was handed over. */
static int64_t taken_s(const struct mq_tx *tx, const struct mq_settlement *s)
{
    int64_t at_s = s->at_s > 0 && s->at_s < tx->now_s ? s->at_s : tx->now_s;
    return s->taken_by_s > at_s ? s->taken_by_s : at_s;
}

/* Deletes or updates the row, unless delete_group() has deleted it or found its lease lost. */
static enum mq_status change_row(struct mq_tx *tx, struct mq_settlement *s, const struct tally *t,
                                 struct plan *plan, struct mq_error *err)
{
    if (deletes(s, t)) {
        write_error(s->error, &plan->error);
        return s->row == MQ_ROW_STANDS ? delete_row(tx, s, err) : MQ_OK;
    }
    make_plan(tx, s, t, plan);
    return write_row(tx, s, plan, err);
}

enum mq_status mq_settle_one(struct mq_tx *tx, struct mq_settlement *s, enum mq_event_type back,
                             struct mq_error *err)
{
    struct tally t = add_up(s);
    struct plan plan = {0};
    enum mq_status status = change_row(tx, s, &t, &plan, err);
    if (status == MQ_OK && s->row == MQ_ROW_LOST) {
        tell(tx, s,
             (struct mq_event){
                 .type = MQ_EVENT_STALE, .reply = (char *)s->error, .phase = last_phase(s, &t)});
    } else if (status == MQ_OK) {
        tell_plan(tx, s, &t, &plan, s->row == MQ_ROW_GONE ? mq_outcomes[s->outcome].event : back);
        struct mq_outlay outlay = {.party = mq_job_party(s->job),
                                   .paid = s->job->paid,
                                   .handed = s->handed_over,
                                   .at_s = taken_s(tx, s),
                                   .results = s->results};
        status = mq_limit_return(tx, &outlay, err);
    }
    mq_buffer_clear(&plan.error);
    mq_buffer_clear(&plan.recipients);
    mq_buffer_clear(&plan.refused);
    mq_buffer_clear(&plan.uncertain_to);
    return status;
}

/* ---- the outcomes of a cycle ---- */

/* Outcomes whose rows one statement deletes: on a server, each statement is a round trip. */
struct group {
    struct mq_settlement *outcomes;
    size_t count;
    size_t hint; /* where mark_gone() looks first: rows mostly come back in this order */
    struct mq_buffer rows;
    struct mq_buffer gone;
};

static void mark_gone(struct group *group, int64_t id, int64_t attempts)
{
    for (size_t n = 0; n < group->count; n++) {
        size_t i = (group->hint + n) % group->count;
        struct mq_settlement *s = &group->outcomes[i];
        if (s->row == MQ_ROW_LOST && s->job->id == id && s->job->attempts == attempts) {
            s->row = MQ_ROW_GONE;
            group->hint = i + 1;
            mq_sql_list_add(&group->gone, id, 0);
            return;
        }
    }
}

/* Deletes the rows whose lease still holds, then their bodies. If a DELETE cannot return what it
 * deleted, the first statement only locks the rows, and a second one deletes them. */
static enum mq_status delete_group(struct mq_queue *queue, struct group *group,
                                   struct mq_error *err)
{
    const char *token = group->outcomes[0].job->locked_by;
    for (size_t i = 0; i < group->count; i++) {
        struct mq_settlement *s = &group->outcomes[i];
        if (mq_settle_deletes(s) && strcmp(s->job->locked_by, token) == 0) {
            s->row = MQ_ROW_LOST;
            mq_sql_list_add(&group->rows, s->job->id, s->job->attempts);
        }
    }
    if (group->rows.len == 0 && !group->rows.failed) {
        return MQ_OK;
    }
    struct mq_args fence = MQ_ARGS(mq_sql_list(&group->rows), mq_cstr(token));
    enum mq_status status = group->rows.failed
                                ? mq_error_nomem(err)
                                : mq_sql_query(queue, MQ_SQL_SETTLE_DELETE_MANY, fence, err);
    while (mq_sql_next(queue, &status, err)) {
        mark_gone(group, mq_sql_column_int(queue, 0), mq_sql_column_int(queue, 1));
    }
    if (status != MQ_OK || (group->gone.len == 0 && !group->gone.failed)) {
        return status;
    }
    struct mq_args ids = MQ_ARGS(mq_sql_list(&group->gone));
    if (group->gone.failed) {
        return mq_error_nomem(err);
    }
    if (mq_sql_has(queue, MQ_SQL_DELETE_JOBS)) {
        MQ_TRY(mq_sql_exec(queue, MQ_SQL_DELETE_JOBS, ids, err));
    }
    return mq_sql_exec(queue, MQ_SQL_DELETE_BODIES, ids, err);
}

enum mq_status mq_settle_all(struct mq_tx *tx, struct mq_settlement *outcomes, size_t count,
                             struct mq_error *err)
{
    struct group group = {.outcomes = outcomes, .count = count};
    enum mq_status status = MQ_OK;
    for (size_t i = 0; i < count; i++) {
        outcomes[i].row = MQ_ROW_STANDS; /* reset, because the transaction can run again */
    }
    if (count > 1 && mq_sql_has(tx->queue, MQ_SQL_SETTLE_DELETE_MANY)) {
        status = delete_group(tx->queue, &group, err);
        mq_buffer_clear(&group.rows);
        mq_buffer_clear(&group.gone);
    }
    for (size_t i = 0; i < count && status == MQ_OK; i++) {
        status = mq_settle_one(tx, &outcomes[i], mq_outcomes[MQ_OUTCOME_RELEASED].event, err);
    }
    return status;
}

/* ---- jobs that cannot be sent ---- */

enum mq_status mq_job_park(struct mq_tx *tx, const struct mq_job *job, enum mq_outcome why,
                           const char *error, struct mq_error *err)
{
    struct mq_value values[] = {mq_null(), mq_cstr(mq_outcomes[why].parked_for), mq_cstr(error),
                                mq_int(job->id)};
    struct mq_transition change = {job->state, MQ_PARKED, MQ_SQL_PARK, values, 4};
    struct mq_event event = {
        .type = MQ_EVENT_PARKED, .reply = (char *)(error ? error : job->last_error), .ms = -1};
    MQ_TRY(mq_job_transition(tx->queue, &change, err));
    mq_tx_event(tx, job, &event);
    return MQ_OK;
}

enum mq_status mq_job_park_unreadable(struct mq_tx *tx, const struct mq_job *job,
                                      struct mq_error *err)
{
    return mq_job_park(
        tx, job, MQ_OUTCOME_UNREADABLE,
        "the row cannot be read: recipients is not a JSON array of addresses, "
        "envelope_from is not an address, or locked_by is not a claim token: correct it, "
        "then retry it, or delete it",
        err);
}
