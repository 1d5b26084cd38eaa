/* Reading and setting the keys in the application's key/value table that control the queue. A claim
 * reads them in its transaction, so a change in an admin page takes effect at once. */
#ifndef MQ_QUEUE_CONFIG_CONFIG_H
#define MQ_QUEUE_CONFIG_CONFIG_H

#include "core/error.h"

struct mq_queue;

/* Reads a raw value; *value is malloc'ed, NULL if the key is unset. */
enum mq_status mq_queue_config(struct mq_queue *queue, const char *key, char **value,
                               struct mq_error *err);
/* Sets a key; value NULL unsets it. Checks the value of a known key (MQ_INVALID names key, value
 * and allowed values). Other keys belong to the application and are not checked. */
enum mq_status mq_queue_set_config(struct mq_queue *queue, const char *key, const char *value,
                                   struct mq_error *err);

#endif
