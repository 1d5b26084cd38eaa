/* From the transport's results, a target each, to the queue's, a recipient each. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "worker/run.h"

#define HOUR_S 3600

static int weight_of(const struct mq_target *target)
{
    return mq_outcomes[target->result].weight;
}

static void set_error(struct mq_delivery *delivery)
{
    const struct mq_transfer *transfer = &delivery->transfer;
    const struct mq_target *telling = NULL;

    for (size_t i = 0; i < transfer->target_count; i++) {
        const struct mq_target *target = &delivery->targets[i];
        if (target->reply[0] && (!telling || weight_of(target) > weight_of(telling))) {
            telling = target;
        }
    }
    bool bad = telling && telling->result != MQ_OUTCOME_DELIVERED;
    if (transfer->error[0] && !bad) {
        snprintf(delivery->error, sizeof(delivery->error), "%s", transfer->error);
    } else if (bad && transfer->target_count > 1) {
        snprintf(delivery->error, sizeof(delivery->error), "%s: %s", telling->address,
                 telling->reply);
    } else {
        snprintf(delivery->error, sizeof(delivery->error), "%s", telling ? telling->reply : "");
    }
}

void mq_delivery_map(struct mq_delivery *delivery, enum mq_blame blame)
{
    const struct mq_job *job = &delivery->job;
    size_t counted = 0;

    delivery->handed_over = 0;
    for (size_t i = 0; i < delivery->transfer.target_count; i++) {
        enum mq_outcome result = delivery->targets[i].result;
        delivery->handed_over += mq_outcomes[result].handed_over;
        if (mq_outcome_blamed(result, blame) != MQ_OUTCOME_RELEASED) {
            counted++;
        }
    }
    for (size_t i = 0; i < job->recipients.count; i++) {
        int target = job->target_of[i];
        delivery->results[i] = MQ_OUTCOME_RELEASED;
        delivery->replies[i] = NULL;
        if (target < 0) {
            continue;
        }
        delivery->results[i] =
            (unsigned char)mq_outcome_blamed(delivery->targets[target].result, blame);
        if (delivery->targets[target].reply[0]) {
            delivery->replies[i] = delivery->targets[target].reply;
        }
    }
    set_error(delivery);
    delivery->by_recipient = counted > 0;
    /* Otherwise it took an attempt and nothing is known of any recipient. */
    delivery->outcome = blame == MQ_BLAME_RELAY ? MQ_OUTCOME_RELEASED : MQ_OUTCOME_DEFERRED;
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

void mq_delivery_settlement(const struct mq_delivery *delivery, struct mq_settlement *out)
{
    const struct mq_transfer *transfer = &delivery->transfer;
    const struct mq_run *run = delivery->run;
    int64_t limit_s = mq_run_limit_s(delivery->run);

    memset(out, 0, sizeof(*out));
    out->job = &delivery->job;
    out->outcome = delivery->outcome;
    if (delivery->by_recipient) {
        out->results = delivery->results;
        out->replies = delivery->replies;
        out->handed_over = delivery->handed_over;
    }
    out->at_s = transfer->at_s ? transfer->at_s : mq_run_now_s(run);
    out->taken_by_s = limit_s > mq_run_now_s(run) ? limit_s : 0;
    for (size_t i = 0; i < transfer->target_count && delivery->by_recipient; i++) {
        if (delivery->targets[i].result == MQ_OUTCOME_UNCERTAIN) {
            out->taken_by_s = limit_s + run->options->final_timeout_s;
        }
    }
    out->error = delivery->error[0] ? delivery->error : NULL;
    out->retry_after_s = delivery->back_after_s;
    if (!mq_delivery_goes_back(delivery)) {
        out->relay_wait_s = transfer->retry_after_s;
    }
    out->on_uncertain = run->options->on_uncertain;
    out->relay = run->relay;
    out->ms = transfer->enter ? transfer->ms : -1;
}

/* A moving average: one slow mail among many does not end a run. */
static void note_time(struct mq_run *run, const struct mq_transfer *transfer)
{
    if (transfer->ms >= 0) {
        run->dot_ms = run->dot_ms ? run->dot_ms + (transfer->ms - run->dot_ms) / 8 : transfer->ms;
    }
}

/* Whether it may as well be the relay's fault. One that has accepted a mail lately works; but
 * a refusal that says nothing parks the mail, so it waits for an acceptance behind it. */
static bool is_doubtful(struct mq_run *run, const struct mq_job *job, enum mq_outcome result)
{
    bool failed = result == MQ_OUTCOME_DEFERRED || result == MQ_OUTCOME_DENIED ||
                  result == MQ_OUTCOME_UNEXPLAINED;
    bool works = !failed || mq_run_relay_works(run, job);
    return !works || result == MQ_OUTCOME_UNEXPLAINED;
}

static void finished(struct mq_delivery *delivery)
{
    struct mq_run *run = delivery->run;
    bool accepted = false, doubtful = false, uncertain = false;

    run->untouched = 0;
    for (size_t i = 0; i < delivery->transfer.target_count; i++) {
        enum mq_outcome result = delivery->targets[i].result;
        accepted = accepted || result == MQ_OUTCOME_DELIVERED;
        uncertain = uncertain || result == MQ_OUTCOME_UNCERTAIN;
        doubtful = doubtful || is_doubtful(run, &delivery->job, result);
    }
    run->report->cut += uncertain && run->aborted;
    note_time(run, &delivery->transfer);
    if (doubtful && !accepted && !uncertain) {
        mq_run_doubted(run, delivery);
        return;
    }
    mq_delivery_map(delivery, MQ_BLAME_MAIL);
    mq_delivery_done(delivery);
    if (accepted) {
        mq_run_accepted(run);
    }
}

void mq_run_collect(struct mq_run *run)
{
    struct mq_transfer *transfer;

    while ((transfer = mq_transport_take_done(run->transport))) {
        struct mq_delivery *delivery = transfer->context;
        mq_deliveries_remove(&run->under_way, delivery);
        mq_delivery_drop_message(delivery);
        if (transfer->end == MQ_TRANSFER_DONE) {
            finished(delivery);
            continue;
        }
        if (transfer->end == MQ_TRANSFER_UNTOUCHED && !run->stopping) {
            run->untouched++;
        }
        if (transfer->end == MQ_TRANSFER_UNTOUCHED && transfer->drew_trouble) {
            mq_run_drew_trouble(run, delivery);
        }
        mq_delivery_end(delivery, MQ_OUTCOME_RELEASED, transfer->error);
    }
}
