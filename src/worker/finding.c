/* What the transport finds its relay to be able to do is kept in the queue, so that no run has to
 * find it again: "dot", or what it lacks and until when that is believed, "group 1798761600". */
#include "worker/finding.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "queue/relay.h"
#include "worker/run.h"

#define AGAIN_MS 1000
/* A connection may have been lost for another reason, and relays are updated. But if a relay drops
 * the connection because of it, each try may send a mail twice: once a month is rare enough. */
#define BELIEVED_S (30 * 86400)

static bool is_lasting(const char *finding)
{
    return strcmp(finding, "dot") == 0;
}

/* What is kept; "" where it is to be found again. */
static void read_kept(struct mq_run *run, const char *kept, char out[16])
{
    long long until = 0;
    int64_t now_s = mq_run_now_s(run);
    int n = sscanf(kept, "%15s %18lld", out, &until);
    bool believed = n == 2 && until > now_s && until <= now_s + BELIEVED_S;
    if (n < 1 || !(believed || is_lasting(out))) {
        out[0] = '\0';
    }
    run->finding.until_s = believed ? until : INT64_MAX;
}

/* Without the record the transport finds it again: no reason to fail. */
void mq_run_remember(struct mq_run *run)
{
    const struct mq_transport_ops *ops = run->transport->ops;
    char *kept = NULL;
    char finding[16];
    if (ops->remember && mq_queue_finding(run->queue, run->relay, &kept, NULL) == MQ_OK && kept) {
        read_kept(run, kept, finding);
        ops->remember(run->transport, finding);
        run->finding.kept = ops->finding(run->transport);
    }
    free(kept);
}

/* A run may last longer than what it found is believed. */
static void forget(struct mq_run *run)
{
    run->finding.until_s = INT64_MAX;
    run->transport->ops->remember(run->transport, "");
    run->finding.kept = run->transport->ops->finding(run->transport);
}

void mq_run_keep_finding(struct mq_run *run)
{
    const struct mq_transport_ops *ops = run->transport->ops;
    char text[40];
    int64_t now_ms = mq_run_now_ms(run);
    if (!ops->finding || now_ms < run->finding.retry_ms || mq_run_database_fails(run)) {
        return;
    }
    if (run->finding.kept && mq_run_now_s(run) >= run->finding.until_s) {
        forget(run);
    }
    const char *finding = ops->finding(run->transport);
    if (finding == run->finding.kept || !finding) {
        return;
    }
    run->finding.retry_ms = now_ms + AGAIN_MS;
    int64_t until_s = mq_run_now_s(run) + BELIEVED_S;
    if (is_lasting(finding)) {
        until_s = INT64_MAX;
        snprintf(text, sizeof(text), "%s", finding);
    } else {
        snprintf(text, sizeof(text), "%s %" PRId64, finding, until_s);
    }
    if (mq_queue_keep_finding(run->queue, run->relay, text, NULL) == MQ_OK) {
        run->finding.kept = finding;
        run->finding.until_s = until_s;
    }
}
