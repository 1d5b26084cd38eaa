#include "send/smtp/pool.h"

#include <stdio.h>

/* Connects in a row that fail before the relay counts as down. */
#define FAILURES_MAX 3
/* After a refused connect while others work: how long the pool stays small. */
#define SHRUNK_MS 60000
/* Between connects that failed: this times the square of their number. */
#define RECONNECT_MS 100
/* Connects under way at once; a listen queue is often no longer. */
#define CONNECTING_MAX 64

/* ---- how many sessions ---- */

size_t mq_smtp_pool_working(const struct mq_smtp_pool *pool)
{
    const size_t *n = pool->host.in_state;
    return n[MQ_SMTP_IDLE] + n[MQ_SMTP_ENVELOPE] + n[MQ_SMTP_BODY] + n[MQ_SMTP_AWAITING];
}

size_t mq_smtp_pool_occupied(const struct mq_smtp_pool *pool)
{
    const size_t *n = pool->host.in_state;
    return mq_smtp_pool_working(pool) + n[MQ_SMTP_CONNECTING] + n[MQ_SMTP_QUITTING];
}

/* Sessions that may still be opened. */
static size_t openable(const struct mq_smtp_pool *pool)
{
    size_t occupied = mq_smtp_pool_occupied(pool);
    return occupied < pool->limit ? pool->limit - occupied : 0;
}

/* ---- what the sessions ask ---- */

static struct mq_transfer *next_transfer(struct mq_smtp_host *host, struct mq_smtp_session *session,
                                         bool behind)
{
    struct mq_smtp_pool *pool = mq_smtp_pool_of(host);
    (void)session;
    if (!mq_transport_may_begin(&pool->transport)) {
        return NULL;
    }
    struct mq_transfer *before = NULL;
    if (behind) {
        /* A session of its own is quicker than a place behind another mail's dot. */
        size_t first = host->in_state[MQ_SMTP_IDLE] + host->in_state[MQ_SMTP_CONNECTING];
        if (pool->transport.pending.count <= first + openable(pool)) {
            return NULL;
        }
        struct mq_transfer *at = pool->transport.pending.first;
        while (at != NULL && (at->transport_flags & MQ_SMTP_DELIVERY_PLAIN) != 0) {
            before = at;
            at = at->next;
        }
    }
    return mq_transfer_take(&pool->transport.pending, before);
}

static void transfer_done(struct mq_smtp_host *host, struct mq_transfer *transfer)
{
    struct mq_smtp_pool *pool = mq_smtp_pool_of(host);
    if (transfer->end == MQ_DELIVERY_DONE && transfer->at_s != 0) {
        pool->failures = 0;
    }
    mq_transfer_append(&pool->transport.done, transfer);
}

static void transfer_again(struct mq_smtp_host *host, struct mq_transfer *transfer)
{
    struct mq_smtp_pool *pool = mq_smtp_pool_of(host);
    if (mq_transport_may_begin(&pool->transport)) {
        mq_transfer_prepend(&pool->transport.pending, transfer);
    } else {
        mq_transport_give_back(&pool->transport, transfer, MQ_DELIVERY_UNTOUCHED);
    }
}

static void relay_trouble(struct mq_smtp_host *host, const char *reason, int64_t retry_after_s)
{
    mq_transport_in_trouble(&mq_smtp_pool_of(host)->transport, reason, retry_after_s);
}

void mq_smtp_pool_connect_failed(struct mq_smtp_pool *pool, const struct mq_connect_result *result)
{
    size_t working = mq_smtp_pool_working(pool);
    size_t connecting = pool->host.in_state[MQ_SMTP_CONNECTING];
    if (working > 0) {
        /* The relay takes no more than these now. */
        pool->limit = working + connecting;
        pool->limit_until_ms = mq_smtp_loop_now(pool) + SHRUNK_MS;
        return;
    }
    pool->failures++;
    pool->next_connect_ms =
        mq_connector_now_ms() + (int64_t)RECONNECT_MS * pool->failures * pool->failures;
    if (connecting == 0 && (result->hopeless || pool->failures >= FAILURES_MAX)) {
        relay_trouble(&pool->host, result->reason, result->retry_after_s);
    }
}

/* A session that ended before the relay decided any mail counts as a connect that failed: a relay
 * that greets and hangs up is as good as down. */
static void session_closed(struct mq_smtp_host *host, struct mq_smtp_session *session,
                           const char *why)
{
    struct mq_smtp_pool *pool = mq_smtp_pool_of(host);
    struct mq_smtp_slot *slot = &pool->slots[session->id];
    slot->generation++;
    slot->fd = -1;
    slot->polls_out = false;
    if (why[0] != '\0' && session->decided == 0 && !pool->transport.stopped) {
        struct mq_connect_result result = {0};
        snprintf(result.reason, sizeof result.reason, "%s", why);
        mq_smtp_pool_connect_failed(pool, &result);
    }
}

void mq_smtp_pool_init_host(struct mq_smtp_pool *pool)
{
    pool->host.next = next_transfer;
    pool->host.done = transfer_done;
    pool->host.again = transfer_again;
    pool->host.trouble = relay_trouble;
    pool->host.closed = session_closed;
}

/* ---- work for the sessions ---- */

static void open_session(struct mq_smtp_pool *pool, struct mq_smtp_slot *slot)
{
    struct mq_error err;
    mq_smtp_session_clear(&slot->session);
    if (mq_smtp_session_init(&slot->session, &pool->host, (int)(slot - pool->slots), &err) ==
            MQ_OK &&
        mq_connector_begin(pool->connector, slot, &slot->link, &err) == MQ_OK) {
        mq_smtp_session_connecting(&slot->session);
        return;
    }
    struct mq_connect_result result = {0};
    snprintf(result.reason, sizeof result.reason, "%.*s", (int)sizeof result.reason - 1, err.text);
    mq_smtp_pool_connect_failed(pool, &result);
}

static void open_sessions(struct mq_smtp_pool *pool)
{
    if (pool->limit < pool->connections && mq_smtp_loop_now(pool) >= pool->limit_until_ms) {
        pool->limit = pool->connections;
    }
    if (mq_connector_now_ms() < pool->next_connect_ms) {
        return;
    }
    const size_t *n = pool->host.in_state;
    for (size_t i = 0; i < pool->connections && !pool->transport.troubled; i++) {
        /* One tells whether the relay is there at all; then ever more. */
        size_t working = mq_smtp_pool_working(pool);
        size_t at_once = working == 0 ? 1 : 2 * working;
        at_once = at_once < CONNECTING_MAX ? at_once : CONNECTING_MAX;
        if (openable(pool) == 0 || n[MQ_SMTP_CONNECTING] >= at_once ||
            pool->transport.pending.count <= n[MQ_SMTP_IDLE] + n[MQ_SMTP_CONNECTING]) {
            break;
        }
        if (pool->slots[i].session.state == MQ_SMTP_CLOSED) {
            open_session(pool, &pool->slots[i]);
        }
    }
}

void mq_smtp_pool_assign(struct mq_smtp_pool *pool)
{
    if (!mq_transport_may_begin(&pool->transport)) {
        return;
    }
    for (size_t i = 0; i < pool->connections && pool->transport.pending.count > 0; i++) {
        struct mq_smtp_slot *slot = &pool->slots[i];
        if (mq_smtp_session_may_begin(&slot->session)) {
            mq_smtp_loop_pump(pool, slot);
        }
    }
    open_sessions(pool);
    for (size_t i = 0; i < pool->connections && pool->transport.pending.count > 0; i++) {
        struct mq_smtp_slot *slot = &pool->slots[i];
        if (slot->session.state != MQ_SMTP_CLOSED && mq_smtp_session_may_follow(&slot->session)) {
            mq_smtp_loop_pump(pool, slot);
        }
    }
}
