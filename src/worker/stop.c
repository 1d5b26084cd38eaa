/* Ending a run in order. */
#include "worker/run.h"

void mq_run_release_waiting(struct mq_run *run)
{
    struct mq_delivery *delivery;
    while ((delivery = run->waiting.head)) {
        mq_deliveries_remove(&run->waiting, delivery);
        mq_delivery_end(delivery, MQ_OUTCOME_RELEASED, NULL);
    }
}

void mq_run_stop(struct mq_run *run, enum mq_run_end end)
{
    if (!run->stopping) {
        run->stopping = true;
        run->stop_ms = mq_run_now_ms(run);
        run->report->end = end;
        /* The grace period is for what is being sent. Each mail begun in it might be cut off behind
         * its dot, and then arrive twice. */
        mq_transport_wind_down(run->transport);
    }
    mq_run_release_waiting(run);
}

void mq_run_fail(struct mq_run *run, enum mq_status status, const struct mq_error *err)
{
    /* A bailout outranks what came before: PHP must unwind. */
    if (run->status == MQ_OK || (status == MQ_BAILOUT && run->status != MQ_BAILOUT)) {
        run->status = status;
        run->error = *err;
        run->error.status = status;
    }
    mq_run_stop(run, MQ_RUN_EMPTY);
}

void mq_run_signalled(struct mq_run *run, int caught)
{
    if (run->signal_ms == 0) {
        run->signal_ms = mq_run_now_ms(run);
    }
    if (caught > 1 && run->under_way.count > 0) {
        mq_run_abort(run);
    }
}

/* Cut off behind its dot, a mail may arrive and is sent again all the same. A relay that takes
 * minutes for its reply would get each mail once a run. */
void mq_run_wind_up(struct mq_run *run)
{
    int64_t now_ms = mq_run_now_ms(run);
    int64_t grace_ms = run->options->grace_s * 1000;

    if (run->under_way.count == 0 || run->aborted) {
        return;
    }
    if (run->signal_ms != 0 && now_ms - run->signal_ms >= grace_ms) {
        mq_run_abort(run);
    } else if (!run->recalled && now_ms - run->stop_ms >= grace_ms) {
        run->recalled = true;
        mq_transport_recall(run->transport);
    }
}

void mq_run_abort(struct mq_run *run)
{
    struct mq_transport *transport = run->transport;
    if (run->aborted) {
        return;
    }
    run->aborted = true;
    mq_transport_recall(transport);
    mq_transport_abort(transport);
    mq_run_collect(run);
}
