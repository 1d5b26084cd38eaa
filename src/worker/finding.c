/* Stores in the queue what the transport has found out about its relay, so that no run has to find
 * out again. The text is "dot", or another word and until when it holds ("group 1798761600"). */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "queue/config/relays.h"
#include "send/transport.h"
#include "worker/run.h"

#define AGAIN_MS 1000
/* How long a relay is believed to lack "dot". Its connection may have been lost for another reason,
 * and relays are updated. But each new try can send a mail twice: once a month is rare enough. */
#define BELIEVED_S (30 * 86400)

static bool is_lasting(const char *finding)
{
    return strcmp(finding, "dot") == 0;
}

/* Tells the transport a finding; "" makes it find out again. */
static void tell(struct mq_run *run, const char *finding, int64_t until_s)
{
    run->transport->ops->remember(run->transport, finding);
    run->finding.kept = run->transport->ops->finding(run->transport);
    run->finding.until_s = until_s;
}

/* A failure is ignored: without the stored finding, the transport finds out again. */
void mq_run_remember(struct mq_run *run)
{
    int64_t now_s = mq_run_now_s(run);
    char *kept = NULL;
    char finding[16] = "";
    long long until_s = 0;
    if (run->transport->ops->remember) {
        mq_relay_text(run->queue, MQ_KEY_RELAY_PIPELINING, run->relay, &kept, NULL);
    }
    if (!kept) {
        return;
    }
    sscanf(kept, "%15s %18lld", finding, &until_s);
    free(kept);
    if (!is_lasting(finding) && until_s > now_s && until_s <= now_s + BELIEVED_S) {
        tell(run, finding, until_s);
    } else {
        tell(run, is_lasting(finding) ? finding : "", INT64_MAX);
    }
}

void mq_run_keep_finding(struct mq_run *run)
{
    const struct mq_transport_ops *ops = run->transport->ops;
    char text[40];
    if (!ops->finding || mq_run_now_ms(run) < run->trouble.retry_ms || mq_run_database_fails(run)) {
        return;
    }
    if (run->finding.kept && mq_run_now_s(run) >= run->finding.until_s) {
        tell(run, "", INT64_MAX); /* the finding has become too old during the run */
    }
    const char *finding = ops->finding(run->transport);
    if (finding == run->finding.kept || !finding) {
        return;
    }
    int64_t until_s = is_lasting(finding) ? INT64_MAX : mq_run_now_s(run) + BELIEVED_S;
    if (is_lasting(finding)) {
        snprintf(text, sizeof(text), "%s", finding);
    } else {
        snprintf(text, sizeof(text), "%s %" PRId64, finding, until_s);
    }
    if (mq_relay_text_store(run->queue, MQ_KEY_RELAY_PIPELINING, run->relay, text, NULL) == MQ_OK) {
        run->finding.kept = finding;
        run->finding.until_s = until_s;
    } else {
        run->trouble.retry_ms = mq_run_now_ms(run) + AGAIN_MS;
    }
}
