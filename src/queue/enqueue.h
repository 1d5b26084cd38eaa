/* New mail: what the application hands over is checked and stored. */
#ifndef MQ_QUEUE_ENQUEUE_H
#define MQ_QUEUE_ENQUEUE_H

#include <stddef.h>
#include <stdint.h>

#include "core/buffer.h"
#include "core/error.h"

struct mq_notify;
struct mq_queue;

#define MQ_REFERENCE_MAX 190 /* octets */
#define MQ_TYPE_MAX      64
#define MQ_PRIORITY_MAX  100 /* and its negative */

/* One mail to store; all borrowed. body NULL: composed when sent. */
struct mq_new_job {
    struct mq_str reference; /* data NULL: none */
    struct mq_str mail_type;
    int priority;                        /* -100 … 100 */
    int64_t send_at;                     /* 0: now; times are not below 0 */
    int64_t expires_at;                  /* 0: never */
    int max_attempts;                    /* 0: the policy's */
    const char *message_id;              /* required */
    const char *envelope_from;           /* NULL: compose says */
    const struct mq_strings *recipients; /* NULL or empty: compose says */
    struct mq_str body;                  /* wire form; data NULL: none */
    const struct mq_notify *notify;      /* NULL: as the relay does */
    struct mq_str subject;               /* decoded, for people; data NULL: composed when sent */
};

/* MQ_INVALID / MQ_MESSAGE with the field for arguments out of range (reference and type: 1 …
 * octets as above, valid UTF-8, no control characters). */
enum mq_status mq_new_job_check(const struct mq_new_job *job, struct mq_error *err);
/* Durable when it returns MQ_OK: one transaction, all or none. The jobs have been checked. ids[i]
 * is the new id, or 0 where (reference, mail_type) is queued already; without meaning after a
 * failure. A parked job of the pair is replaced. */
enum mq_status mq_queue_enqueue(struct mq_queue *queue, const struct mq_new_job *jobs, size_t count,
                                int64_t *ids, struct mq_error *err);

#endif
