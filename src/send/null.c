#include "send/null.h"

#include <stdlib.h>
#include <string.h>

/* What may wait here for take_done(). */
#define CAPACITY 1000

struct null_transport {
    struct mq_transport transport; /* first */
    struct mq_clock clock;
    struct mq_transfer *first, *last; /* accepted */
    size_t count;
};

static struct null_transport *null_of(struct mq_transport *transport)
{
    return (struct null_transport *)transport;
}

static const char *null_name(const struct mq_transport *transport)
{
    (void)transport;
    return "null://null";
}

static size_t null_capacity(const struct mq_transport *transport, bool just_in_time)
{
    const struct null_transport *null = (const struct null_transport *)transport;
    (void)just_in_time;
    return null->count < CAPACITY ? CAPACITY - null->count : 0;
}

static void accept_all(struct null_transport *null, struct mq_transfer *transfer)
{
    for (size_t i = 0; i < transfer->target_count; i++) {
        struct mq_target *target = &transfer->targets[i];
        if (target->result == MQ_TARGET_UNTRIED) {
            target->result = MQ_TARGET_ACCEPTED;
            target->code = 250;
            memcpy(target->reply, "250 accepted by null", sizeof "250 accepted by null");
        }
    }
    transfer->at_s = null->clock.now_s(null->clock.context);
}

/* Goes through the phases of a real transaction, so that the record of a run reads alike. */
static void null_submit(struct mq_transport *transport, struct mq_transfer *transfer)
{
    struct null_transport *null = null_of(transport);
    transfer->error[0] = '\0';
    transfer->retry_after_s = transfer->at_s = transfer->ms = 0; /* no round trip */
    transfer->next = NULL;
    transfer->end = MQ_DELIVERY_LEASE_OVER;
    if (transfer->enter(transfer, MQ_PHASE_ENVELOPE) && transfer->enter(transfer, MQ_PHASE_BODY)) {
        transfer->end = MQ_DELIVERY_DONE;
        accept_all(null, transfer);
        transfer->enter(transfer, MQ_PHASE_ACCEPTED);
    }
    if (null->last != NULL) {
        null->last->next = transfer;
    } else {
        null->first = transfer;
    }
    null->last = transfer;
    null->count++;
}

static enum mq_status null_step(struct mq_transport *transport, int64_t timeout_ms,
                                struct mq_error *err)
{
    (void)transport;
    (void)timeout_ms; /* nothing is ever waited for */
    (void)err;
    return MQ_OK;
}

static struct mq_transfer *null_take_done(struct mq_transport *transport)
{
    struct null_transport *null = null_of(transport);
    struct mq_transfer *transfer = null->first;
    if (transfer != NULL) {
        null->first = transfer->next;
        if (null->first == NULL) {
            null->last = NULL;
        }
        null->count--;
        transfer->next = NULL;
    }
    return transfer;
}

static bool null_trouble(const struct mq_transport *transport, struct mq_relay_trouble *out)
{
    (void)transport;
    (void)out;
    return false;
}

static void null_nothing(struct mq_transport *transport)
{
    (void)transport;
}

static void null_quit(struct mq_transport *transport, int64_t timeout_ms)
{
    (void)transport;
    (void)timeout_ms;
}

static void null_free(struct mq_transport *transport)
{
    free(transport);
}

enum mq_status mq_null_new(struct mq_clock clock, struct mq_transport **out, struct mq_error *err)
{
    static const struct mq_transport_ops ops = {
        null_name,    null_capacity, null_submit,  null_step, null_take_done,
        null_trouble, null_nothing,  null_nothing, null_quit, null_nothing,
        null_free,    NULL,          NULL};
    struct null_transport *null = calloc(1, sizeof *null);
    if (null == NULL) {
        return mq_error_nomem(err);
    }
    null->transport.ops = &ops;
    null->clock = clock;
    *out = &null->transport;
    return MQ_OK;
}
