/* When mail to a domain is slowed down, how much, and when no more. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "policy/slowdown.h"

#define START INT64_C(1800000000)

static void count(struct mq_slowdown *slow, int64_t good, int64_t bad, int64_t now_s)
{
    const struct mq_slow_seen seen = {good, bad, false};
    mq_slowdown_count(slow, &seen, 25, now_s);
}

static void test_ratio(void **state)
{
    static const struct {
        int64_t good, bad, percent, pause_s;
        bool general;
    } samples[] = {
        {14, 6, 25, 10, false},  {15, 5, 25, 0, false},    {0, 19, 25, 0, false},
        {0, 20, 25, 10, false},  {14, 6, 25, 0, true},     {14, 6, 30, 0, false},
        {10, 10, 49, 10, false}, {0, 1000, 100, 0, false}, {0, 1000, 0, 0, false},
        {1000, 0, 1, 0, false},  {987, 13, 1, 10, false},
    };
    (void)state;
    for (size_t i = 0; i < sizeof samples / sizeof *samples; i++) {
        struct mq_slowdown slow = {0};
        const struct mq_slow_seen seen = {samples[i].good, samples[i].bad, samples[i].general};
        mq_slowdown_count(&slow, &seen, samples[i].percent, START);
        assert_int_equal(mq_slowdown_pause_s(&slow, START), samples[i].pause_s);
    }
}

/* Only the last minutes count, and what is long over is forgotten. */
static void test_fades(void **state)
{
    struct mq_slowdown slow = {0};
    (void)state;
    count(&slow, 0, 19, START);
    assert_false(mq_slowdown_is_over(&slow, START + 300));
    count(&slow, 0, 10, START + 600);
    assert_int_equal(slow.pause_s, 0);
    assert_int_equal(slow.bad, 14);
    count(&slow, 0, 6, START + 899);
    assert_int_equal(slow.pause_s, 10);
    count(&slow, 80, 0, START + 900);
    assert_int_equal(slow.pause_s, 10); /* these had begun before */
    assert_false(mq_slowdown_is_over(&slow, START + 899 + 3599));
    assert_int_equal(mq_slowdown_pause_s(&slow, START + 899 + 3600), 0);
    assert_true(mq_slowdown_is_over(&slow, START + 899 + 3600));
    count(&slow, 0, 1, START + 899 + 3600);
    assert_int_equal(slow.bad, 1);
    assert_int_equal(slow.pause_s, 0);
}

/* The pause doubles once for each pause that ends in a failure, up to its bound. */
static void test_doubles(void **state)
{
    static const int64_t pauses[] = {20, 40, 80, 160, 320, 320, 320};
    struct mq_slowdown slow = {0};
    int64_t now_s = START;
    (void)state;
    count(&slow, 0, 20, now_s);
    for (size_t i = 0; i < sizeof pauses / sizeof *pauses; i++) {
        count(&slow, 0, 500, now_s + slow.pause_s - 1);
        now_s += slow.pause_s;
        count(&slow, 0, 1, now_s);
        assert_int_equal(slow.pause_s, pauses[i]);
    }
    const struct mq_slow_seen general = {0, 1, true};
    slow.pause_s = 20;
    mq_slowdown_count(&slow, &general, 25, now_s + 320);
    assert_int_equal(slow.pause_s, 20);
}

/* Mail that is accepted makes it faster by one mail in 100 s each time. Then the count begins with
 * nothing: a few failures do not slow it down again. */
static void test_recovers(void **state)
{
    static const int64_t pauses[] = {76, 43, 30, 23, 18, 15, 13, 11, 10};
    struct mq_slowdown slow = {.since_s = START, .bad = 9000, .pause_s = 320, .changed_s = START};
    int64_t now_s = START;
    (void)state;
    for (size_t i = 0; i < sizeof pauses / sizeof *pauses; i++) {
        now_s += slow.pause_s;
        count(&slow, 1, 0, now_s);
        assert_int_equal(slow.pause_s, pauses[i]);
    }
    assert_int_equal(now_s - START, 549);
    for (; slow.pause_s > 0; now_s += 10) {
        assert_true(now_s - START < 1000);
        count(&slow, 1, 0, now_s);
    }
    assert_true(mq_slowdown_is_over(&slow, now_s));
    count(&slow, 0, 19, now_s);
    assert_int_equal(slow.pause_s, 0);
    count(&slow, 0, 1, now_s);
    assert_int_equal(slow.pause_s, 10);
}

/* How long a domain is slowed down of which every nth mail fails, of at most two hours. */
static int64_t slowed_for(int nth)
{
    struct mq_slowdown slow = {0};
    int64_t now_s = START;
    count(&slow, 0, 20, now_s);
    for (int n = 1; slow.pause_s > 0 && now_s < START + 7200; n++) {
        now_s += slow.pause_s;
        count(&slow, n % nth != 0, n % nth == 0, now_s);
    }
    return now_s - START;
}

static void test_share(void **state)
{
    (void)state;
    assert_true(slowed_for(2) >= 7200);
    assert_true(slowed_for(3) >= 7200);
    assert_true(slowed_for(50) < 600);
}

/* A clock that goes back, or far ahead, does no harm. */
static void test_clock(void **state)
{
    struct mq_slowdown slow = {0};
    (void)state;
    count(&slow, 2, 20, START);
    count(&slow, 0, 1, START - 86400);
    assert_int_equal(slow.pause_s, 20);
    assert_int_equal(slow.good, 2);
    assert_int_equal(slow.bad, 21);
    assert_int_equal(slow.since_s, START - 86400);
    count(&slow, 0, 1, START + INT64_C(100) * 365 * 86400);
    assert_int_equal(slow.bad, 1);
    assert_int_equal(slow.pause_s, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_ratio),   cmocka_unit_test(test_fades),
        cmocka_unit_test(test_doubles), cmocka_unit_test(test_recovers),
        cmocka_unit_test(test_share),   cmocka_unit_test(test_clock),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
