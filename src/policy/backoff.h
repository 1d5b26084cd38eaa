/* When a mail that could not be sent is tried again. Pure functions; times in seconds. */
#ifndef MQ_POLICY_BACKOFF_H
#define MQ_POLICY_BACKOFF_H

#include <stdint.h>

#include "core/clock.h"

enum mq_backoff_policy { MQ_BACKOFF_STEPS, MQ_BACKOFF_EXPONENTIAL, MQ_BACKOFF_FIXED };

#define MQ_ATTEMPTS_MAX 1000 /* that a policy or a mail may ask for */

struct mq_backoff {
    enum mq_backoff_policy policy;
    int max_attempts; /* parks at this many failures; a job's own max_attempts overrides */
    int64_t base_s;   /* exponential and fixed */
    int64_t max_s;    /* exponential: the largest delay before jitter */
    double jitter;    /* exponential: 0 … 1 */
};

extern const struct mq_backoff mq_backoffs[]; /* the defaults, one a policy */

/* Delay after the failed attempt number n (n >= 1). exponential: min(base·2ⁿ, max)·(1 ± jitter·r)
 * with r uniform; the sign and size come from one draw of `random`. Never below 1. */
int64_t mq_backoff_delay_s(const struct mq_backoff *backoff, int n, struct mq_random random);

#endif
