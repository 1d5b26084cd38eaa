/* Rows of campaigns: reads them, creates drafts, sets their message. The message is in the table of
 * bodies, under the campaign's id with a minus: a campaign's row is written again with each claim.
 * A line before its octets has the terms of its mails, unless there are none: when they expire, or
 * 0, and what a job's column `fields` has. So it begins with a digit, which no message does. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "core/ascii.h"
#include "mime/notify.h"
#include "queue/campaign/internal.h"
#include "queue/config/keys.h"
#include "queue/enqueue.h"
#include "queue/handle.h"
#include "queue/queue.h"
#include "queue/sql/schema.h"
#include "queue/sql/transaction.h"
#include "queue/suppress/suppress.h"

static const char *const states[MQ_CAMPAIGN_STATES] = {
    [MQ_CAMPAIGN_DRAFT] = "draft",       [MQ_CAMPAIGN_RUNNING] = "running",
    [MQ_CAMPAIGN_PAUSED] = "paused",     [MQ_CAMPAIGN_CANCELLED] = "cancelled",
    [MQ_CAMPAIGN_FINISHED] = "finished",
};

const char *mq_campaign_state_name(enum mq_campaign_state state)
{
    return states[state];
}

/* ---- rows ---- */

#define COLUMNS                                                                              \
    "id, name, state, mail_type, priority, max_attempts, message_id, envelope_from, relay, " \
    "scope, list_url, start_at, created_at, started_at, finished_at, on_finished, last_id, " \
    "fed_to, recipients, fed, sent, suppressed, uncertain"

void mq_campaign_clear(struct mq_campaign *campaign)
{
    free(campaign->name);
    free(campaign->mail_type);
    free(campaign->message_id);
    free(campaign->envelope_from);
    free(campaign->relay);
    free(campaign->scope);
    free(campaign->list_url);
    free(campaign->on_finished);
    *campaign = (struct mq_campaign){0};
}

void mq_campaigns_found_clear(struct mq_campaigns_found *list)
{
    for (size_t i = 0; i < list->count; i++) {
        mq_campaign_clear(&list->items[i]);
    }
    free(list->items);
    *list = (struct mq_campaigns_found){0};
}

/* Copies a text; false without memory. */
static bool take_text(struct mq_queue *queue, int column, char **out)
{
    struct mq_str text = mq_sql_column_str(queue, column);
    *out = text.data ? mq_str_dup(text) : NULL;
    return !text.data || *out;
}

static bool take_texts(struct mq_queue *queue, struct mq_campaign *out)
{
    return take_text(queue, 1, &out->name) && take_text(queue, 3, &out->mail_type) &&
           take_text(queue, 6, &out->message_id) && take_text(queue, 7, &out->envelope_from) &&
           take_text(queue, 8, &out->relay) && take_text(queue, 9, &out->scope) &&
           take_text(queue, 10, &out->list_url) && take_text(queue, 15, &out->on_finished);
}

static void take_numbers(struct mq_queue *queue, struct mq_campaign *out)
{
    out->id = mq_sql_column_int(queue, 0);
    out->priority = (int)mq_sql_column_int(queue, 4);
    out->max_attempts = (int)mq_sql_column_int(queue, 5);
    int64_t *const times[] = {&out->start_at, &out->created_at, &out->started_at,
                              &out->finished_at};
    int64_t *const counts[] = {&out->last_id, &out->fed_to,     &out->recipients, &out->fed,
                               &out->sent,    &out->suppressed, &out->uncertain};
    for (int i = 0; i < 4; i++) {
        *times[i] = mq_sql_column_int(queue, 11 + i);
    }
    for (int i = 0; i < 7; i++) {
        *counts[i] = mq_sql_column_int(queue, 16 + i);
    }
    int64_t before = out->id * MQ_RECIPIENT_IDS; /* the first recipient: 0 is before another's */
    out->last_id = out->last_id > before ? out->last_id : before;
    out->fed_to = out->fed_to > before ? out->fed_to : before;
}

static enum mq_status take_state(struct mq_queue *queue, struct mq_campaign *out,
                                 struct mq_error *err)
{
    struct mq_str state = mq_sql_column_str(queue, 2);
    for (int i = 0; i < MQ_CAMPAIGN_STATES; i++) {
        if (mq_str_equal(state, mq_str_of(states[i]))) {
            out->state = (enum mq_campaign_state)i;
            return MQ_OK;
        }
    }
    return mq_error_set(err, MQ_SCHEMA, "state",
                        "campaign %lld has an unknown state: a newer version wrote it, or another "
                        "program; upgrade the extension or correct the row",
                        (long long)out->id);
}

static enum mq_status take_row(struct mq_queue *queue, struct mq_campaigns_found *list,
                               struct mq_error *err)
{
    struct mq_campaign *items = realloc(list->items, (list->count + 1) * sizeof(*items));
    if (!items) {
        return mq_error_nomem(err);
    }
    list->items = items;
    struct mq_campaign *row = &items[list->count++];
    *row = (struct mq_campaign){0};
    take_numbers(queue, row);
    return take_texts(queue, row) ? take_state(queue, row, err) : mq_error_nomem(err);
}

enum mq_status mq_campaigns_find(struct mq_queue *queue, const char *tail, struct mq_args args,
                                 struct mq_campaigns_found *out, struct mq_error *err)
{
    struct mq_buffer text = {0};
    mq_buffer_printf(&text, "SELECT " COLUMNS " FROM {M} WHERE %s", tail);
    enum mq_status status =
        text.failed ? mq_error_nomem(err) : mq_sql_query_template(queue, text.data, args, err);
    mq_buffer_clear(&text);
    while (mq_sql_next(queue, &status, err)) {
        status = take_row(queue, out, err);
    }
    return status;
}

static enum mq_status read_one(struct mq_queue *queue, int64_t id, const char *tail,
                               struct mq_campaign *out, struct mq_error *err)
{
    struct mq_campaigns_found list = {0};
    enum mq_status status = mq_campaigns_find(queue, tail, MQ_ARGS(mq_int(id)), &list, err);
    if (status == MQ_OK && list.count == 0) {
        status = mq_error_set(err, MQ_INVALID, "campaign",
                              "campaign %lld does not exist (any more), or was created after this "
                              "transaction began to read: open it by its name, in a new one",
                              (long long)id);
    }
    if (status == MQ_OK) {
        *out = list.items[0];
        list.items[0] = (struct mq_campaign){0};
    }
    mq_campaigns_found_clear(&list);
    return status;
}

enum mq_status mq_campaign_lock(struct mq_queue *queue, int64_t id, struct mq_campaign *out,
                                struct mq_error *err)
{
    return read_one(queue, id, "id = ?1{u}", out, err);
}

enum mq_status mq_campaign_read(struct mq_queue *queue, int64_t id, struct mq_campaign *out,
                                struct mq_error *err)
{
    *out = (struct mq_campaign){0};
    MQ_TRY(mq_schema_check(queue, err));
    return read_one(queue, id, "id = ?1", out, err);
}

/* ---- drafts ---- */

static enum mq_status check_name(struct mq_str name, struct mq_error *err)
{
    bool ok = name.len > 0 && name.len <= MQ_CAMPAIGN_NAME_MAX && mq_utf8_valid(name);
    for (size_t at = 0, step; ok && at < name.len; at += step) {
        uint32_t code = 0;
        step = mq_utf8_next((struct mq_str){name.data + at, name.len - at}, &code);
        ok = !mq_utf8_steers(code);
    }
    return ok ? MQ_OK
              : mq_error_set(err, MQ_INVALID, "name",
                             "name must have 1 to %d octets of UTF-8 without control characters",
                             MQ_CAMPAIGN_NAME_MAX);
}

/* `text`: the query for the id of the campaign with this name. */
static enum mq_status find_name(struct mq_queue *queue, const char *text, struct mq_str name,
                                int64_t *id, struct mq_error *err)
{
    *id = 0;
    return mq_campaign_int(queue, text, MQ_ARGS(mq_text(name)), id, err);
}

#define ID_OF_NAME "SELECT id FROM {M} WHERE name = ?1"

/* Another process can create it at the same time: then this inserts nothing. MariaDB does not show
 * that row to a transaction of the application that has read before, unless it is locked. */
static enum mq_status create(struct mq_tx *tx, struct mq_str name, int64_t *id,
                             struct mq_error *err)
{
    struct mq_buffer scope = {0};
    mq_buffer_cstr(&scope, MQ_SCOPE_OF_CAMPAIGN);
    mq_buffer_str(&scope, name);
    struct mq_args args =
        MQ_ARGS(mq_text(name), mq_text(mq_buffer_view(&scope)), mq_int(tx->now_s));
    enum mq_status status =
        scope.failed ? mq_error_nomem(err)
                     : mq_sql_exec_text(tx->queue,
                                        "INSERT INTO {M}(name, state, mail_type, priority, scope, "
                                        "created_at, last_id, fed_to) VALUES "
                                        "(?1, 'draft', 'campaign', 0, ?2, ?3, 0, 0){Q}",
                                        args, err);
    mq_buffer_clear(&scope);
    return status == MQ_OK ? find_name(tx->queue, ID_OF_NAME "{u}", name, id, err) : status;
}

enum mq_status mq_campaign_open(struct mq_queue *queue, struct mq_str name, int64_t *id,
                                struct mq_error *err)
{
    struct mq_tx tx = {.queue = queue};
    MQ_TRY(check_name(name, err));
    MQ_TRY(mq_schema_check(queue, err));
    enum mq_status status = find_name(queue, ID_OF_NAME, name, id, err);
    if (*id != 0) {
        return status;
    }
    while (mq_tx_next(&tx, &status, err)) {
        status = create(&tx, name, id, err);
    }
    return status;
}

/* ---- the message ---- */

static enum mq_status check_setup(const struct mq_campaign_setup *setup, struct mq_error *err)
{
    struct mq_buffer scope = {0};
    if (setup->list.data) {
        mq_buffer_cstr(&scope, MQ_SCOPE_OF_LIST);
        mq_buffer_str(&scope, setup->list);
    }
    struct mq_new_job job = {.mail_type = setup->mail_type,
                             .priority = setup->priority,
                             .expires_at = setup->expires_at,
                             .max_attempts = setup->max_attempts,
                             .message_id = setup->message_id,
                             .envelope_from = setup->envelope_from,
                             .relay = setup->relay,
                             .scope = mq_buffer_view(&scope)};
    enum mq_status status = scope.failed ? mq_error_nomem(err) : mq_new_job_check(&job, err);
    mq_buffer_clear(&scope);
    return status;
}

static void write_terms(const struct mq_campaign_setup *setup, struct mq_buffer *out)
{
    bool asks = setup->notify && mq_notify_asks(setup->notify);
    if (setup->expires_at || asks) {
        mq_buffer_printf(out, "%" PRId64 " ", setup->expires_at);
        if (asks) {
            mq_notify_write(setup->notify, out);
        }
        mq_buffer_char(out, '\n');
    }
}

static enum mq_status write_message(struct mq_queue *queue, int64_t id,
                                    const struct mq_campaign_setup *setup, struct mq_error *err)
{
    struct mq_buffer content = {0};
    write_terms(setup, &content);
    mq_buffer_str(&content, setup->message);
    enum mq_status status = content.failed
                                ? mq_error_nomem(err)
                                : mq_sql_exec(queue, MQ_SQL_DELETE_BODY, MQ_ARGS(mq_int(-id)), err);
    if (status == MQ_OK) {
        status = mq_sql_exec(queue, MQ_SQL_INSERT_BODY,
                             MQ_ARGS(mq_int(-id), mq_blob(mq_buffer_view(&content))), err);
    }
    mq_buffer_clear(&content);
    return status;
}

/* Those that were added before were looked up for another list: claims look them up again. */
static enum mq_status forget_lookups(struct mq_queue *queue, int64_t id, struct mq_error *err)
{
    return mq_sql_exec_text(
        queue, "UPDATE {p} SET cleared = NULL WHERE id > ?1 AND id < ?2 AND cleared IS NOT NULL",
        MQ_ARGS(mq_int(id * MQ_RECIPIENT_IDS), mq_int((id + 1) * MQ_RECIPIENT_IDS)), err);
}

static enum mq_status write_setup(struct mq_queue *queue, const struct mq_campaign *campaign,
                                  const struct mq_campaign_setup *setup, struct mq_error *err)
{
    struct mq_buffer scope = {0};
    bool listed = setup->list.data != NULL;
    mq_buffer_cstr(&scope, listed ? MQ_SCOPE_OF_LIST : MQ_SCOPE_OF_CAMPAIGN);
    mq_buffer_str(&scope, listed ? setup->list : mq_str_of(campaign->name));
    struct mq_args args =
        MQ_ARGS(mq_int(campaign->id), mq_text(setup->mail_type), mq_int(setup->priority),
                mq_int_or_null(setup->max_attempts), mq_cstr(setup->message_id),
                mq_cstr(setup->envelope_from), mq_text(setup->relay),
                mq_text(mq_buffer_view(&scope)), mq_text(setup->list_url));
    enum mq_status status =
        scope.failed
            ? mq_error_nomem(err)
            : mq_sql_exec_text(queue,
                               "UPDATE {M} SET mail_type = ?2, priority = ?3, max_attempts = ?4, "
                               "message_id = ?5, envelope_from = ?6, relay = ?7, scope = ?8, "
                               "list_url = ?9 WHERE id = ?1",
                               args, err);
    if (status == MQ_OK && !mq_str_equal(mq_buffer_view(&scope), mq_str_of(campaign->scope))) {
        status = forget_lookups(queue, campaign->id, err);
    }
    mq_buffer_clear(&scope);
    return status;
}

static enum mq_status set(struct mq_tx *tx, int64_t id, const struct mq_campaign_setup *setup,
                          struct mq_error *err)
{
    struct mq_campaign campaign = {0};
    MQ_TRY(mq_campaign_lock(tx->queue, id, &campaign, err));
    enum mq_status status =
        campaign.state == MQ_CAMPAIGN_DRAFT
            ? write_setup(tx->queue, &campaign, setup, err)
            : mq_error_set(err, MQ_CONFIG, "message",
                           "the campaign is %s: its message can be set before it starts",
                           mq_campaign_state_name(campaign.state));
    mq_campaign_clear(&campaign);
    return status == MQ_OK ? write_message(tx->queue, id, setup, err) : status;
}

enum mq_status mq_campaign_set(struct mq_queue *queue, int64_t id,
                               const struct mq_campaign_setup *setup, struct mq_error *err)
{
    struct mq_tx tx = {.queue = queue};
    enum mq_status status = check_setup(setup, err);
    while (mq_tx_next(&tx, &status, err)) {
        status = set(&tx, id, setup, err);
    }
    return status;
}

/* Cuts the line of terms off, without its line end; it is empty if there is none. */
static struct mq_str cut_terms(struct mq_str *content)
{
    struct mq_str none = {NULL, 0};
    bool has = content->len > 0 && mq_is_digit(content->data[0]);
    return has ? mq_str_cut_at(content, '\n') : none;
}

enum mq_status mq_campaign_load(struct mq_queue *queue, int64_t id, struct mq_buffer *out,
                                struct mq_error *err)
{
    enum mq_status status;
    if (mq_sql_row(queue, MQ_SQL_BODY, MQ_ARGS(mq_int(-id)), &status, err)) {
        struct mq_str content = mq_sql_column_str(queue, 0);
        cut_terms(&content);
        mq_buffer_str(out, content);
        mq_sql_finish(queue);
    }
    return status == MQ_OK && out->failed ? mq_error_nomem(err) : status;
}

/* Takes only as much as terms can have: a message can have attachments of many MB. */
enum mq_status mq_campaign_terms(struct mq_queue *queue, int64_t id, int64_t *expires_at,
                                 struct mq_notify *notify, struct mq_error *err)
{
    struct mq_notify unused;
    notify = notify ? notify : &unused;
    *expires_at = 0;
    *notify = (struct mq_notify){0};
    enum mq_status status = mq_sql_query_template(
        queue, "SELECT substr(content, 1, 500) FROM {b} WHERE id = ?1", MQ_ARGS(mq_int(-id)), err);
    while (mq_sql_next(queue, &status, err)) {
        struct mq_str content = mq_sql_column_str(queue, 0);
        struct mq_str terms = cut_terms(&content);
        mq_config_parse_int(mq_str_cut_at(&terms, ' '), expires_at);
        status = mq_notify_read(terms, notify, err);
    }
    return status;
}

enum mq_status mq_campaign_check_expiry(struct mq_queue *queue, int64_t id, int64_t start_at,
                                        struct mq_error *err)
{
    int64_t now_s = 0, expires_at;
    MQ_TRY(mq_queue_now(queue, &now_s, err));
    MQ_TRY(mq_campaign_terms(queue, id, &expires_at, NULL, err));
    return expires_at == 0 || expires_at > (start_at > now_s ? start_at : now_s)
               ? MQ_OK
               : mq_error_set(err, MQ_CONFIG, "expiresAt",
                              "expiresAt: the campaign's mails expire before they could be sent; "
                              "set its message with a later time, or make another campaign");
}
