/* Mail that must pay at its relay before it begins, because relays have limits and the run can use
 * several (queue/windows/payments.h). It waits in its route's list until a lane can take it, pays
 * in the next cycle, and waits in that lane's list then. */
#ifndef MQ_WORKER_RELAY_PAYING_H
#define MQ_WORKER_RELAY_PAYING_H

#include <stdbool.h>

#include "queue/claim.h"
#include "queue/windows/payments.h"

struct mq_run;

/* Whether mail waits that can pay now. */
bool mq_run_pays(const struct mq_run *run);
/* Sets the cycle's payments: of the mails that can begin. The array is malloc'ed. */
enum mq_status mq_run_pay(struct mq_run *run, struct mq_cycle *cycle, struct mq_error *err);
/* After the commit. */
void mq_run_paid(struct mq_run *run, const struct mq_cycle *cycle);
/* Sets what a claim asks about relays: relays_of only if the run can use several. */
void mq_run_relays_of(const struct mq_run *run, struct mq_claim_request *request);
/* Takes mail back that waits in lists of lanes that cannot be used now. */
void mq_run_take_back(struct mq_run *run);

#endif
