/* How many sessions there may be, and what they ask of the pool. */
#include "send/smtp/pool.h"

#include <stdio.h>

/* Connects in a row that fail before the relay counts as down. */
#define FAILURES_MAX 3
/* After a refused connect while others work: how long the pool stays small. */
#define SHRUNK_MS 60000
/* Between connects that failed: this times the square of their number. */
#define RECONNECT_MS 100

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

size_t mq_smtp_pool_openable(const struct mq_smtp_pool *pool)
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
        if (pool->transport.pending.count <= first + mq_smtp_pool_openable(pool)) {
            return NULL;
        }
        struct mq_transfer *at = pool->transport.pending.first;
        while (at != NULL && (at->transport_flags & MQ_SMTP_TRANSFER_PLAIN) != 0) {
            before = at;
            at = at->next;
        }
    }
    return mq_transfer_take(&pool->transport.pending, before);
}

static void transfer_done(struct mq_smtp_host *host, struct mq_transfer *transfer)
{
    struct mq_smtp_pool *pool = mq_smtp_pool_of(host);
    if (transfer->end == MQ_TRANSFER_DONE && transfer->at_s != 0) {
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
        mq_transport_give_back(&pool->transport, transfer, MQ_TRANSFER_UNTOUCHED);
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
        pool->limit_until_ms = mq_smtp_pool_now(pool) + SHRUNK_MS;
        return;
    }
    pool->failures++;
    pool->next_connect_ms =
        mq_clock_monotonic_ms() + (int64_t)RECONNECT_MS * pool->failures * pool->failures;
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
