/* The SMTP transport: sessions to one relay, and what waits for them. */
#ifndef MQ_SEND_SMTP_POOL_H
#define MQ_SEND_SMTP_POOL_H

#include "send/dsn.h"
#include "send/smtp/connection.h"
#include "send/smtp/session.h"
#include "send/smtp/smtp.h"

struct mq_smtp_slot {
    struct mq_smtp_session session;
    struct mq_link *link; /* while connecting */
    int fd;               /* once open */
    uint32_t generation; /* counts the connections of this slot: events of earlier ones are stale */
    bool polls_out;
};

struct mq_smtp_pool {
    struct mq_transport transport; /* first: the worker's view */
    struct mq_smtp_host host;      /* the sessions' view */
    struct mq_dsn dsn;
    int epoll_fd;
    struct mq_connector *connector;
    struct mq_smtp_slot *slots;
    size_t connections;     /* slots */
    size_t limit;           /* sessions at once; fewer than connections after a refused connect */
    int64_t limit_until_ms; /* by the mails' clock; the two below in real time */
    int64_t next_connect_ms;
    int64_t next_scan_ms;
    int failures;  /* connects in a row that came to nothing */
    bool recalled; /* what trouble brought back was brought back */
};

static inline struct mq_smtp_pool *mq_smtp_pool_of(struct mq_smtp_host *host)
{
    return (struct mq_smtp_pool *)((char *)host - offsetof(struct mq_smtp_pool, host));
}

/* Boot time by the mails' clock. */
static inline int64_t mq_smtp_pool_now(const struct mq_smtp_pool *pool)
{
    return pool->host.clock.boot_ms(pool->host.clock.context);
}

/* How many sessions are open. */
size_t mq_smtp_pool_working(const struct mq_smtp_pool *pool);
/* How many may still be opened. */
size_t mq_smtp_pool_openable(const struct mq_smtp_pool *pool);
void mq_smtp_pool_connect_failed(struct mq_smtp_pool *pool, const char *reason, bool hopeless,
                                 int64_t retry_after_s);
/* Lets a session write, and polls its socket for what it waits for. */
void mq_smtp_pool_pump(struct mq_smtp_pool *pool, struct mq_smtp_slot *slot);
/* Waits once, at most timeout_ms, and does what came; false: a signal came. */
bool mq_smtp_pool_wait(struct mq_smtp_pool *pool, int64_t timeout_ms);
/* The functions that sessions call. */
extern const struct mq_smtp_host mq_smtp_pool_host;

#endif
