/* When is it the relay's fault? What the transport says is trouble of the relay stops the run. A
 * relay that denies every mail (554 5.7.1 and the like), or hangs up in every transaction, is in
 * trouble too, but a mail that meets that alone is not its relay's fault. So a denied job waits,
 * unsettled, until one of these happens:
 *
 * - the relay accepts another job of this run: then it was the mail, and the attempt counts;
 * - MQ_RUN_DENIED_MAX jobs are denied and nothing under way is accepted: trouble, they go back;
 * - the run has nothing else to do: then what the queue remembers of the relay decides. If a pause
 *   is on record, the relay has accepted nothing since it was written, and the job goes back. If
 *   none is, the attempt counts, and a pause is written.
 *
 * So between two counted attempts there is always an acceptance by that relay, or there was one
 * before the first: a relay that denies everything, for however long, costs a mail one attempt at
 * most, and a mail that is denied while others get through is parked in the end.
 *
 * A mail whose own reply ended the session (421) or was the relay's trouble counts no attempt. It
 * goes back behind the others, so that their acceptance can show that the relay works. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/json.h"
#include "worker/run.h"

/* A pause for one or two denied mails: other mail waits that long for them, so it is short. */
#define DENIED_PAUSE_S 300
/* A job that was denied or drew trouble and goes back goes behind those that were due before now:
 * it must not be the first again at the next run, and keep others of its priority from their turn.
 */
#define BACK_AFTER_S   1
#define CLEAR_AGAIN_MS 1000
/* Sessions that end again and again before a mail is through cost no attempt; they must not go on
 * for ever. */
#define UNTOUCHED_BASE 10

/* The denied jobs go into `done`, as failed attempts or as if nothing had been tried. */
static void resolve_denied(struct mq_run *run, enum mq_recipient_result as)
{
    struct mq_flight *flight;
    while ((flight = run->denied.head)) {
        mq_flights_remove(&run->denied, flight);
        mq_flight_map(flight, as);
        flight->back_after_s = BACK_AFTER_S;
        mq_flight_done(flight);
    }
}

void mq_run_accepted(struct mq_run *run)
{
    run->accepted++;
    resolve_denied(run, MQ_RECIPIENT_LATER);
}

void mq_run_denied(struct mq_run *run, struct mq_flight *flight)
{
    run->denied_count++;
    mq_flights_add(&run->denied, flight);
}

void mq_run_turned(struct mq_run *run, struct mq_flight *flight)
{
    run->turned_count++;
    if (flight->delivery.error[0]) {
        memcpy(run->turned_reason, flight->delivery.error, sizeof(run->turned_reason));
    }
    flight->back_after_s = BACK_AFTER_S;
}

bool mq_run_doubts_relay(const struct mq_run *run)
{
    bool turned_all = run->turned_count > 0 && run->accepted == 0 && !run->troubled;
    return run->denied.count > 0 || turned_all;
}

bool mq_run_suspects_relay(const struct mq_run *run)
{
    return run->accepted == 0 && run->denied_count >= MQ_RUN_DENIED_MAX;
}

/* Whether the queue has a pause of this relay on record, over or not. */
static bool pause_is_on_record(struct mq_run *run)
{
    struct mq_buffer name;
    char *pauses = NULL;
    bool found = false;

    mq_buffer_init(&name);
    mq_json_string(&name, mq_str_of(run->relay));
    if (mq_queue_config(run->queue, "mailRelayPause", &pauses, NULL) == MQ_OK && pauses &&
        !name.failed) {
        found = strstr(pauses, name.data) != NULL;
    }
    free(pauses);
    mq_buffer_clear(&name);
    return found;
}

static void pause_relay(struct mq_run *run, const char *reason, int64_t retry_after_s)
{
    struct mq_relay_pause pause = {
        .relay = run->relay, .reason = reason, .retry_after_s = retry_after_s};

    run->troubled = true;
    /* Without the pause the next run tries at once: no reason to fail. */
    if (mq_queue_pause_relay(run->queue, &pause, NULL) != MQ_OK) {
        pause.until_s = 0;
    }
    if (!run->stopping) {
        size_t n = mq_utf8_cut(mq_str_of(reason), sizeof(run->report->reason) - 1);
        memcpy(run->report->reason, reason, n);
        run->report->reason[n] = '\0';
        run->report->resume_s = pause.until_s;
    }
    mq_run_happened(run, MQ_EVENT_RELAY_TROUBLE, reason, pause.until_s);
    mq_run_stop(run, MQ_RUN_RELAY);
}

static void clear_pause(struct mq_run *run)
{
    int64_t now_ms = mq_run_now_ms(run);
    if (now_ms < run->clear_pause_ms) {
        return;
    }
    run->clear_pause_ms = now_ms + CLEAR_AGAIN_MS;
    run->pause_settled = mq_queue_clear_pause(run->queue, run->relay, NULL) != MQ_BUSY;
}

/* Whether mails are cut off by us: a second signal, no time to wait, a failure of our own. The end
 * of a grace period is the relay's silence. */
static bool cut_off(const struct mq_run *run)
{
    return run->aborted &&
           (run->status != MQ_OK || mq_signals_caught() > 1 || run->options->grace_s == 0);
}

/* The relay accepted nothing in this run. */
static void took_none(struct mq_run *run)
{
    char reason[MQ_FLIGHT_ERROR];
    bool few = run->denied_count + run->turned_count < MQ_RUN_DENIED_MAX;
    struct mq_flight *last = run->denied.tail;
    const char *verb = "took no mail";
    const char *why = run->turned_reason;
    int64_t named_s = 0;

    if (last) {
        mq_flight_map(last, MQ_RECIPIENT_LATER);
        verb = strcmp(last->error, last->delivery.error) == 0 ? verb : "denied every mail";
        why = last->error;
        named_s = last->delivery.retry_after_s;
    }
    snprintf(reason, sizeof(reason), "the relay %s of this run: %.400s", verb, why);
    bool counts = few && !pause_is_on_record(run);
    resolve_denied(run, counts ? MQ_RECIPIENT_LATER : MQ_RECIPIENT_UNTRIED);
    pause_relay(run, reason, named_s > 0 ? named_s : few ? DENIED_PAUSE_S : 0);
}

void mq_run_watch_relay(struct mq_run *run, bool idle)
{
    struct mq_transport *transport = run->transport;
    struct mq_relay_trouble trouble = {0};

    if (run->troubled) {
        resolve_denied(run, MQ_RECIPIENT_UNTRIED);
        return;
    }
    if (run->accepted > 0 && !run->pause_settled && !mq_run_database_fails(run)) {
        clear_pause(run);
    }
    if (run->aborted) {
        idle = true; /* nothing more will come from the relay */
    } else if (transport->ops->trouble(transport, &trouble)) {
        resolve_denied(run, MQ_RECIPIENT_UNTRIED);
        pause_relay(run, trouble.reason, trouble.retry_after_s);
        transport->ops->recall(transport);
        mq_run_collect(run);
        return;
    } else if (run->untouched >= UNTOUCHED_BASE + 3 * (int64_t)run->options->connections) {
        pause_relay(run, "the relay ends every session before a mail is through", 0);
        return;
    }
    if (!mq_run_doubts_relay(run) || (run->under_way.count > 0 && !run->aborted)) {
        return;
    }
    if (cut_off(run)) {
        resolve_denied(run, MQ_RECIPIENT_UNTRIED);
        run->turned_count = 0;
    } else if (idle || run->stopping || mq_run_suspects_relay(run)) {
        took_none(run);
    }
}
