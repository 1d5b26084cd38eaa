/* New mail: checks and stores what the application hands over. */
#ifndef MQ_QUEUE_ENQUEUE_H
#define MQ_QUEUE_ENQUEUE_H

#include <stddef.h>
#include <stdint.h>

#include "core/buffer.h"
#include "core/error.h"

struct mq_notify;
struct mq_queue;
struct mq_tx;

#define MQ_REFERENCE_MAX 190 /* octets */
#define MQ_PRIORITY_MAX  100 /* and its negative */

/* One mail to store; all pointers are borrowed. body NULL: composed when sent. */
struct mq_new_job {
    struct mq_str reference; /* data NULL: none */
    struct mq_str mail_type;
    int priority;                        /* -100 … 100 */
    int64_t send_at;                     /* 0: now; times are not negative */
    int64_t expires_at;                  /* 0: never */
    int max_attempts;                    /* 0: as the backoff policy says */
    const char *message_id;              /* required */
    const char *envelope_from;           /* NULL: set when composed */
    const struct mq_strings *recipients; /* NULL or empty: set when composed */
    struct mq_str body;                  /* wire form; data NULL: none */
    const struct mq_notify *notify;      /* NULL: the relay's default */
    struct mq_str subject;               /* decoded, for people; data NULL: composed when sent */
    struct mq_str relay;                 /* a name of the map of relays; data NULL: by its sender */
    int64_t resent_of;                   /* id of the job that it replaces; 0: none */
    struct mq_str scope;                 /* the list that it is mail to; data NULL: none */
    int64_t cleared;                     /* as in struct mq_job; set when it is stored */
};

/* Checks a job. MQ_INVALID or MQ_MESSAGE names the field that is not allowed (reference and type: 1
 * octet to the maximum above, valid UTF-8, no control characters). */
enum mq_status mq_new_job_check(const struct mq_new_job *job, struct mq_error *err);
/* Stores all jobs or none, in one transaction, durably if it returns MQ_OK. The caller has checked
 * the jobs. ids[i] is the new id, or 0 if (reference, mail_type) is queued already; undefined after
 * a failure. A parked or expired job of the same pair is replaced. */
enum mq_status mq_queue_enqueue(struct mq_queue *queue, struct mq_new_job *jobs, size_t count,
                                int64_t *ids, struct mq_error *err);
/* Stores a checked job within a transaction; *id as above. */
enum mq_status mq_job_store(struct mq_tx *tx, const struct mq_new_job *job, int64_t *id,
                            struct mq_error *err);

#endif
