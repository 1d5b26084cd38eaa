/* A session over a channel whose peer is the test: the test sends replies in any cuts, and sees
 * every byte that the session writes. */
#ifndef MQ_TESTS_SMTP_FAKE_H
#define MQ_TESTS_SMTP_FAKE_H

#include "send/dsn.h"
#include "send/factory.h"
#include "send/smtp/session.h"

#define FAKE_BYTES   (1 << 20)
#define FAKE_TARGETS 8

/* A mail to one recipient, its envelope, and the replies that let its body go out. */
#define FAKE_MESSAGE  "Subject: x\r\n\r\nhello\r\n"
#define FAKE_ENVELOPE "MAIL FROM:<s@y>\r\nRCPT TO:<a@x>\r\nDATA\r\n"
#define FAKE_TAKEN    "250 2.1.0 ok\r\n250 2.1.5 ok\r\n354 go on\r\n"

struct fake_mail {
    struct mq_transfer transfer; /* first */
    struct mq_target targets[FAKE_TARGETS];
    char phases[16];             /* letters of the phases entered: E, B, A, R, P */
    char refuse;                 /* the phase to refuse; 0: none */
    char seen[FAKE_TARGETS + 1]; /* results at the last phase, one letter each */
};

struct fake {
    struct mq_channel channel;     /* first */
    struct mq_transport transport; /* transfers that came back are in `pending` again */
    struct mq_dsn dsn;
    struct mq_smtp_owner owner;
    struct mq_smtp_session session;
    int64_t now_ms;
    /* relay → us */
    char in[65536];
    size_t in_len, in_pos;
    size_t in_cut; /* at most this many bytes a read; 0: all */
    bool in_eof, in_reset;
    /* us → relay */
    char *out;
    size_t out_len;
    size_t out_cut;      /* at most this many bytes a write; 0: all */
    bool out_blocked;    /* writes fail … */
    const void *pending; /* … and must be repeated with the same bytes */
    size_t pending_len;
    bool out_broken;
    bool closed;
    /* the pool's part */
    struct fake_mail *waiting[16];
    size_t waiting_count;
    char why[MQ_TARGET_REPLY_MAX];
    bool has_more_sessions; /* so that fewer are possible */
    int crowds;             /* replies that there are too many */
    int writes;             /* calls that accepted bytes */
};

#define FAKE_PIPELINING 1u
#define FAKE_8BIT       2u
#define FAKE_UTF8       4u
#define FAKE_SIZE       8u
#define FAKE_DSN        16u

struct fake *fake_new(unsigned caps); /* an idle session */
void fake_free(struct fake *fake);
/* One mail from s@y to a@x, b@x, …; `message` is borrowed. */
void fake_mail_init(struct fake_mail *mail, const char *message, size_t recipients);
void fake_submit(struct fake *fake, struct fake_mail *mail); /* and pumps */
void fake_queue(struct fake *fake, struct fake_mail *mail);  /* does not pump */
/* Sends that from the relay; the session reads it. */
void fake_says(struct fake *fake, const char *text);
void fake_hangs_up(struct fake *fake);
void fake_resets(struct fake *fake);
/* The bytes that the session wrote since the last call, as a string. */
const char *fake_wire(struct fake *fake);
/* The results of the targets, one letter each: U A R L D ? (uncertain). */
const char *fake_results(const struct fake_mail *mail);
/* The transport for a DSN, and its final_timeout. */
enum mq_status fake_open(const char *dsn, const struct mq_transport_options *options,
                         struct mq_transport **out, int64_t *final_ms, struct mq_error *err);
bool fake_is_back(const struct fake_mail *mail); /* done, however it ended */
/* Fails the test unless the mail came back with this result. */
void fake_assert_back(const struct fake_mail *mail, enum mq_transfer_end end, const char *results);
void fake_set_plain(struct fake_mail *mail);

#endif
