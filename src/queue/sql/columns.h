/* Rows of the job table: reading, changing the status, deleting. */
#ifndef MQ_QUEUE_SQL_COLUMNS_H
#define MQ_QUEUE_SQL_COLUMNS_H

#include <stdbool.h>
#include <stdint.h>

#include "core/error.h"
#include "policy/states.h"
#include "queue/sql/statements.h"

struct mq_job;
struct mq_queue;

/* Of a transaction, at most: */
#define MQ_ROWS_A_CYCLE  1000               /* expired, orphaned, recovered, deleted rows */
#define MQ_DROPPED_BYTES (INT64_C(4) << 20) /* of the messages that it deletes, or one message */

/* Reads the row that the statement stands on (all columns, in the order of {cols}). *readable is
 * false where another program wrote recipients, sender or claim token that cannot be used. The job
 * is initialised here; the caller clears it, also on failure. */
enum mq_status mq_job_read(struct mq_queue *queue, struct mq_job *job, bool *readable,
                           struct mq_error *err);
/* Whether that row's status is one of ours. */
bool mq_job_has_state(struct mq_queue *queue);
/* Loads the body by the job's id; it stays NULL where there is none. */
enum mq_status mq_job_load_body(struct mq_queue *queue, struct mq_job *job, struct mq_error *err);
/* A change of status: `slot` is an UPDATE whose ?1 is the new status; values[0] is filled in. */
struct mq_transition {
    enum mq_state from;
    enum mq_state to;
    enum mq_sql slot;
    struct mq_value *values;
    int count;
};
/* Changes a job's status: the only function that does. */
enum mq_status mq_job_transition(struct mq_queue *queue, const struct mq_transition *change,
                                 struct mq_error *err);
/* Whether nothing is there any more that the job refers to, by the orphan check. */
enum mq_status mq_job_orphaned(struct mq_queue *queue, const char *reference, bool *orphaned,
                               struct mq_error *err);
/* Deletes a job that nobody is sending, with its body. */
enum mq_status mq_job_delete(struct mq_queue *queue, int64_t id, struct mq_error *err);
/* What a transaction has deleted: large messages keep the write lock for long. */
struct mq_dropped {
    int64_t rows;
    int64_t bytes; /* of their messages */
};
static inline bool mq_dropped_enough(const struct mq_dropped *sum)
{
    return sum->rows >= MQ_ROWS_A_CYCLE || sum->bytes >= MQ_DROPPED_BYTES;
}
/* Deletes as mq_job_delete() does, and counts. */
enum mq_status mq_job_drop(struct mq_queue *queue, int64_t id, struct mq_dropped *sum,
                           struct mq_error *err);
/* The maximum that holds for this job. */
int mq_job_max_attempts(const struct mq_queue *queue, const struct mq_job *job);

#endif
