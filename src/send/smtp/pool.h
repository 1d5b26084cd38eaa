/* The pool of a relay's sessions: smtp.c moves it on, pool.c decides how many sessions there are
 * and which transfers they get. */
#ifndef MQ_SEND_SMTP_POOL_H
#define MQ_SEND_SMTP_POOL_H

#include "policy/session_limit.h"
#include "send/dsn.h"
#include "send/smtp/connection.h"
#include "send/smtp/session.h"

struct slot {
    struct mq_smtp_session session;
    struct mq_channel *connecting; /* a connection that is not open yet */
    int64_t begun_ms;              /* when the connect began, by the transport's clock */
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
    size_t connections;          /* slots */
    struct mq_sessions sessions; /* how many of them are used; by the transport's clock */
    int64_t next_connect_ms;     /* this and the next by the system's clock */
    int64_t next_scan_ms;
    char reason[MQ_TARGET_REPLY_MAX]; /* why there are fewer sessions */
    bool noted_fewer;                 /* the worker knows that there are */
};

static inline struct pool *mq_pool_of(struct mq_transport *transport)
{
    return (struct pool *)transport;
}

size_t mq_pool_busy(const struct pool *pool);
size_t mq_pool_working(const struct pool *pool);  /* busy or idle */
size_t mq_pool_occupied(const struct pool *pool); /* not closed */
size_t mq_pool_openable(const struct pool *pool); /* how many more may be opened */

/* A connect that began at begun_ms failed, or a session was of no use. While others work, the relay
 * takes no more sessions than those, whatever it says. */
void mq_pool_connect_failed(struct pool *pool, int64_t begun_ms, const char *reason, bool hopeless,
                            int64_t retry_after_s);
/* Notes for the worker that there are fewer sessions, or all again. While connects are under way,
 * the number is not known yet. */
void mq_pool_note_sessions(struct pool *pool);

/* The functions of struct mq_smtp_owner. */
struct mq_transfer *mq_pool_next(struct mq_smtp_owner *owner, bool behind);
void mq_pool_closed(struct mq_smtp_owner *owner, struct mq_smtp_session *session, const char *why);
bool mq_pool_crowded(struct mq_smtp_owner *owner, const struct mq_smtp_tx *tx, const char *why,
                     int64_t wait_s);

#endif
