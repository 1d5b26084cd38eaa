/* One message on its way through a transport, and its recipients' results. */
#ifndef MQ_SEND_TRANSFER_H
#define MQ_SEND_TRANSFER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/buffer.h"
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
    MQ_TRANSFER_DONE,      /* the targets' results count as an attempt */
    MQ_TRANSFER_UNTOUCHED, /* goes back with attempt and tokens */
    MQ_TRANSFER_LEASE_OVER /* enter() said no: another may have it; nothing was finished */
};

enum mq_transfer_phase {
    MQ_PHASE_ENVELOPE = 2, /* before MAIL leaves; numbers as in enum mq_intent_phase */
    MQ_PHASE_BODY,     /* before the chunk with the dot leaves; the targets' RCPT results are set:
                          those of the transaction are RELEASED still, with their RCPT's code (2xx),
                          others DEFERRED or REFUSED, or RELEASED with a 4xx or 5xx code: for
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
    const void *job;         /* struct mq_job, for the PHP transport */

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

void mq_transfer_prepend(struct mq_transfer_list *list, struct mq_transfer *transfer);
/* Takes the one behind `before`, the first for NULL; NULL when there is none. */
struct mq_transfer *mq_transfer_take(struct mq_transfer_list *list, struct mq_transfer *before);

#endif
