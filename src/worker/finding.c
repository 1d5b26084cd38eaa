/* Tells what the transport has found out about its relay, and stores it in the queue, so that no
 * run has to find out again. The text is "dot", or another word and until when it holds ("group
 * 1798761600"). */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "queue/config/relays.h"
#include "send/transport.h"
#include "worker/run.h"

#define AGAIN_MS 1000
/* How long a relay counts as one that cannot take the next mail's commands behind a dot. Then the
 * worker tries again, because the connection may have been lost for another reason, or the relay
 * has been updated. Each try can send a mail twice, so once a month is enough. */
#define BELIEVED_S (30 * 86400)

static bool is_lasting(const char *finding)
{
    return strcmp(finding, "dot") == 0;
}

/* Tells the transport a finding; "" makes it find out again. */
static void tell(struct mq_lane *lane, const char *finding, int64_t until_s)
{
    lane->transport->ops->remember(lane->transport, finding);
    lane->finding.kept = lane->transport->ops->finding(lane->transport);
    lane->finding.until_s = until_s;
}

/* A failure is ignored: without the stored finding, the transport finds out again. */
void mq_lane_remember(struct mq_lane *lane)
{
    int64_t now_s = mq_run_now_s(lane->run);
    char *kept = NULL;
    char finding[16] = "";
    long long until_s = 0;
    if (lane->transport->ops->remember) {
        mq_relay_text(lane->run->queue, MQ_KEY_RELAY_PIPELINING, lane->name, &kept, NULL);
    }
    if (!kept) {
        return;
    }
    sscanf(kept, "%15s %18lld", finding, &until_s);
    free(kept);
    if (!is_lasting(finding) && until_s > now_s && until_s <= now_s + BELIEVED_S) {
        tell(lane, finding, until_s);
    } else {
        tell(lane, is_lasting(finding) ? finding : "", INT64_MAX);
    }
}

void mq_lane_keep_finding(struct mq_lane *lane)
{
    const struct mq_transport_ops *ops = lane->transport->ops;
    char text[40];
    if (!ops->finding || mq_run_now_ms(lane->run) < lane->trouble.retry_ms ||
        mq_run_database_fails(lane->run)) {
        return;
    }
    if (lane->finding.kept && mq_run_now_s(lane->run) >= lane->finding.until_s) {
        tell(lane, "", INT64_MAX); /* the finding has become too old during the run */
    }
    const char *finding = ops->finding(lane->transport);
    if (finding == lane->finding.kept || !finding) {
        return;
    }
    int64_t until_s = is_lasting(finding) ? INT64_MAX : mq_run_now_s(lane->run) + BELIEVED_S;
    if (is_lasting(finding)) {
        snprintf(text, sizeof(text), "%s", finding);
    } else {
        snprintf(text, sizeof(text), "%s %" PRId64, finding, until_s);
    }
    if (mq_relay_text_store(lane->run->queue, MQ_KEY_RELAY_PIPELINING, lane->name, text, NULL) ==
        MQ_OK) {
        lane->finding.kept = finding;
        lane->finding.until_s = until_s;
    } else {
        lane->trouble.retry_ms = mq_run_now_ms(lane->run) + AGAIN_MS;
    }
}

void mq_lane_tell_note(struct mq_lane *lane)
{
    char *note = lane->transport->note;
    struct mq_event event = {
        .type = MQ_EVENT_RELAY_SESSIONS,
        .at_s = mq_run_now_s(lane->run),
        .relay = (char *)lane->name, /* copied by mq_events_add() */
        .reply = note,
        .ms = -1,
    };
    if (note[0]) {
        mq_events_add(&lane->run->events, &event);
        note[0] = '\0';
    }
}
