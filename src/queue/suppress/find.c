/* Which recipients are suppressed. Most are not: recipients that were looked up when their mail was
 * stored are compared with the suppressions that came since, in memory; the database is asked for
 * the rest, many at a time. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "core/ascii.h"
#include "core/json.h"
#include "db/db.h"
#include "queue/enqueue.h"
#include "queue/handle.h"
#include "queue/job.h"
#include "queue/sql/transaction.h"
#include "queue/suppress/internal.h"

#define HASHES_A_QUERY 500

/* A recipient to look up. */
struct suspect {
    uint64_t hash;
    struct mq_str address;
    struct mq_str scope; /* of its mail; data NULL: none */
    int64_t campaign_id; /* of its mail; 0: none */
    char **why;          /* out, malloc'ed; NULL in *why: not suppressed */
};

struct suspects {
    struct suspect *items;
    size_t count;
    size_t room;
    bool failed; /* without memory */
};

static void add_suspect(struct suspects *all, const struct suspect *one)
{
    if (all->count == all->room) {
        size_t room = all->room ? all->room * 2 : 64;
        struct suspect *items = realloc(all->items, room * sizeof(*items));
        all->failed = all->failed || !items;
        all->items = items ? items : all->items;
        all->room = items ? room : all->room;
    }
    if (!all->failed) {
        all->items[all->count++] = *one;
    }
}

static int compare(const void *a, const void *b)
{
    const struct suspect *x = a, *y = b;
    return (x->hash > y->hash) - (x->hash < y->hash);
}

/* ---- rows ---- */

/* Columns of the query below. */
enum { HASH, SCOPE, REASON, ADDRESS, SOURCE, CREATED_AT, CAMPAIGN };

/* Whether the row is about the suspect's mail. Mail to no list passes an unsubscription. Mail of a
 * campaign with a list has the list as its scope, so it is found by the campaign's id. */
static bool in_scope(struct mq_queue *queue, const struct suspect *suspect)
{
    struct mq_str scope = mq_sql_column_str(queue, SCOPE);
    bool unsubscribed = mq_str_equal(mq_sql_column_str(queue, REASON), MQ_STR("unsubscribe"));
    if (scope.len == 0) {
        return suspect->scope.len > 0 || !unsubscribed;
    }
    return mq_str_equal(scope, suspect->scope) ||
           (suspect->campaign_id && mq_str_begins(scope, MQ_SCOPE_OF_CAMPAIGN) &&
            mq_sql_column_int(queue, CAMPAIGN) == suspect->campaign_id);
}

/* Whether the row is about this recipient. One whose address was deleted has only the hash. */
static bool concerns(struct mq_queue *queue, const struct suspect *suspect)
{
    struct mq_str address = mq_sql_column_str(queue, ADDRESS);
    return in_scope(queue, suspect) &&
           (!address.data || mq_str_equal_nocase(address, suspect->address));
}

/* "suppressed: unsubscribe from list:news, 2026-11-26 (unsubscribe page)" */
static char *say_why(struct mq_queue *queue)
{
    struct mq_buffer text = {0};
    char day[16] = "";
    time_t at = (time_t)mq_sql_column_int(queue, CREATED_AT);
    struct tm utc;
    if (gmtime_r(&at, &utc)) {
        strftime(day, sizeof(day), "%Y-%m-%d", &utc);
    }
    struct mq_str scope = mq_sql_column_str(queue, SCOPE);
    struct mq_str source = mq_sql_column_str(queue, SOURCE);
    mq_buffer_cstr(&text, "suppressed: ");
    mq_buffer_str(&text, mq_sql_column_str(queue, REASON));
    mq_buffer_cstr(&text, scope.len ? " from " : "");
    mq_buffer_printable(&text, scope);
    mq_buffer_printf(&text, ", %s", day);
    mq_buffer_cstr(&text, source.len ? " (" : "");
    mq_buffer_printable(&text, source);
    mq_buffer_cstr(&text, source.len ? ")" : "");
    char *result = mq_buffer_take(&text);
    mq_buffer_clear(&text);
    return result;
}

/* Marks the suspects that the current row is about. */
static enum mq_status mark(struct mq_queue *queue, struct suspects *all, struct mq_error *err)
{
    const struct suspect key = {.hash = (uint64_t)mq_sql_column_int(queue, HASH)};
    struct suspect *one = bsearch(&key, all->items, all->count, sizeof(key), compare);
    while (one && one > all->items && one[-1].hash == key.hash) {
        one--;
    }
    for (; one && one < all->items + all->count && one->hash == key.hash; one++) {
        if (!*one->why && concerns(queue, one)) {
            *one->why = say_why(queue);
            if (!*one->why) {
                return mq_error_nomem(err);
            }
        }
    }
    return MQ_OK;
}

/* Asks for the suspects from *next on, and sets *next behind them. */
static enum mq_status ask_some(struct mq_queue *queue, struct suspects *all, size_t *next,
                               struct mq_error *err)
{
    struct mq_buffer text = {0};
    size_t end = all->count - *next < HASHES_A_QUERY ? all->count : *next + HASHES_A_QUERY;
    mq_buffer_cstr(&text, "SELECT hash, scope, reason, address, source, created_at, "
                          "(SELECT id FROM {M} WHERE name = substr(found.scope, 10)) "
                          "FROM {Z} AS found WHERE hash IN (");
    for (size_t i = *next; i < end; i++) {
        mq_buffer_printf(&text, "%s%" PRId64, i > *next ? "," : "", (int64_t)all->items[i].hash);
    }
    mq_buffer_cstr(&text, ") ORDER BY hash, scope, reason");
    *next = end;
    enum mq_status status = text.failed ? mq_error_nomem(err)
                                        : mq_sql_query_template(queue, text.data, MQ_NO_ARGS, err);
    mq_buffer_clear(&text);
    while (mq_sql_next(queue, &status, err)) {
        status = mark(queue, all, err);
    }
    return status;
}

/* Fills `why` of the suppressed ones, and frees the list. */
static enum mq_status ask(struct mq_queue *queue, struct suspects *all, struct mq_error *err)
{
    enum mq_status status = all->failed ? mq_error_nomem(err) : MQ_OK;
    if (all->count) {
        qsort(all->items, all->count, sizeof(*all->items), compare);
    }
    for (size_t next = 0; next < all->count && status == MQ_OK;) {
        status = ask_some(queue, all, &next, err);
    }
    free(all->items);
    return status;
}

/* ---- new jobs ---- */

/* Looks up all recipients; found[i] is not NULL if one of jobs[i] is suppressed. */
static enum mq_status look_up_new(struct mq_queue *queue, const struct mq_new_job *jobs,
                                  size_t count, char **found, struct mq_error *err)
{
    struct suspects all = {0};
    const struct mq_suppress_state *state = mq_suppress_load(queue, err);
    if (!state) {
        return err->status;
    }
    for (size_t i = 0; i < count; i++) {
        for (size_t j = 0; jobs[i].recipients && j < jobs[i].recipients->count; j++) {
            struct mq_str address = mq_str_of(jobs[i].recipients->items[j]);
            add_suspect(&all, &(struct suspect){mq_suppress_hash(state->key, address), address,
                                                jobs[i].scope, 0, &found[i]});
        }
    }
    return ask(queue, &all, err);
}

/* One mail on a server is left to the claim, because each statement is a round trip. */
enum mq_status mq_suppress_new(struct mq_tx *tx, struct mq_new_job *jobs, size_t count,
                               struct mq_error *err)
{
    int64_t newest = 0;
    for (size_t i = 0; i < count; i++) {
        jobs[i].cleared = 0;
    }
    /* The claim looks these up: on a server to ask now is a round trip, and in the application's
     * transaction the first statement must write, or it would not wait for another writer. */
    if (tx->queue->dialect->shared || tx->joined) {
        return MQ_OK;
    }
    MQ_TRY(mq_suppress_newest(tx->queue, false, &newest, err));
    if (newest == 0) {
        return MQ_OK;
    }
    char **found = calloc(count, sizeof(*found));
    struct mq_error why = {.status = MQ_OK};
    enum mq_status status =
        found ? look_up_new(tx->queue, jobs, count, found, &why) : mq_error_nomem(&why);
    for (size_t i = 0; found && i < count; i++) {
        jobs[i].cleared = found[i] || status != MQ_OK ? 0 : newest;
        free(found[i]);
    }
    free(found);
    if (status != MQ_OK && status != MQ_CONFIG && err) {
        *err = why;
    }
    return status == MQ_CONFIG ? MQ_OK : status; /* without a key, the claim says so */
}

/* ---- recipients of campaigns ---- */

/* Sets `found` of those that are suppressed; why[] has room for each. */
static enum mq_status look_up(struct mq_queue *queue, struct mq_suppress_checks *checks, char **why,
                              struct mq_error *err)
{
    struct suspects all = {0};
    struct mq_suppress_check *items = checks->items;
    for (size_t i = 0; i < checks->count; i++) {
        add_suspect(&all, &(struct suspect){items[i].hash, items[i].address, checks->scope,
                                            checks->campaign_id, &why[i]});
    }
    enum mq_status status = ask(queue, &all, err);
    for (size_t i = 0; i < checks->count; i++) {
        items[i].found = why[i] != NULL;
        free(why[i]);
    }
    return status;
}

static enum mq_status hash_all(struct mq_queue *queue, struct mq_suppress_checks *checks,
                               struct mq_error *err)
{
    struct mq_error why = {.status = MQ_CONFIG};
    const struct mq_suppress_state *state = mq_suppress_load(queue, &why);
    for (size_t i = 0; state && i < checks->count; i++) {
        checks->items[i].hash = mq_suppress_hash(state->key, checks->items[i].address);
        checks->items[i].found = false;
    }
    if (!state && err) {
        *err = why;
    }
    return state ? MQ_OK : why.status;
}

enum mq_status mq_suppress_check(struct mq_tx *tx, struct mq_suppress_checks *checks,
                                 struct mq_error *err)
{
    MQ_TRY(hash_all(tx->queue, checks, err));
    MQ_TRY(mq_suppress_newest(tx->queue, false, &checks->newest, err));
    if (checks->newest == 0 || checks->count == 0) {
        return MQ_OK;
    }
    char **why = calloc(checks->count, sizeof(*why));
    enum mq_status status = why ? look_up(tx->queue, checks, why, err) : mq_error_nomem(err);
    free(why);
    return status;
}

/* ---- due jobs ---- */

static bool make_room(struct mq_job *job)
{
    job->suppressed =
        job->suppressed ? job->suppressed : calloc(job->recipients.count, sizeof(*job->suppressed));
    return job->suppressed != NULL;
}

/* Adds the job's recipients; if `known`, only those that are as new as the hashes in memory. */
static void add_job(const struct mq_suppress_state *state, struct mq_job *job, bool known,
                    struct suspects *all)
{
    struct mq_str scope = mq_str_of(job->scope);
    for (size_t i = 0; i < job->recipients.count && !all->failed; i++) {
        struct mq_str address = mq_str_of(job->recipients.items[i]);
        uint64_t hash = mq_suppress_hash(state->key, address);
        if (known && !mq_suppress_is_recent(state, hash)) {
            continue;
        }
        all->failed = !make_room(job);
        if (!all->failed) {
            add_suspect(all, &(struct suspect){hash, address, scope, job->campaign_id,
                                               &job->suppressed[i]});
        }
    }
}

/* The least number that a job of the list was looked up with, of those from `least` on; `newest` if
 * there is none. */
static int64_t least_cleared(const struct mq_job_list *due, int64_t least, int64_t newest)
{
    int64_t from = newest;
    for (size_t i = 0; i < due->count; i++) {
        int64_t one = due->jobs[i].cleared;
        from = one > 0 && one >= least && one < from ? one : from;
    }
    return from;
}

static void drop_empty(struct mq_job *job)
{
    bool any = false;
    for (size_t i = 0; job->suppressed && i < job->recipients.count; i++) {
        any = any || job->suppressed[i];
    }
    if (!any) {
        free(job->suppressed);
        job->suppressed = NULL;
    }
}

/* Adds the recipients that a suppression may have come for since they were looked up. */
static enum mq_status add_jobs(struct mq_tx *tx, struct mq_suppress_state *state,
                               struct mq_job_list *due, struct suspects *all, struct mq_error *err)
{
    int64_t newest = tx->settings.suppressed;
    int64_t from = least_cleared(due, newest - mq_suppress_reach(state), newest);
    /* Within the application's transaction, which can be undone, what was read is not kept. */
    bool reads = from < newest && !tx->joined;
    MQ_TRY(reads ? mq_suppress_recent(tx->queue, state, from, newest, err) : MQ_OK);
    for (size_t i = 0; i < due->count; i++) {
        struct mq_job *job = &due->jobs[i];
        if (job->cleared < newest) {
            add_job(state, job, reads && job->cleared >= from, all);
        }
    }
    state->asked += all->count;
    return MQ_OK;
}

enum mq_status mq_suppress_find(struct mq_tx *tx, struct mq_job_list *due, struct mq_error *err)
{
    struct suspects all = {0};
    if (tx->settings.suppressed == 0 || due->count == 0) {
        return MQ_OK;
    }
    struct mq_suppress_state *state =
        mq_suppress_state(tx->queue, tx->settings.suppression_key, err);
    if (!state) {
        return err ? err->status : MQ_CONFIG;
    }
    MQ_TRY(add_jobs(tx, state, due, &all, err));
    MQ_TRY(ask(tx->queue, &all, err));
    for (size_t i = 0; i < due->count; i++) {
        drop_empty(&due->jobs[i]);
    }
    return MQ_OK;
}
