/* The recipients of campaigns. A recipient is there once for each campaign, by a keyed hash of its
 * address; so the same list can be added again after it broke off. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "core/json.h"
#include "db/db.h"
#include "queue/campaign/internal.h"
#include "queue/handle.h"
#include "queue/job.h"
#include "queue/manage.h"
#include "queue/sql/transaction.h"
#include "queue/suppress/suppress.h"

/* The slot after the queue's own statements. */
#define INSERT_SLOT      MQ_SQL_COUNT
#define ROWS_A_STATEMENT 200
_Static_assert(MQ_SQL_COUNT < MQ_DB_SLOTS, "no slot is left for recipients");

#define INTO "INSERT INTO {p}(id, campaign_id, hash, cleared, address, name, fields) VALUES "

/* ---- adding ---- */

/* Recipients of one transaction. */
struct adding {
    struct mq_queue *queue;
    const struct mq_campaign *campaign;
    const struct mq_recipient *items;
    struct mq_suppress_check *checks;
    size_t count;
    int64_t newest; /* suppression */
    struct mq_buffer address;
};

/* The address as the job's column of recipients has it. */
static void write_address(struct mq_buffer *out, struct mq_str address)
{
    mq_buffer_reset(out);
    mq_buffer_char(out, '[');
    mq_json_string(out, address);
    mq_buffer_char(out, ']');
}

static struct mq_value or_null(struct mq_str text)
{
    return text.len ? mq_text(text) : mq_null();
}

static int64_t cleared(const struct adding *a, size_t i)
{
    return a->checks[i].found ? 0 : a->newest;
}

/* In a file: one prepared statement for each. */
static enum mq_status insert_each(struct adding *a, struct mq_error *err)
{
    struct mq_queue *queue = a->queue;
    char *sql =
        mq_sql_expand(queue->dialect, &queue->names, INTO "(?1, ?2, ?3, ?4, ?5, ?6, ?7){Q}");
    enum mq_status status = sql ? MQ_OK : mq_error_nomem(err);
    int64_t id = a->campaign->last_id;
    for (size_t i = 0; i < a->count && status == MQ_OK; i++) {
        write_address(&a->address, a->items[i].address);
        struct mq_value values[] = {mq_int(id + 1),
                                    mq_int(a->campaign->id),
                                    mq_int((int64_t)a->checks[i].hash),
                                    mq_int_or_null(cleared(a, i)),
                                    mq_text(mq_buffer_view(&a->address)),
                                    or_null(a->items[i].name),
                                    or_null(a->items[i].fields)};
        struct mq_query query = {INSERT_SLOT, sql, values, 7};
        status = a->address.failed ? mq_error_nomem(err) : mq_db_exec(queue->db, &query, err);
        id += status == MQ_OK && mq_sql_changes(queue) > 0;
    }
    free(sql);
    return status;
}

/* Writes "(id, campaign, hash, cleared, ?, ?, ?)" for recipient i. */
static bool write_values(struct adding *a, size_t i, struct mq_buffer *text,
                         struct mq_value *values, int *n)
{
    int64_t id = a->campaign->last_id + 1 + (int64_t)i, known = cleared(a, i);
    mq_buffer_printf(text, "%s(%" PRId64 ", %" PRId64 ", %" PRId64 ", ", *n ? ", " : INTO, id,
                     a->campaign->id, (int64_t)a->checks[i].hash);
    mq_buffer_cstr(text, known ? "" : "NULL");
    if (known) {
        mq_buffer_int(text, known);
    }
    mq_buffer_printf(text, ", ?%d, ?%d, ?%d)", *n + 1, *n + 2, *n + 3);
    write_address(&a->address, a->items[i].address);
    char *address = mq_buffer_take(&a->address); /* freed with the statement */
    values[(*n)++] = mq_cstr(address);
    values[(*n)++] = or_null(a->items[i].name);
    values[(*n)++] = or_null(a->items[i].fields);
    return address != NULL;
}

/* On a server, where each statement is a round trip: many rows with one. */
static enum mq_status insert_some(struct adding *a, size_t from, size_t to, struct mq_error *err)
{
    struct mq_value values[3 * ROWS_A_STATEMENT];
    struct mq_buffer text = {0};
    bool ok = true;
    int n = 0;
    for (size_t i = from; i < to && ok; i++) {
        ok = write_values(a, i, &text, values, &n);
    }
    mq_buffer_cstr(&text, "{Q}");
    enum mq_status status =
        ok && !text.failed ? mq_sql_exec_text(a->queue, text.data, (struct mq_args){values, n}, err)
                           : mq_error_nomem(err);
    for (int i = 0; i < n; i += 3) {
        free((char *)values[i].s.data);
    }
    mq_buffer_clear(&text);
    return status;
}

static enum mq_status insert_many(struct adding *a, struct mq_error *err)
{
    for (size_t i = 0; i < a->count; i += ROWS_A_STATEMENT) {
        size_t to = i + ROWS_A_STATEMENT < a->count ? i + ROWS_A_STATEMENT : a->count;
        MQ_TRY(insert_some(a, i, to, err));
    }
    return MQ_OK;
}

/* Counts the new rows in the table: databases disagree on how many an INSERT that leaves some out
 * has changed. */
static enum mq_status count_added(struct adding *a, int64_t *added, struct mq_error *err)
{
    int64_t before = a->campaign->last_id, last = before;
    struct mq_args range = MQ_ARGS(mq_int(before), mq_int(before + (int64_t)a->count));
    *added = 0;
    MQ_TRY(mq_campaign_int(a->queue, "SELECT count(*) FROM {p} WHERE id > ?1 AND id <= ?2", range,
                           added, err));
    MQ_TRY(mq_campaign_int(a->queue, "SELECT max(id) FROM {p} WHERE id > ?1 AND id <= ?2", range,
                           &last, err));
    return mq_sql_exec_text(
        a->queue, "UPDATE {M} SET recipients = recipients + ?1, last_id = ?2 WHERE id = ?3",
        MQ_ARGS(mq_int(*added), mq_int(last), mq_int(a->campaign->id)), err);
}

static enum mq_status insert(struct mq_tx *tx, struct adding *a, int64_t *added,
                             struct mq_error *err)
{
    struct mq_str scope = mq_str_of(a->campaign->scope);
    for (size_t i = 0; i < a->count; i++) {
        a->checks[i].address = a->items[i].address;
    }
    struct mq_suppress_checks checks = {scope, a->checks, a->count, 0};
    MQ_TRY(mq_suppress_check(tx, &checks, err));
    a->newest = checks.newest;
    MQ_TRY(a->queue->dialect->shared ? insert_many(a, err) : insert_each(a, err));
    return count_added(a, added, err);
}

static enum mq_status add(struct mq_tx *tx, int64_t id, struct adding *a, int64_t *added,
                          struct mq_error *err)
{
    struct mq_campaign campaign = {0};
    MQ_TRY(mq_campaign_lock(tx->queue, id, &campaign, err));
    a->campaign = &campaign;
    enum mq_status status =
        campaign.state != MQ_CAMPAIGN_CANCELLED
            ? insert(tx, a, added, err)
            : mq_error_set(err, MQ_CONFIG, "state",
                           "the campaign is cancelled: it takes no recipients any more, make "
                           "another");
    if (status == MQ_OK && *added > 0 && campaign.state == MQ_CAMPAIGN_FINISHED) {
        status = mq_campaign_run_again(tx->queue, id, err);
    }
    mq_campaign_clear(&campaign);
    return status;
}

static int64_t held_ms(const struct mq_tx *tx)
{
    const struct mq_clock *host = &tx->queue->host;
    return tx->locked_ms ? host->boot_ms(host->context) - tx->locked_ms : 0;
}

enum mq_status mq_campaign_add(struct mq_queue *queue, int64_t id,
                               const struct mq_recipients *recipients,
                               struct mq_campaign_added *added, struct mq_error *err)
{
    struct mq_tx tx = {.queue = queue};
    size_t count = recipients->count;
    struct adding a = {.queue = queue, .items = recipients->items, .count = count};
    *added = (struct mq_campaign_added){0};
    a.checks = count ? calloc(count, sizeof(*a.checks)) : NULL;
    if (!a.checks) {
        return count ? mq_error_nomem(err) : MQ_OK;
    }
    enum mq_status status = MQ_OK;
    while (mq_tx_next(&tx, &status, err)) {
        status = add(&tx, id, &a, &added->count, err);
        added->ms = held_ms(&tx);
    }
    mq_buffer_clear(&a.address);
    free(a.checks);
    return status;
}

/* ---- erasing ---- */

/* The campaign's row is changed first: a claim that makes the job meanwhile holds its lock. */
static enum mq_status erase(struct mq_queue *queue, int64_t id, struct mq_error *err)
{
    MQ_TRY(mq_sql_exec_text(
        queue, "UPDATE {M} SET recipients = recipients - 1 WHERE id = ?1 AND fed_to < ?2",
        MQ_ARGS(mq_int(id / MQ_RECIPIENT_IDS), mq_int(id)), err));
    return mq_sql_exec_text(queue, "DELETE FROM {p} WHERE id = ?1", MQ_ARGS(mq_int(id)), err);
}

enum mq_status mq_campaign_erase(struct mq_queue *queue, const struct mq_ids *ids,
                                 struct mq_error *err)
{
    struct mq_tx tx = {.queue = queue};
    enum mq_status status = MQ_OK;
    while (mq_tx_next(&tx, &status, err)) {
        for (size_t i = 0; i < ids->count && status == MQ_OK; i++) {
            status = erase(queue, ids->items[i], err);
        }
    }
    return status;
}

/* ---- finding one ---- */

void mq_recipient_row_clear(struct mq_recipient_row *row)
{
    free(row->address);
    free(row->name);
    free(row->fields);
    *row = (struct mq_recipient_row){0};
}

static char *copy(struct mq_str text)
{
    return text.data ? mq_str_dup(text) : NULL;
}

/* Reads the row at hand: id, address, name, fields. */
static enum mq_status take_row(struct mq_queue *queue, struct mq_recipient_row *out,
                               struct mq_error *err)
{
    struct mq_strings list = {0};
    struct mq_str name = mq_sql_column_str(queue, 2), fields = mq_sql_column_str(queue, 3);
    out->id = mq_sql_column_int(queue, 0);
    bool ok = mq_json_read(mq_sql_column_str(queue, 1), '[', &list) == MQ_OK && list.count == 1;
    out->address = ok ? mq_str_dup(mq_str_of(list.items[0])) : NULL;
    out->name = copy(name);
    out->fields = copy(fields);
    mq_strings_clear(&list);
    return out->address && (out->name || !name.data) && (out->fields || !fields.data)
               ? MQ_OK
               : mq_error_nomem(err);
}

enum mq_status mq_campaign_find(struct mq_queue *queue, int64_t id, struct mq_str address,
                                struct mq_recipient_row *out, struct mq_error *err)
{
    struct mq_tx reads = {.queue = queue};
    struct mq_suppress_check check = {.address = address};
    struct mq_suppress_checks one = {.items = &check, .count = 1};
    struct mq_args first =
        MQ_ARGS(mq_int(id * MQ_RECIPIENT_IDS), mq_int((id + 1) * MQ_RECIPIENT_IDS));
    *out = (struct mq_recipient_row){0};
    if (address.data) {
        MQ_TRY(mq_suppress_check(&reads, &one, err));
    }
    enum mq_status status =
        address.data ? mq_sql_query_template(queue,
                                             "SELECT id, address, name, fields FROM {p} "
                                             "WHERE campaign_id = ?1 AND hash = ?2",
                                             MQ_ARGS(mq_int(id), mq_int((int64_t)check.hash)), err)
                     : mq_sql_query_template(queue,
                                             "SELECT id, address, name, fields FROM {p} "
                                             "WHERE id > ?1 AND id < ?2 ORDER BY id LIMIT 1",
                                             first, err);
    while (mq_sql_next(queue, &status, err)) {
        status = take_row(queue, out, err);
    }
    return status;
}

/* ---- for jobs ---- */

static struct mq_job *find_job(struct mq_job *const *jobs, size_t count, int64_t recipient_id)
{
    for (size_t i = 0; i < count; i++) {
        if (jobs[i]->recipient_id == recipient_id && jobs[i]->body_state == MQ_BODY_LOST) {
            return jobs[i];
        }
    }
    return NULL;
}

/* Takes the row at hand: id, name, fields. Until then the job's message counts as lost. */
static enum mq_status take_data(struct mq_queue *queue, struct mq_job *job, struct mq_error *err)
{
    struct mq_str name = mq_sql_column_str(queue, 1), fields = mq_sql_column_str(queue, 2);
    free(job->recipient_name);
    free(job->recipient_fields);
    job->recipient_name = copy(name);
    job->recipient_fields = copy(fields);
    job->body_state = MQ_BODY_NONE;
    return (job->recipient_name || !name.data) && (job->recipient_fields || !fields.data)
               ? MQ_OK
               : mq_error_nomem(err);
}

enum mq_status mq_campaign_read_jobs(struct mq_queue *queue, struct mq_job *const *jobs,
                                     size_t count, struct mq_error *err)
{
    struct mq_buffer text = {0};
    for (size_t i = 0; i < count; i++) {
        if (jobs[i]->campaign_id && jobs[i]->body_state == MQ_BODY_UNKNOWN) {
            jobs[i]->body_state = MQ_BODY_LOST;
            mq_buffer_printf(&text, "%s%" PRId64,
                             text.len ? "," : "SELECT id, name, fields FROM {p} WHERE id IN (",
                             jobs[i]->recipient_id);
        }
    }
    if (text.len == 0 && !text.failed) {
        return MQ_OK;
    }
    mq_buffer_char(&text, ')');
    enum mq_status status = text.failed ? mq_error_nomem(err)
                                        : mq_sql_query_template(queue, text.data, MQ_NO_ARGS, err);
    mq_buffer_clear(&text);
    while (mq_sql_next(queue, &status, err)) {
        struct mq_job *job = find_job(jobs, count, mq_sql_column_int(queue, 0));
        status = job ? take_data(queue, job, err) : MQ_OK;
    }
    for (size_t i = 0; i < count && status != MQ_OK; i++) {
        bool unread = jobs[i]->campaign_id && jobs[i]->body_state == MQ_BODY_LOST;
        jobs[i]->body_state = unread ? MQ_BODY_UNKNOWN : jobs[i]->body_state;
    }
    return status;
}
