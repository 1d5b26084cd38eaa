/* The version of the tables, and bringing them to it. */
#ifndef MQ_QUEUE_SQL_SCHEMA_H
#define MQ_QUEUE_SQL_SCHEMA_H

#include <stdbool.h>

#include "core/error.h"

struct mq_queue;

#define MQ_SCHEMA_VERSION 2

/* Whether the job table has a column of that name, in whatever case, beside the reference's. */
bool mq_schema_has_column(const char *name);
/* Reads the version outside of a transaction, if that was not done yet, and migrates if it is not
 * this one. */
enum mq_status mq_schema_ready(struct mq_queue *queue, struct mq_error *err);
/* The same at opening, if tables or columns of this version are missing. Newer tables are accepted
 * there: storing mail does not read the version (mq_tx_next()). */
enum mq_status mq_schema_open(struct mq_queue *queue, struct mq_error *err);

#endif
