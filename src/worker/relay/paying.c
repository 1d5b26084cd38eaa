/* Which mails pay at which relays. */
#include "worker/relay/paying.h"

#include <stdlib.h>

#include "send/transport.h"
#include "worker/deliveries.h"
#include "worker/relay/relay_list.h"
#include "worker/relay/route.h"
#include "worker/run.h"

/* A lane without room is looked at again after this time, because mail can give room back. */
#define FULL_MAX_MS 10000

/* The first delivery of the route, from this one on, that can pay or must go back. */
static struct mq_delivery *first_ready(struct mq_route *route, struct mq_delivery *from)
{
    if (!mq_route_can_pay(route, NULL)) {
        return NULL;
    }
    while (from && !mq_route_can_pay(route, from)) {
        from = from->next;
    }
    return from;
}

bool mq_run_pays(const struct mq_run *run)
{
    bool any = false;
    bool may = run->claim.pays_later && !run->stop.begun && !run->no_slot;
    for (size_t i = 0; may && i < run->relays->route_count && !any; i++) {
        struct mq_route *route = run->relays->routes[i];
        any = first_ready(route, route->waiting.head) != NULL;
    }
    return any;
}

/* Adds the deliveries that the lanes can take; each of them reckons with its preferred one. */
static void add_route(struct mq_route *route, struct mq_cycle *cycle)
{
    struct mq_delivery *f = first_ready(route, route->waiting.head);
    while (f && cycle->payment_count < MQ_PAYMENTS_MAX) {
        struct mq_payment *payment = &cycle->payments[cycle->payment_count++];
        payment->job = &f->job;
        mq_route_relays(route, f, &payment->relays);
        f = first_ready(route, f->next);
    }
}

enum mq_status mq_run_pay(struct mq_run *run, struct mq_cycle *cycle, struct mq_error *err)
{
    struct mq_relays *relays = run->relays;
    if (!mq_run_pays(run)) {
        return MQ_OK;
    }
    cycle->payments = calloc(MQ_PAYMENTS_MAX, sizeof(*cycle->payments));
    if (!cycle->payments) {
        return mq_error_nomem(err);
    }
    for (size_t i = 0; i < relays->route_count; i++) {
        add_route(relays->routes[relays->turn++ % relays->route_count], cycle);
    }
    for (size_t i = 0; i < relays->lane_count; i++) {
        relays->lanes[i]->reckoned = 0;
    }
    return MQ_OK;
}

/* ---- after the commit ---- */

static struct mq_lane *lane_named(const struct mq_run *run, const char *name)
{
    size_t i = 0;
    while (run->relays->lanes[i]->transport->name != name) {
        i++;
    }
    return run->relays->lanes[i];
}

static void done(struct mq_delivery *delivery, const struct mq_payment *payment)
{
    struct mq_run *run = delivery->run;
    struct mq_error error;
    enum mq_status status = mq_payment_take(payment, &error);
    if (status == MQ_OK) {
        struct mq_lane *lane = lane_named(run, payment->relays.names[payment->relay]);
        mq_delivery_move(delivery, &lane->paid);
    } else {
        mq_delivery_end(delivery, MQ_OUTCOME_RELEASED, NULL);
        mq_run_fail(run, status, &error);
    }
}

/* The job is not the run's any more. Another one counts for the message limit, and another claim
 * says when it is due. */
static void is_back(struct mq_delivery *delivery)
{
    delivery->run->claim.total--;
    delivery->run->claim.fresh = false;
    mq_delivery_settled(delivery);
}

static void note_full(const struct mq_run *run, const struct mq_relay_list *relays)
{
    int64_t now_ms = mq_run_now_ms(run), now_s = mq_run_now_s(run);
    for (size_t i = 0; i < relays->count; i++) {
        if (relays->full_s[i] > now_s) {
            struct mq_lane *lane = lane_named(run, relays->names[i]);
            int64_t left_ms = (relays->full_s[i] - now_s) * 1000;
            lane->full_ms = now_ms + mq_least(left_ms, FULL_MAX_MS);
            lane->full_for = relays->full_for[i];
        }
    }
}

void mq_run_paid(struct mq_run *run, const struct mq_cycle *cycle)
{
    for (size_t i = 0; i < cycle->payment_count; i++) {
        const struct mq_payment *payment = &cycle->payments[i];
        struct mq_delivery *delivery = mq_delivery_find(run, payment->job->id);
        note_full(run, &payment->relays);
        switch (payment->end) {
        case MQ_PAYMENT_DONE:
            done(delivery, payment);
            break;
        case MQ_PAYMENT_WAITS:
            break;
        case MQ_PAYMENT_BACK:
            is_back(delivery);
            break;
        case MQ_PAYMENT_LOST:
            delivery->lease_end_ms = 0;
            mq_delivery_end(delivery, MQ_OUTCOME_RELEASED, NULL); /* its settle reports STALE */
            break;
        case MQ_PAYMENT_NONE: /* the next claim fails for the same reason, and says so */
            mq_delivery_end(delivery, MQ_OUTCOME_RELEASED, NULL);
            break;
        }
    }
}

/* ---- at the claim ---- */

static void relays_of(void *context, const struct mq_job *job, struct mq_relay_list *out)
{
    const struct mq_run *run = context;
    struct mq_route *route = mq_run_route_of(run, job);
    if (route) {
        mq_route_relays_of(route, job, out);
    }
}

static bool has_no_relay(void *context, const struct mq_job *job, char why[MQ_CLAIM_WHY_MAX])
{
    return mq_run_lacks_relay(context, job, why);
}

void mq_run_relays_of(const struct mq_run *run, struct mq_claim_request *request)
{
    bool several = run->relays->lane_count > 1 || run->relays->choose;
    request->relays_of = several ? relays_of : NULL;
    request->has_no_relay = has_no_relay;
    request->relays_context = (void *)run;
    request->whole = !several && run->relays->lanes[0]->transport->whole;
}

/* ---- lanes that cannot be used ---- */

static void take_back(struct mq_lane *lane)
{
    struct mq_delivery *next;
    for (struct mq_delivery *f = lane->paid.head; f; f = next) {
        next = f->next;
        if (!mq_lane_is_open(lane) || mq_route_postpones(f->route, &f->job)) {
            mq_delivery_move(f, &f->route->waiting);
        }
    }
}

void mq_run_take_back(struct mq_run *run)
{
    for (size_t i = 0; i < run->relays->lane_count; i++) {
        take_back(run->relays->lanes[i]);
    }
}
