/* Gives what waits to the sessions of a pool, and opens more of them. */
#include <stdio.h>

#include "send/smtp/pool.h"

/* Connects under way at once; a listen queue is often no longer. */
#define CONNECTING_MAX 64

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
    if (pool->limit < pool->connections && mq_smtp_pool_now(pool) >= pool->limit_until_ms) {
        pool->limit = pool->connections;
    }
    if (mq_clock_monotonic_ms() < pool->next_connect_ms) {
        return;
    }
    const size_t *n = pool->host.in_state;
    for (size_t i = 0; i < pool->connections && !pool->transport.troubled; i++) {
        /* One tells whether the relay is there at all; then ever more. */
        size_t working = mq_smtp_pool_working(pool);
        size_t at_once = working == 0 ? 1 : 2 * working;
        at_once = at_once < CONNECTING_MAX ? at_once : CONNECTING_MAX;
        if (mq_smtp_pool_openable(pool) == 0 || n[MQ_SMTP_CONNECTING] >= at_once ||
            pool->transport.pending.count <= n[MQ_SMTP_IDLE] + n[MQ_SMTP_CONNECTING]) {
            break;
        }
        if (pool->slots[i].session.state == MQ_SMTP_CLOSED) {
            open_session(pool, &pool->slots[i]);
        }
    }
}

void mq_smtp_assign(struct mq_smtp_pool *pool)
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
