/* What the worker knows of a way to hand mail over: transfers go in, and come back with a result
 * for each recipient. The kinds: smtp.h, sendmail.h, maildir.h, null.h, and a PHP Closure in
 * closure_transport.h. A new one is a file with its ops, and a scheme in factory.c. */
#ifndef MQ_SEND_TRANSPORT_H
#define MQ_SEND_TRANSPORT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/buffer.h"
#include "core/clock.h"
#include "core/error.h"
#include "mime/notify.h"
#include "policy/outcome.h"

#define MQ_TARGET_REPLY_MAX 256

struct mq_target {
    const char *address;    /* borrowed from the worker */
    enum mq_outcome result; /* of a recipient; RELEASED: in no finished transaction */
    int code;               /* the deciding reply's, 0: none */
    char reply[MQ_TARGET_REPLY_MAX];
};

/* How a transfer came back. */
enum mq_transfer_end {
    MQ_DELIVERY_DONE,      /* the targets' results count as an attempt */
    MQ_DELIVERY_UNTOUCHED, /* goes back with attempt and tokens */
    MQ_DELIVERY_LEASE_OVER /* enter() said no: another may have it; nothing was finished */
};

enum mq_transfer_phase {
    MQ_PHASE_ENVELOPE, /* before MAIL leaves */
    MQ_PHASE_BODY,     /* before the chunk with the dot leaves; the targets' RCPT results are set:
                          those of the transaction are UNTRIED still with their RCPT's code (2xx),
                          others LATER or REFUSED, or UNTRIED with a 4xx or 5xx code: wanted in
                          another transaction */
    MQ_PHASE_ACCEPTED, /* a 2xx to the dot was read; results are set */
    MQ_PHASE_REFUSED   /* another reply to the dot was read; results are set */
};

/* One message on its way. Owned by the worker; the transport has it from submit() until take_done()
 * gives it back, and everything it points to stays valid and unmoved that long. */
struct mq_transfer {
    int64_t job_id;
    const char *from; /* "" is the null reverse-path */
    struct mq_target *targets;
    size_t target_count;
    struct mq_str prefix;    /* header lines before the message, CRLF-ended, or empty */
    struct mq_str message;   /* wire form (mime/wire/message.h), not dot-stuffed */
    unsigned flags;          /* MQ_MESSAGE_8BIT, MQ_MESSAGE_UTF8_HEADERS */
    bool utf8_address;       /* an address needs SMTPUTF8 */
    struct mq_notify notify; /* for relays that offer DSN */
    const void *subject;     /* what it is about, for the PHP transport: struct mq_job */

    /* The worker's guard and record: writes the intent and returns false when the lease is over;
     * the transport then closes without a dot. Called in the order of the phases; starts over when
     * the mail goes out once more after a protocol error. */
    bool (*enter)(struct mq_transfer *transfer, enum mq_transfer_phase phase);
    void *context; /* enter's */
    /* Makes prefix, message and flags such that a relay takes them that takes 7 bits only: before
     * enter(), where flags have MQ_MESSAGE_8BIT. MQ_MESSAGE: it must not be changed, err says why.
     * NULL: it cannot be. */
    enum mq_status (*to_7bit)(struct mq_transfer *transfer, struct mq_error *err);

    /* Set by the transport: */
    enum mq_transfer_end end;
    bool drew_trouble; /* UNTOUCHED, and it was the reply to this mail that ended the session or
                          said that the relay is in trouble: others should go first */
    char error[MQ_TARGET_REPLY_MAX]; /* for last_error when no target's reply says it; "" none */
    int64_t retry_after_s;           /* named by the relay; 0: none */
    int64_t at_s;                    /* when the deciding reply came, UTC; 0: none */
    int64_t ms;                      /* from MAIL to the deciding reply; left alone without MAIL */

    struct mq_transfer *next; /* the transport's, while it has it */
    unsigned transport_flags; /* likewise; submit() sets it */
};

struct mq_transfer_list {
    struct mq_transfer *first, *last;
    size_t count;
};

struct mq_relay_trouble {
    char reason[MQ_TARGET_REPLY_MAX];
    int64_t retry_after_s; /* 0: none named */
};

struct mq_transport;

/* What a kind of transport does itself. Functions marked "or NULL" may be missing. */
struct mq_transport_ops {
    /* How many more transfers it has room for, what is pending counted; it is in no trouble and
     * not stopped. With `just_in_time` (an hourly limit): only what a session can begin at once. */
    size_t (*capacity)(const struct mq_transport *transport, bool just_in_time);
    /* Moves everything on; returns when something is done or trouble came, at the latest after
     * timeout_ms, at once when a signal arrives. MQ_THROWN, MQ_BAILOUT, MQ_NOMEM only. */
    enum mq_status (*step)(struct mq_transport *transport, int64_t timeout_ms,
                           struct mq_error *err);
    /* Gives back what has begun and has no body out (its sessions are reset or closed), or NULL. */
    void (*recall)(struct mq_transport *transport);
    /* Gives back what has not begun or lies behind another mail's dot, or NULL. */
    void (*wind_down)(struct mq_transport *transport);
    /* Ends idle sessions with QUIT, waiting at most timeout_ms, or NULL. */
    void (*quit)(struct mq_transport *transport, int64_t timeout_ms);
    /* Closes everything and gives back what was under way, or NULL. */
    void (*abort)(struct mq_transport *transport);
    /* Frees what the kind has; the common part is freed after it. */
    void (*free)(struct mq_transport *transport);
    /* What the relay was found to be able to do: a word that is kept, and given to later runs'
     * transports by remember() before their first submit(). A static string, NULL: nothing was
     * found. A word that remember() does not know, such as "", makes it find again. Both functions
     * may be NULL. */
    const char *(*finding)(const struct mq_transport *transport);
    void (*remember)(struct mq_transport *transport, const char *finding);
};

/* The part that all transports have in common; first member of each one's own structure, which was
 * allocated with malloc(). */
struct mq_transport {
    const struct mq_transport_ops *ops;
    struct mq_clock clock;
    char *name; /* the DSN without its secrets, for logs and the relay's pause; malloc'ed */
    struct mq_transfer_list pending, done;
    bool stopped;  /* nothing more begins: after wind_down() or abort() */
    bool troubled; /* the relay as a whole; then nothing more is begun either */
    struct mq_relay_trouble trouble;
};

/* ---- for the worker ---- */

/* How many more transfers submit() takes now. */
size_t mq_transport_capacity(const struct mq_transport *transport, bool just_in_time);
void mq_transport_submit(struct mq_transport *transport, struct mq_transfer *transfer);
/* A finished transfer, or NULL. */
struct mq_transfer *mq_transport_take_done(struct mq_transport *transport);
/* Gives back at once, UNTOUCHED, what has no body out. */
void mq_transport_recall(struct mq_transport *transport);
/* Begins nothing more: gives back at once, UNTOUCHED, what no session has begun and what lies
 * behind another mail's dot. What was begun goes on; later transfers come straight back. */
void mq_transport_wind_down(struct mq_transport *transport);
/* Ends idle sessions, waiting at most timeout_ms. Nothing may be under way. */
void mq_transport_quit(struct mq_transport *transport, int64_t timeout_ms);
/* Closes everything. What was under way is done then: transfers with the dot out UNCERTAIN, others
 * UNTOUCHED or, once MAIL had left, DENIED. */
void mq_transport_abort(struct mq_transport *transport);
void mq_transport_free(struct mq_transport *transport);

/* ---- for the kinds of transport ---- */

void mq_transfer_append(struct mq_transfer_list *list, struct mq_transfer *transfer);
void mq_transfer_prepend(struct mq_transfer_list *list, struct mq_transfer *transfer);
/* Takes the one behind `before`, the first for NULL; NULL when there is none. */
struct mq_transfer *mq_transfer_take(struct mq_transfer_list *list, struct mq_transfer *before);
/* Whether a transfer may begin. */
bool mq_transport_may_begin(const struct mq_transport *transport);
void mq_transport_give_back(struct mq_transport *transport, struct mq_transfer *transfer,
                            enum mq_transfer_end end);
/* What is pending is done, UNTOUCHED. */
void mq_transport_return_pending(struct mq_transport *transport);
/* The first reason stands, and the longest time. */
void mq_transport_in_trouble(struct mq_transport *transport, const char *reason,
                             int64_t retry_after_s);
/* All targets, and when it was. */
void mq_transport_set_results(const struct mq_transport *transport, struct mq_transfer *transfer,
                              const struct mq_target *result);

#endif
