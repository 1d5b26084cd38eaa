/* Feeds campaigns at the end of a claim, and ends them. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "mime/notify.h"
#include "queue/campaign/feed.h"
#include "queue/campaign/internal.h"
#include "queue/claim.h"
#include "queue/config/keys.h"
#include "queue/handle.h"
#include "queue/sql/dialect.h"
#include "queue/sql/transaction.h"

/* Campaigns are fed after so many claimed jobs, or when a claim finds fewer than it wants. */
#define FEED_AFTER (MQ_CAMPAIGN_DUE / 4)

/* ---- feeding ---- */

/* Counts jobs that are not parked, up to `most`. */
static enum mq_status count_live(struct mq_queue *queue, const struct mq_campaign *campaign,
                                 int64_t most, int64_t *live, struct mq_error *err)
{
    return mq_campaign_int(queue,
                           "SELECT count(*) FROM (SELECT 1 AS one FROM {t} WHERE " MQ_LIVE_SQL
                           " LIMIT ?1) AS live",
                           MQ_ARGS(mq_int(most), mq_int(campaign->id)), live, err);
}

/* How many jobs to make. Those that wait for a later time do not keep others from being made,
 * unless they are very many. */
static enum mq_status find_room(struct mq_tx *tx, const struct mq_campaign *campaign, int64_t *room,
                                struct mq_error *err)
{
    int64_t due = 0, live = 0;
    MQ_TRY(mq_campaign_int(
        tx->queue,
        "SELECT count(*) FROM (SELECT 1 AS one FROM {t} WHERE " MQ_LIVE_SQL
        " AND next_attempt_at <= ?3 LIMIT ?1) AS due",
        MQ_ARGS(mq_int(MQ_CAMPAIGN_DUE), mq_int(campaign->id), mq_int(tx->now_s)), &due, err));
    *room = MQ_CAMPAIGN_DUE - due;
    if (*room > 0) {
        MQ_TRY(count_live(tx->queue, campaign, MQ_CAMPAIGN_LIVE, &live, err));
        *room = *room < MQ_CAMPAIGN_LIVE - live ? *room : MQ_CAMPAIGN_LIVE - live;
    }
    return MQ_OK;
}

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

/* The next recipients, and what their jobs have beside the campaign's columns. */
struct piece {
    int64_t to; /* its last recipient */
    int64_t expires_at;
    struct mq_notify notify;
};

static void write_or_null(struct mq_buffer *text, int64_t value)
{
    if (value) {
        mq_buffer_printf(text, "%" PRId64 ", ", value);
    } else {
        mq_buffer_cstr(text, "NULL, ");
    }
}

/* Writes the statement that makes the jobs. Numbers are in its text, because PostgreSQL takes a
 * parameter in a SELECT for a text. */
static void write_insert(struct mq_tx *tx, const struct mq_campaign *campaign,
                         const struct piece *piece, struct mq_buffer *text)
{
    mq_buffer_cstr(text, "INSERT INTO {t}(message_id, mail_type, envelope_from, relay, scope, "
                         "fields, recipients, cleared, campaign_id, recipient_id, status, "
                         "max_attempts, expires_at, priority, next_attempt_at, created_at) "
                         "SELECT {B}, ?7, address, cleared, campaign_id, id, 'pending', ");
    write_or_null(text, campaign->max_attempts);
    write_or_null(text, piece->expires_at);
    mq_buffer_printf(text,
                     "%d, %" PRId64 ", %" PRId64 " FROM {p} WHERE id > %" PRId64
                     " AND id <= %" PRId64 " ORDER BY id",
                     campaign->priority, tx->now_s, tx->now_s, campaign->fed_to, piece->to);
}

/* Makes the jobs of a piece; *fed says how many. */
static enum mq_status make_jobs(struct mq_tx *tx, const struct mq_campaign *campaign,
                                const struct piece *piece, int64_t *fed, struct mq_error *err)
{
    struct mq_str id = mq_str_of(campaign->message_id);
    const char *at = memchr(id.data, '@', id.len);
    size_t begin = at ? (size_t)(at - id.data) : id.len;
    struct mq_buffer text = {0}, first = {0}, fields = {0};
    mq_buffer_append(&first, id.data, begin);
    mq_buffer_char(&first, '.');
    write_insert(tx, campaign, piece, &text);
    if (mq_notify_asks(&piece->notify)) {
        mq_notify_write(&piece->notify, &fields);
    }
    struct mq_args args = MQ_ARGS(
        mq_text(mq_buffer_view(&first)), mq_text((struct mq_str){id.data + begin, id.len - begin}),
        mq_cstr(campaign->mail_type), mq_cstr(campaign->envelope_from), mq_cstr(campaign->relay),
        mq_cstr(campaign->scope), mq_text(mq_buffer_view(&fields)));
    enum mq_status status = text.failed || first.failed || fields.failed
                                ? mq_error_nomem(err)
                                : mq_sql_exec_text(tx->queue, text.data, args, err);
    *fed = mq_sql_changes(tx->queue);
    mq_buffer_clear(&text);
    mq_buffer_clear(&first);
    mq_buffer_clear(&fields);
    return status;
}

/* Makes no jobs for those that are left, because these would be deleted as expired at once. */
static enum mq_status skip_rest(struct mq_queue *queue, int64_t id, struct mq_error *err)
{
    return mq_sql_exec_text(queue,
                            "UPDATE {M} SET fed_to = last_id, fed = recipients WHERE id = ?1",
                            MQ_ARGS(mq_int(id)), err);
}

static enum mq_status feed_some(struct mq_tx *tx, const struct mq_campaign *campaign, int64_t room,
                                int64_t *fed, struct mq_error *err)
{
    struct piece next = {.to = 0};
    MQ_TRY(mq_campaign_terms(tx->queue, campaign->id, &next.expires_at, &next.notify, err));
    if (next.expires_at && next.expires_at <= tx->now_s) {
        *fed = 1; /* the next claim can end the campaign */
        return skip_rest(tx->queue, campaign->id, err);
    }
    MQ_TRY(piece_end(tx->queue, campaign, room, &next.to, err));
    MQ_TRY(make_jobs(tx, campaign, &next, fed, err));
    struct mq_args args = MQ_ARGS(mq_int(next.to), mq_int(*fed), mq_int(campaign->id));
    *fed = *fed > 0 ? *fed : 1; /* the last ones are erased: the next claim can end the campaign */
    return mq_sql_exec_text(tx->queue, "UPDATE {M} SET fed_to = ?1, fed = fed + ?2 WHERE id = ?3",
                            args, err);
}

/* ---- the end ---- */

/* Without any recipient a campaign goes on: they may still come, unless it expires. */
static enum mq_status may_end(struct mq_tx *tx, const struct mq_campaign *campaign, bool *may,
                              struct mq_error *err)
{
    int64_t expires_at = 0;
    MQ_TRY(campaign->recipients == 0
               ? mq_campaign_terms(tx->queue, campaign->id, &expires_at, NULL, err)
               : MQ_OK);
    *may = campaign->recipients > 0 || (expires_at > 0 && expires_at <= tx->now_s);
    return MQ_OK;
}

/* The last settled job ends the campaign, in the same transaction: this one has the row's lock, so
 * it sees what all others did. */
static enum mq_status end(struct mq_tx *tx, const struct mq_campaign *campaign,
                          struct mq_claim *claim, struct mq_error *err)
{
    bool may = false;
    MQ_TRY(may_end(tx, campaign, &may, err));
    if (!may) {
        return MQ_OK;
    }
    claim->finished = true;
    return mq_sql_exec_text(tx->queue,
                            "UPDATE {M} SET state = 'finished', finished_at = ?1 WHERE id = ?2",
                            MQ_ARGS(mq_int(tx->now_s), mq_int(campaign->id)), err);
}

/* Feeds or ends a campaign that runs. *fed > 0: the next claim can do more for it. */
static enum mq_status go_on(struct mq_tx *tx, const struct mq_campaign *campaign,
                            struct mq_claim *claim, int64_t *fed, struct mq_error *err)
{
    int64_t room = 0, live = 0;
    *fed = 0;
    if (campaign->fed_to < campaign->last_id) {
        MQ_TRY(find_room(tx, campaign, &room, err));
        return room > 0 ? feed_some(tx, campaign, room, fed, err) : MQ_OK;
    }
    MQ_TRY(count_live(tx->queue, campaign, 1, &live, err));
    return live == 0 ? end(tx, campaign, claim, err) : MQ_OK;
}

/* Counts those that start at `to` at the latest. */
static enum mq_status count_running(struct mq_queue *queue, int64_t to, int64_t *running,
                                    struct mq_error *err)
{
    return mq_campaign_int(queue,
                           "SELECT count(*) FROM {M} WHERE state = 'running' AND start_at <= ?1",
                           MQ_ARGS(mq_int(to)), running, err);
}

/* Another run may be feeding a campaign, which mq_campaigns_find() skips then. So a claim that
 * found nothing is not the last one. */
static enum mq_status wait_for_others(struct mq_tx *tx, int64_t found, struct mq_claim *claim,
                                      struct mq_error *err)
{
    int64_t running = 0;
    MQ_TRY(count_running(tx->queue, tx->now_s, &running, err));
    if (running > found) {
        claim->end = MQ_CLAIM_LIMIT;
    }
    return MQ_OK;
}

/* Has claims feed no campaign any more if none runs. The key is locked first: a start that has not
 * been committed yet sets it again afterwards. */
static enum mq_status switch_off(struct mq_queue *queue, struct mq_error *err)
{
    int64_t running = 0;
    char *on = NULL;
    MQ_TRY(mq_config_lock(queue, mq_config_keys[MQ_KEY_CAMPAIGNS].name, &on, err));
    free(on);
    MQ_TRY(count_running(queue, INT64_MAX, &running, err));
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
    int64_t begun = 0;
    for (size_t i = 0; i < running->count; i++) {
        const struct mq_campaign *campaign = &running->items[i];
        int64_t fed = 0;
        if (campaign->start_at > tx->now_s) {
            note_start(claim, campaign->start_at);
        } else {
            begun++;
            MQ_TRY(go_on(tx, campaign, claim, &fed, err));
        }
        any = any || fed > 0;
    }
    if (any && claim->end == MQ_CLAIM_EMPTY) {
        claim->end = MQ_CLAIM_MORE;
    }
    if (claim->end == MQ_CLAIM_EMPTY && tx->queue->dialect->shared) {
        MQ_TRY(wait_for_others(tx, begun, claim, err));
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
