/* When mail will go, at the present limits and in the present order. Nothing is written. */
#include <stdlib.h>
#include <string.h>

#include "queue/all_limits.h"
#include "queue/config/kept_hours.h"
#include "queue/config/keys.h"
#include "queue/config/known_relays.h"
#include "queue/handle.h"
#include "queue/job.h"
#include "queue/manage.h"
#include "queue/queue.h"
#include "queue/sql/statements.h"
#include "queue/windows/internal.h"

#define ABOVE_ALL (INT64_C(1) << 40) /* no priority is as large */
#define AHEAD_MAX 10000              /* mails before one whose time is told */

static enum mq_status add_row(struct mq_window *w, int64_t at_s, int64_t n, size_t *room,
                              struct mq_error *err)
{
    if (w->row_count == *room) {
        *room = *room ? 2 * *room : 64;
        int64_t *rows = realloc(w->rows, 2 * *room * sizeof(*rows));
        if (!rows) {
            return mq_error_nomem(err);
        }
        w->rows = rows;
    }
    w->rows[2 * w->row_count] = at_s;
    w->rows[2 * w->row_count + 1] = n;
    w->row_count++;
    return MQ_OK;
}

/* Reads the ledger once, for all mails that are asked about. */
static enum mq_status read_rows(struct mq_tx *tx, struct mq_window *w, struct mq_error *err)
{
    size_t room = 0;
    if (w->rows) {
        return MQ_OK;
    }
    struct mq_args args = MQ_ARGS(mq_cstr(w->scope), mq_int(tx->now_s));
    enum mq_status status = mq_sql_query(tx->queue, MQ_SQL_WINDOW_ROWS, args, err);
    while (mq_sql_next(tx->queue, &status, err)) {
        int64_t at_s = mq_sql_column_int(tx->queue, 0);
        status = add_row(w, at_s, mq_sql_column_int(tx->queue, 1), &room, err);
    }
    return status;
}

/* When number k can go, k from 1 to N, the reserve included: what is in the ledger leaves at its
 * time, and what is under way counts for a window from now. */
static int64_t strict_at_s(const struct mq_tx *tx, const struct mq_window *w, int64_t k)
{
    int64_t missing = k - (w->limit->n - w->under_way - w->spent);
    int64_t at_s = tx->now_s;
    for (size_t i = 0; i < w->row_count && missing > 0; i++) {
        at_s = w->rows[2 * i];
        missing -= w->rows[2 * i + 1];
    }
    return missing > 0 ? tx->now_s + mq_window_span_s(w->limit) : at_s;
}

static int64_t average_at_s(const struct mq_tx *tx, const struct mq_window *w, int64_t k)
{
    int64_t missing = k * mq_bucket_units(&w->bucket) - w->bucket.units;
    return missing > 0 ? tx->now_s + (missing + w->limit->n - 1) / w->limit->n : tx->now_s;
}

/* When the limits for all mail have let those go, if nothing else goes. *slowest is the limit that
 * decides; NULL if none does. */
static enum mq_status windows_at_s(struct mq_tx *tx, const struct mq_ahead *ahead, int64_t *at_s,
                                   const struct mq_limit **slowest, struct mq_error *err)
{
    const struct mq_party anyone = {0};
    const struct mq_limits *limits = tx->settings.limits;
    struct mq_window *w = NULL;
    *at_s = tx->now_s;
    *slowest = NULL;
    for (size_t i = 0; limits && i < limits->count; i++) {
        const struct mq_limit *limit = &limits->items[i];
        if (limit->scope != MQ_SCOPE_ALL) {
            continue;
        }
        int64_t k = limit->mails ? ahead->mails : ahead->recipients;
        MQ_TRY(mq_window_find(tx, limit, &anyone, &w, err));
        MQ_TRY(mq_window_load(tx, w, err));
        MQ_TRY(read_rows(tx, w, err));
        /* After N more, each of them counts for a window: the next N go a window later. */
        int64_t reserve = mq_window_reserve(tx, w, ahead->leaves), n = limit->n - reserve;
        int64_t rounds_s = (k - 1) / n * mq_window_span_s(limit);
        int64_t its_s = mq_is_strict(tx) ? strict_at_s(tx, w, (k - 1) % n + 1 + reserve) + rounds_s
                                         : average_at_s(tx, w, k + reserve);
        *slowest = its_s > *at_s ? limit : *slowest;
        *at_s = its_s > *at_s ? its_s : *at_s;
    }
    return MQ_OK;
}

/* How long the hourly limit takes; -1 without one. */
static int64_t hourly_in_s(const struct mq_tx *tx, const struct mq_ahead *all)
{
    const struct mq_bucket *bucket = &tx->settings.bucket;
    if (bucket->limit <= 0) {
        return -1;
    }
    int64_t tokens = all->recipients + mq_limit_reserve(tx, all->leaves);
    int64_t missing = all->mails > 0 ? tokens * MQ_BUCKET_UNITS - bucket->units : 0;
    return missing > 0 ? (missing + bucket->limit / 2) / bucket->limit : 0;
}

enum mq_status mq_limits_expect(struct mq_tx *tx, const struct mq_ahead *all, int64_t *in_s,
                                struct mq_error *err)
{
    const struct mq_limit *slowest;
    int64_t at_s = tx->now_s;
    *in_s = hourly_in_s(tx, all);
    if (!mq_settings_limit_by(&tx->settings, MQ_SCOPE_ALL)) {
        return MQ_OK;
    }
    if (all->mails > 0) {
        MQ_TRY(windows_at_s(tx, all, &at_s, &slowest, err));
    }
    *in_s = at_s - tx->now_s > *in_s ? at_s - tx->now_s : *in_s;
    return MQ_OK;
}

/* ---- when a job will go ---- */

/* Counts the jobs that a claim takes before this one: up to AHEAD_MAX. */
static enum mq_status count_ahead(struct mq_queue *queue, const struct mq_job *job, int64_t until_s,
                                  int64_t *ahead, struct mq_error *err)
{
    int64_t priority = ABOVE_ALL;
    *ahead = 0;
    while (*ahead < AHEAD_MAX) {
        int64_t below = priority, before = 0;
        MQ_TRY(mq_sql_int(queue, MQ_SQL_CLAIM_PRIORITY, MQ_ARGS(mq_int(below)), &priority, err));
        if (priority == below || priority < job->priority) {
            return MQ_OK;
        }
        bool same = priority == job->priority;
        int64_t to_s = same && job->next_attempt_at < until_s ? job->next_attempt_at : until_s;
        struct mq_args args = MQ_ARGS(mq_int(priority), mq_int(to_s), mq_int(AHEAD_MAX - *ahead),
                                      mq_int(same ? job->id : INT64_MAX));
        MQ_TRY(mq_sql_int(queue, MQ_SQL_DUE_BEFORE, args, &before, err));
        *ahead += before;
    }
    return MQ_OK;
}

/* The time at which the bucket has had tokens for so many recipients. */
static int64_t tokens_s(const struct mq_bucket *bucket, int64_t now_s, int64_t recipients)
{
    int64_t missing = recipients * MQ_BUCKET_UNITS - bucket->units;
    return missing > 0 ? now_s + (missing + bucket->limit - 1) / bucket->limit : now_s;
}

static bool is_waiting(const struct mq_job *job)
{
    return job->state == MQ_PENDING || job->state == MQ_FAILED;
}

/* Notes the limit that a job waits for. */
static enum mq_status wait_for(struct mq_job *job, struct mq_str limit, struct mq_error *err)
{
    free(job->put_back);
    job->put_back = mq_str_dup(limit);
    return job->put_back ? MQ_OK : mq_error_nomem(err);
}

/* Moves the expected time to that at which the limits for all mail let the job go. */
static enum mq_status expect_limits(struct mq_tx *tx, struct mq_job *job, int64_t ahead,
                                    int64_t *from_s, struct mq_error *err)
{
    const struct mq_bucket *bucket = &tx->settings.bucket;
    int64_t recipients = job->recipients.count ? (int64_t)job->recipients.count : 1;
    const struct mq_ahead those = {ahead + recipients, ahead + 1, job->priority < 0};
    int64_t tokens = ahead + recipients + mq_limit_reserve(tx, those.leaves);
    int64_t paid_s = bucket->limit > 0 ? tokens_s(bucket, tx->now_s, tokens) : 0;
    const struct mq_limit *slowest;
    int64_t room_s;
    if (paid_s > *from_s) {
        *from_s = paid_s;
        MQ_TRY(wait_for(job, mq_str_of(mq_config_keys[MQ_KEY_MAX_PER_HOUR].name), err));
    }
    MQ_TRY(windows_at_s(tx, &those, &room_s, &slowest, err));
    if (room_s > *from_s) {
        *from_s = room_s;
        MQ_TRY(wait_for(job, slowest->text, err));
    }
    return MQ_OK;
}

/* Whether the job is put back until its hours begin, or by rules that have changed, so that the
 * next claim brings it forward. */
static bool is_put_back(const struct mq_tx *tx, const struct mq_job *job)
{
    int64_t marked = mq_settings_marked(&tx->settings, tx->queue->names.table);
    return (job->parked_for && strcmp(job->parked_for, MQ_FOR_HOURS) == 0) ||
           (job->put_back && marked != mq_settings_mark(&tx->settings));
}

static enum mq_status expect_one(struct mq_tx *tx, struct mq_job *job, struct mq_error *err)
{
    int64_t ahead = 0;
    if (!tx->settings.enabled) {
        return MQ_OK;
    }
    int64_t from_s = job->next_attempt_at > tx->now_s && !is_put_back(tx, job)
                         ? job->next_attempt_at
                         : tx->now_s;
    if (tx->settings.bucket.limit > 0 || mq_settings_limit_by(&tx->settings, MQ_SCOPE_ALL)) {
        MQ_TRY(count_ahead(tx->queue, job, from_s, &ahead, err));
        if (ahead >= AHEAD_MAX) {
            return MQ_OK;
        }
        MQ_TRY(expect_limits(tx, job, ahead, &from_s, err));
    }
    job->expected_at = from_s;
    return MQ_OK;
}

static void expect_pause(const struct mq_strings *routes, const char *pauses, int64_t now_s,
                         struct mq_job *job)
{
    int64_t end_s = job->expected_at
                        ? mq_routes_pause_s(routes, pauses, now_s, job->relay, job->envelope_from)
                        : 0;
    if (end_s > job->expected_at) {
        job->expected_at = end_s;
        job->waits_for = MQ_FOR_PAUSE;
    }
}

static void expect_hours(const struct mq_queue *queue, const struct mq_settings *settings,
                         struct mq_job *job)
{
    int64_t at_s = job->expected_at;
    if (at_s) {
        job->expected_at = mq_hours_opening(queue, settings, job->mail_type, at_s);
        job->waits_for = job->expected_at > at_s ? MQ_FOR_HOURS : job->waits_for;
    }
}

/* Whether `job` is claimed after `last`, before which there are too many mails already. */
static bool is_behind(const struct mq_job *job, const struct mq_job *last, int64_t now_s)
{
    bool later = job->next_attempt_at >= last->next_attempt_at;
    return job->priority == last->priority
               ? later && job->id > last->id
               : job->priority < last->priority && (later || last->next_attempt_at <= now_s);
}

enum mq_status mq_queue_expect(struct mq_queue *queue, struct mq_job *jobs, size_t count,
                               struct mq_error *err)
{
    struct mq_tx tx = {.queue = queue, .only_read = true};
    MQ_TRY(mq_queue_now(queue, &tx.now_s, err));
    enum mq_status status = mq_settings_load(queue, tx.now_s, &tx.settings, err);
    status = status == MQ_OK ? mq_hours_load(queue, &tx.settings, tx.now_s, err) : status;
    if (status == MQ_CONFIG) {
        mq_settings_clear(&tx.settings);
        return MQ_OK; /* nothing is sent until that is corrected */
    }
    int64_t token_s;
    status = status == MQ_OK ? mq_limit_look(&tx, &token_s, err) : status;
    struct mq_strings routes = {0};
    if (status == MQ_OK && tx.settings.pauses) {
        status = mq_routes_load(queue, &routes, err);
    }
    const struct mq_job *last = NULL;
    for (size_t i = 0; i < count && status == MQ_OK; i++) {
        struct mq_job *job = &jobs[i];
        if (is_waiting(job) && !(last && is_behind(job, last, tx.now_s))) {
            status = expect_one(&tx, job, err);
            last = job->expected_at || (last && last->priority > job->priority) ? last : job;
        }
        expect_pause(&routes, tx.settings.pauses, tx.now_s, job);
        expect_hours(queue, &tx.settings, job);
    }
    mq_strings_clear(&routes);
    mq_windows_free(tx.windows);
    mq_settings_clear(&tx.settings);
    return status;
}
