/* Config keys whose value is a JSON object from a relay's name to a text: pauses and findings. A
 * value that cannot be read counts as empty. */
#ifndef MQ_QUEUE_CONFIG_RELAY_TEXTS_H
#define MQ_QUEUE_CONFIG_RELAY_TEXTS_H

#include "core/buffer.h"
#include "core/error.h"
#include "queue/config/keys.h"

struct mq_queue;

struct mq_relay_texts {
    struct mq_strings relays;
    struct mq_strings texts; /* at the same indexes */
};
/* `value` may be NULL. */
enum mq_status mq_relay_texts_parse(const char *value, struct mq_relay_texts *out,
                                    struct mq_error *err);
void mq_relay_texts_clear(struct mq_relay_texts *texts);
/* NULL: none. */
const char *mq_relay_texts_find(const struct mq_relay_texts *texts, const char *relay);

/* A relay's text as it is stored now: *out is malloc'ed, NULL: none. */
enum mq_status mq_relay_text_get(struct mq_queue *queue, enum mq_config_id key, const char *relay,
                                 char **out, struct mq_error *err);
/* Writes a relay's text, within a transaction. NULL removes it. */
enum mq_status mq_relay_text_put(struct mq_queue *queue, enum mq_config_id key, const char *relay,
                                 const char *text, struct mq_error *err);
/* The same in a transaction of its own. */
enum mq_status mq_relay_text_store(struct mq_queue *queue, enum mq_config_id key, const char *relay,
                                   const char *text, struct mq_error *err);

#endif
