/* The sink's process: its socket, its signals and its event loop. */
#include <errno.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "conn.h"

enum { EVENTS = 512 };

static void raise_file_limit(void)
{
    struct rlimit limit;
    if (getrlimit(RLIMIT_NOFILE, &limit) == 0) {
        limit.rlim_cur = limit.rlim_max;
        setrlimit(RLIMIT_NOFILE, &limit);
    }
}

static int listen_open(const struct options *o, int *port)
{
    struct addrinfo hints = {.ai_flags = AI_NUMERICHOST | AI_NUMERICSERV | AI_PASSIVE,
                             .ai_socktype = SOCK_STREAM};
    struct addrinfo *address = NULL;
    char service[16];
    snprintf(service, sizeof service, "%d", o->port);
    if (getaddrinfo(o->host, service, &hints, &address) != 0) {
        fail(64, "--host: not a numeric address: '%s'", o->host);
    }
    int fd = socket(address->ai_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    int on = 1;
    setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
    setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on); /* accepted sockets inherit it */
    if (o->receive_buffer > 0) {
        setsockopt(fd, SOL_SOCKET, SO_RCVBUF, &o->receive_buffer, sizeof o->receive_buffer);
    }
    if (fd < 0 || bind(fd, address->ai_addr, address->ai_addrlen) != 0 ||
        listen(fd, o->backlog) != 0) {
        fail(69, "%s port %d: %s", o->host, o->port, strerror(errno));
    }
    freeaddrinfo(address);
    struct sockaddr_storage bound;
    socklen_t length = sizeof bound;
    getsockname(fd, (struct sockaddr *)&bound, &length);
    *port = ntohs(bound.ss_family == AF_INET6 ? ((struct sockaddr_in6 *)(void *)&bound)->sin6_port
                                              : ((struct sockaddr_in *)(void *)&bound)->sin_port);
    return fd;
}

/* Returns a descriptor that reports signals, so that no handler interrupts the loop. */
static int signals_open(void)
{
    static const int wanted[] = {SIGTERM, SIGINT, SIGHUP, SIGUSR1};
    sigset_t set;
    sigemptyset(&set);
    for (size_t i = 0; i < sizeof wanted / sizeof wanted[0]; i++) {
        sigaddset(&set, wanted[i]);
    }
    sigprocmask(SIG_BLOCK, &set, NULL);
    signal(SIGPIPE, SIG_IGN);
    return signalfd(-1, &set, SFD_NONBLOCK | SFD_CLOEXEC);
}

static void watch_file(struct sink *sink, int fd, void *tag)
{
    struct epoll_event event = {.events = EPOLLIN, .data.ptr = tag};
    if (epoll_ctl(sink->epoll, EPOLL_CTL_ADD, fd, &event) != 0) {
        fail(71, "epoll: %s", strerror(errno));
    }
}

/* If a script has an error, the previous one stays in force. */
static void reload(struct sink *sink)
{
    char error[256];
    if (sink->options.script == NULL) {
        log_reload(sink, 0, "no --script");
        return;
    }
    struct script *script = script_load(sink->options.script, error);
    if (script == NULL) {
        fprintf(stderr, "mq-sink: %s: %s\n", sink->options.script, error);
        log_reload(sink, 0, error);
        return;
    }
    script->older = sink->script;
    sink->script = script;
    sink->counters.reloads++;
    conn_rearm_idle();
    log_reload(sink, script->count, NULL);
}

/* False: it is time to end. */
static bool on_signal(struct sink *sink, int fd)
{
    struct signalfd_siginfo info;
    while (read(fd, &info, sizeof info) == (ssize_t)sizeof info) {
        if (info.ssi_signo == SIGHUP) {
            reload(sink);
        } else if (info.ssi_signo == SIGUSR1) {
            log_stats(sink);
        } else {
            return false;
        }
    }
    return true;
}

/* More precise than epoll_wait()'s milliseconds, which would round every delay up. */
static int wait_events(const struct sink *sink, struct epoll_event *events)
{
    const struct timer *first = timer_first();
    if (first == NULL) {
        return epoll_wait(sink->epoll, events, EVENTS, -1);
    }
    int64_t left_ns = first->at_ns - clock_monotonic_ns();
    left_ns = left_ns > 0 ? left_ns : 0;
    struct timespec timeout = {.tv_sec = left_ns / 1000000000, .tv_nsec = left_ns % 1000000000};
    int n = epoll_pwait2(sink->epoll, events, EVENTS, &timeout, NULL);
    if (n < 0 && errno == ENOSYS) { /* Linux before 5.11 */
        n = epoll_wait(sink->epoll, events, EVENTS, (int)((left_ns + 999999) / 1000000));
    }
    return n;
}

static void run_timers(void)
{
    int64_t now_ns = clock_monotonic_ns();
    struct timer *timer;
    while ((timer = timer_first()) != NULL && timer->at_ns <= now_ns) {
        conn_on_timer((struct conn *)(void *)timer);
    }
}

static void run(struct sink *sink, int signals)
{
    static struct epoll_event events[EVENTS];
    for (;;) {
        bool accepts = false;
        int n = wait_events(sink, events);
        if (n < 0 && errno != EINTR) {
            fail(71, "epoll: %s", strerror(errno));
        }
        for (int i = 0; i < n; i++) {
            if (events[i].data.ptr == sink) {
                accepts = true;
            } else if (events[i].data.ptr != &sink->listener) {
                conn_on_event(events[i].data.ptr, events[i].events);
            } else if (!on_signal(sink, signals)) {
                return;
            }
        }
        run_timers();
        if (accepts) {
            conn_accept(sink);
        }
        conn_reap();
    }
}

int main(int argc, char **argv)
{
    static struct sink sink;
    char error[256], text[16];
    int port = 0;
    options_parse(&sink.options, argc, argv);
    const struct options *o = &sink.options;
    if (o->die_with_parent) {
        prctl(PR_SET_PDEATHSIG, SIGTERM);
    }
    raise_file_limit();
    sink.random = (uint64_t)o->seed;
    if (o->script != NULL && (sink.script = script_load(o->script, error)) == NULL) {
        fail(78, "%s: %s", o->script, error);
    }
    if (!tls_open(&sink)) {
        fail(78, "TLS: certificate or key cannot be used (or built without OpenSSL)");
    }
    log_open(&sink);
    sink.epoll = epoll_create1(EPOLL_CLOEXEC);
    int signals = signals_open();
    sink.listener = listen_open(o, &port);
    watch_file(&sink, sink.listener, &sink);
    watch_file(&sink, signals, &sink.listener);
    int length = snprintf(text, sizeof text, "%d\n", port);
    if (o->port_file != NULL && !file_replace(o->port_file, text, (size_t)length)) {
        fail(73, "%s: cannot be written", o->port_file);
    }
    run(&sink, signals);
    log_stats(&sink);
    return 0;
}
