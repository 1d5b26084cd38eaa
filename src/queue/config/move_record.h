/* Whether the queue was moved into another database, which alone sends then. */
#ifndef MQ_QUEUE_CONFIG_MOVE_RECORD_H
#define MQ_QUEUE_CONFIG_MOVE_RECORD_H

#include <stdbool.h>

#include "core/error.h"

struct mq_queue;

enum mq_move_side { MQ_MOVED_TO, MQ_MOVED_FROM }; /* in the source's config, in the target's */

/* Whether nobody may claim from this table, by the key's value. */
bool mq_move_blocks(const char *text, enum mq_move_side side, const char *table);
/* The same, read again by a transaction that has locked rows of the table. If nothing blocks it by
 * then, a move waits for its end. Only for databases whose writers run at the same time. */
enum mq_status mq_move_look(struct mq_queue *queue, bool *blocks, struct mq_error *err);

#endif
