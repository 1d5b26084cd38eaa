/* An open queue, for the queue's own files. */
#ifndef MQ_QUEUE_HANDLE_H
#define MQ_QUEUE_HANDLE_H

#include <stdbool.h>
#include <stdint.h>

#include "core/clock.h"
#include "policy/backoff.h"
#include "queue/sql/dialect.h"

struct mq_db;

struct mq_queue {
    struct mq_db *db;
    const struct mq_sql_dialect *dialect;
    struct mq_names names;
    struct mq_backoff backoff;
    struct mq_clock clock;  /* mq_queue_clock() */
    struct mq_clock host;   /* the clock of the options */
    int64_t server_time_us; /* a server's time, at its latest, … */
    int64_t told_ms;        /* … at this moment of host.boot_ms */
    char *identity;         /* NULL: not asked yet */
    struct mq_random random;
    int64_t streak;          /* jobs claimed since a claim found no more */
    bool ready;              /* the tables' version was read and is ours */
    char *sql[MQ_SQL_COUNT]; /* expanded when first used: a request needs three of them */
};

/* Makes queue->clock of the clock of the options. */
void mq_queue_set_clock(struct mq_queue *queue, const struct mq_clock *host);

#endif
