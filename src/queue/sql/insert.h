/* New rows: one at a time, or many with one statement where each statement is a round trip. */
#ifndef MQ_QUEUE_SQL_INSERT_H
#define MQ_QUEUE_SQL_INSERT_H

#include <stddef.h>
#include <stdint.h>

#include "core/error.h"

struct mq_new_job;
struct mq_queue;

/* Inserts a job with its body. *id is 0 where the pair (reference, type) is there already. now_s is
 * the time where the host's clock counts. */
enum mq_status mq_insert_job(struct mq_queue *queue, const struct mq_new_job *job, int64_t now_s,
                             int64_t *id, struct mq_error *err);

/* The same for many within a transaction, if the database can. ids[i] is 0 if jobs[i] was not
 * stored because its pair is there already. All are 0 if they have to be stored one by one. */
enum mq_status mq_insert_jobs(struct mq_queue *queue, const struct mq_new_job *jobs, size_t count,
                              int64_t *ids, struct mq_error *err);

#endif
