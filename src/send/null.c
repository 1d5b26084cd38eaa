/* null://: accepts every mail and sends nothing. */
#include <stdlib.h>

#include "send/factory.h"

/* The most transfers that wait here for take_done(). */
#define CAPACITY 1000

static size_t null_capacity(const struct mq_transport *transport, bool just_in_time)
{
    size_t taken = transport->pending.count + transport->done.count;
    (void)just_in_time;
    return taken < CAPACITY ? CAPACITY - taken : 0;
}

/* Goes through the phases of a real transaction, so that the intent record looks the same. */
static void accept(struct mq_transport *transport, struct mq_transfer *transfer)
{
    transfer->ms = 0; /* no round trip */
    if (!transfer->enter(transfer, MQ_PHASE_ENVELOPE) ||
        !transfer->enter(transfer, MQ_PHASE_BODY)) {
        mq_transport_give_back(transport, transfer, MQ_TRANSFER_LEASE_OVER);
        return;
    }
    mq_transport_set_results(transport, transfer, MQ_OUTCOME_DELIVERED, 250,
                             "250 accepted by null");
    transfer->enter(transfer, MQ_PHASE_ACCEPTED);
    mq_transport_give_back(transport, transfer, MQ_TRANSFER_DONE);
}

static enum mq_status null_step(struct mq_transport *transport, int64_t timeout_ms,
                                struct mq_error *err)
{
    struct mq_transfer *transfer;
    (void)timeout_ms; /* this transport never waits */
    (void)err;
    while ((transfer = mq_transfer_take(&transport->pending, NULL)) != NULL) {
        accept(transport, transfer);
    }
    return MQ_OK;
}

enum mq_status mq_null_new(struct mq_dsn *dsn, const struct mq_transport_options *options,
                           struct mq_transport **out, struct mq_error *err)
{
    static const struct mq_transport_ops ops = {.capacity = null_capacity, .step = null_step};
    struct mq_transport *transport = calloc(1, sizeof(*transport));
    char *name = mq_str_dup(MQ_STR("null://null"));
    (void)dsn;
    if (!transport || !name) {
        free(transport);
        free(name);
        return mq_error_nomem(err);
    }
    *transport = (struct mq_transport){.ops = &ops, .clock = options->clock, .name = name};
    *out = transport;
    return MQ_OK;
}
