/* The hourly limit. policy/bucket.h has the arithmetic of the bucket; this file stores the bucket
 * and keeps the ledger, by which strict mode counts.
 *
 * Average mode: the transaction that claims takes tokens, and unused ones come back when the claim
 * ends, up to the capacity. In any hour, the tokens taken minus those given back are at most
 * limit + capacity.
 *
 * Strict mode: a recipient can reach the relay at any time between claim and settle. So it counts
 * from its claim (in `paid` of a row in sending) until an hour after the time at which the worker
 * knew that it was handed over (in the ledger). A claim gets what these two leave of the limit. */
#include "queue/limit.h"

#include <stdio.h>

#include "queue/config/keys.h"
#include "queue/sql/statements.h"

static bool limited(const struct mq_tx *tx)
{
    return tx->config == MQ_OK && tx->settings.bucket.limit > 0;
}

static bool strict(const struct mq_tx *tx)
{
    return tx->settings.rate_mode == MQ_RATE_STRICT;
}

static enum mq_status ledger_add(struct mq_tx *tx, int64_t at_s, int64_t n, struct mq_error *err)
{
    struct mq_args old = MQ_ARGS(mq_int(tx->now_s - MQ_LIMIT_PURGE_S));
    MQ_TRY(mq_sql_exec(tx->queue, MQ_SQL_SPENT_PURGE, old, err));
    return mq_sql_exec(tx->queue, MQ_SQL_SPENT_ADD, MQ_ARGS(mq_int(at_s), mq_int(n)), err);
}

/* Writes one ledger entry for several outcomes: most mails of a cycle leave in the same second. */
static enum mq_status write_handed(struct mq_tx *tx, struct mq_error *err)
{
    int64_t handed = tx->handed;
    tx->handed = 0;
    return handed ? ledger_add(tx, tx->handed_at_s, handed, err) : MQ_OK;
}

/* Corrects ledger entries in the future: the clock was ahead when they were written, or is behind
 * now. Entries up to an hour ahead stay as they are, and count. Entries further ahead count as of
 * now and are marked (n < 0); they count once more when their time has come. */
static enum mq_status ledger_set_right(struct mq_tx *tx, struct mq_error *err)
{
    int64_t ahead = 0;
    struct mq_args beyond = MQ_ARGS(mq_int(tx->now_s + MQ_LIMIT_HOUR_S));
    MQ_TRY(mq_sql_int(tx->queue, MQ_SQL_SPENT_AHEAD, beyond, &ahead, err));
    if (ahead == 0) {
        return MQ_OK;
    }
    MQ_TRY(mq_sql_exec(tx->queue, MQ_SQL_SPENT_MARK, beyond, err));
    return ledger_add(tx, tx->now_s, ahead, err);
}

/* Reads how much of the limit current leases and the ledger's last hour have taken. */
static enum mq_status occupied(struct mq_tx *tx, struct mq_error *err)
{
    struct mq_args hours =
        MQ_ARGS(mq_int(tx->now_s - MQ_LIMIT_HOUR_S), mq_int(tx->now_s + MQ_LIMIT_HOUR_S));
    tx->flying = 0;
    tx->spent = 0;
    MQ_TRY(write_handed(tx, err));
    MQ_TRY(ledger_set_right(tx, err));
    MQ_TRY(mq_sql_int(tx->queue, MQ_SQL_SPENT_SUM, hours, &tx->spent, err));
    return mq_sql_int(tx->queue, MQ_SQL_PAID, MQ_NO_ARGS, &tx->flying, err);
}

enum mq_status mq_limit_allowance(struct mq_tx *tx, int64_t *allowed, struct mq_error *err)
{
    if (!limited(tx)) {
        *allowed = MQ_LIMIT_NONE;
        return MQ_OK;
    }
    int64_t tokens = mq_bucket_tokens(&tx->settings.bucket);
    if (strict(tx)) {
        MQ_TRY(occupied(tx, err));
        int64_t room = tx->settings.bucket.limit - tx->flying - tx->spent;
        tokens = room < tokens ? room : tokens;
    }
    *allowed = tokens > 0 ? tokens : 0;
    return MQ_OK;
}

void mq_limit_take(struct mq_tx *tx, int64_t n)
{
    if (limited(tx)) {
        mq_bucket_take(&tx->settings.bucket, n);
        tx->flying += n;
    }
}

enum mq_status mq_limit_return(struct mq_tx *tx, int64_t paid, int64_t handed, int64_t at_s,
                               struct mq_error *err)
{
    if (limited(tx) && paid > handed) {
        mq_bucket_give(&tx->settings.bucket, paid - handed);
    }
    /* Writes the ledger in average mode too, because the mode can become strict within the hour.
     * Also writes it if the settings cannot be read: an entry too many does no harm. */
    if (handed <= 0 || (tx->config == MQ_OK && !limited(tx))) {
        return MQ_OK;
    }
    int64_t most_s = tx->now_s + MQ_LIMIT_HOUR_S;
    at_s = at_s <= 0 ? tx->now_s : at_s < most_s ? at_s : most_s;
    if (tx->handed_at_s != at_s) {
        MQ_TRY(write_handed(tx, err));
    }
    tx->handed_at_s = at_s;
    tx->handed += handed;
    return MQ_OK;
}

/* Finds the first second at which `excess` recipients have left the ledger's last hour. */
static enum mq_status ledger_frees(struct mq_tx *tx, int64_t excess, int64_t *at_s,
                                   struct mq_error *err)
{
    struct mq_args since = MQ_ARGS(mq_int(tx->now_s - MQ_LIMIT_HOUR_S));
    enum mq_status status = mq_sql_query(tx->queue, MQ_SQL_SPENT_ROWS, since, err);
    while (excess > 0 && mq_sql_next(tx->queue, &status, err)) {
        *at_s = mq_sql_column_int(tx->queue, 0) + MQ_LIMIT_HOUR_S;
        excess -= mq_sql_column_int(tx->queue, 1);
    }
    mq_sql_finish(tx->queue);
    return status;
}

enum mq_status mq_limit_resume(struct mq_tx *tx, int64_t *resume_s, struct mq_error *err)
{
    int64_t token_s = tx->now_s + mq_bucket_wait_s(&tx->settings.bucket);
    int64_t ledger_s = tx->now_s;
    int64_t room = tx->settings.bucket.limit - tx->flying;
    if (strict(tx) && room > 0 && tx->spent >= room) {
        MQ_TRY(ledger_frees(tx, tx->spent - room + 1, &ledger_s, err));
    }
    /* Does not wait for current leases: they can end at any time. */
    int64_t at_s = ledger_s > token_s ? ledger_s : token_s;
    *resume_s = at_s > tx->now_s ? at_s : tx->now_s + 1;
    return MQ_OK;
}

enum mq_status mq_limit_store(struct mq_tx *tx, struct mq_error *err)
{
    const struct mq_bucket *bucket = &tx->settings.bucket;
    char text[32];
    MQ_TRY(write_handed(tx, err));
    if (!limited(tx)) {
        return MQ_OK;
    }
    mq_bucket_format(bucket->units, text);
    MQ_TRY(mq_config_put(tx->queue, mq_config_keys[MQ_KEY_TOKENS].name, text, err));
    snprintf(text, sizeof(text), "%lld", (long long)bucket->last_refill_s);
    return mq_config_put(tx->queue, mq_config_keys[MQ_KEY_LAST_REFILL].name, text, err);
}
