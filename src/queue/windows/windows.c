/* A window is one limit for one relay or sender, or for all. mail_window stores its count:
 *
 * - the ledger: what was handed over, by the time at which it leaves the window. These times are
 *   rounded up, so that a window has a thousand rows at most, and never counts too little;
 * - the bucket of the average mode, in a row of its own;
 * - the line of those that wait (line.c).
 *
 * average: in any window, the tokens taken minus those given back are at most N + capacity.
 * strict: a recipient counts from its claim (`paid` of the rows in sending) until it leaves the
 * ledger. limit.c has the same for the hourly limit. */
#include "queue/windows/internal.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/ascii.h"
#include "core/hash.h"
#include "queue/enqueue.h"
#include "queue/handle.h"
#include "queue/sql/statements.h"

#define HORIZON_S  (INT64_C(86400) * (MQ_LIMIT_DAYS_MAX + 1)) /* no row counts for longer */
#define PURGE_ODDS (1.0 / 64) /* of a transaction that also purges windows no longer used */

bool mq_is_strict(const struct mq_tx *tx)
{
    return tx->settings.rate_mode == MQ_RATE_STRICT;
}

/* ---- names ---- */

/* The window's name in the table, in small letters. It has no N, so that a limit that is raised or
 * lowered keeps its count. */
static char *scope_of(const struct mq_limit *limit, struct mq_str who)
{
    static const char *const words[] = {"", " relay ", " sender ", " domain "};
    struct mq_buffer name = {0};
    mq_buffer_printf(&name, "%lld %s%s", (long long)limit->length_s,
                     limit->mails ? "mails" : "recipients", words[limit->scope]);
    for (size_t i = 0; i < who.len; i++) {
        mq_buffer_char(&name, mq_ascii_lower(who.data[i]));
    }
    if (limit->only.len) {
        mq_buffer_printf(&name, " (%.*s)", (int)limit->only.len, limit->only.data);
    }
    char *text = mq_buffer_take(&name);
    mq_buffer_clear(&name);
    size_t most = MQ_REFERENCE_MAX - 10; /* line.c and the bucket write words before it */
    if (text && strlen(text) > most) {
        uint64_t hash = mq_hash(MQ_HASH_BEGIN, mq_str_of(text));
        size_t cut = mq_utf8_cut(mq_str_of(text), most - 17); /* databases take whole characters */
        snprintf(text + cut, 18, "#%016llx", (unsigned long long)hash);
    }
    return text;
}

/* ---- the windows of a transaction ---- */

static enum mq_status begin(struct mq_tx *tx, struct mq_error *err)
{
    if (!tx->windows) {
        tx->windows = calloc(1, sizeof(*tx->windows));
    }
    return tx->windows ? MQ_OK : mq_error_nomem(err);
}

/* Adds a window. Without memory (MQ_NOMEM), the texts of *out can be NULL. */
static enum mq_status add_window(struct mq_windows *all, const struct mq_limit *limit,
                                 struct mq_str who, struct mq_window **out, struct mq_error *err)
{
    if (all->count == all->room) {
        size_t room = all->room ? 2 * all->room : 16;
        struct mq_window *items = realloc(all->items, room * sizeof(*items));
        if (!items) {
            return mq_error_nomem(err);
        }
        all->items = items;
        all->room = room;
    }
    *out = &all->items[all->count++];
    **out = (struct mq_window){
        .limit = limit, .scope = scope_of(limit, who), .who = who.data ? mq_str_dup(who) : NULL};
    return (*out)->scope && ((*out)->who || !who.data) ? MQ_OK : mq_error_nomem(err);
}

static bool is_of(const struct mq_window *w, const struct mq_limit *limit, struct mq_str who)
{
    return w->limit == limit && mq_str_equal_nocase(mq_str_of(w->who), who);
}

/* Finds the window of a limit for `who`. It stays where it is until the next call. */
static enum mq_status find(struct mq_tx *tx, const struct mq_limit *limit, struct mq_str who,
                           struct mq_window **out, struct mq_error *err)
{
    MQ_TRY(begin(tx, err));
    for (size_t i = 0; i < tx->windows->count; i++) {
        if (is_of(&tx->windows->items[i], limit, who)) {
            *out = &tx->windows->items[i];
            return MQ_OK;
        }
    }
    return add_window(tx->windows, limit, who, out, err);
}

/* Whether the limit holds for this mail; then *who is whose window it is. */
static bool holds(const struct mq_limit *limit, const struct mq_party *party, struct mq_str *who)
{
    bool sender = limit->scope == MQ_SCOPE_SENDER || limit->scope == MQ_SCOPE_DOMAIN;
    bool relay = limit->scope == MQ_SCOPE_RELAY;
    return (sender || !party->only_from) && (relay || !party->only_relay) &&
           mq_limit_holds(limit, party->relay, party->from, who);
}

enum mq_status mq_window_find(struct mq_tx *tx, const struct mq_limit *limit,
                              const struct mq_party *party, struct mq_window **out,
                              struct mq_error *err)
{
    struct mq_str who;
    holds(limit, party, &who);
    return find(tx, limit, who, out, err);
}

static size_t limit_count(const struct mq_tx *tx)
{
    return tx->settings.limits ? tx->settings.limits->count : 0;
}

/* ---- what is under way ---- */

static enum mq_status add_flying(struct mq_windows *all, const struct mq_flying *one,
                                 struct mq_error *err)
{
    struct mq_flying *items = all->flying;
    if (all->flying_count == all->flying_room) {
        size_t room = all->flying_room ? 2 * all->flying_room : 64;
        items = realloc(items, room * sizeof(*items));
        all->flying = items ? items : all->flying;
        all->flying_room = items ? room : all->flying_room;
    }
    if (items) {
        items[all->flying_count++] = *one;
        return MQ_OK;
    }
    free(one->relay);
    free(one->from);
    return mq_error_nomem(err);
}

/* Reads what current leases have paid for, once in a transaction. */
static enum mq_status read_flying(struct mq_tx *tx, struct mq_error *err)
{
    struct mq_windows *all = tx->windows;
    if (all->has_flying) {
        return MQ_OK;
    }
    enum mq_status status = mq_sql_query(tx->queue, MQ_SQL_FLYING, MQ_NO_ARGS, err);
    while (mq_sql_next(tx->queue, &status, err)) {
        struct mq_str relay = mq_sql_column_str(tx->queue, 0);
        struct mq_str from = mq_sql_column_str(tx->queue, 1);
        struct mq_flying one = {.relay = relay.data ? mq_str_dup(relay) : NULL,
                                .from = from.data ? mq_str_dup(from) : NULL,
                                .paid = mq_sql_column_int(tx->queue, 2)};
        status = add_flying(all, &one, err);
    }
    all->has_flying = status == MQ_OK;
    return status;
}

static enum mq_status count_flying(struct mq_tx *tx, struct mq_window *w, struct mq_error *err)
{
    MQ_TRY(read_flying(tx, err));
    for (size_t i = 0; i < tx->windows->flying_count; i++) {
        const struct mq_flying *one = &tx->windows->flying[i];
        const struct mq_party party = {.relay = one->relay, .from = one->from};
        struct mq_str who;
        if (holds(w->limit, &party, &who) && is_of(w, w->limit, who)) {
            w->flying += w->limit->mails ? 1 : one->paid;
        }
    }
    return MQ_OK;
}

/* ---- the bucket ---- */

static void bucket_name(const struct mq_window *w, char out[MQ_REFERENCE_MAX + 1])
{
    snprintf(out, MQ_REFERENCE_MAX + 1, "bucket %s", w->scope);
}

static enum mq_status read_bucket(struct mq_tx *tx, struct mq_window *w, struct mq_error *err)
{
    const struct mq_limit *limit = w->limit;
    struct mq_bucket *bucket = &w->bucket;
    char name[MQ_REFERENCE_MAX + 1];
    bucket_name(w, name);
    *bucket = (struct mq_bucket){
        .limit = limit->n, .length_s = limit->length_s, .cap = mq_bucket_default_cap(limit->n)};
    if (tx->settings.burst) {
        bucket->cap = tx->settings.burst < limit->n ? tx->settings.burst : limit->n;
    }
    bucket->units = bucket->cap * limit->length_s;
    bucket->last_refill_s = tx->now_s;
    MQ_TRY(mq_window_get(tx, name, &bucket->last_refill_s, &bucket->units, err));
    mq_bucket_refill(bucket, tx->now_s);
    mq_bucket_give(bucket, w->given);
    return MQ_OK;
}

static enum mq_status write_bucket(struct mq_tx *tx, const struct mq_window *w,
                                   struct mq_error *err)
{
    char name[MQ_REFERENCE_MAX + 1];
    bucket_name(w, name);
    return mq_window_put(tx, name, w->bucket.last_refill_s, w->bucket.units, err);
}

/* ---- room ---- */

enum mq_status mq_window_load(struct mq_tx *tx, struct mq_window *w, struct mq_error *err)
{
    if (w->loaded) {
        return MQ_OK;
    }
    if (mq_is_strict(tx)) {
        MQ_TRY(mq_ledger_read(tx, w, err));
        MQ_TRY(count_flying(tx, w, err));
    } else {
        MQ_TRY(read_bucket(tx, w, err));
    }
    w->loaded = true;
    return MQ_OK;
}

static int64_t room_of(const struct mq_tx *tx, const struct mq_window *w)
{
    int64_t room =
        mq_is_strict(tx) ? w->limit->n - w->flying - w->spent : mq_bucket_tokens(&w->bucket);
    room -= w->promised;
    return room > 0 ? room : 0;
}

/* When a full window is expected to have room. Does not wait for current leases, which can end at
 * any time. */
static enum mq_status read_free(struct mq_tx *tx, struct mq_window *w, struct mq_error *err)
{
    int64_t at_s = tx->now_s;
    int64_t left = w->limit->n - w->flying;
    if (!mq_is_strict(tx)) {
        at_s = tx->now_s + mq_bucket_wait_s(&w->bucket);
    } else if (left > 0 && w->spent >= left) {
        MQ_TRY(mq_ledger_frees(tx, w, w->spent - left + 1, &at_s, err));
    }
    w->free_s = at_s > tx->now_s ? at_s : tx->now_s + 1;
    return MQ_OK;
}

enum mq_status mq_windows_room(struct mq_tx *tx, const struct mq_party *party, struct mq_room *room,
                               struct mq_error *err)
{
    struct mq_window *w;
    struct mq_str who;
    *room = (struct mq_room){.party = *party, .recipients = MQ_LIMIT_NONE, .sender_full = true};
    for (size_t i = 0; i < limit_count(tx); i++) {
        const struct mq_limit *limit = &tx->settings.limits->items[i];
        if (!holds(limit, party, &who)) {
            continue;
        }
        MQ_TRY(find(tx, limit, who, &w, err));
        MQ_TRY(mq_window_load(tx, w, err));
        int64_t n = room_of(tx, w);
        if (n == 0) {
            MQ_TRY(w->free_s ? MQ_OK : read_free(tx, w, err));
            room->sender_full = room->sender_full && limit->scope >= MQ_SCOPE_SENDER;
            room->full = w->free_s > room->free_s ? limit : room->full;
            room->free_s = w->free_s > room->free_s ? w->free_s : room->free_s;
        }
        n = limit->mails && n > 0 ? MQ_LIMIT_NONE : n;
        room->recipients = n < room->recipients ? n : room->recipients;
    }
    room->sender_full = room->sender_full && room->full;
    return MQ_OK;
}

enum mq_status mq_windows_left(struct mq_tx *tx, const struct mq_limit *limit, struct mq_room *room,
                               struct mq_error *err)
{
    struct mq_window *w = NULL;
    *room = (struct mq_room){.full = NULL};
    MQ_TRY(mq_window_find(tx, limit, &room->party, &w, err));
    MQ_TRY(mq_window_load(tx, w, err));
    room->recipients = room_of(tx, w);
    if (room->recipients == 0) {
        MQ_TRY(read_free(tx, w, err));
        room->full = limit;
        room->free_s = w->free_s;
    }
    return MQ_OK;
}

enum mq_status mq_windows_take(struct mq_tx *tx, const struct mq_party *party, int64_t recipients,
                               bool begins, struct mq_error *err)
{
    struct mq_window *w;
    struct mq_str who;
    for (size_t i = 0; i < limit_count(tx); i++) {
        const struct mq_limit *limit = &tx->settings.limits->items[i];
        int64_t n = limit->mails ? begins : recipients;
        if (n == 0 || !holds(limit, party, &who)) {
            continue;
        }
        MQ_TRY(find(tx, limit, who, &w, err));
        MQ_TRY(mq_window_load(tx, w, err));
        w->flying += n;
        mq_bucket_take(&w->bucket, n);
        w->taken = true;
    }
    return MQ_OK;
}

enum mq_status mq_windows_promise(struct mq_tx *tx, const struct mq_party *party,
                                  int64_t recipients, struct mq_error *err)
{
    struct mq_window *w;
    struct mq_str who;
    for (size_t i = 0; i < limit_count(tx); i++) {
        const struct mq_limit *limit = &tx->settings.limits->items[i];
        if (holds(limit, party, &who)) {
            MQ_TRY(find(tx, limit, who, &w, err));
            w->promised += limit->mails ? 1 : recipients;
        }
    }
    return MQ_OK;
}

static enum mq_status return_to(struct mq_tx *tx, struct mq_window *w,
                                const struct mq_outlay *outlay, struct mq_error *err)
{
    bool mails = w->limit->mails;
    int64_t spent = mails ? outlay->handed > 0 : outlay->handed;
    int64_t paid = mails ? outlay->paid > 0 && !outlay->in_part : outlay->paid;
    int64_t back = paid - spent;
    if (spent > 0) {
        MQ_TRY(mq_ledger_hand(tx, w, spent, outlay->at_s, err));
    }
    if (back > 0) {
        mq_bucket_give(&w->bucket, w->loaded ? back : 0);
        w->given += back;
    }
    return MQ_OK;
}

enum mq_status mq_windows_return(struct mq_tx *tx, const struct mq_outlay *outlay,
                                 struct mq_error *err)
{
    struct mq_window *w;
    struct mq_str who;
    for (size_t i = 0; i < limit_count(tx); i++) {
        const struct mq_limit *limit = &tx->settings.limits->items[i];
        if (holds(limit, &outlay->party, &who)) {
            MQ_TRY(find(tx, limit, who, &w, err));
            MQ_TRY(return_to(tx, w, outlay, err));
        }
    }
    return MQ_OK;
}

/* ---- the end ---- */

static enum mq_status store_one(struct mq_tx *tx, struct mq_window *w, struct mq_error *err)
{
    MQ_TRY(mq_ledger_write(tx, w, err));
    if (mq_is_strict(tx) || (!w->taken && w->given == 0)) {
        return MQ_OK;
    }
    MQ_TRY(mq_window_load(tx, w, err));
    return write_bucket(tx, w, err);
}

enum mq_status mq_windows_store(struct mq_tx *tx, struct mq_error *err)
{
    if (!tx->windows) {
        return MQ_OK;
    }
    for (size_t i = 0; i < tx->windows->count; i++) {
        MQ_TRY(store_one(tx, &tx->windows->items[i], err));
    }
    const struct mq_random *random = &tx->queue->random;
    if (random->unit(random->context) >= PURGE_ODDS) {
        return MQ_OK;
    }
    struct mq_args old = MQ_ARGS(mq_int(tx->now_s - HORIZON_S));
    return mq_sql_exec(tx->queue, MQ_SQL_WINDOW_PURGE, old, err);
}

void mq_windows_free(struct mq_windows *windows)
{
    if (!windows) {
        return;
    }
    for (size_t i = 0; i < windows->count; i++) {
        free(windows->items[i].scope);
        free(windows->items[i].who);
        free(windows->items[i].rows);
    }
    for (size_t i = 0; i < windows->flying_count; i++) {
        free(windows->flying[i].relay);
        free(windows->flying[i].from);
    }
    free(windows->items);
    free(windows->flying);
    free(windows->lines);
    free(windows);
}
