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

/* pool.c: how many sessions, and what they ask */
void mq_smtp_pool_init_host(struct mq_smtp_pool *pool); /* the functions that sessions call */
size_t mq_smtp_pool_occupied(const struct mq_smtp_pool *pool); /* sessions not closed */
size_t mq_smtp_pool_working(const struct mq_smtp_pool *pool);  /* … of these: open */
size_t mq_smtp_pool_openable(const struct mq_smtp_pool *pool); /* that may still be opened */
void mq_smtp_pool_connect_failed(struct mq_smtp_pool *pool, const struct mq_connect_result *result);

/* loop.c: sockets and timers */
void mq_smtp_loop_pump(struct mq_smtp_pool *pool, struct mq_smtp_slot *slot);
/* One wait of at most timeout_ms and all that it brought; false: a signal came. */
bool mq_smtp_loop_step(struct mq_smtp_pool *pool, int64_t timeout_ms);

/* assign.c: opens sessions for what waits, and lets open ones take it. */
void mq_smtp_assign(struct mq_smtp_pool *pool);

#endif
