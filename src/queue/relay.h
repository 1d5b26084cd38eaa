/* What the queue keeps of a relay across runs: its pause, and what it was found to be
 * able to do. */
#ifndef MQ_QUEUE_RELAY_H
#define MQ_QUEUE_RELAY_H

#include <stdbool.h>
#include <stdint.h>

#include "core/error.h"

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

/* What a run's transport found its relay to be able to do (send/transport.h), for later runs; *out
 * is malloc'ed, NULL: nothing is known. */
enum mq_status mq_queue_finding(struct mq_queue *queue, const char *relay, char **out,
                                struct mq_error *err);
enum mq_status mq_queue_keep_finding(struct mq_queue *queue, const char *relay, const char *finding,
                                     struct mq_error *err);

#endif
