/* The limits in windows (mailLimits) within a transaction: what they leave room for, what claims
 * take, and what becomes of it. */
#ifndef MQ_QUEUE_WINDOWS_WINDOWS_H
#define MQ_QUEUE_WINDOWS_WINDOWS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/error.h"

struct mq_job;
struct mq_limit;
struct mq_tx;
struct mq_windows;

#define MQ_LIMIT_NONE INT64_MAX

/* Whose mail it is. NULL: not known, so limits that depend on it do not hold. */
struct mq_party {
    const char *relay;
    const char *from;
    const struct mq_job *to; /* to its recipients */
    size_t nth;              /* index of the recipient whose domain is full */
    bool only_from;          /* only the limits of the sender and of recipients */
    bool only_relay;         /* only the limits of the relay */
    bool begun;              /* it has paid as a mail: limits of mails hold no more */
    bool leaves;             /* its priority is below 0: it leaves the reserve to other mail */
    int64_t whole;           /* it goes to all its recipients at once, and has so many: a limit with
                                room for fewer is full; 0: it can go in part */
};

struct mq_room {
    struct mq_party party;
    int64_t recipients;          /* that have room now; MQ_LIMIT_NONE: no limit holds */
    bool in_part;                /* none, but only because the mail goes whole */
    bool sender_full;            /* only limits of the sender or of a recipient are full: other mail
                                    can go */
    const struct mq_limit *full; /* without room: the limit that will have room last */
    int64_t free_s;              /* when `full` is expected to have room */
    const struct mq_limit *never; /* a limit that never has room for a mail that goes whole */
};

/* What a claim paid, and what became of it. */
struct mq_outlay {
    struct mq_party party;
    int64_t paid;
    int64_t handed;               /* recipients that were handed over */
    int64_t at_s;                 /* when they were handed over; 0: now */
    bool in_part;                 /* the mail goes on with the rest of what it paid */
    const unsigned char *results; /* enum mq_outcome of each recipient; NULL: the same of all */
};

/* How much room all limits leave that hold for this mail. */
enum mq_status mq_windows_room(struct mq_tx *tx, const struct mq_party *party, struct mq_room *room,
                               struct mq_error *err);
/* Takes room for recipients, and if `begins` for the mail. */
enum mq_status mq_windows_take(struct mq_tx *tx, const struct mq_party *party, int64_t recipients,
                               bool begins, struct mq_error *err);
/* Makes the room of this transaction smaller, without taking it. */
enum mq_status mq_windows_promise(struct mq_tx *tx, const struct mq_party *party,
                                  int64_t recipients, struct mq_error *err);
/* Settles what a claim took. */
enum mq_status mq_windows_return(struct mq_tx *tx, const struct mq_outlay *outlay,
                                 struct mq_error *err);
/* Why a job cannot go now: it has each of these rooms to choose from, and none has room. */
struct mq_kept {
    const struct mq_room *rooms;
    size_t count;
    int64_t most_s; /* it is tried again then at the latest */
};
/* Puts such a job back, without an attempt, to a time of its own: mail that waits for the same
 * limit gets times one after the other, as the limit can let it go. Of several rooms, it waits for
 * the one with the earliest time. */
enum mq_status mq_windows_put_back(struct mq_tx *tx, const struct mq_kept *kept,
                                   const struct mq_job *job, struct mq_error *err);
/* The limit that keeps a mail, as the row says it (`waits_for`): with the relay's name, if the
 * limit is for each relay. */
enum { MQ_WAITS_FOR_MAX = 400 };
void mq_room_text(const struct mq_room *room, char out[MQ_WAITS_FOR_MAX]);
/* The mails that go before one, and the one itself. */
struct mq_ahead {
    int64_t recipients;
    int64_t mails;
    bool leaves; /* the last one leaves the reserve */
};
/* In how many seconds all limits for all mail have let those go, if nothing else goes; -1: there
 * are none. The hourly limit's bucket must be up to date: mq_limit_look(). */
enum mq_status mq_limits_expect(struct mq_tx *tx, const struct mq_ahead *all, int64_t *in_s,
                                struct mq_error *err);
/* How many recipients or mails one limit leaves, from no known sender to no known relay. */
enum mq_status mq_windows_left(struct mq_tx *tx, const struct mq_limit *limit, struct mq_room *room,
                               struct mq_error *err);
/* Forgets all lines: mail that is put back from now on is the first in its line. */
enum mq_status mq_lines_forget(struct mq_tx *tx, struct mq_error *err);
/* Write all changes: of the windows, and of who waits for them. */
enum mq_status mq_windows_store(struct mq_tx *tx, struct mq_error *err);
enum mq_status mq_lines_store(struct mq_tx *tx, struct mq_error *err);
void mq_windows_free(struct mq_windows *windows);

#endif
