/* Error texts: filled in, cut to size, and safe to print. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "core/buffer.h"
#include "core/error.h"

static void test_fills(void **state)
{
    struct mq_error err;
    (void)state;
    assert_int_equal(mq_error_set(&err, MQ_CONFIG, "transport", "port %d", 70000), MQ_CONFIG);
    assert_int_equal(err.status, MQ_CONFIG);
    assert_string_equal(err.field, "transport");
    assert_string_equal(err.text, "port 70000");
    assert_int_equal(mq_error_set(NULL, MQ_BUSY, "", "x"), MQ_BUSY);
    assert_int_equal(mq_error_set(&err, MQ_IO, NULL, "x"), MQ_IO);
    assert_string_equal(err.field, "");
    err.in_doubt = true;
    assert_int_equal(mq_error_nomem(&err), MQ_NOMEM);
    assert_false(err.in_doubt);
    assert_int_equal(err.status, MQ_NOMEM);
    assert_int_equal(mq_error_nomem(NULL), MQ_NOMEM);
}

static void test_printable(void **state)
{
    struct mq_error err;
    (void)state;
    mq_error_set(&err, MQ_IO, "a\nb", "\x1b[31mred\r\n\x7f \xC2\x9B \xFF ä");
    assert_string_equal(err.text, "?[31mred??? ? \xEF\xBF\xBD ä");
    assert_string_equal(err.field, "a?b");
}

/* Adds a cause before the existing text: the text is its own argument. */
static void test_wraps_itself(void **state)
{
    struct mq_error err;
    (void)state;
    mq_error_set(&err, MQ_IO, "f", "cause");
    mq_error_set(&err, MQ_DATABASE, err.field, "open: %s", err.text);
    assert_string_equal(err.text, "open: cause");
    assert_string_equal(err.field, "f");
}

static void test_cuts_on_a_character(void **state)
{
    struct mq_error err;
    char text[2000];
    (void)state;
    for (size_t shift = 0; shift < 4; shift++) {
        memset(text, 'x', sizeof text);
        for (size_t i = shift; i + 4 < sizeof text; i += 4) {
            memcpy(text + i, "\xF0\x9F\x98\x80", 4);
        }
        text[sizeof text - 1] = '\0';
        mq_error_set(&err, MQ_IO, text, "%s", text);
        assert_true(strlen(err.text) < sizeof err.text);
        assert_true(strlen(err.text) >= sizeof err.text - 8);
        assert_true(mq_utf8_valid(mq_str_of(err.text)));
        assert_null(strstr(err.text, "\xEF\xBF\xBD"));
        assert_true(mq_utf8_valid(mq_str_of(err.field)));
        assert_true(strlen(err.field) < sizeof err.field);
    }
}

static void test_names(void **state)
{
    (void)state;
    for (int i = MQ_OK; i <= MQ_BAILOUT; i++) {
        assert_string_not_equal(mq_status_name((enum mq_status)i), "unknown");
        for (int k = MQ_OK; k < i; k++) {
            assert_string_not_equal(mq_status_name((enum mq_status)i),
                                    mq_status_name((enum mq_status)k));
        }
    }
    assert_string_equal(mq_status_name((enum mq_status)999), "unknown");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_fills),        cmocka_unit_test(test_printable),
        cmocka_unit_test(test_wraps_itself), cmocka_unit_test(test_cuts_on_a_character),
        cmocka_unit_test(test_names),
    };
    return cmocka_run_group_tests_name("error", tests, NULL, NULL);
}
