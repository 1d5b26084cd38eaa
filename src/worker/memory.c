/* Messages in memory: those under way, and small ones of the next mails, together at most
 * max_bytes. A larger one is allowed if it is the only one. Messages are loaded when a session can
 * take them, outside write transactions, and dropped when the transport gives the mail back. */
#include <stdio.h>

#include "queue/body.h"
#include "worker/deliveries.h"
#include "worker/relay/relay_list.h"
#include "worker/relay/route.h"
#include "worker/run.h"

#define LOOK_AHEAD     128
#define CLAIM_AGAIN_MS 1000 /* until then other messages may be dropped */
#define GOOD_CLAIMS    10   /* claims with enough memory before the bounds double */

/* A LOADED message is counted already; a composed one is counted afterwards. */
bool mq_run_fits(const struct mq_run *run, const struct mq_delivery *delivery)
{
    const struct mq_job *next = &delivery->job;
    int64_t more = next->body_state == MQ_BODY_STORED ? (int64_t)next->body_len : 0;
    return run->under_way.count == 0 || next->body_state == MQ_BODY_LOADED ||
           run->memory.bytes + more <= run->memory.max_bytes;
}

/* Adds a message's size to the mean of about the last sixteen. */
static void note_size(struct mq_run *run, size_t octets)
{
    int64_t size = (int64_t)octets;
    run->memory.mean_bytes += run->memory.mean_bytes ? (size - run->memory.mean_bytes) / 16 : size;
}

void mq_run_count_message(struct mq_run *run, size_t octets)
{
    run->memory.bytes += (int64_t)octets;
    note_size(run, octets);
}

int64_t mq_run_claims_max(const struct mq_run *run)
{
    const struct mq_memory *memory = &run->memory;
    return memory->mean_bytes ? 2 * memory->max_bytes / memory->mean_bytes : INT64_MAX;
}

int64_t mq_run_route_share(const struct mq_run *run)
{
    size_t routes = run->relays->route_count;
    int64_t most = mq_run_claims_max(run);
    int64_t share = most / 2 / (int64_t)routes; /* the other half is under way */
    return routes == 1 || most == INT64_MAX ? most : share > 0 ? share : 1;
}

int64_t mq_run_claim_room(const struct mq_run *run)
{
    int64_t most = mq_run_claims_max(run);
    return most == INT64_MAX ? most : most - (int64_t)(mq_run_waiting(run) + run->under_way.count);
}

bool mq_run_claims_less(struct mq_run *run, int limit)
{
    if (limit <= 1 && run->held == 0) {
        return false;
    }
    run->memory.good_claims = 0;
    run->memory.claim_max = limit > 1 ? limit / 2 : 1;
    run->claim.next_ms = mq_run_now_ms(run) + (run->held > 0 ? CLAIM_AGAIN_MS : 0);
    return true;
}

void mq_run_claimed(struct mq_run *run)
{
    struct mq_memory *memory = &run->memory;
    if (++memory->good_claims >= GOOD_CLAIMS) {
        memory->good_claims = 0;
        memory->max_bytes = mq_least(2 * memory->max_bytes, run->options->max_bytes);
        memory->claim_max = (int)mq_least(2 * memory->claim_max, MQ_CLAIM_MAX);
    }
}

static void failed(struct mq_run *run, enum mq_status status, const struct mq_error *err)
{
    if (status == MQ_NOMEM && run->under_way.count > 0) {
        run->memory.good_claims = 0;
        run->memory.max_bytes =
            run->memory.bytes / 2 + 1; /* no message is loaded until half of these are gone */
        return;
    }
    mq_run_database_failed(run, status, err);
}

/* Looks up the next message, which is UNKNOWN, and those after it. Loads the small ones. */
static bool look(struct mq_run *run, struct mq_delivery *first)
{
    struct mq_job *jobs[LOOK_AHEAD] = {&first->job};
    struct mq_error error = {0};
    size_t count = 1;
    for (struct mq_delivery *f = first->next; f && count < LOOK_AHEAD; f = f->next) {
        if (f->job.body_state == MQ_BODY_UNKNOWN) {
            jobs[count++] = &f->job;
        }
    }
    int64_t room = (run->memory.max_bytes - run->memory.bytes) / (int64_t)count;
    int64_t most = room < 0 ? 0 : room < MQ_BODY_SMALL ? room : MQ_BODY_SMALL;
    enum mq_status status = mq_queue_read_bodies(run->queue, jobs, count, most, &error);
    for (size_t i = 0; i < count; i++) {
        if (jobs[i]->body_state == MQ_BODY_LOADED) {
            mq_run_count_message(run, jobs[i]->body_len);
        } else if (jobs[i]->body_state == MQ_BODY_STORED) {
            note_size(run, jobs[i]->body_len);
        }
    }
    if (status != MQ_OK) {
        failed(run, status, &error);
    }
    return status == MQ_OK;
}

/* Ends a delivery whose message is too large even alone: others must not wait for it. */
static void too_large(struct mq_delivery *delivery)
{
    char text[160];
    snprintf(text, sizeof(text),
             "out of memory for a message of %zu bytes: give the worker more (memory_limit, "
             "ulimit -v)",
             delivery->job.body_len);
    mq_delivery_end(delivery, MQ_OUTCOME_DEFERRED, text);
}

static bool load(struct mq_run *run, struct mq_delivery *delivery)
{
    struct mq_error error = {0};
    enum mq_status status = mq_queue_read_body(run->queue, &delivery->job, &error);
    if (status == MQ_OK && delivery->job.body_state == MQ_BODY_LOADED) {
        run->memory.bytes += (int64_t)delivery->job.body_len;
    } else if (status == MQ_NOMEM && run->under_way.count == 0) {
        too_large(delivery);
        return true;
    } else if (status != MQ_OK) {
        failed(run, status, &error);
    }
    return status == MQ_OK;
}

bool mq_run_load_next(struct mq_run *run, struct mq_deliveries *waiting)
{
    struct mq_delivery *next;
    bool goes_on = true;
    while (goes_on && (next = waiting->head)) {
        switch (next->job.body_state) {
        case MQ_BODY_UNKNOWN:
            goes_on = look(run, next);
            break;
        case MQ_BODY_STORED:
            goes_on = mq_run_fits(run, next) && load(run, next);
            break;
        case MQ_BODY_LOST:
            /* The message was deleted, or the row is another run's: then the settle is stale. */
            mq_delivery_end(next, MQ_OUTCOME_DEFERRED, "the message was deleted while it waited");
            break;
        case MQ_BODY_NONE:
        case MQ_BODY_LOADED:
            return true;
        }
    }
    return false;
}
