/* From the transport's results, a target each, to the queue's, a recipient each. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "worker/run.h"

#define HOUR_S 3600

static enum mq_recipient_result recipient_result(enum mq_target_result result, enum mq_blame blame)
{
    switch (result) {
    case MQ_TARGET_ACCEPTED:
        return MQ_RECIPIENT_ACCEPTED;
    case MQ_TARGET_REFUSED:
        return MQ_RECIPIENT_REFUSED;
    case MQ_TARGET_UNEXPLAINED:
        if (blame == MQ_BLAME_MAIL) {
            return MQ_RECIPIENT_REFUSED;
        }
        return blame == MQ_BLAME_RELAY ? MQ_RECIPIENT_UNTRIED : MQ_RECIPIENT_LATER;
    case MQ_TARGET_LATER:
    case MQ_TARGET_DENIED:
        return blame == MQ_BLAME_RELAY ? MQ_RECIPIENT_UNTRIED : MQ_RECIPIENT_LATER;
    case MQ_TARGET_UNCERTAIN:
        return MQ_RECIPIENT_UNCERTAIN;
    case MQ_TARGET_UNTRIED:
        break;
    }
    return MQ_RECIPIENT_UNTRIED;
}

/* What a person reads first: what went wrong for good, then for now, then what went well. */
static int weight(enum mq_target_result result)
{
    switch (result) {
    case MQ_TARGET_REFUSED:
        return 5;
    case MQ_TARGET_UNCERTAIN:
        return 4;
    case MQ_TARGET_UNEXPLAINED:
    case MQ_TARGET_DENIED:
        return 3;
    case MQ_TARGET_LATER:
        return 2;
    case MQ_TARGET_ACCEPTED:
        return 1;
    case MQ_TARGET_UNTRIED:
        break;
    }
    return 0;
}

static void set_error(struct mq_flight *flight)
{
    const struct mq_delivery *delivery = &flight->delivery;
    const struct mq_target *telling = NULL;

    for (size_t i = 0; i < delivery->target_count; i++) {
        const struct mq_target *target = &flight->targets[i];
        if (target->reply[0] && (!telling || weight(target->result) > weight(telling->result))) {
            telling = target;
        }
    }
    bool bad = telling && telling->result != MQ_TARGET_ACCEPTED;
    if (delivery->error[0] && !bad) {
        snprintf(flight->error, sizeof(flight->error), "%s", delivery->error);
    } else if (bad && delivery->target_count > 1) {
        snprintf(flight->error, sizeof(flight->error), "%s: %s", telling->address, telling->reply);
    } else {
        snprintf(flight->error, sizeof(flight->error), "%s", telling ? telling->reply : "");
    }
}

void mq_flight_map(struct mq_flight *flight, enum mq_blame blame)
{
    const struct mq_job *job = &flight->job;
    size_t counted = 0;

    flight->handed_over = 0;
    for (size_t i = 0; i < flight->delivery.target_count; i++) {
        enum mq_target_result result = flight->targets[i].result;
        if (result == MQ_TARGET_ACCEPTED || result == MQ_TARGET_UNCERTAIN) {
            flight->handed_over++;
        }
        if (recipient_result(result, blame) != MQ_RECIPIENT_UNTRIED) {
            counted++;
        }
    }
    for (size_t i = 0; i < job->recipients.count; i++) {
        int target = job->target_of[i];
        flight->results[i] = MQ_RECIPIENT_UNTRIED;
        flight->replies[i] = NULL;
        if (target < 0) {
            continue;
        }
        flight->results[i] = (unsigned char)recipient_result(flight->targets[target].result, blame);
        if (flight->targets[target].reply[0]) {
            flight->replies[i] = flight->targets[target].reply;
        }
    }
    set_error(flight);
    if (counted > 0) {
        flight->kind = MQ_SETTLE_RESULTS;
    } else if (blame == MQ_BLAME_RELAY) {
        flight->kind = MQ_SETTLE_RELEASE;
    } else {
        flight->kind = MQ_SETTLE_LATER; /* it took an attempt and nothing is known of anybody */
    }
}

/* A wall clock that goes back may be set right at any time, and what is handed over meanwhile must
 * count for its hour then: the time of before goes on, until the hour is over. */
int64_t mq_run_limit_s(struct mq_run *run)
{
    int64_t now_s = mq_run_now_s(run), now_ms = mq_run_now_ms(run);
    int64_t passed_s = (now_ms - run->clock_ms) / 1000;
    if (run->clock_s == 0 || now_s >= run->clock_s + passed_s || passed_s > HOUR_S) {
        run->clock_s = now_s;
        run->clock_ms = now_ms;
        return now_s;
    }
    return run->clock_s + passed_s;
}

void mq_flight_settlement(const struct mq_flight *flight, struct mq_settlement *out)
{
    const struct mq_delivery *delivery = &flight->delivery;
    const struct mq_run *run = flight->run;
    int64_t limit_s = mq_run_limit_s(flight->run);

    memset(out, 0, sizeof(*out));
    out->job = &flight->job;
    out->kind = flight->kind;
    if (flight->kind == MQ_SETTLE_RESULTS) {
        out->results = flight->results;
        out->replies = flight->replies;
        out->handed_over = flight->handed_over;
    }
    out->at_s = delivery->at_s ? delivery->at_s : mq_run_now_s(run);
    out->taken_by_s = limit_s > mq_run_now_s(run) ? limit_s : 0;
    for (size_t i = 0; i < delivery->target_count && flight->kind == MQ_SETTLE_RESULTS; i++) {
        if (flight->targets[i].result == MQ_TARGET_UNCERTAIN) {
            out->taken_by_s = limit_s + run->options->final_timeout_s;
        }
    }
    out->error = flight->error[0] ? flight->error : NULL;
    out->retry_after_s = flight->back_after_s;
    if (flight->kind != MQ_SETTLE_RELEASE) {
        out->relay_wait_s = delivery->retry_after_s;
    }
    out->on_uncertain = run->options->on_uncertain;
    out->relay = run->relay;
    out->ms = delivery->enter ? delivery->ms : -1;
}

/* A moving average: one slow mail among many does not end a run. */
static void note_time(struct mq_run *run, const struct mq_delivery *delivery)
{
    if (delivery->ms >= 0) {
        run->dot_ms = run->dot_ms ? run->dot_ms + (delivery->ms - run->dot_ms) / 8 : delivery->ms;
    }
}

/* Whether it may as well be the relay's fault. One that has accepted a mail lately works; but
 * a refusal that says nothing parks the mail, so it waits for an acceptance behind it. */
static bool is_doubtful(struct mq_run *run, const struct mq_job *job, enum mq_target_result result)
{
    bool failed =
        result == MQ_TARGET_LATER || result == MQ_TARGET_DENIED || result == MQ_TARGET_UNEXPLAINED;
    bool works = !failed || mq_run_relay_works(run, job);
    return !works || result == MQ_TARGET_UNEXPLAINED;
}

static void finished(struct mq_flight *flight)
{
    struct mq_run *run = flight->run;
    bool accepted = false, doubtful = false, uncertain = false;

    run->untouched = 0;
    for (size_t i = 0; i < flight->delivery.target_count; i++) {
        enum mq_target_result result = flight->targets[i].result;
        accepted = accepted || result == MQ_TARGET_ACCEPTED;
        uncertain = uncertain || result == MQ_TARGET_UNCERTAIN;
        doubtful = doubtful || is_doubtful(run, &flight->job, result);
    }
    run->report->cut += uncertain && run->aborted;
    note_time(run, &flight->delivery);
    if (doubtful && !accepted && !uncertain) {
        mq_run_doubted(run, flight);
        return;
    }
    mq_flight_map(flight, MQ_BLAME_MAIL);
    mq_flight_done(flight);
    if (accepted) {
        mq_run_accepted(run);
    }
}

void mq_run_collect(struct mq_run *run)
{
    struct mq_delivery *delivery;

    while ((delivery = run->transport->ops->take_done(run->transport))) {
        struct mq_flight *flight = delivery->context;
        mq_flights_remove(&run->under_way, flight);
        mq_flight_drop_message(flight);
        if (delivery->end == MQ_DELIVERY_DONE) {
            finished(flight);
            continue;
        }
        if (delivery->end == MQ_DELIVERY_UNTOUCHED && !run->stopping) {
            run->untouched++;
        }
        if (delivery->end == MQ_DELIVERY_UNTOUCHED && delivery->drew_trouble) {
            mq_run_turned(run, flight);
        }
        mq_flight_end(flight, MQ_SETTLE_RELEASE, delivery->error);
    }
}
