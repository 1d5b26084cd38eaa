/* Sockets, buffers and timers: when a connection reads, writes, waits and ends. */
#include "conn.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

enum { DRAIN_MS = 5000, OUT_KEEP = 65536 };

static struct conn *newest, *closed, *spare;

void conn_arm(struct conn *c, enum timer_kind kind, int64_t delay_ms)
{
    c->timer_kind = kind;
    timer_set(&c->timer, clock_monotonic_ns() + delay_ms * 1000000);
}

static void event_line(const struct conn *c, const char *text)
{
    log_transcript(c, '*', text, strlen(text));
}

void conn_close(struct conn *c)
{
    if (c->mode == MODE_CLOSED) {
        return;
    }
    event_line(c, "closed");
    timer_cancel(&c->timer);
    tls_close(c, false);
    close(c->fd);
    c->mode = MODE_CLOSED;
    c->sink->counters.open--;
    *(c->newer != NULL ? &c->newer->older : &newest) = c->older;
    if (c->older != NULL) {
        c->older->newer = c->newer;
    }
    c->next = closed;
    closed = c;
}

bool conn_peer_gone(const struct conn *c)
{
    char byte;
    ssize_t n = recv(c->fd, &byte, 1, MSG_PEEK);
    return n == 0 || (n < 0 && errno != EAGAIN);
}

static void keep_small(struct buffer *buffer)
{
    buffer->length = 0;
    if (buffer->capacity > OUT_KEEP) {
        buffer_free(buffer);
    }
}

void conn_reap(void)
{
    while (closed != NULL) {
        struct conn *c = closed;
        closed = c->next;
        keep_small(&c->out);
        keep_small(&c->message.text);
        keep_small(&c->mail.recipients);
        c->next = spare;
        spare = c;
    }
}

static struct conn *conn_new(struct sink *sink, int fd)
{
    struct buffer out = {0}, text = {0}, recipients = {0};
    struct conn *c = spare;
    if (c != NULL) {
        spare = c->next;
        out = c->out;
        text = c->message.text;
        recipients = c->mail.recipients;
    } else {
        c = memory(NULL, sizeof *c);
    }
    /* Not the whole struct: the input buffer need not be zero, and is most of it. */
    memset(c, 0, offsetof(struct conn, in));
    memset((char *)c + offsetof(struct conn, in_start), 0,
           sizeof *c - offsetof(struct conn, in_start));
    c->out = out;
    c->message.text = text;
    c->mail.recipients = recipients;
    c->sink = sink;
    c->fd = fd;
    c->older = newest;
    if (newest != NULL) {
        newest->newer = c;
    }
    newest = c;
    struct counters *n = &sink->counters;
    c->number = ++n->connections;
    n->open++;
    n->peak = n->open > n->peak ? n->open : n->peak;
    return c;
}

void conn_act(struct conn *c, enum action action)
{
    struct linger now = {.l_onoff = 1, .l_linger = 0};
    switch (action) {
    case ACTION_NONE:
    case ACTION_KEEP:
        c->held = false;
        break;
    case ACTION_CLOSE:
        tls_close(c, true);
        shutdown(c->fd, SHUT_WR);
        c->mode = MODE_DRAINING;
        conn_arm(c, TIMER_DRAIN, DRAIN_MS);
        break;
    case ACTION_DROP:
        conn_close(c);
        break;
    case ACTION_RESET:
        event_line(c, "reset");
        setsockopt(c->fd, SOL_SOCKET, SO_LINGER, &now, sizeof now);
        conn_close(c);
        break;
    case ACTION_STALL:
        event_line(c, "stalled");
        c->mode = MODE_STALLED;
        break;
    case ACTION_STOP_READING:
        event_line(c, "reads no more");
        c->mode = MODE_STOPPED;
        break;
    }
}

/* The output is sent: does what the rule asked for next. */
static void output_done(struct conn *c)
{
    int64_t delay_ms = c->rule != NULL ? random_in(&c->sink->random, c->rule->then_delay_ms) : 0;
    c->has_after = false;
    if (delay_ms > 0) {
        conn_arm(c, TIMER_THEN, delay_ms);
        return;
    }
    conn_act(c, c->after);
    if (c->start_tls && c->mode == MODE_ACTIVE) {
        c->start_tls = false;
        c->held = false;
        if (!tls_start(c)) {
            conn_close(c);
        }
    }
}

static bool timer_runs(const struct conn *c, enum timer_kind kind)
{
    return c->timer.slot != 0 && c->timer_kind == kind;
}

static void conn_flush(struct conn *c)
{
    int64_t split = c->has_after && c->rule != NULL ? c->rule->split : 0;
    if (timer_runs(c, TIMER_SPLIT)) {
        return;
    }
    while (c->out_sent < c->out.length) {
        size_t length = c->out.length - c->out_sent;
        if (split > 0 && length > (size_t)split) {
            length = (size_t)split;
        }
        long n = tls_write(c, c->out.data + c->out_sent, length);
        if (n < 0) {
            if (errno != EAGAIN) {
                conn_close(c);
            }
            return;
        }
        c->out_sent += (size_t)n;
        if (split > 0 && c->out_sent < c->out.length) {
            conn_arm(c, TIMER_SPLIT, c->rule->split_ms);
            return;
        }
    }
    keep_small(&c->out);
    c->out_sent = 0;
    if (c->has_after && !c->reply_pending) {
        output_done(c);
    }
}

/* A NUL ends the line in place. False: the line is not complete yet. */
static bool process_line(struct conn *c)
{
    char *line = c->in + c->in_start;
    size_t have = c->in_end - c->in_start;
    char *newline = memchr(line, '\n', have);
    if (newline == NULL) {
        if (have >= COMMAND_MAX) {
            c->skip_line = true;
            c->in_start = c->in_end = 0;
        }
        return false;
    }
    size_t length = (size_t)(newline - line);
    c->in_start += length + 1;
    if (c->skip_line || length > COMMAND_MAX) {
        c->skip_line = false;
        log_violation(c, "long-command", "");
        reply_plain(c, "500 5.5.2 line too long");
        return true;
    }
    smtp_line(c, line, length);
    return true;
}

static void process_data(struct conn *c)
{
    bool done = false;
    struct event event = {.stage = STAGE_BODY, .argument = "", .body_before = c->message.received};
    c->in_start += message_feed(c, c->in + c->in_start, c->in_end - c->in_start, &done);
    event.body_now = c->message.received;
    if (done) {
        c->phase = PHASE_COMMAND;
    }
    if (c->sink->script != NULL && c->sink->script->stages[STAGE_BODY] && reply_fault(c, &event)) {
        if (done) {
            smtp_end_transaction(c);
        }
        return;
    }
    if (done) {
        message_end(c);
        smtp_dot(c);
    }
}

static void process(struct conn *c)
{
    while (c->mode == MODE_ACTIVE && !c->held && c->in_start < c->in_end) {
        if (c->phase == PHASE_HANDSHAKE) {
            return;
        }
        if (c->phase == PHASE_DATA) {
            process_data(c);
        } else if (!process_line(c)) {
            return;
        }
    }
}

static bool output_waits(const struct conn *c)
{
    return c->out_sent < c->out.length;
}

static bool wants_input(const struct conn *c)
{
    return c->mode == MODE_ACTIVE && !c->held && !output_waits(c);
}

/* False: nothing came. */
static bool fill(struct conn *c)
{
    if (c->in_start == c->in_end) {
        c->in_start = c->in_end = 0;
    } else if (c->in_start > 0) {
        memmove(c->in, c->in + c->in_start, c->in_end - c->in_start);
        c->in_end -= c->in_start;
        c->in_start = 0;
    }
    size_t room = sizeof c->in - c->in_end;
    long n = tls_read(c, c->in + c->in_end, room);
    if (n > 0) {
        c->in_end += (size_t)n;
        c->can_read = c->ssl != NULL || (size_t)n == room;
        if (timer_runs(c, TIMER_IDLE)) {
            timer_cancel(&c->timer);
        }
        return true;
    }
    c->can_read = false;
    if (n == 0 || errno != EAGAIN) {
        event_line(c, n == 0 ? "end of stream" : "read error");
        conn_close(c);
    }
    return false;
}

static void handshake(struct conn *c)
{
    int state = tls_handshake(c);
    if (state < 0) {
        event_line(c, "TLS handshake failed");
        conn_close(c);
        return;
    }
    if (state == 0) {
        return;
    }
    event_line(c, "TLS");
    c->phase = PHASE_COMMAND;
    c->can_read = true;
    smtp_forget(c);
    if (c->sink->options.smtps) {
        smtp_greet(c);
    }
}

static void watch_idle(struct conn *c)
{
    if (c->mode != MODE_ACTIVE || c->held || c->phase != PHASE_COMMAND || c->mail.open ||
        c->timer.slot != 0) {
        return;
    }
    int64_t next_ms = script_next_idle(c->sink->script, 0);
    if (next_ms >= 0) {
        c->idle_since_ns = clock_monotonic_ns();
        conn_arm(c, TIMER_IDLE, next_ms);
    }
}

void conn_rearm_idle(void)
{
    for (struct conn *c = newest; c != NULL; c = c->older) {
        if (timer_runs(c, TIMER_IDLE)) {
            timer_cancel(&c->timer);
        }
        watch_idle(c);
    }
}

/* An event that is no longer needed is unregistered only when it fires, because most never do. */
static void watch(struct conn *c, uint32_t fired)
{
    uint32_t events = 0;
    if (c->mode == MODE_CLOSED) {
        return;
    }
    if (c->mode == MODE_STOPPED) {
        events = EPOLLRDHUP;
    } else if (c->mode != MODE_ACTIVE || wants_input(c)) {
        events = EPOLLIN;
    }
    if ((output_waits(c) && !timer_runs(c, TIMER_SPLIT)) ||
        (c->mode == MODE_ACTIVE && c->tls_wants_write)) {
        events |= EPOLLOUT;
    }
    if ((events & ~c->registered) != 0 || (fired & c->registered & ~events) != 0) {
        struct epoll_event event = {.events = events, .data.ptr = c};
        epoll_ctl(c->sink->epoll, EPOLL_CTL_MOD, c->fd, &event);
        c->registered = events;
    }
}

static void pump(struct conn *c, uint32_t fired)
{
    for (;;) {
        if (c->phase == PHASE_HANDSHAKE && c->mode == MODE_ACTIVE && !c->held) {
            handshake(c);
        }
        process(c);
        bool held = c->held;
        if (c->mode == MODE_ACTIVE) {
            conn_flush(c);
        }
        if (held && !c->held && c->mode == MODE_ACTIVE) {
            continue;
        }
        if (!wants_input(c) || !c->can_read || c->phase == PHASE_HANDSHAKE || !fill(c)) {
            break;
        }
    }
    watch_idle(c);
    watch(c, fired);
}

/* Reads for a connection whose input does not matter any more. */
static void discard(struct conn *c)
{
    char waste[65536];
    ssize_t n = recv(c->fd, waste, sizeof waste, 0);
    if (n == 0 || (n < 0 && errno != EAGAIN)) {
        conn_close(c);
    }
}

void conn_on_event(struct conn *c, uint32_t events)
{
    switch (c->mode) {
    case MODE_CLOSED:
        return;
    case MODE_STALLED:
    case MODE_DRAINING:
        discard(c);
        watch(c, events);
        return;
    case MODE_STOPPED:
        conn_close(c);
        return;
    case MODE_ACTIVE:
        break;
    }
    if ((events & (EPOLLERR | EPOLLHUP)) != 0 && c->held) {
        event_line(c, "gone before the reply");
        conn_close(c);
        return;
    }
    if ((events & (EPOLLIN | EPOLLERR | EPOLLHUP)) != 0) {
        c->can_read = true;
    }
    pump(c, events);
}

static void idle_due(struct conn *c)
{
    int64_t idle_ms = (clock_monotonic_ns() - c->idle_since_ns) / 1000000;
    struct event event = {.stage = STAGE_IDLE, .argument = "", .idle_ms = idle_ms};
    if (reply_fault(c, &event)) {
        return;
    }
    int64_t next_ms = script_next_idle(c->sink->script, idle_ms);
    if (next_ms >= 0) {
        conn_arm(c, TIMER_IDLE, next_ms - idle_ms);
    }
}

void conn_on_timer(struct conn *c)
{
    timer_cancel(&c->timer);
    switch (c->timer_kind) {
    case TIMER_REPLY:
        reply_deliver(c);
        break;
    case TIMER_THEN:
        c->rule = NULL;
        output_done(c);
        break;
    case TIMER_IDLE:
        idle_due(c);
        break;
    case TIMER_DRAIN:
        conn_close(c);
        return;
    case TIMER_SPLIT:
        break;
    }
    if (c->mode != MODE_CLOSED) {
        pump(c, 0);
    }
}

static void conn_begin(struct conn *c)
{
    struct event event = {.stage = STAGE_ACCEPT, .argument = ""};
    struct epoll_event interest = {.events = EPOLLIN, .data.ptr = c};
    c->registered = EPOLLIN;
    epoll_ctl(c->sink->epoll, EPOLL_CTL_ADD, c->fd, &interest);
    event_line(c, "connected");
    smtp_forget(c);
    c->phase = PHASE_COMMAND;
    if (!reply_fault(c, &event)) {
        if (c->sink->options.smtps) {
            if (!tls_start(c)) {
                conn_close(c);
                return;
            }
        } else {
            smtp_greet(c);
        }
    }
    pump(c, 0);
}

void conn_accept(struct sink *sink)
{
    for (;;) {
        int fd = accept4(sink->listener, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC);
        if (fd < 0) {
            return;
        }
        conn_begin(conn_new(sink, fd));
    }
}
