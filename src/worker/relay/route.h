/* A route: one relay, or a group of relays that stand in for each other. Mail that is claimed waits
 * in its route's list, so that a slow relay does not hold up the mail of others. */
#ifndef MQ_WORKER_RELAY_ROUTE_H
#define MQ_WORKER_RELAY_ROUTE_H

#include "send/group.h"
#include "worker/relay/lane.h"

struct mq_delivery;
struct mq_job;
struct mq_relay_list;

struct mq_route {
    char *text;            /* the DSN or the group */
    struct mq_group group; /* `relay` is the lane */
    struct mq_deliveries waiting;
    int64_t look_ms; /* CLOCK_BOOTTIME; while other mail waits, none is claimed for this route */
    int64_t look_wait_ms; /* 0: the last claim found mail for it */
};

/* Puts a claimed delivery into its route's list, or back into the queue if it cannot go soon. */
void mq_run_route(struct mq_delivery *delivery);
/* The route by what the application, the job or its sender says; NULL: the mail has gone back. */
struct mq_route *mq_delivery_find_route(struct mq_delivery *delivery);
/* Puts a claimed mail back as before its claim. Another counts for the message limit. */
void mq_delivery_put_back(struct mq_delivery *delivery, int64_t seconds, const char *why);
/* Whether the job names a relay that the map does not have; `why` (MQ_CLAIM_WHY_MAX) says so. */
bool mq_run_lacks_relay(const struct mq_run *run, const struct mq_job *job, char *why);
/* The route of a job that was not claimed yet; NULL: it is not known before. */
struct mq_route *mq_run_route_of(const struct mq_run *run, const struct mq_job *job);
/* Lets mail go on that was held for its domain, which has room again. */
void mq_run_end_holds(struct mq_run *run);
/* Composing can change the sender. If the mail then belongs to another route, moves it there, or
 * puts it back if no route can take it, and returns true. */
bool mq_delivery_reroutes(struct mq_delivery *delivery);
/* The lane that can take this delivery of the route now; NULL: none. `take`: it does. */
struct mq_lane *mq_route_lane(struct mq_route *route, const struct mq_delivery *delivery,
                              bool take);
/* Whether a delivery can pay now (relay/paying.h): a lane can take it, or none of its open lanes
 * has room. */
bool mq_route_can_pay(struct mq_route *route, const struct mq_delivery *delivery);
/* Lists the relays at which such a delivery can pay. The first one's room then counts as used, so
 * that the next delivery gets other room. */
void mq_route_relays(struct mq_route *route, const struct mq_delivery *delivery,
                     struct mq_relay_list *out);
/* Whether the job must go back, because its relay is suspect: mail of lower priorities goes
 * first. */
bool mq_route_postpones(const struct mq_route *route, const struct mq_job *job);
/* Lists the route's open relays for a job that is not claimed yet; none if it must wait. */
void mq_route_relays_of(struct mq_route *route, const struct mq_job *job,
                        struct mq_relay_list *out);
/* Whether a delivery of this route can begin now. */
bool mq_route_can_start(struct mq_route *route);
/* Whether a delivery that has paid to go to the lane can begin now. */
bool mq_lane_can_start(const struct mq_lane *lane);
bool mq_run_can_start(const struct mq_run *run);
/* Puts mail back whose routes have no open lane any more. */
void mq_run_put_back(struct mq_run *run);
/* Notes that the delivery begins at its lane: it does not come back there. */
void mq_delivery_tries(struct mq_delivery *delivery);
/* If a relay of its route where it has not been can take the delivery, lets it begin there and
 * returns true. If its domains have no room, it waits or has gone back. */
bool mq_delivery_moves(struct mq_delivery *delivery);
/* In how many seconds a relay of its route where it has not been may take the delivery; 0: none
 * will. */
int64_t mq_delivery_other_s(const struct mq_delivery *delivery);

/* How many jobs to claim besides those that wait; `settles`: in a transaction that is due anyhow.
 */
int64_t mq_run_wanted(const struct mq_run *run, bool settles);
/* How many of them can be for this route. Mail that goes back is not limited. */
int64_t mq_route_room(struct mq_route *route, bool settles);
/* Notes a claim, after its jobs have found their routes. */
void mq_run_looked(struct mq_run *run);

#endif
