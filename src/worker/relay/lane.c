/* The lanes of a run: their transports move on and stop together. */
#include "worker/relay/lane.h"

#include "send/transport.h"
#include "worker/run.h"

size_t mq_lane_capacity(const struct mq_lane *lane, bool just_in_time)
{
    return mq_transport_capacity(lane->transport, just_in_time);
}

size_t mq_run_capacity(const struct mq_run *run, bool just_in_time)
{
    size_t sum = 0;
    for (size_t i = 0; i < run->lane_count; i++) {
        sum += mq_lane_capacity(run->lanes[i], just_in_time);
    }
    return sum;
}

int64_t mq_run_dot_ms(const struct mq_run *run)
{
    int64_t most = 0;
    for (size_t i = 0; i < run->lane_count; i++) {
        most = run->lanes[i]->dot_ms > most ? run->lanes[i]->dot_ms : most;
    }
    return most;
}

const char *mq_run_relay(const struct mq_run *run)
{
    return run->lane_count == 1 ? run->lanes[0]->name : NULL;
}

void mq_run_recall(struct mq_run *run)
{
    for (size_t i = 0; i < run->lane_count; i++) {
        mq_transport_recall(run->lanes[i]->transport);
    }
}

void mq_run_wind_down(struct mq_run *run)
{
    for (size_t i = 0; i < run->lane_count; i++) {
        mq_transport_wind_down(run->lanes[i]->transport);
    }
}

void mq_run_quit(struct mq_run *run, int64_t timeout_ms)
{
    for (size_t i = 0; i < run->lane_count; i++) {
        mq_transport_quit(run->lanes[i]->transport, timeout_ms);
    }
}

void mq_run_abort(struct mq_run *run)
{
    for (size_t i = 0; i < run->lane_count; i++) {
        mq_transport_abort(run->lanes[i]->transport);
    }
}

enum mq_status mq_run_step(struct mq_run *run, int64_t timeout_ms, struct mq_error *err)
{
    enum mq_status status = MQ_OK;
    for (size_t i = 0; i < run->lane_count && status == MQ_OK; i++) {
        struct mq_transport *transport = run->lanes[i]->transport;
        status = transport->ops->step(transport, timeout_ms, err);
    }
    return status;
}
