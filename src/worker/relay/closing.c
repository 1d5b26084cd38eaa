/* A lane whose relay fails is closed for a while. Without an open lane, the run ends, unless the
 * application chooses the relays. */
#include "queue/config/relays.h"
#include "send/transport.h"
#include "worker/relay/relay_list.h"
#include "worker/run.h"

/* The lane that opens first; NULL if one is open, or the application can name others. */
static const struct mq_lane *opens_first(const struct mq_run *run)
{
    const struct mq_lane *first = NULL;
    for (size_t i = 0; i < run->relays->lane_count && !run->relays->choose; i++) {
        const struct mq_lane *lane = run->relays->lanes[i];
        if (mq_lane_is_open(lane)) {
            return NULL;
        }
        first = first && first->trouble.until_s <= lane->trouble.until_s ? first : lane;
    }
    return first;
}

void mq_lane_close(struct mq_lane *lane, int64_t until_s, const char *reason)
{
    struct mq_run *run = lane->run;
    struct mq_report *report = run->report;
    int64_t left_s = until_s - mq_run_now_s(run);
    lane->trouble.found = true;
    lane->trouble.until_s = until_s;
    lane->trouble.closed_ms = mq_run_now_ms(run) + (left_s > 0 ? left_s * 1000 : 0);
    const struct mq_lane *first = opens_first(run);
    if (first && !run->stop.begun) {
        mq_str_printable(report->reason, sizeof(report->reason), 0, mq_str_of(reason));
        report->resume_s = first->trouble.until_s;
        mq_run_stop(run, MQ_RUN_RELAY);
    }
    if (!run->stop.begun) { /* other lanes go on: nothing more begins here */
        mq_transport_in_trouble(lane->transport, reason, 0);
        mq_transport_recall(lane->transport);
    }
}

/* Whether the queue says that the relay is paused. */
static bool is_paused(const struct mq_lane *lane, struct mq_pause *pause)
{
    return mq_queue_pause_of(lane->run->queue, lane->name, pause, NULL) == MQ_OK &&
           mq_pause_lasts(pause, mq_run_now_s(lane->run));
}

void mq_lane_close_if_paused(struct mq_lane *lane)
{
    struct mq_pause pause;
    if (is_paused(lane, &pause)) {
        mq_lane_close(lane, pause.until_s, pause.reason);
    }
}

bool mq_run_prepare_lanes(const struct mq_run *run)
{
    bool awaits = false, ready = false;
    for (size_t i = 0; i < run->relays->lane_count; i++) {
        struct mq_transport *transport = run->relays->lanes[i]->transport;
        struct mq_pause pause;
        if (!is_paused(run->relays->lanes[i], &pause)) {
            bool done = !transport->ops->prepare || transport->ops->prepare(transport);
            awaits = awaits || !done;
            ready = ready || (done && !transport->troubled);
        }
    }
    return ready || !awaits;
}

void mq_lane_reopen(struct mq_lane *lane)
{
    const struct mq_run *run = lane->run;
    if (mq_lane_is_open(lane) || run->stop.begun || mq_run_now_ms(run) < lane->trouble.closed_ms) {
        return;
    }
    lane->trouble = (struct mq_trouble){.retry_ms = lane->trouble.retry_ms};
    lane->doubts = (struct mq_doubts){.pauses = -1};
    mq_transport_reopen(lane->transport);
}
