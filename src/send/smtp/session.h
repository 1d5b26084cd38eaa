/* One SMTP session after its connection is open and logged in: pipelined transactions, and what the
 * replies mean for the transfers (RFC 5321, 2920, 2033). Knows neither sockets nor libcurl. */
#ifndef MQ_SEND_SMTP_SESSION_H
#define MQ_SEND_SMTP_SESSION_H

#include "policy/reply.h"
#include "send/smtp/channel.h"
#include "send/smtp/owner.h"
#include "send/transfer.h"

#define MQ_SMTP_CHUNK        16384 /* the most that is written at once */
#define MQ_SMTP_EXPECTED_MAX 256   /* commands awaiting replies */

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
    uint8_t command, tx; /* tx: index of its transaction in session->tx */
    uint32_t target;
};

/* The transaction of one transfer. While a target's result is RELEASED, its `code` tells how its
 * RCPT went: 0: not answered; 2xx: in the transaction; else: needs another transaction. */
struct mq_smtp_tx {
    struct mq_transfer *transfer; /* NULL: free */
    bool used;
    bool plain;        /* without pipelining and parameters */
    bool behind;       /* its envelope follows another mail's dot */
    bool trial;        /* `behind`, for the first time: it shows whether the relay answers both */
    bool replied;      /* one of its commands was answered */
    bool throttled;    /* a reply was so (struct mq_throttles) */
    bool mail_refused; /* so the replies to RCPT and DATA tell nothing */
    bool checking;     /* done except for the RSET that checks the order of replies */
    size_t in_transaction;     /* recipients accepted */
    enum mq_smtp_command next; /* the next to write; MQ_SMTP_NONE: none now */
    size_t next_target;
    uint64_t mail_at; /* where in the stream MAIL begins; valid once next is past MAIL */
    uint64_t dot_at;  /* the position after the dot; 0: not in the buffer yet */
    int64_t mail_ms;  /* boot time at MAIL */
};

/* Bits of mq_transfer.transport_flags. */
enum {
    MQ_SMTP_TRANSFER_PLAIN = 1,      /* a protocol error came: send again without extensions */
    MQ_SMTP_TRANSFER_CROSSED = 2,    /* the relay closed while MAIL was on its way: send again */
    MQ_SMTP_TRANSFER_RETRIED_421 = 4 /* it drew a 421 from a new session: try another session */
};

struct mq_smtp_session {
    struct mq_smtp_owner *owner;
    enum mq_smtp_state state;
    struct mq_channel *channel;
    struct mq_smtp_hello *hello; /* LMTP's LHLO, while it is under way; else NULL */
    struct mq_smtp_caps caps;
    int64_t deadline_ms;     /* boot time; INT64_MAX: none */
    struct mq_smtp_tx tx[2]; /* the current one and the one after its dot */
    uint8_t current;
    bool open_transaction; /* MAIL was accepted; no RSET or reply to the dot has ended it */
    bool last;             /* begin nothing more: QUIT when idle */
    bool closing;          /* close as soon as the current transaction is decided */
    bool silent;           /* a timeout ended the session, not the relay */
    int failures;          /* mails in a row without an acceptance */
    int64_t mails;         /* mails begun */
    int64_t decided;       /* mails that the relay answered */

    size_t expected_head, expected_count; /* of the ring `expected` */
    struct mq_reply_reader reader;
    char said[MQ_TARGET_REPLY_MAX]; /* the text of the last reply that was reported */

    size_t out_pos, out_len; /* in `out` */
    uint64_t sent;           /* bytes of the stream that left for certain */
    uint64_t maybe_sent;     /* bytes of the stream that have left or may have left */
    bool wants_write;        /* the last write did not go through, or the session's turn is over */
    bool write_failed;       /* read what has come, then the session is lost */
    int body_part;           /* of the message on its way: 0 the prefix, 1 the message itself */
    size_t body_pos;
    bool line_start;
    /* Never cleared: pages that small mails do not use take no memory. */
    struct mq_smtp_expected expected[MQ_SMTP_EXPECTED_MAX]; /* a ring: the replies awaited */
    char out[MQ_SMTP_CHUNK];                                /* unchanged while a write is pending */
};

/* Initialises `session`, which the caller owns and which is closed or new. */
void mq_smtp_session_init(struct mq_smtp_session *session, struct mq_smtp_owner *owner);
/* The connection is open; the session owns the channel from now on. LMTP ignores `caps`. */
void mq_smtp_session_ready(struct mq_smtp_session *session, struct mq_channel *channel,
                           const struct mq_smtp_caps *caps);
bool mq_smtp_session_may_begin(const struct mq_smtp_session *session);  /* a transfer, now */
bool mq_smtp_session_may_follow(const struct mq_smtp_session *session); /* after this one's dot */
/* Takes the next transfers from the pool, and writes as much as the socket accepts. */
void mq_smtp_session_pump(struct mq_smtp_session *session);
/* The socket is readable, or in error: reads all there is, then pumps. */
void mq_smtp_session_readable(struct mq_smtp_session *session);
void mq_smtp_session_check_timeout(struct mq_smtp_session *session, int64_t now_ms);
/* If an envelope is out without a body, gives its transfer back; then ends the session. */
void mq_smtp_session_recall(struct mq_smtp_session *session);
void mq_smtp_session_quit(struct mq_smtp_session *session); /* idle only */
/* The connection is gone or given up: settles its transfers by how far they came. */
void mq_smtp_session_lost(struct mq_smtp_session *session, const char *why);

#endif
