/* Outcomes into rows. Each write is fenced by the claim token: a worker that lost its lease
 * changes nothing. */
#include <stdlib.h>
#include <string.h>

#include "core/json.h"
#include "queue/handle.h"
#include "queue/job.h"
#include "queue/limit.h"
#include "queue/sql/columns.h"
#include "queue/steps.h"

#define ERROR_MAX 500 /* octets of last_error */

/* What the recipients' results add up to. A job without recipients, composed when sent, counts as
 * one. */
struct tally {
    int count[MQ_OUTCOME_RECIPIENTS];
    int left;               /* stay in the list */
    const char *refused_by; /* the first reply of that kind; NULL: none */
    const char *accepted_by;
};

/* What the row becomes. */
struct plan {
    enum mq_state to;
    const char *parked_for;
    int attempts;
    int uncertain;
    int64_t next_attempt_at;
    int64_t last_attempt_at;
    const char *error;
    bool lists; /* recipients and refused change */
    struct mq_buffer text;
    struct mq_buffer recipients;
    struct mq_buffer refused;
};

/* Whether this claim reached the recipient; as far as is known, and one at least. */
static bool on_the_wire(const struct mq_job *job, size_t i)
{
    return job->targets.count == 0 || !job->target_of || job->target_of[i] >= 0;
}

static enum mq_outcome result_of(const struct mq_settlement *s, size_t i)
{
    if (s->results) {
        return s->results[i] < MQ_OUTCOME_RECIPIENTS ? mq_outcomes[s->results[i]].row
                                                     : MQ_OUTCOME_RELEASED;
    }
    return on_the_wire(s->job, i) ? mq_outcomes[s->outcome].row : MQ_OUTCOME_RELEASED;
}

static bool is_whole(const struct mq_settlement *s, enum mq_outcome outcome)
{
    return !s->results && s->outcome == outcome;
}

static const char *reply_of(const struct mq_settlement *s, size_t i)
{
    return s->replies && s->replies[i] ? s->replies[i] : NULL;
}

static struct tally add_up(const struct mq_settlement *s)
{
    struct tally t = {0};
    size_t n = s->job->recipients.count ? s->job->recipients.count : 1;
    for (size_t i = 0; i < n; i++) {
        enum mq_outcome result = result_of(s, i);
        t.count[result]++;
        t.left += mq_outcomes[result].stays;
        if (result == MQ_OUTCOME_REFUSED && !t.refused_by) {
            t.refused_by = reply_of(s, i) ? reply_of(s, i) : s->error;
        } else if (result == MQ_OUTCOME_DELIVERED && !t.accepted_by) {
            t.accepted_by = reply_of(s, i);
        }
    }
    return t;
}

/* ---- lists ---- */

static void add_refused(struct mq_buffer *out, const char *address, const char *reply)
{
    mq_buffer_char(out, out->len ? ',' : '{');
    mq_json_string(out, mq_str_of(address));
    mq_buffer_char(out, ':');
    mq_json_string(out, mq_str_of(reply ? reply : ""));
}

/* Those refused in earlier attempts. A text that cannot be read is no reason to lose the outcome.
 */
static void keep_refused(struct mq_buffer *out, const char *text)
{
    struct mq_strings addresses;
    struct mq_strings replies;
    struct mq_error why;
    mq_strings_init(&addresses);
    mq_strings_init(&replies);
    if (text && mq_json_read_object(mq_str_of(text), &addresses, &replies, &why) == MQ_OK) {
        for (size_t i = 0; i < addresses.count; i++) {
            add_refused(out, addresses.items[i], replies.items[i]);
        }
    }
    mq_strings_clear(&addresses);
    mq_strings_clear(&replies);
}

/* Appends the recipients that stay: of those that were tried, or of the others. */
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

/* Writes the new recipients and refused of a job whose results differ. Those that nobody has tried
 * come first: where tokens or a transaction reach only some, one that is deferred again and again
 * would otherwise be all that is ever tried, until the job is parked. */
static void write_lists(const struct mq_settlement *s, struct plan *plan)
{
    plan->lists = true;
    keep_refused(&plan->refused, s->job->refused);
    for (size_t i = 0; i < s->job->recipients.count; i++) {
        if (result_of(s, i) == MQ_OUTCOME_REFUSED) {
            const char *reply = reply_of(s, i);
            add_refused(&plan->refused, s->job->recipients.items[i], reply ? reply : s->error);
        }
    }
    keep_recipients(s, false, &plan->recipients);
    keep_recipients(s, true, &plan->recipients);
    mq_buffer_cstr(&plan->recipients, plan->recipients.len ? "]" : "[]");
    if (plan->refused.len) {
        mq_buffer_char(&plan->refused, '}');
    }
}

static void write_error(struct plan *plan, const char *error)
{
    if (!error) {
        return;
    }
    mq_buffer_printable(&plan->text, mq_str_of(error));
    if (plan->text.data) {
        plan->text.data[mq_utf8_cut(mq_buffer_view(&plan->text), ERROR_MAX)] = '\0';
    }
    plan->error = plan->text.data;
}

/* ---- rows ---- */

static void stale(struct mq_tx *tx, struct mq_settlement *s)
{
    struct mq_event event = {
        .type = MQ_EVENT_STALE, .relay = (char *)s->relay, .reply = (char *)s->error, .ms = s->ms};
    s->stale = true;
    mq_tx_event(tx, s->job, &event);
}

/* Deletes the row; *gone is false where the lease was lost. */
static enum mq_status remove_row(struct mq_tx *tx, const struct mq_job *job, bool *gone,
                                 struct mq_error *err)
{
    struct mq_args fence = MQ_ARGS(mq_int(job->id), mq_cstr(job->locked_by), mq_int(job->attempts));
    enum mq_status status = mq_sql_exec(tx->queue, MQ_SQL_SETTLE_DELETE, fence, err);
    *gone = status == MQ_OK && mq_sql_changes(tx->queue) > 0;
    if (*gone) {
        status = mq_sql_exec(tx->queue, MQ_SQL_DELETE_BODY, MQ_ARGS(mq_int(job->id)), err);
    }
    return status;
}

static enum mq_status write_row(struct mq_tx *tx, const struct mq_job *job, const struct plan *plan,
                                bool *held, struct mq_error *err)
{
    if (plan->text.failed || plan->recipients.failed || plan->refused.failed) {
        return mq_error_nomem(err);
    }
    struct mq_value values[] = {mq_null(),
                                mq_int(job->id),
                                mq_cstr(job->locked_by),
                                mq_int(job->attempts),
                                mq_int(plan->attempts),
                                mq_int(plan->uncertain),
                                mq_int(plan->next_attempt_at),
                                mq_int_or_null(plan->last_attempt_at),
                                mq_note(mq_str_of(plan->error)),
                                mq_cstr(plan->parked_for),
                                mq_text(mq_buffer_view(&plan->recipients)),
                                mq_note(mq_buffer_view(&plan->refused))};
    struct mq_transition change = {.from = MQ_SENDING,
                                   .to = plan->to,
                                   .slot = plan->lists ? MQ_SQL_SETTLE_LISTS : MQ_SQL_SETTLE_STATE,
                                   .values = values,
                                   .count = plan->lists ? 12 : 10};
    enum mq_status status = mq_job_transition(tx->queue, &change, err);
    *held = status == MQ_OK && mq_sql_changes(tx->queue) > 0;
    return status;
}

/* ---- what becomes of it ---- */

/* The attempt does not count. */
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

/* How many claims like this one make a try of all recipients. */
static int64_t claims_a_try(const struct tally *t)
{
    int64_t all = 0;
    for (size_t i = 0; i < sizeof(t->count) / sizeof(t->count[0]); i++) {
        all += t->count[i];
    }
    int64_t tried = all - t->count[MQ_OUTCOME_RELEASED];
    return (all + tried - 1) / tried;
}

/* Whether a claim of some of the recipients brought the job forward: the list gets shorter, so
 * this has an end although it counts no attempt. */
static bool progressed(const struct tally *t)
{
    return t->count[MQ_OUTCOME_RELEASED] > 0 && t->count[MQ_OUTCOME_UNCERTAIN] == 0 &&
           t->count[MQ_OUTCOME_DELIVERED] + t->count[MQ_OUTCOME_REFUSED] > 0;
}

/* One that was tried at least has failed. Those that tokens or a transaction did not reach must
 * get their tries before the job is given up. */
static void plan_failed(struct mq_tx *tx, const struct mq_settlement *s, const struct tally *t,
                        struct plan *plan)
{
    const struct mq_queue *queue = tx->queue;
    bool uncertain = t->count[MQ_OUTCOME_UNCERTAIN] > 0;
    if (uncertain) {
        plan->uncertain++;
        if (s->on_uncertain == MQ_UNCERTAIN_HOLD) {
            plan_parked(plan, MQ_OUTCOME_UNCERTAIN);
            return;
        }
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
    plan->attempts = job->attempts;
    plan->uncertain = job->uncertain;
    plan->next_attempt_at = job->next_attempt_at;
    plan->last_attempt_at = s->at_s > 0 ? s->at_s : tx->now_s;
    if (is_whole(s, MQ_OUTCOME_UNREADABLE)) {
        plan_back(tx, s, plan);
        plan_parked(plan, MQ_OUTCOME_UNREADABLE);
    } else if (t->left == 0) {
        plan_parked(plan, MQ_OUTCOME_REFUSED);
    } else if (t->count[MQ_OUTCOME_DEFERRED] > 0 || t->count[MQ_OUTCOME_UNCERTAIN] > 0) {
        plan_failed(tx, s, t, plan);
    } else {
        plan_back(tx, s, plan);
    }
    bool some = t->count[MQ_OUTCOME_RELEASED] > 0 && t->count[MQ_OUTCOME_RELEASED] < t->left;
    if (t->left < (int)job->recipients.count || some) {
        write_lists(s, plan);
    }
    write_error(plan, s->error ? s->error : t->refused_by);
}

static void tell(struct mq_tx *tx, const struct mq_settlement *s, enum mq_event_type type,
                 const struct mq_event *extra)
{
    struct mq_event event = *extra;
    event.type = type;
    event.relay = (char *)s->relay; /* borrowed: the event list copies */
    event.ms = s->ms;
    mq_tx_event(tx, s->job, &event);
}

static void tell_plan(struct mq_tx *tx, const struct mq_settlement *s, const struct tally *t,
                      const struct plan *plan)
{
    struct mq_event rest = {.reply = (char *)plan->error};
    if (t->count[MQ_OUTCOME_DELIVERED] > 0) {
        struct mq_event sent = {.recipients = t->count[MQ_OUTCOME_DELIVERED],
                                .reply = (char *)t->accepted_by};
        tell(tx, s, MQ_EVENT_SENT, &sent);
    }
    if (t->count[MQ_OUTCOME_REFUSED] > 0) {
        struct mq_event refused = {.recipients = t->count[MQ_OUTCOME_REFUSED],
                                   .reply = (char *)t->refused_by};
        tell(tx, s, MQ_EVENT_REFUSED, &refused);
    }
    if (plan->to == MQ_FAILED) {
        rest.next_attempt_at = plan->next_attempt_at;
    }
    if (t->count[MQ_OUTCOME_UNCERTAIN] > 0) {
        rest.recipients = t->count[MQ_OUTCOME_UNCERTAIN];
        tell(tx, s, MQ_EVENT_UNCERTAIN, &rest);
    }
    rest.recipients = t->count[MQ_OUTCOME_DEFERRED];
    if (plan->to == MQ_PARKED) {
        rest.recipients = 0;
        tell(tx, s, MQ_EVENT_PARKED, &rest);
    } else if (rest.recipients > 0) {
        tell(tx, s, MQ_EVENT_TRY_LATER, &rest);
    }
}

/* Whether the job goes back with nothing to tell but that. */
static bool untouched(const struct mq_settlement *s, const struct tally *t)
{
    int tried = t->count[MQ_OUTCOME_DELIVERED] + t->count[MQ_OUTCOME_REFUSED] +
                t->count[MQ_OUTCOME_DEFERRED] + t->count[MQ_OUTCOME_UNCERTAIN];
    return !is_whole(s, MQ_OUTCOME_UNREADABLE) && tried == 0;
}

static enum mq_status settle_update(struct mq_tx *tx, struct mq_settlement *s,
                                    const struct tally *t, enum mq_event_type back,
                                    struct mq_error *err)
{
    bool held = false;
    struct plan plan = {0};
    mq_buffer_init(&plan.text);
    mq_buffer_init(&plan.recipients);
    mq_buffer_init(&plan.refused);
    make_plan(tx, s, t, &plan);
    enum mq_status status = write_row(tx, s->job, &plan, &held, err);
    if (status == MQ_OK && !held) {
        stale(tx, s);
    } else if (status == MQ_OK && untouched(s, t)) {
        struct mq_event event = {.reply = (char *)plan.error};
        tell(tx, s, back, &event);
    } else if (status == MQ_OK) {
        tell_plan(tx, s, t, &plan);
    }
    mq_buffer_clear(&plan.text);
    mq_buffer_clear(&plan.recipients);
    mq_buffer_clear(&plan.refused);
    return status;
}

void mq_settle_deleted(struct mq_tx *tx, struct mq_settlement *outcome, bool there)
{
    struct tally t = add_up(outcome);
    bool orphan = is_whole(outcome, MQ_OUTCOME_ORPHAN);
    outcome->stale = false;
    if (!there) {
        stale(tx, outcome);
        return;
    }
    struct mq_event event = {.recipients = t.count[MQ_OUTCOME_DELIVERED],
                             .reply = (char *)(orphan ? outcome->error : t.accepted_by)};
    tell(tx, outcome, orphan ? MQ_EVENT_ORPHAN : MQ_EVENT_SENT, &event);
}

static bool deletes(const struct mq_settlement *s, const struct tally *t)
{
    bool all_sent = t->left == 0 && t->count[MQ_OUTCOME_REFUSED] == 0 && s->job->refused == NULL;
    return all_sent || is_whole(s, MQ_OUTCOME_ORPHAN);
}

bool mq_settle_deletes(const struct mq_settlement *outcome)
{
    struct tally t = add_up(outcome);
    return deletes(outcome, &t);
}

static enum mq_status settle_delete(struct mq_tx *tx, struct mq_settlement *s, struct mq_error *err)
{
    bool gone = false;
    enum mq_status status = remove_row(tx, s->job, &gone, err);
    if (status == MQ_OK) {
        mq_settle_deleted(tx, s, gone);
    }
    return status;
}

enum mq_status mq_settle_one(struct mq_tx *tx, struct mq_settlement *outcome,
                             enum mq_event_type back, struct mq_error *err)
{
    struct tally t = add_up(outcome);
    outcome->stale = false;
    enum mq_status status = deletes(outcome, &t) ? settle_delete(tx, outcome, err)
                                                 : settle_update(tx, outcome, &t, back, err);
    if (status != MQ_OK || outcome->stale) {
        return status;
    }
    return mq_limit_return(tx, outcome->job->paid, outcome->handed_over,
                           mq_limit_taken_s(tx, outcome), err);
}
