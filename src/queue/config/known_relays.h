/* Which relays the last run of the worker had for which mail (config key mailRelayRoutes), so that
 * those who ask when a mail will go know whose pause it must wait for. */
#ifndef MQ_QUEUE_CONFIG_KNOWN_RELAYS_H
#define MQ_QUEUE_CONFIG_KNOWN_RELAYS_H

#include <stdint.h>

#include "core/buffer.h"
#include "core/error.h"

struct mq_queue;

/* Stores a run's routes: pairs of a key of the map of relays and the names of the relays of its
 * group, with blanks between. The key "" is for mail that no other one is for. An empty list: which
 * mail goes where is not known before its claim. */
enum mq_status mq_queue_note_routes(struct mq_queue *queue, const struct mq_strings *routes,
                                    struct mq_error *err);
/* Reads the routes into an initialised, empty list. */
enum mq_status mq_routes_load(struct mq_queue *queue, struct mq_strings *out, struct mq_error *err);
/* When the first of the relays that a mail can go to is not paused any more: by the relay that it
 * names, or else by its envelope sender; both can be NULL. 0: one is not paused, or they are not
 * known. `pauses` is the text of mailRelayPause. */
int64_t mq_routes_pause_s(const struct mq_strings *routes, const char *pauses, int64_t now_s,
                          const char *named, const char *from);

#endif
