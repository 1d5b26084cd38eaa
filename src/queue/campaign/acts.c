/* Starts, pauses, resumes and cancels campaigns. */
#include "policy/states.h"
#include "queue/campaign/internal.h"
#include "queue/config/keys.h"
#include "queue/config/settings.h"
#include "queue/handle.h"
#include "queue/sql/columns.h"
#include "queue/sql/transaction.h"

enum mq_status mq_campaign_switch(struct mq_queue *queue, bool on, struct mq_error *err)
{
    return mq_config_put(queue, mq_config_keys[MQ_KEY_CAMPAIGNS].name, on ? "1" : "0", err);
}

/* ---- jobs ---- */

/* Those that were tried before are failed, as they were. */
static enum mq_status let_jobs_go(struct mq_queue *queue, int64_t id, struct mq_error *err)
{
    const struct mq_transition first = {.from = MQ_HELD, .to = MQ_PENDING};
    const struct mq_transition again = {.from = MQ_HELD, .to = MQ_FAILED};
    MQ_TRY(mq_campaign_move_jobs(queue, id, &first,
                                 "UPDATE {t} SET status = ?1 WHERE " MQ_LIVE_SQL
                                 " AND status = 'held' AND attempts = 0",
                                 err));
    return mq_campaign_move_jobs(
        queue, id, &again, "UPDATE {t} SET status = ?1 WHERE " MQ_LIVE_SQL " AND status = 'held'",
        err);
}

/* Locks the jobs of a campaign before its row, as claims do: otherwise one of both would be undone
 * as the victim of a deadlock. */
static enum mq_status lock_jobs(struct mq_queue *queue, int64_t id, struct mq_error *err)
{
    if (!queue->dialect->shared) {
        return MQ_OK;
    }
    enum mq_status status = mq_campaign_query(
        queue, "SELECT id FROM {t} WHERE " MQ_LIVE_SQL " AND status <> ?1 ORDER BY id{u}",
        MQ_ARGS(mq_cstr(mq_state_name(MQ_SENDING)), mq_int(id)), err);
    while (mq_sql_next(queue, &status, err)) {
    }
    return status;
}

/* ---- states ---- */

/* What an act needs and makes, by its number. */
static const struct act {
    const char *name;
    unsigned from; /* states, as bits */
    enum mq_campaign_state to;
} acts[] = {
    [MQ_CAMPAIGN_START] = {"started", 1u << MQ_CAMPAIGN_DRAFT, MQ_CAMPAIGN_RUNNING},
    [MQ_CAMPAIGN_PAUSE] = {"paused", 1u << MQ_CAMPAIGN_RUNNING, MQ_CAMPAIGN_PAUSED},
    [MQ_CAMPAIGN_RESUME] = {"resumed", 1u << MQ_CAMPAIGN_PAUSED, MQ_CAMPAIGN_RUNNING},
    [MQ_CAMPAIGN_CANCEL] = {"cancelled",
                            1u << MQ_CAMPAIGN_DRAFT | 1u << MQ_CAMPAIGN_RUNNING |
                                1u << MQ_CAMPAIGN_PAUSED,
                            MQ_CAMPAIGN_CANCELLED},
};

static enum mq_status check(const struct mq_campaign *campaign, enum mq_campaign_act act,
                            struct mq_error *err)
{
    if (!(acts[act].from & 1u << campaign->state)) {
        return mq_error_set(err, MQ_CONFIG, "state", "a campaign that is %s cannot be %s",
                            mq_campaign_state_name(campaign->state), acts[act].name);
    }
    return act != MQ_CAMPAIGN_START || campaign->message_id
               ? MQ_OK
               : mq_error_set(err, MQ_CONFIG, "message",
                              "the campaign has no message: set it before the start");
}

/* Writes the state; `started` keeps the time of the first start. */
static enum mq_status write_state(struct mq_tx *tx, int64_t id, enum mq_campaign_act act,
                                  int64_t start_at, struct mq_error *err)
{
    struct mq_args args =
        MQ_ARGS(mq_int(id), mq_cstr(mq_campaign_state_name(acts[act].to)),
                mq_int(start_at > tx->now_s ? start_at : tx->now_s), mq_int(start_at));
    if (act == MQ_CAMPAIGN_START) {
        return mq_sql_exec_text(
            tx->queue, "UPDATE {M} SET state = ?2, started_at = ?3, start_at = ?4 WHERE id = ?1",
            args, err);
    }
    args.count = 2;
    return mq_sql_exec_text(tx->queue, "UPDATE {M} SET state = ?2 WHERE id = ?1", args, err);
}

static enum mq_status change_jobs(struct mq_queue *queue, int64_t id, enum mq_campaign_act act,
                                  struct mq_error *err)
{
    if (act == MQ_CAMPAIGN_RESUME) {
        MQ_TRY(let_jobs_go(queue, id, err));
    } else if (act != MQ_CAMPAIGN_START) {
        MQ_TRY(mq_campaign_stop_jobs(queue, id, act == MQ_CAMPAIGN_PAUSE, err));
    }
    return acts[act].to == MQ_CAMPAIGN_RUNNING ? mq_campaign_switch(queue, true, err) : MQ_OK;
}

static enum mq_status act_on(struct mq_tx *tx, int64_t id, enum mq_campaign_act act,
                             int64_t start_at, struct mq_error *err)
{
    struct mq_campaign campaign = {0};
    MQ_TRY(lock_jobs(tx->queue, id, err));
    MQ_TRY(mq_campaign_lock(tx->queue, id, &campaign, err));
    bool is_so = campaign.state == acts[act].to;
    enum mq_status status = is_so ? MQ_OK : check(&campaign, act, err);
    mq_campaign_clear(&campaign);
    if (status == MQ_OK && !is_so) {
        status = write_state(tx, id, act, start_at, err);
    }
    return status == MQ_OK && !is_so ? change_jobs(tx->queue, id, act, err) : status;
}

enum mq_status mq_campaign_do(struct mq_queue *queue, int64_t id, enum mq_campaign_act act,
                              int64_t start_at, struct mq_error *err)
{
    struct mq_tx tx = {.queue = queue};
    enum mq_status status = MQ_OK;
    while (mq_tx_next(&tx, &status, err)) {
        status = act_on(&tx, id, act, start_at, err);
    }
    return status;
}
