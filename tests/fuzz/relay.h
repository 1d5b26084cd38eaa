/* The relay of fuzz_session.c: what it has read and answered, and the mails of the session. */
#ifndef MQ_FUZZ_RELAY_H
#define MQ_FUZZ_RELAY_H

#include "fuzz.h"

#include "send/dsn.h"
#include "send/smtp/session.h"
#include "send/transport.h"

#define MAILS    4
#define TARGETS  4
#define COMMANDS 256

/* A mail, and what the relay knows about its last transaction. */
struct mail {
    struct mq_transfer transfer; /* first */
    struct mq_target targets[TARGETS];
    bool waiting, done, entered;
    int asked[TARGETS]; /* 0: no; 1: RCPT was sent; otherwise the reply's code */
    int mail_code, data_code;
    int dot[TARGETS]; /* the replies to the dot; 0: none yet */
    bool dot_sent;
    size_t taken; /* recipients accepted */
};

struct command {
    char verb; /* M, R, D, '.', S (RSET), Q */
    struct mail *mail;
    size_t target;
};

extern struct world {
    struct mq_channel channel;     /* first */
    struct mq_transport transport; /* gets finished transfers, and those to repeat */
    struct mq_dsn dsn;
    struct mq_smtp_owner owner;
    struct mq_smtp_session session;
    struct mail mails[MAILS];
    size_t mail_count;
    int64_t now_ms;
    /* the relay: what it has read, and how much of that has no reply yet */
    struct mq_buffer line, body;
    struct mail *in; /* of the last MAIL */
    bool in_body, lone, data_open;
    struct command commands[COMMANDS];
    size_t head, count;
    const char *says; /* what it will say */
    size_t left;
    bool eof, reset, blocked, broken, lease_over;
    size_t cut;
} w;

/* The relay reads what the session writes: it must be SMTP or LMTP. */
void relay_reads(const char *data, size_t len);
/* The session has read a reply: it belongs to the oldest command. */
void relay_heard(struct mq_smtp_owner *owner, int code);
/* Whether the relay has taken that recipient into the transaction. */
bool relay_took(const struct mail *mail, size_t i);

#endif
