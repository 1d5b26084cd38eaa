/* What happened, kept in the database: counters by the hour, and the history of attempts. */
#ifndef MQ_QUEUE_HISTORY_H
#define MQ_QUEUE_HISTORY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/error.h"

struct mq_event;
struct mq_queue;

/* The events of one transaction. */
struct mq_history {
    const struct mq_event *events;
    size_t count;
    int64_t now_s;
    int64_t days; /* mailHistoryDays; -1: not read yet */
    bool joined;  /* the application's transaction commits them, nobody knows when */
};

/* Adds the events to the counters and, if it is switched on, to the history; within the
 * transaction, just before its commit, so that they agree with the rows after any kill. */
enum mq_status mq_history_write(struct mq_queue *queue, const struct mq_history *history,
                                struct mq_error *err);
/* Reads mailHistoryDays; -1 if its value is not one. */
enum mq_status mq_history_days(struct mq_queue *queue, int64_t *days, struct mq_error *err);

#endif
