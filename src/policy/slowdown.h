/* When mail to a domain is slowed down, because too many of its recipients are deferred or refused:
 * then one mail goes at a time, with a pause before the next. The pause doubles while mail fails;
 * when it is accepted, the rate rises by the same amount each time. The pause ends when it is at
 * its shortest and no longer too many fail. */
#ifndef MQ_POLICY_SLOWDOWN_H
#define MQ_POLICY_SLOWDOWN_H

#include <stdbool.h>
#include <stdint.h>

enum { MQ_SLOW_MAX = 20 }; /* domains that are remembered */

/* What is known of one domain; all zero: nothing. Times are UTC. */
struct mq_slowdown {
    int64_t since_s;   /* what was counted before then counts half, a quarter, … */
    int64_t good, bad; /* recipients, of about the last ten minutes */
    int64_t pause_s;   /* seconds from one mail to the next; 0: not slowed down */
    int64_t changed_s; /* when the pause was set */
};

/* What was seen of a domain since it was last counted. */
struct mq_slow_seen {
    int64_t good; /* recipients that were accepted */
    int64_t bad;  /* that were deferred or refused */
    bool general; /* most other domains fail as well: it is not this one's fault */
};

/* Counts it, and decides. Too many: more than `percent` of 20 or more. */
void mq_slowdown_count(struct mq_slowdown *slow, const struct mq_slow_seen *seen, int64_t percent,
                       int64_t now_s);
/* The pause; 0 if no mail has gone to the domain for an hour. */
int64_t mq_slowdown_pause_s(const struct mq_slowdown *slow, int64_t now_s);
/* Whether nothing is left to remember. */
bool mq_slowdown_is_over(const struct mq_slowdown *slow, int64_t now_s);

#endif
