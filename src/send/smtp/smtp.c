/* The SMTP and LMTP transport: how many sessions it opens to the relay, which transfers they get,
 * and their sockets and timers. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <unistd.h>

#include "send/factory.h"
#include "send/smtp/connection.h"
#include "send/smtp/hello.h"
#include "send/smtp/internal.h"

/* The most connects under way at once; a relay's listen queue is often no longer. */
#define CONNECTING_MAX 64
#define EVENTS_MAX     256
/* How often the sessions' deadlines are checked; the timeouts are seconds. */
#define SCAN_MS 100

/* Connects in a row that fail before the relay counts as down. */
#define FAILURES_MAX 3
/* How long the pool stays small after a connect failed while other sessions worked. */
#define SHRUNK_MS 60000
/* The wait after failed connects: this times the square of their number. */
#define RECONNECT_MS 100

struct slot {
    struct mq_smtp_session session;
    struct mq_channel *connecting; /* a connection that is not open yet */
    int fd;                        /* of the open connection */
    bool polls_out;
};

struct pool {
    struct mq_transport transport; /* must be the first member: the worker casts from it */
    struct mq_smtp_owner owner;    /* the sessions' view */
    struct mq_dsn dsn;
    char name[256]; /* that LHLO says */
    int epoll_fd;
    struct mq_connector *connector;
    struct slot *slots;
    size_t connections;     /* slots */
    size_t limit;           /* sessions at once; fewer than connections after a failed connect */
    int64_t limit_until_ms; /* by the transport's clock; the two members below by the system's */
    int64_t next_connect_ms;
    int64_t next_scan_ms;
    bool recalled; /* the recall because of trouble is done */
};

static struct pool *pool_of(struct mq_transport *transport)
{
    return (struct pool *)transport;
}

static struct pool *owner_pool(struct mq_smtp_owner *owner)
{
    return pool_of(owner->transport);
}

/* ---- how many sessions ---- */

static size_t busy(const struct pool *pool)
{
    const size_t *n = pool->owner.in_state;
    return n[MQ_SMTP_ENVELOPE] + n[MQ_SMTP_BODY] + n[MQ_SMTP_AWAITING];
}

static size_t working(const struct pool *pool)
{
    return busy(pool) + pool->owner.in_state[MQ_SMTP_IDLE];
}

/* Sessions that are not closed. */
static size_t occupied(const struct pool *pool)
{
    const size_t *n = pool->owner.in_state;
    return working(pool) + n[MQ_SMTP_CONNECTING] + n[MQ_SMTP_QUITTING];
}

static size_t openable(const struct pool *pool)
{
    size_t taken = occupied(pool);
    return taken < pool->limit ? pool->limit - taken : 0;
}

static size_t op_capacity(const struct mq_transport *transport, bool just_in_time)
{
    const struct pool *pool = (const struct pool *)transport;
    size_t at_work = busy(pool);
    size_t free_sessions = at_work < pool->limit ? pool->limit - at_work : 0;
    /* Each mail under way can have an envelope after its dot. One more mail waits until the body
     * of that envelope goes out: then that body and the next envelope leave in one write. */
    if (!just_in_time && pool->owner.pipelining && pool->owner.following != MQ_SMTP_FOLLOW_NEVER &&
        !pool->owner.no_params) {
        free_sessions += 2 * at_work;
    }
    return free_sessions > transport->pending.count ? free_sessions - transport->pending.count : 0;
}

static void connect_failed(struct pool *pool, const char *reason, bool hopeless,
                           int64_t retry_after_s)
{
    size_t connecting = pool->owner.in_state[MQ_SMTP_CONNECTING];
    if (working(pool) > 0) {
        /* The relay seems to take no more sessions than these now. */
        pool->limit = working(pool) + connecting;
        pool->limit_until_ms = mq_transport_boot_ms(&pool->transport) + SHRUNK_MS;
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

static struct mq_transfer *next_transfer(struct mq_smtp_owner *owner, bool behind)
{
    struct pool *pool = owner_pool(owner);
    if (!mq_transport_may_begin(&pool->transport)) {
        return NULL;
    }
    struct mq_transfer *before = NULL;
    if (behind) {
        /* A separate session is quicker for a mail than waiting after another mail's dot. */
        size_t first = owner->in_state[MQ_SMTP_IDLE] + owner->in_state[MQ_SMTP_CONNECTING];
        if (pool->transport.pending.count <= first + openable(pool)) {
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
static void session_closed(struct mq_smtp_owner *owner, struct mq_smtp_session *session,
                           const char *why)
{
    struct pool *pool = owner_pool(owner);
    struct slot *slot = (struct slot *)session;
    /* close() is not enough: epoll keeps a socket that a forked child still has open. */
    epoll_ctl(pool->epoll_fd, EPOLL_CTL_DEL, slot->fd, NULL);
    if (why[0] != '\0' && session->decided == 0 && !pool->transport.stopped) {
        connect_failed(pool, why, false, 0);
    }
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

/* Takes connections that libcurl has opened or given up. */
static void take_connections(struct pool *pool)
{
    struct mq_connect_result result;
    while (mq_connector_take(pool->connector, &result)) {
        struct slot *slot = result.owner;
        slot->connecting = NULL;
        if (result.channel == NULL) {
            mq_smtp_set_state(&slot->session, MQ_SMTP_CLOSED);
            connect_failed(pool, result.reason, result.hopeless, result.retry_after_s);
            continue;
        }
        slot->fd = result.fd;
        mq_smtp_session_ready(&slot->session, result.channel, &result.caps);
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
    bool wakes = occupied(pool) > 0 || pool->transport.pending.count > 0;
    if (pool->transport.done.count > 0 || timeout_ms < 0) {
        timeout_ms = 0;
    } else if (wakes && timeout_ms > SCAN_MS) {
        timeout_ms = SCAN_MS;
    }
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
    if (mq_connector_begin(pool->connector, slot, &slot->connecting, &err) == MQ_OK) {
        mq_smtp_set_state(&slot->session, MQ_SMTP_CONNECTING);
    } else {
        connect_failed(pool, err.text, false, 0);
    }
}

static void open_sessions(struct pool *pool)
{
    if (pool->limit < pool->connections &&
        mq_transport_boot_ms(&pool->transport) >= pool->limit_until_ms) {
        pool->limit = pool->connections;
    }
    if (mq_clock_monotonic_ms() < pool->next_connect_ms) {
        return;
    }
    const size_t *n = pool->owner.in_state;
    for (size_t i = 0; i < pool->connections && !pool->transport.troubled; i++) {
        /* The first connect shows whether the relay is there at all; more follow as sessions
         * open. */
        size_t at_once = working(pool) == 0 ? 1 : 2 * working(pool);
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

static void pump_those(struct pool *pool, bool (*may)(const struct mq_smtp_session *))
{
    for (size_t i = 0; i < pool->connections && pool->transport.pending.count > 0; i++) {
        if (may(&pool->slots[i].session)) {
            pump(pool, &pool->slots[i]);
        }
    }
}

/* Opens sessions for pending transfers, and lets open sessions take them. */
static void assign(struct pool *pool)
{
    if (mq_transport_may_begin(&pool->transport)) {
        pump_those(pool, mq_smtp_session_may_begin);
        open_sessions(pool);
        pump_those(pool, mq_smtp_session_may_follow);
    }
}

/* On trouble, takes back all transfers that can be taken back; only once. */
static void recall_in_trouble(struct pool *pool)
{
    if (pool->transport.troubled && !pool->recalled) {
        pool->recalled = true;
        mq_transport_recall(&pool->transport);
    }
}

static enum mq_status op_step(struct mq_transport *transport, int64_t timeout_ms,
                              struct mq_error *err)
{
    struct pool *pool = pool_of(transport);
    bool troubled = transport->troubled;
    int64_t until_ms = mq_clock_monotonic_ms() + timeout_ms;
    int64_t left_ms = 0;
    (void)err;
    do {
        recall_in_trouble(pool);
        assign(pool);
        left_ms = until_ms - mq_clock_monotonic_ms();
    } while (wait_once(pool, left_ms) && transport->done.count == 0 &&
             transport->troubled == troubled && left_ms > 0);
    recall_in_trouble(pool);
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
    recall(pool_of(transport), true);
}

static void op_wind_down(struct mq_transport *transport)
{
    cancel_connecting(pool_of(transport));
    recall(pool_of(transport), false);
}

static void op_quit(struct mq_transport *transport, int64_t timeout_ms)
{
    struct pool *pool = pool_of(transport);
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
    close_sessions(pool_of(transport), "sending was stopped");
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
    struct mq_smtp_owner *owner = &pool_of(transport)->owner;
    if (!owner->following_fixed) {
        owner->following = strcmp(finding, "dot") == 0     ? MQ_SMTP_FOLLOW_DOT
                           : strcmp(finding, "group") == 0 ? MQ_SMTP_FOLLOW_NEVER
                                                           : MQ_SMTP_FOLLOW_TRY;
        owner->trying = false;
    }
}

static void op_free(struct mq_transport *transport)
{
    struct pool *pool = pool_of(transport);
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
                                         .next = next_transfer,
                                         .closed = session_closed};
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
    static const struct mq_transport_ops ops = {.capacity = op_capacity,
                                                .step = op_step,
                                                .recall = op_recall,
                                                .wind_down = op_wind_down,
                                                .quit = op_quit,
                                                .abort = op_abort,
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
    pool->connections = pool->limit = (size_t)options->connections;
    pool->epoll_fd = epoll_create1(EPOLL_CLOEXEC);
    pool->slots = calloc(pool->connections, sizeof *pool->slots);
    pool->transport.name = mq_dsn_redacted(dsn);
    pool->dsn = *dsn;
    memset(dsn, 0, sizeof(*dsn));
    init_host(pool);
    if (pool->slots == NULL || pool->transport.name == NULL) {
        status = mq_error_nomem(err);
    } else if (pool->epoll_fd < 0) {
        status = mq_error_set(err, MQ_IO, "", "epoll cannot be had: %s", strerror(errno));
    } else {
        status = mq_connector_new(&pool->dsn, options->trace, &pool->connector, err);
    }
    if (status != MQ_OK) {
        mq_transport_free(&pool->transport);
        return status;
    }
    *out = &pool->transport;
    return MQ_OK;
}
