/* Adds recipients to a campaign, in transactions that are short: other programs write meanwhile. */
#ifndef MQ_CAMPAIGN_ADDING_H
#define MQ_CAMPAIGN_ADDING_H

#include <stddef.h>
#include <stdint.h>

#include "campaign/mailing.h"

struct mq_adding;

/* Takes recipients for a campaign. The queue that the functions get can be another each time: PHP
 * code runs between them. MQ_CONFIG: the campaign has no message, is cancelled, or its mails have
 * expired. */
enum mq_status mq_adding_begin(struct mq_queue *queue, int64_t campaign_id, struct mq_adding **out,
                               struct mq_error *err);
/* Checks a recipient, and stores the last ones if they are enough for a transaction. The address
 * may have an internationalised domain. MQ_MESSAGE with the field: the recipient is refused; those
 * before it can still be stored. */
enum mq_status mq_adding_take(struct mq_adding *adding, struct mq_queue *queue,
                              const struct mq_addressee *to, struct mq_error *err);
/* Stores the rest. */
enum mq_status mq_adding_store(struct mq_adding *adding, struct mq_queue *queue,
                               struct mq_error *err);
/* How many were new so far. */
int64_t mq_adding_added(const struct mq_adding *adding);
void mq_adding_free(struct mq_adding *adding); /* NULL is allowed */

#endif
