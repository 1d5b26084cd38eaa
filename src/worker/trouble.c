/* Judges whether failures are the relay's fault. If the transport reports trouble of the relay, the
 * run stops. But a relay that defers or denies every mail (451 4.3.0, 554 5.7.1, a 550 without a
 * reason) or hangs up in every transaction is in trouble too. If only one mail meets that, it is
 * not the relay's fault. So a mail that fails before the relay has accepted another one of this run
 * waits, unsettled, until one of these happens:
 *
 * - The relay accepts another mail. Then the failed mail was at fault, and its attempt counts. But
 *   if only a mail of a lower priority was accepted, a refusal without a reason does not stand.
 * - MQ_RUN_MANY mails have failed, for recipients in different domains (or mq_lane_domain_max() in
 * one: a domain that fails must not stop the others), and nothing under way is accepted. Because of
 *   their priority they may be the first in every run, so a few mails of each lower priority are
 *   tried. If none of these is accepted, the relay is in trouble: all go back, and it is paused.
 * - They hold the last tokens of the hourly limit, which other mail needs to show that the relay
 *   works. They go back, and the first counts an attempt if the queue has no entry for the relay.
 *   If the relay has accepted mail before, they wait for a token that comes soon. If none does, the
 *   attempts of all count.
 * - The run has nothing else to do, or the queue is off. Then the relay's entry in mailRelayPause
 *   decides. If it exists, the relay has accepted nothing since an earlier run's failures, and the
 *   mail goes back. Otherwise the attempt counts, and the queue gets an entry.
 *
 * So between two counted attempts the relay has always accepted a mail, or it had accepted one
 * before the first. A relay that takes nothing, for however long, costs a mail at most one attempt,
 * and a mail that fails while others get through is parked in the end. If, in a long run, a
 * mail fails again and nothing was accepted since its last attempt, the run doubts the relay again.
 *
 * A refusal without a reason (MQ_OUTCOME_UNEXPLAINED) is judged like this in every run, and after
 * an acceptance too: many of them for different domains are about us, and the relay is paused.
 * Their attempts count then, so that dead addresses do not pause the relay for ever.
 *
 * A mail whose own reply ended the session (421) or was the relay's trouble counts no attempt. It
 * goes back after the others, so that their acceptance can show that the relay works. */
#include <stdio.h>
#include <string.h>

#include "queue/config/relays.h"
#include "send/transport.h"
#include "worker/deliveries.h"
#include "worker/relay/domain_answers.h"
#include "worker/relay/relay_list.h"
#include "worker/relay/route.h"
#include "worker/run.h"
#include "worker/signals.h"

/* One or two denied mails pause the relay for so long; as all other mail waits then, it is short.
 * One or two deferred mails wait so long themselves, and the relay is not paused. */
#define FEW_PAUSE_S 300
/* A job that goes back is due after the jobs that are due now. If it were the first again in the
 * next run, others of its priority would not get their turn. */
#define BACK_AFTER_S 1
/* A mail that drew trouble while others are accepted would otherwise be claimed again at once. */
#define TROUBLE_AFTER_S 60
#define CLEAR_AGAIN_MS  1000
/* Sessions that end before a mail is through cost no attempt. After this many untouched mails in a
 * row, and three more for each connection, the relay is paused. */
#define UNTOUCHED_BASE 10
/* A lane without mail for so long has nothing else to do, though other lanes may. */
#define IDLE_MS 5000

/* ---- what became of the mails ---- */

/* Moves the first doubted job to `done`. */
static void resolve_first(struct mq_lane *lane, enum mq_blame blame, int64_t back_after_s)
{
    struct mq_delivery *delivery = lane->doubted.head;
    mq_delivery_map(delivery, blame);
    if (blame == MQ_BLAME_RELAY) {
        if (mq_delivery_goes_back(delivery) && mq_delivery_moves(delivery)) {
            return;
        }
        delivery->back_after_s = back_after_s;
    }
    mq_delivery_done(delivery);
}

static void resolve(struct mq_lane *lane, enum mq_blame blame, int64_t back_after_s)
{
    while (lane->doubted.head) {
        resolve_first(lane, blame, back_after_s);
    }
    lane->doubts = (struct mq_doubts){.pauses = -1};
}

static void accepted(struct mq_lane *lane)
{
    lane->trouble.accepted++;
    lane->trouble.accepted_s = mq_run_now_s(lane->run);
    /* If only a mail of a lower priority gets through, that says little about the doubted ones:
     * their attempts count, but a refusal without a reason does not park them. */
    resolve(lane, lane->doubts.lower ? MQ_BLAME_NOBODY : MQ_BLAME_MAIL, 0);
}

/* For a job that failed: whether the relay has accepted a mail since the job's last attempt. */
static bool relay_works(struct mq_lane *lane, const struct mq_job *job)
{
    if (lane->trouble.accepted > 0 && job->attempts > 1 &&
        job->last_attempt_at >= lane->trouble.accepted_s) {
        lane->trouble.accepted = 0;
        /* the next acceptance must clear failures that are stored from now on */
        lane->trouble.pause_settled = false;
    }
    return lane->trouble.accepted > 0;
}

static void note_target(struct mq_doubts *doubts, const struct mq_target *target)
{
    const char *at = strrchr(target->address, '@');
    const char *domain = at ? at : target->address;
    struct mq_str last = mq_str_of(doubts->domain);
    if (mq_outcomes[target->result].failed) {
        doubts->denied = doubts->denied || target->result == MQ_OUTCOME_DENIED;
        doubts->domains =
            doubts->domains || (last.len > 0 && !mq_str_equal_nocase(mq_str_of(domain), last));
        snprintf(doubts->domain, sizeof(doubts->domain), "%s", domain);
    }
}

/* Returns mq_queue_count_pauses(), which it asks for once; 0 if that fails. */
static int64_t pauses(struct mq_lane *lane)
{
    struct mq_doubts *doubts = &lane->doubts;
    if (doubts->pauses < 0 &&
        mq_queue_count_pauses(lane->run->queue, lane->name, &doubts->pauses, NULL) != MQ_OK) {
        doubts->pauses = 0;
    }
    return doubts->pauses;
}

static void doubted(struct mq_lane *lane, struct mq_delivery *delivery)
{
    for (size_t i = 0; i < delivery->transfer.target_count; i++) {
        note_target(&lane->doubts, &delivery->targets[i]);
    }
    if (lane->doubts.mails == 0 || delivery->job.priority < lane->doubts.below) {
        lane->doubts.below = delivery->job.priority;
    }
    lane->doubts.mails++;
    pauses(lane);
    mq_delivery_leaves(delivery);
    mq_delivery_move(delivery, &lane->doubted);
}

/* Notes a mail that the transport gave back because it drew trouble: it goes after the others. */
static void drew_trouble(struct mq_lane *lane, struct mq_delivery *delivery)
{
    lane->doubts.drew_trouble++;
    if (delivery->transfer.error[0]) {
        memcpy(lane->trouble.reason, delivery->transfer.error, sizeof(lane->trouble.reason));
    }
    delivery->back_after_s = lane->trouble.accepted > 0 ? TROUBLE_AFTER_S : BACK_AFTER_S;
}

/* ---- back from the transport ---- */

/* Whether a failure may be the relay's fault. A relay that has accepted a mail lately works. But a
 * refusal without a reason parks the mail, so it waits for an acceptance that comes later. */
static bool is_doubtful(struct mq_lane *lane, const struct mq_job *job, enum mq_outcome result)
{
    return (mq_outcomes[result].failed && !relay_works(lane, job)) ||
           result == MQ_OUTCOME_UNEXPLAINED;
}

/* Whether the relay lacks an extension or the room for this mail (send/smtp/check.c). */
static bool cannot_take(const struct mq_delivery *delivery)
{
    bool none = true;
    for (size_t i = 0; i < delivery->transfer.target_count && none; i++) {
        const struct mq_target *target = &delivery->targets[i];
        none = target->result == MQ_OUTCOME_REFUSED && target->phase &&
               strcmp(target->phase, "check") == 0;
    }
    return none;
}

/* Lets another relay of the route have the mail: now, or when it is used again. */
static bool goes_elsewhere(struct mq_delivery *delivery)
{
    int64_t other_s = mq_delivery_other_s(delivery);
    if (other_s == 0 || mq_delivery_moves(delivery)) {
        return other_s > 0;
    }
    delivery->back_after_s = other_s;
    mq_delivery_end(delivery, MQ_OUTCOME_RELEASED, delivery->targets[0].reply);
    return true;
}

static void finished(struct mq_lane *lane, struct mq_delivery *delivery)
{
    bool taken = false, doubtful = false, uncertain = false;
    lane->trouble.untouched = 0;
    for (size_t i = 0; i < delivery->transfer.target_count; i++) {
        enum mq_outcome result = delivery->targets[i].result;
        taken = taken || result == MQ_OUTCOME_DELIVERED;
        uncertain = uncertain || result == MQ_OUTCOME_UNCERTAIN;
        doubtful = doubtful || is_doubtful(lane, &delivery->job, result);
    }
    lane->run->report->cut += uncertain && lane->run->stop.aborted;
    mq_lane_note_time(lane, delivery->transfer.ms);
    if (cannot_take(delivery) && goes_elsewhere(delivery)) {
        return;
    }
    if (doubtful && !taken && !uncertain) {
        doubted(lane, delivery);
        return;
    }
    mq_delivery_map(delivery, MQ_BLAME_MAIL);
    mq_delivery_done(delivery);
    if (taken) {
        accepted(lane);
    }
}

static void collect(struct mq_lane *lane, struct mq_transfer *transfer)
{
    struct mq_delivery *delivery = transfer->context;
    lane->under_way--;
    lane->moved_ms = mq_run_now_ms(lane->run);
    mq_delivery_drop_message(delivery);
    if (transfer->end == MQ_TRANSFER_DONE) {
        finished(lane, delivery);
        return;
    }
    if (transfer->end == MQ_TRANSFER_UNTOUCHED && !delivery->recalled) {
        lane->trouble.untouched += !lane->run->stop.begun;
        if (transfer->drew_trouble) {
            drew_trouble(lane, delivery);
        }
        if (mq_delivery_moves(delivery)) {
            return;
        }
    }
    mq_delivery_end(delivery, MQ_OUTCOME_RELEASED, transfer->error);
}

void mq_run_collect(struct mq_run *run)
{
    struct mq_transfer *transfer;
    for (size_t i = 0; i < run->relays->lane_count; i++) {
        struct mq_lane *lane = run->relays->lanes[i];
        while ((transfer = mq_transport_take_done(lane->transport))) {
            collect(lane, transfer);
        }
    }
}

/* ---- the relay ---- */

static bool doubts_relay(const struct mq_lane *lane)
{
    const struct mq_trouble *trouble = &lane->trouble;
    return lane->doubts.mails > 0 ||
           (lane->doubts.drew_trouble > 0 && trouble->accepted == 0 && !trouble->found);
}

bool mq_run_doubts_relays(const struct mq_run *run)
{
    bool any = false;
    for (size_t i = 0; i < run->relays->lane_count; i++) {
        any = any || doubts_relay(run->relays->lanes[i]);
    }
    return any;
}

/* Writes the relay's entry in mailRelayPause. */
static enum mq_status write_pause(const struct mq_lane *lane, const char *reason,
                                  struct mq_relay_pause *pause)
{
    char hidden[MQ_ERROR_TEXT_MAX];
    snprintf(hidden, sizeof(hidden), "%s", reason);
    mq_hide_local_parts(hidden);
    pause->relay = lane->name;
    pause->reason = hidden;
    enum mq_status status = mq_queue_pause_relay(lane->run->queue, pause, NULL);
    pause->reason = NULL;
    return status;
}

/* Pauses the relay for as long as it asks, or retry_period says; 0: mq_queue_pause_relay() knows.
 */
static void pause_relay(struct mq_lane *lane, const char *reason, int64_t retry_after_s)
{
    struct mq_run *run = lane->run;
    struct mq_relay_pause pause = {.retry_after_s =
                                       retry_after_s > 0 ? retry_after_s : lane->retry_s};
    /* A failure is ignored: without the pause, the next run tries at once. */
    if (write_pause(lane, reason, &pause) != MQ_OK) {
        pause.until_s = 0;
    }
    struct mq_event event = {
        .type = MQ_EVENT_RELAY_TROUBLE,
        .at_s = mq_run_now_s(run),
        .relay = (char *)lane->name, /* copied by mq_events_add() */
        .reply = (char *)reason,
        .ms = -1,
        .next_attempt_at = pause.until_s,
    };
    mq_events_add(&run->events, &event);
    mq_lane_close(lane, pause.until_s, reason);
}

/* Whether we have cut mails off: after a second signal, without a grace period, or after a failure
 * of our own. If a grace period has passed, it is the relay that was silent. */
static bool cut_off(const struct mq_run *run)
{
    return run->stop.aborted && (run->stop.status != MQ_OK || mq_signals_caught(run->signals) > 1 ||
                                 run->options->grace_s == 0);
}

/* Writes into `out` why the relay takes nothing, with its last reply. */
static void write_reason(struct mq_lane *lane, char *out, size_t size)
{
    struct mq_delivery *last = lane->doubted.tail;
    const char *verb = "took no mail";
    const char *why = lane->trouble.reason;
    if (last) {
        mq_delivery_map(last, MQ_BLAME_NOBODY);
        bool silent = strcmp(last->error, last->transfer.error) == 0;
        verb = lane->doubts.denied && !silent ? "denied every mail" : verb;
        why = last->error;
    }
    snprintf(out, size, "the relay %s of this run%s: %.400s", verb,
             lane->trouble.accepted_s > 0 ? " since the last it took" : "", why);
}

/* The blame for a mail after which nothing was accepted. Its attempt counts only if the queue has
 * no entry for the relay: an entry says that nothing was accepted since an earlier failure. */
static enum mq_blame blame_again(struct mq_lane *lane)
{
    return pauses(lane) > 0 ? MQ_BLAME_RELAY : MQ_BLAME_NOBODY;
}

/* Records the failure for the next run, without a pause of the relay. */
static void note_failure(struct mq_lane *lane, const char *reason)
{
    struct mq_relay_pause pause = {.only_noted = true};
    write_pause(lane, reason, &pause);
}

/* How long the relay is paused: as it says, or not long for few mails; 0: as pause_relay() knows.
 */
static int64_t pause_of(const struct mq_lane *lane, int64_t named_s, bool few)
{
    return named_s > 0 ? named_s : few && !lane->retry_s ? FEW_PAUSE_S : 0;
}

/* Decides on the doubted mails when the relay has accepted nothing since they failed. Greylisting
 * refuses a first try and accepts a second, so every second run leaves such mails where they were
 * in the queue. */
static void judge(struct mq_lane *lane)
{
    const struct mq_doubts *doubts = &lane->doubts;
    struct mq_delivery *last = lane->doubted.tail;
    int64_t named_s = last ? last->transfer.retry_after_s : 0;
    bool few = doubts->mails + doubts->drew_trouble < MQ_RUN_MANY;
    bool again = !doubts->denied && pauses(lane) > 0 && pauses(lane) % 2 == 0;
    char reason[MQ_ERROR_TEXT_MAX];
    if (lane->trouble.accepted > 0 && !mq_lane_failed_many(lane)) {
        resolve(lane, MQ_BLAME_MAIL, 0);
        return;
    }
    write_reason(lane, reason, sizeof(reason));
    if (few && !doubts->denied && doubts->drew_trouble == 0) {
        /* Other mail may well get through, so the relay is not paused. */
        resolve(lane, blame_again(lane), FEW_PAUSE_S);
        note_failure(lane, reason);
        return;
    }
    bool counts = lane->trouble.accepted > 0 || (few && pauses(lane) == 0);
    resolve(lane, counts ? MQ_BLAME_NOBODY : MQ_BLAME_RELAY, again ? -1 : BACK_AFTER_S);
    pause_relay(lane, reason, pause_of(lane, named_s, few));
}

/* Whether nothing is claimed only because the doubted jobs hold all tokens that there are. */
static bool lacks_tokens(const struct mq_lane *lane, bool idle)
{
    const struct mq_run *run = lane->run;
    bool soon = idle || run->claim.token_ms - lane->moved_ms <= FEW_PAUSE_S * 1000;
    return run->claim.end == MQ_CLAIM_TOKENS && (lane->trouble.accepted == 0 || !soon) &&
           lane->doubted.count > 0 && mq_run_is_idle(run) && !run->stop.begun;
}

/* Settles the doubted jobs so that their tokens are free again. doubts.mails still counts these
 * jobs, because each failure makes trouble of the relay more likely. */
static void free_tokens(struct mq_lane *lane)
{
    enum mq_blame blame = lane->trouble.accepted > 0 ? MQ_BLAME_NOBODY : MQ_BLAME_RELAY;
    char reason[MQ_ERROR_TEXT_MAX];
    write_reason(lane, reason, sizeof(reason));
    snprintf(lane->trouble.reason, sizeof(lane->trouble.reason), "%.*s", MQ_TARGET_REPLY_MAX - 1,
             lane->doubted.tail->error);
    resolve_first(lane, blame == MQ_BLAME_RELAY ? blame_again(lane) : blame, FEW_PAUSE_S);
    while (lane->doubted.head) {
        resolve_first(lane, blame, FEW_PAUSE_S);
    }
    if (blame == MQ_BLAME_RELAY) {
        note_failure(lane, reason);
    }
    lane->doubts.pauses = -1;
    lane->run->claim.next_ms = mq_run_now_ms(lane->run);
}

/* Claims only mail of lower priorities from now on, until one is accepted or none is left. Mail
 * claimed before no longer counts for the message limit, so that the limit leaves room for it. */
static void look_lower(struct mq_lane *lane)
{
    struct mq_run *run = lane->run;
    lane->doubts.lower = true;
    if (run->relays->lane_count > 1) {
        return; /* mq_run_put_back() leaves the mail of other lanes where it is */
    }
    run->claim.total -= (int64_t)(mq_run_waiting(run) + lane->doubted.count);
    mq_deliveries_release_waiting(run);
    run->claim.next_ms = mq_run_now_ms(run);
}

/* Decides about failures without an acceptance when nothing is under way. */
static void weigh(struct mq_lane *lane, bool idle)
{
    const struct mq_run *run = lane->run;
    bool many = mq_lane_failed_many(lane) || lane->doubts.mails >= mq_lane_domain_max(lane);
    bool full = lane->doubted.count >= run->slots; /* nothing more can be claimed */
    if (cut_off(run)) {
        resolve(lane, MQ_BLAME_RELAY, BACK_AFTER_S);
    } else if (lacks_tokens(lane, idle)) {
        free_tokens(lane);
    } else if (run->stop.begun || run->stop.aborted || (many && lane->trouble.accepted > 0)) {
        judge(lane);
    } else if (many && !lane->doubts.lower && !lane->retry_s) {
        look_lower(lane);
    } else if (idle || full || (many && lane->retry_s)) {
        judge(lane);
    }
}

/* Clears the relay's entry in mailRelayPause after the first acceptance. */
static void settle_pause(struct mq_lane *lane)
{
    const struct mq_run *run = lane->run;
    struct mq_trouble *trouble = &lane->trouble;
    if (trouble->accepted > 0 && !trouble->pause_settled && !mq_run_database_fails(run) &&
        mq_run_now_ms(run) >= trouble->retry_ms) {
        trouble->pause_settled = mq_queue_clear_pause(run->queue, lane->name, NULL) != MQ_BUSY;
        if (!trouble->pause_settled) {
            trouble->retry_ms = mq_run_now_ms(run) + CLEAR_AGAIN_MS;
        }
    }
}

/* Whether the lane has nothing else to do, though other lanes may, or the queue is off. */
static bool rests(const struct mq_lane *lane)
{
    const struct mq_run *run = lane->run;
    bool all = run->claim.end != MQ_CLAIM_TOKENS && run->claim.end != MQ_CLAIM_MORE &&
               mq_run_is_idle(run) && !mq_run_database_fails(run);
    return (run->relays->lane_count > 1 || all) && run->claim.locked_ms == 0 &&
           mq_run_now_ms(run) - lane->moved_ms >= IDLE_MS;
}

static void watch(struct mq_lane *lane, bool idle)
{
    struct mq_transport *transport = lane->transport;
    const struct mq_run *run = lane->run;
    int64_t untouched_max = UNTOUCHED_BASE + 3 * (int64_t)lane->connections;
    mq_lane_reopen(lane);
    if (lane->trouble.found) {
        resolve(lane, MQ_BLAME_RELAY, BACK_AFTER_S);
        return;
    }
    settle_pause(lane);
    idle = idle || rests(lane);
    if (run->stop.aborted) {
        idle = true; /* nothing more will come from the relay */
    } else if (transport->troubled) {
        struct mq_relay_trouble trouble = transport->trouble;
        resolve(lane, MQ_BLAME_RELAY, BACK_AFTER_S);
        pause_relay(lane, trouble.reason, trouble.retry_after_s);
        mq_transport_recall(transport);
        return;
    } else if (lane->trouble.untouched >= untouched_max) {
        pause_relay(lane, "the relay ends every session before a mail is through", 0);
        return;
    }
    if (doubts_relay(lane) && (lane->under_way == 0 || run->stop.aborted)) {
        weigh(lane, idle);
    }
}

void mq_run_watch_relays(struct mq_run *run, bool idle)
{
    for (size_t i = 0; i < run->relays->lane_count; i++) {
        watch(run->relays->lanes[i], idle);
    }
}
