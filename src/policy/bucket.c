/* The arithmetic of the token bucket. It is exact: rounding would add up to mail over the limit. */
#include "policy/bucket.h"

#include <stdio.h>

#include "core/ascii.h"

#define BURST_MIN    5
#define MINUTES_HOUR 60
#define FINEST       1000000000 /* nine decimals count; a unit is 0.000277… token */

int64_t mq_bucket_default_cap(int64_t limit)
{
    int64_t small = limit < BURST_MIN ? limit : BURST_MIN;
    int64_t minute = limit / MINUTES_HOUR + (limit % MINUTES_HOUR != 0);
    return small > minute ? small : minute;
}

int64_t mq_bucket_reserve(int64_t wanted, int64_t most)
{
    int64_t reserve = wanted < most ? wanted : most - 1;
    return reserve > 0 ? reserve : 0;
}

int64_t mq_bucket_units(const struct mq_bucket *bucket)
{
    return bucket->length_s ? bucket->length_s : MQ_BUCKET_UNITS;
}

void mq_bucket_refill(struct mq_bucket *bucket, int64_t now_s)
{
    int64_t full = bucket->cap * mq_bucket_units(bucket), room = full - bucket->units;
    int64_t last = bucket->last_refill_s < 0 ? 0 : bucket->last_refill_s;
    int64_t elapsed = now_s > last ? now_s - last : 0;
    bucket->last_refill_s = now_s;
    if (room <= 0) {
        bucket->units = full;
    } else if (bucket->limit > 0 && elapsed > room / bucket->limit) {
        bucket->units += room; /* the test divides, because elapsed · limit can overflow */
    } else {
        bucket->units += elapsed * bucket->limit;
    }
}

int64_t mq_bucket_tokens(const struct mq_bucket *bucket)
{
    return bucket->units / mq_bucket_units(bucket);
}

void mq_bucket_take(struct mq_bucket *bucket, int64_t n)
{
    bucket->units -= n * mq_bucket_units(bucket);
    if (bucket->units < 0) {
        bucket->units = 0;
    }
}

void mq_bucket_give(struct mq_bucket *bucket, int64_t n)
{
    int64_t room = bucket->cap * mq_bucket_units(bucket) - bucket->units;
    if (room > 0) {
        bucket->units += n > room / mq_bucket_units(bucket) ? room : n * mq_bucket_units(bucket);
    }
}

int64_t mq_bucket_wait_s(const struct mq_bucket *bucket, int64_t reserve)
{
    int64_t need = (1 + reserve) * mq_bucket_units(bucket) - bucket->units;
    if (need <= 0 || bucket->limit <= 0) {
        return 0;
    }
    return need / bucket->limit + (need % bucket->limit != 0);
}

void mq_bucket_format(int64_t units, char out[32])
{
    /* Four decimals are finer than half a unit, so mq_bucket_parse() rounds back exactly. */
    int64_t whole = units / MQ_BUCKET_UNITS;
    int64_t rest = units % MQ_BUCKET_UNITS;
    unsigned decimals = (unsigned)((rest * 10000 + MQ_BUCKET_UNITS / 2) / MQ_BUCKET_UNITS);
    int n = snprintf(out, 32, "%lld.%04u", (long long)whole, decimals % 10000);
    while (out[n - 1] == '0') {
        n--;
    }
    n -= out[n - 1] == '.';
    out[n] = '\0';
}

bool mq_bucket_parse(struct mq_str text, int64_t *units)
{
    int64_t whole = 0, fraction = 0, scale = 1;
    bool point = false;
    for (size_t i = 0; i < text.len; i++) {
        int digit = text.data[i] - '0';
        if (text.data[i] == '.' && !point && i > 0 && i + 1 < text.len) {
            point = true;
        } else if (!mq_is_digit(text.data[i]) || whole >= INT64_MAX / MQ_BUCKET_UNITS / 10) {
            return false;
        } else if (!point) {
            whole = whole * 10 + digit;
        } else if (scale < FINEST) {
            fraction = fraction * 10 + digit;
            scale *= 10;
        }
    }
    if (text.len == 0 || whole >= INT64_MAX / MQ_BUCKET_UNITS / 10) {
        return false;
    }
    *units = whole * MQ_BUCKET_UNITS + (fraction * MQ_BUCKET_UNITS + scale / 2) / scale;
    return true;
}
