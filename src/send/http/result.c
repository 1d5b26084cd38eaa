/* The end of a request: what its answer, or the lack of one, makes of the mail and of the API. */
#include <stdio.h>
#include <string.h>

#include "send/http/internal.h"

/* Requests in a row that get no answer before the API counts as down. */
#define FAILURES_MAX 3
/* The wait after failed requests: this times the square of their number. */
#define AGAIN_MS 100
/* In transport_flags: a connection was lost while the mail left. */
#define LOST_ONCE 1u

_Static_assert(MQ_HTTP_REASON_MAX == MQ_TARGET_REPLY_MAX, "the same text");

/* ---- targets ---- */

void mq_http_set_targets(const struct mq_http_slot *slot, enum mq_outcome result, int code,
                         const char *reply)
{
    for (size_t i = slot->first; i < slot->first + slot->count; i++) {
        struct mq_target *target = &slot->transfer->targets[i];
        target->result = result;
        target->phase = "handover";
        target->code = code;
        snprintf(target->reply, sizeof target->reply, "%s", reply);
    }
    slot->transfer->at_s = mq_clock_now_s(&slot->pool->transport.clock);
}

/* Marks the targets behind those of the request as waiting, or takes the mark off again. */
void mq_http_mark_rest(const struct mq_http_slot *slot, int code)
{
    for (size_t i = slot->first + slot->count; i < slot->transfer->target_count; i++) {
        slot->transfer->targets[i].code = code;
    }
}

/* ---- the end of a request ---- */

static struct mq_transfer *empty(struct mq_http_slot *slot)
{
    struct mq_transfer *transfer = slot->transfer;
    slot->pool->connecting -= slot->connecting;
    slot->pool->busy--;
    slot->connecting = false;
    slot->transfer = NULL;
    mq_http_body_reset(&slot->request.body);
    return transfer;
}

/* Gives the transfer back without a decision on this request's recipients. */
void mq_http_give_back(struct mq_http_slot *slot, enum mq_transfer_end end)
{
    struct mq_transport *transport = &slot->pool->transport;
    bool partly = slot->first > 0;
    mq_http_mark_rest(slot, 0);
    mq_transport_give_back(transport, empty(slot), partly ? MQ_TRANSFER_DONE : end);
}

static void undo_body(struct mq_http_slot *slot)
{
    if (slot->in_body) {
        slot->in_body = false;
        slot->transfer->enter(slot->transfer, MQ_PHASE_ENVELOPE);
    }
}

static void note_trouble(struct mq_http_pool *pool, const char *reason, int64_t retry_after_s,
                         bool is_connect)
{
    bool first = !pool->transport.troubled;
    mq_transport_in_trouble(&pool->transport, reason, retry_after_s);
    if (first && is_connect) {
        pool->transport.trouble.phase = "connect";
    }
}

/* A request got no answer: the API is down after some of these in a row, but not if another request
 * got one meanwhile. */
static void no_answer(const struct mq_http_slot *slot, const struct mq_http_result *result)
{
    struct mq_http_pool *pool = slot->pool;
    bool works = pool->answers != slot->answers_before;
    if (pool->transport.stopped) {
        return; /* we have cut it off */
    }
    int failures = works ? 1 : ++pool->failures;
    pool->next_begin_ms = mq_clock_monotonic_ms() + (int64_t)AGAIN_MS * failures * failures;
    if (!works && (result->hopeless || failures >= FAILURES_MAX)) {
        note_trouble(pool, result->reason, 0, !result->connected);
    }
}

/* The API does not have the mail. It waits for another try; but one that loses its connection again
 * may be the cause. */
static void try_again(struct mq_http_slot *slot, const struct mq_http_result *result)
{
    struct mq_http_pool *pool = slot->pool;
    struct mq_transfer *transfer = slot->transfer;
    bool lost = result->connected && (transfer->transport_flags & LOST_ONCE) != 0;
    undo_body(slot);
    if (lost && !pool->transport.stopped) {
        mq_http_set_targets(slot, MQ_OUTCOME_DENIED, 0, result->reason);
        mq_http_give_back(slot, MQ_TRANSFER_DONE);
    } else if (slot->first > 0 || !mq_transport_may_begin(&pool->transport)) {
        mq_http_give_back(slot, MQ_TRANSFER_UNTOUCHED);
    } else {
        transfer->transport_flags |= result->connected ? LOST_ONCE : 0;
        mq_http_mark_rest(slot, 0);
        mq_transfer_prepend(&pool->transport.pending, empty(slot));
    }
    no_answer(slot, result);
}

/* Returns whether the mail has more recipients, for which another request is to begin. */
static bool decided(struct mq_http_slot *slot, enum mq_outcome verdict,
                    const struct mq_http_answer *answer, const char *reply)
{
    struct mq_transfer *transfer = slot->transfer;
    transfer->ms = (mq_transport_now_us(&slot->pool->transport) - slot->began_us) / 1000;
    mq_http_set_targets(slot, verdict, answer->status, reply);
    if (verdict == MQ_OUTCOME_DELIVERED) {
        transfer->enter(transfer, MQ_PHASE_ACCEPTED);
    } else if (verdict != MQ_OUTCOME_UNCERTAIN) {
        transfer->enter(transfer, MQ_PHASE_REFUSED);
    }
    slot->first += slot->count;
    if (slot->first == transfer->target_count || !mq_transport_may_begin(&slot->pool->transport)) {
        mq_http_give_back(slot, MQ_TRANSFER_DONE);
        return false;
    }
    return true;
}

/* A reply that tells about the API or about us, not about the mail. */
static void drew_trouble(struct mq_http_slot *slot, const char *reply, int64_t retry_after_s)
{
    struct mq_transfer *transfer = slot->transfer;
    undo_body(slot);
    transfer->drew_trouble = true;
    snprintf(transfer->error, sizeof transfer->error, "%s", reply);
    note_trouble(slot->pool, reply, retry_after_s, false);
    mq_http_give_back(slot, MQ_TRANSFER_UNTOUCHED);
}

static int64_t retry_after_s(struct mq_http_pool *pool, const struct mq_http_result *result)
{
    return mq_http_retry_after_s(mq_str_of(result->retry_after),
                                 mq_clock_now_s(&pool->transport.clock));
}

/* Tells the account what became of its token. True: the mail waits for another token. */
static bool token_was_refused(struct mq_http_slot *slot, const struct mq_http_result *result)
{
    struct mq_oauth *account = slot->pool->account;
    if (account == NULL || result->status == 0) {
        return false;
    }
    if (result->status != 401) {
        mq_oauth_accepted(account, slot->generation);
        return false;
    }
    if (!mq_oauth_refused(account, slot->generation) ||
        !mq_transport_may_begin(&slot->pool->transport)) {
        return false;
    }
    undo_body(slot);
    mq_transfer_prepend(&slot->pool->transport.pending, empty(slot));
    return true;
}

bool mq_http_finish(struct mq_http_slot *slot, struct mq_http_result *result)
{
    struct mq_http_pool *pool = slot->pool;
    struct mq_http_answer answer;
    char reply[MQ_TARGET_REPLY_MAX];
    if (result->given_up) {
        slot->in_body = false;
        mq_http_give_back(slot, MQ_TRANSFER_LEASE_OVER);
        return false;
    }
    if (pool->account != NULL) {
        slot->request.secret = mq_oauth_token(pool->account); /* to be blanked */
    }
    if (token_was_refused(slot, result)) {
        return false;
    }
    mq_http_answer(pool->api, &slot->request, result, &answer);
    mq_http_format(&answer, reply);
    if (pool->account != NULL && result->status == 401) {
        mq_oauth_tell_refused(pool->account, reply, sizeof reply);
    }
    enum mq_outcome verdict = mq_http_decide(pool->api->service, &answer);
    memcpy(result->reason, reply, sizeof reply);
    slot->transfer->retry_after_s = retry_after_s(pool, result);
    if (verdict == MQ_TROUBLE_SESSION) {
        try_again(slot, result);
    } else if (verdict == MQ_TROUBLE_RELAY) {
        drew_trouble(slot, reply, slot->transfer->retry_after_s);
    } else if (verdict == MQ_OUTCOME_UNCERTAIN) {
        no_answer(slot, result);
        return decided(slot, verdict, &answer, reply);
    } else {
        pool->failures = 0;
        pool->answers++;
        return decided(slot, verdict, &answer, reply);
    }
    return false;
}
