/* What keeps a claim from beginning, or from going on. */
#ifndef MQ_QUEUE_CLAIM_CLOSED_H
#define MQ_QUEUE_CLAIM_CLOSED_H

#include <stdbool.h>

#include "core/error.h"

struct mq_claim;
struct mq_claim_request;
struct mq_tx;

/* Whether claims are switched off or all relays are paused; then the claim's end is set. Also says
 * in the request which relays are paused. */
enum mq_status mq_claim_closed(struct mq_tx *tx, const struct mq_claim_request *request,
                               struct mq_claim *claim, bool *is, struct mq_error *err);
/* On a server the settings were read before the rows were locked. Checks that no move to another
 * database began or ended in between, and that mailHours and the limits are the same; else sets
 * the claim's end, and *stop. */
enum mq_status mq_claim_look_again(struct mq_tx *tx, struct mq_claim *claim, bool *stop,
                                   struct mq_error *err);

#endif
