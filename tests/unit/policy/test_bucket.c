/* The token bucket: refilling is exact, in steps of any size. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "policy/bucket.h"

#define UNITS MQ_BUCKET_UNITS

static void test_default_cap(void **state)
{
    static const struct {
        int64_t limit, cap;
    } samples[] = {{0, 0},
                   {1, 1},
                   {4, 4},
                   {5, 5},
                   {6, 5},
                   {40, 5},
                   {60, 5},
                   {300, 5},
                   {301, 6},
                   {600, 10},
                   {601, 11},
                   {3600, 60},
                   {1000000000, 16666667}};
    (void)state;
    for (size_t i = 0; i < sizeof samples / sizeof *samples; i++) {
        assert_int_equal(mq_bucket_default_cap(samples[i].limit), samples[i].cap);
    }
}

/* 40 an hour is one mail in 90 s, over any period. */
static void test_forty_an_hour(void **state)
{
    struct mq_bucket b = {.limit = 40, .cap = 5, .units = 0, .last_refill_s = 1000};
    int64_t now = 1000;
    (void)state;
    assert_int_equal(mq_bucket_wait_s(&b, 0), 90);
    for (int mails = 0; mails < 1000; mails++) {
        mq_bucket_refill(&b, now + 89);
        assert_int_equal(mq_bucket_tokens(&b), 0);
        assert_int_equal(mq_bucket_wait_s(&b, 0), 1);
        now += 90;
        mq_bucket_refill(&b, now);
        assert_int_equal(mq_bucket_tokens(&b), 1);
        assert_int_equal(mq_bucket_wait_s(&b, 0), 0);
        mq_bucket_take(&b, 1);
        assert_int_equal(b.units, 0);
    }
}

/* One token must stay for mail that leaves the reserve, whatever is wanted. */
static void test_reserve(void **state)
{
    static const struct {
        int64_t wanted, most, reserve;
    } samples[] = {{2, 5, 2}, {4, 5, 4}, {5, 5, 4}, {900, 5, 4}, {1, 2, 1},
                   {2, 2, 1}, {1, 1, 0}, {0, 5, 0}, {3, 0, 0}};
    struct mq_bucket b = {.limit = 60, .cap = 5, .units = UNITS, .last_refill_s = 1000};
    (void)state;
    for (size_t i = 0; i < sizeof samples / sizeof *samples; i++) {
        assert_int_equal(mq_bucket_reserve(samples[i].wanted, samples[i].most), samples[i].reserve);
    }
    assert_int_equal(mq_bucket_wait_s(&b, 0), 0);
    assert_int_equal(mq_bucket_wait_s(&b, 2), 120);
    mq_bucket_refill(&b, 1120);
    assert_int_equal(mq_bucket_wait_s(&b, 2), 0);
}

static void test_refill_borders(void **state)
{
    struct mq_bucket b = {.limit = 7, .cap = 5, .units = 100, .last_refill_s = 1000};
    (void)state;
    mq_bucket_refill(&b, 1001);
    assert_int_equal(b.units, 107);
    assert_int_equal(b.last_refill_s, 1001);
    mq_bucket_refill(&b, 900); /* the clock went back: no tokens, but the bucket follows it */
    assert_int_equal(b.units, 107);
    assert_int_equal(b.last_refill_s, 900);
    mq_bucket_refill(&b, INT64_MAX); /* far ahead: at most cap */
    assert_int_equal(b.units, 5 * UNITS);
    b = (struct mq_bucket){.limit = 7, .cap = 5, .units = 5 * UNITS - 7, .last_refill_s = 1000};
    mq_bucket_refill(&b, 1001);
    assert_int_equal(b.units, 5 * UNITS);
    b.units = 6 * UNITS; /* the cap was lowered */
    mq_bucket_refill(&b, 1001);
    assert_int_equal(b.units, 5 * UNITS);
    b = (struct mq_bucket){.limit = 40, .cap = 5, .units = 3}; /* never refilled */
    mq_bucket_refill(&b, 1700000000);
    assert_int_equal(b.units, 5 * UNITS);
    b = (struct mq_bucket){.limit = 1000000000, .cap = 1000000000, .last_refill_s = 1};
    mq_bucket_refill(&b, 3600);
    assert_int_equal(b.units, (int64_t)3599 * 1000000000);
    mq_bucket_refill(&b, 3602);
    assert_int_equal(mq_bucket_tokens(&b), 1000000000);
    b = (struct mq_bucket){.limit = 1, .cap = 1, .last_refill_s = 1000};
    assert_int_equal(mq_bucket_wait_s(&b, 0), 3600);
    mq_bucket_refill(&b, 10000);
    assert_int_equal(b.units, UNITS);
    b = (struct mq_bucket){.limit = 0, .cap = 0, .units = 0, .last_refill_s = 5};
    mq_bucket_refill(&b, 100000);
    assert_int_equal(b.units, 0);
    assert_int_equal(mq_bucket_wait_s(&b, 0), 0);
}

/* In steps of any size the refills add up to the same: rounding neither loses nor gains tokens. */
static void test_refill_is_exact(void **state)
{
    static const int64_t limits[] = {1, 2, 5, 6, 40, 60, 600, 3601};
    (void)state;
    for (size_t i = 0; i < sizeof limits / sizeof *limits; i++) {
        struct mq_bucket a = {.limit = limits[i], .cap = 1000000, .last_refill_s = 10};
        struct mq_bucket b = a;
        unsigned seed = 1;
        int64_t now = 10;
        while (now < 20000) {
            seed = seed * 1103515245u + 12345u;
            now += (seed >> 16) % 13;
            mq_bucket_refill(&a, now);
        }
        mq_bucket_refill(&b, now);
        assert_int_equal(a.units, b.units);
        assert_int_equal(a.units, (now - 10) * limits[i]);
    }
}

static void test_take_and_give(void **state)
{
    struct mq_bucket b = {.limit = 40, .cap = 5, .units = 4 * UNITS + 1};
    (void)state;
    assert_int_equal(mq_bucket_tokens(&b), 4);
    mq_bucket_take(&b, 3);
    assert_int_equal(b.units, UNITS + 1);
    mq_bucket_give(&b, 2);
    assert_int_equal(b.units, 3 * UNITS + 1);
    mq_bucket_give(&b, 2); /* up to cap, not above */
    assert_int_equal(b.units, 5 * UNITS);
    mq_bucket_give(&b, INT64_MAX);
    assert_int_equal(b.units, 5 * UNITS);
    mq_bucket_take(&b, 6);
    assert_int_equal(b.units, 0);
    b.units = UNITS - 1;
    assert_int_equal(mq_bucket_wait_s(&b, 0), 1);
    b.units = UNITS - 40;
    assert_int_equal(mq_bucket_wait_s(&b, 0), 1);
    b.units = UNITS - 41;
    assert_int_equal(mq_bucket_wait_s(&b, 0), 2);
}

static void test_text(void **state)
{
    static const struct {
        const char *text;
        int64_t units;
    } good[] = {{"0", 0},
                {"4.25", 15300},
                {"4", 14400},
                {"4.0000", 14400},
                {"04.5", 16200},
                {"0.0003", 1},
                {"0.0001", 0},
                {"0.00014", 1},
                {"0.9999", 3600},
                {"0.99986", 3599},
                {"0.99999999999999999999", 3600},
                {"1000000000", (int64_t)3600 * 1000000000}};
    static const char *const bad[] = {
        "",   "-1", "+1",    ".", ".5",   "5.",  "1e3", "1,5",
        " 1", "1 ", "1.2.3", "x", "0x10", "nan", "inf", "99999999999999999999"};
    char text[32];
    int64_t units = -1;
    (void)state;
    for (size_t i = 0; i < sizeof good / sizeof *good; i++) {
        assert_true(mq_bucket_parse(mq_str_of(good[i].text), &units));
        assert_int_equal(units, good[i].units);
    }
    units = -1;
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        assert_false(mq_bucket_parse(mq_str_of(bad[i]), &units));
    }
    assert_int_equal(units, -1);
    mq_bucket_format(15300, text);
    assert_string_equal(text, "4.25");
    mq_bucket_format(100 * UNITS, text);
    assert_string_equal(text, "100");
    mq_bucket_format(0, text);
    assert_string_equal(text, "0");
    mq_bucket_format(1, text);
    assert_string_equal(text, "0.0003");
}

static void test_round_trip(void **state)
{
    (void)state;
    for (int64_t i = 0; i < 3 * UNITS; i++) {
        char text[32];
        int64_t units = -1;
        int64_t start = i < 2 * UNITS ? i : i + (int64_t)1000000000 * UNITS;
        mq_bucket_format(start, text);
        assert_true(mq_bucket_parse(mq_str_of(text), &units));
        assert_int_equal(units, start);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_default_cap),
        cmocka_unit_test(test_forty_an_hour),
        cmocka_unit_test(test_reserve),
        cmocka_unit_test(test_refill_borders),
        cmocka_unit_test(test_refill_is_exact),
        cmocka_unit_test(test_take_and_give),
        cmocka_unit_test(test_text),
        cmocka_unit_test(test_round_trip),
    };
    return cmocka_run_group_tests_name("bucket", tests, NULL, NULL);
}
