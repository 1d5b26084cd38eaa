/* Which addresses are accepted, and that checking takes linear time. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <time.h>

#include "bad_addresses.h"
#include "mime/address.h"

static struct mq_error err;

static enum mq_status check(struct mq_str address)
{
    return mq_address_check(address, "to", &err);
}

static void test_good(void **state)
{
    static const char *const good[] = {
        "a@b",
        "user@example.org",
        "azAZ09@az.AZ.09",
        "first.last+tag@sub.example.org",
        "!#$%&'*+/=?^_`{|}~-@example.org",
        "a-@example.org",
        "1@2.example",
        "a@xn--mller-kva.example",
        "a@EXAMPLE.org",
        "a@a-b.example",
        "a@[192.0.2.1]",
        "a@[IPv6:2001:db8::1]",
        "a@[ipv6:::1]",
        A60 "aaaa@example.org", /* 64 octets */
        "a@" A63 "." A63 "." A63 ".example",
        "a@" A63 "." A63 "." A63 "." A60, /* 254 octets in all */
    };
    (void)state;
    assert_int_equal(strlen(good[sizeof good / sizeof *good - 1]), 254);
    for (size_t i = 0; i < sizeof good / sizeof *good; i++) {
        if (check(mq_str_of(good[i])) != MQ_OK) {
            fail_msg("%s: %s", good[i], err.text);
        }
    }
    assert_int_equal(check(MQ_STR("jörg.日本@example.org")), MQ_OK);
}

/* Other parsers' special forms (lists, groups, comments) may be accepted where these are. */
static const char *const bad[] = {
    BAD_ADDRESSES,
    "",
    "(comment)a@example.org",
    "a@example.org(comment)",
    "group:a@example.org;",
    " a@example.org",
    "a@example.org ",
    "a@example.org\n",
    "a@example.org,b@example.org",
    "a,b@example.org",
    "<a@example.org>",
    "a@m\xC3\xBCller.example",
};

static void test_bad(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        if (check(mq_str_of(bad[i])) != MQ_MESSAGE) {
            fail_msg("%s was taken", bad[i]);
        }
        assert_string_equal(err.field, "to");
        assert_int_equal(strncmp(err.text, "to: ", 4), 0);
        assert_true(mq_utf8_valid(mq_str_of(err.text)));
        assert_null(strpbrk(err.text, "\r\n\t"));
    }
    assert_int_equal(check((struct mq_str){"a\0b@example.org", 15}), MQ_MESSAGE);
    assert_int_equal(check((struct mq_str){"a@example.org\0", 14}), MQ_MESSAGE);
    assert_int_equal(check((struct mq_str){"a@[1.2.3.4\0]", 12}), MQ_MESSAGE);
    check(MQ_STR("a@m\xC3\xBCller.example"));
    assert_non_null(strstr(err.text, "A-labels"));
    /* Some carriers had such addresses: without the dot, it is another person's. */
    check(MQ_STR("ann..b@example.org"));
    assert_non_null(strstr(err.text, "in quotes; use another address"));
    check(MQ_STR("ann.@example.org"));
    assert_non_null(strstr(err.text, "in quotes; use another address"));
}

/* One megabyte of each shape that makes a backtracking parser slow. */
static void test_linear(void **state)
{
    static const char *const shapes[] = {"a.", "(", "\"", "a@", "<", "\\", "a ", "[", "ä", "a-."};
    clock_t start = clock();
    (void)state;
    for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++) {
        struct mq_buffer text = {0};
        while (text.len < 1000000) {
            mq_buffer_cstr(&text, shapes[i]);
        }
        assert_int_equal(check(mq_buffer_view(&text)), MQ_MESSAGE);
        mq_buffer_cstr(&text, "@example.org");
        assert_int_equal(check(mq_buffer_view(&text)), MQ_MESSAGE);
        mq_buffer_clear(&text);
    }
    assert_true(clock() - start < 5 * CLOCKS_PER_SEC);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_good),
        cmocka_unit_test(test_bad),
        cmocka_unit_test(test_linear),
    };
    return cmocka_run_group_tests_name("address", tests, NULL, NULL);
}
