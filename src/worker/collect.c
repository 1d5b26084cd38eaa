/* Takes back what the transport has finished, and says whose fault a failure may be. */
#include "worker/collect.h"

#include "worker/run.h"
#include "worker/trouble.h"

/* A moving average: one slow mail among many does not end a run. */
static void note_time(struct mq_run *run, const struct mq_transfer *transfer)
{
    if (transfer->ms >= 0) {
        run->dot_ms = run->dot_ms ? run->dot_ms + (transfer->ms - run->dot_ms) / 8 : transfer->ms;
    }
}

/* Whether the failure may be the relay's fault. A relay that has just accepted a mail works. But a
 * refusal without a reason parks the mail, so it waits until a later mail is accepted. */
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

    run->trouble.untouched = 0;
    for (size_t i = 0; i < delivery->transfer.target_count; i++) {
        enum mq_outcome result = delivery->targets[i].result;
        accepted = accepted || result == MQ_OUTCOME_DELIVERED;
        uncertain = uncertain || result == MQ_OUTCOME_UNCERTAIN;
        doubtful = doubtful || is_doubtful(run, &delivery->job, result);
    }
    run->report->cut += uncertain && run->stop.aborted;
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
        if (transfer->end == MQ_TRANSFER_UNTOUCHED && !run->stop.begun) {
            run->trouble.untouched++;
        }
        if (transfer->end == MQ_TRANSFER_UNTOUCHED && transfer->drew_trouble) {
            mq_run_drew_trouble(run, delivery);
        }
        mq_delivery_end(delivery, MQ_OUTCOME_RELEASED, transfer->error);
    }
}
