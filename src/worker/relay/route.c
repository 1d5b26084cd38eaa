/* Where claimed mail waits, and which lane of a group takes it. */
#include "worker/relay/route.h"

#include "queue/claim.h"
#include "queue/windows/payments.h"
#include "send/transport.h"
#include "worker/deliveries.h"
#include "worker/relay/kept.h"
#include "worker/relay/relay_list.h"
#include "worker/run.h"

/* A route of several has at most so many waiting mails: the others go back, as the next claims are
 * to find mail for other routes. */
#define WAITING_MAX 500
/* Between two claims that only one route wants, while others have mail that waits: this, doubled
 * after each one that found none for it. */
#define LOOK_FIRST_MS 50
#define LOOK_MAX_MS   1000
/* For how long mail is put back, in seconds. */
#define BACK_MIN_S 1
#define BACK_MAX_S 3600
#define LOWER_S    60 /* mail of higher priorities, while a suspect relay gets mail of lower ones */

static struct mq_run *run_of(const struct mq_route *route)
{
    const struct mq_group *group = &route->group;
    while (group->kind != MQ_GROUP_RELAY) {
        group = group->members;
    }
    return ((struct mq_lane *)group->relay)->run;
}

static bool is_only(const struct mq_route *route)
{
    return run_of(route)->relays->route_count == 1;
}

/* ---- a group's lanes ---- */

/* Each is better than the one before. */
enum pick {
    CLOSED,
    KEPT, /* its limits have no room */
    FULL, /* it is busy */
    FOUND
};

/* How many more deliveries can go to the lane besides those that have paid to go there. */
static size_t room(const struct mq_lane *lane, bool just_in_time)
{
    size_t taken = lane->paid.count + lane->reckoned;
    size_t all = mq_lane_capacity(lane, just_in_time);
    return all > taken ? all - taken : 0;
}

/* The mail that a lane is looked for. */
struct seeker {
    const uint64_t *tried; /* it is not to go to these lanes (mq_delivery.tried); NULL: to any */
    size_t recipients;     /* how many it has; 0: not known */
};

static const struct seeker any_mail = {NULL, 0};

static bool is_tried(const struct mq_lane *lane, const uint64_t *tried)
{
    return tried && (tried[lane->number / 64] >> lane->number % 64 & 1) != 0;
}

static enum pick look(const struct mq_lane *lane, struct seeker mail)
{
    const struct mq_run *run = lane->run;
    bool kept = run->claim.pays_later && lane->full_ms > mq_run_now_ms(run) &&
                mail.recipients >= lane->full_for;
    return !mq_lane_is_open(lane) || is_tried(lane, mail.tried) ? CLOSED
           : kept                                               ? KEPT
           : room(lane, run->claim.limited) > 0                 ? FOUND
                                                                : FULL;
}

/* Finds the lane that can take a mail now. */
static enum pick pick(struct mq_group *group, struct seeker mail, bool take, struct mq_lane **out)
{
    if (group->kind == MQ_GROUP_RELAY) {
        *out = group->relay;
        return look(*out, mail);
    }
    enum pick best = CLOSED;
    size_t first = group->next;
    for (size_t i = 0; i < group->count && best != FOUND; i++) {
        size_t at = (first + i) % group->count;
        enum pick found = pick(&group->members[at], mail, take, out);
        if (found == FULL && group->kind == MQ_GROUP_FAILOVER) {
            return FULL; /* a relay that is only busy is not replaced */
        }
        if (found == FOUND && take && group->kind == MQ_GROUP_ROUNDROBIN) {
            group->next = (at + 1) % group->count;
        }
        best = found > best ? found : best;
    }
    return best;
}

/* A delivery is not to go to a lane that it comes from. If the others have failed meanwhile, it
 * can, because it must hold up no mail. */
static struct seeker seeker_of(struct mq_route *route, const struct mq_delivery *delivery)
{
    struct mq_lane *lane;
    struct seeker mail = any_mail;
    if (delivery) {
        mail.recipients = delivery->job.recipients.count;
        mail.tried = delivery->lane ? delivery->tried : NULL;
        bool others = mail.tried && pick(&route->group, mail, false, &lane) != CLOSED;
        mail.tried = others ? mail.tried : NULL;
    }
    return mail;
}

struct mq_lane *mq_route_lane(struct mq_route *route, const struct mq_delivery *delivery, bool take)
{
    struct mq_lane *lane = NULL;
    return pick(&route->group, seeker_of(route, delivery), take, &lane) == FOUND ? lane : NULL;
}

/* Lists the lanes of which look() says at least this. */
static enum pick list(struct mq_group *group, struct seeker mail, enum pick least,
                      struct mq_relay_list *out)
{
    const struct mq_lane *lane = group->relay;
    enum pick best = CLOSED;
    if (group->kind == MQ_GROUP_RELAY) {
        best = look(lane, mail);
        if (best >= least && out->count < MQ_PAYMENT_RELAYS_MAX) {
            out->whole[out->count] = lane->transport->whole;
            out->names[out->count++] = lane->transport->name;
        }
        out->busy = out->busy || (best == FULL && least > FULL);
        if (!is_tried(lane, mail.tried) && !mq_lane_is_open(lane)) {
            int64_t opens_s = lane->trouble.until_s > 0 ? lane->trouble.until_s : 1;
            out->opens_s = out->opens_s ? mq_least(out->opens_s, opens_s) : opens_s;
        }
    }
    size_t first = group->next;
    for (size_t i = 0; i < group->count; i++) {
        enum pick found = list(&group->members[(first + i) % group->count], mail, least, out);
        best = found > best ? found : best;
        if (found == FULL && least > FULL && group->kind == MQ_GROUP_FAILOVER) {
            break;
        }
    }
    return best;
}

bool mq_route_can_pay(struct mq_route *route, const struct mq_delivery *delivery)
{
    struct mq_lane *lane;
    enum pick found = pick(&route->group, seeker_of(route, delivery), false, &lane);
    return found == FOUND || found == KEPT;
}

void mq_route_relays(struct mq_route *route, const struct mq_delivery *delivery,
                     struct mq_relay_list *out)
{
    struct mq_lane *lane = mq_route_lane(route, delivery, false);
    list(&route->group, seeker_of(route, delivery), lane ? FOUND : KEPT, out);
    if (lane) {
        mq_route_lane(route, delivery, true);
        lane->reckoned++;
    }
}

/* Whether the route has an open lane besides those tried. */
static bool is_open(struct mq_route *route, const uint64_t *tried)
{
    struct mq_lane *lane;
    const struct seeker mail = {.tried = tried};
    return pick(&route->group, mail, false, &lane) != CLOSED;
}

/* Adds up what a group's open lanes can begin, and their sessions. If the limits of all have no
 * room, this does not count: mail that is claimed for them goes back. */
static size_t capacity(struct mq_group *group, bool kept, bool just_in_time, int64_t *sessions)
{
    struct mq_lane *lane = group->relay;
    size_t sum = 0;
    if (group->kind == MQ_GROUP_RELAY) {
        *sessions += lane->connections;
        return look(lane, any_mail) == KEPT && !kept ? 0 : room(lane, just_in_time);
    }
    for (size_t i = 0; i < group->count; i++) {
        enum pick found = pick(&group->members[i], any_mail, false, &lane);
        sum += found != CLOSED ? capacity(&group->members[i], kept, just_in_time, sessions) : 0;
        if (found > (kept ? CLOSED : KEPT) && group->kind == MQ_GROUP_FAILOVER) {
            break;
        }
    }
    return sum;
}

static size_t route_capacity(struct mq_route *route, bool just_in_time, int64_t *sessions)
{
    struct mq_lane *lane;
    bool kept = pick(&route->group, any_mail, false, &lane) == KEPT;
    return capacity(&route->group, kept, just_in_time, sessions);
}

/* When the first of a group's lanes opens that was not tried: CLOCK_BOOTTIME; INT64_MAX: all were.
 */
static int64_t opens_ms(const struct mq_group *group, const uint64_t *tried)
{
    const struct mq_lane *lane = group->relay;
    int64_t least = INT64_MAX;
    if (group->kind == MQ_GROUP_RELAY) {
        return is_tried(lane, tried)   ? INT64_MAX
               : mq_lane_is_open(lane) ? 0
                                       : lane->trouble.closed_ms;
    }
    for (size_t i = 0; i < group->count; i++) {
        least = mq_least(least, opens_ms(&group->members[i], tried));
    }
    return least;
}

/* ---- back into the queue ---- */

static int64_t seconds_until(const struct mq_run *run, int64_t at_ms)
{
    int64_t left_s = (at_ms - mq_run_now_ms(run) + 999) / 1000;
    return left_s < BACK_MIN_S ? BACK_MIN_S : mq_least(left_s, BACK_MAX_S);
}

/* Puts a mail back until a lane of its route is open. */
static void put_back_until_open(struct mq_delivery *delivery, const struct mq_route *route)
{
    delivery->waits_for = MQ_FOR_PAUSE;
    mq_delivery_put_back(delivery, seconds_until(delivery->run, opens_ms(&route->group, NULL)),
                         NULL);
}

/* How long the waiting mail takes, in seconds. */
static int64_t drains_s(struct mq_route *route)
{
    const struct mq_run *run = run_of(route);
    int64_t sessions = 0;
    route_capacity(route, true, &sessions);
    int64_t ms = (int64_t)route->waiting.count * mq_run_dot_ms(run) / (sessions > 0 ? sessions : 1);
    return mq_least(seconds_until(run, mq_run_now_ms(run) + ms), LOWER_S);
}

bool mq_route_postpones(const struct mq_route *route, const struct mq_job *job)
{
    const struct mq_lane *lane = route->group.relay;
    return lane && lane->doubts.lower && lane->run->relays->lane_count > 1 &&
           job->priority >= lane->doubts.below;
}

/* Whether each of the group's relays sends a mail to all recipients at once, or not at all. */
static bool is_whole(const struct mq_group *group)
{
    const struct mq_lane *lane = group->relay;
    bool is = lane == NULL || lane->transport->whole;
    for (size_t i = 0; i < group->count && is; i++) {
        is = is_whole(&group->members[i]);
    }
    return is;
}

void mq_route_relays_of(struct mq_route *route, const struct mq_job *job, struct mq_relay_list *out)
{
    out->all_whole = is_whole(&route->group);
    if (mq_route_postpones(route, job)) {
        out->opens_s = mq_run_now_s(run_of(route)) + LOWER_S;
    } else {
        list(&route->group, any_mail, KEPT, out);
    }
}

/* Lets a delivery wait in its route's list, or apart from it for its domains. */
static void let_wait(struct mq_delivery *delivery)
{
    int64_t back_s = 0;
    if (mq_delivery_enters(delivery, &back_s)) {
        mq_delivery_move(delivery, &delivery->route->waiting);
    } else if (back_s > 0) {
        mq_delivery_put_back(delivery, back_s, NULL);
    }
}

static void enter(struct mq_delivery *delivery, struct mq_route *route)
{
    struct mq_run *run = delivery->run;
    int64_t most = run->options->batch > WAITING_MAX ? run->options->batch : WAITING_MAX;
    most = mq_least(most, mq_run_route_share(run));
    delivery->route = route;
    route->look_wait_ms = 0;
    if (!is_open(route, NULL) && !run->stop.begun) {
        put_back_until_open(delivery, route);
    } else if (mq_route_postpones(route, &delivery->job)) {
        mq_delivery_put_back(delivery, LOWER_S, NULL);
    } else if (!is_only(route) && (int64_t)route->waiting.count >= most) {
        mq_delivery_put_back(delivery, drains_s(route), NULL);
    } else {
        let_wait(delivery);
    }
}

void mq_run_end_holds(struct mq_run *run)
{
    struct mq_delivery *delivery;
    while ((delivery = mq_run_next_held(run))) {
        struct mq_deliveries *waiting = &delivery->route->waiting;
        enter(delivery, delivery->route);
        if (delivery->list == waiting) { /* it has waited longer than the others */
            mq_delivery_move_first(delivery, waiting);
        }
    }
}

void mq_run_route(struct mq_delivery *delivery)
{
    struct mq_route *route = mq_delivery_find_route(delivery);
    if (route) {
        enter(delivery, route);
    }
}

bool mq_delivery_reroutes(struct mq_delivery *delivery)
{
    const struct mq_relays *relays = delivery->run->relays;
    if ((relays->key_count == 0 && !delivery->job.relay) || relays->choose) {
        return false;
    }
    struct mq_route *route = mq_delivery_find_route(delivery);
    if (route == delivery->route) {
        return false;
    }
    if (route) {
        delivery->lane = NULL;
        enter(delivery, route);
    }
    return true;
}

void mq_run_put_back(struct mq_run *run)
{
    for (size_t i = 0; i < run->relays->route_count && !run->stop.begun; i++) {
        struct mq_route *route = run->relays->routes[i];
        bool closed = route->waiting.count > 0 && !is_open(route, NULL);
        const struct mq_lane *only = route->group.relay;
        struct mq_delivery *next;
        if (!closed && !(only && only->doubts.lower)) {
            continue;
        }
        for (struct mq_delivery *f = route->waiting.head; f; f = next) {
            next = f->next;
            if (closed) {
                put_back_until_open(f, route);
            } else if (mq_route_postpones(route, &f->job)) {
                mq_delivery_put_back(f, LOWER_S, NULL);
            }
        }
    }
}

void mq_delivery_tries(struct mq_delivery *delivery)
{
    size_t number = delivery->lane->number;
    _Static_assert(8 * sizeof(delivery->tried) >= MQ_LANES_MAX, "each lane has a bit");
    delivery->tried[number / 64] |= UINT64_C(1) << number % 64;
}

bool mq_delivery_moves(struct mq_delivery *delivery)
{
    if (delivery->run->stop.begun || !is_open(delivery->route, delivery->tried)) {
        return false;
    }
    mq_delivery_reset(delivery);
    let_wait(delivery);
    return true;
}

int64_t mq_delivery_other_s(const struct mq_delivery *delivery)
{
    int64_t at_ms = opens_ms(&delivery->route->group, delivery->tried);
    return at_ms == INT64_MAX ? 0 : seconds_until(delivery->run, at_ms);
}

/* ---- what can begin, and what to claim ---- */

/* Whether the first delivery of a list can begin, as far as that does not depend on its relay. */
static bool can_begin(const struct mq_run *run, const struct mq_deliveries *waiting)
{
    return waiting->count > 0 && !run->stop.begun && !run->no_slot && !mq_run_database_fails(run) &&
           mq_run_fits(run, waiting->head);
}

bool mq_lane_can_start(const struct mq_lane *lane)
{
    return can_begin(lane->run, &lane->paid) &&
           mq_lane_capacity(lane, lane->run->claim.limited) > 0;
}

bool mq_route_can_start(struct mq_route *route)
{
    const struct mq_run *run = run_of(route);
    return !run->claim.pays_later && can_begin(run, &route->waiting) &&
           mq_route_lane(route, route->waiting.head, false) != NULL;
}

bool mq_run_can_start(const struct mq_run *run)
{
    bool any = false;
    for (size_t i = 0; i < run->relays->route_count && !any; i++) {
        any = mq_route_can_start(run->relays->routes[i]);
    }
    for (size_t i = 0; i < run->relays->lane_count && !any; i++) {
        any = mq_lane_can_start(run->relays->lanes[i]);
    }
    return any;
}

/* How many jobs to claim for a route besides those that wait. With an hourly limit, as many as its
 * lanes can begin. Otherwise enough that a batch waits, or as many as the lanes take, if that is
 * more; but 0 if no outcome is to be settled, and those that wait are three quarters of what the
 * lanes take, and half a batch or one for each session: a claim of a few costs as much as one of
 * many. */
static int64_t wanted(const struct mq_run *run, struct mq_route *route, bool settles)
{
    int64_t share = mq_run_route_share(run), batch = mq_least(run->options->batch, share);
    int64_t ready = (int64_t)route->waiting.count, sessions = 0;
    bool just_in_time = run->claim.limited || !run->claim.any;
    int64_t can_take = mq_least((int64_t)route_capacity(route, just_in_time, &sessions), share);
    if (run->claim.limited) {
        return can_take - ready;
    }
    if (just_in_time) { /* it is not known yet whether there is a limit */
        return mq_least(can_take, batch) - ready;
    }
    if (!settles && ready >= can_take - can_take / 4 &&
        (ready >= (batch + 1) / 2 || ready >= sessions)) {
        return 0;
    }
    return (can_take > batch ? can_take : batch) - ready;
}

int64_t mq_route_room(struct mq_route *route, bool settles)
{
    struct mq_lane *lane;
    enum pick found = pick(&route->group, any_mail, false, &lane);
    return found == FULL || found == FOUND ? wanted(run_of(route), route, settles) : MQ_CLAIM_MAX;
}

int64_t mq_run_wanted(const struct mq_run *run, bool settles)
{
    int64_t sum = 0;
    bool others = mq_run_waiting(run) > 0, any_open = false;
    for (size_t i = 0; i < run->relays->route_count; i++) {
        struct mq_route *route = run->relays->routes[i];
        bool open = is_open(route, NULL);
        int64_t want = open ? wanted(run, route, settles) : 0;
        any_open = any_open || open;
        bool looked = others && route->waiting.count == 0 && !is_only(route) &&
                      mq_run_now_ms(run) < route->look_ms;
        sum += want > 0 && !looked ? want : 0;
    }
    /* The mail may be for relays that are not open yet. */
    return !any_open && run->relays->choose ? run->options->batch : sum;
}

void mq_run_looked(struct mq_run *run)
{
    for (size_t i = 0; i < run->relays->route_count; i++) {
        struct mq_route *route = run->relays->routes[i];
        route->look_ms = mq_run_now_ms(run) + route->look_wait_ms;
        route->look_wait_ms = mq_least(2 * route->look_wait_ms + LOOK_FIRST_MS, LOOK_MAX_MS);
    }
}
