/* Begins deliveries. */
#ifndef MQ_WORKER_DELIVERY_H
#define MQ_WORKER_DELIVERY_H

#include <stdbool.h>

struct mq_delivery;
struct mq_run;

/* Begins a waiting delivery: composes, pays, hands to the transport. False if that took time or is
 * not possible now (run->no_slot): the caller looks after the others first. */
bool mq_delivery_start(struct mq_delivery *delivery);
/* Whether a waiting delivery could begin now. */
bool mq_run_can_start(const struct mq_run *run);

#endif
