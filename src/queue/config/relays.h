/* What the queue stores about a relay for later runs: its pause, and what it supports. */
#ifndef MQ_QUEUE_CONFIG_RELAYS_H
#define MQ_QUEUE_CONFIG_RELAYS_H

#include <stdbool.h>
#include <stdint.h>

#include "core/error.h"
#include "queue/config/keys.h"

struct mq_queue;

/* The relay's pause (config key mailRelayPause). It doubles from 60 s to 3,600 s, or lasts
 * retry_after_s if that is above 0. Its entry stays until the relay accepts a mail. */
struct mq_relay_pause {
    const char *relay; /* the transport's name, redacted */
    const char *reason;
    int64_t retry_after_s; /* 0: none */
    bool only_noted;       /* writes the entry without a pause */
    int64_t until_s;       /* out */
};
enum mq_status mq_queue_pause_relay(struct mq_queue *queue, struct mq_relay_pause *pause,
                                    struct mq_error *err);
enum mq_status mq_queue_clear_pause(struct mq_queue *queue, const char *relay,
                                    struct mq_error *err);
/* *count is 0 if the relay has no entry, otherwise 1 + its pauses since the last acceptance. */
enum mq_status mq_queue_count_pauses(struct mq_queue *queue, const char *relay, int64_t *count,
                                     struct mq_error *err);

/* One relay's entry of mailRelayPause. */
struct mq_pause {
    int64_t since_s, until_s; /* since 0: not known */
    int64_t count;
    char reason[256];
};
/* Whether it lasts: not if it begins in over a minute or ends in over a day (by a wrong clock). */
bool mq_pause_lasts(const struct mq_pause *pause, int64_t now_s);
/* Reads a relay's entry; all zero if it has none. */
enum mq_status mq_queue_pause_of(struct mq_queue *queue, const char *relay, struct mq_pause *out,
                                 struct mq_error *err);
/* Finds a relay's entry. *found is false if it is missing or unreadable. Errors: MQ_NOMEM. */
enum mq_status mq_pause_find(const char *pauses, const char *relay, struct mq_pause *out,
                             bool *found, struct mq_error *err);
/* The one that lasts longest; until_s 0: none. *relay is its relay, malloc'ed; NULL: none. */
struct mq_pause mq_pause_latest(const char *pauses, int64_t now_s, char **relay);

/* Reads the text that `key` has for a relay; *out is malloc'ed, NULL: none. The text of
 * MQ_KEY_RELAY_PIPELINING says what a transport found the relay to support (send/transport.h). */
enum mq_status mq_relay_text(struct mq_queue *queue, enum mq_config_id key, const char *relay,
                             char **out, struct mq_error *err);
/* Writes that text in the caller's transaction, or in its own; NULL removes it. */
enum mq_status mq_relay_text_store(struct mq_queue *queue, enum mq_config_id key, const char *relay,
                                   const char *text, struct mq_error *err);
/* Notes for a table by which rules and limits its mail was put back: mq_settings_mark(), or 0. */
enum mq_status mq_mark_put(struct mq_queue *queue, const char *table, int64_t mark,
                           struct mq_error *err);

#endif
