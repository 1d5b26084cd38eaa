/* The run's transactions: settle and claim in one, and renewals. */
#include <stdlib.h>
#include <string.h>

#include "queue/queue.h"
#include "worker/dead_runs.h"
#include "worker/deliveries.h"
#include "worker/relay/domain_answers.h"
#include "worker/relay/kept.h"
#include "worker/relay/passing.h"
#include "worker/relay/paying.h"
#include "worker/relay/relay_list.h"
#include "worker/relay/route.h"
#include "worker/rest.h"
#include "worker/run.h"

#define CLAIM_AGAIN_MS 1000 /* after a claim that found nothing, while mails are under way */
#define OTHER_LOCK_MS  10000
#define RENEW_CHUNK    500
/* Leases are in whole seconds, so one can end up to a second before claim + lease. */
#define LEASE_MARGIN_MS 1000

static int64_t lease_end_ms(const struct mq_run *run, int64_t before_ms)
{
    return before_ms + run->options->lease_s * 1000 - LEASE_MARGIN_MS;
}

/* ---- renewals ---- */

static enum mq_status renew_chunk(struct mq_run *run, struct mq_delivery **deliveries, size_t count,
                                  struct mq_error *err)
{
    struct mq_job *jobs[RENEW_CHUNK];
    int64_t before_ms = mq_run_now_ms(run);
    for (size_t i = 0; i < count; i++) {
        jobs[i] = &deliveries[i]->job;
    }
    MQ_TRY(mq_queue_renew(run->queue, jobs, count, run->options->lease_s, err));
    for (size_t i = 0; i < count; i++) {
        if (jobs[i]->locked_until == 0) {
            deliveries[i]->lease_end_ms = 0; /* lost: the mail never begins, or enter() stops it */
            continue;
        }
        deliveries[i]->lease_end_ms = lease_end_ms(run, before_ms);
        run->lease.low_s = mq_least(run->lease.low_s, jobs[i]->locked_until);
    }
    return MQ_OK;
}

static enum mq_status renew_all(struct mq_run *run, struct mq_error *err)
{
    struct mq_delivery *chunk[RENEW_CHUNK];
    size_t count = 0;
    run->lease.low_s = INT64_MAX;
    for (size_t i = 0; i < MQ_RUN_BUCKETS; i++) {
        for (struct mq_delivery *f = run->buckets[i]; f; f = f->chain) {
            chunk[count++] = f;
            if (count == RENEW_CHUNK) {
                MQ_TRY(renew_chunk(run, chunk, count, err));
                count = 0;
            }
        }
    }
    return renew_chunk(run, chunk, count, err);
}

/* Whether a third of the lease has passed, or the wall clock has jumped ahead: other runs judge our
 * leases by that clock. */
static bool renewal_is_due(const struct mq_run *run, int64_t now_ms)
{
    if (run->held == 0 || (mq_run_database_fails(run) && now_ms < run->database.retry_ms)) {
        return false;
    }
    int64_t left_s = run->lease.low_s - mq_run_now_s(run);
    return now_ms >= run->lease.renew_ms || left_s < run->options->lease_s * 2 / 3 - 2;
}

void mq_run_renew(struct mq_run *run)
{
    int64_t now_ms = mq_run_now_ms(run);
    struct mq_error error = {0};
    if (!renewal_is_due(run, now_ms) || !mq_run_has_slot(run)) {
        return;
    }
    enum mq_status status = renew_all(run, &error);
    if (status != MQ_OK) {
        run->lease.renew_ms = 0;
        run->lease.low_s = INT64_MAX; /* renew_ms alone makes the renewal due */
        mq_run_database_failed(run, status, &error);
        return;
    }
    run->lease.renew_ms = now_ms + run->options->lease_s * 1000 / 3;
    run->database.failing_ms = 0;
}

/* ---- claims ---- */

/* Whether the last claim found a lock of another program, and the next one is not due. */
static bool waits_for_lock(const struct mq_run *run)
{
    return run->claim.locked_ms && mq_run_now_ms(run) < run->claim.next_ms;
}

/* Whether to recover leases of dead runs now. */
static bool recovers(const struct mq_run *run)
{
    return run->recovery->dead_count > 0 && !run->stop.begun && !waits_for_lock(run);
}

/* How many jobs to claim now; 0: none. */
static int claim_size(const struct mq_run *run)
{
    const struct mq_worker_options *options = run->options;
    const struct mq_lane *only = mq_run_only_lane(run);
    bool settles = run->done.count > 0;
    if (run->stop.begun || waits_for_lock(run) || (only && mq_lane_is_suspect(only)) ||
        (mq_run_database_fails(run) && settles)) {
        return 0;
    }
    int64_t want = mq_least(mq_run_wanted(run, settles), mq_run_claim_room(run));
    if (want < 1 && run->held == 0) {
        want = 1; /* the job waits here until a session is free */
    }
    want = mq_least(want, (int64_t)(run->slots - run->held));
    if (options->message_limit >= 0) {
        want = mq_least(want, options->message_limit - run->claim.total);
    }
    want = mq_least(want, run->memory.claim_max);
    if (only && only->doubts.lower && want > MQ_RUN_MANY) {
        want = mq_run_waiting(run) + run->under_way.count > 0 ? 0 : MQ_RUN_MANY;
    }
    return want > 0 ? (int)want : 0;
}

/* Whether the outcomes in `done` fill a transaction, or have waited for one long enough. */
static bool settles_now(const struct mq_run *run, int64_t now_ms)
{
    if (run->done.count == 0) {
        return false;
    }
    return run->done.count >= MQ_RUN_SETTLE_JOBS || run->no_slot ||
           now_ms - run->first_done_ms >= MQ_RUN_SETTLE_MS ||
           (run->under_way.count == 0 && !mq_run_can_start(run));
}

bool mq_run_cycle_due(const struct mq_run *run, int64_t now_ms)
{
    if (mq_run_database_fails(run)) {
        return now_ms >= run->database.retry_ms;
    }
    if (now_ms < run->database.free_until_ms) {
        return false;
    }
    if (settles_now(run, now_ms)) {
        return true;
    }
    if (run->stop.begun) {
        return false;
    }
    if (recovers(run) || mq_run_pays(run)) {
        return true;
    }
    bool alone = run->held == 0 && !run->claim.fresh;
    return (alone || (now_ms >= run->claim.next_ms && mq_run_wanted(run, false) > 0)) &&
           claim_size(run) > 0;
}

/* A delivery that waits is to pay at its relay again: the new claim has not paid there. What is
 * under way, or was, counts for the relay that has it. */
static void forget_payment(struct mq_delivery *held, struct mq_job *again)
{
    const struct mq_run *run = held->run;
    bool doubted = held->lane && held->list == &held->lane->doubted;
    if (held->list == &run->under_way || held->list == &run->done || doubted) {
        return;
    }
    char *before = held->job.paid_to;
    held->job.paid_to = again->paid_to;
    again->paid_to = before;
    if (run->claim.pays_later && held->list != &run->kept) { /* from its lane's list */
        mq_delivery_move(held, &held->route->waiting);
    }
}

/* Gives a job that we hold its new lease. It was claimed again because the database was put back to
 * an earlier state, or because the lease ended unnoticed. */
static void merge(struct mq_delivery *held, struct mq_job *again, int64_t end_ms)
{
    forget_payment(held, again);
    char *before = held->job.uncertain_to;
    held->job.uncertain_to = again->uncertain_to;
    again->uncertain_to = before;
    held->job.attempts = again->attempts;
    held->job.uncertain = again->uncertain;
    held->job.paid = again->paid;
    held->job.locked_until = again->locked_until;
    held->lease_end_ms = end_ms;
}

/* Takes the claimed jobs. Returns whether the next claim is to go on where this one stopped. */
static bool take_jobs(struct mq_run *run, struct mq_claim *claim, bool turns, int64_t before_ms)
{
    int64_t end_ms = lease_end_ms(run, before_ms);
    if (run->held == 0 && claim->count > 0) {
        run->lease.renew_ms = before_ms + run->options->lease_s * 1000 / 3;
        run->lease.low_s = INT64_MAX;
    }
    for (size_t i = 0; i < claim->count; i++) {
        struct mq_job *job = &claim->jobs[i];
        struct mq_delivery *held = mq_delivery_find(run, job->id), *taken = NULL;
        run->lease.low_s = mq_least(run->lease.low_s, job->locked_until);
        if (held) {
            merge(held, job, end_ms);
        } else if ((taken = mq_delivery_new(run, job, end_ms))) {
            mq_run_route(taken);
        } else {
            struct mq_error error;
            run->unknown_jobs = true; /* claimed without a delivery: recovery must find them */
            mq_run_fail(run, mq_error_nomem(&error), &error);
            return false;
        }
    }
    bool goes_on = turns && mq_run_take_turns(run);
    if (!goes_on) {
        mq_run_looked(run);
    }
    return goes_on;
}

/* Takes over which relays are paused: another run can have paused one, or a person can have removed
 * a pause. */
static void take_pauses(struct mq_run *run, const struct mq_claim_request *request)
{
    for (size_t i = 0; i < request->relay_count; i++) {
        struct mq_lane *lane = run->relays->lanes[i];
        const struct mq_relay_state *state = &request->relays[i];
        if (state->until_s > 0 && state->until_s != lane->trouble.until_s) {
            mq_lane_close(lane, state->until_s, state->reason);
        } else if (state->until_s == 0 && !mq_lane_is_open(lane)) {
            lane->trouble.closed_ms = 0;
            mq_lane_reopen(lane);
        }
    }
}

static void take_end(struct mq_run *run, const struct mq_claim *claim, bool goes_on, int64_t now_ms)
{
    int64_t wait_ms = claim->resume_s * 1000 - run->clock.now_us(run->clock.context) / 1000;
    run->claim.end = claim->end;
    run->claim.resume_s = claim->resume_s;
    run->claim.limited = claim->limited;
    run->claim.spare = claim->spare;
    run->claim.pays_later = claim->pays_later;
    run->claim.any = true;
    run->claim.fresh = true;
    run->claim.total += (int64_t)claim->count;
    run->finished = run->finished || claim->finished;
    run->claim.next_ms = now_ms;
    memcpy(run->claim.full, claim->reason, sizeof(run->claim.full));
    switch (claim->end) {
    case MQ_CLAIM_MORE:
        break;
    case MQ_CLAIM_LIMIT:
        if (claim->count == 0 && !goes_on) {
            run->claim.next_ms = now_ms + MQ_RUN_SETTLE_MS;
        }
        break;
    case MQ_CLAIM_TOKENS:
        run->claim.token_ms = now_ms + (wait_ms > 0 ? wait_ms : CLAIM_AGAIN_MS);
        run->claim.next_ms = mq_least(run->claim.token_ms,
                                      now_ms + (claim->spare ? CLAIM_AGAIN_MS : MQ_RUN_PAUSE_MS));
        break;
    case MQ_CLAIM_PAUSED:
        break; /* take_pauses() has ended the run */
    case MQ_CLAIM_DISABLED:
        run->claim.next_ms = now_ms + CLAIM_AGAIN_MS;
        if (run->options->daemon) {
            mq_deliveries_release_waiting(run);
        } else {
            mq_run_stop(run, MQ_RUN_DISABLED);
        }
        break;
    case MQ_CLAIM_EMPTY:
        run->claim.next_ms = now_ms + CLAIM_AGAIN_MS;
        break;
    }
    mq_run_plan_rest(run, now_ms, claim->resume_s ? wait_ms : INT64_MAX);
}

/* ---- the cycle ---- */

/* Collects the oldest outcomes, as many as one transaction takes. The transaction must be short,
 * because enqueue() waits for it: a large message has thousands of pages to delete. */
static size_t collect_outcomes(const struct mq_run *run, struct mq_settlement *out, int64_t *bytes)
{
    size_t n = 0;
    for (struct mq_delivery *f = run->done.head; f && n < MQ_RUN_SETTLE_JOBS; f = f->next) {
        int64_t size = (int64_t)f->job.body_len;
        if (n > 0 && *bytes + size > MQ_DROPPED_BYTES) {
            break;
        }
        *bytes += size;
        mq_delivery_settlement(f, &out[n++]);
    }
    return n;
}

static void settled(struct mq_run *run, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        mq_run_note_domains(run, run->done.head);
        mq_delivery_settled(run->done.head);
    }
    run->first_done_ms = mq_run_now_ms(run);
}

/* Acts on a claim that failed while the rest of its cycle was stored. A lock of another program
 * ends the run only after the grace period; what the run holds goes on meanwhile. */
static void claim_failed(struct mq_run *run, const struct mq_cycle *cycle, int64_t before_ms)
{
    const struct mq_claim *claim = cycle->claim;
    const struct mq_worker_options *options = run->options;
    int64_t now_ms = mq_run_now_ms(run);
    bool locked = claim->status == MQ_BUSY || claim->status == MQ_TX_ABORTED;
    /* After a while in which nothing was to be claimed, this is another lock. */
    bool same = run->claim.locked_ms > 0 && before_ms - run->claim.next_ms < OTHER_LOCK_MS;
    if (locked && !same) {
        run->claim.locked_ms = now_ms;
    }
    if (locked && (options->daemon || run->held > 0) &&
        now_ms - run->claim.locked_ms <= options->grace_s * 1000) {
        run->claim.next_ms = now_ms + CLAIM_AGAIN_MS;
    } else if (claim->status != MQ_NOMEM || !mq_run_claims_less(run, cycle->request->limit)) {
        mq_run_fail(run, claim->status, &claim->error);
    }
}

/* Takes over the results of a committed cycle. */
static void take_cycle(struct mq_run *run, const struct mq_cycle *cycle, int64_t before_ms)
{
    struct mq_claim *claim = cycle->claim;
    run->database.failing_ms = 0;
    settled(run, cycle->outcome_count);
    if (cycle->outcome_count > 0) {
        run->claim.fresh = false;
    }
    if (!cycle->request) {
        return;
    }
    /* After MQ_CLAIM_MORE, dead runs may have leases left. */
    bool complete = claim->status == MQ_OK && claim->end != MQ_CLAIM_MORE;
    mq_recovery_end_cycle(run->recovery, complete);
    if (claim->status != MQ_OK) {
        claim_failed(run, cycle, before_ms);
        return;
    }
    run->claim.locked_ms = 0;
    if (cycle->request->limit == 0) {
        return;
    }
    if (claim->count > 0) {
        mq_run_claimed(run);
    }
    if (claim->end != MQ_CLAIM_DISABLED) {
        take_pauses(run, cycle->request);
    }
    struct mq_error error = {0};
    enum mq_status status = mq_run_take_sessions(run, claim, &error);
    if (status != MQ_OK) {
        mq_run_fail(run, status, &error);
    }
    mq_run_take_slow(run, claim);
    bool goes_on = take_jobs(run, claim, cycle->request->turns != NULL, before_ms);
    if (goes_on) {
        mq_run_leave_free(run, cycle->begun_ms);
    }
    take_end(run, claim, goes_on, mq_run_now_ms(run));
}

/* `relays` has room for those of all lanes. */
static struct mq_claim_request make_request(struct mq_run *run, struct mq_relay_state *relays)
{
    const struct mq_lane *only = mq_run_only_lane(run);
    struct mq_claim_request request = {
        .limit = claim_size(run),
        .lease_s = run->options->lease_s,
        .below = only && only->doubts.lower ? &only->doubts.below : NULL,
        .token = run->token,
        .relays = relays,
        .relay_count = run->relays->lane_count,
        .opens_more = run->relays->choose != NULL,
        .dead_tokens = run->recovery->tokens,
        .dead_count = run->recovery->dead_count,
        .records = &run->recovery->source,
        .on_uncertain = run->options->on_uncertain,
        .final_timeout_s = run->options->final_timeout_s,
    };
    for (size_t i = 0; i < request.relay_count; i++) {
        relays[i] = (struct mq_relay_state){.name = run->relays->lanes[i]->name};
    }
    mq_run_relays_of(run, &request);
    request.turns = mq_run_turns(run);
    return request;
}

void mq_run_cycle(struct mq_run *run)
{
    if (!mq_run_has_slot(run)) {
        return;
    }
    struct mq_error error = {0};
    struct mq_claim claim = {0};
    struct mq_relay_state relays[MQ_LANES_MAX];
    struct mq_claim_request request = make_request(run, relays);
    struct mq_settlement outcomes[MQ_RUN_SETTLE_JOBS];
    int64_t bytes = 0;
    struct mq_cycle cycle = {.outcomes = outcomes,
                             .outcome_count = collect_outcomes(run, outcomes, &bytes),
                             .claim = &claim,
                             .events = &run->events};

    enum mq_status status = mq_run_pay(run, &cycle, &error);
    if (status != MQ_OK) {
        mq_run_fail(run, status, &error);
        return;
    }
    if (request.limit > 0 || recovers(run)) {
        cycle.request = &request;
    }
    int64_t before_ms = mq_run_now_ms(run);
    mq_run_limit_s(run); /* remembers the time of the claim */
    status = mq_queue_cycle(run->queue, &cycle, &error);
    if (status == MQ_OK) {
        mq_run_paid(run, &cycle);
        if (bytes + claim.dropped_bytes > MQ_DROPPED_BYTES / 4) {
            mq_run_leave_free(run, cycle.begun_ms);
        }
        take_cycle(run, &cycle, before_ms);
    } else {
        mq_recovery_end_cycle(run->recovery, false);
        /* The commit may have succeeded and claimed jobs that this run does not know. The intent
         * file stays, so that recovery finds them. */
        run->unknown_jobs = run->unknown_jobs || (request.limit > 0 && status == MQ_IO);
        mq_run_database_failed(run, status, &error);
    }
    free(cycle.payments);
    mq_claim_clear(&claim);
}
