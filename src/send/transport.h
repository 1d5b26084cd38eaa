/* The worker's view of a transport: transfers go in, and come back with a result for each
 * recipient. The kinds of transport are those of factory.h, and PHP's Closures. */
#ifndef MQ_SEND_TRANSPORT_H
#define MQ_SEND_TRANSPORT_H

#include "core/clock.h"
#include "send/transfer.h"

struct mq_relay_trouble {
    char reason[MQ_TARGET_REPLY_MAX];
    const char *phase;     /* "connect": no session came about, by connection, TLS, EHLO or login;
                              NULL: another */
    int64_t retry_after_s; /* 0: the relay named none */
};

struct mq_transport;

/* The functions of one kind of transport. Those marked "or NULL" are optional. */
struct mq_transport_ops {
    /* Returns how many transfers it can take besides the pending ones; with `just_in_time` (an
     * hourly limit), how many can begin at once. Not called in trouble or when stopped. */
    size_t (*capacity)(const struct mq_transport *transport, bool just_in_time);
    /* Gets ready before any mail is claimed: an account gets its token. If it cannot have one, that
     * is trouble. False: the token is still awaited; call this again soon. Or NULL. */
    bool (*prepare)(struct mq_transport *transport);
    /* Sends, and waits until a transfer is done or trouble comes, at most timeout_ms. A signal ends
     * the wait, but not while a connection is being opened. Fails only with MQ_THROWN, MQ_BAILOUT
     * or MQ_NOMEM. */
    enum mq_status (*step)(struct mq_transport *transport, int64_t timeout_ms,
                           struct mq_error *err);
    /* Gives back transfers that have begun but sent nothing of the body, and closes their sessions.
     * A session that awaits the reply to another mail's dot is closed after it. Or NULL. */
    void (*recall)(struct mq_transport *transport);
    /* Gives back transfers that were begun after another mail's dot, or NULL. */
    void (*wind_down)(struct mq_transport *transport);
    /* Ends idle sessions with QUIT, waiting at most timeout_ms, or NULL. */
    void (*quit)(struct mq_transport *transport, int64_t timeout_ms);
    /* Closes everything and gives back what was under way, or NULL. */
    void (*abort)(struct mq_transport *transport);
    /* Returns a descriptor that is readable when step() has something to do; -1: there is none now,
     * call step() again soon. Or NULL, which means -1. */
    int (*wait_fd)(const struct mq_transport *transport);
    /* Forgets failures of the relay before it is tried again, or NULL. */
    void (*reopen)(struct mq_transport *transport);
    /* Frees the kind's own resources, or NULL. The common part is freed afterwards. */
    void (*free)(struct mq_transport *transport);
    /* finding() returns what the transport found out about its relay, as one word: a static string,
     * or NULL for nothing. The worker stores it and passes it to remember() when a later run
     * begins. A word that remember() does not know, such as "", makes the transport find out again,
     * also during a run. Both can be NULL. */
    const char *(*finding)(const struct mq_transport *transport);
    void (*remember)(struct mq_transport *transport, const char *finding);
};

/* The common part: the first member of each kind's structure. mq_transport_free() frees that
 * structure, so it is allocated with malloc(). */
struct mq_transport {
    const struct mq_transport_ops *ops;
    struct mq_clock clock;
    char *name; /* the DSN without its secrets, for logs and the relay's pause; malloc'ed */
    struct mq_transfer_list pending, done;
    bool whole;    /* each mail goes to all its recipients at once, or not at all */
    bool stopped;  /* after wind_down() or abort(): nothing more begins */
    bool troubled; /* the relay as a whole is in trouble: nothing more begins */
    bool recalled; /* mq_transport_recall_in_trouble() is done */
    struct mq_relay_trouble trouble;
    char note[MQ_TARGET_REPLY_MAX + 64]; /* news of the relay for the log; "": none. The worker
                                            clears it */
};

/* ---- for the worker ---- */

/* Returns how many more transfers submit() takes now. */
size_t mq_transport_capacity(const struct mq_transport *transport, bool just_in_time);
void mq_transport_submit(struct mq_transport *transport, struct mq_transfer *transfer);
/* Returns a finished transfer, or NULL. */
struct mq_transfer *mq_transport_take_done(struct mq_transport *transport);
/* Gives back at once, as UNTOUCHED, transfers that have sent nothing of the body. */
void mq_transport_recall(struct mq_transport *transport);
/* Begins nothing more. Gives back at once, as UNTOUCHED, transfers that no session has begun and
 * those after another mail's dot. The others go on; later transfers come straight back. */
void mq_transport_wind_down(struct mq_transport *transport);
/* After trouble: transfers can begin again. */
void mq_transport_reopen(struct mq_transport *transport);
/* Ends idle sessions, waiting at most timeout_ms. There must be no transfer under way. */
void mq_transport_quit(struct mq_transport *transport, int64_t timeout_ms);
/* Closes everything. Transfers under way are then done: UNCERTAIN if their dot was out, DENIED if
 * MAIL was out but not the dot, otherwise UNTOUCHED. */
void mq_transport_abort(struct mq_transport *transport);
void mq_transport_free(struct mq_transport *transport);

/* ---- for the kinds of transport ---- */

/* The time by `clock`: since boot, and UTC since 1970. */
static inline int64_t mq_transport_boot_ms(const struct mq_transport *transport)
{
    return transport->clock.boot_ms(transport->clock.context);
}
static inline int64_t mq_transport_now_us(const struct mq_transport *transport)
{
    return transport->clock.now_us(transport->clock.context);
}

/* Whether new transfers can begin: no trouble, not stopped. */
bool mq_transport_may_begin(const struct mq_transport *transport);
void mq_transport_give_back(struct mq_transport *transport, struct mq_transfer *transfer,
                            enum mq_transfer_end end);
/* On trouble, recalls the transfers, but only once. */
void mq_transport_recall_in_trouble(struct mq_transport *transport);
/* Gives back all pending transfers as UNTOUCHED. */
void mq_transport_return_pending(struct mq_transport *transport);
/* Notes trouble of the relay. Of several calls, the first reason and the longest time are kept. */
void mq_transport_in_trouble(struct mq_transport *transport, const char *reason,
                             int64_t retry_after_s);
/* Sets the result of all targets, and at_s. The reply is copied, and cut if it is too long. */
void mq_transport_set_results(const struct mq_transport *transport, struct mq_transfer *transfer,
                              enum mq_outcome result, int code, const char *reply);
/* Writes heading, prefix and message (these two with LF line ends); returns 0 or an errno value. */
int mq_transfer_write(const struct mq_transfer *transfer, const char *heading, int fd);

#endif
