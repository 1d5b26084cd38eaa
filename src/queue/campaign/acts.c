/* What people do with campaigns, and what they see of them. */
#include <stdlib.h>

#include "queue/all_limits.h"
#include "queue/campaign/internal.h"
#include "queue/campaign/progress.h"
#include "queue/config/relays.h"
#include "queue/config/settings.h"
#include "queue/handle.h"
#include "queue/job.h"
#include "queue/manage.h"
#include "queue/queue.h"
#include "queue/sql/columns.h"
#include "queue/sql/schema.h"
#include "queue/sql/transaction.h"
#include "queue/steps.h"

/* With a campaign's id, the mark of no rules: the next claims bring all mail forward that was put
 * back, and begin again if they do that already. */
#define MARK_STALE  (INT64_C(1) << 40)
#define RETRY_CHUNK 500
#define PARKED      "FROM {t} WHERE status = 'parked' AND campaign_id = ?1"

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

/* Locks the jobs of a campaign before its row, as claims do. In another order, the two could
 * deadlock. */
static enum mq_status lock_jobs(struct mq_queue *queue, int64_t id, struct mq_error *err)
{
    if (!queue->dialect->shared) {
        return MQ_OK;
    }
    enum mq_status status = mq_sql_query_template(
        queue, "SELECT id FROM {t} WHERE " MQ_LIVE_SQL " AND status <> ?1 ORDER BY id{u}",
        MQ_ARGS(mq_cstr(mq_state_name(MQ_SENDING)), mq_int(id)), err);
    while (mq_sql_next(queue, &status, err)) {
    }
    return status;
}

/* Has claims count again when mail is due that waits for limits, if jobs of the campaign wait for
 * one: other mail is to have their places in the line. */
static enum mq_status leave_lines(struct mq_queue *queue, int64_t id, struct mq_error *err)
{
    int64_t waits = 0;
    MQ_TRY(mq_campaign_int(queue,
                           "SELECT 1 FROM {t} WHERE " MQ_LIVE_SQL
                           " AND waits_for IS NOT NULL AND waits_for <> ?1 LIMIT 1",
                           MQ_ARGS(mq_cstr(MQ_FOR_PAUSE), mq_int(id)), &waits, err));
    return waits ? mq_mark_put(queue, queue->names.table, MARK_STALE + id, err) : MQ_OK;
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

/* Of a campaign that runs: a start that is still to come can get another time. */
static enum mq_status check_move(const struct mq_tx *tx, const struct mq_campaign *campaign,
                                 int64_t start_at, bool *moves, struct mq_error *err)
{
    bool begun = campaign->start_at <= tx->now_s;
    *moves = !begun && start_at != campaign->start_at;
    return !begun || start_at <= tx->now_s
               ? MQ_OK
               : mq_error_set(err, MQ_CONFIG, "state",
                              "the campaign has begun already: it cannot get another start; "
                              "pause() holds its mails");
}

/* Writes the state; `started` keeps the time of the first start. */
static enum mq_status write_state(struct mq_tx *tx, int64_t id, enum mq_campaign_act act,
                                  int64_t start_at, struct mq_error *err)
{
    struct mq_args args =
        MQ_ARGS(mq_int(id), mq_cstr(mq_campaign_state_name(acts[act].to)),
                mq_int(start_at > tx->now_s ? start_at : tx->now_s), mq_int(start_at));
    if (act == MQ_CAMPAIGN_START) {
        MQ_TRY(mq_campaign_check_expiry(tx->queue, id, start_at, err));
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
        MQ_TRY(leave_lines(queue, id, err));
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
    bool is_so = campaign.state == acts[act].to, changes = !is_so;
    enum mq_status status = is_so ? MQ_OK : check(&campaign, act, err);
    if (is_so && act == MQ_CAMPAIGN_START) {
        status = check_move(tx, &campaign, start_at, &changes, err);
    }
    mq_campaign_clear(&campaign);
    if (status == MQ_OK && changes) {
        status = write_state(tx, id, act, start_at, err);
    }
    return status == MQ_OK && changes ? change_jobs(tx->queue, id, act, err) : status;
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

/* ---- progress ---- */

/* Finds a campaign in a list of descending ids. NULL: it is not there. */
static struct mq_campaign_progress *find(const struct mq_campaign_list *list, int64_t id)
{
    size_t first = 0, end = list->count;
    while (first < end) {
        size_t middle = first + (end - first) / 2;
        if (list->items[middle].campaign.id == id) {
            return &list->items[middle];
        }
        if (list->items[middle].campaign.id > id) {
            first = middle + 1;
        } else {
            end = middle;
        }
    }
    return NULL;
}

/* The ids of the list's first and last campaign. */
static struct mq_value least(const struct mq_campaign_list *list)
{
    return mq_int(list->items[list->count - 1].campaign.id);
}

static struct mq_value greatest(const struct mq_campaign_list *list)
{
    return mq_int(list->items[0].campaign.id);
}

/* Finds the newest parked job that is not looked at. 0: there is none. */
static enum mq_status find_limit(struct mq_queue *queue, const struct mq_campaign_list *list,
                                 int64_t *id, struct mq_error *err)
{
    *id = 0;
    return list->parked_most == 0
               ? MQ_OK
               : mq_campaign_int(queue,
                                 "SELECT id FROM {t} WHERE status = 'parked' AND id > 0 "
                                 "ORDER BY id DESC LIMIT 1 OFFSET ?1",
                                 MQ_ARGS(mq_int(list->parked_most)), id, err);
}

/* Columns: campaign, status, parked_for, jobs, recipients, fed, sent, suppressed. An index finds
 * parked jobs, but not those of one campaign. */
#define PARKED_JOBS                                                                    \
    "SELECT campaign_id, 'parked', parked_for, count(*), 0, 0, 0, 0 FROM {t} "         \
    "WHERE status = 'parked' AND id > ?3 AND campaign_id >= ?1 AND campaign_id <= ?2 " \
    "GROUP BY campaign_id, parked_for UNION ALL "
#define LIVE_JOBS                                                    \
    "SELECT campaign_id, status, '', count(*), 0, 0, 0, 0 FROM {t} " \
    "WHERE " MQ_LIVE_OF " >= ?1 AND " MQ_LIVE_OF " <= ?2 GROUP BY campaign_id, status UNION ALL "
#define ROW(jobs)                                                                     \
    "SELECT id, 'pending', '', " jobs ", recipients, fed, sent, suppressed FROM {M} " \
    "WHERE id >= ?1 AND id <= ?2"

static void add_row(struct mq_queue *queue, struct mq_campaign_progress *to)
{
    struct mq_campaign *campaign = &to->campaign;
    int64_t count = mq_sql_column_int(queue, 3);
    enum mq_state state;
    if (mq_state_parse(mq_sql_column_str(queue, 1), &state)) {
        to->jobs[state] += count;
    }
    to->refused += mq_str_equal(mq_sql_column_str(queue, 2), MQ_STR("refused")) ? count : 0;
    campaign->recipients += mq_sql_column_int(queue, 4);
    campaign->fed += mq_sql_column_int(queue, 5);
    campaign->sent += mq_sql_column_int(queue, 6);
    campaign->suppressed += mq_sql_column_int(queue, 7);
}

/* Counts in one statement, so that a job that is settled meanwhile is in exactly one number. For a
 * part, all that are not parked count as pending: an index has their number, but not their states.
 */
static enum mq_status count_jobs(struct mq_queue *queue, struct mq_campaign_list *list,
                                 struct mq_error *err)
{
    int64_t behind;
    MQ_TRY(find_limit(queue, list, &behind, err));
    list->is_part = behind > 0;
    for (size_t i = 0; i < list->count; i++) {
        struct mq_campaign *campaign = &list->items[i].campaign;
        campaign->recipients = campaign->fed = campaign->sent = campaign->suppressed = 0;
    }
    enum mq_status status = mq_sql_query_template(
        queue,
        list->parked_most
            ? PARKED_JOBS ROW("(SELECT count(*) FROM {t} WHERE " MQ_LIVE_OF " = {M}.id)")
            : PARKED_JOBS LIVE_JOBS ROW("0"),
        MQ_ARGS(least(list), greatest(list), mq_int(behind)), err);
    while (mq_sql_next(queue, &status, err)) {
        struct mq_campaign_progress *one = find(list, mq_sql_column_int(queue, 0));
        if (one) {
            add_row(queue, one);
        }
    }
    return status;
}

static bool runs(const struct mq_campaign_progress *of)
{
    return of->campaign.state == MQ_CAMPAIGN_RUNNING;
}

/* Completes one whose jobs were counted. */
static enum mq_status expect(struct mq_tx *tx, struct mq_campaign_progress *out,
                             struct mq_error *err)
{
    const struct mq_campaign *campaign = &out->campaign;
    const int64_t *jobs = out->jobs;
    out->now_s = tx->now_s;
    out->live = jobs[MQ_PENDING] + jobs[MQ_SENDING] + jobs[MQ_FAILED] + jobs[MQ_HELD];
    out->limits_s = -1;
    int64_t left = campaign->recipients - campaign->fed + out->live;
    const struct mq_ahead all = {left, left, campaign->priority < 0};
    return runs(out) ? mq_limits_expect(tx, &all, &out->limits_s, err) : MQ_OK;
}

static enum mq_status complete_all(struct mq_tx *tx, struct mq_campaign_list *list,
                                   struct mq_error *err)
{
    int64_t token_s;
    MQ_TRY(tx->settings.bucket.limit > 0 ? mq_limit_look(tx, &token_s, err) : MQ_OK);
    MQ_TRY(count_jobs(tx->queue, list, err));
    for (size_t i = 0; i < list->count; i++) {
        struct mq_campaign_progress *one = &list->items[i];
        MQ_TRY(list->parked_most && !runs(one)
                   ? MQ_OK
                   : mq_campaign_terms(tx->queue, one->campaign.id, &one->expires_at, NULL, err));
        MQ_TRY(expect(tx, one, err));
    }
    return MQ_OK;
}

/* Completes those whose rows were read. Settings that cannot be read count as no limits. */
static enum mq_status complete(struct mq_queue *queue, struct mq_campaign_list *list,
                               struct mq_error *err)
{
    struct mq_tx tx = {.queue = queue, .only_read = true};
    MQ_TRY(mq_queue_now(queue, &tx.now_s, err));
    if (mq_settings_load(queue, tx.now_s, &tx.settings, NULL) != MQ_OK) {
        mq_settings_clear(&tx.settings);
        tx.settings = (struct mq_settings){0};
    }
    enum mq_status status = complete_all(&tx, list, err);
    mq_windows_free(tx.windows);
    mq_settings_clear(&tx.settings);
    return status;
}

enum mq_status mq_campaign_look(struct mq_queue *queue, int64_t id,
                                struct mq_campaign_progress *out, struct mq_error *err)
{
    struct mq_campaign_list one = {.items = out, .count = 1};
    *out = (struct mq_campaign_progress){0};
    MQ_TRY(mq_campaign_read(queue, id, &out->campaign, err));
    enum mq_status status = complete(queue, &one, err);
    if (status != MQ_OK) {
        mq_campaign_clear(&out->campaign);
    }
    return status;
}

void mq_campaign_list_clear(struct mq_campaign_list *list)
{
    for (size_t i = 0; i < list->count; i++) {
        mq_campaign_clear(&list->items[i].campaign);
    }
    free(list->items);
    *list = (struct mq_campaign_list){0};
}

/* Moves the rows that were found into a list. */
static enum mq_status take(struct mq_campaigns_found *found, struct mq_campaign_list *out,
                           struct mq_error *err)
{
    out->items = calloc(found->count, sizeof(*out->items));
    if (!out->items) {
        return mq_error_nomem(err);
    }
    for (; out->count < found->count; out->count++) {
        out->items[out->count].campaign = found->items[out->count];
        found->items[out->count] = (struct mq_campaign){0};
    }
    return MQ_OK;
}

enum mq_status mq_campaigns_look(struct mq_queue *queue, int64_t before, int limit,
                                 struct mq_campaign_list *out, struct mq_error *err)
{
    struct mq_campaigns_found found = {0};
    *out = (struct mq_campaign_list){.parked_most = out->parked_most};
    MQ_TRY(mq_schema_check(queue, err));
    enum mq_status status = mq_campaigns_find(queue, "id < ?1 ORDER BY id DESC LIMIT ?2",
                                              MQ_ARGS(mq_int(before), mq_int(limit)), &found, err);
    if (status == MQ_OK && found.count > 0) {
        status = take(&found, out, err);
        status = status == MQ_OK ? complete(queue, out, err) : status;
    }
    mq_campaigns_found_clear(&found);
    if (status != MQ_OK) {
        mq_campaign_list_clear(out);
    }
    return status;
}

/* ---- failures ---- */

enum mq_status mq_campaign_failures(struct mq_queue *queue, const struct mq_campaign_page *page,
                                    struct mq_job_list *out, struct mq_error *err)
{
    *out = (struct mq_job_list){0};
    MQ_TRY(mq_schema_check(queue, err));
    enum mq_status status = mq_sql_query_template(
        queue, "SELECT " MQ_COLS " " PARKED " AND id > ?2 ORDER BY id LIMIT ?3",
        MQ_ARGS(mq_int(page->id), mq_int(page->after), mq_int(page->limit)), err);
    if (status == MQ_OK) {
        status = mq_jobs_take(queue, out, err);
    }
    if (status != MQ_OK) {
        mq_job_list_clear(out);
    }
    return status;
}

/* ---- another try ---- */

static enum mq_status next_ids(struct mq_queue *queue, int64_t id, int64_t *items, size_t *count,
                               struct mq_error *err)
{
    int64_t after = *count ? items[*count - 1] : 0;
    enum mq_status status = mq_sql_query_template(
        queue, "SELECT id " PARKED " AND " MQ_FAILED_SQL " AND id > ?2 ORDER BY id LIMIT ?3",
        MQ_ARGS(mq_int(id), mq_int(after), mq_int(RETRY_CHUNK)), err);
    for (*count = 0; mq_sql_next(queue, &status, err); ++*count) {
        items[*count] = mq_sql_column_int(queue, 0);
    }
    return status;
}

static enum mq_status check_retry(struct mq_queue *queue, int64_t id, struct mq_error *err)
{
    struct mq_campaign campaign;
    MQ_TRY(mq_campaign_read(queue, id, &campaign, err));
    enum mq_campaign_state state = campaign.state;
    mq_campaign_clear(&campaign);
    return state == MQ_CAMPAIGN_FINISHED || state == MQ_CAMPAIGN_RUNNING
               ? mq_campaign_check_expiry(queue, id, 0, err)
               : mq_error_set(err, MQ_CONFIG, "state",
                              "the campaign is %s: only one that runs or has finished can try its "
                              "failed mails again",
                              mq_campaign_state_name(state));
}

static enum mq_status retry_some(struct mq_queue *queue, const struct mq_ids *ids, int64_t *changed,
                                 struct mq_error *err)
{
    struct mq_tx tx = {.queue = queue};
    enum mq_status status = MQ_OK;
    while (mq_tx_next(&tx, &status, err)) {
        status = mq_retry_within(&tx, ids, true, changed, err);
    }
    mq_tx_leave_free(queue, status == MQ_OK ? tx.locked_ms : 0);
    return status;
}

enum mq_status mq_campaign_retry(struct mq_queue *queue, int64_t id, int64_t *changed,
                                 struct mq_error *err)
{
    int64_t items[RETRY_CHUNK], some;
    size_t count = 0;
    *changed = 0;
    MQ_TRY(check_retry(queue, id, err));
    do {
        MQ_TRY(next_ids(queue, id, items, &count, err));
        const struct mq_ids ids = {items, count};
        MQ_TRY(retry_some(queue, &ids, &some, err));
        *changed += some;
    } while (count == RETRY_CHUNK);
    return MQ_OK;
}
