/* The SMTP transport as the worker sees it. */
#include "send/smtp/smtp.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <unistd.h>

#include "send/smtp/internal.h"
#include "send/smtp/pool.h"

/* Connects under way at once; a listen queue is often no longer. */
#define CONNECTING_MAX 64

static struct mq_smtp_pool *pool_of(struct mq_transport *transport)
{
    return (struct mq_smtp_pool *)transport;
}

static size_t busy(const struct mq_smtp_pool *pool)
{
    return mq_smtp_pool_working(pool) - pool->host.in_state[MQ_SMTP_IDLE];
}

static size_t op_capacity(const struct mq_transport *transport, bool just_in_time)
{
    const struct mq_smtp_pool *pool = (const struct mq_smtp_pool *)transport;
    size_t at_work = busy(pool);
    size_t places = at_work < pool->limit ? pool->limit - at_work : 0;
    /* An envelope may go behind the dot of each mail that is sent now. One more lies ready for when
     * that one's turn comes, so that its body and the next envelope leave in one write. */
    if (!just_in_time && pool->host.following != MQ_SMTP_FOLLOW_NEVER && !pool->host.no_params) {
        places += 2 * at_work;
    }
    return places > transport->pending.count ? places - transport->pending.count : 0;
}

static void op_recall(struct mq_transport *transport)
{
    struct mq_smtp_pool *pool = pool_of(transport);
    for (size_t i = 0; i < pool->connections; i++) {
        if (pool->slots[i].session.channel != NULL) {
            mq_smtp_session_recall(&pool->slots[i].session);
        }
    }
}

/* ---- work for the sessions ---- */

static void open_session(struct mq_smtp_pool *pool, struct mq_smtp_slot *slot)
{
    struct mq_error err;
    mq_smtp_session_clear(&slot->session);
    if (mq_smtp_session_init(&slot->session, &pool->host, (int)(slot - pool->slots), &err) ==
            MQ_OK &&
        mq_connector_begin(pool->connector, slot, &slot->link, &err) == MQ_OK) {
        mq_smtp_set_state(&slot->session, MQ_SMTP_CONNECTING);
        return;
    }
    mq_smtp_pool_connect_failed(pool, err.text, false, 0);
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

static void pump_those(struct mq_smtp_pool *pool, bool (*may)(const struct mq_smtp_session *))
{
    for (size_t i = 0; i < pool->connections && pool->transport.pending.count > 0; i++) {
        if (may(&pool->slots[i].session)) {
            mq_smtp_pool_pump(pool, &pool->slots[i]);
        }
    }
}

/* Opens sessions for what waits, and lets open ones take it. */
static void assign(struct mq_smtp_pool *pool)
{
    if (mq_transport_may_begin(&pool->transport)) {
        pump_those(pool, mq_smtp_session_may_begin);
        open_sessions(pool);
        pump_those(pool, mq_smtp_session_may_follow);
    }
}

/* Once: what trouble stops comes back. */
static void recall_in_trouble(struct mq_smtp_pool *pool)
{
    if (pool->transport.troubled && !pool->recalled) {
        pool->recalled = true;
        mq_transport_recall(&pool->transport);
    }
}

static enum mq_status op_step(struct mq_transport *transport, int64_t timeout_ms,
                              struct mq_error *err)
{
    struct mq_smtp_pool *pool = pool_of(transport);
    bool troubled = transport->troubled;
    int64_t until_ms = mq_clock_monotonic_ms() + timeout_ms;
    (void)err;
    for (;;) {
        recall_in_trouble(pool);
        assign(pool);
        int64_t left_ms = until_ms - mq_clock_monotonic_ms();
        bool goes_on = mq_smtp_pool_wait(pool, left_ms);
        if (!goes_on || transport->done.count > 0 || transport->troubled != troubled ||
            left_ms <= 0) {
            break;
        }
    }
    recall_in_trouble(pool);
    return MQ_OK;
}

/* Gives up connections that are not open yet. */
static void cancel_connecting(struct mq_smtp_pool *pool)
{
    for (size_t i = 0; i < pool->connections; i++) {
        struct mq_smtp_slot *slot = &pool->slots[i];
        if (slot->link != NULL) {
            mq_connector_cancel(slot->link);
            slot->link = NULL;
            mq_smtp_set_state(&slot->session, MQ_SMTP_CLOSED);
        }
    }
}

static void close_sessions(struct mq_smtp_pool *pool, const char *why)
{
    cancel_connecting(pool);
    for (size_t i = 0; i < pool->connections; i++) {
        if (pool->slots[i].session.channel != NULL) {
            mq_smtp_session_lost(&pool->slots[i].session, why);
        }
    }
}

static void op_wind_down(struct mq_transport *transport)
{
    struct mq_smtp_pool *pool = pool_of(transport);
    cancel_connecting(pool);
    for (size_t i = 0; i < pool->connections; i++) {
        struct mq_smtp_session *session = &pool->slots[i].session;
        if (session->channel != NULL && session->state != MQ_SMTP_ENVELOPE) {
            mq_smtp_session_recall(session); /* the one behind the dot */
        }
    }
}

static void op_quit(struct mq_transport *transport, int64_t timeout_ms)
{
    struct mq_smtp_pool *pool = pool_of(transport);
    int64_t until_ms = mq_clock_monotonic_ms() + timeout_ms;
    cancel_connecting(pool);
    for (size_t i = 0; i < pool->connections; i++) {
        mq_smtp_session_quit(&pool->slots[i].session);
    }
    while (pool->host.in_state[MQ_SMTP_QUITTING] > 0) {
        int64_t left_ms = until_ms - mq_clock_monotonic_ms();
        if (left_ms <= 0 || !mq_smtp_pool_wait(pool, left_ms)) {
            break;
        }
    }
    close_sessions(pool, "");
}

static void op_abort(struct mq_transport *transport)
{
    close_sessions(pool_of(transport), "sending was stopped");
}

static const char *const finding_names[] = {
    [MQ_SMTP_FOLLOW_TRY] = NULL,
    [MQ_SMTP_FOLLOW_DOT] = "dot",
    [MQ_SMTP_FOLLOW_NEVER] = "group",
};

static const char *op_finding(const struct mq_transport *transport)
{
    const struct mq_smtp_host *host = &((const struct mq_smtp_pool *)transport)->host;
    return host->following_fixed ? NULL : finding_names[host->following];
}

static void op_remember(struct mq_transport *transport, const char *finding)
{
    struct mq_smtp_host *host = &pool_of(transport)->host;
    if (host->following_fixed) {
        return;
    }
    host->following = MQ_SMTP_FOLLOW_TRY;
    host->trying = false;
    for (int i = MQ_SMTP_FOLLOW_DOT; i <= MQ_SMTP_FOLLOW_NEVER; i++) {
        if (strcmp(finding, finding_names[i]) == 0) {
            host->following = (enum mq_smtp_following)i;
        }
    }
}

static void op_free(struct mq_transport *transport)
{
    struct mq_smtp_pool *pool = pool_of(transport);
    transport->stopped = true;
    if (pool->slots != NULL) {
        close_sessions(pool, "");
        for (size_t i = 0; i < pool->connections; i++) {
            mq_smtp_session_clear(&pool->slots[i].session);
        }
        free(pool->slots);
    }
    if (pool->connector != NULL) {
        mq_connector_free(pool->connector);
    }
    if (pool->epoll_fd >= 0) {
        close(pool->epoll_fd);
    }
    mq_dsn_clear(&pool->dsn);
}

static void init_host(struct mq_smtp_pool *pool, const struct mq_smtp_options *options)
{
    const struct mq_dsn *dsn = &pool->dsn;
    pool->host = mq_smtp_pool_host;
    pool->host.clock = options->clock;
    pool->host.command_timeout_ms = dsn->command_timeout_ms;
    pool->host.data_timeout_ms = dsn->data_timeout_ms;
    pool->host.block_timeout_ms = dsn->block_timeout_ms;
    pool->host.final_timeout_ms = dsn->final_timeout_ms;
    pool->host.idle_ms = dsn->idle_ms;
    pool->host.mails_per_connection = dsn->mails_per_connection;
    pool->host.following_fixed = dsn->pipelining != MQ_PIPELINING_LEARN;
    if (pool->host.following_fixed) {
        pool->host.following =
            dsn->pipelining == MQ_PIPELINING_DOT ? MQ_SMTP_FOLLOW_DOT : MQ_SMTP_FOLLOW_NEVER;
    }
}

enum mq_status mq_smtp_new(struct mq_dsn *dsn, const struct mq_smtp_options *options,
                           struct mq_transport **out, struct mq_error *err)
{
    static const struct mq_transport_ops ops = {.capacity = op_capacity,
                                                .step = op_step,
                                                .recall = op_recall,
                                                .wind_down = op_wind_down,
                                                .quit = op_quit,
                                                .abort = op_abort,
                                                .free = op_free,
                                                .finding = op_finding,
                                                .remember = op_remember};
    if (options->connections < 1) {
        return mq_error_set(err, MQ_INVALID, "connections", "connections must be at least 1");
    }
    struct mq_smtp_pool *pool = calloc(1, sizeof *pool);
    if (pool == NULL) {
        return mq_error_nomem(err);
    }
    enum mq_status status = MQ_OK;
    pool->transport.ops = &ops;
    pool->transport.clock = options->clock;
    pool->connections = pool->limit = (size_t)options->connections;
    pool->epoll_fd = epoll_create1(EPOLL_CLOEXEC);
    pool->slots = calloc(pool->connections, sizeof *pool->slots);
    pool->transport.name = mq_dsn_redacted(dsn);
    pool->dsn = *dsn;
    memset(dsn, 0, sizeof(*dsn));
    if (pool->slots == NULL || pool->transport.name == NULL) {
        status = mq_error_nomem(err);
        goto out;
    }
    if (pool->epoll_fd < 0) {
        status = mq_error_set(err, MQ_IO, "", "epoll cannot be had: %s", strerror(errno));
        goto out;
    }
    init_host(pool, options);
    status = mq_connector_new(&pool->dsn, pool->epoll_fd, &pool->connector, err);
out:
    if (status != MQ_OK) {
        mq_transport_free(&pool->transport);
        return status;
    }
    *out = &pool->transport;
    return MQ_OK;
}
