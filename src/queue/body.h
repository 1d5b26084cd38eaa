/* Messages of claimed jobs, which a cycle does not read. */
#ifndef MQ_QUEUE_BODY_H
#define MQ_QUEUE_BODY_H

#include <stddef.h>
#include <stdint.h>

#include "core/error.h"

struct mq_claim;
struct mq_claim_request;
struct mq_job;
struct mq_queue;

#define MQ_BODY_SMALL (INT64_C(64) << 10) /* octets: up to this, many are read at a time */
#define MQ_BODIES_BYTES                                                      \
    (INT64_C(64) << 20) /* of messages in memory, where nothing else is said \
                         */

/* Looks where the messages are and loads those of `most` octets at the most. All jobs are of one
 * claim token and UNKNOWN. On failure what is still UNKNOWN was not looked at. */
enum mq_status mq_queue_read_bodies(struct mq_queue *queue, struct mq_job *const *jobs,
                                    size_t count, int64_t most, struct mq_error *err);
/* Loads one that is STORED: it is LOADED then, or LOST. Failures leave it as it was, MQ_NOMEM also
 * the queue. */
enum mq_status mq_queue_read_body(struct mq_queue *queue, struct mq_job *job, struct mq_error *err);
void mq_job_drop_body(struct mq_job *job); /* frees it; LOADED becomes STORED */
/* A cycle of nothing but a claim, with the messages: as many jobs as have about max_bytes of them,
 * and fit into memory, but one at least; the others go back as they were. */
enum mq_status mq_queue_claim(struct mq_queue *queue, const struct mq_claim_request *request,
                              int64_t max_bytes, struct mq_claim *claim, struct mq_error *err);

#endif
