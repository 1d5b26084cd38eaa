/* A lane: one relay within a run, with its transport, and what the run has found out about it. */
#ifndef MQ_WORKER_RELAY_LANE_H
#define MQ_WORKER_RELAY_LANE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/error.h"
#include "worker/trouble.h"

struct mq_delivery; /* worker/deliveries.h */
struct mq_run;
struct mq_transport;

struct mq_deliveries {
    struct mq_delivery *head, *tail;
    size_t count;
};

struct mq_lane {
    struct mq_run *run; /* NULL before the run */
    struct mq_transport *transport;
    size_t number;             /* its place in mq_relays.lanes */
    const char *name;          /* of the relay in logs, events and config keys */
    char *dsn;                 /* with its secrets */
    char *own_name;            /* if another lane's transport has the same name; else NULL */
    bool borrowed;             /* the transport is not freed with the lane */
    int connections;           /* the most sessions */
    int64_t retry_s;           /* in a group: how long it is left out when it fails; else 0 */
    struct mq_deliveries paid; /* have paid for the relay's limits, and have not begun */
    size_t reckoned;           /* that are to pay in the next cycle */
    int64_t full_ms;           /* CLOCK_BOOTTIME; until then its limits have no room, … */
    size_t full_for;  /* … for mail to so many recipients or more, which goes whole; 0: for any */
    size_t under_way; /* how many deliveries the transport has */
    int64_t moved_ms; /* CLOCK_BOOTTIME; when a delivery last began or came back */
    int64_t dot_ms;   /* how long the relay takes for a mail, on average; 0: not known yet */
    struct mq_deliveries doubted; /* worker/run.h */
    struct mq_doubts doubts;
    struct mq_trouble trouble;
    struct mq_finding finding;
};

/* How many failures in one domain make the relay suspect. */
int64_t mq_lane_domain_max(const struct mq_lane *lane);
/* Whether so many mails failed that the relay may be the cause. */
bool mq_lane_failed_many(const struct mq_lane *lane);
/* Whether, for that reason, none may begin until those under way have ended. */
bool mq_lane_is_suspect(const struct mq_lane *lane);
/* How many more deliveries the lane can begin; with `just_in_time`, at once. */
size_t mq_lane_capacity(const struct mq_lane *lane, bool just_in_time);
/* Takes into dot_ms how long the relay took for a mail; below 0: not known. */
void mq_lane_note_time(struct mq_lane *lane, int64_t ms);
/* Whether the relay is used: it is not paused. */
static inline bool mq_lane_is_open(const struct mq_lane *lane)
{
    return !lane->trouble.found;
}
/* ---- all lanes of a run ---- */

/* The only lane; NULL if there are several. */
struct mq_lane *mq_run_only_lane(const struct mq_run *run);
/* The longest dot_ms. */
int64_t mq_run_dot_ms(const struct mq_run *run);
/* The relay's name, if the run has only one; else NULL. */
const char *mq_run_relay(const struct mq_run *run);
/* As the functions of send/transport.h. */
void mq_run_recall(struct mq_run *run);
void mq_run_wind_down(struct mq_run *run);
void mq_run_quit(struct mq_run *run, int64_t timeout_ms);
void mq_run_abort(struct mq_run *run);
/* Moves the transports on; waits at most timeout_ms for a delivery to come back. */
enum mq_status mq_run_step(struct mq_run *run, int64_t timeout_ms, struct mq_error *err);

#endif
