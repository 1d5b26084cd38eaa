/* What happened to a job, as it is logged and given to onEvent. Collected inside a transaction and
 * told only after its commit. */
#ifndef MQ_QUEUE_EVENT_H
#define MQ_QUEUE_EVENT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum mq_event_type {
    MQ_EVENT_CLAIMED,
    MQ_EVENT_SENT,      /* recipients were accepted */
    MQ_EVENT_TRY_LATER, /* an attempt failed; next_attempt_at says when */
    MQ_EVENT_REFUSED,   /* recipients were refused for good */
    MQ_EVENT_PARKED,
    MQ_EVENT_UNCERTAIN, /* nobody knows whether the attempt succeeded */
    MQ_EVENT_EXPIRED,
    MQ_EVENT_ORPHAN, /* what it refers to is gone; deleted */
    MQ_EVENT_STALE,  /* a result came after the lease was lost; nothing was touched */
    MQ_EVENT_RELAY_TROUBLE,
    MQ_EVENT_RELEASED,  /* went back as before the claim */
    MQ_EVENT_RECOVERED, /* taken back from a worker that is gone, untouched */
    MQ_EVENT_RUN,       /* a worker run ended */
    MQ_EVENT_TYPE_COUNT
};

const char *mq_event_type_name(enum mq_event_type type); /* "claimed", "try_later", … */

/* Strings are malloc'ed and owned by the event; NULL when there is nothing to say. */
struct mq_event {
    enum mq_event_type type;
    int64_t at_s;
    int64_t id; /* 0: not about one job */
    char *reference;
    char *mail_type;
    char *subject; /* of what was sent, for the log alone */
    int attempt;
    int uncertain;           /* of earlier attempts, as the row has it */
    int recipients;          /* how many this event is about; 0: all or not counted */
    char *relay;             /* redacted */
    char *reply;             /* the relay's words or the error, printable */
    int64_t ms;              /* time on the wire; -1: none */
    int64_t next_attempt_at; /* 0: none */
    bool recorded;           /* given to `record` */
};

struct mq_events {
    struct mq_event *items;
    size_t count;
    size_t capacity;
    /* Called before the commit with the transaction's events, where some are marked `recorded`:
     * these tell of uncertain attempts, the row may be deleted, and a process killed behind the
     * commit tells nothing. Again, where the commit fails. NULL: none. */
    void (*record)(void *context, const struct mq_events *events);
    void *context;
};

void mq_events_init(struct mq_events *events);
void mq_events_clear(struct mq_events *events); /* `record` goes too */
/* Appends a copy of `event` and its strings; without memory the event is dropped and false
 * returned: events are never a reason to undo work. */
bool mq_events_add(struct mq_events *events, const struct mq_event *event);
void mq_events_truncate(struct mq_events *events, size_t count);

#endif
