/* Rows of the job table: reading, changing the status, deleting. */
#ifndef MQ_QUEUE_SQL_COLUMNS_H
#define MQ_QUEUE_SQL_COLUMNS_H

#include <stdbool.h>
#include <stdint.h>

#include "core/error.h"
#include "policy/job_state.h"
#include "queue/sql/statements.h"

struct mq_job;
struct mq_job_list;
struct mq_queue;
struct mq_strings;

/* Appends all rows of a query (all columns, in the order of MQ_COLUMNS). Rows are not changed while
 * the query runs, because only one result can be open at a time. */
enum mq_status mq_jobs_read(struct mq_queue *queue, enum mq_sql slot, struct mq_args args,
                            struct mq_job_list *list, struct mq_error *err);
/* Appends the rows of a query that was just run. */
enum mq_status mq_jobs_take(struct mq_queue *queue, struct mq_job_list *list, struct mq_error *err);
/* MQ_MESSAGE if SMTP cannot carry one of the addresses. Both arguments may be NULL; `from` may be
 * "", the null reverse-path. */
enum mq_status mq_envelope_check(const char *from, const struct mq_strings *recipients,
                                 struct mq_error *err);
/* A change of status by the UPDATE `slot`. mq_job_transition() sets values[0] to the new status. */
struct mq_transition {
    enum mq_state from;
    enum mq_state to;
    enum mq_sql slot;
    struct mq_value *values;
    int count;
};
/* Changes a job's status: no other function does, but the next one. */
enum mq_status mq_job_transition(struct mq_queue *queue, const struct mq_transition *change,
                                 struct mq_error *err);
/* The same for the jobs that a template without a slot finds. */
enum mq_status mq_jobs_transition(struct mq_queue *queue, const struct mq_transition *change,
                                  const char *text, struct mq_error *err);
/* Sets *orphaned: whether the orphan check's table lacks the reference. It is false without an
 * orphan check, and without a reference. */
enum mq_status mq_job_orphaned(struct mq_queue *queue, const char *reference, bool *orphaned,
                               struct mq_error *err);
/* Appends the refused recipients to those that are left. */
enum mq_status mq_job_bring_back(struct mq_job *job, struct mq_error *err);
/* What a transaction has deleted, counted so that it does not hold the write lock for long. */
struct mq_dropped {
    int64_t rows;
    int64_t bytes; /* octets of their messages */
};
bool mq_dropped_enough(const struct mq_dropped *sum);
/* Deletes a job that nobody is sending, with its body. Counts it in *sum, if `sum` is not NULL. */
enum mq_status mq_job_drop(struct mq_queue *queue, int64_t id, struct mq_dropped *sum,
                           struct mq_error *err);
/* The job's maximum of attempts: its own, or that of the backoff policy. */
int mq_job_max_attempts(const struct mq_queue *queue, const struct mq_job *job);

#endif
