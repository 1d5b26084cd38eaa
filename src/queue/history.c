/* Writes counters and history. Both come from the events of a transaction.
 *
 * The counters are the last rows that a transaction locks, and always in the same order. On a
 * server a counter has several parts, so that transactions do not wait for each other's commits: a
 * few that connections share, and one of its own for each transaction of the application, which can
 * stay open for long. The sweep adds up the parts of past hours. */
#include "queue/history.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "queue/config/keys.h"
#include "queue/event.h"
#include "queue/handle.h"

#define HOUR_S        3600
#define COUNT_COLUMNS 6
#define SHARED_PARTS  8
#define PARTS         (INT32_MAX - 1)
#define LOG_COLUMNS   14

struct counter {
    const char *mail_type;
    const char *event;
    int64_t mails;
    int64_t recipients;
};

/* Whether the event is about a mail. A release without a reason is not: nothing was tried. */
static bool counts(const struct mq_event *event)
{
    bool idle = event->type == MQ_EVENT_RELEASED && !event->reply;
    return event->id != 0 && event->mail_type && !idle;
}

/* ---- counters ---- */

static int compare(const void *left, const void *right)
{
    const struct counter *a = left, *b = right;
    int by_type = strcmp(a->mail_type, b->mail_type);
    return by_type ? by_type : strcmp(a->event, b->event);
}

/* Adds up the events in `out`, which has room for one counter per event. */
static int add_up(const struct mq_history *history, struct counter *out)
{
    int n = 0;
    for (size_t i = 0; i < history->count; i++) {
        const struct mq_event *event = &history->events[i];
        struct counter one = {event->mail_type, mq_event_type_name(event->type), 0, 0};
        int at = 0;
        if (!counts(event)) {
            continue;
        }
        while (at < n && compare(&out[at], &one) != 0) {
            at++;
        }
        if (at == n) {
            out[n++] = one;
        }
        out[at].mails++;
        out[at].recipients += event->counted;
    }
    return n;
}

/* Part 0 of a file, whose writers take turns. */
static int64_t choose_part(struct mq_queue *queue, bool joined)
{
    if (!queue->dialect->shared) {
        return 0;
    }
    if (joined || queue->part == 0) {
        double unit = queue->random.unit(queue->random.context);
        int64_t own = SHARED_PARTS + 1 + (int64_t)(unit * (PARTS - SHARED_PARTS));
        queue->part = queue->part ? queue->part : 1 + own % SHARED_PARTS;
        return joined ? own : queue->part;
    }
    return queue->part;
}

static enum mq_status write_counters(struct mq_queue *queue, const struct mq_history *history,
                                     const struct counter *counters, int n, struct mq_error *err)
{
    int64_t hour_s = history->now_s - history->now_s % HOUR_S;
    int64_t part = choose_part(queue, history->joined);
    struct mq_value *values = calloc((size_t)n, COUNT_COLUMNS * sizeof(*values));
    struct mq_value *v = values;
    for (int i = 0; i < n && values; i++) {
        *v++ = mq_int(hour_s);
        *v++ = mq_cstr(counters[i].mail_type);
        *v++ = mq_cstr(counters[i].event);
        *v++ = mq_int(part);
        *v++ = mq_int(counters[i].mails);
        *v++ = mq_int(counters[i].recipients);
    }
    struct mq_args args = {values, n * COUNT_COLUMNS};
    enum mq_status status =
        values ? mq_sql_insert_rows(queue, MQ_SQL_COUNT_ADD, args, n, err) : mq_error_nomem(err);
    free(values);
    return status;
}

static enum mq_status count_events(struct mq_queue *queue, const struct mq_history *history,
                                   struct mq_error *err)
{
    struct counter *counters = calloc(history->count, sizeof(*counters));
    if (!counters) {
        return mq_error_nomem(err);
    }
    int n = add_up(history, counters);
    qsort(counters, (size_t)n, sizeof(*counters), compare);
    enum mq_status status = n ? write_counters(queue, history, counters, n, err) : MQ_OK;
    free(counters);
    return status;
}

/* ---- history ---- */

static void fill_row(const struct mq_event *event, struct mq_value *v)
{
    *v++ = mq_int(event->at_s);
    *v++ = mq_int(event->id);
    *v++ = mq_cstr(event->reference);
    *v++ = mq_cstr(event->mail_type);
    *v++ = mq_note(mq_str_of(event->subject));
    *v++ = mq_cstr(event->relay);
    *v++ = mq_cstr(mq_event_type_name(event->type));
    *v++ = mq_cstr(event->phase);
    *v++ = mq_int(event->attempt);
    *v++ = mq_int(event->counted);
    *v++ = mq_int(event->uncertain);
    *v++ = mq_note(mq_str_of(event->reply));
    *v++ = event->ms >= 0 ? mq_int(event->ms) : mq_null();
    *v++ = event->waited_s >= 0 ? mq_int(event->waited_s) : mq_null();
}

static enum mq_status write_log(struct mq_queue *queue, const struct mq_history *history,
                                struct mq_error *err)
{
    struct mq_value *values = calloc(history->count, LOG_COLUMNS * sizeof(*values));
    int rows = 0;
    for (size_t i = 0; i < history->count && values; i++) {
        const struct mq_event *event = &history->events[i];
        if (counts(event) && event->type != MQ_EVENT_CLAIMED) {
            fill_row(event, &values[LOG_COLUMNS * rows++]);
        }
    }
    struct mq_args args = {values, rows * LOG_COLUMNS};
    enum mq_status status =
        values ? mq_sql_insert_rows(queue, MQ_SQL_LOG_ADD, args, rows, err) : mq_error_nomem(err);
    free(values);
    return status;
}

enum mq_status mq_history_days(struct mq_queue *queue, int64_t *days, struct mq_error *err)
{
    const struct mq_config_key *key = &mq_config_keys[MQ_KEY_HISTORY_DAYS];
    char *text = NULL;
    MQ_TRY(mq_sql_text_of(queue, MQ_SQL_CONFIG_GET, MQ_ARGS(mq_cstr(key->name)), &text, err));
    struct mq_str value = mq_str_trim(mq_str_of(text));
    *days = value.len ? -1 : 0;
    mq_config_parse(key->kind, value, days);
    free(text);
    return MQ_OK;
}

enum mq_status mq_history_write(struct mq_queue *queue, const struct mq_history *history,
                                struct mq_error *err)
{
    int64_t days = history->days;
    if (history->count == 0) {
        return MQ_OK;
    }
    if (days < 0) {
        MQ_TRY(mq_history_days(queue, &days, err));
    }
    if (days > 0) {
        MQ_TRY(write_log(queue, history, err));
    }
    return count_events(queue, history, err);
}
