/* The token bucket that keeps the hourly limit: exact integer arithmetic, no clock of its own.
 *
 * A token is one recipient handed to the relay. Amounts are held in units of 1/3600 token, so that
 * a limit of N an hour refills exactly N units a second: 40 an hour is one mail in 90 s, without
 * rounding. Leaky/token bucket as in RFC 2697, section 3, with one colour. */
#ifndef MQ_POLICY_BUCKET_H
#define MQ_POLICY_BUCKET_H

#include <stdbool.h>
#include <stdint.h>

#include "core/buffer.h"

#define MQ_BUCKET_UNITS 3600 /* units a token */

enum mq_rate_mode { MQ_RATE_AVERAGE, MQ_RATE_STRICT };

struct mq_bucket {
    int64_t limit;         /* N, tokens an hour; 0 = no limit */
    int64_t cap;           /* the most tokens it holds; up to 10⁹, as a config value */
    int64_t units;         /* what it holds, in 1/3600 token; 0 … cap·3600 */
    int64_t last_refill_s; /* UTC; 0 = never */
};

/* Default capacity: max(min(N, 5), ceil(N / 60)). */
int64_t mq_bucket_default_cap(int64_t limit);
/* units = min(cap, units + max(0, now − last)·N), last = now. A clock that jumps forward gains at
 * most cap, one that jumps back gains nothing. */
void mq_bucket_refill(struct mq_bucket *bucket, int64_t now_s);
int64_t mq_bucket_tokens(const struct mq_bucket *bucket); /* whole tokens */
/* Takes n tokens; the caller has checked that they are there. */
void mq_bucket_take(struct mq_bucket *bucket, int64_t n);
/* Gives n tokens back, up to cap. */
void mq_bucket_give(struct mq_bucket *bucket, int64_t n);
/* Seconds from last_refill_s until one whole token is there; 0 when it is. */
int64_t mq_bucket_wait_s(const struct mq_bucket *bucket);
/* The decimal text kept in the config table ("4.25"), and back; parse(format(x)) == x.
 * parse returns false for text that is not a non-negative decimal number. */
void mq_bucket_format(int64_t units, char out[32]);
bool mq_bucket_parse(struct mq_str text, int64_t *units);

#endif
