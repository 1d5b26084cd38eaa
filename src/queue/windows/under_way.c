/* For whom a limit holds, and what is under way: the jobs in sending that have paid. */
#include <stdlib.h>
#include <string.h>

#include "core/hash.h"
#include "core/json.h"
#include "queue/handle.h"
#include "queue/sql/statements.h"
#include "queue/windows/internal.h"

bool mq_window_is_of(const struct mq_window *w, const struct mq_limit *limit, struct mq_str who,
                     uint64_t hash)
{
    return w->limit == limit && w->hash == hash && mq_str_equal_nocase(mq_str_of(w->who), who);
}

bool mq_window_holds(const struct mq_limit *limit, const struct mq_party *party, struct mq_str *who)
{
    bool sender = limit->scope == MQ_SCOPE_SENDER || limit->scope == MQ_SCOPE_DOMAIN;
    bool relay = limit->scope == MQ_SCOPE_RELAY;
    return (sender || !party->only_from) && (relay || !party->only_relay) &&
           mq_limit_holds(limit, party->relay, party->from, who);
}

int64_t mq_recipients_count(const struct mq_window *w, const struct mq_strings *recipients)
{
    int64_t n = 0;
    for (size_t i = 0; i < recipients->count && !(n && w->limit->mails); i++) {
        struct mq_str who;
        n += mq_limit_holds_to(w->limit, recipients->items[i], &who) &&
             mq_str_equal_nocase(who, mq_str_of(w->who));
    }
    return n;
}

void mq_under_way_clear(struct mq_under_way *one)
{
    free(one->relay);
    free(one->from);
    free(one->to);
}

static enum mq_status add_under_way(struct mq_windows *all, struct mq_under_way *one,
                                    struct mq_error *err)
{
    struct mq_under_way *items = all->under_way;
    if (all->under_way_count == all->under_way_room) {
        size_t room = all->under_way_room ? 2 * all->under_way_room : 64;
        items = realloc(items, room * sizeof(*items));
        all->under_way = items ? items : all->under_way;
        all->under_way_room = items ? room : all->under_way_room;
    }
    if (items) {
        items[all->under_way_count++] = *one;
        return MQ_OK;
    }
    mq_under_way_clear(one);
    return mq_error_nomem(err);
}

/* Reads the domains of the recipients that a job has paid for. */
static enum mq_status read_paid(const struct mq_tx *tx, struct mq_str list,
                                struct mq_under_way *out, struct mq_error *err)
{
    struct mq_strings to = {0};
    if (!mq_settings_limit_by(&tx->settings, MQ_SCOPE_TO) || !list.data) {
        return MQ_OK;
    }
    bool lacks = mq_json_read(list, '[', &to) == MQ_NOMEM;
    /* Recipients whose mail is redirected can have one address together. */
    bool all = tx->settings.redirect_to || (int64_t)to.count < out->paid;
    size_t count = all ? to.count : (size_t)out->paid;
    out->to = !lacks && count > 0 ? calloc(count, sizeof(*out->to)) : NULL;
    for (; out->to && out->to_count < count; out->to_count++) {
        const char *at = strrchr(to.items[out->to_count], '@');
        out->to[out->to_count] = mq_hash_lower(mq_str_of(at));
    }
    mq_strings_clear(&to);
    return lacks || out->to_count < count ? mq_error_nomem(err) : MQ_OK;
}

/* Reads what current leases have paid for, once in a transaction. */
static enum mq_status read_under_way(struct mq_tx *tx, struct mq_error *err)
{
    struct mq_windows *all = tx->windows;
    if (all->has_under_way) {
        return MQ_OK;
    }
    enum mq_status status = mq_sql_query(tx->queue, MQ_SQL_UNDER_WAY, MQ_NO_ARGS, err);
    while (mq_sql_next(tx->queue, &status, err)) {
        struct mq_str relay = mq_sql_column_str(tx->queue, 0);
        struct mq_str from = mq_sql_column_str(tx->queue, 1);
        struct mq_under_way one = {.relay = relay.data ? mq_str_dup(relay) : NULL,
                                   .from = from.data ? mq_str_dup(from) : NULL,
                                   .paid = mq_sql_column_int(tx->queue, 2)};
        status = read_paid(tx, mq_sql_column_str(tx->queue, 3), &one, err);
        if (status == MQ_OK) {
            status = add_under_way(all, &one, err);
        } else {
            mq_under_way_clear(&one);
        }
    }
    all->has_under_way = status == MQ_OK;
    return status;
}

/* How many of its recipients count for a window of a domain. */
static int64_t count_to(const struct mq_window *w, const struct mq_under_way *one)
{
    int64_t n = 0;
    for (size_t i = 0; i < one->to_count; i++) {
        n += one->to[i] == w->hash;
    }
    return w->limit->mails && n > 0 ? 1 : n;
}

enum mq_status mq_window_count_under_way(struct mq_tx *tx, struct mq_window *w,
                                         struct mq_error *err)
{
    MQ_TRY(read_under_way(tx, err));
    for (size_t i = 0; i < tx->windows->under_way_count; i++) {
        const struct mq_under_way *one = &tx->windows->under_way[i];
        const struct mq_party party = {.relay = one->relay, .from = one->from};
        struct mq_str who;
        if (w->limit->scope == MQ_SCOPE_TO) {
            w->under_way += count_to(w, one);
        } else if (mq_window_holds(w->limit, &party, &who) &&
                   mq_window_is_of(w, w->limit, who, mq_hash_lower(who))) {
            w->under_way += w->limit->mails ? 1 : one->paid;
        }
    }
    return MQ_OK;
}
