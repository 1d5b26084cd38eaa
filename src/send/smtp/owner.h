/* The pool of one relay, as its sessions see it, and what they have found out about the relay. */
#ifndef MQ_SEND_SMTP_OWNER_H
#define MQ_SEND_SMTP_OWNER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum mq_smtp_state {
    MQ_SMTP_CLOSED,
    MQ_SMTP_CONNECTING, /* libcurl opens the connection; or LMTP's LHLO is under way */
    MQ_SMTP_IDLE,       /* nothing under way */
    MQ_SMTP_ENVELOPE,   /* RSET, MAIL, RCPT, DATA out or going out */
    MQ_SMTP_BODY,       /* 354 came; the message goes out */
    MQ_SMTP_AWAITING,   /* the dot is out, its reply has not come */
    MQ_SMTP_QUITTING,
    MQ_SMTP_STATE_COUNT
};

/* Whether an envelope is sent after another mail's dot before the relay has answered that dot.
 * Some relays offer PIPELINING but drop the connection then (Dovecot's submission service up to
 * 2.4.1), which leaves the mail before it uncertain. So a relay must first show that it can. */
enum mq_smtp_following {
    MQ_SMTP_FOLLOW_TRY, /* not known: one session at a time tries it */
    MQ_SMTP_FOLLOW_DOT, /* the relay answered both dot and envelope */
    MQ_SMTP_FOLLOW_NEVER
};

struct mq_smtp_session;
struct mq_smtp_tx;
struct mq_transfer;
struct mq_transport;
struct mq_dsn;
struct mq_rules;

/* Mails in a row that were all put off for a time that the relay named, in words that may be about
 * us (struct mq_verdict). */
struct mq_throttles {
    int mails;
    char domain[256]; /* of the last one's first recipient, from the "@" on */
    bool domains;     /* they differ */
};

struct mq_smtp_owner {
    struct mq_transport *transport;       /* takes transfers back, and the relay's trouble */
    const struct mq_dsn *dsn;             /* timeouts, mails per connection */
    const char *lhlo;                     /* LMTP: our name in LHLO; NULL: SMTP */
    const struct mq_rules *rules;         /* before the table of verdicts; or NULL */
    size_t in_state[MQ_SMTP_STATE_COUNT]; /* sessions in each; closed ones are not counted */
    enum mq_smtp_following following;
    bool following_fixed; /* set in the DSN: nothing is learned */
    bool trying;          /* a trial is under way */
    bool pipelining;      /* whether the relay offered it to the last session */
    bool no_params;       /* all transactions are plain: only that worked */
    int failures;         /* failed connects in a row; a mail that the relay decides resets it */
    struct mq_throttles throttles;
    /* Returns a transfer to begin now, on an idle session or after the dot; NULL: none. */
    struct mq_transfer *(*next)(struct mq_smtp_owner *owner, bool behind);
    /* The session is closed; its channel is closed afterwards. `why`: "" at an orderly end. */
    void (*closed)(struct mq_smtp_owner *owner, struct mq_smtp_session *session, const char *why);
    /* The relay answered `tx` that there are too many sessions. Returns false if there is only this
     * one, so that fewer cannot help. */
    bool (*crowded)(struct mq_smtp_owner *owner, const struct mq_smtp_tx *tx, const char *why,
                    int64_t wait_s);
    void (*heard)(struct mq_smtp_owner *owner, int code); /* for tests: a reply came; or NULL */
};

#endif
