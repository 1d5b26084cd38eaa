/* The loop: begin what is claimed, move the transport on, settle and claim, until there is a reason
 * to end. */
#include "worker/worker.h"

#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>

#include "queue/body.h"
#include "queue/queue.h"
#include "worker/lock.h"
#include "worker/run.h"

/* A signal that comes between a look at the count and the wait is seen after so long. */
#define WAIT_MAX_MS      200
#define WAIT_HOOK_MAX_MS 1000
#define QUIT_MS          2000

void mq_worker_options_init(struct mq_worker_options *options)
{
    *options = (struct mq_worker_options){
        .connections = 10,
        .batch = 100,
        .lease_s = 900,
        .time_limit_s = -1,
        .message_limit = -1,
        .max_workers = 1,
        .max_bytes = MQ_BODIES_BYTES,
        .grace_s = 30,
        .final_timeout_s = MQ_FINAL_TIMEOUT_S,
        .on_uncertain = MQ_UNCERTAIN_RETRY,
        .slot_fd = -1,
    };
}

static enum mq_status check_options(const struct mq_worker_options *o, struct mq_error *err)
{
    if (o->connections < 1 || o->connections > 1000) {
        return mq_error_set(err, MQ_INVALID, "connections", "connections must be 1 to 1000");
    }
    if (o->batch < 1 || o->batch > MQ_RUN_CLAIM_MAX) {
        return mq_error_set(err, MQ_INVALID, "batch", "batch must be 1 to %d", MQ_RUN_CLAIM_MAX);
    }
    if (o->lease_s < 2 || o->lease_s > INT32_MAX) {
        return mq_error_set(err, MQ_INVALID, "lease", "the lease must be 2 seconds or more");
    }
    if (o->max_workers < 1 || o->max_workers > 1000) {
        return mq_error_set(err, MQ_INVALID, "maxWorkers", "maxWorkers must be 1 to 1000");
    }
    if (o->max_bytes < 1) {
        return mq_error_set(err, MQ_INVALID, "maxBytes", "maxBytes must be 1 or more");
    }
    if (o->grace_s < 0 || o->grace_s > INT32_MAX) {
        return mq_error_set(err, MQ_INVALID, "grace", "the grace period must not be negative");
    }
    if (o->time_limit_s > INT32_MAX) {
        return mq_error_set(err, MQ_INVALID, "timeLimit", "timeLimit is too large");
    }
    return MQ_OK;
}

/* ---- one round of the loop ---- */

static void check_stop(struct mq_run *run)
{
    int64_t now_ms = mq_run_now_ms(run);
    int caught = mq_signals_caught(&run->signals);

    if (now_ms >= mq_run_deadline_ms(run)) {
        mq_run_stop(run, MQ_RUN_TIME);
    }
    if (caught > 0) {
        mq_run_stop(run, MQ_RUN_SIGNAL);
        mq_run_signalled(run, caught);
    }
    if (run->stopping) {
        mq_run_wind_up(run);
    } else {
        mq_recovery_scan(&run->recovery, run->token, now_ms);
    }
}

static void begin_waiting(struct mq_run *run)
{
    while (mq_run_can_start(run) && mq_run_load_next(run)) {
        if (!mq_delivery_start(run->waiting.head)) {
            return;
        }
    }
}

/* Nothing is under way, waits or is to be settled. Doubted jobs may be held back. */
static bool is_idle(const struct mq_run *run)
{
    return run->held == run->doubted.count;
}

static int64_t earlier(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

/* How long nothing will happen by itself. */
static int64_t quiet_ms(const struct mq_run *run, int64_t now_ms)
{
    int64_t until = now_ms + WAIT_HOOK_MAX_MS;

    if (mq_run_cycle_due(run, now_ms) || mq_run_can_start(run)) {
        return 0;
    }
    if (mq_run_database_fails(run)) {
        until = earlier(until, run->retry_ms);
    } else if (run->done.count > 0) {
        int64_t due_ms = run->first_done_ms + MQ_RUN_SETTLE_MS;
        until = earlier(until, due_ms > run->free_until_ms ? due_ms : run->free_until_ms);
    }
    if (run->held > 0 && !mq_run_database_fails(run)) {
        until = earlier(until, run->renew_ms);
    }
    if (!run->stopping) {
        until = earlier(until, mq_run_deadline_ms(run));
        if (run->next_claim_ms > now_ms) {
            until = earlier(until, run->next_claim_ms);
        }
        if (run->free_until_ms > now_ms) { /* a claim may be due then */
            until = earlier(until, run->free_until_ms);
        }
        if (!run->sweep.done && !mq_run_database_fails(run)) {
            until = earlier(until, mq_run_sweep_ms(run, is_idle(run)));
        }
    }
    return until > now_ms ? until - now_ms : 0;
}

static void wait_for(struct mq_run *run, int64_t ms)
{
    const struct mq_worker_hooks *hooks = run->worker->hooks;
    struct mq_error error = {0};
    bool waits_there = run->under_way.count > 0;
    enum mq_status status = MQ_OK;

    /* Idle sessions are looked after too. */
    if (!run->aborted) {
        status = run->transport->ops->step(run->transport,
                                           waits_there ? earlier(ms, WAIT_MAX_MS) : 0, &error);
    }
    if (status != MQ_OK) {
        mq_run_fail(run, status, &error);
        if (status != MQ_BAILOUT) {
            mq_run_abort(run);
        }
        return;
    }
    if (waits_there || ms == 0) {
        return;
    }
    if (hooks && hooks->wait) {
        hooks->wait(hooks->context, ms);
    } else {
        poll(NULL, 0, (int)earlier(ms, WAIT_MAX_MS));
    }
}

/* ---- the end ---- */

/* Whether a token comes while the run may still wait for it. */
static bool waits_for_token(const struct mq_run *run)
{
    if (run->options->daemon) {
        return true;
    }
    if (run->deadline_ms == INT64_MAX) {
        return false;
    }
    /* Its time may be past already, then the claim for it is due and says more. */
    return run->token_ms < mq_run_deadline_ms(run);
}

/* Whether an idle run has a reason to end, and which. */
static bool finds_end(struct mq_run *run, enum mq_run_end *end)
{
    if (run->options->message_limit >= 0 && run->claimed_total >= run->options->message_limit) {
        *end = MQ_RUN_MESSAGES;
        return true;
    }
    if (!run->claim_fresh || run->recovery.dead_count > 0 || mq_run_database_fails(run)) {
        return false;
    }
    if (run->claim_end == MQ_CLAIM_EMPTY) {
        *end = MQ_RUN_EMPTY;
        return run->sweep.done;
    }
    if (run->claim_end == MQ_CLAIM_TOKENS && !waits_for_token(run)) {
        *end = MQ_RUN_TOKENS;
        return run->sweep.done;
    }
    return false;
}

static bool is_over(struct mq_run *run)
{
    enum mq_run_end end = MQ_RUN_EMPTY;

    if (run->status == MQ_BAILOUT || run->gave_up) {
        return true;
    }
    if (!is_idle(run)) {
        return run->aborted && run->under_way.count + run->doubted.count == run->held;
    }
    if (!run->stopping && !finds_end(run, &end)) {
        return false;
    }
    if (mq_run_doubts_relay(run)) {
        mq_run_watch_relay(run, true);
        return false;
    }
    if (run->stopping) {
        return true;
    }
    if (run->options->daemon && end == MQ_RUN_EMPTY) {
        return false;
    }
    run->report->end = end;
    run->report->resume_s = run->claim_resume_s;
    return true;
}

static void collect(struct mq_run *run)
{
    if (!run->aborted) {
        mq_run_collect(run);
    }
}

static void watch(struct mq_run *run)
{
    mq_run_watch_relay(run, false);
    mq_run_keep_finding(run);
}

static void cycle(struct mq_run *run)
{
    if (mq_run_cycle_due(run, mq_run_now_ms(run))) {
        mq_run_cycle(run);
    }
}

static void upkeep(struct mq_run *run)
{
    mq_run_upkeep(run, is_idle(run));
}

static void wait_events(struct mq_run *run)
{
    if (!is_over(run)) {
        wait_for(run, quiet_ms(run, mq_run_now_ms(run)));
    }
}

static void loop(struct mq_run *run)
{
    /* What a cycle recovered is told before a sweep may delete its rows. */
    static void (*const round[])(struct mq_run *) = {
        check_stop, mq_run_renew, begin_waiting, collect,     watch,
        cycle,      mq_run_tell,  upkeep,        wait_events,
    };
    while (!is_over(run)) {
        /* Once PHP unwinds, nothing that may need it is done any more. */
        for (size_t i = 0; i < sizeof(round) / sizeof(round[0]) && run->status != MQ_BAILOUT; i++) {
            round[i](run);
        }
    }
}

/* ---- the frame ---- */

static enum mq_status prepare(struct mq_run *run, bool *locked, struct mq_error *err)
{
    const struct mq_worker_options *options = run->options;
    enum mq_status status = check_options(options, err);

    if (status == MQ_OK) {
        status = mq_run_dir_prepare(options->run_dir, err);
    }
    if (status == MQ_OK) {
        status = mq_queue_ask_time(run->queue, err);
    }
    if (status == MQ_OK) {
        status = mq_slot_take(&run->slot, err);
    }
    if (status != MQ_OK || !mq_slot_is_held(&run->slot)) {
        *locked = status == MQ_OK;
        return status;
    }
    mq_random_hex(run->token, MQ_TOKEN_HEX / 2);
    run->slots = MQ_RUN_CLAIM_MAX + 2 * ((size_t)options->connections + (size_t)options->batch);
    return mq_intent_create(options->run_dir, run->token, run->slots, &run->intent, err);
}

static void init(struct mq_run *run, const struct mq_worker *worker, struct mq_report *report)
{
    memset(run, 0, sizeof(*run));
    memset(report, 0, sizeof(*report));
    run->worker = worker;
    run->options = worker->options;
    run->queue = worker->queue;
    run->transport = worker->transport;
    run->clock = *mq_queue_clock(worker->queue);
    run->relay = worker->transport->name;
    mq_slot_init(&run->slot, worker->queue, worker->options->run_dir, worker->options->max_workers);
    run->slot.fd = worker->options->slot_fd;
    run->report = report;
    run->doubts.pauses = -1;
    run->max_bytes = worker->options->max_bytes;
    run->claim_max = MQ_RUN_CLAIM_MAX;
    run->start_ms = mq_run_now_ms(run);
    run->deadline_ms = worker->options->time_limit_s >= 0
                           ? run->start_ms + worker->options->time_limit_s * 1000
                           : INT64_MAX;
    mq_events_init(&run->events);
    if (worker->hooks) {
        run->events.record = worker->hooks->record;
        run->events.context = worker->hooks->context;
    }
    mq_recovery_init(&run->recovery, worker->options->run_dir);
}

/* Everything is settled, or given up. */
static void finish(struct mq_run *run)
{
    if (run->under_way.count > 0) {
        mq_run_abort(run); /* the transport must not keep what we free */
    }
    if (run->status == MQ_BAILOUT) {
        return;
    }
    if (!run->aborted) {
        mq_transport_quit(run->transport, QUIT_MS);
    }
    if (!run->gave_up && !run->lost) {
        mq_queue_note_run(run->queue, NULL);
        mq_queue_maintain(run->queue);
    }
    run->report->ms = mq_run_now_ms(run) - run->start_ms;
    mq_run_tell_end(run);
}

static void clear_list(struct mq_deliveries *list)
{
    struct mq_delivery *delivery;
    while ((delivery = list->head)) {
        mq_deliveries_remove(list, delivery);
        mq_delivery_free(delivery);
    }
}

static void clear(struct mq_run *run)
{
    bool unsettled = run->held > 0 || run->unknown_jobs;

    clear_list(&run->waiting);
    clear_list(&run->under_way);
    clear_list(&run->done);
    clear_list(&run->doubted);
    if (unsettled) {
        mq_intent_abandon(run->intent);
    } else {
        mq_intent_close(run->intent);
    }
    mq_recovery_clear(&run->recovery);
    mq_events_clear(&run->events);
    mq_slot_leave(&run->slot, run->status != MQ_BAILOUT && !run->lost);
    mq_signals_restore(&run->signals);
}

enum mq_status mq_worker_run(const struct mq_worker *worker, struct mq_report *report,
                             struct mq_error *err)
{
    struct mq_run run;
    bool locked = false;

    init(&run, worker, report);
    /* Before the lock, by which others see that this run goes on: a signal from then on ends it in
     * order. */
    mq_signals_install(&run.signals);
    enum mq_status status = prepare(&run, &locked, err);
    if (status == MQ_OK && locked) {
        report->end = MQ_RUN_LOCKED;
        mq_run_tell_end(&run);
        status = run.status;
        if (err && status != MQ_OK) {
            *err = run.error;
        }
    } else if (status == MQ_OK) {
        mq_run_remember(&run);
        loop(&run);
        finish(&run);
        status = run.status;
        if (err && status != MQ_OK) {
            *err = run.error;
        }
    }
    clear(&run);
    return status;
}

void mq_worker_tell_locked(const struct mq_worker_hooks *hooks, struct mq_report *report)
{
    const struct mq_worker worker = {.hooks = hooks};
    struct mq_run run = {.worker = &worker, .report = report, .clock = mq_clock_system()};

    memset(report, 0, sizeof(*report));
    report->end = MQ_RUN_LOCKED;
    mq_events_init(&run.events);
    mq_run_tell_end(&run);
    mq_events_clear(&run.events);
}
