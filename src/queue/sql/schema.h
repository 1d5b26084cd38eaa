/* The version of the tables, and their migration to it. */
#ifndef MQ_QUEUE_SQL_SCHEMA_H
#define MQ_QUEUE_SQL_SCHEMA_H

#include <stdbool.h>

#include "core/buffer.h"
#include "core/error.h"

struct mq_queue;

#define MQ_SCHEMA_VERSION 6

/* Whether `name`, ignoring case, is a column of the job table other than the reference column. */
bool mq_schema_has_column(const char *name);
/* Reads the version, if that was not done yet. MQ_SCHEMA unless the tables are of this version. It
 * changes nothing: mq_queue_prepare() migrates. */
enum mq_status mq_schema_check(struct mq_queue *queue, struct mq_error *err);
/* The same for a caller that has just read the version: false unless it is this one. */
bool mq_schema_is(struct mq_queue *queue, struct mq_str version);
/* For mq_queue_open(): migrates, but only if tables or columns of this version are missing, and
 * accepts newer tables, because storing mail does not read the version (mq_tx_next()). */
enum mq_status mq_schema_open(struct mq_queue *queue, struct mq_error *err);

#endif
