/* Writing into the config table. */
#ifndef MQ_QUEUE_CONFIG_STORE_H
#define MQ_QUEUE_CONFIG_STORE_H

#include "core/error.h"

struct mq_queue;

/* Writes a key without checks. value NULL unsets. */
enum mq_status mq_config_put(struct mq_queue *queue, const char *key, const char *value,
                             struct mq_error *err);

#endif
