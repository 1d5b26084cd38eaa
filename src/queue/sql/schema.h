/* The version of the tables, and their migration to it. */
#ifndef MQ_QUEUE_SQL_SCHEMA_H
#define MQ_QUEUE_SQL_SCHEMA_H

#include <stdbool.h>

#include "core/error.h"

struct mq_queue;

#define MQ_SCHEMA_VERSION 2

/* Whether `name`, ignoring case, is a column of the job table other than the reference column. */
bool mq_schema_has_column(const char *name);
/* Reads the version, outside of a transaction, if that was not done yet. Migrates older tables;
 * newer ones are an error (MQ_SCHEMA). */
enum mq_status mq_schema_ready(struct mq_queue *queue, struct mq_error *err);
/* Does the same when a queue is opened, but only if tables or columns of this version are missing,
 * and accepts newer tables: storing mail does not read the version (mq_tx_next()). */
enum mq_status mq_schema_open(struct mq_queue *queue, struct mq_error *err);

#endif
