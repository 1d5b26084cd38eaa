/* What became of the recipients of campaigns, and another try for those that failed. */
#ifndef MQ_QUEUE_CAMPAIGN_PROGRESS_H
#define MQ_QUEUE_CAMPAIGN_PROGRESS_H

#include "policy/job_state.h"
#include "queue/campaign/campaign.h"

struct mq_job_list;

struct mq_campaign_progress {
    struct mq_campaign campaign;
    int64_t jobs[MQ_STATE_COUNT];
    int64_t refused; /* of the parked ones */
    int64_t live;    /* jobs that are not parked */
    /* In how many seconds the limits for all mail have let the rest go; -1: there are none. Only of
     * a campaign that runs. */
    int64_t limits_s;
    int64_t expires_at; /* of its mails; 0: never. In a list of a part, only of those that run */
    int64_t now_s;
};
/* Reads one; the caller clears its campaign. MQ_INVALID: there is none. */
enum mq_status mq_campaign_look(struct mq_queue *queue, int64_t id,
                                struct mq_campaign_progress *out, struct mq_error *err);

struct mq_campaign_list {
    struct mq_campaign_progress *items;
    size_t count;
    /* Set by the caller. 0: all is counted. Or for a page that is shown again and again: so many
     * parked jobs are looked at, the newest, and all other jobs count as pending. */
    int64_t parked_most;
    bool is_part; /* there are older parked jobs */
};
void mq_campaign_list_clear(struct mq_campaign_list *list);
/* Reads the newest ones whose id is less than `before`, by descending id. */
enum mq_status mq_campaigns_look(struct mq_queue *queue, int64_t before, int limit,
                                 struct mq_campaign_list *out, struct mq_error *err);

struct mq_campaign_page {
    int64_t id, after; /* of the campaign, and of a job */
    int limit;
};
/* Lists parked jobs, by ascending id. */
enum mq_status mq_campaign_failures(struct mq_queue *queue, const struct mq_campaign_page *page,
                                    struct mq_job_list *out, struct mq_error *err);
/* Makes refused and exhausted jobs pending; a finished campaign runs again for them. */
enum mq_status mq_campaign_retry(struct mq_queue *queue, int64_t id, int64_t *changed,
                                 struct mq_error *err);

#endif
