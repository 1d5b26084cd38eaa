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

#define COLUMNS   7
#define ROWS_MAX  500 /* of a statement on a server: its values take several times their octets */
#define FILE_ROWS 50

/* ---- adding ---- */

/* Recipients of one transaction. */
struct adding {
    struct mq_queue *queue;
    const struct mq_campaign *campaign;
    const struct mq_recipient *items;
    struct mq_suppress_check *checks;
    size_t count;
    int64_t newest;             /* suppression */
    struct mq_buffer addresses; /* of the rows of a statement, and their values: */
    struct mq_value *values;
};

/* Appends the address as the job's column of recipients has it. */
static struct mq_str write_address(struct adding *a, size_t i)
{
    size_t begin = a->addresses.len;
    mq_buffer_char(&a->addresses, '[');
    mq_json_string(&a->addresses, a->items[i].address);
    mq_buffer_char(&a->addresses, ']');
    return (struct mq_str){a->addresses.data + begin, a->addresses.len - begin};
}

static struct mq_value or_null(struct mq_str text)
{
    return text.len ? mq_text(text) : mq_null();
}

static int64_t cleared(const struct adding *a, size_t i)
{
    return a->checks[i].found ? 0 : a->newest;
}

/* Makes room for the addresses of some, so that views of those that are written stay valid. */
static void reserve(struct adding *a, size_t from, size_t to)
{
    size_t octets = 0;
    for (size_t i = from; i < to; i++) {
        octets += sizeof("[\"\"]") + 6 * a->items[i].address.len; /* \u0000 */
    }
    mq_buffer_reset(&a->addresses);
    mq_buffer_reserve(&a->addresses, octets);
}

static enum mq_status insert_some(struct adding *a, size_t from, size_t to, struct mq_error *err)
{
    struct mq_args args = {a->values, (int)(to - from) * COLUMNS};
    struct mq_value *next = a->values;
    reserve(a, from, to);
    for (size_t i = from; i < to; i++, next += COLUMNS) {
        const struct mq_value row[COLUMNS] = {mq_int(a->campaign->last_id + 1 + (int64_t)i),
                                              mq_int(a->campaign->id),
                                              mq_int((int64_t)a->checks[i].hash),
                                              mq_int_or_null(cleared(a, i)),
                                              mq_text(write_address(a, i)),
                                              or_null(a->items[i].name),
                                              or_null(a->items[i].fields)};
        memcpy(next, row, sizeof(row));
    }
    return a->addresses.failed
               ? mq_error_nomem(err)
               : mq_sql_insert_rows(a->queue, MQ_SQL_RECIPIENT_ADD, args, (int)(to - from), err);
}

static enum mq_status insert_all(struct adding *a, struct mq_error *err)
{
    size_t step = a->queue->dialect->shared ? ROWS_MAX : FILE_ROWS;
    for (size_t i = 0; i < a->count; i += step) {
        MQ_TRY(insert_some(a, i, i + step < a->count ? i + step : a->count, err));
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
    struct mq_suppress_checks checks = {scope, a->campaign->id, a->checks, a->count, 0};
    MQ_TRY(mq_suppress_check(tx, &checks, err));
    a->newest = tx->joined ? 0 : checks.newest; /* an older snapshot may lack suppressions */
    MQ_TRY(insert_all(a, err));
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

enum mq_status mq_campaign_add(struct mq_queue *queue, int64_t id, struct mq_recipients *all,
                               struct mq_error *err)
{
    struct mq_tx tx = {.queue = queue};
    struct adding a = {.queue = queue, .items = all->items, .count = all->count};
    all->added = all->held_ms = all->locked_ms = 0;
    if (a.count == 0) {
        return MQ_OK;
    }
    a.checks = calloc(a.count, sizeof(*a.checks));
    a.values = calloc(ROWS_MAX * COLUMNS, sizeof(*a.values));
    enum mq_status status = a.checks && a.values ? MQ_OK : mq_error_nomem(err);
    while (mq_tx_next(&tx, &status, err)) {
        status = add(&tx, id, &a, &all->added, err);
        all->held_ms = held_ms(&tx);
    }
    all->locked_ms = held_ms(&tx);
    mq_buffer_clear(&a.addresses);
    free(a.values);
    free(a.checks);
    return status;
}

/* ---- erasing ---- */

/* The campaign's row is locked first, as by a claim that makes the job meanwhile. */
static enum mq_status erase(struct mq_queue *queue, int64_t id, struct mq_error *err)
{
    int64_t campaign = id / MQ_RECIPIENT_IDS, fed_to = 0;
    MQ_TRY(mq_campaign_int(queue, "SELECT fed_to FROM {M} WHERE id = ?1{u}",
                           MQ_ARGS(mq_int(campaign)), &fed_to, err));
    MQ_TRY(mq_sql_exec_text(queue, "DELETE FROM {p} WHERE id = ?1", MQ_ARGS(mq_int(id)), err));
    if (mq_sql_changes(queue) == 0 || fed_to >= id) {
        return MQ_OK;
    }
    return mq_sql_exec_text(queue, "UPDATE {M} SET recipients = recipients - 1 WHERE id = ?1",
                            MQ_ARGS(mq_int(campaign)), err);
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
