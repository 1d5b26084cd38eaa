/* The sessions of a transport: how many there may be, what they ask, their sockets and timers. */
#include "send/smtp/pool.h"

#include <errno.h>
#include <sys/epoll.h>

#include "send/smtp/internal.h"

#define EVENTS_MAX 256
/* How often the sessions' deadlines are checked; they are seconds. */
#define SCAN_MS 100

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

/* Not closed. */
static size_t occupied(const struct mq_smtp_pool *pool)
{
    const size_t *n = pool->host.in_state;
    return mq_smtp_pool_working(pool) + n[MQ_SMTP_CONNECTING] + n[MQ_SMTP_QUITTING];
}

size_t mq_smtp_pool_openable(const struct mq_smtp_pool *pool)
{
    size_t taken = occupied(pool);
    return taken < pool->limit ? pool->limit - taken : 0;
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

void mq_smtp_pool_connect_failed(struct mq_smtp_pool *pool, const char *reason, bool hopeless,
                                 int64_t retry_after_s)
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
    if (connecting == 0 && (hopeless || pool->failures >= FAILURES_MAX)) {
        relay_trouble(&pool->host, reason, retry_after_s);
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
        mq_smtp_pool_connect_failed(pool, why, false, 0);
    }
}

const struct mq_smtp_host mq_smtp_pool_host = {.next = next_transfer,
                                               .done = transfer_done,
                                               .again = transfer_again,
                                               .trouble = relay_trouble,
                                               .closed = session_closed};

/* ---- sockets and timers ---- */

static uint64_t event_data(const struct mq_smtp_pool *pool, const struct mq_smtp_slot *slot)
{
    uint64_t generation = slot->generation & 0x7fffffffu;
    return generation << 32 | (uint64_t)(slot - pool->slots);
}

/* Asks for EPOLLOUT only while a write is pending. */
static void poll_slot(struct mq_smtp_pool *pool, struct mq_smtp_slot *slot, int operation)
{
    struct epoll_event event = {.events = EPOLLIN, .data.u64 = event_data(pool, slot)};
    if (slot->session.wants_write) {
        event.events |= EPOLLOUT;
    }
    slot->polls_out = slot->session.wants_write;
    if (epoll_ctl(pool->epoll_fd, operation, slot->fd, &event) != 0 && errno == EEXIST) {
        epoll_ctl(pool->epoll_fd, EPOLL_CTL_MOD, slot->fd, &event);
    }
}

static void update_poll(struct mq_smtp_pool *pool, struct mq_smtp_slot *slot)
{
    if (slot->session.channel != NULL && slot->polls_out != slot->session.wants_write) {
        poll_slot(pool, slot, EPOLL_CTL_MOD);
    }
}

void mq_smtp_pool_pump(struct mq_smtp_pool *pool, struct mq_smtp_slot *slot)
{
    mq_smtp_session_pump(&slot->session);
    update_poll(pool, slot);
}

static void on_event(struct mq_smtp_pool *pool, const struct epoll_event *event)
{
    if ((event->data.u64 & MQ_CONNECTOR_EVENT) != 0) {
        mq_connector_event(pool->connector, event->data.u64, event->events);
        return;
    }
    size_t i = (size_t)(event->data.u64 & UINT32_MAX);
    struct mq_smtp_slot *slot = &pool->slots[i];
    if (event_data(pool, slot) != event->data.u64 || slot->session.channel == NULL) {
        return;
    }
    /* On an error too: a reply may still be there to be read. */
    if ((event->events & (EPOLLIN | EPOLLERR | EPOLLHUP)) != 0) {
        mq_smtp_session_readable(&slot->session);
    } else {
        mq_smtp_session_pump(&slot->session);
    }
    update_poll(pool, slot);
}

/* Connections that libcurl has opened or given up. */
static void take_connections(struct mq_smtp_pool *pool)
{
    struct mq_connect_result result;
    while (mq_connector_take(pool->connector, &result)) {
        struct mq_smtp_slot *slot = result.owner;
        slot->link = NULL;
        if (result.channel == NULL) {
            mq_smtp_set_state(&slot->session, MQ_SMTP_CLOSED);
            mq_smtp_pool_connect_failed(pool, result.reason, result.hopeless, result.retry_after_s);
            continue;
        }
        slot->fd = result.fd;
        mq_smtp_session_ready(&slot->session, result.channel, &result.caps);
        poll_slot(pool, slot, EPOLL_CTL_ADD);
        mq_smtp_pool_pump(pool, slot);
    }
}

static void scan_timeouts(struct mq_smtp_pool *pool)
{
    int64_t real_ms = mq_clock_monotonic_ms();
    int64_t now_ms = mq_smtp_pool_now(pool);
    if (real_ms < pool->next_scan_ms) {
        return;
    }
    pool->next_scan_ms = real_ms + SCAN_MS;
    for (size_t i = 0; i < pool->connections; i++) {
        struct mq_smtp_slot *slot = &pool->slots[i];
        if (slot->session.state != MQ_SMTP_CLOSED) {
            mq_smtp_session_check_timeout(&slot->session, now_ms);
            update_poll(pool, slot);
        }
    }
}

static int64_t least(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

bool mq_smtp_pool_wait(struct mq_smtp_pool *pool, int64_t timeout_ms)
{
    struct epoll_event events[EVENTS_MAX];
    int64_t timer_ms = mq_connector_run(pool->connector);
    take_connections(pool);
    if (timer_ms >= 0) {
        timeout_ms = least(timeout_ms, timer_ms);
    }
    if (occupied(pool) > 0 || pool->transport.pending.count > 0) {
        timeout_ms = least(timeout_ms, SCAN_MS);
    }
    if (pool->transport.done.count > 0 || timeout_ms < 0) {
        timeout_ms = 0;
    }
    int n = epoll_wait(pool->epoll_fd, events, EVENTS_MAX, (int)timeout_ms);
    bool interrupted = n < 0 && errno == EINTR;
    for (int i = 0; i < n; i++) {
        on_event(pool, &events[i]);
    }
    mq_connector_run(pool->connector);
    take_connections(pool);
    scan_timeouts(pool);
    return !interrupted;
}
