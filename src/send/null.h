/* null://null accepts everything and sends nothing. */
#ifndef MQ_SEND_NULL_H
#define MQ_SEND_NULL_H

#include "core/clock.h"
#include "send/transport.h"

enum mq_status mq_null_new(struct mq_clock clock, struct mq_transport **out, struct mq_error *err);

#endif
