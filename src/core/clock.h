/* Clocks and random numbers as interfaces, so that tests can supply their own. */
#ifndef MQ_CORE_CLOCK_H
#define MQ_CORE_CLOCK_H

#include <stddef.h>
#include <stdint.h>

#define MQ_DAY_S 86400

struct mq_clock {
    int64_t (*now_us)(void *context);  /* UTC, microseconds since 1970 */
    int64_t (*boot_ms)(void *context); /* CLOCK_BOOTTIME: never jumps, counts while suspended */
    void *context;
};

static inline int64_t mq_clock_now_s(const struct mq_clock *clock)
{
    return clock->now_us(clock->context) / 1000000;
}

struct mq_random {
    double (*unit)(void *context); /* in [0, 1) */
    void *context;
};

struct mq_clock mq_clock_system(void);
/* The real clock, even if the queue uses a fake one; for timeouts of the kernel and libraries. */
int64_t mq_clock_monotonic_ms(void);
struct mq_random mq_random_system(void); /* from the kernel; not for secrets */

/* Writes n random bytes (n ≤ 128) as 2n lower-case hex digits and a NUL; out holds 2n + 1. */
void mq_random_hex(char *out, size_t n);

#endif
