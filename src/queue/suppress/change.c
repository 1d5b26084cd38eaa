/* Adds, removes and lists suppressions. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/ascii.h"
#include "db/db.h"
#include "queue/config/keys.h"
#include "queue/handle.h"
#include "queue/manage.h"
#include "queue/sql/schema.h"
#include "queue/sql/transaction.h"
#include "queue/suppress/internal.h"

#define ROWS_A_STATEMENT 100 /* with five texts and numbers each */
#define SOURCE_MAX       190

/* ---- checks ---- */

static enum mq_status check_text(const char *field, struct mq_str s, size_t max,
                                 struct mq_error *err)
{
    bool ok = s.len <= max && mq_utf8_valid(s);
    for (size_t at = 0, step; ok && at < s.len; at += step) {
        uint32_t code = 0;
        step = mq_utf8_next((struct mq_str){s.data + at, s.len - at}, &code);
        ok = !mq_utf8_steers(code);
    }
    return ok ? MQ_OK
              : mq_error_set(err, MQ_INVALID, field,
                             "%s must have at most %zu octets of UTF-8 without control characters",
                             field, max);
}

/* Another scope, such as "news", would stop no mail. */
static enum mq_status check_scope(struct mq_str scope, struct mq_error *err)
{
    char shown[60];
    MQ_TRY(check_text("scope", scope, MQ_SCOPE_MAX, err));
    if (scope.len == 0 ||
        (mq_str_begins(scope, MQ_SCOPE_OF_LIST) && scope.len > strlen(MQ_SCOPE_OF_LIST)) ||
        (mq_str_begins(scope, MQ_SCOPE_OF_CAMPAIGN) && scope.len > strlen(MQ_SCOPE_OF_CAMPAIGN))) {
        return MQ_OK;
    }
    mq_str_printable(shown, sizeof(shown), 0, scope);
    return mq_error_set(err, MQ_INVALID, "scope",
                        "scope cannot be \"%s\"; write " MQ_SCOPE_OF_LIST
                        " and the name of the list, as list:news, or " MQ_SCOPE_OF_CAMPAIGN
                        " and its name; leave it out for all mail",
                        shown);
}

static enum mq_status check_reason(struct mq_str reason, struct mq_error *err)
{
    if (mq_str_word(reason, MQ_SUPPRESS_REASONS, mq_str_equal) >= 0) {
        return MQ_OK;
    }
    char shown[40];
    mq_str_printable(shown, sizeof(shown), 0, reason);
    return mq_error_set(err, MQ_INVALID, "reason",
                        "reason cannot be \"%s\"; it is one of " MQ_SUPPRESS_REASONS, shown);
}

/* ---- adding ---- */

/* A suppression that is to be stored. */
struct entry {
    const struct mq_suppression *given;
    struct mq_buffer address; /* canonical; empty: only the hash is known */
    uint64_t hash;
    bool there; /* it is stored already, or comes twice */
};

static struct mq_str scope_of(const struct mq_suppression *given)
{
    return given->scope.data ? given->scope : MQ_STR("");
}

static bool is_same(const struct entry *entry, uint64_t hash, struct mq_str scope,
                    struct mq_str reason)
{
    return entry->hash == hash && mq_str_equal(scope_of(entry->given), scope) &&
           mq_str_equal(entry->given->reason, reason);
}

static enum mq_status make_entry(const struct mq_suppress_state *state,
                                 const struct mq_suppression *given, struct entry *out,
                                 struct mq_error *err)
{
    out->given = given;
    MQ_TRY(check_reason(given->reason, err));
    MQ_TRY(check_scope(given->scope, err));
    MQ_TRY(check_text("source", given->source, SOURCE_MAX, err));
    out->hash = given->hash;
    if (given->address.data) {
        MQ_TRY(mq_suppress_canonical(given->address, &out->address, err));
        out->hash = mq_suppress_hash(state->key, mq_buffer_view(&out->address));
    }
    return MQ_OK;
}

static void mark_twins(struct entry *entries, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        for (size_t j = 0; j < i && !entries[i].there; j++) {
            const struct mq_suppression *other = entries[j].given;
            entries[i].there =
                is_same(&entries[i], entries[j].hash, scope_of(other), other->reason);
        }
    }
}

/* Marks those that are stored already. */
static enum mq_status mark_stored(struct mq_queue *queue, struct entry *entries, size_t count,
                                  struct mq_error *err)
{
    struct mq_buffer text = {0};
    mq_buffer_cstr(&text, "SELECT hash, scope, reason FROM {Z} WHERE hash IN (");
    for (size_t i = 0; i < count; i++) {
        mq_buffer_printf(&text, "%s%" PRId64, i ? "," : "", (int64_t)entries[i].hash);
    }
    mq_buffer_cstr(&text, "){u}"); /* also those that an older snapshot does not have */
    enum mq_status status = text.failed ? mq_error_nomem(err)
                                        : mq_sql_query_template(queue, text.data, MQ_NO_ARGS, err);
    mq_buffer_clear(&text);
    while (mq_sql_next(queue, &status, err)) {
        uint64_t hash = (uint64_t)mq_sql_column_int(queue, 0);
        struct mq_str scope = mq_sql_column_str(queue, 1), reason = mq_sql_column_str(queue, 2);
        for (size_t i = 0; i < count; i++) {
            entries[i].there = entries[i].there || is_same(&entries[i], hash, scope, reason);
        }
    }
    return status;
}

static enum mq_status insert(struct mq_tx *tx, const struct entry *entries, size_t count,
                             int64_t *newest, struct mq_error *err)
{
    struct mq_value values[4 * ROWS_A_STATEMENT];
    struct mq_buffer text = {0};
    int n = 0;
    mq_buffer_cstr(&text, "INSERT INTO {Z}(hash, seq, created_at, scope, reason, address, source) "
                          "VALUES ");
    for (size_t i = 0; i < count; i++) {
        const struct mq_suppression *given = entries[i].given;
        int64_t at_s = given->created_at ? given->created_at : tx->now_s;
        if (entries[i].there) {
            continue;
        }
        mq_buffer_printf(&text, "%s(%" PRId64 ", %" PRId64 ", %" PRId64 ", ?%d, ?%d, ?%d, ?%d)",
                         n ? "," : "", (int64_t)entries[i].hash, ++*newest, at_s, n + 1, n + 2,
                         n + 3, n + 4);
        values[n++] = mq_text(scope_of(given));
        values[n++] = mq_text(given->reason);
        values[n++] = mq_text(mq_buffer_view(&entries[i].address)); /* NULL if it is empty */
        values[n++] = mq_note(given->source);
    }
    enum mq_status status =
        text.failed ? mq_error_nomem(err)
        : n == 0    ? MQ_OK
                    : mq_sql_query_template(tx->queue, text.data, (struct mq_args){values, n}, err);
    mq_sql_finish(tx->queue);
    mq_buffer_clear(&text);
    return status;
}

/* Adds up to ROWS_A_STATEMENT. */
static enum mq_status add_some(struct mq_tx *tx, const struct mq_suppression *items, size_t count,
                               int64_t *newest, struct mq_error *err)
{
    struct entry entries[ROWS_A_STATEMENT] = {{0}};
    const struct mq_suppress_state *state = mq_suppress_load(tx->queue, err);
    enum mq_status status = state ? MQ_OK : err ? err->status : MQ_CONFIG;
    for (size_t i = 0; i < count && status == MQ_OK; i++) {
        status = make_entry(state, &items[i], &entries[i], err);
    }
    if (status == MQ_OK) {
        mark_twins(entries, count);
        status = mark_stored(tx->queue, entries, count, err);
    }
    if (status == MQ_OK) {
        status = insert(tx, entries, count, newest, err);
    }
    for (size_t i = 0; i < count; i++) {
        mq_buffer_clear(&entries[i].address);
    }
    return status;
}

/* Locks the newest number first. So suppressions are committed in the order of their numbers, and a
 * reader of a number sees all suppressions up to it. */
enum mq_status mq_suppress_add(struct mq_tx *tx, const struct mq_suppression *items, size_t count,
                               int64_t *added, struct mq_error *err)
{
    int64_t before = 0, newest = 0;
    char text[24];
    MQ_TRY(mq_suppress_newest(tx->queue, true, &before, err));
    newest = before;
    for (size_t i = 0; i < count; i += ROWS_A_STATEMENT) {
        size_t some = count - i < ROWS_A_STATEMENT ? count - i : ROWS_A_STATEMENT;
        MQ_TRY(add_some(tx, items + i, some, &newest, err));
    }
    *added = newest - before;
    snprintf(text, sizeof(text), "%" PRId64, newest);
    return *added ? mq_config_put(tx->queue, mq_config_keys[MQ_KEY_SUPPRESSED].name, text, err)
                  : MQ_OK;
}

enum mq_status mq_queue_suppress(struct mq_queue *queue, const struct mq_suppression *items,
                                 size_t count, int64_t *added, struct mq_error *err)
{
    struct mq_tx tx = {.queue = queue};
    if (!mq_queue_suppression_key(queue, err)) {
        return err ? err->status : MQ_CONFIG;
    }
    enum mq_status status = MQ_OK;
    while (mq_tx_next(&tx, &status, err)) {
        status = mq_suppress_add(&tx, items, count, added, err);
    }
    return status;
}

enum mq_status mq_queue_would_suppress(struct mq_queue *queue, const struct mq_suppression *items,
                                       size_t count, int64_t *added, struct mq_error *err)
{
    struct mq_tx tx = {.queue = queue};
    bool undone = false;
    if (!mq_queue_suppression_key(queue, err)) {
        return err ? err->status : MQ_CONFIG;
    }
    enum mq_status status = MQ_OK;
    while (mq_tx_next(&tx, &status, err)) {
        status = mq_suppress_add(&tx, items, count, added, err);
        undone = status == MQ_OK;
        status = undone ? MQ_THROWN : status; /* so it is rolled back */
    }
    return undone && status == MQ_THROWN ? MQ_OK : status;
}

/* ---- which ones ---- */

/* A condition with its values. */
struct condition {
    struct mq_buffer text;
    struct mq_value values[3];
    int count;
};

/* Writes " WHERE …", with the hash of the address in canonical form. */
static enum mq_status make_condition(struct mq_queue *queue, const struct mq_suppressed *which,
                                     struct condition *out, struct mq_error *err)
{
    struct mq_buffer address = {0};
    mq_buffer_printf(&out->text, " WHERE seq > %" PRId64, which->after);
    if (which->address.data) {
        const struct mq_suppress_state *state = mq_suppress_load(queue, err);
        enum mq_status status = state ? MQ_OK : err ? err->status : MQ_CONFIG;
        if (status == MQ_OK) {
            status = mq_suppress_canonical(which->address, &address, err);
        }
        uint64_t hash =
            status == MQ_OK ? mq_suppress_hash(state->key, mq_buffer_view(&address)) : 0;
        mq_buffer_clear(&address);
        MQ_TRY(status);
        mq_buffer_printf(&out->text, " AND hash = %" PRId64, (int64_t)hash);
    }
    if (which->scope.data) {
        out->values[out->count++] = mq_text(which->scope);
        mq_buffer_printf(&out->text, " AND scope = ?%d", out->count);
    }
    if (which->reason.data) {
        MQ_TRY(check_reason(which->reason, err));
        out->values[out->count++] = mq_text(which->reason);
        mq_buffer_printf(&out->text, " AND reason = ?%d", out->count);
    }
    return MQ_OK;
}

/* Runs the statement of `begin`, the condition for `which`, and `end`. The caller reads or finishes
 * its result. */
static enum mq_status run_on(struct mq_queue *queue, const char *begin,
                             const struct mq_suppressed *which, const char *end,
                             struct mq_error *err)
{
    struct condition condition = {.count = 0};
    mq_buffer_cstr(&condition.text, begin);
    enum mq_status status = make_condition(queue, which, &condition, err);
    mq_buffer_cstr(&condition.text, end);
    if (status == MQ_OK && condition.text.failed) {
        status = mq_error_nomem(err);
    }
    if (status == MQ_OK) {
        struct mq_args args = {condition.values, condition.count};
        status = mq_sql_query_template(queue, condition.text.data, args, err);
    }
    mq_buffer_clear(&condition.text);
    return status;
}

/* Changes suppressions, within a transaction. */
static enum mq_status change(struct mq_queue *queue, const char *begin,
                             const struct mq_suppressed *which, int64_t *changed,
                             struct mq_error *err)
{
    enum mq_status status = run_on(queue, begin, which, "", err);
    if (status == MQ_OK) {
        *changed = mq_sql_changes(queue);
    }
    mq_sql_finish(queue);
    return status;
}

enum mq_status mq_suppress_hash_of(struct mq_queue *queue, struct mq_str address, uint64_t *hash,
                                   struct mq_error *err)
{
    struct mq_buffer plain = {0};
    const struct mq_suppress_state *state = mq_suppress_load(queue, err);
    if (!state) {
        return err ? err->status : MQ_CONFIG;
    }
    enum mq_status status = mq_suppress_canonical(address, &plain, err);
    *hash = status == MQ_OK ? mq_suppress_hash(state->key, mq_buffer_view(&plain)) : 0;
    mq_buffer_clear(&plain);
    return status;
}

/* Runs a statement about the bounces of an address, whose hash it takes, within a transaction. */
static enum mq_status bounces(struct mq_queue *queue, const char *text, struct mq_str address,
                              struct mq_error *err)
{
    uint64_t hash = 0;
    MQ_TRY(mq_suppress_hash_of(queue, address, &hash, err));
    return mq_sql_exec_text(queue, text, MQ_ARGS(mq_int((int64_t)hash)), err);
}

/* Locks the number of suppressions first, as storing a bounce does: in another order, the two could
 * deadlock. */
static enum mq_status unsuppress(struct mq_queue *queue, const struct mq_suppressed *which,
                                 int64_t *removed, struct mq_error *err)
{
    int64_t newest = 0;
    MQ_TRY(mq_suppress_newest(queue, true, &newest, err));
    MQ_TRY(change(queue, "DELETE FROM {Z}", which, removed, err));
    /* They count no more, but are still known. */
    return *removed ? bounces(queue, "UPDATE {!} SET n = 0 WHERE hash = ?1", which->address, err)
                    : MQ_OK;
}

enum mq_status mq_queue_unsuppress(struct mq_queue *queue, const struct mq_suppressed *which,
                                   int64_t *removed, struct mq_error *err)
{
    struct mq_tx tx = {.queue = queue};
    enum mq_status status = MQ_OK;
    while (mq_tx_next(&tx, &status, err)) {
        status = unsuppress(queue, which, removed, err);
    }
    return status;
}

static enum mq_status forget(struct mq_queue *queue, const struct mq_suppressed *which,
                             int64_t *forgotten, struct mq_error *err)
{
    int64_t newest = 0;
    MQ_TRY(mq_suppress_newest(queue, true, &newest, err));
    MQ_TRY(bounces(queue, "DELETE FROM {!} WHERE hash = ?1", which->address, err));
    return change(queue, "UPDATE {Z} SET address = NULL, source = NULL", which, forgotten, err);
}

enum mq_status mq_queue_forget_suppressed(struct mq_queue *queue, struct mq_str address,
                                          int64_t *forgotten, struct mq_error *err)
{
    const struct mq_suppressed which = {.address = address};
    struct mq_tx tx = {.queue = queue};
    enum mq_status status = MQ_OK;
    while (mq_tx_next(&tx, &status, err)) {
        status = forget(queue, &which, forgotten, err);
    }
    return status;
}

enum mq_status mq_queue_suppressions(struct mq_queue *queue, const struct mq_suppressed *which,
                                     const struct mq_reader *reader, struct mq_error *err)
{
    char end[60];
    snprintf(end, sizeof(end), " ORDER BY seq LIMIT %d", which->limit);
    MQ_TRY(mq_schema_check(queue, err));
    enum mq_status status = run_on(
        queue, "SELECT seq, address, scope, reason, source, created_at FROM {Z}", which, end, err);
    while (mq_sql_next(queue, &status, err)) {
        struct mq_value values[MQ_SUPPRESSED_COLUMNS];
        for (int i = 0; i < MQ_SUPPRESSED_COLUMNS; i++) {
            values[i] = queue->db->driver->column(queue->db, i);
        }
        reader->row(reader->context, values, MQ_SUPPRESSED_COLUMNS);
    }
    return status;
}
