/* The pauses of relays, as the config table has them. */
#ifndef MQ_QUEUE_CONFIG_PAUSE_H
#define MQ_QUEUE_CONFIG_PAUSE_H

#include <stdbool.h>
#include <stdint.h>

#include "core/error.h"

/* One relay's entry of mailRelayPause. */
struct mq_pause {
    int64_t until_s;
    int64_t count;
    char reason[256];
};
/* *found is false where the relay has none. MQ_CONFIG where the text cannot be read. */
enum mq_status mq_pause_find(const char *pauses, const char *relay, struct mq_pause *out,
                             bool *found, struct mq_error *err);
/* The pause that ends last; until_s 0: none, or unreadable. *relay: whose, malloc'ed; NULL where
 * there is none, or no memory for its name. */
struct mq_pause mq_pause_latest(const char *pauses, char **relay);

#endif
