/* Reads the messages of claimed jobs, outside of the cycle's transaction. */
#ifndef MQ_QUEUE_BODY_H
#define MQ_QUEUE_BODY_H

#include <stddef.h>
#include <stdint.h>

#include "core/error.h"

struct mq_claim;
struct mq_claim_request;
struct mq_job;
struct mq_queue;

#define MQ_BODY_SMALL (INT64_C(64) << 10) /* octets: smaller messages are read many at a time */
#define MQ_BODIES_BYTES \
    (INT64_C(64) << 20) /* octets of messages in memory, if the caller sets no other limit */

/* Looks up which jobs have a message, and loads those of at most `most` octets. All jobs have the
 * same claim token and are UNKNOWN. After a failure, jobs that are still UNKNOWN were not looked
 * up. */
enum mq_status mq_queue_read_bodies(struct mq_queue *queue, struct mq_job *const *jobs,
                                    size_t count, int64_t most, struct mq_error *err);
/* Loads the message of a STORED job, which becomes LOADED or LOST. After a failure it is STORED
 * still; after MQ_NOMEM the queue can still be used. */
enum mq_status mq_queue_read_body(struct mq_queue *queue, struct mq_job *job, struct mq_error *err);
/* Loads the message of a job that need not be claimed; it stays NULL if there is none. `changes`:
 * as it is now, and locked; otherwise as the transaction sees it. */
enum mq_status mq_job_load_body(struct mq_queue *queue, struct mq_job *job, bool changes,
                                struct mq_error *err);
void mq_job_drop_body(struct mq_job *job); /* frees it; LOADED becomes STORED */
/* Claims jobs and loads their messages: as many as have about max_bytes together and fit into
 * memory, but at least one. Other claimed jobs are released. */
enum mq_status mq_queue_claim(struct mq_queue *queue, const struct mq_claim_request *request,
                              int64_t max_bytes, struct mq_claim *claim, struct mq_error *err);

#endif
