/* What the queue keeps of relays: config keys whose value is an object from a relay's name to a
 * text. */
#ifndef MQ_QUEUE_CONFIG_RELAY_TEXTS_H
#define MQ_QUEUE_CONFIG_RELAY_TEXTS_H

#include <stdbool.h>

#include "core/buffer.h"
#include "core/error.h"

struct mq_queue;

/* A config key whose value is an object from relays' names to texts, as parallel lists. */
struct mq_relay_texts {
    const char *key;
    struct mq_strings relays;
    struct mq_strings texts;
};
void mq_relay_texts_clear(struct mq_relay_texts *texts);
/* MQ_CONFIG, field `key`, where the text is no such object; then empty. */
enum mq_status mq_relay_texts_parse(const char *key, const char *text, struct mq_relay_texts *out,
                                    struct mq_error *err);
/* The same of the key's current value; one that cannot be read counts as empty with `heal`. */
enum mq_status mq_relay_texts_read(struct mq_queue *queue, const char *key, bool heal,
                                   struct mq_relay_texts *out, struct mq_error *err);
const char *mq_relay_texts_find(const struct mq_relay_texts *texts, const char *relay);
/* Writes them to their key with `relay` set to `text`, or without it where that is NULL; in a
 * transaction. */
enum mq_status mq_relay_texts_store(struct mq_queue *queue, const struct mq_relay_texts *texts,
                                    const char *relay, const char *text, struct mq_error *err);

#endif
