/* The delay before the next attempt, for each back-off policy and its defaults. */
#include "policy/backoff.h"

const struct mq_backoff mq_backoffs[] = {
    [MQ_BACKOFF_STEPS] = {.policy = MQ_BACKOFF_STEPS, .max_attempts = 10},
    [MQ_BACKOFF_EXPONENTIAL] = {.policy = MQ_BACKOFF_EXPONENTIAL,
                                .max_attempts = 5,
                                .base_s = 30,
                                .max_s = 3600,
                                .jitter = 0.2},
    [MQ_BACKOFF_FIXED] = {.policy = MQ_BACKOFF_FIXED, .max_attempts = 50, .base_s = 15},
};

static int64_t step(int n)
{
    static const int64_t steps_s[] = {60, 300, 900, 3600}; /* the last one repeats */
    const int count = sizeof steps_s / sizeof *steps_s;
    return steps_s[n < 1 ? 0 : n < count ? n - 1 : count - 1];
}

/* Doubling stops at max_s, so that a large n cannot overflow the delay. */
static int64_t doubled(const struct mq_backoff *backoff, int n)
{
    int64_t delay = backoff->base_s, max = backoff->max_s;
    for (int i = 0; i < n && delay > 0 && delay < max; i++) {
        delay = delay > max / 2 ? max : delay * 2;
    }
    return delay < max ? delay : max;
}

int64_t mq_backoff_delay_s(const struct mq_backoff *backoff, int n, struct mq_random random)
{
    int64_t delay = 0;
    switch (backoff->policy) {
    case MQ_BACKOFF_STEPS:
        delay = step(n);
        break;
    case MQ_BACKOFF_FIXED:
        delay = backoff->base_s;
        break;
    case MQ_BACKOFF_EXPONENTIAL:
        delay = doubled(backoff, n);
        if (backoff->jitter > 0) {
            double factor = 1 + backoff->jitter * (2 * random.unit(random.context) - 1);
            delay = (int64_t)((double)delay * factor + 0.5);
        }
        break;
    }
    return delay < 1 ? 1 : delay;
}
