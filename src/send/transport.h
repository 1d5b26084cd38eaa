/* What the worker knows of a way to hand mail over: transfers go in, and come back with a result
 * for each recipient. The kinds: those of factory.h, and PHP's Closures. */
#ifndef MQ_SEND_TRANSPORT_H
#define MQ_SEND_TRANSPORT_H

#include "core/clock.h"
#include "send/transfer.h"

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
     * timeout_ms. A signal ends it, too, but not while a connection is being opened. MQ_THROWN,
     * MQ_BAILOUT, MQ_NOMEM only. */
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
    /* Frees what the kind has, or NULL; the common part is freed after it. */
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

/* By the mails' clock. */
static inline int64_t mq_transport_boot_ms(const struct mq_transport *transport)
{
    return transport->clock.boot_ms(transport->clock.context);
}
static inline int64_t mq_transport_now_us(const struct mq_transport *transport)
{
    return transport->clock.now_us(transport->clock.context);
}

/* Whether a transfer may begin. */
bool mq_transport_may_begin(const struct mq_transport *transport);
void mq_transport_give_back(struct mq_transport *transport, struct mq_transfer *transfer,
                            enum mq_transfer_end end);
/* What is pending is done, UNTOUCHED. */
void mq_transport_return_pending(struct mq_transport *transport);
/* The first reason stands, and the longest time. */
void mq_transport_in_trouble(struct mq_transport *transport, const char *reason,
                             int64_t retry_after_s);
/* Of all targets, and when it was. The reply is copied, and cut where it is too long. */
void mq_transport_set_results(const struct mq_transport *transport, struct mq_transfer *transfer,
                              enum mq_outcome result, int code, const char *reply);
/* Writes heading, prefix and message with the line ends of this host; 0, or an errno value. */
int mq_transfer_write(const struct mq_transfer *transfer, const char *heading, int fd);

#endif
