/* The worker's transactions: a turn, an envelope, a renewal. */
#include "queue/internal.h"

#include <stdlib.h>
#include <string.h>

#include "core/json.h"

/* Recovery and claim. */
static enum mq_status claim_part(struct mq_tx *tx, struct mq_turn *turn, struct mq_error *err)
{
    struct mq_recovered recovered;
    enum mq_status status = mq_recover(tx, turn->request, tx->now_s, &recovered, err);
    if (status != MQ_OK) {
        return status;
    }
    if (tx->config != MQ_OK) {
        /* Nothing is claimed by settings that cannot be read; the recovery stands. */
        turn->claim->status = tx->config;
        turn->claim->error = tx->config_error;
        return MQ_OK;
    }
    status = mq_claim_take(tx, turn->request, turn->claim, err);
    if (status == MQ_OK && recovered.more) {
        turn->claim->end = MQ_CLAIM_MORE;
    }
    return status;
}

/* The turn's transaction, with its claim or without. *claim_failed: `err` is the claim's, and
 * everything was undone with it. */
static enum mq_status transact(struct mq_tx *tx, struct mq_queue *queue, struct mq_turn *turn,
                               bool *claim_failed, struct mq_error *err)
{
    bool claims = turn->request && !*claim_failed;
    enum mq_status status = mq_tx_begin(tx, queue, turn->events, err);
    *claim_failed = false;
    if (status != MQ_OK) {
        return status;
    }
    status = mq_tx_settings(tx, err);
    turn->joined = tx->joined;
    turn->begun_ms = queue->host.boot_ms(queue->host.context); /* a server's lock is had only now */
    if (status == MQ_OK) {
        status = mq_batch_settle(tx, turn->outcomes, turn->outcome_count, err);
    }
    if (status == MQ_OK && claims) {
        status = claim_part(tx, turn, err);
        *claim_failed = status != MQ_OK;
    }
    if (status == MQ_OK) {
        status = mq_limit_store(tx, err);
    }
    return mq_tx_end(tx, status, err);
}

static enum mq_status transact_again(struct mq_queue *queue, struct mq_turn *turn,
                                     bool *claim_failed, struct mq_error *err)
{
    bool settles_only = *claim_failed;
    int tries = 0;
    enum mq_status status;
    struct mq_tx tx;
    do {
        if (turn->request) {
            mq_claim_clear(turn->claim);
        }
        *claim_failed = settles_only;
        status = transact(&tx, queue, turn, claim_failed, err);
    } while (mq_tx_again(&tx, status, &tries));
    return status;
}

/* A savepoint around the claim would cost every turn a journal of its own, which SQLite keeps in a
 * temporary file; so the rare turn whose claim fails is undone and done again without it. */
enum mq_status mq_queue_turn(struct mq_queue *queue, struct mq_turn *turn, struct mq_error *err)
{
    struct mq_error why = {.status = MQ_OK};
    bool claim_failed = false;
    enum mq_status status = transact_again(queue, turn, &claim_failed, &why);
    if (status != MQ_OK && turn->request) {
        mq_claim_clear(turn->claim);
    }
    if (status != MQ_OK && err) {
        *err = why;
    }
    if (!claim_failed) {
        return status;
    }
    if (transact_again(queue, turn, &claim_failed, err) != MQ_OK) {
        /* The first failure says more. */
        if (err) {
            *err = why;
        }
        return status;
    }
    turn->claim->status = status;
    turn->claim->error = why;
    return MQ_OK;
}

/* ---- envelopes ---- */

static enum mq_status write_envelope(struct mq_queue *queue, const struct mq_job *job, bool *held,
                                     struct mq_error *err)
{
    struct mq_buffer list;
    mq_buffer_init(&list);
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
    enum mq_status status = mq_limit_allowance(tx, &allowed, err);
    if (status != MQ_OK) {
        return status;
    }
    if (allowed == MQ_LIMIT_NONE) {
        return mq_job_set_targets(job, &tx->settings, allowed, err);
    }
    status = mq_job_set_targets(job, &tx->settings, job->paid + allowed, err);
    if (status == MQ_OK && (int64_t)job->targets.count > job->paid) {
        mq_limit_take(tx, (int64_t)job->targets.count - job->paid);
        job->paid = (int)job->targets.count;
    }
    return status;
}

static enum mq_status envelope_locked(struct mq_tx *tx, struct mq_job *job, bool *held,
                                      struct mq_error *err)
{
    enum mq_status status = mq_tx_settings(tx, err);
    if (status == MQ_OK && tx->config != MQ_OK) {
        if (err) {
            *err = tx->config_error;
        }
        return tx->config;
    }
    if (status == MQ_OK) {
        status = pay_rest(tx, job, err);
    }
    if (status == MQ_OK) {
        status = write_envelope(tx->queue, job, held, err);
    }
    /* A row that is no longer ours keeps no tokens: what was taken for it is not stored. */
    return status == MQ_OK && *held ? mq_limit_store(tx, err) : status;
}

enum mq_status mq_queue_set_envelope(struct mq_queue *queue, struct mq_job *job, bool *lost,
                                     struct mq_error *err)
{
    struct mq_tx tx;
    bool held = false;
    int paid = job->paid;
    int tries = 0;
    enum mq_status status;
    if (job->recipients.count == 0) {
        return mq_error_set(err, MQ_INVALID, "recipients", "a composed mail needs recipients");
    }
    do {
        status = mq_tx_begin(&tx, queue, NULL, err);
        if (status != MQ_OK) {
            continue;
        }
        status = mq_tx_end(&tx, envelope_locked(&tx, job, &held, err), err);
        if (status != MQ_OK || !held) {
            job->paid = paid;
            mq_strings_clear(&job->targets);
        }
    } while (mq_tx_again(&tx, status, &tries));
    if (status == MQ_OK) {
        *lost = !held;
    }
    return status;
}

/* ---- leases ---- */

static enum mq_status renew_locked(struct mq_tx *tx, struct mq_job *const *jobs, size_t count,
                                   int64_t *until, struct mq_error *err)
{
    int64_t lease_until = until[0];
    enum mq_status status = MQ_OK;
    for (size_t i = 0; i < count && status == MQ_OK; i++) {
        struct mq_args args = MQ_ARGS(mq_int(lease_until), mq_int(jobs[i]->id),
                                      mq_cstr(jobs[i]->locked_by), mq_int(jobs[i]->attempts));
        status = mq_sql_exec(tx->queue, MQ_SQL_RENEW, args, err);
        until[i] = status == MQ_OK && mq_sql_changes(tx->queue) > 0 ? lease_until : 0;
    }
    return status;
}

enum mq_status mq_queue_renew(struct mq_queue *queue, struct mq_job *const *jobs, size_t count,
                              int64_t lease_s, struct mq_error *err)
{
    struct mq_tx tx;
    int tries = 0;
    enum mq_status status;
    if (count == 0) {
        return MQ_OK;
    }
    int64_t *until = calloc(count, sizeof(*until));
    if (!until) {
        return mq_error_nomem(err);
    }
    do {
        status = mq_tx_begin(&tx, queue, NULL, err);
        if (status == MQ_OK) {
            until[0] = tx.now_s + lease_s;
            status = mq_tx_end(&tx, renew_locked(&tx, jobs, count, until, err), err);
        }
    } while (mq_tx_again(&tx, status, &tries));
    for (size_t i = 0; i < count && status == MQ_OK; i++) {
        jobs[i]->locked_until = until[i];
    }
    free(until);
    return status;
}

/* ---- tokens for others ---- */

static enum mq_status tokens_locked(struct mq_tx *tx, int64_t wanted, int64_t *taken,
                                    struct mq_error *err)
{
    int64_t allowed = 0;
    enum mq_status status = mq_tx_settings(tx, err);
    if (status == MQ_OK && tx->config != MQ_OK) {
        if (err) {
            *err = tx->config_error;
        }
        return tx->config;
    }
    if (status == MQ_OK) {
        status = mq_limit_allowance(tx, &allowed, err);
    }
    if (status != MQ_OK) {
        return status;
    }
    *taken = wanted < allowed ? wanted : allowed;
    mq_limit_take(tx, *taken);
    status = mq_limit_return(tx, *taken, *taken, tx->now_s, err);
    return status == MQ_OK ? mq_limit_store(tx, err) : status;
}

enum mq_status mq_queue_take_tokens(struct mq_queue *queue, int64_t wanted, int64_t *taken,
                                    struct mq_error *err)
{
    struct mq_tx tx;
    int64_t got = 0;
    int tries = 0;
    enum mq_status status;
    if (wanted < 0) {
        return mq_error_set(err, MQ_INVALID, "wanted", "wanted must not be negative");
    }
    do {
        status = mq_tx_begin(&tx, queue, NULL, err);
        if (status == MQ_OK) {
            status = mq_tx_end(&tx, tokens_locked(&tx, wanted, &got, err), err);
        }
    } while (mq_tx_again(&tx, status, &tries));
    if (status == MQ_OK) {
        *taken = got;
    }
    return status;
}
