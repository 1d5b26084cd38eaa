/* The delays of each back-off policy, also at the borders of their ranges. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "policy/backoff.h"

static int draws;

static double given(void *context)
{
    draws++;
    return *(double *)context;
}

static int64_t delay(const struct mq_backoff *backoff, int n, double r)
{
    return mq_backoff_delay_s(backoff, n, (struct mq_random){given, &r});
}

static void test_steps(void **state)
{
    struct mq_backoff b = mq_backoffs[MQ_BACKOFF_STEPS];
    static const int64_t expected[] = {60, 300, 900, 3600, 3600, 3600, 3600, 3600, 3600, 3600};
    (void)state;
    assert_int_equal(b.max_attempts, 10);
    for (int n = 1; n <= 10; n++) {
        assert_int_equal(delay(&b, n, 0.9), expected[n - 1]);
    }
    assert_int_equal(delay(&b, 1000000, 0.9), 3600);
    assert_int_equal(delay(&b, 0, 0.9), 60);
}

static void test_exponential(void **state)
{
    struct mq_backoff b = mq_backoffs[MQ_BACKOFF_EXPONENTIAL];
    /* base·2ⁿ: the first delay is 60. A draw in the middle adds no jitter. */
    static const int64_t middle[] = {60, 120, 240, 480, 960, 1920, 3600, 3600};
    static const int64_t least[] = {48, 96, 192, 384, 768, 1536, 2880, 2880};
    (void)state;
    assert_int_equal(b.max_attempts, 5);
    for (int n = 1; n <= 8; n++) {
        assert_int_equal(delay(&b, n, 0.5), middle[n - 1]);
        assert_int_equal(delay(&b, n, 0.0), least[n - 1]);
    }
    assert_int_equal(delay(&b, 1, 0.999999), 72);
    assert_int_equal(delay(&b, 7, 0.999999), 4320);
    assert_int_equal(delay(&b, 1, 0.75), 66);
    assert_int_equal(delay(&b, 1, 0.25), 54);
    assert_int_equal(delay(&b, 1, 0.52), 60);   /* 60.48 */
    assert_int_equal(delay(&b, 1, 0.5209), 61); /* 60.5016 */
    assert_int_equal(delay(&b, 2000000000, 0.5), 3600);
    draws = 0;
    delay(&b, 3, 0.5);
    assert_int_equal(draws, 1);
}

static void test_exponential_borders(void **state)
{
    struct mq_backoff b = mq_backoffs[MQ_BACKOFF_EXPONENTIAL];
    (void)state;
    b.jitter = 0;
    b.max_s = INT64_MAX;
    b.base_s = 1;
    assert_int_equal(delay(&b, 62, 0.5), (int64_t)1 << 62);
    assert_int_equal(delay(&b, 63, 0.5), INT64_MAX);
    assert_int_equal(delay(&b, 1000, 0.5), INT64_MAX);
    b.base_s = 30;
    b.max_s = 80;
    assert_int_equal(delay(&b, 1, 0.5), 60);
    assert_int_equal(delay(&b, 2, 0.5), 80);
    b.base_s = 10;
    b.max_s = 5;
    assert_int_equal(delay(&b, 1, 0.5), 5);
    b.base_s = 0;
    assert_int_equal(delay(&b, 1, 0.5), 1);
    b = mq_backoffs[MQ_BACKOFF_EXPONENTIAL];
    b.base_s = 1;
    b.jitter = 1;
    assert_int_equal(delay(&b, 1, 0.0), 1); /* never 0 */
    assert_int_equal(delay(&b, 1, 0.999999), 4);
}

static void test_fixed(void **state)
{
    struct mq_backoff b = mq_backoffs[MQ_BACKOFF_FIXED];
    (void)state;
    assert_int_equal(b.max_attempts, 50);
    for (int n = 1; n <= 50; n++) {
        assert_int_equal(delay(&b, n, 0.1), 15);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_steps),
        cmocka_unit_test(test_exponential),
        cmocka_unit_test(test_exponential_borders),
        cmocka_unit_test(test_fixed),
    };
    return cmocka_run_group_tests_name("backoff", tests, NULL, NULL);
}
