/* struct mq_queue, an open queue: only for the files of src/queue. */
#ifndef MQ_QUEUE_HANDLE_H
#define MQ_QUEUE_HANDLE_H

#include <stdbool.h>
#include <stdint.h>

#include "core/clock.h"
#include "policy/backoff.h"
#include "queue/sql/dialect.h"

struct mq_db;
struct mq_hours_kept;
struct mq_suppress_state;
struct mq_zone_source;

struct mq_queue {
    struct mq_db *db;
    const struct mq_sql_dialect *dialect;
    struct mq_names names;
    const char *redirect_to; /* as in the options; borrowed */
    const char *allow_to;
    struct mq_backoff backoff;
    struct mq_clock clock;  /* mq_queue_clock() */
    struct mq_clock host;   /* the clock of the options */
    int64_t server_time_us; /* the end of the second that the server last told; 0: none yet */
    int64_t told_ms;        /* host.boot_ms when the server was asked */
    char *identity;         /* mq_queue_identity(); NULL: not asked yet */
    struct mq_random random;
    const struct mq_zone_source *zones; /* as in the options; borrowed */
    struct mq_hours_kept *hours;        /* mq_hours_load(); NULL: never called */
    struct mq_suppress_state *suppress; /* suppress/internal.h; NULL: not needed yet */
    int64_t part;                       /* of the counters: history.c; 0: not chosen yet */
    int64_t forward_after;              /* as in struct mq_claim */
    int64_t forward_mark;
    int64_t streak;          /* jobs claimed since a claim last ended with MQ_CLAIM_EMPTY */
    size_t unfed;            /* jobs claimed since campaigns were last fed */
    bool listens;            /* this session is told when mail is stored: mq_queue_watch() */
    int64_t version;         /* what MQ_SQL_VERSION last said */
    bool ready;              /* the tables' version was read and is ours */
    char *sql[MQ_SQL_COUNT]; /* expanded at first use: a web request needs only three */
};

/* Sets queue->clock: to the clock of the options, or with a server to the server's time. */
void mq_queue_set_clock(struct mq_queue *queue, const struct mq_clock *host);

#endif
