/* Limits of relays in a run that can use several. When it claims a mail it does not know yet which
 * relay will get it. So the claim pays for all other limits, and the relay's are paid for before
 * the mail begins there: for many mails in one transaction, that of a cycle. The row names the
 * relay (`paid_to`), and counts in its windows from then on until it is settled or recovered, so a
 * worker's death changes nothing. */
#ifndef MQ_QUEUE_WINDOWS_PAYMENTS_H
#define MQ_QUEUE_WINDOWS_PAYMENTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/error.h"

struct mq_job;
struct mq_tx;

enum { MQ_PAYMENTS_MAX = 100, MQ_PAYMENT_RELAYS_MAX = 64 };

/* The relays that a mail can go to, the preferred one first. The names are borrowed. */
struct mq_relay_list {
    const char *names[MQ_PAYMENT_RELAYS_MAX];
    size_t count;
    bool
        whole[MQ_PAYMENT_RELAYS_MAX]; /* it sends a mail to all recipients at once, or not at all */
    bool all_whole;  /* so do all relays of the route, also those that are not used now */
    bool busy;       /* others of its relays are only busy: if none of these has room, it waits */
    int64_t opens_s; /* when the first of its other relays is used again; 0: there is none */
    int64_t full_s[MQ_PAYMENT_RELAYS_MAX];  /* out: until when it has no room; 0: not known; … */
    size_t full_for[MQ_PAYMENT_RELAYS_MAX]; /* … for a mail to so many at once; 0: for any mail */
    char never[400]; /* out, at a claim: a limit that never has room for the whole mail */
};

struct mq_payment {
    struct mq_job *job;          /* its targets become fewer if the relay has no room for all */
    struct mq_relay_list relays; /* one or more */
    /* Out. */
    enum mq_payment_end {
        MQ_PAYMENT_NONE, /* the settings could not be read: nothing was done */
        MQ_PAYMENT_DONE,
        MQ_PAYMENT_WAITS, /* no relay has room, but others are busy: nothing was done */
        MQ_PAYMENT_BACK,  /* no relay has room: the job is back in the queue, without an attempt,
                             until the first of them lets it go, or another is used */
        MQ_PAYMENT_LOST   /* the lease was lost */
    } end;
    size_t relay; /* MQ_PAYMENT_DONE: the first one with room */
    int paid;     /* MQ_PAYMENT_DONE: what the job has paid now, there and for all other limits */
};

/* Pays at a relay, and gives back what the job has paid at another one. The caller writes the
 * result to the job (mq_payment_take()) after the commit. */
enum mq_status mq_payments_make(struct mq_tx *tx, struct mq_payment *payments, size_t count,
                                struct mq_error *err);
/* Writes a payment that is DONE to its job. */
enum mq_status mq_payment_take(const struct mq_payment *payment, struct mq_error *err);
/* At a claim: lowers *most to what the first relay with room leaves, which later jobs of the same
 * claim do not get. If no relay has room, puts the job back, and *most is 0. If the limits of all
 * never have room, relays->never names one of them, and the job stays. */
enum mq_status mq_relays_promise(struct mq_tx *tx, const struct mq_job *job,
                                 struct mq_relay_list *relays, int64_t *most, struct mq_error *err);

#endif
