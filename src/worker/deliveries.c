/* The claimed jobs of a run: their lists, their memory, and their outcomes for the queue. Nothing
 * here calls another file of the worker. */
#include <stdio.h>
#include <stdlib.h>

#include "queue/body.h"
#include "queue/claim.h"
#include "send/intent/intent.h"
#include "send/transport.h"
#include "worker/deliveries.h"
#include "worker/relay/kept.h"
#include "worker/relay/relay_list.h"
#include "worker/relay/route.h"
#include "worker/run.h"

#define HOUR_S 3600

void mq_composed_clear(struct mq_composed *composed)
{
    free(composed->message);
    free(composed->envelope_from);
    free(composed->relay);
    mq_strings_clear(&composed->recipients);
    *composed = (struct mq_composed){0};
}

static void leave_list(struct mq_delivery *delivery)
{
    struct mq_deliveries *list = delivery->list;
    if (list) {
        struct mq_delivery **before = delivery->prev ? &delivery->prev->next : &list->head;
        struct mq_delivery **behind = delivery->next ? &delivery->next->prev : &list->tail;
        *before = delivery->next;
        *behind = delivery->prev;
        list->count--;
    }
}

void mq_delivery_move(struct mq_delivery *delivery, struct mq_deliveries *list)
{
    leave_list(delivery);
    struct mq_delivery **before = list->tail ? &list->tail->next : &list->head;
    *before = delivery;
    delivery->list = list;
    delivery->prev = list->tail;
    delivery->next = NULL;
    list->tail = delivery;
    list->count++;
}

void mq_delivery_move_first(struct mq_delivery *delivery, struct mq_deliveries *list)
{
    leave_list(delivery);
    struct mq_delivery **behind = list->head ? &list->head->prev : &list->tail;
    *behind = delivery;
    delivery->list = list;
    delivery->prev = NULL;
    delivery->next = list->head;
    list->head = delivery;
    list->count++;
}

void mq_delivery_leaves(struct mq_delivery *delivery)
{
    for (size_t i = 0; i < delivery->use_count; i++) {
        delivery->uses[i]->count -= !delivery->is_kept;
        delivery->uses[i]->held -= delivery->is_kept;
        delivery->run->domain_left = true;
    }
    free(delivery->uses);
    delivery->uses = NULL;
    delivery->use_count = 0;
}

static struct mq_delivery **bucket_of(struct mq_run *run, int64_t job_id)
{
    return &run->buckets[(uint64_t)job_id % MQ_RUN_BUCKETS];
}

struct mq_delivery *mq_delivery_find(struct mq_run *run, int64_t job_id)
{
    struct mq_delivery *delivery = *bucket_of(run, job_id);
    while (delivery && delivery->job.id != job_id) {
        delivery = delivery->chain;
    }
    return delivery;
}

struct mq_delivery *mq_delivery_new(struct mq_run *run, struct mq_job *job, int64_t lease_end_ms)
{
    struct mq_delivery *delivery = calloc(1, sizeof(*delivery));
    if (!delivery) {
        return NULL;
    }
    delivery->run = run;
    delivery->job = *job;
    *job = (struct mq_job){0};
    delivery->slot = -1;
    delivery->back_after_s = -1;
    delivery->lease_end_ms = lease_end_ms;
    struct mq_delivery **bucket = bucket_of(run, delivery->job.id);
    delivery->chain = *bucket;
    *bucket = delivery;
    run->held++;
    return delivery;
}

void mq_delivery_drop_message(struct mq_delivery *delivery)
{
    delivery->run->memory.bytes -= (int64_t)delivery->changed.len;
    mq_buffer_clear(&delivery->changed);
    delivery->run->memory.bytes -= delivery->job.body ? (int64_t)delivery->job.body_len : 0;
    delivery->run->memory.bytes -= (int64_t)delivery->composed.message_len;
    mq_job_drop_body(&delivery->job);
    mq_composed_clear(&delivery->composed);
}

/* Frees what an attempt made: the message and what goes with it. */
static void drop_attempt(struct mq_delivery *delivery)
{
    mq_delivery_drop_message(delivery);
    free(delivery->original_to);
    free(delivery->prefix);
    free(delivery->sender);
    free(delivery->targets);
    free(delivery->results);
    free(delivery->replies);
    delivery->original_to = delivery->prefix = delivery->sender = NULL;
    delivery->targets = NULL;
    delivery->results = NULL;
    delivery->replies = delivery->phases = NULL;
}

void mq_delivery_free(struct mq_delivery *delivery)
{
    struct mq_delivery **link = bucket_of(delivery->run, delivery->job.id);
    while (*link != delivery) {
        link = &(*link)->chain;
    }
    *link = delivery->chain;
    leave_list(delivery);
    mq_delivery_leaves(delivery);
    delivery->run->held--;
    drop_attempt(delivery);
    mq_job_clear(&delivery->job);
    free(delivery);
}

static void leave_slot(struct mq_delivery *delivery)
{
    if (delivery->slot >= 0) {
        mq_intent_release(delivery->run->intent, delivery->slot);
        delivery->slot = -1;
        delivery->run->no_slot = false;
    }
}

void mq_delivery_reset(struct mq_delivery *delivery)
{
    drop_attempt(delivery);
    leave_slot(delivery);
    delivery->transfer = (struct mq_transfer){0};
    delivery->back_after_s = -1;
    delivery->recalled = false;
    delivery->error[0] = '\0';
}

void mq_delivery_settled(struct mq_delivery *delivery)
{
    leave_slot(delivery);
    mq_delivery_free(delivery);
}

void mq_delivery_done(struct mq_delivery *delivery)
{
    struct mq_run *run = delivery->run;
    mq_delivery_drop_message(delivery);
    mq_delivery_leaves(delivery);
    if (run->done.count == 0) {
        run->first_done_ms = mq_run_now_ms(run);
    }
    mq_delivery_move(delivery, &run->done);
}

void mq_delivery_end(struct mq_delivery *delivery, enum mq_outcome outcome, const char *error)
{
    delivery->outcome = outcome;
    snprintf(delivery->error, sizeof(delivery->error), "%s", error ? error : "");
    mq_delivery_done(delivery);
}

size_t mq_run_waiting(const struct mq_run *run)
{
    size_t sum = 0;
    for (size_t i = 0; i < run->relays->route_count; i++) {
        sum += run->relays->routes[i]->waiting.count;
    }
    for (size_t i = 0; i < run->relays->lane_count; i++) {
        sum += run->relays->lanes[i]->paid.count;
    }
    return sum + run->kept.count;
}

size_t mq_run_doubted(const struct mq_run *run)
{
    size_t sum = 0;
    for (size_t i = 0; i < run->relays->lane_count; i++) {
        sum += run->relays->lanes[i]->doubted.count;
    }
    return sum;
}

bool mq_run_is_idle(const struct mq_run *run)
{
    return run->held == mq_run_doubted(run);
}

static void release_all(struct mq_deliveries *waiting)
{
    while (waiting->head) {
        mq_delivery_end(waiting->head, MQ_OUTCOME_RELEASED, NULL);
    }
}

void mq_deliveries_release_waiting(struct mq_run *run)
{
    for (size_t i = 0; i < run->relays->route_count; i++) {
        release_all(&run->relays->routes[i]->waiting);
    }
    for (size_t i = 0; i < run->relays->lane_count; i++) {
        release_all(&run->relays->lanes[i]->paid);
    }
    release_all(&run->kept);
}

/* ---- the transport's results, by target, become the queue's, by recipient ---- */

static void set_error(struct mq_delivery *delivery)
{
    const struct mq_transfer *transfer = &delivery->transfer;
    const struct mq_target *telling = NULL;
    for (size_t i = 0; i < transfer->target_count; i++) {
        const struct mq_target *target = &delivery->targets[i];
        int weight = mq_outcomes[target->result].weight;
        if (target->reply[0] && (!telling || weight > mq_outcomes[telling->result].weight)) {
            telling = target;
        }
    }
    bool bad = telling && telling->result != MQ_OUTCOME_DELIVERED;
    bool named = bad && transfer->target_count > 1;
    const char *text = transfer->error[0] && !bad ? transfer->error : telling ? telling->reply : "";
    snprintf(delivery->error, sizeof(delivery->error), "%s%s%s", named ? telling->address : "",
             named ? ": " : "", text);
}

void mq_delivery_map(struct mq_delivery *delivery, enum mq_blame blame)
{
    const struct mq_job *job = &delivery->job;
    const struct mq_target *targets = delivery->targets;
    delivery->by_recipient = false;
    for (size_t i = 0; i < job->recipients.count; i++) {
        const struct mq_target *target = job->target_of[i] < 0 ? NULL : &targets[job->target_of[i]];
        enum mq_outcome result =
            target ? mq_outcome_blamed(target->result, blame) : MQ_OUTCOME_RELEASED;
        delivery->results[i] = (unsigned char)result;
        delivery->phases[i] = target ? target->phase : NULL;
        delivery->replies[i] = target && target->reply[0] ? target->reply : NULL;
        delivery->by_recipient = delivery->by_recipient || result != MQ_OUTCOME_RELEASED;
    }
    set_error(delivery);
    /* Used only without by_recipient: then nothing is known of any recipient. */
    delivery->outcome = blame == MQ_BLAME_RELAY ? MQ_OUTCOME_RELEASED : MQ_OUTCOME_DEFERRED;
}

/* A wall clock that jumped back may be set right at any time, and mail that was handed over in
 * between must count for the right hour. So for an hour, this time goes on as before the jump. */
int64_t mq_run_limit_s(struct mq_run *run)
{
    int64_t now_s = mq_run_now_s(run), now_ms = mq_run_now_ms(run);
    int64_t passed_s = (now_ms - run->limit_clock.at_ms) / 1000;
    if (run->limit_clock.at_s == 0 || now_s >= run->limit_clock.at_s + passed_s ||
        passed_s > HOUR_S) {
        run->limit_clock.at_s = now_s;
        run->limit_clock.at_ms = now_ms;
        return now_s;
    }
    return run->limit_clock.at_s + passed_s;
}

/* The relay that a delivery's events name; NULL: not known. */
static const struct mq_lane *lane_of(const struct mq_delivery *delivery)
{
    return delivery->lane ? delivery->lane : mq_run_only_lane(delivery->run);
}

void mq_delivery_settlement(const struct mq_delivery *delivery, struct mq_settlement *out)
{
    const struct mq_transfer *transfer = &delivery->transfer;
    const struct mq_run *run = delivery->run;
    const struct mq_lane *lane = lane_of(delivery);
    const struct mq_transport *transport = lane ? lane->transport : NULL;
    int64_t now_s = mq_run_now_s(run), limit_s = mq_run_limit_s(delivery->run);
    *out = (struct mq_settlement){
        .job = &delivery->job,
        .outcome = delivery->outcome,
        .phase = transfer->phase,
        .at_s = transfer->at_s ? transfer->at_s : now_s,
        .taken_by_s = limit_s > now_s ? limit_s : 0,
        .error = delivery->error[0] ? delivery->error : NULL,
        .retry_after_s = delivery->back_after_s,
        .waits_for = delivery->waits_for,
        .relay_wait_s = mq_delivery_goes_back(delivery) ? 0 : transfer->retry_after_s,
        .on_uncertain = run->options->on_uncertain,
        .relay = lane ? lane->name : NULL,
        .ms = transfer->enter ? transfer->ms : -1,
    };
    if (transport && transport->troubled && mq_delivery_goes_back(delivery) && !transfer->phase) {
        out->phase = transport->trouble.phase;
        out->trouble = transport->trouble.reason;
    }
    if (!delivery->by_recipient) {
        return;
    }
    out->results = delivery->results;
    out->phases = delivery->phases;
    out->replies = delivery->replies;
    for (size_t i = 0; i < transfer->target_count; i++) {
        out->handed_over += mq_outcomes[delivery->targets[i].result].handed_over;
        if (delivery->targets[i].result == MQ_OUTCOME_UNCERTAIN) {
            out->taken_by_s = limit_s + run->options->final_timeout_s;
        }
    }
}
