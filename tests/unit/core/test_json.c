/* The JSON writer and reader, also with invalid and truncated input. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "core/json.h"

static void test_write(void **state)
{
    struct mq_buffer out;
    struct mq_strings list;
    (void)state;
    out = (struct mq_buffer){0};
    mq_json_string(&out, (struct mq_str){"a\"\\/\n\r\t\0\x1b\x7f\xC2\x9B\xFFä€😀 ~", 24});
    assert_string_equal(out.data, "\"a\\\"\\\\/\\n\\u000d\\u0009\\u0000\\u001b\\u007f\\u009b"
                                  "\xEF\xBF\xBDä€😀 ~\"");
    mq_buffer_reset(&out);
    list = (struct mq_strings){0};
    mq_json_strings(&out, &list);
    assert_string_equal(out.data, "[]");
    mq_buffer_reset(&out);
    mq_strings_add(&list, MQ_STR("a@b"));
    mq_strings_add(&list, MQ_STR("c\"d"));
    mq_json_strings(&out, &list);
    assert_string_equal(out.data, "[\"a@b\",\"c\\\"d\"]");
    mq_strings_clear(&list);
    mq_buffer_clear(&out);
}

static void test_read_strings(void **state)
{
    struct mq_strings list = {0};
    (void)state;
    assert_int_equal(mq_json_read(MQ_STR(" [ ] \n"), '[', &list), MQ_OK);
    assert_int_equal(list.count, 0);
    assert_int_equal(
        mq_json_read(MQ_STR("[\"a\",\t\"\\u00e4\\\"\\\\\\/\\b\\f\\n\\r\\t\",\"\\ud83d\\ude00\","
                            "\"\\u20AC€\\u00fF\",\"\"]"),
                     '[', &list),
        MQ_OK);
    assert_int_equal(list.count, 5);
    assert_string_equal(list.items[0], "a");
    assert_string_equal(list.items[1], "ä\"\\/\b\f\n\r\t");
    assert_string_equal(list.items[2], "😀");
    assert_string_equal(list.items[3], "€€ÿ");
    assert_string_equal(list.items[4], "");
    mq_strings_clear(&list);
}

static void test_read_object(void **state)
{
    struct mq_strings pairs = {0};
    static const char *const expected[] = {"a", "x", "b\"", "", "", "{\"d\":1}", "a", "ä"};
    (void)state;
    assert_int_equal(mq_json_read(MQ_STR("{}"), '{', &pairs), MQ_OK);
    assert_int_equal(pairs.count, 0);
    assert_int_equal(mq_json_read(MQ_STR("{\"a\":\"x\",\"b\\\"\" : \"\"\n,\"\":\"{\\\"d\\\":1}\" ,"
                                         "\"a\":\"\\u00e4\"}"),
                                  '{', &pairs),
                     MQ_OK);
    assert_int_equal(pairs.count, 8);
    for (size_t i = 0; i < 8; i++) {
        assert_string_equal(pairs.items[i], expected[i]);
    }
    mq_strings_clear(&pairs);
}

static void test_read_bad(void **state)
{
    static const char *const arrays[] = {"",
                                         " ",
                                         "[",
                                         "]",
                                         "[\"a\"",
                                         "[\"a\",]",
                                         "[,]",
                                         "[\"a\" \"b\"]",
                                         "[1]",
                                         "[null]",
                                         "[[\"a\"]]",
                                         "[{}]",
                                         "{}",
                                         "\"a\"",
                                         "[\"a\"]x",
                                         "[\"a\"] ]",
                                         "[\"a]",
                                         "[\"\\x\"]",
                                         "[\"\\\"]",
                                         "[\"\\u12\"]",
                                         "[\"\\u12g4\"]",
                                         "[\"\\u0000\"]",
                                         "[\"\\ud83d\"]",
                                         "[\"\\ud83dx\"]",
                                         "[\"\\ud83d\\u0041\"]",
                                         "[\"\\ud83d\\n\"]",
                                         "[\"\\ude00\"]",
                                         "[\"\\udfff\"]",
                                         "[\"\\ud800\\udbff\"]",
                                         "[\"\\ud83d\\ud83d\"]",
                                         "[\"\n\"]",
                                         "[\"\xFF\"]",
                                         "[\"\xED\xA0\x80\"]",
                                         "['a']",
                                         "[\"\\ud83d\\u",
                                         "[\"\\u",
                                         "[\"\\"};
    static const char *const objects[] = {"",
                                          "{",
                                          "[]",
                                          "{\"a\"}",
                                          "{\"a\":}",
                                          "{\"a\":\"1\",}",
                                          "{a:\"1\"}",
                                          "{1:\"1\"}",
                                          "{\"a\":1}",
                                          "{\"a\":null}",
                                          "{\"a\":true}",
                                          "{\"a\":[]}",
                                          "{\"a\":{}}",
                                          "{\"a\":\"1\" \"2\"}",
                                          "{\"a\" \"1\"}",
                                          "{\"a\"::\"1\"}",
                                          "{\"a\":\"1\"}{}",
                                          "{\"a\":\"1\"",
                                          "{\"a\":\"",
                                          "{null:\"1\"}"};
    struct mq_strings list = {0};
    (void)state;
    for (size_t i = 0; i < sizeof arrays / sizeof *arrays; i++) {
        assert_int_equal(mq_json_read(mq_str_of(arrays[i]), '[', &list), MQ_INVALID);
        assert_int_equal(list.count, 0);
    }
    for (size_t i = 0; i < sizeof objects / sizeof *objects; i++) {
        assert_int_equal(mq_json_read(mq_str_of(objects[i]), '{', &list), MQ_INVALID);
        assert_int_equal(list.count, 0);
    }
    assert_int_equal(mq_json_read(mq_str_of(NULL), '[', &list), MQ_INVALID);
    assert_int_equal(mq_json_read((struct mq_str){"[\"a\0\"]", 6}, '[', &list), MQ_INVALID);
    assert_int_equal(mq_json_read((struct mq_str){"[\"a\"]\0", 6}, '[', &list), MQ_INVALID);
}

/* What others make: members of all types, of which the flat ones come as text. */
static void test_members(void **state)
{
    static const char text[] =
        " {\"a\":\"x\",\"n\": -1.5e3 ,\"gone\":null,\"t\":true,\"list\":[1,[\"]\"],{}],"
        "\"o\":{\"a\":\"no\",\"}\":[]},\"f\":false,\"last\":\"\\u00e4\"}";
    static const char *const wanted[] = {"a",    "x", "n",     "-1.5e3", "t",
                                         "true", "f", "false", "last",   "ä"};
    static const char *const bad[] = {
        "[]",           "{\"a\":}",   "{\"a\":[}",  "{\"a\":{\"b\":1}", "{\"a\":\"x",
        "{\"a\":[\"]}", "{\"a\":=}",  "{\"a\":1,}", "{\"a\":1} null",   "{\"a\":1 2}",
        "nul",          "{\"a\":[1,2"};
    struct mq_strings pairs = {0};
    (void)state;
    assert_int_equal(mq_json_members(mq_str_of(text), &pairs), MQ_OK);
    assert_int_equal(pairs.count, sizeof wanted / sizeof *wanted);
    for (size_t i = 0; i < pairs.count; i++) {
        assert_string_equal(pairs.items[i], wanted[i]);
    }
    mq_strings_clear(&pairs);
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        assert_int_equal(mq_json_members(mq_str_of(bad[i]), &pairs), MQ_INVALID);
        assert_int_equal(pairs.count, 0);
    }
    assert_int_equal(mq_json_members((struct mq_str){"{\"a\":1\0}", 8}, &pairs), MQ_INVALID);
}

/* Nothing is read past the end: each prefix in a block of its own size, for the sanitizer. */
static void test_prefixes(void **state)
{
    static const char text[] = "{\"a\\u00e4\\ud83d\\ude00\":\"😀\",\"b\":\"-1.5e10\",\"c\":\"\"}";
    struct mq_strings pairs = {0};
    (void)state;
    for (size_t len = 0; len < sizeof text; len++) {
        char *copy = malloc(len ? len : 1);
        memcpy(copy, text, len);
        enum mq_status status = mq_json_read((struct mq_str){copy, len}, '{', &pairs);
        assert_int_equal(status, len == sizeof text - 1 ? MQ_OK : MQ_INVALID);
        free(copy);
    }
    mq_strings_clear(&pairs);
}

static void test_round_trip(void **state)
{
    struct mq_strings in = {0};
    struct mq_strings back = {0};
    struct mq_buffer out;
    (void)state;
    out = (struct mq_buffer){0};
    for (int i = 1; i < 0x800; i++) {
        char text[8] = {(char)i, '\0'};
        if (i >= 0x80) {
            text[0] = (char)(0xC0 | i >> 6);
            text[1] = (char)(0x80 | (i & 0x3F));
        }
        assert_true(mq_strings_add(&in, mq_str_of(text)));
    }
    mq_json_strings(&out, &in);
    assert_int_equal(mq_json_read(mq_buffer_view(&out), '[', &back), MQ_OK);
    assert_int_equal(back.count, in.count);
    for (size_t i = 0; i < in.count; i++) {
        assert_string_equal(back.items[i], in.items[i]);
    }
    mq_strings_clear(&in);
    mq_strings_clear(&back);
    mq_buffer_clear(&out);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_write),       cmocka_unit_test(test_read_strings),
        cmocka_unit_test(test_read_object), cmocka_unit_test(test_read_bad),
        cmocka_unit_test(test_members),     cmocka_unit_test(test_prefixes),
        cmocka_unit_test(test_round_trip),
    };
    return cmocka_run_group_tests_name("json", tests, NULL, NULL);
}
