/* One SMTP session after its connection is open and logged in: pipelined transactions, and what the
 * replies mean for the transfers (RFC 5321, RFC 2920). Knows neither sockets nor libcurl. */
#ifndef MQ_SEND_SMTP_SESSION_H
#define MQ_SEND_SMTP_SESSION_H

#include "policy/reply.h"
#include "send/smtp/channel.h"
#include "send/transfer.h"

#define MQ_SMTP_CHUNK        16384 /* the most that is written at once */
#define MQ_SMTP_EXPECTED_MAX 256   /* commands without a reply: two envelopes of 100 recipients */

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
struct mq_transport;
struct mq_dsn;

/* What a session asks of its pool. */
struct mq_smtp_host {
    struct mq_transport *transport;       /* takes transfers back, and the relay's trouble */
    const struct mq_dsn *dsn;             /* timeouts, mails a connection */
    size_t in_state[MQ_SMTP_STATE_COUNT]; /* sessions in each; closed ones are not counted */
    enum mq_smtp_following following;
    bool following_fixed; /* set by hand: nothing is learned */
    bool trying;          /* a trial is under way */
    bool pipelining;      /* as the last session that opened said */
    bool no_params;       /* every transaction is plain: only so it worked */
    int failures;         /* sessions in a row that came to nothing; a decided mail ends the row */
    /* A transfer to begin now: on an idle session, or behind the dot; NULL: none for this one. */
    struct mq_transfer *(*next)(struct mq_smtp_host *host, bool behind);
    /* The session is closed, its channel is closed next. `why`: "" at an orderly end. */
    void (*closed)(struct mq_smtp_host *host, struct mq_smtp_session *session, const char *why);
    void (*heard)(struct mq_smtp_host *host, int code); /* a reply; for tests, NULL: none */
};

enum mq_smtp_command {
    MQ_SMTP_NONE,
    MQ_SMTP_RSET,
    MQ_SMTP_MAIL,
    MQ_SMTP_RCPT,
    MQ_SMTP_DATA,
    MQ_SMTP_DOT,
    MQ_SMTP_QUIT
};

/* A command whose reply has not come. */
struct mq_smtp_expected {
    uint8_t command;
    uint8_t tx; /* its transaction's place in session->tx */
    uint32_t target;
};

/* The transaction of one transfer. A target whose result is RELEASED has in `code` how its RCPT
 * went: 0 not answered, 2xx in the transaction, else wanted in another. */
struct mq_smtp_tx {
    struct mq_transfer *transfer; /* NULL: free, or taken back while its envelope was out */
    bool used;
    bool plain;                /* once more, without pipelining and parameters */
    bool behind;               /* its envelope left behind another's dot */
    bool trial;                /* … and the relay's answer tells whether that may be done */
    bool replied;              /* a reply of its own came */
    bool mail_refused;         /* the replies to RCPT and DATA are consequences */
    bool checking;             /* all but the check of the replies' order is done */
    size_t in_transaction;     /* recipients accepted */
    enum mq_smtp_command next; /* to be written; MQ_SMTP_NONE: nothing now */
    size_t next_target;
    uint64_t mail_at; /* where in the stream MAIL begins; valid once next is past MAIL */
    uint64_t dot_at;  /* behind the dot; 0: not in the buffer yet */
    int64_t mail_ms;  /* boot time at MAIL */
};

/* Bits of mq_transfer.transport_flags. */
enum {
    MQ_SMTP_TRANSFER_PLAIN = 1,   /* a protocol error came: once more without extensions */
    MQ_SMTP_TRANSFER_CROSSED = 2, /* the relay closed while MAIL was on its way: once more */
    MQ_SMTP_TRANSFER_TURNED = 4   /* it drew a 421 from a new session: once more in another */
};

struct mq_smtp_session {
    struct mq_smtp_host *host;
    enum mq_smtp_state state;
    struct mq_channel *channel;
    struct mq_smtp_caps caps;
    int64_t deadline_ms; /* boot time; INT64_MAX: none */

    struct mq_smtp_tx tx[2]; /* the current one and the one behind its dot */
    uint8_t current;
    bool open_transaction; /* MAIL was taken and no reply to a dot ended it */
    bool last;             /* begin nothing more: QUIT when idle */
    bool closing;          /* close as soon as the current transaction is decided */
    bool silent;           /* a timeout ends it, not the relay */
    int failures;          /* mails in a row without an acceptance */
    int64_t mails;         /* begun */
    int64_t decided;       /* mails that the relay gave an answer on */

    struct mq_smtp_expected expected[MQ_SMTP_EXPECTED_MAX]; /* a ring: the replies awaited */
    size_t expected_head, expected_count;
    struct mq_reply_reader reader;
    char said[MQ_TARGET_REPLY_MAX]; /* the last reply whose text was needed */

    char out[MQ_SMTP_CHUNK]; /* unchanged while a write is pending */
    size_t out_pos, out_len;
    uint64_t sent;       /* bytes of the stream that left for certain */
    uint64_t maybe_sent; /* … that may have left */
    bool wants_write;    /* the last write did not go through, or its turn is over */
    bool write_failed;   /* read what is there, then it is lost */
    int body_part;       /* of the message on its way: 0 the prefix, 1 the message itself */
    size_t body_pos;
    bool line_start;
};

/* `session` is the caller's storage, and closed. */
void mq_smtp_session_init(struct mq_smtp_session *session, struct mq_smtp_host *host);
/* The connection is open; the session owns the channel from now on. */
void mq_smtp_session_ready(struct mq_smtp_session *session, struct mq_channel *channel,
                           const struct mq_smtp_caps *caps);
/* Whether a transfer may be begun: at once, or behind the dot of the one under way. */
bool mq_smtp_session_may_begin(const struct mq_smtp_session *session);
bool mq_smtp_session_may_follow(const struct mq_smtp_session *session);
/* Looks for work at the host and writes what can be written. */
void mq_smtp_session_pump(struct mq_smtp_session *session);
/* The socket is readable, or in error: reads all there is, then pumps. */
void mq_smtp_session_readable(struct mq_smtp_session *session);
void mq_smtp_session_check_timeout(struct mq_smtp_session *session, int64_t now_ms);
/* Takes back what has no body out; the session ends if that breaks a transaction. */
void mq_smtp_session_recall(struct mq_smtp_session *session);
void mq_smtp_session_quit(struct mq_smtp_session *session); /* idle only */
/* The connection is gone, or is given up: settles what was under way by how far it was. */
void mq_smtp_session_lost(struct mq_smtp_session *session, const char *why);

#endif
