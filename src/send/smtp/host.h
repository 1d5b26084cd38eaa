/* What an SMTP session asks of its pool: timeouts, work, and somebody to give it back to. */
#ifndef MQ_SEND_SMTP_HOST_H
#define MQ_SEND_SMTP_HOST_H

#include "send/dsn.h"
#include "send/transport.h"

enum mq_smtp_state {
    MQ_SMTP_CLOSED,
    MQ_SMTP_CONNECTING, /* libcurl's; no channel yet */
    MQ_SMTP_IDLE,       /* nothing under way */
    MQ_SMTP_ENVELOPE,   /* RSET, MAIL, RCPT, DATA out or going out */
    MQ_SMTP_BODY,       /* 354 came; the message goes out */
    MQ_SMTP_AWAITING,   /* the dot is out, its reply is not here */
    MQ_SMTP_QUITTING,
    MQ_SMTP_STATE_COUNT
};

/* Whether an envelope may go behind another mail's dot that the relay has not answered yet. Some
 * relays offer PIPELINING and lose the connection then (Dovecot's submission service up to 2.4.1),
 * which leaves the mail before it uncertain. So a relay has to show it first. */
enum mq_smtp_following {
    MQ_SMTP_FOLLOW_TRY, /* not known: one session at a time tries it */
    MQ_SMTP_FOLLOW_DOT, /* it answered envelope and dot */
    MQ_SMTP_FOLLOW_NEVER
};

struct mq_smtp_session;

struct mq_smtp_host {
    struct mq_transport *transport;       /* takes transfers back, and the relay's trouble */
    const struct mq_dsn *dsn;             /* timeouts, mails a connection */
    size_t in_state[MQ_SMTP_STATE_COUNT]; /* sessions in each; closed ones are not counted */
    enum mq_smtp_following following;
    bool following_fixed; /* set by hand: nothing is learned */
    bool trying;          /* a trial is under way */
    bool no_params;       /* every transaction is plain: only so it worked */
    int failures;         /* sessions in a row that came to nothing; a decided mail ends the row */
    /* A transfer to begin now: on an idle session, or behind the dot; NULL: none for this one. */
    struct mq_transfer *(*next)(struct mq_smtp_host *host, bool behind);
    /* The session is closed, its channel is closed next. `why`: "" at an orderly end. */
    void (*closed)(struct mq_smtp_host *host, struct mq_smtp_session *session, const char *why);
    void (*heard)(struct mq_smtp_host *host, int code); /* a reply; for tests, NULL: none */
};

#endif
