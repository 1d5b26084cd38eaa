/* The hourly limit within a transaction: claims pay tokens, and unused ones come back. */
#ifndef MQ_QUEUE_LIMIT_H
#define MQ_QUEUE_LIMIT_H

#include <stdint.h>

#include "core/error.h"
#include "queue/sql/transaction.h"

#define MQ_LIMIT_NONE    INT64_MAX
#define MQ_LIMIT_HOUR_S  3601 /* an hour, and one second because times are cut to seconds */
#define MQ_LIMIT_PURGE_S 7200

/* How many recipients can be paid for now; MQ_LIMIT_NONE without a limit. */
enum mq_status mq_limit_allowance(struct mq_tx *tx, int64_t *allowed, struct mq_error *err);
void mq_limit_take(struct mq_tx *tx, int64_t n);
/* Settles `paid` tokens: `handed` of them go into the ledger at the time at_s, the others back into
 * the bucket. mq_limit_store() writes both. */
enum mq_status mq_limit_return(struct mq_tx *tx, int64_t paid, int64_t handed, int64_t at_s,
                               struct mq_error *err);
/* When the next recipient can be paid for, if none can now. Call mq_limit_allowance() first. */
enum mq_status mq_limit_resume(struct mq_tx *tx, int64_t *resume_s, struct mq_error *err);
/* Writes the ledger, and the bucket when a limit is set and the settings could be read. */
enum mq_status mq_limit_store(struct mq_tx *tx, struct mq_error *err);

#endif
