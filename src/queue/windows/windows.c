/* A window is one limit for one relay or sender, or for all. mail_window stores its count:
 *
 * - the ledger: what was handed over, by the time at which it leaves the window. These times are
 *   rounded up, so that a window has a thousand rows at most, and never counts too little;
 * - the bucket of the average mode, in a row of its own;
 * - the line of those that wait (line.c).
 *
 * average: in any window, the tokens taken minus those given back are at most N + capacity.
 * strict: a recipient counts from its claim (`paid` of the rows in sending) until it leaves the
 * ledger. all_limits.c has the same for the hourly limit. */
#include "queue/windows/internal.h"

#include <stdlib.h>

#include "core/hash.h"
#include "policy/consequence.h"
#include "queue/enqueue.h"
#include "queue/handle.h"
#include "queue/job.h"
#include "queue/sql/statements.h"

#define HORIZON_S  (INT64_C(86400) * (MQ_LIMIT_DAYS_MAX + 1)) /* no row counts for longer */
#define PURGE_ODDS (1.0 / 64) /* of a transaction that also purges windows no longer used */

bool mq_is_strict(const struct mq_tx *tx)
{
    return tx->settings.rate_mode == MQ_RATE_STRICT;
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
    **out = (struct mq_window){.limit = limit,
                               .scope = mq_window_name(limit, who),
                               .who = who.data ? mq_str_dup(who) : NULL,
                               .hash = mq_hash_lower(who)};
    return (*out)->scope && ((*out)->who || !who.data) ? MQ_OK : mq_error_nomem(err);
}

/* Finds the window of a limit for `who`. It stays where it is until the next call. */
static enum mq_status find(struct mq_tx *tx, const struct mq_limit *limit, struct mq_str who,
                           struct mq_window **out, struct mq_error *err)
{
    uint64_t hash = mq_hash_lower(who);
    MQ_TRY(begin(tx, err));
    for (size_t i = 0; i < tx->windows->count; i++) {
        if (mq_window_is_of(&tx->windows->items[i], limit, who, hash)) {
            *out = &tx->windows->items[i];
            return MQ_OK;
        }
    }
    return add_window(tx->windows, limit, who, out, err);
}

enum mq_status mq_window_find(struct mq_tx *tx, const struct mq_limit *limit,
                              const struct mq_party *party, struct mq_window **out,
                              struct mq_error *err)
{
    struct mq_str who;
    if (limit->scope != MQ_SCOPE_TO) {
        mq_window_holds(limit, party, &who);
    } else {
        mq_limit_holds_to(limit, party->to->recipients.items[party->nth], &who);
    }
    return find(tx, limit, who, out, err);
}

static size_t limit_count(const struct mq_tx *tx)
{
    return tx->settings.limits ? tx->settings.limits->count : 0;
}

/* ---- room ---- */

enum mq_status mq_window_load(struct mq_tx *tx, struct mq_window *w, struct mq_error *err)
{
    if (w->loaded) {
        return MQ_OK;
    }
    if (mq_is_strict(tx)) {
        MQ_TRY(mq_ledger_read(tx, w, err));
        MQ_TRY(mq_window_count_under_way(tx, w, err));
    } else {
        MQ_TRY(mq_bucket_read(tx, w, err));
    }
    w->loaded = true;
    return MQ_OK;
}

int64_t mq_window_reserve(const struct mq_tx *tx, const struct mq_window *w, bool leaves)
{
    int64_t n = w->limit->n;
    int64_t most = mq_is_strict(tx) ? n : w->bucket.cap;
    return leaves ? mq_settings_reserve(&tx->settings, n, most) : 0;
}

static int64_t room_of(const struct mq_tx *tx, const struct mq_window *w, bool leaves)
{
    int64_t room =
        mq_is_strict(tx) ? w->limit->n - w->under_way - w->spent : mq_bucket_tokens(&w->bucket);
    room -= w->promised + mq_window_reserve(tx, w, leaves);
    return room > 0 ? room : 0;
}

/* When a full window is expected to have room for `need`. Does not wait for current leases, which
 * can end at any time. */
static enum mq_status read_free(struct mq_tx *tx, struct mq_window *w, bool leaves, int64_t need,
                                struct mq_error *err)
{
    int64_t at_s = tx->now_s;
    int64_t reserve = mq_window_reserve(tx, w, leaves) + need - 1;
    int64_t left = w->limit->n - w->under_way - reserve;
    left +=
        left <= 0 ? w->under_way : 0; /* not before: as if all leases ended without a delivery */
    if (w->free_for != need) {
        w->free_for = need;
        w->free_s[0] = w->free_s[1] = 0;
    }
    if (w->free_s[leaves]) {
        return MQ_OK;
    }
    if (!mq_is_strict(tx)) {
        at_s = tx->now_s + mq_bucket_wait_s(&w->bucket, reserve);
    } else if (left > 0 && w->spent >= left) {
        MQ_TRY(mq_ledger_frees(tx, w, w->spent - left + 1, &at_s, err));
    }
    w->free_s[leaves] = at_s > tx->now_s ? at_s : tx->now_s + 1;
    return MQ_OK;
}

/* Notes in `room` a window that has no room for `need`. */
static enum mq_status note_full(struct mq_tx *tx, struct mq_window *w, int64_t need,
                                struct mq_room *room, struct mq_error *err)
{
    bool leaves = room->party.leaves;
    int64_t most = mq_is_strict(tx) ? w->limit->n : w->bucket.cap;
    MQ_TRY(read_free(tx, w, leaves, need, err));
    int64_t free_s = w->free_s[leaves];
    bool never = need > most - mq_window_reserve(tx, w, leaves); /* then other mail can go */
    room->never = never && !w->limit->today ? w->limit : room->never;
    room->sender_full = room->sender_full && (never || w->limit->scope >= MQ_SCOPE_SENDER);
    room->full = free_s > room->free_s ? w->limit : room->full;
    room->free_s = free_s > room->free_s ? free_s : room->free_s;
    return MQ_OK;
}

static void take_room(struct mq_window *w, int64_t n)
{
    w->under_way += n;
    mq_bucket_take(&w->bucket, n);
    w->taken = true;
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

/* ---- limits by recipients' domains ---- */

/* A mail counts in the window of each domain that it goes to, with the recipients that it has
 * there, whatever a test redirect makes of their addresses. */
static size_t to_count(const struct mq_tx *tx)
{
    bool any = limit_count(tx) > 0 && mq_settings_limit_by(&tx->settings, MQ_SCOPE_TO);
    return any ? tx->settings.limits->count : 0;
}

/* Begins to count another mail. */
static void begin_mail(struct mq_tx *tx)
{
    if (tx->windows) {
        tx->windows->mails++;
    }
}

/* Finds the window of a limit that holds for the recipient; NULL: it does not. `mine` and
 * `mine_handed` are those of this mail then. */
static enum mq_status find_to(struct mq_tx *tx, size_t limit, const char *recipient,
                              struct mq_window **out, struct mq_error *err)
{
    struct mq_str who;
    *out = NULL;
    if (!mq_limit_holds_to(&tx->settings.limits->items[limit], recipient, &who)) {
        return MQ_OK;
    }
    MQ_TRY(find(tx, &tx->settings.limits->items[limit], who, out, err));
    if ((*out)->mail != tx->windows->mails) {
        (*out)->mail = tx->windows->mails;
        (*out)->mine = (*out)->mine_handed = 0;
    }
    return MQ_OK;
}

/* Counts a recipient of room->party in its windows. *fits: they have room for it. */
static enum mq_status count_in(struct mq_tx *tx, size_t n, const struct mq_room *room, bool *fits,
                               struct mq_error *err)
{
    struct mq_window *w;
    *fits = true;
    for (size_t i = 0; i < to_count(tx); i++) {
        MQ_TRY(find_to(tx, i, room->party.to->recipients.items[n], &w, err));
        if (!w || (w->limit->mails && w->mine > 0)) {
            continue;
        }
        MQ_TRY(mq_window_load(tx, w, err));
        w->nth = w->mine > 0 ? w->nth : n;
        *fits = w->mine++ < room_of(tx, w, room->party.leaves) && *fits;
    }
    return MQ_OK;
}

/* Notes in `room` the domains that have no room for what was counted in them: each once, because
 * the ledger is read for it. */
static enum mq_status note_domains(struct mq_tx *tx, struct mq_room *room, struct mq_error *err)
{
    for (size_t i = 0; i < tx->windows->count; i++) {
        struct mq_window *w = &tx->windows->items[i];
        int64_t before_s = room->free_s;
        bool counted = w->limit->scope == MQ_SCOPE_TO && w->mail == tx->windows->mails;
        if (counted && w->mine > room_of(tx, w, room->party.leaves)) {
            MQ_TRY(note_full(tx, w, w->mine, room, err));
            room->party.nth = room->free_s > before_s ? w->nth : room->party.nth;
        }
    }
    return MQ_OK;
}

/* Lowers the room to the recipients before the first one whose domain is full; to none if the mail
 * goes whole. */
static enum mq_status room_to(struct mq_tx *tx, struct mq_room *room, struct mq_error *err)
{
    const struct mq_job *job = room->party.to;
    bool fits, all = true, whole = room->party.whole > 0;
    begin_mail(tx);
    for (size_t n = 0;
         job && to_count(tx) && n < job->recipients.count && (int64_t)n < room->recipients; n++) {
        MQ_TRY(count_in(tx, n, room, &fits, err));
        room->recipients = fits || whole ? room->recipients : (int64_t)n;
        all = all && fits;
    }
    room->recipients = all || !whole ? room->recipients : 0;
    return room->recipients > 0 ? MQ_OK : note_domains(tx, room, err);
}

/* Whether the claim has reached the recipient. A recovered job does not say it: then the first ones
 * were reached, as many as it paid for. */
static bool reached(const struct mq_job *job, size_t n)
{
    return job->target_of ? job->target_of[n] >= 0 : (int64_t)n < job->paid;
}

static enum mq_status take_to(struct mq_tx *tx, const struct mq_job *job, struct mq_error *err)
{
    struct mq_window *w;
    begin_mail(tx);
    for (size_t n = 0; job && n < job->recipients.count; n++) {
        for (size_t i = 0; i < to_count(tx) && reached(job, n); i++) {
            MQ_TRY(find_to(tx, i, job->recipients.items[n], &w, err));
            if (w && !(w->limit->mails && w->mine > 0)) {
                MQ_TRY(mq_window_load(tx, w, err));
                take_room(w, 1);
                w->mine++;
            }
        }
    }
    return MQ_OK;
}

static enum mq_outcome outcome_of(const struct mq_outlay *outlay, size_t n)
{
    if (outlay->results) {
        return n < MQ_RECIPIENTS_MAX ? outlay->results[n] : MQ_OUTCOME_RELEASED;
    }
    bool given = outlay->handed > 0 && reached(outlay->party.to, n);
    return given ? MQ_OUTCOME_DELIVERED : MQ_OUTCOME_RELEASED;
}

/* Counts what became of a recipient. If its domain is slowed down, an attempt counts as well. */
static enum mq_status note_outcome(struct mq_tx *tx, const struct mq_outlay *outlay, size_t n,
                                   struct mq_error *err)
{
    const struct mq_job *job = outlay->party.to;
    enum mq_outcome outcome = outcome_of(outlay, n);
    struct mq_window *w;
    for (size_t i = 0; i < to_count(tx); i++) {
        MQ_TRY(find_to(tx, i, job->recipients.items[n], &w, err));
        if (w) {
            w->mine += outlay->paid > 0 && reached(job, n);
            w->mine_handed +=
                w->limit->slow ? outcome != MQ_OUTCOME_RELEASED : mq_outcomes[outcome].handed_over;
        }
    }
    return MQ_OK;
}

static enum mq_status return_by_domain(struct mq_tx *tx, const struct mq_outlay *outlay,
                                       struct mq_error *err)
{
    const struct mq_job *job = outlay->party.to;
    if (!job || to_count(tx) == 0) {
        return MQ_OK;
    }
    begin_mail(tx);
    for (size_t n = 0; n < job->recipients.count; n++) {
        MQ_TRY(note_outcome(tx, outlay, n, err));
    }
    for (size_t i = 0; tx->windows && i < tx->windows->count; i++) {
        struct mq_window *w = &tx->windows->items[i];
        struct mq_outlay mine = {.paid = w->mine, .handed = w->mine_handed, .at_s = outlay->at_s};
        if (w->limit->scope == MQ_SCOPE_TO && w->mail == tx->windows->mails) {
            MQ_TRY(return_to(tx, w, &mine, err));
        }
    }
    return MQ_OK;
}

/* ---- all limits ---- */

enum mq_status mq_windows_room(struct mq_tx *tx, const struct mq_party *party, struct mq_room *room,
                               struct mq_error *err)
{
    struct mq_window *w;
    struct mq_str who;
    int64_t part = MQ_LIMIT_NONE;
    *room = (struct mq_room){.party = *party, .recipients = MQ_LIMIT_NONE, .sender_full = true};
    for (size_t i = 0; i < limit_count(tx); i++) {
        const struct mq_limit *limit = &tx->settings.limits->items[i];
        if ((limit->mails && party->begun) || !mq_window_holds(limit, party, &who)) {
            continue;
        }
        MQ_TRY(find(tx, limit, who, &w, err));
        MQ_TRY(mq_window_load(tx, w, err));
        int64_t n = room_of(tx, w, party->leaves);
        int64_t need = limit->mails || party->whole == 0 ? 1 : party->whole;
        part = n < part ? n : part;
        if (n < need) {
            MQ_TRY(note_full(tx, w, need, room, err));
            n = 0;
        }
        n = limit->mails && n > 0 ? MQ_LIMIT_NONE : n;
        room->recipients = n < room->recipients ? n : room->recipients;
    }
    room->in_part = room->recipients == 0 && part > 0;
    MQ_TRY(room_to(tx, room, err));
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
    room->recipients = room_of(tx, w, false);
    if (room->recipients == 0) {
        MQ_TRY(read_free(tx, w, false, 1, err));
        room->full = limit;
        room->free_s = w->free_s[false];
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
        if (n == 0 || !mq_window_holds(limit, party, &who)) {
            continue;
        }
        MQ_TRY(find(tx, limit, who, &w, err));
        MQ_TRY(mq_window_load(tx, w, err));
        take_room(w, n);
    }
    return take_to(tx, party->to, err);
}

enum mq_status mq_windows_promise(struct mq_tx *tx, const struct mq_party *party,
                                  int64_t recipients, struct mq_error *err)
{
    struct mq_window *w;
    struct mq_str who;
    for (size_t i = 0; i < limit_count(tx); i++) {
        const struct mq_limit *limit = &tx->settings.limits->items[i];
        if (mq_window_holds(limit, party, &who)) {
            MQ_TRY(find(tx, limit, who, &w, err));
            w->promised += limit->mails ? 1 : recipients;
        }
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
        if (mq_window_holds(limit, &outlay->party, &who)) {
            MQ_TRY(find(tx, limit, who, &w, err));
            MQ_TRY(return_to(tx, w, outlay, err));
        }
    }
    return return_by_domain(tx, outlay, err);
}

/* ---- the end ---- */

static enum mq_status store_one(struct mq_tx *tx, struct mq_window *w, struct mq_error *err)
{
    MQ_TRY(mq_ledger_write(tx, w, err));
    if (mq_is_strict(tx) || (!w->taken && w->given == 0)) {
        return MQ_OK;
    }
    MQ_TRY(mq_window_load(tx, w, err));
    return mq_bucket_write(tx, w, err);
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
    for (size_t i = 0; i < windows->under_way_count; i++) {
        mq_under_way_clear(&windows->under_way[i]);
    }
    free(windows->items);
    free(windows->under_way);
    free(windows->lines);
    free(windows);
}
