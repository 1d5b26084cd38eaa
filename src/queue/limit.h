/* The hourly limit within a transaction: tokens are paid by claims and come back by settling. */
#ifndef MQ_QUEUE_LIMIT_H
#define MQ_QUEUE_LIMIT_H

#include <stdint.h>

#include "core/error.h"
#include "queue/sql/transaction.h"

#define MQ_LIMIT_NONE    INT64_MAX
#define MQ_LIMIT_HOUR_S  3601 /* an hour, and one second because times are cut to seconds */
#define MQ_LIMIT_PURGE_S 7200

/* How many recipients may be paid now; MQ_LIMIT_NONE without a limit. */
enum mq_status mq_limit_allowance(struct mq_tx *tx, int64_t *allowed, struct mq_error *err);
void mq_limit_take(struct mq_tx *tx, int64_t n);
/* Ends what was paid for: `handed` goes into the ledger at its time, the rest comes back. Until
 * mq_limit_store() the transaction keeps both. */
enum mq_status mq_limit_return(struct mq_tx *tx, int64_t paid, int64_t handed, int64_t at_s,
                               struct mq_error *err);
/* The time at which one more may be paid, if none may now. After mq_limit_allowance(). */
enum mq_status mq_limit_resume(struct mq_tx *tx, int64_t *resume_s, struct mq_error *err);
/* Writes the ledger, and the bucket when a limit is set and the settings could be read. */
enum mq_status mq_limit_store(struct mq_tx *tx, struct mq_error *err);

#endif
