/* The lanes of a run: their transports move on and stop together; a lane whose relay fails is
 * closed for a while. */
#include "worker/relay/lane.h"

#include <poll.h>

#include "send/transport.h"
#include "worker/run.h"

/* How long one wait is if a transport does not say when it can go on. */
#define SLICE_MS 10

size_t mq_lane_capacity(const struct mq_lane *lane, bool just_in_time)
{
    size_t room = 0;
    if (mq_lane_is_open(lane) && !mq_lane_is_suspect(lane)) {
        room = mq_transport_capacity(lane->transport, just_in_time);
    }
    /* Only a few mails show whether the relay takes those of lower priorities. With one lane, only
     * a few are claimed. */
    if (lane->doubts.lower && lane->run->relays->lane_count > 1 && room > 0) {
        size_t more = lane->under_way < MQ_RUN_MANY ? MQ_RUN_MANY - lane->under_way : 0;
        room = more < room ? more : room;
    }
    return room;
}

/* ---- closed and open ---- */

/* The lane that opens first; NULL if one is open. */
static const struct mq_lane *opens_first(const struct mq_run *run)
{
    const struct mq_lane *first = NULL;
    for (size_t i = 0; i < run->relays->lane_count; i++) {
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

/* ---- all lanes of a run ---- */

struct mq_lane *mq_run_only_lane(const struct mq_run *run)
{
    return run->relays->lane_count == 1 ? run->relays->lanes[0] : NULL;
}

int64_t mq_run_dot_ms(const struct mq_run *run)
{
    int64_t most = 0;
    for (size_t i = 0; i < run->relays->lane_count; i++) {
        int64_t dot_ms = run->relays->lanes[i]->dot_ms;
        most = dot_ms > most ? dot_ms : most;
    }
    return most;
}

const char *mq_run_relay(const struct mq_run *run)
{
    const struct mq_lane *lane = mq_run_only_lane(run);
    return lane ? lane->name : NULL;
}

void mq_run_recall(struct mq_run *run)
{
    for (size_t i = 0; i < run->relays->lane_count; i++) {
        mq_transport_recall(run->relays->lanes[i]->transport);
    }
}

void mq_run_wind_down(struct mq_run *run)
{
    for (size_t i = 0; i < run->relays->lane_count; i++) {
        mq_transport_wind_down(run->relays->lanes[i]->transport);
    }
}

/* Each lane has the whole time: relays answer QUIT at once, if at all. */
void mq_run_quit(struct mq_run *run, int64_t timeout_ms)
{
    for (size_t i = 0; i < run->relays->lane_count; i++) {
        mq_transport_quit(run->relays->lanes[i]->transport, timeout_ms);
    }
}

void mq_run_abort(struct mq_run *run)
{
    for (size_t i = 0; i < run->relays->lane_count; i++) {
        mq_transport_abort(run->relays->lanes[i]->transport);
    }
}

/* ---- waiting ---- */

/* Waits until a transport can go on, at most ms. */
static void wait_for_any(struct mq_run *run, int64_t ms)
{
    const struct mq_worker_hooks *hooks = run->worker->hooks;
    struct pollfd fds[MQ_LANES_MAX];
    nfds_t count = 0;
    for (size_t i = 0; i < run->relays->lane_count; i++) {
        struct mq_transport *transport = run->relays->lanes[i]->transport;
        int fd = transport->ops->wait_fd ? transport->ops->wait_fd(transport) : -1;
        if (transport->done.count > 0) {
            return;
        }
        if (fd >= 0) {
            fds[count++] = (struct pollfd){.fd = fd, .events = POLLIN};
        } else if (run->relays->lanes[i]->under_way > 0) {
            ms = mq_least(ms, SLICE_MS);
        }
    }
    if (hooks->wait) {
        hooks->wait(hooks->context, ms);
    } else {
        poll(fds, count, (int)ms);
    }
}

enum mq_status mq_run_step(struct mq_run *run, int64_t timeout_ms, struct mq_error *err)
{
    enum mq_status status = MQ_OK;
    bool alone = run->relays->lane_count == 1;
    for (size_t i = 0; i < run->relays->lane_count && status == MQ_OK; i++) {
        struct mq_transport *transport = run->relays->lanes[i]->transport;
        status = transport->ops->step(transport, alone ? timeout_ms : 0, err);
    }
    if (status == MQ_OK && !alone && timeout_ms > 0) {
        wait_for_any(run, timeout_ms);
    }
    return status;
}
