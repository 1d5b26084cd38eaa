/* The worker's transactions: a cycle, an envelope, a renewal. */
#include <stdlib.h>
#include <string.h>

#include "core/json.h"
#include "queue/claim.h"
#include "queue/handle.h"
#include "queue/limit.h"
#include "queue/steps.h"

/* Recovery and claim. */
static enum mq_status claim_part(struct mq_tx *tx, struct mq_cycle *cycle, struct mq_error *err)
{
    struct mq_recovered recovered;
    MQ_TRY(mq_recover(tx, cycle->request, tx->now_s, &recovered, err));
    if (tx->config != MQ_OK) {
        /* With settings that cannot be read nothing is claimed; the recovery stands. */
        cycle->claim->status = tx->config;
        cycle->claim->error = tx->config_error;
        return MQ_OK;
    }
    MQ_TRY(mq_claim_take(tx, cycle->request, cycle->claim, err));
    if (recovered.more) {
        cycle->claim->end = MQ_CLAIM_MORE;
    }
    return MQ_OK;
}

/* The cycle's transaction, with its claim or without. */
struct transaction {
    struct mq_cycle *cycle;
    bool claims;
    bool claim_failed; /* the failure is the claim's, and everything was undone with it */
};

static enum mq_status transact(struct mq_tx *tx, void *context, struct mq_error *err)
{
    struct transaction *transaction = context;
    struct mq_cycle *cycle = transaction->cycle;
    const struct mq_clock *host = &tx->queue->host;
    transaction->claim_failed = false;
    if (cycle->request) {
        mq_claim_clear(cycle->claim);
    }
    enum mq_status status = mq_tx_settings(tx, err);
    cycle->joined = tx->joined;
    cycle->begun_ms = host->boot_ms(host->context); /* a server grants the lock only now */
    MQ_TRY(status);
    MQ_TRY(mq_settle_all(tx, cycle->outcomes, cycle->outcome_count, err));
    if (transaction->claims) {
        status = claim_part(tx, cycle, err);
        transaction->claim_failed = status != MQ_OK;
    }
    return status == MQ_OK ? mq_limit_store(tx, err) : status;
}

/* A savepoint around the claim would cost every cycle a journal of its own, which SQLite keeps in a
 * temporary file; so the rare cycle whose claim fails is undone and done again without it. */
enum mq_status mq_queue_cycle(struct mq_queue *queue, struct mq_cycle *cycle, struct mq_error *err)
{
    struct mq_error why = {.status = MQ_OK};
    struct transaction transaction = {.cycle = cycle, .claims = cycle->request != NULL};
    struct mq_tx_work work = {transact, &transaction, cycle->events};
    enum mq_status status = mq_tx_run(queue, &work, &why);
    if (status != MQ_OK && cycle->request) {
        mq_claim_clear(cycle->claim);
    }
    if (transaction.claim_failed) {
        transaction.claims = false;
        if (mq_tx_run(queue, &work, NULL) == MQ_OK) {
            cycle->claim->status = status;
            cycle->claim->error = why;
            return MQ_OK;
        } /* else the first failure says more */
    }
    if (status != MQ_OK && err) {
        *err = why;
    }
    return status;
}

/* ---- envelopes ---- */

struct envelope {
    struct mq_job *job;
    int paid;  /* by the claim */
    bool held; /* the lease is still ours */
};

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

/* Pays for what the tokens reach beyond what the claim has paid. */
static enum mq_status pay_rest(struct mq_tx *tx, struct mq_job *job, struct mq_error *err)
{
    int64_t allowed = 0;
    MQ_TRY(mq_limit_allowance(tx, &allowed, err));
    bool limited = allowed != MQ_LIMIT_NONE;
    MQ_TRY(mq_job_set_targets(job, &tx->settings, limited ? job->paid + allowed : allowed, err));
    if (limited && (int64_t)job->targets.count > job->paid) {
        mq_limit_take(tx, (int64_t)job->targets.count - job->paid);
        job->paid = (int)job->targets.count;
    }
    return MQ_OK;
}

/* The settings, if the next step needs them. */
static enum mq_status need_settings(struct mq_tx *tx, struct mq_error *err)
{
    MQ_TRY(mq_tx_settings(tx, err));
    if (tx->config != MQ_OK && err) {
        *err = tx->config_error;
    }
    return tx->config;
}

static void unpay(struct envelope *envelope)
{
    envelope->job->paid = envelope->paid;
    mq_strings_clear(&envelope->job->targets);
}

static enum mq_status set_envelope(struct mq_tx *tx, void *context, struct mq_error *err)
{
    struct envelope *envelope = context;
    unpay(envelope);
    envelope->held = false;
    MQ_TRY(need_settings(tx, err));
    MQ_TRY(pay_rest(tx, envelope->job, err));
    MQ_TRY(write_envelope(tx->queue, envelope->job, &envelope->held, err));
    /* A row that is no longer ours keeps no tokens: what was taken for it is not stored. */
    return envelope->held ? mq_limit_store(tx, err) : MQ_OK;
}

enum mq_status mq_queue_set_envelope(struct mq_queue *queue, struct mq_job *job, bool *lost,
                                     struct mq_error *err)
{
    struct envelope envelope = {.job = job, .paid = job->paid};
    struct mq_tx_work work = {.body = set_envelope, .context = &envelope};
    if (job->recipients.count == 0) {
        return mq_error_set(err, MQ_INVALID, "recipients", "a composed mail needs recipients");
    }
    enum mq_status status = mq_tx_run(queue, &work, err);
    if (status != MQ_OK || !envelope.held) {
        unpay(&envelope);
    }
    if (status == MQ_OK) {
        *lost = !envelope.held;
    }
    return status;
}

/* ---- leases ---- */

struct renewal {
    struct mq_job *const *jobs;
    size_t count;
    int64_t lease_s;
    int64_t *until; /* of each job */
};

static enum mq_status renew(struct mq_tx *tx, void *context, struct mq_error *err)
{
    const struct renewal *renewal = context;
    int64_t until = tx->now_s + renewal->lease_s;
    for (size_t i = 0; i < renewal->count; i++) {
        const struct mq_job *job = renewal->jobs[i];
        struct mq_args args =
            MQ_ARGS(mq_int(until), mq_int(job->id), mq_cstr(job->locked_by), mq_int(job->attempts));
        MQ_TRY(mq_sql_exec(tx->queue, MQ_SQL_RENEW, args, err));
        renewal->until[i] = mq_sql_changes(tx->queue) > 0 ? until : 0;
    }
    return MQ_OK;
}

enum mq_status mq_queue_renew(struct mq_queue *queue, struct mq_job *const *jobs, size_t count,
                              int64_t lease_s, struct mq_error *err)
{
    if (count == 0) {
        return MQ_OK;
    }
    int64_t *until = calloc(count, sizeof(*until));
    if (!until) {
        return mq_error_nomem(err);
    }
    struct renewal renewal = {jobs, count, lease_s, until};
    struct mq_tx_work work = {.body = renew, .context = &renewal};
    enum mq_status status = mq_tx_run(queue, &work, err);
    for (size_t i = 0; i < count && status == MQ_OK; i++) {
        jobs[i]->locked_until = until[i];
    }
    free(until);
    return status;
}

/* ---- tokens for others ---- */

struct tokens {
    int64_t wanted;
    int64_t taken;
};

static enum mq_status take_tokens(struct mq_tx *tx, void *context, struct mq_error *err)
{
    struct tokens *tokens = context;
    int64_t allowed = 0;
    MQ_TRY(need_settings(tx, err));
    MQ_TRY(mq_limit_allowance(tx, &allowed, err));
    tokens->taken = tokens->wanted < allowed ? tokens->wanted : allowed;
    mq_limit_take(tx, tokens->taken);
    MQ_TRY(mq_limit_return(tx, tokens->taken, tokens->taken, tx->now_s, err));
    return mq_limit_store(tx, err);
}

enum mq_status mq_queue_take_tokens(struct mq_queue *queue, int64_t wanted, int64_t *taken,
                                    struct mq_error *err)
{
    struct tokens tokens = {.wanted = wanted};
    struct mq_tx_work work = {.body = take_tokens, .context = &tokens};
    if (wanted < 0) {
        return mq_error_set(err, MQ_INVALID, "wanted", "wanted must not be negative");
    }
    MQ_TRY(mq_tx_run(queue, &work, err));
    *taken = tokens.taken;
    return MQ_OK;
}
