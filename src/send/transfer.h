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
    enum mq_outcome result; /* RELEASED: no transaction has decided it */
    const char *phase;      /* "mail", "rcpt", "dot", …: where that was decided; NULL: not yet */
    int code;               /* of the deciding reply; 0: none */
    char reply[MQ_TARGET_REPLY_MAX];
};

/* How a transfer came back. */
enum mq_transfer_end {
    MQ_TRANSFER_DONE,      /* the targets' results count as an attempt */
    MQ_TRANSFER_UNTOUCHED, /* given back: costs no attempt and no tokens */
    MQ_TRANSFER_LEASE_OVER /* enter() returned false: another worker may have it; no dot was sent */
};

enum mq_transfer_phase {
    MQ_PHASE_ENVELOPE = 2, /* before MAIL leaves; numbers as in enum mq_intent_phase */
    MQ_PHASE_BODY,     /* before the chunk with the dot leaves. Targets in the transaction are still
                          RELEASED, with their RCPT's 2xx code. Others have a result, or are
                          RELEASED with a 4xx or 5xx code: they need another transaction */
    MQ_PHASE_ACCEPTED, /* a 2xx to the dot was read; results are set */
    MQ_PHASE_REFUSED,  /* another reply to the dot was read; results are set */
    MQ_PHASE_PARTLY    /* LMTP: some recipients' replies to the dot were read and their results are
                          set; the others are as in BODY */
};

/* One message on its way. The worker owns it; the transport has it from submit() until take_done()
 * gives it back. All that it points to must stay valid and unmoved until then. */
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
    const char *refused; /* JSON object: recipients that get no mail any more → why; or NULL */

    /* The worker's function, called at each phase: writes the intent record. Returns false if the
     * lease is over; the transport then closes without a dot. The phases come in order, and from
     * ENVELOPE again if the mail is sent once more or was not sent after all. */
    bool (*enter)(struct mq_transfer *transfer, enum mq_transfer_phase phase);
    void *context; /* for enter() and to_7bit() */
    /* Converts prefix, message and flags for a relay that takes only 7 bits. Called before enter(),
     * if flags have MQ_MESSAGE_8BIT. Returns MQ_MESSAGE if the message must not be changed; err
     * says why. The function is NULL if the message cannot be converted. */
    enum mq_status (*to_7bit)(struct mq_transfer *transfer, struct mq_error *err);

    /* Set by the transport: */
    enum mq_transfer_end end;
    bool drew_trouble; /* UNTOUCHED because the reply to this mail ended the session or said that
                          the relay is in trouble: other mails should go first */
    char error[MQ_TARGET_REPLY_MAX]; /* for last_error if no target's reply tells why; "" none */
    const char *phase;               /* how far it came; the targets have their own */
    int64_t retry_after_s;           /* named by the relay; 0: none */
    int64_t at_s;                    /* when the deciding reply came, UTC; 0: none */
    int64_t ms;                      /* from MAIL to the deciding reply; not set without MAIL */

    struct mq_transfer *next; /* for the transport's lists */
    unsigned transport_flags; /* for the transport's use; submit() clears them */
};

struct mq_transfer_list {
    struct mq_transfer *first, *last;
    size_t count;
};

void mq_transfer_prepend(struct mq_transfer_list *list, struct mq_transfer *transfer);
/* Takes out and returns the transfer after `before` (NULL: the first); NULL if there is none. */
struct mq_transfer *mq_transfer_take(struct mq_transfer_list *list, struct mq_transfer *before);

#endif
