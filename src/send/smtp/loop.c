/* Sockets and timers: one wait for all sessions and connects of a pool. */
#include <errno.h>
#include <sys/epoll.h>

#include "send/smtp/pool.h"

#define EVENTS_MAX 256
/* How often the sessions' deadlines are looked at; they are seconds. */
#define SCAN_MS 100

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

void mq_smtp_loop_pump(struct mq_smtp_pool *pool, struct mq_smtp_slot *slot)
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
            slot->session.state = MQ_SMTP_CLOSED;
            pool->host.in_state[MQ_SMTP_CONNECTING]--;
            mq_smtp_pool_connect_failed(pool, &result);
            continue;
        }
        slot->fd = result.fd;
        mq_smtp_session_ready(&slot->session, result.channel, &result.caps);
        poll_slot(pool, slot, EPOLL_CTL_ADD);
        mq_smtp_loop_pump(pool, slot);
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

bool mq_smtp_loop_step(struct mq_smtp_pool *pool, int64_t timeout_ms)
{
    struct epoll_event events[EVENTS_MAX];
    int64_t timer_ms = mq_connector_run(pool->connector);
    take_connections(pool);
    if (timer_ms >= 0) {
        timeout_ms = least(timeout_ms, timer_ms);
    }
    if (mq_smtp_pool_occupied(pool) > 0 || pool->transport.pending.count > 0) {
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
