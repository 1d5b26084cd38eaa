/* The SMTP and LMTP transport: how many sessions it opens to the relay, which transfers they get,
 * and their sockets and timers. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <unistd.h>

#include "send/factory.h"
#include "send/smtp/hello.h"
#include "send/smtp/internal.h"
#include "send/smtp/pool.h"

/* The most connects under way at once; a relay's listen queue is often no longer. */
#define CONNECTING_MAX 64
#define EVENTS_MAX     256
/* How often the sessions' deadlines are checked; the timeouts are seconds. */
#define SCAN_MS 100

/* ---- how many sessions ---- */

static size_t op_capacity(const struct mq_transport *transport, bool just_in_time)
{
    const struct pool *pool = (const struct pool *)transport;
    size_t at_work = mq_pool_busy(pool);
    size_t limit = pool->sessions.allowed;
    size_t free_sessions = at_work < limit ? limit - at_work : 0;
    /* Each mail under way can have an envelope after its dot. One more mail waits until the body
     * of that envelope goes out: then that body and the next envelope leave in one write. */
    if (!just_in_time && pool->owner.pipelining && pool->owner.following != MQ_SMTP_FOLLOW_NEVER &&
        !pool->owner.no_params) {
        free_sessions += 2 * at_work;
    }
    return free_sessions > transport->pending.count ? free_sessions - transport->pending.count : 0;
}

/* ---- sockets and timers ---- */

/* Asks for EPOLLOUT only while a write is pending. */
static void poll_slot(struct pool *pool, struct slot *slot, int operation)
{
    struct epoll_event event = {.events = EPOLLIN, .data.ptr = slot};
    if (slot->session.wants_write) {
        event.events |= EPOLLOUT;
    }
    slot->polls_out = slot->session.wants_write;
    epoll_ctl(pool->epoll_fd, operation, slot->fd, &event);
}

static void update_poll(struct pool *pool, struct slot *slot)
{
    if (slot->session.channel != NULL && slot->polls_out != slot->session.wants_write) {
        poll_slot(pool, slot, EPOLL_CTL_MOD);
    }
}

static void pump(struct pool *pool, struct slot *slot)
{
    mq_smtp_session_pump(&slot->session);
    update_poll(pool, slot);
}

/* A slot that an earlier event closed has no channel; it gets a new one only between two waits. */
static void on_event(struct pool *pool, const struct epoll_event *event)
{
    struct slot *slot = event->data.ptr;
    /* Reads after an error too: a reply may still be there. */
    if (slot->session.channel != NULL && (event->events & (EPOLLIN | EPOLLERR | EPOLLHUP)) != 0) {
        mq_smtp_session_readable(&slot->session);
        update_poll(pool, slot);
    } else if (slot->session.channel != NULL) {
        pump(pool, slot);
    }
}

/* A connection that could not be opened. A rule can say that this is the relay's trouble, although
 * others may work. */
static void refused(struct pool *pool, const struct slot *slot,
                    const struct mq_connect_result *result)
{
    if (result->verdict.outcome == MQ_TROUBLE_RELAY) {
        mq_transport_in_trouble(&pool->transport, result->reason, result->verdict.wait_s);
        pool->transport.trouble.phase = "connect";
    } else {
        mq_pool_connect_failed(pool, slot->begun_ms, result->reason, result->hopeless,
                               result->verdict.wait_s);
    }
}

/* Takes connections that libcurl has opened or given up. */
static void take_connections(struct pool *pool)
{
    struct mq_connect_result result;
    while (mq_connector_take(pool->connector, &result)) {
        struct slot *slot = result.owner;
        slot->connecting = NULL;
        if (result.channel == NULL) {
            mq_smtp_set_state(&slot->session, MQ_SMTP_CLOSED);
            if (!result.again) {
                refused(pool, slot, &result);
            }
            continue;
        }
        slot->fd = result.fd;
        mq_smtp_session_ready(&slot->session, result.channel, &result.caps);
        mq_sessions_opened(&pool->sessions, mq_pool_working(pool));
        poll_slot(pool, slot, EPOLL_CTL_ADD);
        pump(pool, slot);
    }
}

static void scan_timeouts(struct pool *pool)
{
    int64_t real_ms = mq_clock_monotonic_ms();
    if (real_ms < pool->next_scan_ms) {
        return;
    }
    pool->next_scan_ms = real_ms + SCAN_MS;
    for (size_t i = 0; i < pool->connections; i++) {
        mq_smtp_session_check_timeout(&pool->slots[i].session,
                                      mq_transport_boot_ms(&pool->transport));
        update_poll(pool, &pool->slots[i]);
    }
}

/* Waits once, at most timeout_ms, and handles the events; false: a signal came. */
static bool wait_once(struct pool *pool, int64_t timeout_ms)
{
    struct epoll_event events[EVENTS_MAX];
    bool wakes = mq_pool_occupied(pool) > 0 || pool->transport.pending.count > 0;
    if (pool->transport.done.count > 0 || timeout_ms < 0) {
        timeout_ms = 0;
    } else if (wakes && timeout_ms > SCAN_MS) {
        timeout_ms = SCAN_MS;
    }
    timeout_ms = mq_connector_shorten(pool->connector, timeout_ms);
    if (pool->owner.in_state[MQ_SMTP_CONNECTING] > 0) {
        mq_connector_wait(pool->connector, pool->epoll_fd, (int)timeout_ms);
        take_connections(pool);
        timeout_ms = 0;
    }
    int n = epoll_wait(pool->epoll_fd, events, EVENTS_MAX, (int)timeout_ms);
    bool interrupted = n < 0 && errno == EINTR;
    for (int i = 0; i < n; i++) {
        on_event(pool, &events[i]);
    }
    scan_timeouts(pool);
    return !interrupted;
}

/* ---- work for the sessions ---- */

static void open_session(struct pool *pool, struct slot *slot)
{
    struct mq_error err;
    mq_smtp_session_init(&slot->session, &pool->owner);
    slot->begun_ms = mq_transport_boot_ms(&pool->transport);
    if (mq_connector_begin(pool->connector, slot, &slot->connecting, &err) == MQ_OK) {
        mq_smtp_set_state(&slot->session, MQ_SMTP_CONNECTING);
    } else {
        mq_pool_connect_failed(pool, slot->begun_ms, err.text, false, 0);
    }
}

/* Whether sessions can be opened: an account has its token. `tells`: if it cannot have one, that is
 * the relay's trouble. */
static bool may_connect(struct pool *pool, bool tells)
{
    struct mq_connect_result none = {0};
    bool may = mq_connector_may_begin(pool->connector, &none);
    mq_connector_take_news(pool->connector, pool->transport.note, sizeof pool->transport.note);
    if (tells && none.reason[0] != '\0') {
        mq_pool_connect_failed(pool, mq_transport_boot_ms(&pool->transport), none.reason,
                               none.hopeless, none.verdict.wait_s);
    }
    return may;
}

static bool op_prepare(struct mq_transport *transport)
{
    return may_connect(mq_pool_of(transport), true) || transport->troubled;
}

static void open_sessions(struct pool *pool)
{
    if (mq_pool_busy(pool) >= pool->sessions.allowed) {
        mq_sessions_raise(&pool->sessions, mq_transport_boot_ms(&pool->transport));
    }
    if (mq_clock_monotonic_ms() < pool->next_connect_ms ||
        !may_connect(pool, pool->transport.pending.count > 0)) {
        return;
    }
    const size_t *n = pool->owner.in_state;
    for (size_t i = 0; i < pool->connections && !pool->transport.troubled; i++) {
        /* The first connect shows whether the relay is there at all; more follow as sessions
         * open. */
        size_t at_once = mq_pool_working(pool) == 0 ? 1 : 2 * mq_pool_working(pool);
        at_once = at_once < CONNECTING_MAX ? at_once : CONNECTING_MAX;
        if (mq_pool_openable(pool) == 0 || n[MQ_SMTP_CONNECTING] >= at_once ||
            pool->transport.pending.count <= n[MQ_SMTP_IDLE] + n[MQ_SMTP_CONNECTING]) {
            break;
        }
        if (pool->slots[i].session.state == MQ_SMTP_CLOSED) {
            open_session(pool, &pool->slots[i]);
        }
    }
}

static void pump_those(struct pool *pool, bool (*may)(const struct mq_smtp_session *))
{
    for (size_t i = 0; i < pool->connections && pool->transport.pending.count > 0; i++) {
        if (may(&pool->slots[i].session)) {
            pump(pool, &pool->slots[i]);
        }
    }
}

/* Ends idle sessions after the number of sessions has fallen below theirs. */
static void close_surplus(struct pool *pool)
{
    for (size_t i = 0; i < pool->connections && mq_pool_working(pool) > pool->sessions.allowed;
         i++) {
        mq_smtp_session_quit(&pool->slots[i].session);
    }
}

/* Opens sessions for pending transfers, and lets open sessions take them. */
static void assign(struct pool *pool)
{
    close_surplus(pool);
    if (mq_transport_may_begin(&pool->transport)) {
        pump_those(pool, mq_smtp_session_may_begin);
        open_sessions(pool);
        pump_those(pool, mq_smtp_session_may_follow);
    }
}

static enum mq_status op_step(struct mq_transport *transport, int64_t timeout_ms,
                              struct mq_error *err)
{
    struct pool *pool = mq_pool_of(transport);
    bool troubled = transport->troubled;
    int64_t until_ms = mq_clock_monotonic_ms() + timeout_ms;
    int64_t left_ms = 0;
    (void)err;
    do {
        mq_transport_recall_in_trouble(transport);
        assign(pool);
        left_ms = until_ms - mq_clock_monotonic_ms();
    } while (wait_once(pool, left_ms) && transport->done.count == 0 &&
             transport->troubled == troubled && left_ms > 0);
    mq_transport_recall_in_trouble(transport);
    mq_pool_note_sessions(pool);
    return MQ_OK;
}

/* ---- the end ---- */

/* Gives up connections that are not open yet. */
static void cancel_connecting(struct pool *pool)
{
    for (size_t i = 0; i < pool->connections; i++) {
        struct slot *slot = &pool->slots[i];
        if (slot->connecting != NULL) {
            slot->connecting->ops->close(slot->connecting);
            slot->connecting = NULL;
            mq_smtp_set_state(&slot->session, MQ_SMTP_CLOSED);
        }
    }
}

static void close_sessions(struct pool *pool, const char *why)
{
    cancel_connecting(pool);
    for (size_t i = 0; i < pool->connections; i++) {
        if (pool->slots[i].session.channel != NULL) {
            mq_smtp_session_lost(&pool->slots[i].session, why);
        }
    }
}

/* Gives back transfers after another mail's dot and, with `envelopes`, those in state ENVELOPE. */
static void recall(struct pool *pool, bool envelopes)
{
    for (size_t i = 0; i < pool->connections; i++) {
        struct mq_smtp_session *session = &pool->slots[i].session;
        if (session->channel != NULL && (envelopes || session->state != MQ_SMTP_ENVELOPE)) {
            mq_smtp_session_recall(session);
        }
    }
}

static void op_recall(struct mq_transport *transport)
{
    recall(mq_pool_of(transport), true);
}

static void op_wind_down(struct mq_transport *transport)
{
    cancel_connecting(mq_pool_of(transport));
    recall(mq_pool_of(transport), false);
}

static void op_quit(struct mq_transport *transport, int64_t timeout_ms)
{
    struct pool *pool = mq_pool_of(transport);
    int64_t until_ms = mq_clock_monotonic_ms() + timeout_ms;
    cancel_connecting(pool);
    for (size_t i = 0; i < pool->connections; i++) {
        mq_smtp_session_quit(&pool->slots[i].session);
    }
    while (pool->owner.in_state[MQ_SMTP_QUITTING] > 0) {
        int64_t left_ms = until_ms - mq_clock_monotonic_ms();
        if (left_ms <= 0 || !wait_once(pool, left_ms)) {
            break;
        }
    }
    close_sessions(pool, "");
}

static void op_abort(struct mq_transport *transport)
{
    close_sessions(mq_pool_of(transport), "sending was stopped");
}

/* While connections are opened or awaited, libcurl and timers have something to do. */
static int op_wait_fd(const struct mq_transport *transport)
{
    const struct pool *pool = (const struct pool *)transport;
    bool opens = pool->owner.in_state[MQ_SMTP_CONNECTING] > 0 || transport->pending.count > 0;
    return opens ? -1 : pool->epoll_fd;
}

static void op_reopen(struct mq_transport *transport)
{
    struct pool *pool = mq_pool_of(transport);
    pool->owner.failures = 0;
    pool->owner.throttles = (struct mq_throttles){0};
    pool->next_connect_ms = 0;
}

static const char *op_finding(const struct mq_transport *transport)
{
    static const char *const words[] = {
        [MQ_SMTP_FOLLOW_DOT] = "dot", [MQ_SMTP_FOLLOW_NEVER] = "group"};
    const struct mq_smtp_owner *owner = &((const struct pool *)transport)->owner;
    return owner->following_fixed ? NULL : words[owner->following];
}

static void op_remember(struct mq_transport *transport, const char *finding)
{
    struct mq_smtp_owner *owner = &mq_pool_of(transport)->owner;
    if (!owner->following_fixed) {
        owner->following = strcmp(finding, "dot") == 0     ? MQ_SMTP_FOLLOW_DOT
                           : strcmp(finding, "group") == 0 ? MQ_SMTP_FOLLOW_NEVER
                                                           : MQ_SMTP_FOLLOW_TRY;
        owner->trying = false;
    }
}

static void op_free(struct mq_transport *transport)
{
    struct pool *pool = mq_pool_of(transport);
    transport->stopped = true;
    if (pool->slots != NULL) {
        close_sessions(pool, "");
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

static void init_host(struct pool *pool)
{
    enum mq_pipelining pipelining = pool->dsn.pipelining;
    pool->owner = (struct mq_smtp_owner){.transport = &pool->transport,
                                         .dsn = &pool->dsn,
                                         .next = mq_pool_next,
                                         .closed = mq_pool_closed,
                                         .crowded = mq_pool_crowded};
    if (mq_dsn_is(&pool->dsn, "lmtp")) {
        mq_hello_name(&pool->dsn, pool->name, sizeof pool->name);
        pool->owner.lhlo = pool->name;
    }
    pool->owner.following_fixed = pipelining != MQ_PIPELINING_LEARN;
    if (pool->owner.following_fixed) {
        pool->owner.following =
            pipelining == MQ_PIPELINING_DOT ? MQ_SMTP_FOLLOW_DOT : MQ_SMTP_FOLLOW_NEVER;
    }
}

enum mq_status mq_smtp_new(struct mq_dsn *dsn, const struct mq_transport_options *options,
                           struct mq_transport **out, struct mq_error *err)
{
    static const struct mq_transport_ops ops = {.prepare = op_prepare,
                                                .capacity = op_capacity,
                                                .step = op_step,
                                                .recall = op_recall,
                                                .wind_down = op_wind_down,
                                                .quit = op_quit,
                                                .abort = op_abort,
                                                .wait_fd = op_wait_fd,
                                                .reopen = op_reopen,
                                                .free = op_free,
                                                .finding = op_finding,
                                                .remember = op_remember};
    struct pool *pool = calloc(1, sizeof *pool);
    if (pool == NULL) {
        return mq_error_nomem(err);
    }
    enum mq_status status = MQ_OK;
    pool->transport.ops = &ops;
    pool->transport.clock = options->clock;
    pool->connections = (size_t)options->connections;
    mq_sessions_init(&pool->sessions, pool->connections);
    pool->epoll_fd = epoll_create1(EPOLL_CLOEXEC);
    pool->slots = calloc(pool->connections, sizeof *pool->slots);
    pool->transport.name = mq_dsn_redacted(dsn);
    pool->dsn = *dsn;
    memset(dsn, 0, sizeof(*dsn));
    init_host(pool);
    pool->owner.rules = options->verdicts;
    if (pool->slots == NULL || pool->transport.name == NULL) {
        status = mq_error_nomem(err);
    } else if (pool->epoll_fd < 0) {
        status = mq_error_set(err, MQ_IO, "", "epoll cannot be had: %s", strerror(errno));
    } else {
        status = mq_connector_new(&pool->dsn, options, &pool->connector, err);
    }
    if (status != MQ_OK) {
        mq_transport_free(&pool->transport);
        return status;
    }
    *out = &pool->transport;
    return MQ_OK;
}
