/* Worker slots on a server (mq_queue_is_shared()): locks of the database, held by the session. They
 * go with the connection: one that is opened again holds none. Behind a pooler that gives each
 * transaction another session (pgbouncer in transaction mode) they hold nothing. */
#ifndef MQ_QUEUE_SLOTS_H
#define MQ_QUEUE_SLOTS_H

#include "core/error.h"

struct mq_queue;

/* Takes one of the slots 0 … max − 1 without waiting; *slot is -1 where all are taken. */
enum mq_status mq_queue_take_slot(struct mq_queue *queue, int max, int *slot, struct mq_error *err);
/* Gives it back. Where that fails the connection is gone, and the slot with it. */
void mq_queue_free_slot(struct mq_queue *queue, int slot);
/* How many of the slots 0 … max − 1 are taken, by whatever machine. */
enum mq_status mq_queue_slots_held(struct mq_queue *queue, int max, int *held,
                                   struct mq_error *err);

#endif
