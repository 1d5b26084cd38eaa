/* Feeds campaigns at the end of a claim, and ends them. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "queue/campaign/feed.h"
#include "queue/campaign/internal.h"
#include "queue/claim.h"
#include "queue/config/keys.h"
#include "queue/handle.h"
#include "queue/sql/dialect.h"
#include "queue/sql/transaction.h"

/* Campaigns are fed after so many claimed jobs, or when a claim finds fewer than it wants. */
#define FEED_AFTER (MQ_CAMPAIGN_LIVE / 4)

/* ---- feeding ---- */

/* Finds up to which recipient the next `room` ones go. */
static enum mq_status piece_end(struct mq_queue *queue, const struct mq_campaign *campaign,
                                int64_t room, int64_t *to, struct mq_error *err)
{
    *to = campaign->last_id;
    return mq_campaign_int(
        queue,
        "SELECT max(id) FROM (SELECT id FROM {p} WHERE id > ?1 AND id <= ?2 "
        "ORDER BY id LIMIT ?3) AS piece",
        MQ_ARGS(mq_int(campaign->fed_to), mq_int(campaign->last_id), mq_int(room)), to, err);
}

/* Writes the statement that makes the jobs. Numbers are in its text, because PostgreSQL takes a
 * parameter in a SELECT for a text. */
static void write_insert(struct mq_tx *tx, const struct mq_campaign *campaign, int64_t to,
                         struct mq_buffer *text)
{
    mq_buffer_cstr(text, "INSERT INTO {t}(message_id, mail_type, envelope_from, relay, scope, "
                         "recipients, cleared, campaign_id, recipient_id, status, priority, "
                         "max_attempts, next_attempt_at, created_at) "
                         "SELECT {B}, address, cleared, campaign_id, id, 'pending', ");
    mq_buffer_printf(text, "%d, ", campaign->priority);
    if (campaign->max_attempts) {
        mq_buffer_printf(text, "%d", campaign->max_attempts);
    } else {
        mq_buffer_cstr(text, "NULL");
    }
    mq_buffer_printf(text,
                     ", %" PRId64 ", %" PRId64 " FROM {p} WHERE id > %" PRId64 " AND id <= %" PRId64
                     " ORDER BY id",
                     tx->now_s, tx->now_s, campaign->fed_to, to);
}

/* Makes jobs of the recipients up to `to`; *fed says how many. */
static enum mq_status make_jobs(struct mq_tx *tx, const struct mq_campaign *campaign, int64_t to,
                                int64_t *fed, struct mq_error *err)
{
    struct mq_str id = mq_str_of(campaign->message_id);
    const char *at = memchr(id.data, '@', id.len);
    size_t begin = at ? (size_t)(at - id.data) : id.len;
    struct mq_buffer text = {0}, first = {0};
    mq_buffer_append(&first, id.data, begin);
    mq_buffer_char(&first, '.');
    write_insert(tx, campaign, to, &text);
    struct mq_args args = MQ_ARGS(mq_text(mq_buffer_view(&first)),
                                  mq_text((struct mq_str){id.data + begin, id.len - begin}),
                                  mq_cstr(campaign->mail_type), mq_cstr(campaign->envelope_from),
                                  mq_cstr(campaign->relay), mq_cstr(campaign->scope));
    enum mq_status status = text.failed || first.failed
                                ? mq_error_nomem(err)
                                : mq_sql_exec_text(tx->queue, text.data, args, err);
    *fed = mq_sql_changes(tx->queue);
    mq_buffer_clear(&text);
    mq_buffer_clear(&first);
    return status;
}

static enum mq_status feed_some(struct mq_tx *tx, const struct mq_campaign *campaign, int64_t room,
                                int64_t *fed, struct mq_error *err)
{
    int64_t to = 0;
    MQ_TRY(piece_end(tx->queue, campaign, room, &to, err));
    MQ_TRY(make_jobs(tx, campaign, to, fed, err));
    return mq_sql_exec_text(tx->queue, "UPDATE {M} SET fed_to = ?1, fed = fed + ?2 WHERE id = ?3",
                            MQ_ARGS(mq_int(to), mq_int(*fed), mq_int(campaign->id)), err);
}

/* ---- the end ---- */

/* The last settled job ends the campaign, in the same transaction: this one has the row's lock, so
 * it sees what all others did. Without any recipient a campaign goes on: they may still come. */
static enum mq_status end(struct mq_tx *tx, const struct mq_campaign *campaign,
                          struct mq_claim *claim, struct mq_error *err)
{
    if (campaign->recipients == 0) {
        return MQ_OK;
    }
    claim->finished = true;
    return mq_sql_exec_text(tx->queue,
                            "UPDATE {M} SET state = 'finished', finished_at = ?1 WHERE id = ?2",
                            MQ_ARGS(mq_int(tx->now_s), mq_int(campaign->id)), err);
}

/* Feeds or ends a campaign that runs. *fed: it has new jobs. */
static enum mq_status go_on(struct mq_tx *tx, const struct mq_campaign *campaign,
                            struct mq_claim *claim, int64_t *fed, struct mq_error *err)
{
    int64_t live = 0;
    *fed = 0;
    MQ_TRY(mq_campaign_int(tx->queue,
                           "SELECT count(*) FROM (SELECT 1 AS one FROM {t} WHERE " MQ_LIVE_SQL
                           " LIMIT ?1) AS live",
                           MQ_ARGS(mq_int(MQ_CAMPAIGN_LIVE), mq_int(campaign->id)), &live, err));
    if (campaign->fed_to < campaign->last_id) {
        int64_t room = MQ_CAMPAIGN_LIVE - live;
        return room > 0 ? feed_some(tx, campaign, room, fed, err) : MQ_OK;
    }
    return live == 0 ? end(tx, campaign, claim, err) : MQ_OK;
}

/* Has claims feed no campaign any more if none runs. The key is locked first: a start that has not
 * been committed yet sets it again afterwards. */
static enum mq_status switch_off(struct mq_queue *queue, struct mq_error *err)
{
    int64_t running = 0;
    struct mq_args key = MQ_ARGS(mq_cstr(mq_config_keys[MQ_KEY_CAMPAIGNS].name));
    MQ_TRY(mq_campaign_int(queue, "SELECT 1 FROM {c} WHERE {q}key{q} = ?1{u}", key, &running, err));
    running = 0;
    MQ_TRY(mq_campaign_int(queue, "SELECT count(*) FROM {M} WHERE state = 'running'", MQ_NO_ARGS,
                           &running, err));
    return running ? MQ_OK : mq_campaign_switch(queue, false, err);
}

/* Notes when a campaign starts, so that a worker without other mail looks again then. */
static void note_start(struct mq_claim *claim, int64_t start_at)
{
    if (claim->end == MQ_CLAIM_EMPTY && (claim->resume_s == 0 || start_at < claim->resume_s)) {
        claim->resume_s = start_at;
    }
}

static enum mq_status feed_all(struct mq_tx *tx, const struct mq_campaigns_found *running,
                               struct mq_claim *claim, struct mq_error *err)
{
    bool any = false;
    for (size_t i = 0; i < running->count; i++) {
        const struct mq_campaign *campaign = &running->items[i];
        int64_t fed = 0;
        if (campaign->start_at > tx->now_s) {
            note_start(claim, campaign->start_at);
        } else {
            MQ_TRY(go_on(tx, campaign, claim, &fed, err));
        }
        any = any || fed > 0;
    }
    if (any && claim->end == MQ_CLAIM_EMPTY) {
        claim->end = MQ_CLAIM_MORE;
    }
    return running->count ? MQ_OK : switch_off(tx->queue, err);
}

enum mq_status mq_campaign_feed(struct mq_tx *tx, const struct mq_claim_request *request,
                                struct mq_claim *claim, struct mq_error *err)
{
    struct mq_campaigns_found running = {0};
    claim->finished = false;
    tx->queue->unfed += claim->count;
    bool found_all = claim->count > 0 && claim->count == (size_t)request->limit;
    bool enough = found_all && tx->queue->unfed < FEED_AFTER;
    if (!tx->settings.campaigns || claim->end == MQ_CLAIM_DISABLED || enough) {
        return MQ_OK;
    }
    tx->queue->unfed = 0;
    MQ_TRY(mq_campaign_count(tx, err));
    enum mq_status status =
        mq_campaigns_find(tx->queue, "state = 'running' ORDER BY id{w}", MQ_NO_ARGS, &running, err);
    if (status == MQ_OK) {
        status = feed_all(tx, &running, claim, err);
    }
    mq_campaigns_found_clear(&running);
    return status;
}

/* ---- onFinished ---- */

static enum mq_status take_finished(struct mq_queue *queue, int64_t *id, struct mq_error *err)
{
    *id = 0;
    MQ_TRY(mq_campaign_int(queue,
                           "SELECT min(id) FROM {M} WHERE state = 'finished' "
                           "AND on_finished IS NULL",
                           MQ_NO_ARGS, id, err));
    if (*id == 0) {
        return MQ_OK;
    }
    MQ_TRY(mq_sql_exec_text(queue,
                            "UPDATE {M} SET on_finished = 'begun' WHERE id = ?1 "
                            "AND on_finished IS NULL",
                            MQ_ARGS(mq_int(*id)), err));
    *id = mq_sql_changes(queue) > 0 ? *id : 0; /* another run was faster */
    return MQ_OK;
}

enum mq_status mq_campaign_take_finished(struct mq_queue *queue, int64_t *id, struct mq_error *err)
{
    struct mq_tx tx = {.queue = queue};
    enum mq_status status = MQ_OK;
    int64_t any = 0;
    *id = 0;
    MQ_TRY(mq_campaign_int(queue,
                           "SELECT 1 FROM {M} WHERE state = 'finished' AND on_finished IS NULL "
                           "LIMIT 1",
                           MQ_NO_ARGS, &any, err));
    if (!any) {
        return MQ_OK;
    }
    while (mq_tx_next(&tx, &status, err)) {
        status = take_finished(queue, id, err);
    }
    return status;
}

enum mq_status mq_campaign_told(struct mq_queue *queue, int64_t id, struct mq_error *err)
{
    struct mq_tx tx = {.queue = queue};
    enum mq_status status = MQ_OK;
    while (mq_tx_next(&tx, &status, err)) {
        status = mq_sql_exec_text(queue, "UPDATE {M} SET on_finished = 'called' WHERE id = ?1",
                                  MQ_ARGS(mq_int(id)), err);
    }
    return status;
}
