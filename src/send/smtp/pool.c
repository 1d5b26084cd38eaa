/* How many sessions the pool opens, what a failed one means, and which transfers they get. */
#include "send/smtp/pool.h"

#include <stdio.h>
#include <sys/epoll.h>

#include "send/smtp/internal.h"
#include "send/transport.h"

/* Connects in a row that fail before the relay counts as down. */
#define FAILURES_MAX 3
/* The wait after failed connects: this times the square of their number. */
#define RECONNECT_MS 100

static struct pool *owner_pool(struct mq_smtp_owner *owner)
{
    return mq_pool_of(owner->transport);
}

/* ---- how many sessions ---- */

size_t mq_pool_busy(const struct pool *pool)
{
    const size_t *n = pool->owner.in_state;
    return n[MQ_SMTP_ENVELOPE] + n[MQ_SMTP_BODY] + n[MQ_SMTP_AWAITING];
}

size_t mq_pool_working(const struct pool *pool)
{
    return mq_pool_busy(pool) + pool->owner.in_state[MQ_SMTP_IDLE];
}

size_t mq_pool_occupied(const struct pool *pool)
{
    const size_t *n = pool->owner.in_state;
    return mq_pool_working(pool) + n[MQ_SMTP_CONNECTING] + n[MQ_SMTP_QUITTING];
}

size_t mq_pool_openable(const struct pool *pool)
{
    size_t taken = mq_pool_occupied(pool);
    return taken < pool->sessions.allowed ? pool->sessions.allowed - taken : 0;
}

static void keep_reason(struct pool *pool, const char *reason)
{
    snprintf(pool->reason, sizeof pool->reason, "%s", reason);
}

void mq_pool_note_sessions(struct pool *pool)
{
    struct mq_transport *transport = &pool->transport;
    const struct mq_sessions *sessions = &pool->sessions;
    bool fewer = sessions->allowed < sessions->most;
    if (fewer == pool->noted_fewer || pool->owner.in_state[MQ_SMTP_CONNECTING] > 0) {
        return;
    }
    pool->noted_fewer = fewer;
    if (fewer) {
        snprintf(transport->note, sizeof transport->note, "%zu of %zu sessions: %s",
                 sessions->allowed, sessions->most, pool->reason);
    } else {
        snprintf(transport->note, sizeof transport->note, "all %zu sessions again", sessions->most);
    }
}

void mq_pool_connect_failed(struct pool *pool, int64_t begun_ms, const char *reason, bool hopeless,
                            int64_t retry_after_s)
{
    size_t connecting = pool->owner.in_state[MQ_SMTP_CONNECTING];
    if (mq_pool_working(pool) > 0) {
        mq_sessions_refused(&pool->sessions, mq_pool_working(pool), begun_ms,
                            mq_transport_boot_ms(&pool->transport), retry_after_s);
        keep_reason(pool, reason);
        return;
    }
    int failures = ++pool->owner.failures;
    pool->next_connect_ms = mq_clock_monotonic_ms() + (int64_t)RECONNECT_MS * failures * failures;
    if (connecting == 0 && (hopeless || failures >= FAILURES_MAX)) {
        mq_transport_in_trouble(&pool->transport, reason, retry_after_s);
        pool->transport.trouble.phase = "connect";
    }
}

/* ---- what the sessions ask ---- */

struct mq_transfer *mq_pool_next(struct mq_smtp_owner *owner, bool behind)
{
    struct pool *pool = owner_pool(owner);
    if (!mq_transport_may_begin(&pool->transport) ||
        mq_pool_working(pool) > pool->sessions.allowed) {
        return NULL; /* a session that is too many ends: close_surplus() in smtp.c */
    }
    struct mq_transfer *before = NULL;
    if (behind) {
        /* A separate session is quicker for a mail than waiting after another mail's dot. */
        size_t first = owner->in_state[MQ_SMTP_IDLE] + owner->in_state[MQ_SMTP_CONNECTING];
        if (pool->transport.pending.count <= first + mq_pool_openable(pool)) {
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

/* A session that ended before the relay decided any mail counts as a connect that failed: a relay
 * that greets and hangs up is as good as down. */
void mq_pool_closed(struct mq_smtp_owner *owner, struct mq_smtp_session *session, const char *why)
{
    struct pool *pool = owner_pool(owner);
    struct slot *slot = (struct slot *)session;
    /* close() is not enough: epoll keeps a socket that a forked child still has open. */
    epoll_ctl(pool->epoll_fd, EPOLL_CTL_DEL, slot->fd, NULL);
    if (why[0] != '\0' && session->decided == 0 && !pool->transport.stopped) {
        mq_pool_connect_failed(pool, slot->begun_ms, why, false, 0);
    }
}

bool mq_pool_crowded(struct mq_smtp_owner *owner, const struct mq_smtp_tx *tx, const char *why,
                     int64_t wait_s)
{
    struct pool *pool = owner_pool(owner);
    bool fell = mq_sessions_crowded(&pool->sessions, mq_pool_working(pool), tx->mail_ms,
                                    mq_transport_boot_ms(&pool->transport), wait_s);
    if (fell) {
        keep_reason(pool, why);
    }
    return fell;
}
