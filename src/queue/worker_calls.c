/* The worker's transactions: cycle, envelope, renewal of leases; and tokens for mail that is sent
 * outside the queue. */
#include <stdlib.h>
#include <string.h>

#include "core/json.h"
#include "policy/limits.h"
#include "queue/all_limits.h"
#include "queue/campaign/feed.h"
#include "queue/claim.h"
#include "queue/config/kept_hours.h"
#include "queue/handle.h"
#include "queue/job.h"
#include "queue/redirect.h"
#include "queue/steps.h"
#include "queue/suppress/suppress.h"
#include "queue/windows/payments.h"

/* Says how many mails can go to which domain, and which ones are slowed down, so that the worker
 * has it counted whether they work again. */
static enum mq_status tell_domains(const struct mq_tx *tx, struct mq_claim *claim,
                                   struct mq_error *err)
{
    const struct mq_limits *limits = tx->settings.limits;
    struct mq_buffer slow = {0};
    for (size_t i = 0; limits && i < limits->count; i++) {
        if (limits->items[i].slow) {
            mq_buffer_cstr(&slow, slow.len ? " " : "");
            mq_buffer_str(&slow, limits->items[i].only);
        }
    }
    bool failed = slow.failed;
    claim->slow = mq_buffer_take(&slow);
    mq_buffer_clear(&slow);
    claim->sessions = tx->settings.sessions ? strdup(tx->settings.sessions) : NULL;
    return failed || (tx->settings.sessions && !claim->sessions) ? mq_error_nomem(err) : MQ_OK;
}

/* Recovers and claims. */
static enum mq_status claim_part(struct mq_tx *tx, struct mq_cycle *cycle, struct mq_error *err)
{
    struct mq_recovered recovered;
    MQ_TRY(mq_recover(tx, cycle->request, tx->now_s, &recovered, err));
    if (tx->config != MQ_OK) {
        /* If the settings cannot be read, nothing is claimed, but the recovery is committed. */
        cycle->claim->status = tx->config;
        cycle->claim->error = tx->config_error;
        return MQ_OK;
    }
    bool ready = true;
    struct mq_claim_request request = *cycle->request;
    MQ_TRY(tell_domains(tx, cycle->claim, err));
    cycle->claim->forward_after = tx->queue->forward_after;
    cycle->claim->forward_mark = tx->queue->forward_mark;
    enum mq_status hours = mq_hours_ready(tx->queue, &tx->settings, tx->now_s, &ready, err);
    if (hours == MQ_CONFIG) {
        cycle->claim->status = hours;
        cycle->claim->error = *err;
        return MQ_OK;
    }
    MQ_TRY(hours);
    /* Without the hours nothing is claimed, but the run must still learn of limits and pauses. */
    request.limit = ready ? request.limit : 0;
    MQ_TRY(mq_claim_take(tx, &request, cycle->claim, err));
    MQ_TRY(mq_campaign_feed(tx, &request, cycle->claim, err));
    if (recovered.more || !ready) {
        cycle->claim->end = MQ_CLAIM_MORE;
    }
    return MQ_OK;
}

/* Settles and pays, and recovers and claims if `claims`. *claim_failed: recovery or claim failed.
 */
static enum mq_status transact(struct mq_tx *tx, struct mq_cycle *cycle, bool claims,
                               bool *claim_failed, struct mq_error *err)
{
    *claim_failed = false;
    if (cycle->request) {
        mq_claim_clear(cycle->claim);
    }
    enum mq_status status = mq_tx_settings(tx, err);
    cycle->begun_ms = tx->locked_ms;
    MQ_TRY(status);
    MQ_TRY(mq_settle_all(tx, cycle->outcomes, cycle->outcome_count, err));
    MQ_TRY(mq_payments_make(tx, cycle->payments, cycle->payment_count, err));
    if (claims) {
        status = claim_part(tx, cycle, err);
        *claim_failed = status != MQ_OK;
    }
    return status == MQ_OK ? mq_limit_store(tx, err) : status;
}

static enum mq_status run(struct mq_queue *queue, struct mq_cycle *cycle, bool claims,
                          bool *claim_failed, struct mq_error *err)
{
    struct mq_tx tx = {.queue = queue, .events = cycle->events};
    enum mq_status status = MQ_OK;
    while (mq_tx_next(&tx, &status, err)) {
        status = transact(&tx, cycle, claims, claim_failed, err);
    }
    return status;
}

/* If the claim fails, undoes the cycle and runs it again without the claim. That is rare; a
 * savepoint would cost every cycle a statement journal, which SQLite keeps in a temporary file. */
enum mq_status mq_queue_cycle(struct mq_queue *queue, struct mq_cycle *cycle, struct mq_error *err)
{
    struct mq_error why = {.status = MQ_OK};
    bool claim_failed = false;
    MQ_TRY(mq_hours_prepare(queue, err));
    enum mq_status status = run(queue, cycle, cycle->request != NULL, &claim_failed, &why);
    if (status != MQ_OK && cycle->request) {
        mq_claim_clear(cycle->claim);
    } else if (cycle->request && cycle->claim->status == MQ_OK) {
        queue->forward_after = cycle->claim->forward_after;
        queue->forward_mark = cycle->claim->forward_mark;
    }
    if (claim_failed && run(queue, cycle, false, &claim_failed, NULL) == MQ_OK) {
        cycle->claim->status = status;
        cycle->claim->error = why;
        return MQ_OK;
    } /* if that fails as well, the first error says more */
    if (status != MQ_OK && err) {
        *err = why;
    }
    return status;
}

/* ---- envelopes ---- */

static enum mq_status write_envelope(struct mq_queue *queue, const struct mq_job *job, bool *held,
                                     struct mq_error *err)
{
    struct mq_buffer list = {0};
    mq_json_strings(&list, &job->recipients);
    struct mq_args args =
        MQ_ARGS(mq_cstr(job->envelope_from), mq_text(mq_buffer_view(&list)), mq_int(job->paid),
                mq_int(job->id), mq_cstr(job->locked_by), mq_int(job->attempts));
    enum mq_status status =
        list.failed ? mq_error_nomem(err) : mq_sql_exec(queue, MQ_SQL_ENVELOPE, args, err);
    *held = status == MQ_OK && mq_sql_changes(queue) > 0;
    mq_buffer_clear(&list);
    return status;
}

/* The sender and the recipients, as far as the claim did not know them: their limits hold from now
 * on. */
static struct mq_party newly_known(const struct mq_job *job)
{
    return (struct mq_party){.from = job->from_paid ? NULL : job->envelope_from,
                             .to = job->to_paid ? NULL : job,
                             .only_from = true,
                             .leaves = job->priority < 0};
}

/* How many recipients the job can have in all. Those that its claim knew and did not pay for wait
 * for the next claim if there are limits by recipient. */
static enum mq_status affordable(struct mq_tx *tx, const struct mq_job *job, int64_t *most,
                                 struct mq_error *err)
{
    struct mq_room room;
    struct mq_party paid = mq_job_party(job), late = newly_known(job);
    bool fixed = job->to_paid && mq_settings_limit_by(&tx->settings, MQ_SCOPE_TO);
    paid.to = NULL;
    paid.begun = job->paid > 0;
    MQ_TRY(mq_limit_allowance(tx, &paid, most, err));
    *most = fixed ? job->paid : *most == MQ_LIMIT_NONE ? *most : *most + job->paid;
    MQ_TRY(mq_windows_room(tx, &late, &room, err));
    *most = room.recipients < *most ? room.recipients : *most;
    return MQ_OK;
}

/* Pays for recipients that the claim has not paid for, as many as the tokens allow. If a limit of
 * the sender or of a recipient allows none, gives back what the claim has paid. */
static enum mq_status pay_rest(struct mq_tx *tx, struct mq_job *job, struct mq_error *err)
{
    int64_t most = 0;
    struct mq_party paid = mq_job_party(job);
    struct mq_party late = newly_known(job);
    MQ_TRY(affordable(tx, job, &most, err));
    most = job->whole && most < mq_job_reach(job) ? 0 : most;
    MQ_TRY(mq_job_set_targets(job, &tx->settings, most, err));
    int64_t targets = (int64_t)job->targets.count;
    if (!mq_settings_pays(&tx->settings)) {
        return MQ_OK;
    }
    if (targets > 0) {
        MQ_TRY(mq_limit_take(tx, &late, targets, true, err));
    }
    if (targets == 0) {
        struct mq_outlay unused = {.party = paid, .paid = job->paid};
        MQ_TRY(mq_limit_return(tx, &unused, err));
        job->paid = 0;
    } else if (targets > job->paid) {
        paid.to = NULL; /* all that go now are in `late` */
        MQ_TRY(mq_limit_take(tx, &paid, targets - job->paid, job->paid == 0, err));
        job->paid = (int)targets;
    }
    return MQ_OK;
}

/* Reads the settings; fails if they cannot be read, because the next step needs them. */
static enum mq_status need_settings(struct mq_tx *tx, struct mq_error *err)
{
    MQ_TRY(mq_tx_settings(tx, err));
    if (tx->config != MQ_OK && err) {
        *err = tx->config_error;
    }
    return tx->config;
}

/* What a transaction changes in the job, and whether the row is still the job's. */
struct envelope {
    int paid; /* what the claim has paid */
    struct mq_unshortened before;
    bool held;
};

static void undo(struct mq_job *job, struct envelope *envelope)
{
    job->paid = envelope->paid;
    mq_strings_clear(&job->targets);
    mq_suppress_restore(job, &envelope->before);
}

static enum mq_status set_envelope(struct mq_tx *tx, struct mq_job *job, struct envelope *envelope,
                                   struct mq_error *err)
{
    undo(job, envelope);
    envelope->held = false;
    MQ_TRY(need_settings(tx, err));
    MQ_TRY(mq_suppress_composed(tx, job, &envelope->before, err));
    if (job->suppressed) {
        envelope->held = true; /* if the lease was lost, settling shows that */
        return MQ_OK;
    }
    MQ_TRY(pay_rest(tx, job, err));
    MQ_TRY(write_envelope(tx->queue, job, &envelope->held, err));
    /* If the lease was lost, nothing is stored, so the tokens taken here are not spent. */
    return envelope->held ? mq_limit_store(tx, err) : MQ_OK;
}

enum mq_status mq_queue_set_envelope(struct mq_queue *queue, struct mq_job *job,
                                     struct mq_events *events, bool *lost, struct mq_error *err)
{
    struct mq_tx tx = {.queue = queue, .events = events};
    struct envelope envelope = {.paid = job->paid};
    if (job->recipients.count == 0) {
        return mq_error_set(err, MQ_INVALID, "recipients", "a composed mail needs recipients");
    }
    enum mq_status status = MQ_OK;
    while (mq_tx_next(&tx, &status, err)) {
        status = set_envelope(&tx, job, &envelope, err);
    }
    if (status != MQ_OK || !envelope.held) {
        undo(job, &envelope);
    } else {
        job->from_paid = job->to_paid = true;
        mq_unshortened_clear(&envelope.before);
    }
    if (status == MQ_OK) {
        *lost = !envelope.held;
    }
    return status;
}

/* ---- leases ---- */

static enum mq_status renew(struct mq_queue *queue, const struct mq_job *job, int64_t until_s,
                            int64_t *locked_until, struct mq_error *err)
{
    struct mq_args args =
        MQ_ARGS(mq_int(until_s), mq_int(job->id), mq_cstr(job->locked_by), mq_int(job->attempts));
    MQ_TRY(mq_sql_exec(queue, MQ_SQL_RENEW, args, err));
    *locked_until = mq_sql_changes(queue) > 0 ? until_s : 0;
    return MQ_OK;
}

enum mq_status mq_queue_renew(struct mq_queue *queue, struct mq_job *const *jobs, size_t count,
                              int64_t lease_s, struct mq_error *err)
{
    struct mq_tx tx = {.queue = queue};
    if (count == 0) {
        return MQ_OK;
    }
    int64_t *until = calloc(count, sizeof(*until));
    enum mq_status status = until ? MQ_OK : mq_error_nomem(err);
    while (mq_tx_next(&tx, &status, err)) {
        for (size_t i = 0; i < count && status == MQ_OK; i++) {
            status = renew(queue, jobs[i], tx.now_s + lease_s, &until[i], err);
        }
    }
    for (size_t i = 0; i < count && status == MQ_OK; i++) {
        jobs[i]->locked_until = until[i];
    }
    free(until);
    return status;
}

/* ---- tokens for mail outside the queue ---- */

static enum mq_status take_tokens(struct mq_tx *tx, int64_t wanted, int64_t *taken,
                                  struct mq_error *err)
{
    int64_t allowed = 0;
    const struct mq_party nobody = {0}; /* limits by relay or sender do not hold */
    MQ_TRY(need_settings(tx, err));
    MQ_TRY(mq_limit_allowance(tx, &nobody, &allowed, err));
    *taken = wanted < allowed ? wanted : allowed;
    MQ_TRY(mq_limit_take(tx, &nobody, *taken, *taken > 0, err));
    struct mq_outlay outlay = {
        .party = nobody, .paid = *taken, .handed = *taken, .at_s = tx->now_s};
    MQ_TRY(mq_limit_return(tx, &outlay, err));
    return mq_limit_store(tx, err);
}

enum mq_status mq_queue_take_tokens(struct mq_queue *queue, int64_t wanted, int64_t *taken,
                                    struct mq_error *err)
{
    struct mq_tx tx = {.queue = queue};
    enum mq_status status = MQ_OK;
    while (mq_tx_next(&tx, &status, err)) {
        status = take_tokens(&tx, wanted, taken, err);
    }
    return status;
}
