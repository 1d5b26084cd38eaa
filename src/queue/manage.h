/* What people and programs see of the queue and do to its jobs. */
#ifndef MQ_QUEUE_MANAGE_H
#define MQ_QUEUE_MANAGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/buffer.h"
#include "core/error.h"
#include "policy/bucket.h"
#include "policy/job_state.h"
#include "policy/limits.h"

struct mq_job;
struct mq_job_list;
struct mq_query; /* db/db.h */
struct mq_queue;
struct mq_value;

/* A limit of mailLimits or mailWarmup. */
struct mq_limit_state {
    char text[160];       /* as written, or its beginning */
    int64_t left;         /* recipients or mails that have room now; -1: it has many counts */
    int64_t full_until_s; /* 0: it has room */
};
struct mq_stats {
    int64_t counts[MQ_STATE_COUNT];
    bool estimated[MQ_STATE_COUNT]; /* counts that are estimated */
    int64_t due;                    /* claimable now */
    bool due_estimated;
    int64_t oldest_waiting_s; /* created_at of the oldest pending or failed job; 0: none */
    int64_t next_due_s;       /* 0: none */
    int64_t limit;            /* recipients an hour; 0: none */
    int64_t burst;
    int64_t reserve; /* of that, for mail of priority 0 and above */
    enum mq_rate_mode rate_mode;
    struct mq_limit_state limits[2 * MQ_LIMITS_MAX];
    size_t limit_count;
    double tokens;      /* that are left now; 0 without a limit */
    int64_t token_s;    /* when the next one comes; 0: a token is left, or no limit is set */
    int64_t empty_in_s; /* until all is sent, at the limit; -1: unknown (no limit set) */
    bool enabled;
    int64_t last_run_s;     /* when a worker last ran; 0: never */
    char *paused;           /* why a relay is paused; NULL: none is */
    int64_t paused_until_s; /* 0: not paused */
    char *paused_relay;     /* redacted; NULL: none is */
    char *redirect_to;      /* test mode: "a@b" or "@domain"; NULL: off now */
    struct mq_closed {      /* rules of mailHours that are closed now */
        char *types;        /* as people read them */
        int64_t open_s;     /* the next opening */
    } * closed;
    size_t closed_count;
};
/* Counts are exact up to that number, and estimated beyond it: so no index is read to its end. */
enum mq_status mq_queue_stats(struct mq_queue *queue, int64_t exact_up_to, struct mq_stats *out,
                              struct mq_error *err);
void mq_stats_clear(struct mq_stats *stats);
/* Whether mail has been due for mailStaleAfter seconds, and no worker has run for as long. Sets
 * last_run_s. Asks nothing within the application's transaction on a server, which an error can
 * abort. */
enum mq_status mq_queue_is_stale(struct mq_queue *queue, bool *stale, int64_t *last_run_s,
                                 struct mq_error *err);

/* Which jobs to list. A text whose data is NULL, and a time of 0, do not restrict. */
struct mq_job_filter {
    int state; /* enum mq_state, or -1: any */
    int limit;
    int64_t after;                           /* id */
    struct mq_str type, reference, campaign; /* campaign: its name */
    /* Parts of these, in upper or lower case (SQLite: of ASCII letters): */
    struct mq_str recipient; /* of the recipients, also refused ones */
    struct mq_str error;
    struct mq_str subject;
    int64_t created_before_s;
    int64_t until;  /* an id: no later ones; 0: all */
    bool uncertain; /* may have arrived at one of its recipients */
    bool expected;  /* sets expected_at of the jobs, which is not a condition */
};
/* Lists jobs by ascending id, without their bodies and without rows of an unknown status. */
enum mq_status mq_queue_jobs(struct mq_queue *queue, const struct mq_job_filter *filter,
                             struct mq_job_list *out, struct mq_error *err);
/* The same of their ids alone. `items` has room for the filter's limit. */
enum mq_status mq_queue_job_ids(struct mq_queue *queue, const struct mq_job_filter *filter,
                                int64_t *items, size_t *count, struct mq_error *err);
/* Sets expected_at of waiting jobs: when they will go at the present limits and within their hours,
 * if each mail before them has one recipient; and waits_for of those that wait for their hours or
 * for a limit. Not set if sending is off, or if 10,000 mails or more go before. */
enum mq_status mq_queue_expect(struct mq_queue *queue, struct mq_job *jobs, size_t count,
                               struct mq_error *err);
/* A row that no run takes, because its status is unknown, or "sending" without a lease: a newer
 * version or another program wrote it. */
struct mq_stray {
    int64_t id;
    char status[64];
};
struct mq_strays {
    struct mq_stray items[100]; /* the first of them, by id */
    size_t count;
};
/* Lists stray rows. Reads the whole table. */
enum mq_status mq_queue_strays(struct mq_queue *queue, struct mq_strays *out, struct mq_error *err);
/* Reads one job with its body. *found: it exists. */
enum mq_status mq_queue_job(struct mq_queue *queue, int64_t id, struct mq_job *out, bool *found,
                            struct mq_error *err);
struct mq_ids {
    const int64_t *items;
    size_t count;
};
/* Makes jobs pending: those of `ids` that are parked or failed. If `ids` is NULL: all jobs that are
 * failed, or parked as refused or exhausted, 500 a transaction. `reset` sets attempts to 0; without
 * it, at least one attempt is left. Refused recipients come back. */
enum mq_status mq_queue_retry(struct mq_queue *queue, const struct mq_ids *ids, bool reset,
                              int64_t *changed, struct mq_error *err);
/* Parks those of `ids` that are pending or failed. */
enum mq_status mq_queue_hold(struct mq_queue *queue, const struct mq_ids *ids, int64_t *changed,
                             struct mq_error *err);
struct mq_resend {
    int64_t id;
    const char *to;      /* the address that replaces a recipient; NULL: none */
    const char *instead; /* the recipient to be replaced; NULL: the only one that was refused, or
                            else the only one that is left */
};
/* Replaces a job that is not being sent by a new one, for the recipients that are left and those
 * that were refused. The new one has another Message-ID and Date, unless the message is signed.
 * MQ_MESSAGE says why not; then nothing has changed. */
enum mq_status mq_queue_resend(struct mq_queue *queue, const struct mq_resend *how, int64_t *id,
                               struct mq_error *err);
/* Takes the recipients that may have got it out of those of `ids` that are not being sent, with the
 * event "sent". A job is deleted if it has no others, left or refused. */
enum mq_status mq_queue_count_as_sent(struct mq_queue *queue, const struct mq_ids *ids,
                                      int64_t *changed, struct mq_error *err);
/* Deletes those of `ids` that are not being sent, about 4 MiB of messages a transaction. */
enum mq_status mq_queue_delete(struct mq_queue *queue, const struct mq_ids *ids, int64_t *changed,
                               struct mq_error *err);
/* Deletes rows of the history, by their ids. */
enum mq_status mq_queue_erase_history(struct mq_queue *queue, const struct mq_ids *rows,
                                      struct mq_error *err);
/* What reads the rows of a query. */
struct mq_reader {
    void (*row)(void *context, const struct mq_value *values, int count); /* borrowed */
    void *context;
};
#define MQ_SELECT_COLUMNS_MAX 32
/* Runs a query of the command line's or the page's; its text is a template (sql/dialect.h) with
 * parameters ?1, ?2, … . */
enum mq_status mq_queue_select(struct mq_queue *queue, const struct mq_query *query,
                               const struct mq_reader *reader, struct mq_error *err);

#endif
