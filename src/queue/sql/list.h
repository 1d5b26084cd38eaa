/* A list of rows for one parameter of a statement: a JSON array of pairs of numbers. */
#ifndef MQ_QUEUE_SQL_LIST_H
#define MQ_QUEUE_SQL_LIST_H

#include <stdint.h>

#include "core/buffer.h"
#include "db/value.h"

void mq_sql_list_add(struct mq_buffer *list, int64_t id, int64_t beside);
struct mq_value mq_sql_list(struct mq_buffer *list); /* ends the list; borrows its text */

#endif
