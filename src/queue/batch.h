/* Many rows in one statement, where the database can. */
#ifndef MQ_QUEUE_BATCH_H
#define MQ_QUEUE_BATCH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/error.h"
#include "db/value.h"

struct mq_buffer;
struct mq_job;
struct mq_queue;
struct mq_settlement;
struct mq_tx;

/* Rows as a JSON array of arrays of numbers, for one parameter. */
void mq_batch_list_add(struct mq_buffer *list, int64_t id, int64_t beside);
struct mq_value mq_batch_list_value(struct mq_buffer *list);
/* Whether mq_batch_take() can be used. */
bool mq_batch_claims(const struct mq_queue *queue);
/* Writes claims under one token and to one time, which are set in the jobs. */
enum mq_status mq_batch_take(struct mq_tx *tx, struct mq_job *jobs, size_t count,
                             struct mq_error *err);
/* Settles the outcomes of a cycle. */
enum mq_status mq_batch_settle(struct mq_tx *tx, struct mq_settlement *outcomes, size_t count,
                               struct mq_error *err);

#endif
