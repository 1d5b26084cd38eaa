/* What the queue keeps of a relay across runs: its pause, and what it was found to be
 * able to do. */
#ifndef MQ_QUEUE_RELAY_H
#define MQ_QUEUE_RELAY_H

#include <stdbool.h>
#include <stdint.h>

#include "core/error.h"
#include "queue/config/keys.h"

struct mq_queue;

/* The relay's pause (config key mailRelayPause). Doubles from 60 s to 3,600 s, or retry_after_s
 * when above 0. It stays on record when it is over, until the relay accepts a mail. */
struct mq_relay_pause {
    const char *relay; /* the transport's name, redacted */
    const char *reason;
    int64_t retry_after_s; /* 0: none */
    bool only_noted;       /* over at once: it only records that nothing was accepted since */
    int64_t until_s;       /* out */
};
enum mq_status mq_queue_pause_relay(struct mq_queue *queue, struct mq_relay_pause *pause,
                                    struct mq_error *err);
enum mq_status mq_queue_clear_pause(struct mq_queue *queue, const char *relay,
                                    struct mq_error *err);
/* 0: nothing is on record; else one more than the pauses since the last acceptance. */
enum mq_status mq_queue_count_pauses(struct mq_queue *queue, const char *relay, int64_t *count,
                                     struct mq_error *err);

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

/* The text that `key` has of a relay; *out is malloc'ed, NULL: none. MQ_KEY_RELAY_PIPELINING: what
 * a run's transport found its relay to be able to do (send/transport.h), for later runs. */
enum mq_status mq_relay_text(struct mq_queue *queue, enum mq_config_id key, const char *relay,
                             char **out, struct mq_error *err);
/* Writes it in a transaction; NULL removes it. */
enum mq_status mq_relay_text_store(struct mq_queue *queue, enum mq_config_id key, const char *relay,
                                   const char *text, struct mq_error *err);

#endif
