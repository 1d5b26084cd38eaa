/* Counts what became of jobs of campaigns, before the commit of a transaction that changed some. */
#include <stdlib.h>

#include "db/db.h"
#include "policy/event_type.h"
#include "queue/campaign/feed.h"
#include "queue/campaign/internal.h"
#include "queue/config/keys.h"
#include "queue/handle.h"
#include "queue/job.h"
#include "queue/sql/columns.h"
#include "queue/sql/transaction.h"

enum mq_status mq_campaign_int(struct mq_queue *queue, const char *text, struct mq_args args,
                               int64_t *value, struct mq_error *err)
{
    enum mq_status status = mq_sql_query_template(queue, text, args, err);
    if (status == MQ_OK && mq_sql_next(queue, &status, err)) {
        mq_value_int(queue->db->driver->column(queue->db, 0), value);
        mq_sql_finish(queue);
    }
    return status;
}

/* ---- states ---- */

enum mq_status mq_campaign_switch(struct mq_queue *queue, bool on, struct mq_error *err)
{
    return mq_config_put(queue, mq_config_keys[MQ_KEY_CAMPAIGNS].name, on ? "1" : "0", err);
}

static enum mq_status run_again(struct mq_queue *queue, int64_t id, struct mq_error *err)
{
    return mq_sql_exec_text(queue,
                            "UPDATE {M} SET state = 'running', finished_at = NULL WHERE id = ?1 "
                            "AND state = 'finished'",
                            MQ_ARGS(mq_int(id)), err);
}

enum mq_status mq_campaign_run_again(struct mq_queue *queue, int64_t id, struct mq_error *err)
{
    MQ_TRY(run_again(queue, id, err));
    return mq_campaign_switch(queue, true, err);
}

/* ---- jobs ---- */

enum mq_status mq_campaign_move_jobs(struct mq_queue *queue, int64_t id,
                                     const struct mq_transition *change, const char *text,
                                     struct mq_error *err)
{
    struct mq_value values[] = {mq_null(), mq_int(id)};
    struct mq_transition whole = {.from = change->from, .to = change->to};
    whole.values = values;
    whole.count = 2;
    return mq_jobs_transition(queue, &whole, text, err);
}

enum mq_status mq_campaign_stop_jobs(struct mq_queue *queue, int64_t id, bool holds,
                                     struct mq_error *err)
{
    const struct mq_transition hold = {.from = MQ_PENDING, .to = MQ_HELD};
    if (holds) {
        return mq_campaign_move_jobs(
            queue, id, &hold,
            "UPDATE {t} SET status = ?1 WHERE " MQ_LIVE_SQL " AND " MQ_CLAIMABLE_SQL, err);
    }
    return mq_sql_exec_text(queue, "DELETE FROM {t} WHERE " MQ_LIVE_SQL " AND status <> ?1",
                            MQ_ARGS(mq_cstr(mq_state_name(MQ_SENDING)), mq_int(id)), err);
}

/* ---- counts ---- */

/* What one transaction did with jobs of a campaign. */
struct mq_campaign_counts {
    struct mq_campaign_counts *next; /* with a larger id */
    int64_t id;
    int64_t sent, suppressed, uncertain;
    bool back; /* a parked or failed job waits again */
};

/* The counts of a campaign, in the order of ids, in which all transactions lock the rows; NULL
 * without memory. */
static struct mq_campaign_counts *counts_of(struct mq_tx *tx, int64_t id)
{
    struct mq_campaign_counts **link = &tx->campaigns;
    while (*link && (*link)->id < id) {
        link = &(*link)->next;
    }
    if (*link && (*link)->id == id) {
        return *link;
    }
    struct mq_campaign_counts *counts = calloc(1, sizeof(*counts));
    if (counts) {
        *counts = (struct mq_campaign_counts){.next = *link, .id = id};
        *link = counts;
    }
    return counts;
}

static struct mq_campaign_counts *noted(struct mq_tx *tx, const struct mq_job *job)
{
    struct mq_campaign_counts *counts = job->campaign_id ? counts_of(tx, job->campaign_id) : NULL;
    tx->campaigns_failed = tx->campaigns_failed || (job->campaign_id && !counts);
    return counts;
}

void mq_campaign_note(struct mq_tx *tx, const struct mq_job *job, int type)
{
    struct mq_campaign_counts *counts = type == MQ_EVENT_CLAIMED ? NULL : noted(tx, job);
    if (counts) {
        counts->sent += type == MQ_EVENT_SENT;
        counts->suppressed += type == MQ_EVENT_SUPPRESSED;
        counts->uncertain += type == MQ_EVENT_UNCERTAIN;
    }
}

void mq_campaign_back(struct mq_tx *tx, const struct mq_job *job)
{
    struct mq_campaign_counts *counts = noted(tx, job);
    if (counts) {
        counts->back = true;
    }
}

void mq_campaign_forget(struct mq_tx *tx)
{
    while (tx->campaigns) {
        struct mq_campaign_counts *counts = tx->campaigns;
        tx->campaigns = counts->next;
        free(counts);
    }
    tx->campaigns_failed = false;
}

/* Adds the counts to the campaign's row, which that locks, and looks at its state: another process
 * may have paused or cancelled the campaign while the jobs were being sent. */
static enum mq_status write_counts(struct mq_queue *queue, const struct mq_campaign_counts *counts,
                                   struct mq_error *err)
{
    int64_t paused = -1;
    struct mq_args args = MQ_ARGS(mq_int(counts->sent), mq_int(counts->suppressed),
                                  mq_int(counts->uncertain), mq_int(counts->id));
    MQ_TRY(mq_sql_exec_text(queue,
                            "UPDATE {M} SET sent = sent + ?1, suppressed = suppressed + ?2, "
                            "uncertain = uncertain + ?3 WHERE id = ?4",
                            args, err));
    MQ_TRY(counts->back ? run_again(queue, counts->id, err) : MQ_OK);
    MQ_TRY(mq_campaign_int(queue,
                           "SELECT CASE WHEN state = 'paused' THEN 1 ELSE 0 END FROM {M} "
                           "WHERE id = ?1 AND state IN ('paused', 'cancelled'){u}",
                           MQ_ARGS(mq_int(counts->id)), &paused, err));
    return paused >= 0 ? mq_campaign_stop_jobs(queue, counts->id, paused == 1, err) : MQ_OK;
}

enum mq_status mq_campaign_count(struct mq_tx *tx, struct mq_error *err)
{
    if (tx->campaigns_failed) {
        return mq_error_nomem(err);
    }
    bool back = false;
    for (const struct mq_campaign_counts *c = tx->campaigns; c; c = c->next) {
        MQ_TRY(write_counts(tx->queue, c, err));
        back = back || c->back;
    }
    mq_campaign_forget(tx);
    return back ? mq_campaign_switch(tx->queue, true, err) : MQ_OK; /* locked after all rows */
}
