/* The reader of JSON objects with all that is in them, also with invalid and truncated input. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "core/json_tree.h"

static struct mq_json_tree tree;
static struct mq_error err;

static int teardown(void **state)
{
    (void)state;
    mq_json_tree_clear(&tree);
    return 0;
}

static void read_json(const char *json)
{
    if (mq_json_tree_read(&tree, mq_str_of(json), "fields", &err) != MQ_OK) {
        fail_msg("%s", err.text);
    }
}

static const struct mq_json_value *member(const struct mq_json_value *of, const char *key)
{
    const struct mq_json_value *value = mq_json_member(&tree, of, mq_str_of(key));
    if (value == NULL) {
        fail_msg("no %s", key);
    }
    return value;
}

static void assert_text(const struct mq_json_value *value, enum mq_json_kind kind, const char *text)
{
    assert_int_equal(value->kind, kind);
    assert_int_equal(value->text.len, strlen(text));
    assert_memory_equal(value->text.data, text, value->text.len);
}

static void test_values(void **state)
{
    (void)state;
    read_json(" {\"text\":\"a\", \"n\" : -1.50e+3 ,\"t\":true,\"f\":false,\"none\":null,\"zero\":0,"
              "\"\":\"\",\"esc\":\"\\u00e4\\\"\\ud83d\\ude00\\n\",\"wei\\u00df\":\"\\/\"} \n");
    assert_int_equal(tree.root.count, 9);
    assert_text(member(&tree.root, "text"), MQ_JSON_TEXT, "a");
    assert_text(member(&tree.root, "n"), MQ_JSON_NUMBER, "-1.50e+3");
    assert_text(member(&tree.root, "zero"), MQ_JSON_NUMBER, "0");
    assert_text(member(&tree.root, "t"), MQ_JSON_TRUE, "true");
    assert_text(member(&tree.root, "f"), MQ_JSON_FALSE, "false");
    assert_int_equal(member(&tree.root, "none")->kind, MQ_JSON_NULL);
    assert_text(member(&tree.root, ""), MQ_JSON_TEXT, "");
    assert_text(member(&tree.root, "esc"), MQ_JSON_TEXT, "ä\"😀\n");
    assert_text(member(&tree.root, "weiß"), MQ_JSON_TEXT, "/");
    assert_null(mq_json_member(&tree, &tree.root, MQ_STR("tex")));
    assert_null(mq_json_member(&tree, member(&tree.root, "text"), MQ_STR("text")));
}

static void test_nested(void **state)
{
    const struct mq_json_value *list;
    (void)state;
    read_json("{\"list\":[1,[],{\"a\":[{\"b\":\"deep\"}]},\"x\"],\"o\":{},\"last\":{\"z\":1}}");
    list = member(&tree.root, "list");
    assert_int_equal(list->kind, MQ_JSON_LIST);
    assert_int_equal(list->count, 4);
    assert_text(mq_json_item(&tree, list, 0), MQ_JSON_NUMBER, "1");
    assert_int_equal(mq_json_item(&tree, list, 1)->count, 0);
    assert_text(mq_json_item(&tree, list, 3), MQ_JSON_TEXT, "x");
    list = member(mq_json_item(&tree, list, 2), "a");
    assert_text(member(mq_json_item(&tree, list, 0), "b"), MQ_JSON_TEXT, "deep");
    assert_int_equal(member(&tree.root, "o")->count, 0);
    assert_text(member(member(&tree.root, "last"), "z"), MQ_JSON_NUMBER, "1");
}

/* The same tree reads one text after the other. */
static void test_again(void **state)
{
    (void)state;
    read_json("{\"a\":{}}"); /* before there is any memory */
    assert_int_equal(member(&tree.root, "a")->count, 0);
    read_json("{\"a\":\"\\u0031\",\"b\":[1,2,3]}");
    read_json("{\"b\":\"\\u0032\"}");
    assert_int_equal(tree.root.count, 1);
    assert_text(member(&tree.root, "b"), MQ_JSON_TEXT, "2");
    read_json("");
    assert_int_equal(tree.root.count, 0);
    assert_null(mq_json_member(&tree, &tree.root, MQ_STR("b")));
    read_json(" \n");
    read_json("{ }");
    assert_int_equal(tree.root.count, 0);
}

/* 1,000 members and 10,000 items, found in a moment. */
static void test_many(void **state)
{
    struct mq_buffer json = {0};
    (void)state;
    mq_buffer_char(&json, '{');
    for (int i = 0; i < 1000; i++) {
        mq_buffer_printf(&json, "\"k%d\":\"\\u0076%d\",", i * 7919 % 1000, i * 7919 % 1000);
    }
    mq_buffer_cstr(&json, "\"list\":[0");
    for (int i = 1; i < 10000; i++) {
        mq_buffer_printf(&json, ",%d", i);
    }
    mq_buffer_cstr(&json, "]}");
    read_json(json.data);
    for (int i = 0; i < 1000; i++) {
        char key[16];
        char value[16];
        snprintf(key, sizeof key, "k%d", i);
        snprintf(value, sizeof value, "v%d", i);
        assert_text(member(&tree.root, key), MQ_JSON_TEXT, value);
    }
    assert_int_equal(member(&tree.root, "list")->count, 10000);
    assert_text(mq_json_item(&tree, member(&tree.root, "list"), 9999), MQ_JSON_NUMBER, "9999");
    mq_json_tree_clear(&tree);
    mq_buffer_clear(&json);
}

static void assert_refused(struct mq_str json, const char *part)
{
    assert_int_equal(mq_json_tree_read(&tree, json, "fields", &err), MQ_MESSAGE);
    assert_string_equal(err.field, "fields");
    if (strstr(err.text, part) == NULL) {
        fail_msg("\"%s\" is not in \"%s\"", part, err.text);
    }
    assert_int_equal(tree.root.count, 0);
}

static void test_refused(void **state)
{
    static const char *const bad[] = {"[]",
                                      "1",
                                      "null",
                                      "\"a\"",
                                      "{",
                                      "{\"a\"}",
                                      "{\"a\":}",
                                      "{\"a\":1",
                                      "{\"a\":1,}",
                                      "{,}",
                                      "{\"a\":1}}",
                                      "{\"a\":1} x",
                                      "{\"a\":tru}",
                                      "{\"a\":True}",
                                      "{\"a\":01}",
                                      "{\"a\":-}",
                                      "{\"a\":1.}",
                                      "{\"a\":.5}",
                                      "{\"a\":1e}",
                                      "{\"a\":0x1}",
                                      "{\"a\":1-2}",
                                      "{\"a\":[1,]}",
                                      "{\"a\":[1}",
                                      "{\"a\":{]}",
                                      "{a:1}",
                                      "{'a':1}",
                                      "{\"a\":\"\n\"}",
                                      "{\"a\":\"\\x\"}",
                                      "{\"a\":\"\\ud800\"}",
                                      "{\"a\":\"\\u0000\"}",
                                      "{\"a\":\"x}",
                                      "{\"a\":\"\xFF\"}",
                                      "{\"a\":\"\\n\xC3\"}",
                                      "{\"\xFF\":1}",
                                      "{\"a\":NaN}",
                                      "{\"a\":+1}"};
    (void)state;
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        assert_refused(mq_str_of(bad[i]), "not a JSON object");
    }
    assert_refused((struct mq_str){"{\"a\":\"\0\"}", 9}, "at \"a\"");
    assert_refused(MQ_STR("{\"b\":1,\"a\":1,\"b\":2}"), "same name");
    assert_refused(MQ_STR("{\"b\":1,\"\\u0062\":2}"), "same name");
    assert_refused(MQ_STR("{\"a\":1,\"name\":tru}"), "byte 18, at \"name\"");
}

static void test_depth(void **state)
{
    struct mq_buffer json = {0};
    (void)state;
    for (int depth = MQ_JSON_DEPTH; depth <= MQ_JSON_DEPTH + 1; depth++) {
        mq_buffer_reset(&json);
        mq_buffer_cstr(&json, "{\"a\":");
        for (int i = 1; i < depth; i++) {
            mq_buffer_char(&json, '[');
        }
        for (int i = 1; i < depth; i++) {
            mq_buffer_char(&json, ']');
        }
        mq_buffer_char(&json, '}');
        if (depth == MQ_JSON_DEPTH) {
            read_json(json.data);
        } else {
            assert_refused(mq_buffer_view(&json), "within each other");
        }
    }
    mq_buffer_reset(&json);
    mq_buffer_cstr(&json, "{\"a\":");
    for (int i = 0; i < 100000; i++) {
        mq_buffer_char(&json, '[');
    }
    assert_refused(mq_buffer_view(&json), "within each other");
    mq_buffer_clear(&json);
}

/* Lists within each other: "[0],[0],…" in a list, two values for each "[0]". */
static void test_many_values(void **state)
{
    struct mq_buffer json = {0};
    (void)state;
    mq_buffer_cstr(&json, "{\"a\":[[0]");
    for (int i = 2; i < MQ_JSON_VALUES / 2; i++) {
        mq_buffer_cstr(&json, ",[0]");
    }
    size_t len = json.len;
    mq_buffer_cstr(&json, ",0]}"); /* the list itself is a value, too */
    read_json(json.data);
    json.len = len;
    mq_buffer_cstr(&json, ",0,0]}");
    assert_refused(mq_buffer_view(&json), "more than 100000 values");
    mq_buffer_clear(&json);
}

/* Every beginning of a text is refused; nothing behind it is read (ASan sees that). */
static void test_truncated(void **state)
{
    static const char json[] = "{\"a\":[1.5e3,{\"b\":\"\\ud83d\\ude00\",\"c\":true}],\"d\":null}";
    (void)state;
    for (size_t len = 1; len + 1 < sizeof json; len++) {
        char *copy = malloc(len);
        memcpy(copy, json, len);
        assert_refused((struct mq_str){copy, len}, "byte");
        free(copy);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(test_values, teardown),
        cmocka_unit_test_teardown(test_nested, teardown),
        cmocka_unit_test_teardown(test_again, teardown),
        cmocka_unit_test_teardown(test_many, teardown),
        cmocka_unit_test_teardown(test_refused, teardown),
        cmocka_unit_test_teardown(test_depth, teardown),
        cmocka_unit_test_teardown(test_many_values, teardown),
        cmocka_unit_test_teardown(test_truncated, teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
