/* The lanes of a run: their transports move on and stop together. */
#include "worker/relay/lane.h"

#include <poll.h>

#include "send/transport.h"
#include "worker/deliveries.h"
#include "worker/relay/relay_list.h"
#include "worker/run.h"

/* How long one wait is if a transport does not say when it can go on. */
#define SLICE_MS 10

#define ONE_DOMAIN_MAX 25

/* The number doubles with each pause: many mails for a domain that fails may come before the
 * others. */
int64_t mq_lane_domain_max(const struct mq_lane *lane)
{
    int64_t n = lane->doubts.pauses;
    return ONE_DOMAIN_MAX << (n < 1 ? 0 : n > 6 ? 5 : n - 1);
}

bool mq_lane_failed_many(const struct mq_lane *lane)
{
    const struct mq_doubts *doubts = &lane->doubts;
    return doubts->mails >= MQ_RUN_MANY &&
           (doubts->domains ||
            (lane->trouble.accepted == 0 && doubts->mails >= mq_lane_domain_max(lane)));
}

bool mq_lane_is_suspect(const struct mq_lane *lane)
{
    return mq_lane_failed_many(lane) && !lane->doubts.lower;
}

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

/* A moving average: one slow mail among many does not end a run. */
void mq_lane_note_time(struct mq_lane *lane, int64_t ms)
{
    if (ms >= 0) {
        lane->dot_ms = lane->dot_ms ? lane->dot_ms + (ms - lane->dot_ms) / 8 : ms;
    }
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
        struct mq_transport *transport = run->relays->lanes[i]->transport;
        mq_transport_recall(transport);
        for (struct mq_transfer *back = transport->done.first; back; back = back->next) {
            struct mq_delivery *delivery = back->context;
            delivery->recalled = !back->drew_trouble;
        }
    }
}

void mq_run_wind_down(struct mq_run *run)
{
    for (size_t i = 0; i < run->relays->lane_count; i++) {
        mq_transport_wind_down(run->relays->lanes[i]->transport);
    }
}

/* All lanes have this time together; those that come after it only send their QUIT. */
void mq_run_quit(struct mq_run *run, int64_t timeout_ms)
{
    int64_t until_ms = mq_clock_monotonic_ms() + timeout_ms;
    for (size_t i = 0; i < run->relays->lane_count; i++) {
        int64_t left_ms = until_ms - mq_clock_monotonic_ms();
        mq_transport_quit(run->relays->lanes[i]->transport, left_ms > 0 ? left_ms : 0);
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
