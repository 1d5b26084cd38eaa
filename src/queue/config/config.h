/* Reading and setting the keys in the application's key/value table that steer the queue. A claim
 * reads them in its transaction, so that an admin page acts at once. */
#ifndef MQ_QUEUE_CONFIG_CONFIG_H
#define MQ_QUEUE_CONFIG_CONFIG_H

#include "core/error.h"

struct mq_queue;

/* The raw value: *value malloc'ed, NULL when unset. */
enum mq_status mq_queue_config(struct mq_queue *queue, const char *key, char **value,
                               struct mq_error *err);
/* value NULL unsets. A known key's value is checked (MQ_INVALID names key, value and what is
 * allowed); other keys are the application's and are taken as they are. */
enum mq_status mq_queue_set_config(struct mq_queue *queue, const char *key, const char *value,
                                   struct mq_error *err);

#endif
