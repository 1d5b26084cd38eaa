/* What the run's routes have room for at a claim, and from where each is to go on. */
#include "worker/relay/passing.h"

#include <stdlib.h>
#include <string.h>

#include "queue/claim/turns.h"
#include "worker/relay/relay_list.h"
#include "worker/relay/route.h"
#include "worker/run.h"

/* So long after all was looked at, routes begin at the front again. Mail can have come there:
 * another run's, or what was locked when this run looked. */
#define AGAIN_MS 30000

struct mq_run_turns {
    struct mq_turns turns;
    int64_t again_ms;       /* CLOCK_BOOTTIME; then the routes begin at the front again */
    struct mq_turn items[]; /* before the claim and after it, for each route */
};

/* The index of the route in whose list the job will wait. */
static size_t route_of(void *context, const struct mq_job *job)
{
    const struct mq_run *run = context;
    const struct mq_route *route = mq_run_route_of(run, job);
    size_t i = 0;
    route = route ? route : run->relays->standard;
    while (run->relays->routes[i] != route) {
        i++;
    }
    return i;
}

static bool make(struct mq_run *run)
{
    size_t count = run->relays->route_count;
    struct mq_run_turns *own = run->relays->turns;
    if (!own && (own = calloc(1, sizeof(*own) + 2 * count * sizeof(own->items[0])))) {
        own->turns = (struct mq_turns){own->items, own->items + count, count, route_of, run, 0, 0};
        run->relays->turns = own;
    }
    return own != NULL;
}

struct mq_turns *mq_run_turns(struct mq_run *run)
{
    const struct mq_relays *relays = run->relays;
    bool any = false;
    if (relays->choose || relays->route_count < 2 || !make(run)) {
        return NULL;
    }
    struct mq_run_turns *own = relays->turns;
    for (size_t i = 0; i < relays->route_count; i++) {
        own->items[i].room = mq_route_room(relays->routes[i], run->done.count > 0);
        any = any || own->items[i].room > 0;
    }
    mq_turns_begin(&own->turns); /* for a cycle that does not come to the claim */
    return any ? &own->turns : NULL;
}

bool mq_run_take_turns(struct mq_run *run)
{
    struct mq_run_turns *own = run->relays->turns;
    size_t octets = own->turns.count * sizeof(*own->items);
    memcpy(own->items, own->turns.after, octets);
    if (!own->turns.goes_on && mq_run_now_ms(run) >= own->again_ms) {
        memset(own->items, 0, octets);
        own->again_ms = mq_run_now_ms(run) + AGAIN_MS;
    }
    return own->turns.goes_on;
}
