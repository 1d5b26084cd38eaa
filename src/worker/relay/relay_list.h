/* The relays that a run can use, and its routes: which relay or group of relays a mail goes to. The
 * caller of mq_worker_run() fills this before the run. */
#ifndef MQ_WORKER_RELAY_RELAY_LIST_H
#define MQ_WORKER_RELAY_RELAY_LIST_H

#include <stddef.h>
#include <stdint.h>

#include "core/buffer.h"
#include "core/error.h"

#define MQ_LANES_MAX 256

struct mq_job;
struct mq_lane;
struct mq_route;
struct mq_run;
struct mq_run_turns;
struct mq_transport;

/* A sender's address, "@domain", or another name; without regard to case. */
struct mq_relay_key {
    char *key;
    struct mq_route *route;
};

struct mq_relays {
    /* Opens the transport for one relay's DSN, with *connections sessions at
     * most; 0: as many as the options say. NULL: only the
     * transports of mq_relays_add_transport() are used. */
    enum mq_status (*open)(void *context, struct mq_str dsn, struct mq_transport **out,
                           int *connections, struct mq_error *err);
    /* Says where a job goes, instead of the keys: *dsn is a DSN or a group, malloc'ed; NULL or ""
     * means `standard`. MQ_THROWN and MQ_BAILOUT end the run; other failures put the mail back.
     * Called outside transactions. NULL: none. */
    enum mq_status (*choose)(void *context, const struct mq_job *job, char **dsn,
                             struct mq_error *err);
    void *context;
    struct mq_relay_key *keys; /* sorted */
    size_t key_count;
    struct mq_lane **lanes;
    size_t lane_count;
    struct mq_route **routes;
    size_t route_count;
    struct mq_route
        *standard;      /* for mail that nothing else says a route for; the first one added */
    size_t turn;        /* the route that begins first in the next round */
    struct mq_run *run; /* NULL before and after the run */
    struct mq_run_turns *turns; /* relay/passing.h; NULL: none yet */
};

/* Adds a transport that the caller has made and frees afterwards; groups call it `dsn`. */
enum mq_status mq_relays_add_transport(struct mq_relays *relays, const char *dsn,
                                       struct mq_transport *transport, int connections,
                                       struct mq_error *err);
/* Finds the route for a DSN or a group of DSNs (send/group.h), or opens its relays and adds it.
 * Relays with the same DSN are one. MQ_CONFIG with field "transport": it cannot be used. */
enum mq_status mq_relays_add(struct mq_relays *relays, struct mq_str text, struct mq_route **out,
                             struct mq_error *err);
/* Adds a key of the map, with a DSN or a group. "default" sets `standard`. MQ_CONFIG: as above, or
 * the key is empty or there already; the text names the key. */
enum mq_status mq_relays_map(struct mq_relays *relays, struct mq_str key, struct mq_str dsn,
                             struct mq_error *err);
void mq_relays_clear(struct mq_relays *relays);

/* Gives the lanes to a run that begins. */
void mq_relays_begin(struct mq_run *run);
/* Stores in the queue which mail goes to which relays, for those who ask when it will go. */
void mq_relays_note(struct mq_run *run);
/* How many sessions all relays have together. */
int mq_relays_connections(const struct mq_relays *relays);

#endif
