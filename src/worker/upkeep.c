/* Between transactions: a piece of the sweep, and of the database's upkeep. */
#include "queue/queue.h"
#include "worker/run.h"

#define MAINTAIN_EVERY_MS 10
#define SWEEP_EVERY_MS    50    /* keeps the write lock free for others most of the time */
#define SWEEP_AGAIN_MS    60000 /* a run without an end does as the next run would */

void mq_run_leave_free(struct mq_run *run, int64_t begun_ms)
{
    int64_t now_ms = mq_run_now_ms(run);
    run->free_until_ms = now_ms + (now_ms - begun_ms);
}

int64_t mq_run_sweep_ms(const struct mq_run *run, bool idle)
{
    return idle || run->next_sweep_ms < run->free_until_ms ? run->free_until_ms
                                                           : run->next_sweep_ms;
}

void mq_run_upkeep(struct mq_run *run, bool idle)
{
    int64_t now_ms = mq_run_now_ms(run);

    if (run->stopping || mq_run_database_fails(run) || !run->claimed_once) {
        return;
    }
    if (run->sweep.done && run->options->daemon && now_ms >= run->next_sweep_ms) {
        run->sweep = (struct mq_sweep){0};
    }
    if (!run->sweep.done && now_ms >= mq_run_sweep_ms(run, idle)) {
        size_t told = run->events.count;
        /* A sweep that fails is made up for by the next run's. */
        if (mq_queue_sweep(run->queue, &run->sweep, &run->events, NULL) != MQ_OK) {
            run->sweep.done = true;
        }
        if (run->events.count > told) { /* something was deleted */
            mq_run_leave_free(run, run->sweep.begun_ms);
        }
        run->next_sweep_ms = now_ms + (run->sweep.done ? SWEEP_AGAIN_MS : SWEEP_EVERY_MS);
    }
    if (now_ms >= run->next_maintain_ms) {
        mq_queue_maintain(run->queue);
        run->next_maintain_ms = now_ms + MAINTAIN_EVERY_MS;
    }
}
