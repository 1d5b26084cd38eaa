/* The hourly limit; windows/ has the limits in windows, which hold beside it. policy/bucket.h has
 * the arithmetic of the bucket; this file stores the bucket and keeps the ledger, by which strict
 * mode counts.
 *
 * Average mode: the transaction that claims takes tokens, and unused ones come back when the claim
 * ends, up to the capacity. In any hour, the tokens taken minus those given back are at most
 * limit + capacity.
 *
 * Strict mode: a recipient can reach the relay at any time between claim and settle. So it counts
 * from its claim (in `paid` of a row in sending) until an hour after the time at which the worker
 * knew that it was handed over (in the ledger). A claim gets what these two leave of the limit. */
#include "queue/all_limits.h"

#include <stdio.h>
#include <stdlib.h>

#include "policy/limits.h"
#include "queue/config/keys.h"
#include "queue/job.h"
#include "queue/sql/statements.h"

struct mq_party mq_job_party(const struct mq_job *job)
{
    return (struct mq_party){.relay = job->paid_to,
                             .from = job->from_paid ? job->envelope_from : NULL,
                             .to = job->to_paid ? job : NULL,
                             .leaves = job->priority < 0};
}

enum mq_status mq_limit_set_relay(const struct mq_tx *tx, struct mq_job *job, const char *relay,
                                  struct mq_error *err)
{
    bool noted = relay && mq_settings_limit_by(&tx->settings, MQ_SCOPE_RELAY);
    free(job->paid_to);
    job->paid_to = noted ? mq_str_dup(mq_str_of(relay)) : NULL;
    return noted && !job->paid_to ? mq_error_nomem(err) : MQ_OK;
}

/* Whether the hourly limit holds for a party. */
static bool holds(const struct mq_party *party)
{
    return !party->only_from && !party->only_relay;
}

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
    tx->under_way = 0;
    tx->spent = 0;
    MQ_TRY(mq_sql_int(tx->queue, MQ_SQL_SPENT_SUM, hours, &tx->spent, err));
    return mq_sql_int(tx->queue, MQ_SQL_PAID, MQ_NO_ARGS, &tx->under_way, err);
}

/* Reads what strict mode counts for the hourly limit. */
static enum mq_status count_hour(struct mq_tx *tx, struct mq_error *err)
{
    if (!limited(tx) || !strict(tx)) {
        return MQ_OK;
    }
    MQ_TRY(write_handed(tx, err));
    MQ_TRY(ledger_set_right(tx, err));
    return occupied(tx, err);
}

/* What mail of this priority leaves of the bucket, and in strict mode of an hour's recipients. */
static int64_t bucket_reserve(const struct mq_tx *tx, bool leaves)
{
    const struct mq_bucket *bucket = &tx->settings.bucket;
    return leaves ? mq_settings_reserve(&tx->settings, bucket->limit, bucket->cap) : 0;
}

static int64_t hour_reserve(const struct mq_tx *tx, bool leaves)
{
    int64_t n = tx->settings.bucket.limit;
    return leaves ? mq_settings_reserve(&tx->settings, n, n) : 0;
}

int64_t mq_limit_reserve(const struct mq_tx *tx, bool leaves)
{
    return strict(tx) ? hour_reserve(tx, leaves) : bucket_reserve(tx, leaves);
}

/* What the hourly limit leaves. */
static int64_t hour_allows(const struct mq_tx *tx, bool leaves)
{
    if (!limited(tx)) {
        return MQ_LIMIT_NONE;
    }
    const struct mq_bucket *bucket = &tx->settings.bucket;
    int64_t tokens = mq_bucket_tokens(bucket) - bucket_reserve(tx, leaves);
    if (strict(tx)) {
        int64_t room = bucket->limit - tx->under_way - tx->spent - hour_reserve(tx, leaves);
        tokens = room < tokens ? room : tokens;
    }
    return tokens > 0 ? tokens : 0;
}

enum mq_status mq_limit_allowance(struct mq_tx *tx, const struct mq_party *party, int64_t *allowed,
                                  struct mq_error *err)
{
    MQ_TRY(count_hour(tx, err));
    return mq_limit_still_allows(tx, party, allowed, err);
}

enum mq_status mq_limit_still_allows(struct mq_tx *tx, const struct mq_party *party,
                                     int64_t *allowed, struct mq_error *err)
{
    struct mq_room room;
    int64_t hour = hour_allows(tx, party->leaves);
    MQ_TRY(mq_windows_room(tx, party, &room, err));
    *allowed = room.recipients < hour ? room.recipients : hour;
    return MQ_OK;
}

enum mq_status mq_limit_take(struct mq_tx *tx, const struct mq_party *party, int64_t n, bool begins,
                             struct mq_error *err)
{
    if (limited(tx) && holds(party)) {
        mq_bucket_take(&tx->settings.bucket, n);
        tx->under_way += n;
    }
    return mq_windows_take(tx, party, n, begins, err);
}

enum mq_status mq_limit_return(struct mq_tx *tx, const struct mq_outlay *outlay,
                               struct mq_error *err)
{
    int64_t handed = outlay->handed;
    MQ_TRY(mq_windows_return(tx, outlay, err));
    if (!holds(&outlay->party)) {
        return MQ_OK;
    }
    if (limited(tx) && outlay->paid > handed) {
        mq_bucket_give(&tx->settings.bucket, outlay->paid - handed);
    }
    /* Writes the ledger in average mode too, because the mode can become strict within the hour.
     * Also writes it if the settings cannot be read: an entry too many does no harm. */
    if (handed <= 0 || (tx->config == MQ_OK && !limited(tx))) {
        return MQ_OK;
    }
    int64_t most_s = tx->now_s + MQ_LIMIT_HOUR_S;
    int64_t at_s = outlay->at_s <= 0 ? tx->now_s : outlay->at_s;
    at_s = at_s < most_s ? at_s : most_s;
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

/* How many tokens a mail needs besides the first one. */
static int64_t more_than_one(const struct mq_party *party)
{
    return party->whole > 0 ? party->whole - 1 : 0;
}

/* When the hourly limit has as many tokens as the party needs. */
static enum mq_status hour_frees(struct mq_tx *tx, const struct mq_party *party, int64_t *resume_s,
                                 struct mq_error *err)
{
    const struct mq_bucket *bucket = &tx->settings.bucket;
    int64_t more = more_than_one(party);
    int64_t token_s =
        tx->now_s + mq_bucket_wait_s(bucket, bucket_reserve(tx, party->leaves) + more);
    int64_t ledger_s = tx->now_s;
    int64_t room = bucket->limit - tx->under_way - hour_reserve(tx, party->leaves) - more;
    if (strict(tx) && room > 0 && tx->spent >= room) {
        MQ_TRY(ledger_frees(tx, tx->spent - room + 1, &ledger_s, err));
    }
    /* Does not wait for current leases: they can end at any time. */
    *resume_s = ledger_s > token_s ? ledger_s : token_s;
    return MQ_OK;
}

enum mq_status mq_limit_look(struct mq_tx *tx, int64_t *token_s, struct mq_error *err)
{
    struct mq_bucket *bucket = &tx->settings.bucket;
    *token_s = tx->now_s;
    if (!limited(tx)) {
        return MQ_OK;
    }
    mq_bucket_refill(bucket, tx->now_s);
    MQ_TRY(strict(tx) ? occupied(tx, err) : MQ_OK);
    int64_t room = bucket->limit - tx->under_way - tx->spent;
    if (mq_bucket_tokens(bucket) == 0 || (strict(tx) && room <= 0)) {
        MQ_TRY(hour_frees(tx, &(struct mq_party){0}, token_s, err));
        *token_s += *token_s == tx->now_s;
        room = 1; /* then */
    }
    int64_t units = room * MQ_BUCKET_UNITS - (*token_s - tx->now_s) * bucket->limit;
    bucket->units = strict(tx) && units < bucket->units ? units : bucket->units;
    return MQ_OK;
}

enum mq_status mq_limit_resume(struct mq_tx *tx, const struct mq_party *party, int64_t *resume_s,
                               const struct mq_limit **full, struct mq_error *err)
{
    struct mq_room room;
    int64_t at_s = tx->now_s;
    if (limited(tx)) {
        MQ_TRY(hour_frees(tx, party, &at_s, err));
    }
    MQ_TRY(mq_windows_room(tx, party, &room, err));
    *full = room.free_s >= at_s ? room.full : NULL;
    at_s = room.free_s > at_s ? room.free_s : at_s;
    *resume_s = at_s > tx->now_s ? at_s : tx->now_s + 1;
    return MQ_OK;
}

bool mq_limit_forbids(const struct mq_tx *tx, const struct mq_room *room,
                      char text[MQ_WAITS_FOR_MAX])
{
    const struct mq_bucket *bucket = &tx->settings.bucket;
    const struct mq_room never = {.party = room->party, .full = room->never};
    bool leaves = room->party.leaves;
    int64_t hour = strict(tx) ? bucket->limit - hour_reserve(tx, leaves) : MQ_LIMIT_NONE;
    int64_t most = bucket->cap - bucket_reserve(tx, leaves);
    bool is_hour = limited(tx) && room->party.whole > (hour < most ? hour : most);
    if (room->never) {
        mq_room_text(&never, text);
    } else if (is_hour) {
        snprintf(text, MQ_WAITS_FOR_MAX, "%s", mq_config_keys[MQ_KEY_MAX_PER_HOUR].name);
    }
    return room->never || is_hour;
}

enum mq_status mq_limit_store(struct mq_tx *tx, struct mq_error *err)
{
    const struct mq_bucket *bucket = &tx->settings.bucket;
    char text[32];
    MQ_TRY(write_handed(tx, err));
    MQ_TRY(mq_windows_store(tx, err));
    MQ_TRY(mq_lines_store(tx, err));
    if (!limited(tx)) {
        return MQ_OK;
    }
    mq_bucket_format(bucket->units, text);
    MQ_TRY(mq_config_put(tx->queue, mq_config_keys[MQ_KEY_TOKENS].name, text, err));
    snprintf(text, sizeof(text), "%lld", (long long)bucket->last_refill_s);
    return mq_config_put(tx->queue, mq_config_keys[MQ_KEY_LAST_REFILL].name, text, err);
}
