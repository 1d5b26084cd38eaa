/* mq-sink: a scripted SMTP server for tests, fault injection and benchmarks. One thread, one epoll
 * loop. Shared by the modules: options, counters, small tools. */
#ifndef MQ_SINK_H
#define MQ_SINK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

struct conn;
struct script;

/* Capabilities of the EHLO reply; the order is that of the reply's lines. */
enum capability {
    CAP_PIPELINING = 1,
    CAP_8BITMIME = 2,
    CAP_SMTPUTF8 = 4,
    CAP_SIZE = 8,
    CAP_ENHANCED = 16,
    CAP_STARTTLS = 32,
    CAP_AUTH = 64,
};

/* A range, including both ends. */
struct range {
    int64_t from, to;
};

struct buffer {
    char *data;
    size_t length, capacity;
};

struct options {
    const char *host, *hostname, *port_file, *log, *transcript, *script, *save_dir, *stats_file;
    const char *auth_user, *auth_password, *auth_mechanisms;
    const char *certificate, *key, *tls_version;
    int port, backlog, receive_buffer;
    struct range delay_dot_ms;
    int64_t max_connections, max_mails, max_recipients, size; /* 0: no limit */
    unsigned capabilities;
    int64_t seed;
    bool smtps, require_auth, require_tls, auth_tls_only, decide_late, stats, die_with_parent;
};

struct counters {
    uint64_t connections, open, peak, mails, recipients, bytes, violations, refused, reloads;
};

struct sink {
    struct options options;
    struct counters counters;
    int epoll, listener, log, transcript;
    uint64_t saved; /* number of the last stored message */
    struct script *script;
    void *tls; /* SSL_CTX, NULL: no TLS */
    uint64_t random;
    int64_t now_ns; /* CLOCK_MONOTONIC at the start of this turn of the loop */
};

/* options.c. Exits with 64 on a wrong option and with 0 after --help. */
void options_parse(struct options *options, int argc, char **argv);
/* "5" or "5-10"; "5-" has no end. */
bool range_parse(const char *text, struct range *range);
bool number_parse(const char *text, int64_t *number);

/* util.c */
void buffer_add(struct buffer *buffer, const char *data, size_t length);
void buffer_free(struct buffer *buffer);
/* Writes through a temporary name, so that a reader sees the whole file or none. */
bool file_replace(const char *path, const char *data, size_t length);
int64_t clock_monotonic_ns(void);
/* Uniform in [range.from, range.to]. */
int64_t random_in(uint64_t *state, struct range range);
uint64_t random_next(uint64_t *state);
void *memory(void *old, size_t size);
char *text_copy(const char *text, size_t length);
_Noreturn void fail(int code, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* log.c: the lines' formats are in README.md and --help. */
void log_open(struct sink *sink);
void log_accepted(const struct conn *c);
void log_violation(struct conn *c, const char *kind, const char *detail);
void log_reload(struct sink *sink, size_t rules, const char *error);
/* direction: '<' from the client, '>' to it, '*' an event. */
void log_transcript(const struct conn *c, char direction, const char *text, size_t length);
void log_stats(const struct sink *sink);
void message_save(struct conn *c);

/* timer.c: a binary heap; one timer a connection. */
struct timer {
    int64_t at_ns;
    size_t slot; /* 0: not armed */
};
void timer_set(struct timer *timer, int64_t at_ns);
void timer_cancel(struct timer *timer);
/* The earliest one; NULL: none. */
struct timer *timer_first(void);

/* tls.c: n > 0, 0 at the end of the stream, -1 with errno EAGAIN or another errno. */
bool tls_open(struct sink *sink);
bool tls_start(struct conn *c);
int tls_handshake(struct conn *c);
long tls_read(struct conn *c, char *data, size_t length);
long tls_write(struct conn *c, const char *data, size_t length);
void tls_close(struct conn *c, bool notify);

#endif
