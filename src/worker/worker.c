/* The loop: begins what is claimed, moves the transport on, settles and claims, until there is a
 * reason to end. */
#include "campaign/mailing.h"
#include "core/process_id.h"
#include "queue/campaign/campaign.h"
#include "queue/queue.h"
#include "send/intent/intent.h"
#include "send/transport.h"
#include "worker/dead_runs.h"
#include "worker/deliveries.h"
#include "worker/files.h"
#include "worker/relay/domain_answers.h"
#include "worker/relay/kept.h"
#include "worker/relay/paying.h"
#include "worker/relay/relay_list.h"
#include "worker/relay/route.h"
#include "worker/rest.h"
#include "worker/run.h"
#include "worker/service_manager.h"
#include "worker/signals.h"

/* A signal that comes after a look at the count but before the wait is noticed after this time. */
#define WAIT_MAX_MS 200
#define QUIT_MS     2000
#define PREPARE_MS  50 /* between looks at an account that waits for its token */
/* So long the loop begins mail before it reads replies again: composing and signing take time. */
#define BEGIN_MS 10

/* ---- one round of the loop ---- */

/* When the run stops beginning mails: at the time limit, or earlier if the relay is so slow that a
 * mail begun at the limit would take longer than the grace period. */
static int64_t deadline_of(const struct mq_run *run)
{
    int64_t over_ms = mq_run_dot_ms(run) - run->options->grace_s * 1000;
    return run->deadline_ms - (over_ms > 0 ? over_ms : 0);
}

/* Closes the transport and takes everything back. */
static void abort_transport(struct mq_run *run)
{
    run->stop.aborted = true;
    mq_run_recall(run);
    mq_run_abort(run);
    mq_run_collect(run);
}

/* The first signal begins the grace period, a second one ends it. Without a signal, only mails
 * without a body out are recalled. A mail that is cut off after its dot may have arrived, and is
 * sent again: a relay that takes minutes to reply would get it once in each run. */
static void wind_up(struct mq_run *run, int caught)
{
    struct mq_stop *stop = &run->stop;
    int64_t now_ms = mq_run_now_ms(run);
    int64_t grace_ms = run->options->grace_s * 1000;
    if (run->under_way.count == 0 || stop->aborted) {
        return;
    }
    if (caught > 1 || (caught > 0 && now_ms - stop->signal_ms >= grace_ms)) {
        abort_transport(run);
    } else if (!stop->recalled && now_ms - stop->begun_ms >= grace_ms) {
        stop->recalled = true;
        mq_run_recall(run);
    }
}

static void check_stop(struct mq_run *run)
{
    int64_t now_ms = mq_run_now_ms(run);
    int caught = mq_signals_caught(run->signals);
    if (now_ms >= deadline_of(run)) {
        mq_run_stop(run, MQ_RUN_TIME);
    }
    if (caught > 0) {
        mq_run_stop(run, MQ_RUN_SIGNAL);
        run->stop.signal_ms = run->stop.signal_ms ? run->stop.signal_ms : now_ms;
    }
    if (run->stop.begun) {
        wind_up(run, caught);
    } else {
        mq_recovery_scan(run->recovery, run->token, now_ms);
    }
}

static void tell_manager(struct mq_run *run, bool ends)
{
    const struct mq_report *report = run->report;
    const struct mq_manager_news news = {.stops = run->stop.begun,
                                         .ends = ends,
                                         .sent = report->sent,
                                         .try_later = report->try_later,
                                         .parked = report->parked,
                                         .under_way = run->under_way.count};
    mq_manager_tell(run->manager, &news, mq_run_now_ms(run));
}

static void tell_manager_now(struct mq_run *run)
{
    tell_manager(run, false);
}

static void follow_hangups(struct mq_run *run)
{
    const struct mq_worker_hooks *hooks = run->worker->hooks;
    int hangups = mq_signals_hangups();
    if (hangups != run->hangups && run->options->daemon && hooks->reopen) {
        hooks->reopen(hooks->context);
    }
    run->hangups = hangups;
}

/* Begins the mail of a route until that time; false: other routes must wait. */
static bool begin_route(struct mq_run *run, struct mq_route *route, int64_t until_ms)
{
    while (mq_route_can_start(route) && mq_run_load_next(run, &route->waiting)) {
        struct mq_delivery *delivery = route->waiting.head;
        struct mq_lane *lane = mq_route_lane(route, delivery, true);
        if (!lane) {
            break;
        }
        if (!mq_delivery_start(delivery, lane) || mq_run_now_ms(run) >= until_ms) {
            return false;
        }
    }
    return true;
}

/* Begins the mail that has paid to go to a lane; false: as above. */
static bool begin_lane(struct mq_run *run, struct mq_lane *lane, int64_t until_ms)
{
    while (mq_lane_can_start(lane) && mq_run_load_next(run, &lane->paid)) {
        if (!mq_delivery_start(lane->paid.head, lane) || mq_run_now_ms(run) >= until_ms) {
            return false;
        }
    }
    return true;
}

static void begin_waiting(struct mq_run *run)
{
    struct mq_relays *relays = run->relays;
    int64_t until_ms = mq_run_now_ms(run) + BEGIN_MS;
    bool goes_on = true;
    for (size_t i = 0; i < relays->lane_count && goes_on; i++) {
        struct mq_lane *lane = relays->lanes[(relays->turn + i) % relays->lane_count];
        goes_on = begin_lane(run, lane, until_ms);
    }
    for (size_t i = 0; i < relays->route_count && goes_on; i++) {
        struct mq_route *route = relays->routes[relays->turn++ % relays->route_count];
        goes_on = begin_route(run, route, until_ms);
    }
}

/* How long the loop can wait until something is due. */
static int64_t quiet_ms(const struct mq_run *run, int64_t now_ms)
{
    const struct mq_database *database = &run->database;
    int64_t until = mq_least(now_ms + WAIT_MAX_MS, run->manager->next_ms);
    bool releases = run->stop.begun && mq_run_waiting(run) > 0;
    if (releases || mq_run_cycle_due(run, now_ms) || mq_run_can_start(run)) {
        return 0;
    }
    if (mq_run_database_fails(run)) {
        until = mq_least(until, database->retry_ms);
    } else {
        if (run->done.count > 0) {
            int64_t due_ms = run->first_done_ms + MQ_RUN_SETTLE_MS;
            bool may_settle = due_ms >= database->free_until_ms;
            until = mq_least(until, may_settle ? due_ms : database->free_until_ms);
        }
        if (run->held > 0) {
            until = mq_least(until, run->lease.renew_ms);
        }
        if (!run->stop.begun) {
            until = mq_least(until, mq_run_sweep_ms(run));
        }
    }
    if (!run->stop.begun) {
        until = mq_least(until, deadline_of(run));
        if (run->claim.next_ms > now_ms) {
            until = mq_least(until, run->claim.next_ms);
        }
        if (database->free_until_ms > now_ms) { /* a claim may be due then */
            until = mq_least(until, database->free_until_ms);
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
    /* step() looks after idle sessions, too. */
    if (!run->stop.aborted) {
        status = mq_run_step(run, waits_there ? ms : 0, &error);
    }
    if (status != MQ_OK) {
        mq_run_fail(run, status, &error);
        if (status != MQ_BAILOUT) {
            abort_transport(run);
        }
    } else if (!waits_there && ms > 0) {
        if (hooks->wait) {
            hooks->wait(hooks->context, ms);
            ms = 0;
        }
        mq_run_rest(run, ms);
    }
}

/* ---- the end ---- */

/* Whether to wait for the next token: a daemon always does, another run only if the token comes
 * before its time limit. If the token's time is past, a claim is due, and its result decides. */
static bool waits_for_token(const struct mq_run *run)
{
    return run->options->daemon ||
           (run->deadline_ms != INT64_MAX && run->claim.token_ms < deadline_of(run));
}

/* Whether the run has to look for finished campaigns yet. */
static bool tells_finished(const struct mq_run *run)
{
    return run->finished && run->worker->hooks->finished;
}

/* Whether an idle run has a reason to end, and which. */
static bool finds_end(struct mq_run *run, enum mq_run_end *end)
{
    bool empty = run->claim.end == MQ_CLAIM_EMPTY;
    if (run->options->message_limit >= 0 && run->claim.total >= run->options->message_limit) {
        *end = MQ_RUN_MESSAGES;
        return true;
    }
    *end = empty ? MQ_RUN_EMPTY : MQ_RUN_TOKENS;
    if (!empty) {
        memcpy(run->report->reason, run->claim.full, sizeof(run->report->reason));
    }
    return run->claim.fresh && run->recovery->dead_count == 0 && !mq_run_database_fails(run) &&
           (empty || (run->claim.end == MQ_CLAIM_TOKENS && !waits_for_token(run))) &&
           run->database.sweep.done && !tells_finished(run);
}

static bool is_over(struct mq_run *run)
{
    enum mq_run_end end = MQ_RUN_EMPTY;
    if (run->stop.status == MQ_BAILOUT || run->stop.gave_up) {
        return true;
    }
    if (!mq_run_is_idle(run)) {
        return run->stop.aborted && run->under_way.count + mq_run_doubted(run) == run->held;
    }
    if (!run->stop.begun && !finds_end(run, &end)) {
        return false;
    }
    if (mq_run_doubts_relays(run)) {
        mq_run_watch_relays(run, true);
        return false;
    }
    if (run->stop.begun) {
        return true;
    }
    if (run->options->daemon && end == MQ_RUN_EMPTY) {
        return false;
    }
    run->report->end = end;
    run->report->resume_s = run->claim.resume_s;
    return true;
}

static void watch(struct mq_run *run)
{
    mq_run_watch_relays(run, false);
    mq_run_collect(run); /* takes what was recalled or had not begun */
    mq_run_take_back(run);
    mq_run_put_back(run);
    mq_run_end_holds(run);
    for (size_t i = 0; i < run->relays->lane_count; i++) {
        mq_lane_keep_finding(run->relays->lanes[i]);
        mq_lane_tell_note(run->relays->lanes[i]);
    }
}

static void cycle(struct mq_run *run)
{
    if (run->stop.begun) {
        mq_deliveries_release_waiting(run);
    }
    if (mq_run_cycle_due(run, mq_run_now_ms(run))) {
        mq_run_cycle(run);
    }
}

static void wait_events(struct mq_run *run)
{
    if (!is_over(run)) {
        wait_for(run, quiet_ms(run, mq_run_now_ms(run)));
    }
}

/* Tells of campaigns that have finished, also of those that an earlier run did not tell of. */
static void tell_finished(struct mq_run *run)
{
    const struct mq_worker_hooks *hooks = run->worker->hooks;
    struct mq_error error = {0};
    int64_t id = 0;
    if (!tells_finished(run) || mq_run_database_fails(run)) {
        return;
    }
    enum mq_status status = mq_campaign_take_finished(run->queue, &id, &error);
    run->finished = status != MQ_OK || id != 0;
    if (status == MQ_OK && id != 0) {
        status = hooks->finished(hooks->context, id, &error);
    }
    if (status == MQ_OK && id != 0) {
        status = mq_campaign_told(run->queue, id, &error);
    }
    if (status == MQ_THROWN || status == MQ_BAILOUT) {
        mq_run_fail(run, status, &error);
    } else if (status != MQ_OK) {
        mq_run_database_failed(run, status, &error);
    }
}

static void loop(struct mq_run *run)
{
    /* Events of recovered jobs are told before the upkeep, whose sweep may delete their rows. */
    static void (*const round[])(struct mq_run *) = {
        check_stop,    tell_manager_now, follow_hangups, mq_run_renew,
        begin_waiting, mq_run_collect,   watch,          cycle,
        mq_run_tell,   tell_finished,    mq_run_upkeep,  wait_events,
    };
    while (!is_over(run)) {
        /* Once PHP unwinds, no step runs any more, because it may need PHP. */
        for (size_t i = 0; i < sizeof(round) / sizeof(round[0]) && run->stop.status != MQ_BAILOUT;
             i++) {
            round[i](run);
        }
    }
}

/* ---- the frame ---- */

/* Prepares a run. If all worker slots are taken, it returns MQ_OK without one. */
static enum mq_status prepare(struct mq_run *run, struct mq_error *err)
{
    const struct mq_worker_options *options = run->options;
    int64_t now_s;
    MQ_TRY(mq_run_dir_prepare(options->run_dir, err));
    MQ_TRY(mq_queue_now(run->queue, &now_s, err));
    MQ_TRY(mq_queue_prepare(run->queue, err));
    MQ_TRY(mq_slot_take(&run->slot, err));
    if (!mq_slot_is_held(&run->slot)) {
        return MQ_OK;
    }
    mq_random_hex(run->token, MQ_TOKEN_HEX / 2);
    _Static_assert(MQ_CLAIM_MAX + 2 * (MQ_CONNECTIONS_MAX + MQ_CLAIM_MAX) <= MQ_INTENT_SLOTS_MAX,
                   "a run has more deliveries than slots");
    run->slots = MQ_CLAIM_MAX + 2 * (size_t)mq_relays_connections(run->relays) +
                 (1 + run->relays->route_count) * (size_t)options->batch;
    run->slots = run->slots < MQ_INTENT_SLOTS_MAX ? run->slots : MQ_INTENT_SLOTS_MAX;
    return mq_intent_create(options->run_dir, run->token, run->slots, &run->intent, err);
}

static void init(struct mq_run *run, const struct mq_worker *worker, struct mq_report *report)
{
    const struct mq_worker_options *options = worker->options;
    *report = (struct mq_report){0};
    *run = (struct mq_run){
        .worker = worker,
        .options = options,
        .queue = worker->queue,
        .relays = worker->relays,
        .clock = *mq_queue_clock(worker->queue),
        .report = report,
        .slot = {worker->queue, options->run_dir, options->max_workers, -1, -1, mq_process_id()},
        .finished = true,
        .memory = {.max_bytes = options->max_bytes, .claim_max = MQ_CLAIM_MAX},
    };
    run->start_ms = mq_run_now_ms(run);
    run->deadline_ms =
        options->time_limit_s >= 0 ? run->start_ms + options->time_limit_s * 1000 : INT64_MAX;
    run->events.record = worker->hooks->record;
    run->events.context = worker->hooks->context;
}

/* The next run reads this run's intent record. In it, deliveries that go back as before the claim
 * must look as if they had not begun. */
static void give_up(struct mq_run *run)
{
    for (struct mq_delivery *f = run->done.head; f; f = f->next) {
        if (mq_delivery_goes_back(f) && f->slot >= 0) {
            mq_intent_release(run->intent, f->slot);
            f->slot = -1;
        }
    }
}

/* Ends the run after everything is settled or given up. */
static void finish(struct mq_run *run)
{
    if (run->under_way.count > 0) {
        abort_transport(run); /* the transport must not keep what we free */
    }
    if (run->stop.gave_up) {
        give_up(run);
    }
    if (run->stop.status == MQ_BAILOUT) {
        return;
    }
    tell_manager(run, true);
    if (!run->stop.aborted) {
        mq_run_quit(run, QUIT_MS);
    }
    if (!run->stop.gave_up && !run->database.lost) {
        mq_run_count_domains(run, true);
        mq_queue_note_run(run->queue, NULL);
        mq_queue_maintain(run->queue);
    }
    run->report->ms = mq_run_now_ms(run) - run->start_ms;
    mq_run_tell_end(run);
}

static void clear(struct mq_run *run)
{
    bool unsettled = run->held > 0 || run->unknown_jobs;
    for (size_t i = 0; i < MQ_RUN_BUCKETS; i++) {
        while (run->buckets[i]) {
            mq_delivery_free(run->buckets[i]);
        }
    }
    if (unsettled) {
        mq_intent_abandon(run->intent);
    } else {
        mq_intent_close(run->intent);
    }
    mq_recovery_clear(run->recovery);
    mq_domains_free(run->domains);
    mq_domain_sessions_free(run->sessions);
    mq_events_clear(&run->events);
    mq_mailings_free(run->mailings);
    mq_slot_leave(&run->slot, run->stop.status != MQ_BAILOUT && !run->database.lost);
    if (!run->options->in_request) {
        mq_signals_restore();
    }
}

/* Waits until a relay can be used, so that no mail is claimed if none can. */
static void prepare_lanes(struct mq_run *run)
{
    for (size_t i = 0; i < run->relays->lane_count; i++) {
        mq_lane_remember(run->relays->lanes[i]);
    }
    mq_relays_note(run);
    while (!mq_run_prepare_lanes(run) && mq_signals_caught(run->signals) == 0 &&
           mq_run_now_ms(run) < deadline_of(run)) {
        tell_manager_now(run);
        mq_run_rest(run, PREPARE_MS);
    }
}

enum mq_status mq_worker_run(const struct mq_worker *worker, struct mq_report *report,
                             struct mq_error *err)
{
    struct mq_run run;
    struct mq_recovery recovery;
    struct mq_manager manager;
    init(&run, worker, report);
    mq_relays_begin(&run);
    mq_recovery_init(&recovery, worker->options->run_dir);
    run.recovery = &recovery;
    run.manager = &manager;
    /* Before prepare(): once its lock shows others that a run works, a signal must end that run in
     * order. */
    run.signals =
        run.options->in_request ? mq_signals_caught(0) : mq_signals_install(run.options->daemon);
    run.hangups = mq_signals_hangups();
    mq_manager_init(&manager, run.options->daemon);
    enum mq_status status = prepare(&run, err);
    if (status == MQ_OK) {
        if (mq_slot_is_held(&run.slot)) {
            prepare_lanes(&run);
            loop(&run);
            finish(&run);
        } else {
            report->end = MQ_RUN_LOCKED;
            if (!run.options->in_request) { /* where that is what mostly happens */
                mq_run_tell_end(&run);
            }
        }
        status = run.stop.status;
        *err = run.stop.error;
    }
    clear(&run);
    run.relays->run = NULL;
    return status;
}
