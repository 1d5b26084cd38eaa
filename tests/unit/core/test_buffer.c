/* Views of strings and growing buffers, and cutting UTF-8 between characters. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "core/buffer.h"

static void test_views(void **state)
{
    (void)state;
    assert_int_equal(mq_str_of(NULL).len, 0);
    assert_true(mq_str_equal(MQ_STR("ab"), mq_str_of("ab")));
    assert_false(mq_str_equal(MQ_STR("ab"), MQ_STR("abc")));
    assert_true(mq_str_equal(mq_str_of(NULL), MQ_STR("")));
    assert_true(mq_str_equal_nocase(MQ_STR("BcC"), MQ_STR("bCc")));
    assert_false(mq_str_equal_nocase(MQ_STR("["), MQ_STR("{")));
    assert_false(mq_str_equal_nocase(MQ_STR("Ä"), MQ_STR("ä")));
    assert_true(mq_str_equal(mq_str_trim(MQ_STR(" \t\r\n a b \r\n")), MQ_STR("a b")));
    assert_int_equal(mq_str_trim(MQ_STR(" \t")).len, 0);
    char *copy = mq_str_dup((struct mq_str){"abcd", 2});
    assert_string_equal(copy, "ab");
    free(copy);
    copy = mq_str_dup(mq_str_of(NULL));
    assert_string_equal(copy, "");
    free(copy);
    assert_null(mq_str_dup((struct mq_str){"x", SIZE_MAX}));
}

static void test_buffer(void **state)
{
    struct mq_buffer b;
    (void)state;
    b = (struct mq_buffer){0};
    assert_null(mq_buffer_take(&b));
    mq_buffer_append(&b, "", 0);
    assert_string_equal(b.data, "");
    mq_buffer_cstr(&b, "ab");
    mq_buffer_char(&b, 'c');
    mq_buffer_int(&b, INT64_MIN);
    mq_buffer_printf(&b, "%s-%d", "x", 7);
    mq_buffer_str(&b, MQ_STR("!"));
    assert_string_equal(b.data, "abc-9223372036854775808x-7!");
    assert_int_equal(b.len, strlen(b.data));
    mq_buffer_reset(&b);
    assert_int_equal(b.len, 0);
    assert_string_equal(b.data, "");
    mq_buffer_cstr(&b, "kept");
    char *data = mq_buffer_take(&b);
    assert_string_equal(data, "kept");
    free(data);
    assert_null(b.data);
    for (int i = 0; i < 10000; i++) {
        mq_buffer_printf(&b, "%d,", i % 10);
    }
    assert_int_equal(b.len, 20000);
    assert_int_equal(b.data[b.len], '\0');
    mq_buffer_reset(&b);
    assert_int_equal(b.len, 0);
    assert_non_null(b.data);
    assert_null(mq_buffer_take(&b)); /* empty: nothing to take, and nothing leaks */
    mq_buffer_clear(&b);
}

static void test_buffer_failure(void **state)
{
    struct mq_buffer b;
    (void)state;
    b = (struct mq_buffer){0};
    mq_buffer_cstr(&b, "abc");
    mq_buffer_reserve(&b, SIZE_MAX / 2);
    assert_true(b.failed);
    mq_buffer_cstr(&b, "more");
    assert_string_equal(b.data, "abc");
    assert_null(mq_buffer_take(&b));
    assert_false(b.failed);
    mq_buffer_reserve(&b, SIZE_MAX);
    assert_true(b.failed);
    mq_buffer_reset(&b);
    assert_false(b.failed);
    mq_buffer_clear(&b);
}

static void test_strings(void **state)
{
    struct mq_strings list;
    (void)state;
    list = (struct mq_strings){0};
    assert_false(mq_strings_contains(&list, "a"));
    for (int i = 0; i < 100; i++) {
        char text[16];
        snprintf(text, sizeof text, "item%d", i);
        assert_true(mq_strings_add(&list, mq_str_of(text)));
    }
    assert_int_equal(list.count, 100);
    assert_string_equal(list.items[42], "item42");
    assert_true(mq_strings_contains(&list, "item99"));
    assert_false(mq_strings_contains(&list, "item100"));
    mq_strings_clear(&list);
    assert_int_equal(list.count, 0);
    assert_null(list.items);
}

static void test_utf8(void **state)
{
    static const char *const good[] = {"",
                                       "abc",
                                       "\xC2\x80",
                                       "\xDF\xBF",
                                       "\xE0\xA0\x80",
                                       "\xED\x9F\xBF",
                                       "\xEE\x80\x80",
                                       "\xEF\xBF\xBF",
                                       "\xF0\x90\x80\x80",
                                       "\xF4\x8F\xBF\xBF"};
    static const char *const bad[] = {"\x80",
                                      "\xC0\x80",
                                      "\xC1\xBF",
                                      "\xC2",
                                      "\xC2\x41",
                                      "\xE0\x9F\xBF",
                                      "\xED\xA0\x80",
                                      "\xED\xBF\xBF",
                                      "\xE2\x82",
                                      "\xF0\x8F\xBF\xBF",
                                      "\xF4\x90\x80\x80",
                                      "\xF5\x80\x80\x80",
                                      "\xF0\x9F\x98",
                                      "\xFF",
                                      "a\xFEz"};
    (void)state;
    for (size_t i = 0; i < sizeof good / sizeof *good; i++) {
        assert_true(mq_utf8_valid(mq_str_of(good[i])));
    }
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        assert_false(mq_utf8_valid(mq_str_of(bad[i])));
    }
    uint32_t code = 0;
    assert_int_equal(mq_utf8_next(MQ_STR("\xF0\x9F\x98\x80x"), &code), 4);
    assert_int_equal(code, 0x1F600);
    assert_int_equal(mq_utf8_next(MQ_STR(""), &code), 0);
}

static void test_utf8_cut(void **state)
{
    struct mq_str s = MQ_STR("aä€😀z"); /* 1, 2, 3, 4, 1 bytes */
    static const size_t expected[] = {0, 1, 1, 3, 3, 3, 6, 6, 6, 6, 10, 11, 11};
    (void)state;
    for (size_t max = 0; max < sizeof expected / sizeof *expected; max++) {
        assert_int_equal(mq_utf8_cut(s, max), expected[max]);
    }
    /* Not UTF-8: cut exactly at the limit. */
    assert_int_equal(mq_utf8_cut(MQ_STR("\x80\x80\x80\x80\x80\x80"), 5), 5);
}

static void test_printable(void **state)
{
    struct mq_buffer b;
    char array[8];
    (void)state;
    b = (struct mq_buffer){0};
    mq_buffer_printable(&b, (struct mq_str){"a\0b\x1b\x7f\xC2\x85\xFF\xE2\x82ä", 12});
    assert_string_equal(b.data, "a?b???\xEF\xBF\xBD\xEF\xBF\xBD\xEF\xBF\xBDä");
    mq_buffer_clear(&b);
    assert_int_equal(mq_str_printable(array, sizeof array, 0, MQ_STR("12345€")), 5);
    assert_string_equal(array, "12345");
    assert_int_equal(mq_str_printable(array, sizeof array, 5, MQ_STR("678")), 7);
    assert_string_equal(array, "1234567");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_views),          cmocka_unit_test(test_buffer),
        cmocka_unit_test(test_buffer_failure), cmocka_unit_test(test_strings),
        cmocka_unit_test(test_utf8),           cmocka_unit_test(test_utf8_cut),
        cmocka_unit_test(test_printable),
    };
    return cmocka_run_group_tests_name("buffer", tests, NULL, NULL);
}
