/* The system's clock and random source, and hexadecimal output. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <time.h>

#include "core/clock.h"

static void test_system_clock(void **state)
{
    struct mq_clock clock = mq_clock_system();
    (void)state;
    int64_t before = time(NULL);
    int64_t now = mq_clock_now_s(&clock);
    int64_t now_us = clock.now_us(clock.context);
    assert_true(now >= before - 1 && now <= before + 5);
    assert_true(now_us / 1000000 >= now && now_us / 1000000 <= now + 5);
    int64_t boot = clock.boot_ms(clock.context);
    struct timespec pause = {0, 20 * 1000000};
    nanosleep(&pause, NULL);
    int64_t passed = clock.boot_ms(clock.context) - boot;
    assert_true(passed >= 19 && passed < 5000);
}

static void test_system_random(void **state)
{
    struct mq_random random = mq_random_system();
    int low = 0;
    (void)state;
    for (int i = 0; i < 1000; i++) {
        double r = random.unit(random.context);
        assert_true(r >= 0 && r < 1);
        low += r < 0.5;
    }
    assert_true(low > 350 && low < 650);
}

static void test_hex(void **state)
{
    char a[257];
    char b[257];
    (void)state;
    memset(a, 'x', sizeof a);
    mq_random_hex(a, 0);
    assert_string_equal(a, "");
    mq_random_hex(a, 16);
    mq_random_hex(b, 16);
    assert_int_equal(strlen(a), 32);
    assert_int_equal(strspn(a, "0123456789abcdef"), 32);
    assert_string_not_equal(a, b);
    mq_random_hex(a, 128);
    assert_int_equal(strlen(a), 256);
    assert_int_equal(strspn(a, "0123456789abcdef"), 256);
    assert_memory_not_equal(a, a + 128, 128);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_system_clock),
        cmocka_unit_test(test_system_random),
        cmocka_unit_test(test_hex),
    };
    return cmocka_run_group_tests_name("clock", tests, NULL, NULL);
}
