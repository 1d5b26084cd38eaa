/* What a run does about its database beside the cycle: tries again after failures, takes its worker
 * slot again on a new connection, and does a piece of the sweep and of the upkeep in between. */
#include "queue/queue.h"
#include "worker/deliveries.h"
#include "worker/relay/domain_answers.h"
#include "worker/run.h"
#include "worker/signals.h"

#define RETRY_FIRST_MS    50
#define RETRY_MAX_MS      1000
#define MAINTAIN_EVERY_MS 10
#define SWEEP_EVERY_MS    50    /* keeps the write lock free for others most of the time */
#define SWEEP_AGAIN_MS    60000 /* a daemon sweeps again, as a next run would */
/* A server soon notices that our old connection has ended and frees its slot. If the slot is taken
 * for longer than this, another worker has it. */
#define SLOT_WAIT_MS 5000

/* ---- failures ---- */

/* Whether the connection is lost. If a server call ended with MQ_IO, it is unknown whether the
 * commit was stored. */
static bool is_lost(const struct mq_run *run, enum mq_status status)
{
    return status == MQ_REPLACED || (status == MQ_IO && mq_queue_is_shared(run->queue));
}

/* Takes a slot on the new connection. The old slot stays locked until the server has ended the old
 * connection: MQ_BUSY for up to SLOT_WAIT_MS. Then the run ends without a slot. */
static enum mq_status take_slot_again(struct mq_run *run, struct mq_error *err)
{
    MQ_TRY(mq_slot_take(&run->slot, err));
    if (!mq_slot_is_held(&run->slot)) {
        if (!run->stop.begun && mq_run_now_ms(run) - run->database.slot_ms < SLOT_WAIT_MS) {
            return mq_error_set(err, MQ_BUSY, "maxWorkers", "all worker slots are taken");
        }
        mq_run_stop(run, MQ_RUN_LOCKED);
    }
    run->database.slot_ms = 0;
    return MQ_OK;
}

/* MQ_CONFIG: the connection cannot be opened again. */
static enum mq_status reopen(struct mq_run *run)
{
    struct mq_error error;
    MQ_TRY(mq_queue_reopen(run->queue, &error));
    run->database.lost = false;
    run->lease.renew_ms = 0; /* due now: a renewal shows which of our leases this database has */
    run->database.slot_ms = run->database.slot_ms ? run->database.slot_ms : mq_run_now_ms(run);
    return take_slot_again(run, &error);
}

/* Ends the run, because the lost connection is the application's. Waits for mails whose body is
 * out. The next run settles all mails of this run by this run's intent record. */
static void end_cut_off(struct mq_run *run, enum mq_status status, const struct mq_error *err)
{
    mq_run_fail(run, status, err);
    mq_run_recall(run);
    if (run->under_way.count == 0) {
        run->stop.gave_up = run->held > 0;
    }
}

/* Whether to give up. Waiting for a worker slot has its own timeout, and ends the run normally. */
static bool is_given_up(const struct mq_run *run, int64_t now_ms)
{
    bool slot =
        run->database.slot_ms && now_ms - run->database.slot_ms <= SLOT_WAIT_MS + RETRY_MAX_MS;
    return (!slot && now_ms - run->database.failing_ms > run->options->grace_s * 1000) ||
           mq_signals_caught(run->signals) > 1;
}

static void plan_retry(struct mq_run *run, int64_t now_ms)
{
    if (run->database.failing_ms == 0) {
        run->database.failing_ms = now_ms;
        run->database.retry_wait_ms = RETRY_FIRST_MS;
    } else if (run->database.retry_wait_ms < RETRY_MAX_MS) {
        run->database.retry_wait_ms *= 2;
    }
    run->database.retry_ms = now_ms + run->database.retry_wait_ms;
}

/* Whether to try again: a server comes back, and a lock is released, but a file that cannot be used
 * is left to the next run. `again` is the result of opening the database again. */
static bool is_waited_for(const struct mq_run *run, enum mq_status status, enum mq_status again)
{
    bool comes_back =
        (run->database.lost || run->database.slot_ms) && mq_queue_is_shared(run->queue);
    return run->held > 0 || again == MQ_OK || comes_back ||
           (status == MQ_BUSY && run->options->daemon);
}

void mq_run_database_failed(struct mq_run *run, enum mq_status status, const struct mq_error *err)
{
    int64_t now_ms = mq_run_now_ms(run);
    bool first = run->database.failing_ms == 0;
    if (status == MQ_THROWN || status == MQ_BAILOUT) {
        mq_run_fail(run, status, err);
        return;
    }
    plan_retry(run, now_ms);
    run->database.lost = run->database.lost || is_lost(run, status);
    enum mq_status again = run->database.lost ? reopen(run) : MQ_BUSY;
    if (again == MQ_OK && first) {
        run->database.retry_ms = now_ms;
    }
    if (first && again != MQ_OK && run->done.count > 0) {
        mq_run_recall(run); /* outcomes cannot be stored */
    }
    if (is_given_up(run, now_ms) || !is_waited_for(run, status, again)) {
        mq_run_fail(run, status, err);
        run->stop.gave_up = run->held > 0;
    } else if (again == MQ_CONFIG && mq_queue_is_shared(run->queue)) {
        end_cut_off(run, status, err);
    }
}

bool mq_run_has_slot(struct mq_run *run)
{
    struct mq_error error;
    enum mq_status status = run->database.slot_ms ? take_slot_again(run, &error) : MQ_OK;
    if (status != MQ_OK) {
        mq_run_database_failed(run, status, &error);
    }
    return status == MQ_OK;
}

/* ---- upkeep ---- */

void mq_run_leave_free(struct mq_run *run, int64_t begun_ms)
{
    int64_t now_ms = mq_run_now_ms(run);
    run->database.free_until_ms = now_ms + (now_ms - begun_ms);
}

int64_t mq_run_sweep_ms(const struct mq_run *run)
{
    if (!run->claim.any || run->database.sweep.done) {
        return INT64_MAX;
    }
    return mq_run_is_idle(run) || run->database.next_sweep_ms < run->database.free_until_ms
               ? run->database.free_until_ms
               : run->database.next_sweep_ms;
}

void mq_run_upkeep(struct mq_run *run)
{
    int64_t now_ms = mq_run_now_ms(run);
    if (run->stop.begun || mq_run_database_fails(run) || !run->claim.any) {
        return;
    }
    if (run->database.sweep.done && run->options->daemon && now_ms >= run->database.next_sweep_ms) {
        run->database.sweep = (struct mq_sweep){0};
        mq_queue_note_run(run->queue, NULL);
    }
    if (now_ms >= mq_run_sweep_ms(run)) {
        size_t told = run->events.count;
        /* The next run's sweep makes up for one that fails. */
        if (mq_queue_sweep(run->queue, &run->database.sweep, &run->events, NULL) != MQ_OK) {
            run->database.sweep.done = true;
        }
        if (run->events.count > told) { /* something was deleted */
            mq_run_leave_free(run, run->database.sweep.begun_ms);
        }
        run->database.next_sweep_ms =
            now_ms + (run->database.sweep.done ? SWEEP_AGAIN_MS : SWEEP_EVERY_MS);
    }
    mq_run_count_domains(run, false);
    if (now_ms >= run->database.next_maintain_ms) {
        mq_queue_maintain(run->queue);
        run->database.next_maintain_ms = now_ms + MAINTAIN_EVERY_MS;
    }
}
