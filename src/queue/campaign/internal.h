/* What the files of this folder share: rows of campaigns, and statements that have no slot. */
#ifndef MQ_QUEUE_CAMPAIGN_INTERNAL_H
#define MQ_QUEUE_CAMPAIGN_INTERNAL_H

#include "queue/campaign/campaign.h"
#include "queue/sql/statements.h"

struct mq_transition;

/* The ids of a campaign's recipients: its own times this, and a number that counts up from 1. So
 * the recipients of a campaign are beside each other, and in the order in which they were added. */
#define MQ_RECIPIENT_IDS (INT64_C(1) << 40)

struct mq_campaigns_found {
    struct mq_campaign *items;
    size_t count;
};
void mq_campaigns_found_clear(struct mq_campaigns_found *list);
/* Reads campaigns; `tail` follows WHERE. */
enum mq_status mq_campaigns_find(struct mq_queue *queue, const char *tail, struct mq_args args,
                                 struct mq_campaigns_found *out, struct mq_error *err);
/* Reads one, and locks it on a server, within a transaction. */
enum mq_status mq_campaign_lock(struct mq_queue *queue, int64_t id, struct mq_campaign *out,
                                struct mq_error *err);
/* The number in the first row of a query by a template; unchanged without a row or on NULL. */
enum mq_status mq_campaign_int(struct mq_queue *queue, const char *text, struct mq_args args,
                               int64_t *value, struct mq_error *err);
/* Says whether claims feed campaigns. */
enum mq_status mq_campaign_switch(struct mq_queue *queue, bool on, struct mq_error *err);
/* Lets a finished campaign run again, within a transaction. */
enum mq_status mq_campaign_run_again(struct mq_queue *queue, int64_t id, struct mq_error *err);
/* Holds, or deletes, the jobs of a campaign that a claim could take. */
enum mq_status mq_campaign_stop_jobs(struct mq_queue *queue, int64_t id, bool holds,
                                     struct mq_error *err);
/* Changes the status of jobs: `text` takes the new one as ?1, and the campaign as ?2. */
enum mq_status mq_campaign_move_jobs(struct mq_queue *queue, int64_t id,
                                     const struct mq_transition *change, const char *text,
                                     struct mq_error *err);

#endif
