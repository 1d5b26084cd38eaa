/* Notes that the run ends, and why. The loop (worker.c) then gives back what waits. */
#include "worker/stop.h"

#include "worker/run.h"

void mq_run_stop(struct mq_run *run, enum mq_run_end end)
{
    if (!run->stop.begun) {
        run->stop.begun = true;
        run->stop.begun_ms = mq_run_now_ms(run);
        run->report->end = end;
        /* The grace period is for what is being sent. Each mail begun in it might be cut off behind
         * its dot, and then arrive twice. */
        mq_transport_wind_down(run->transport);
    }
}

void mq_run_fail(struct mq_run *run, enum mq_status status, const struct mq_error *err)
{
    /* A bailout outranks what came before: PHP must unwind. */
    if (run->stop.status == MQ_OK || (status == MQ_BAILOUT && run->stop.status != MQ_BAILOUT)) {
        run->stop.status = status;
        run->stop.error = *err;
        run->stop.error.status = status;
    }
    mq_run_stop(run, MQ_RUN_EMPTY);
}
