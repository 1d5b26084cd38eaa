/* Events: what happened to a job, for the log and for onEvent. They are collected in a transaction
 * and reported only after its commit. */
#ifndef MQ_QUEUE_EVENT_H
#define MQ_QUEUE_EVENT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "policy/event_type.h"

const char *mq_event_type_name(enum mq_event_type type); /* "claimed", "try_later", … */

/* Strings are malloc'ed and owned by the event; NULL when there is nothing to say. */
struct mq_event {
    enum mq_event_type type;
    int64_t at_s;
    int64_t id; /* 0: not about one job */
    char *reference;
    char *mail_type;
    char *subject; /* for the history, and for the log if the mail was sent */
    int attempt;
    int uncertain;     /* earlier uncertain attempts, as in the row */
    int recipients;    /* how many this event is about; 0: all or not counted */
    int counted;       /* the same for the counters: with all of them, or 1 if not known */
    const char *phase; /* where it was decided (send/transfer.h), not freed; NULL: not known */
    int64_t waited_s;  /* from when the attempt was due to its begin; -1: no message went out */
    char *relay;       /* redacted */
    char *reply;       /* the relay's words or the error, printable */
    int64_t ms;        /* time on the wire; -1: none */
    int64_t next_attempt_at; /* 0: none */
    bool recorded;           /* given to `record` */
};

struct mq_events {
    struct mq_event *items;
    size_t count;
    size_t capacity;
    /* Called before the commit with the transaction's events, if some are marked `recorded`: those
     * that tell of uncertain attempts. Their row may be deleted, and a process that is killed after
     * the commit reports nothing. If the commit fails, the events can come twice. NULL: no call. */
    void (*record)(void *context, const struct mq_events *events);
    void *context;
};

void mq_events_clear(struct mq_events *events); /* also unsets `record` */
/* Appends a copy of `event` and its strings. Without memory it drops the event and returns false: a
 * lost event is not a reason to undo work. */
bool mq_events_add(struct mq_events *events, const struct mq_event *event);
void mq_events_truncate(struct mq_events *events, size_t count);

#endif
