/* When is it the relay's fault? What the transport says is trouble of the relay stops the run. But
 * a relay that defers or denies every mail (451 4.3.0, 554 5.7.1, a 550 without a word of why), or
 * hangs up in every transaction, is in trouble too, and a mail that meets that alone is not its
 * relay's fault. So a mail that fails before the relay has accepted any other of this run waits,
 * unsettled, until one of these happens:
 *
 * - the relay accepts another: then it was the mail, and the attempt counts. A bare refusal does
 *   not stand where only a mail of a lower priority was accepted;
 * - MQ_RUN_MANY have failed, for recipients in different domains (or one_domain_max() in one, for a
 *   domain that fails must not stop the others), and nothing under way is accepted. By their
 *   priority they may be the first in every run, so a few of each lower priority are tried. When
 *   none of those is accepted either, it is trouble: they go back and the relay is paused;
 * - they hold the last tokens of the hourly limit, which other mail needs to show that the relay
 *   works: they go back. The first of them counts an attempt if none has since an acceptance;
 * - the run has nothing else to do: then what the queue remembers of the relay decides. If it has
 *   accepted nothing since an earlier run's failures, the mail goes back. Otherwise the attempt
 *   counts, and is remembered.
 *
 * So between two counted attempts there is always an acceptance by that relay, or there was one
 * before the first: a relay that takes nothing, for however long, costs a mail one attempt at most,
 * and a mail that fails while others get through is parked in the end. A run that lasts begins
 * again to doubt the relay when a mail fails for which this would not be so.
 *
 * A refusal that does not say why (MQ_OUTCOME_UNEXPLAINED) is judged so in every run, and after an
 * acceptance too: if many such come for different domains, they are about us, and the relay is
 * paused. The attempt counts then: dead addresses behind all others must not pause it for ever.
 *
 * A mail whose own reply ended the session (421) or was the relay's trouble counts no attempt. It
 * goes back behind the others, so that their acceptance can show that the relay works. */
#include <stdio.h>
#include <string.h>

#include "queue/relay.h"
#include "send/transport.h"
#include "worker/deliveries.h"
#include "worker/run.h"
#include "worker/signals.h"

#define ONE_DOMAIN_MAX 25
/* One or two that were denied pause the relay for so long: other mail waits for them, so it is
 * short. One or two that were deferred wait themselves, and others do not. */
#define FEW_PAUSE_S 300
/* A job that goes back goes behind those that were due before now: it must not be the first again
 * at the next run, and keep others of its priority from their turn. */
#define BACK_AFTER_S 1
/* In a run in which others are accepted it would be claimed again at once. */
#define TROUBLE_AFTER_S 60
#define CLEAR_AGAIN_MS  1000
/* Sessions that end again and again before a mail is through cost no attempt; they must not go on
 * for ever. */
#define UNTOUCHED_BASE 10

/* ---- what became of the mails ---- */

/* The first doubted job goes into `done`. */
static void resolve_first(struct mq_run *run, enum mq_blame blame, int64_t back_after_s)
{
    struct mq_delivery *delivery = run->doubted.head;
    mq_delivery_map(delivery, blame);
    if (blame == MQ_BLAME_RELAY) {
        delivery->back_after_s = back_after_s;
    }
    mq_delivery_done(delivery);
}

static void resolve(struct mq_run *run, enum mq_blame blame, int64_t back_after_s)
{
    while (run->doubted.head) {
        resolve_first(run, blame, back_after_s);
    }
    run->doubts = (struct mq_doubts){.pauses = -1};
}

static void accepted(struct mq_run *run)
{
    run->trouble.accepted++;
    run->trouble.accepted_s = mq_run_now_s(run);
    /* A mail of a lower priority that gets through says little of those above it: they have failed,
     * but a refusal without a reason does not park them. */
    resolve(run, run->doubts.lower ? MQ_BLAME_NOBODY : MQ_BLAME_MAIL, 0);
}

/* A job failed: whether it is known, since its last attempt, that the relay works. */
static bool relay_works(struct mq_run *run, const struct mq_job *job)
{
    if (run->trouble.accepted > 0 && job->attempts > 1 &&
        job->last_attempt_at >= run->trouble.accepted_s) {
        run->trouble.accepted = 0;
        /* What is noted from now on is cleared by an acceptance. */
        run->trouble.pause_settled = false;
    }
    return run->trouble.accepted > 0;
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

/* How often the relay was paused since its last acceptance, as the queue remembers. */
static int64_t pauses(struct mq_run *run)
{
    struct mq_doubts *doubts = &run->doubts;
    if (doubts->pauses < 0 &&
        mq_queue_count_pauses(run->queue, run->relay, &doubts->pauses, NULL) != MQ_OK) {
        doubts->pauses = 0;
    }
    return doubts->pauses;
}

static void doubted(struct mq_run *run, struct mq_delivery *delivery)
{
    for (size_t i = 0; i < delivery->transfer.target_count; i++) {
        note_target(&run->doubts, &delivery->targets[i]);
    }
    if (run->doubts.mails == 0 || delivery->job.priority < run->doubts.below) {
        run->doubts.below = delivery->job.priority;
    }
    run->doubts.mails++;
    pauses(run);
    mq_delivery_move(delivery, &run->doubted);
}

/* The transport gave it back, and it drew the trouble itself: it goes behind the others. */
static void drew_trouble(struct mq_run *run, struct mq_delivery *delivery)
{
    run->doubts.drew_trouble++;
    if (delivery->transfer.error[0]) {
        memcpy(run->trouble.reason, delivery->transfer.error, sizeof(run->trouble.reason));
    }
    delivery->back_after_s = run->trouble.accepted > 0 ? TROUBLE_AFTER_S : BACK_AFTER_S;
}

/* ---- back from the transport ---- */

/* A moving average: one slow mail among many does not end a run. */
static void note_time(struct mq_run *run, const struct mq_transfer *transfer)
{
    if (transfer->ms >= 0) {
        run->dot_ms = run->dot_ms ? run->dot_ms + (transfer->ms - run->dot_ms) / 8 : transfer->ms;
    }
}

/* Whether it may as well be the relay's fault. One that has accepted a mail lately works; but a
 * refusal that says nothing parks the mail, so it waits for an acceptance behind it. */
static bool is_doubtful(struct mq_run *run, const struct mq_job *job, enum mq_outcome result)
{
    return (mq_outcomes[result].failed && !relay_works(run, job)) ||
           result == MQ_OUTCOME_UNEXPLAINED;
}

static void finished(struct mq_run *run, struct mq_delivery *delivery)
{
    bool taken = false, doubtful = false, uncertain = false;
    run->trouble.untouched = 0;
    for (size_t i = 0; i < delivery->transfer.target_count; i++) {
        enum mq_outcome result = delivery->targets[i].result;
        taken = taken || result == MQ_OUTCOME_DELIVERED;
        uncertain = uncertain || result == MQ_OUTCOME_UNCERTAIN;
        doubtful = doubtful || is_doubtful(run, &delivery->job, result);
    }
    run->report->cut += uncertain && run->stop.aborted;
    note_time(run, &delivery->transfer);
    if (doubtful && !taken && !uncertain) {
        doubted(run, delivery);
        return;
    }
    mq_delivery_map(delivery, MQ_BLAME_MAIL);
    mq_delivery_done(delivery);
    if (taken) {
        accepted(run);
    }
}

void mq_run_collect(struct mq_run *run)
{
    struct mq_transfer *transfer;
    while ((transfer = mq_transport_take_done(run->transport))) {
        struct mq_delivery *delivery = transfer->context;
        mq_delivery_drop_message(delivery);
        if (transfer->end == MQ_TRANSFER_DONE) {
            finished(run, delivery);
            continue;
        }
        if (transfer->end == MQ_TRANSFER_UNTOUCHED) {
            run->trouble.untouched += !run->stop.begun;
            if (transfer->drew_trouble) {
                drew_trouble(run, delivery);
            }
        }
        mq_delivery_end(delivery, MQ_OUTCOME_RELEASED, transfer->error);
    }
}

/* ---- the relay ---- */

bool mq_run_doubts_relay(const struct mq_run *run)
{
    const struct mq_trouble *trouble = &run->trouble;
    return run->doubts.mails > 0 ||
           (run->doubts.drew_trouble > 0 && trouble->accepted == 0 && !trouble->found);
}

/* More with each pause: many mails to a domain that fails may be before those to others. */
static int64_t one_domain_max(const struct mq_run *run)
{
    int64_t n = run->doubts.pauses;
    return ONE_DOMAIN_MAX << (n < 1 ? 0 : n > 6 ? 5 : n - 1);
}

/* Whether so many failed that it may be the relay. */
static bool are_many(const struct mq_run *run)
{
    const struct mq_doubts *doubts = &run->doubts;
    return doubts->mails >= MQ_RUN_MANY &&
           (doubts->domains ||
            (run->trouble.accepted == 0 && doubts->mails >= one_domain_max(run)));
}

bool mq_run_suspects_relay(const struct mq_run *run)
{
    return are_many(run) && !run->doubts.lower;
}

static void pause_relay(struct mq_run *run, const char *reason, int64_t retry_after_s)
{
    struct mq_relay_pause pause = {
        .relay = run->relay, .reason = reason, .retry_after_s = retry_after_s};

    run->trouble.found = true;
    /* Without the pause the next run tries at once: no reason to fail. */
    if (mq_queue_pause_relay(run->queue, &pause, NULL) != MQ_OK) {
        pause.until_s = 0;
    }
    if (!run->stop.begun) {
        mq_str_printable(run->report->reason, sizeof(run->report->reason), 0, mq_str_of(reason));
        run->report->resume_s = pause.until_s;
    }
    struct mq_event event = {
        .type = MQ_EVENT_RELAY_TROUBLE,
        .at_s = mq_run_now_s(run),
        .relay = (char *)run->relay, /* copied by mq_events_add() */
        .reply = (char *)reason,
        .ms = -1,
        .next_attempt_at = pause.until_s,
    };
    mq_events_add(&run->events, &event);
    mq_run_stop(run, MQ_RUN_RELAY);
}

/* Whether mails are cut off by us: a second signal, no time to wait, a failure of our own. The end
 * of a grace period is the relay's silence. */
static bool cut_off(const struct mq_run *run)
{
    return run->stop.aborted && (run->stop.status != MQ_OK || mq_signals_caught(run->signals) > 1 ||
                                 run->options->grace_s == 0);
}

/* What is told of a relay that takes nothing, as the last reply says it. */
static void write_reason(struct mq_run *run, char *out, size_t size)
{
    struct mq_delivery *last = run->doubted.tail;
    const char *verb = "took no mail";
    const char *why = run->trouble.reason;
    if (last) {
        mq_delivery_map(last, MQ_BLAME_NOBODY);
        bool silent = strcmp(last->error, last->transfer.error) == 0;
        verb = run->doubts.denied && !silent ? "denied every mail" : verb;
        why = last->error;
    }
    snprintf(out, size, "the relay %s of this run%s: %.400s", verb,
             run->trouble.accepted_s > 0 ? " since the last it took" : "", why);
}

/* Of one that nothing was accepted behind: the first counts an attempt, if none has since an
 * acceptance. */
static enum mq_blame blame_again(struct mq_run *run)
{
    return pauses(run) > 0 ? MQ_BLAME_RELAY : MQ_BLAME_NOBODY;
}

/* For the next run: nothing was accepted since. */
static void note_failure(struct mq_run *run, const char *reason)
{
    struct mq_relay_pause note = {.relay = run->relay, .reason = reason, .only_noted = true};
    mq_queue_pause_relay(run->queue, &note, NULL);
}

/* The relay accepted nothing behind these. A deferral (4xx) may be the first of two that a relay
 * with greylisting wants: in every second run they stay the first in the queue. */
static void judge(struct mq_run *run)
{
    const struct mq_doubts *doubts = &run->doubts;
    struct mq_delivery *last = run->doubted.tail;
    int64_t named_s = last ? last->transfer.retry_after_s : 0;
    bool few = doubts->mails + doubts->drew_trouble < MQ_RUN_MANY;
    bool again = !doubts->denied && pauses(run) > 0 && pauses(run) % 2 == 0;
    char reason[MQ_ERROR_TEXT_MAX];
    if (run->trouble.accepted > 0 && !are_many(run)) {
        resolve(run, MQ_BLAME_MAIL, 0);
        return;
    }
    write_reason(run, reason, sizeof(reason));
    if (few && !doubts->denied && doubts->drew_trouble == 0) {
        /* Others may well get through, so the relay is not paused. */
        resolve(run, blame_again(run), FEW_PAUSE_S);
        note_failure(run, reason);
        return;
    }
    bool counts = run->trouble.accepted > 0 || (few && pauses(run) == 0);
    resolve(run, counts ? MQ_BLAME_NOBODY : MQ_BLAME_RELAY, again ? -1 : BACK_AFTER_S);
    pause_relay(run, reason, named_s > 0 ? named_s : few ? FEW_PAUSE_S : 0);
}

/* Whether nothing is claimed only because the doubted hold what tokens there are. */
static bool lacks_tokens(const struct mq_run *run)
{
    return run->claim.end == MQ_CLAIM_TOKENS && run->trouble.accepted == 0 &&
           run->doubted.count > 0 && run->held == run->doubted.count && !run->stop.begun;
}

/* They are counted on: more of them make the relay's trouble likely. */
static void free_tokens(struct mq_run *run)
{
    char reason[MQ_ERROR_TEXT_MAX];
    write_reason(run, reason, sizeof(reason));
    snprintf(run->trouble.reason, sizeof(run->trouble.reason), "%.*s", MQ_TARGET_REPLY_MAX - 1,
             run->doubted.tail->error);
    resolve_first(run, blame_again(run), FEW_PAUSE_S);
    while (run->doubted.head) {
        resolve_first(run, MQ_BLAME_RELAY, FEW_PAUSE_S);
    }
    note_failure(run, reason);
    run->doubts.pauses = -1;
    run->claim.next_ms = mq_run_now_ms(run);
}

/* From now on only mail of lower priorities is claimed, until one is accepted or none is left. What
 * was claimed before does not count for the message limit: it would leave no room for them. */
static void look_lower(struct mq_run *run)
{
    run->doubts.lower = true;
    run->claim.total -= (int64_t)(run->waiting.count + run->doubted.count);
    mq_deliveries_release_waiting(run);
    run->claim.next_ms = mq_run_now_ms(run);
}

/* What failed before an acceptance, and nothing is under way. */
static void weigh(struct mq_run *run, bool idle)
{
    bool many = are_many(run) || run->doubts.mails >= one_domain_max(run);
    bool full = run->doubted.count >= run->slots; /* nothing more can be claimed */
    if (cut_off(run)) {
        resolve(run, MQ_BLAME_RELAY, BACK_AFTER_S);
    } else if (lacks_tokens(run)) {
        free_tokens(run);
    } else if (run->stop.begun || run->stop.aborted || (many && run->trouble.accepted > 0)) {
        judge(run);
    } else if (many && !run->doubts.lower) {
        look_lower(run);
    } else if (idle || full) {
        judge(run);
    }
}

void mq_run_watch_relay(struct mq_run *run, bool idle)
{
    struct mq_transport *transport = run->transport;
    if (run->trouble.found) {
        resolve(run, MQ_BLAME_RELAY, BACK_AFTER_S);
        return;
    }
    if (run->trouble.accepted > 0 && !run->trouble.pause_settled && !mq_run_database_fails(run) &&
        mq_run_now_ms(run) >= run->trouble.retry_ms) {
        run->trouble.pause_settled = mq_queue_clear_pause(run->queue, run->relay, NULL) != MQ_BUSY;
        if (!run->trouble.pause_settled) {
            run->trouble.retry_ms = mq_run_now_ms(run) + CLEAR_AGAIN_MS;
        }
    }
    if (run->stop.aborted) {
        idle = true; /* nothing more will come from the relay */
    } else if (transport->troubled) {
        resolve(run, MQ_BLAME_RELAY, BACK_AFTER_S);
        pause_relay(run, transport->trouble.reason, transport->trouble.retry_after_s);
        mq_transport_recall(transport);
        return;
    } else if (run->trouble.untouched >= UNTOUCHED_BASE + 3 * (int64_t)run->options->connections) {
        pause_relay(run, "the relay ends every session before a mail is through", 0);
        return;
    }
    if (mq_run_doubts_relay(run) && (run->under_way.count == 0 || run->stop.aborted)) {
        weigh(run, idle);
    }
}
