/* How a daemon that has nothing to do learns of new mail: where the database tells of it, between
 * claims; elsewhere, by claims that become more seldom. */
#include "worker/rest.h"

#include <poll.h>

#include "queue/news.h"
#include "queue/queue.h"
#include "worker/run.h"

/* Between claims while nothing tells of new mail: the pause doubles each time, up to PAUSE_MS. */
#define PAUSE_FIRST_MS 50
#define PAUSE_MS       1000

static bool rests(const struct mq_run *run)
{
    const struct mq_claims *claim = &run->claim;
    /* What waits for the reserve to be full does not keep new mail of priority 0 from going. */
    bool waits = claim->end == MQ_CLAIM_EMPTY || (claim->end == MQ_CLAIM_TOKENS && claim->spare);
    return run->options->daemon && run->held == 0 && claim->fresh && waits && !run->stop.begun &&
           !mq_run_database_fails(run);
}

/* If the claim was made for nothing, because the application writes into the same file or stores
 * mail for later, it does not listen for a while: both have a cost. */
void mq_run_plan_rest(struct mq_run *run, int64_t now_ms, int64_t wait_ms)
{
    struct mq_claims *claim = &run->claim;
    bool rest = rests(run), in_vain = rest && claim->told, begun = false;
    claim->told = claim->listens = false;
    if (!rest || in_vain) {
        mq_queue_unwatch(run->queue);
        claim->pause_ms = in_vain ? PAUSE_MS : 0;
    } else {
        claim->listens = mq_queue_watch(run->queue, &begun);
        claim->pause_ms = mq_least(2 * claim->pause_ms + PAUSE_FIRST_MS, PAUSE_MS);
    }
    if (rest) {
        int64_t pause_ms = claim->listens ? MQ_RUN_PAUSE_MS : claim->pause_ms;
        claim->next_ms = now_ms + (begun ? 0 : mq_least(pause_ms, wait_ms));
    }
}

void mq_run_rest(struct mq_run *run, int64_t ms)
{
    struct mq_error error = {0};
    struct mq_claims *claim = &run->claim;
    if (!rests(run) || !claim->listens) {
        poll(NULL, 0, (int)ms);
        return;
    }
    enum mq_status status = mq_queue_wait(run->queue, ms, &claim->told, &error);
    if (status == MQ_THROWN || status == MQ_BAILOUT) {
        mq_run_fail(run, status, &error);
    } else if (claim->told || status != MQ_OK) { /* a claim shows if the connection is lost */
        claim->next_ms = mq_run_now_ms(run);
    }
}
