/* What transactions do for campaigns. */
#ifndef MQ_QUEUE_CAMPAIGN_FEED_H
#define MQ_QUEUE_CAMPAIGN_FEED_H

#include "core/error.h"

struct mq_claim;
struct mq_claim_request;
struct mq_job;
struct mq_tx;

/* Makes jobs of the next recipients, and ends campaigns without any left; at the end of a claim,
 * but not of each one that finds all it wants. */
enum mq_status mq_campaign_feed(struct mq_tx *tx, const struct mq_claim_request *request,
                                struct mq_claim *claim, struct mq_error *err);
/* Notes an event of a campaign's job. */
void mq_campaign_note(struct mq_tx *tx, const struct mq_job *job, int type);
/* Notes that a campaign's parked or failed job waits again. */
void mq_campaign_back(struct mq_tx *tx, const struct mq_job *job);
/* Writes what was noted, before the commit; then lets finished campaigns run again for their jobs
 * that came back, and takes such jobs off campaigns that are paused or cancelled. */
enum mq_status mq_campaign_count(struct mq_tx *tx, struct mq_error *err);
void mq_campaign_forget(struct mq_tx *tx);

#endif
