/* Comparing and skipping in ASCII text, in any locale. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "core/ascii.h"

static void test_prefixes(void **state)
{
    (void)state;
    struct mq_str text = mq_str_of("Content-Type");
    assert_true(mq_str_begins(text, "Content"));
    assert_false(mq_str_begins(text, "content"));
    assert_true(mq_str_begins_nocase(text, "content-TYPE"));
    assert_false(mq_str_begins_nocase(text, "content-type:"));
}

static void test_skip(void **state)
{
    (void)state;
    struct mq_str nothing = {NULL, 0};
    struct mq_str rest = mq_str_skip(mq_str_of("abc"), 2);
    assert_int_equal(rest.len, 1);
    assert_int_equal(rest.data[0], 'c');
    assert_int_equal(mq_str_skip(mq_str_of("abc"), 3).len, 0);
    assert_null(mq_str_skip(nothing, 0).data); /* the sanitizer would report NULL + 0 */
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_prefixes),
        cmocka_unit_test(test_skip),
    };
    return cmocka_run_group_tests_name("ascii", tests, NULL, NULL);
}
