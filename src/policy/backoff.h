/* Decides when to try a failed mail again. Pure functions; times are in seconds. */
#ifndef MQ_POLICY_BACKOFF_H
#define MQ_POLICY_BACKOFF_H

#include <stdint.h>

#include "core/clock.h"

enum mq_backoff_policy { MQ_BACKOFF_STEPS, MQ_BACKOFF_EXPONENTIAL, MQ_BACKOFF_FIXED };

#define MQ_ATTEMPTS_MAX 1000 /* the most that a policy or a mail can set */

struct mq_backoff {
    enum mq_backoff_policy policy;
    int max_attempts; /* parks a job after this many failures; a job can have its own limit */
    int64_t base_s;   /* used by exponential and fixed */
    int64_t max_s;    /* exponential: the largest delay before jitter */
    double jitter;    /* exponential: 0 … 1 */
};

extern const struct mq_backoff mq_backoffs[]; /* the defaults, indexed by policy */

/* Returns the delay after failed attempt n (n >= 1), at least 1. For exponential it is min(base·2ⁿ,
 * max)·(1 ± jitter·r), r uniform in 0 … 1; one draw of `random` gives r and the sign. */
int64_t mq_backoff_delay_s(const struct mq_backoff *backoff, int n, struct mq_random random);

#endif
