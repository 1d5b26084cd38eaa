/* How a worker that has nothing to do learns of new mail. */
#ifndef MQ_QUEUE_NEWS_H
#define MQ_QUEUE_NEWS_H

#include <stdbool.h>
#include <stdint.h>

#include "core/error.h"

struct mq_queue;

/* Whether mq_queue_wait() tells of new mail: in a file, and on a PostgreSQL whose transactions have
 * agreed to tell (dialect_pgsql.c). *begun: they do only from now on, so that a claim must look for
 * what was stored before. */
bool mq_queue_watch(struct mq_queue *queue, bool *begun);
/* Waits up to ms. *told: another connection has written to the file, or stored mail on PostgreSQL,
 * where the wait ends then. A signal ends it, too. */
enum mq_status mq_queue_wait(struct mq_queue *queue, int64_t ms, bool *told, struct mq_error *err);
/* Frees PostgreSQL from telling; does nothing elsewhere. */
void mq_queue_unwatch(struct mq_queue *queue);

#endif
