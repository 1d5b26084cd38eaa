/* What the transport finds its relay to be able to do is kept in the queue, so that no run has to
 * find it again. */
#include <stdlib.h>
#include <string.h>

#include "worker/run.h"

#define AGAIN_MS 1000

/* Without the record the transport finds it again: no reason to fail. */
void mq_run_remember(struct mq_run *run)
{
    const struct mq_transport_ops *ops = run->transport->ops;
    char *finding = NULL;
    if (ops->remember && mq_queue_finding(run->queue, run->relay, &finding, NULL) == MQ_OK &&
        finding) {
        ops->remember(run->transport, finding);
        run->finding = ops->finding(run->transport);
    }
    free(finding);
}

void mq_run_keep_finding(struct mq_run *run)
{
    const struct mq_transport_ops *ops = run->transport->ops;
    const char *finding = ops->finding ? ops->finding(run->transport) : NULL;
    int64_t now_ms = mq_run_now_ms(run);
    if (finding == run->finding || now_ms < run->finding_ms || mq_run_database_fails(run)) {
        return;
    }
    run->finding_ms = now_ms + AGAIN_MS;
    if (mq_queue_keep_finding(run->queue, run->relay, finding, NULL) == MQ_OK) {
        run->finding = finding;
    }
}
