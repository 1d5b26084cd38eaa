/* The token bucket that keeps a limit. Exact integer arithmetic; callers pass the time.
 *
 * A token is one recipient handed to the relay, or one mail. A token has as many units as the
 * limit's window has seconds, so a limit of N an hour refills exactly N units a second: 40 an hour
 * is one mail in 90 s, without rounding. It is the token bucket of RFC 2697, section 3, with one
 * colour. */
#ifndef MQ_POLICY_BUCKET_H
#define MQ_POLICY_BUCKET_H

#include <stdbool.h>
#include <stdint.h>

#include "core/buffer.h"

#define MQ_BUCKET_UNITS 3600 /* units in a token of the hourly limit */

enum mq_rate_mode { MQ_RATE_AVERAGE, MQ_RATE_STRICT };

struct mq_bucket {
    int64_t limit;         /* N, tokens a window; 0 = no limit */
    int64_t cap;           /* the most tokens it can hold; a config value, up to 10⁹ */
    int64_t units;         /* its contents; 0 … cap tokens */
    int64_t last_refill_s; /* UTC; 0 = never */
    int64_t length_s;      /* the window, which is also the units in a token; 0: an hour */
};

/* Default capacity: max(min(N, 5), ceil(N / 60)). */
int64_t mq_bucket_default_cap(int64_t limit);
/* How many of `most` tokens mail leaves to other mail: `wanted`, but it must be able to get one. */
int64_t mq_bucket_reserve(int64_t wanted, int64_t most);
/* Adds (now_s − last_refill_s)·limit units, up to cap, and sets last_refill_s to now_s. A clock
 * that jumps forward adds at most cap; one that jumps back adds nothing. */
void mq_bucket_refill(struct mq_bucket *bucket, int64_t now_s);
int64_t mq_bucket_units(const struct mq_bucket *bucket);  /* in a token */
int64_t mq_bucket_tokens(const struct mq_bucket *bucket); /* whole tokens */
/* Takes n tokens. The caller has checked that the bucket has them. */
void mq_bucket_take(struct mq_bucket *bucket, int64_t n);
/* Gives n tokens back, up to cap. */
void mq_bucket_give(struct mq_bucket *bucket, int64_t n);
/* Seconds from last_refill_s until a token is there beside the reserve; 0: now, or no limit. */
int64_t mq_bucket_wait_s(const struct mq_bucket *bucket, int64_t reserve);
/* Write and read the decimal text of the config table ("4.25") exactly. False: it is not one. */
void mq_bucket_format(int64_t units, char out[32]);
bool mq_bucket_parse(struct mq_str text, int64_t *units);

#endif
