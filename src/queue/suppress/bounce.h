/* Bounces: the table of what came back from addresses that got mail. It has each event once, by a
 * hash, and counts those of an address in a time. */
#ifndef MQ_QUEUE_SUPPRESS_BOUNCE_H
#define MQ_QUEUE_SUPPRESS_BOUNCE_H

#include "queue/suppress/suppress.h"

#define MQ_BOUNCE_DAYS 30  /* how long an event is kept and counts */
#define MQ_BOUNCES_MAX 100 /* events of an address that are kept: a stranger can send it many */

/* An event about an address; all texts are borrowed. */
struct mq_bounce {
    struct mq_suppression what; /* to add; address or hash, and created_at, is the event's */
    int64_t event;              /* a hash that no other event of the address has */
    struct mq_str kind;         /* a word, for reports */
    int least; /* suppress at once (1), or with so many such events in MQ_BOUNCE_DAYS; 0: never */
};
enum mq_bounce_result { MQ_BOUNCE_COUNTED, MQ_BOUNCE_SUPPRESSED, MQ_BOUNCE_KNOWN };
/* Stores an event, and adds the suppression if that follows, in one transaction. Nothing changes if
 * the event is known, or the address has MQ_BOUNCES_MAX already. */
enum mq_status mq_queue_bounce(struct mq_queue *queue, const struct mq_bounce *bounce,
                               enum mq_bounce_result *result, struct mq_error *err);

#endif
