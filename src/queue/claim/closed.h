/* What keeps a claim from beginning. */
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

#endif
