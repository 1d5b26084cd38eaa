/* Addresses in header fields that other programs wrote. */
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
#include "mime/idn.h"
#include "mime/mailbox.h"

static struct mq_error err;
static struct mq_strings list;

static int teardown(void **state)
{
    (void)state;
    mq_strings_clear(&list);
    return 0;
}

static enum mq_status read_value(const char *value)
{
    return mq_addresses_of_header(mq_str_of(value), "Cc", &list, &err);
}

/* Returns the value's addresses with spaces between, or NULL if it is refused. */
static void assert_read(const char *value, const char *expected)
{
    struct mq_buffer text = {0};
    enum mq_status status = read_value(value);
    if (expected == NULL) {
        if (status != MQ_MESSAGE) {
            fail_msg("%s was taken", value);
        }
        assert_int_equal(list.count, 0);
        return;
    }
    if (status != MQ_OK) {
        fail_msg("%s: %s", value, err.text);
    }
    for (size_t i = 0; i < list.count; i++) {
        mq_buffer_printf(&text, "%s%s", i > 0 ? " " : "", list.items[i]);
    }
    assert_string_equal(text.len > 0 ? text.data : "", expected);
    mq_buffer_clear(&text);
    mq_strings_clear(&list);
}

static void test_plain(void **state)
{
    (void)state;
    assert_read("", "");
    assert_read(" \r\n\t", "");
    assert_read("a@b", "a@b");
    assert_read("a@b,c@d", "a@b c@d");
    assert_read("<a@b>", "a@b");
    assert_read("< a@b >", "a@b");
    assert_read("Ann <a@b>, Bob B. <c@d>", "a@b c@d");
    assert_read("Ann<a@b>,Bob<c@d>", "a@b c@d");
    assert_read("J. R. O'Neil & Söhne <a@b>", "a@b");
    assert_read("a@[192.0.2.1], X <b@[IPv6:2001:db8::1]>", "a@[192.0.2.1] b@[IPv6:2001:db8::1]");
    assert_read("jörg@b", "jörg@b");
    assert_read("a@b, a@b", "a@b a@b");
    assert_read("Bl\xF6"
                "d <a@b>",
                "a@b"); /* Latin-1 in a name */
    assert_read("Mail [spam] <a@b>", "a@b");
    assert_read("a@b <A@B>", "A@B");
    assert_read("'a@b' <a@b>", "a@b");
}

static void test_folding(void **state)
{
    (void)state;
    assert_read("a@b,\r\n c@d,\r\n\te@f\r\n", "a@b c@d e@f");
    assert_read("a@b,\n c@d,\n\t \te@f", "a@b c@d e@f");
    assert_read("a@b,\r c@d,\r\te@f\r", "a@b c@d e@f");
    assert_read("Ann\r\n Example\r\n <a@b>\r\n ,\r\n \r\n c@d", "a@b c@d");
    assert_read("\"Ann\r\n Example\" <a@b>", "a@b");
    assert_read("(a\r\n b) <\r\n a@b>", "a@b");
}

static void test_quotes(void **state)
{
    (void)state;
    assert_read("\"Müller, Ann\" <a@b>, \"x <y@z>\" <c@d>", "a@b c@d");
    assert_read("\"a \\\" b, \\\\\" <a@b>", "a@b");
    assert_read("\"a\" \"b\" c <a@b>", "a@b");
    assert_read("\"\"<a@b>", "a@b");
    assert_read("\"a@b\" <c@d>", "c@d");
    assert_read("x\"y,z\"w <a@b>", "a@b");
    assert_read("\"(\" <a@b>, \")\" <c@d>", "a@b c@d");
}

static void test_encoded_words(void **state)
{
    (void)state;
    assert_read("=?utf-8?Q?M=C3=BCller=2C_Ann?= <a@b>", "a@b");
    assert_read("=?UTF-8?B?TcO8bGxlcg==?=\r\n =?UTF-8?B?LCBB?= <a@b>, c@d", "a@b c@d");
    /* Forms that careless programs write. */
    assert_read("=?utf-8?Q?M=C3=BCller,_<x@y>_(z);:?= <a@b>", "a@b");
    assert_read("=?utf-8?Q?a?=b <a@b>", "a@b");
    /* A text that only looks like an address. */
    assert_read("=?a, x@y, ?= <a@b>, c@d", NULL);
    assert_read("=?utf-8?Q?a,x@y", NULL);
    assert_read("=?utf-8?Q <a@b>", "a@b");
    assert_read("=?=?=? <a@b>", "a@b");
}

static void test_comments(void **state)
{
    (void)state;
    assert_read("a@b (John Doe)", "a@b");
    assert_read("(John, Doe) a@b", "a@b");
    assert_read("(a)(b) <a@b>(c)(d) , (e) c@d(f)", "a@b c@d");
    assert_read("Ann (x <y@z>, \"( \\) \\( \\\\ (nested (deeper)) ) ) B <a@b>", "a@b");
    assert_read("(only a comment)", "");
    assert_read("(", NULL);
    assert_read("a@b (x", NULL);
    assert_read("a@b (x\\)", NULL);
    assert_read("a@b )", NULL);
    assert_read("((((((((((((((((((((((((((((((((x)))))))))))))))))))))))))))))))) a@b", "a@b");
    assert_read("(((((((((((((((((((((((((((((((((x))))))))))))))))))))))))))))))))) a@b", "a@b");
}

static void test_groups(void **state)
{
    (void)state;
    assert_read("undisclosed-recipients:;", "");
    assert_read("undisclosed-recipients: ;", "");
    assert_read("Undisclosed recipients:;", "");
    assert_read("\"x, y\" (z): a@b, C <c@d>;", "a@b c@d");
    assert_read("g: a@b;, h:; , e@f, i: g@h , ;", "a@b e@f g@h");
    assert_read("a@b, g: ,, c@d (x) ; (y)", "a@b c@d");
    assert_read("g: a@b", NULL);
    assert_read("g:", NULL);
    assert_read("g: h: a@b;;", NULL);
    assert_read("g: a@b; c@d", NULL);
    assert_read("g: a@b;;", NULL);
    assert_read(": a@b;", NULL);
    assert_read("a@b; c@d", NULL);
    assert_read("mailto:a@b", NULL);
    assert_read("x@y: a@b;", NULL);
}

static void test_empty_elements(void **state)
{
    (void)state;
    assert_read(",", "");
    assert_read(", ,a@b,, (x) ,c@d,", "a@b c@d");
}

static void test_idn(void **state)
{
    (void)state;
    if (!mq_idn_available()) {
        assert_read("a@m\xC3\xBCller.example", NULL);
        return;
    }
    assert_read("x <a@MÜLLER.example>, ä@b", "a@xn--mller-kva.example ä@b");
}

static void test_bad(void **state)
{
    static const char *const bad[] = {BAD_ADDRESSES};
    /* Text before and after the address. */
    static const char *const frames[][2] = {{"", ""},           {"Ann <", ">"},
                                            {"\"A, B\"<", ">"}, {"o@k.org,", ""},
                                            {"", " , o@k.org"}, {"g: o@k.org, ", ";"}};
    char text[700];
    (void)state;
    assert_true(mq_strings_add(&list, MQ_STR("x@y")));
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        for (size_t k = 0; k < sizeof frames / sizeof *frames; k++) {
            err = (struct mq_error){0};
            snprintf(text, sizeof text, "%s%s%s", frames[k][0], bad[i], frames[k][1]);
            if (read_value(text) != MQ_MESSAGE) {
                fail_msg("%s was taken as %s", text, list.items[list.count - 1]);
            }
            assert_string_equal(err.field, "Cc");
            assert_int_equal(strncmp(err.text, "Cc: ", 4), 0);
            assert_null(strpbrk(err.text, "\r\n\t"));
            assert_int_equal(list.count, 1); /* untouched */
        }
    }
}

static void test_bad_lists(void **state)
{
    static const char *const bad[] = {
        "Ann",
        "Ann Example",
        "\"Ann\"",
        "Ann a@b",
        "a@b c@d",
        "a@b <c@d>",
        "'a@b <a@b>",
        "Ann a@b <a@b>",
        "<a@b> <c@d>",
        "<a@b> x",
        "Ann <>",
        "<>",
        "<a@b",
        "a@b>",
        "Ann <a@b>>",
        "<(c)a@b>",
        "<a@b(c)>",
        "\"Ann <a@b>",
        "Ann [x <a@b>",
        "\"a b\"@c <d@e>",
        "Ann\r\nBcc: <a@b>",
        "a@b\r\n.\r\n",
        "a@b,\n\rc@d",
        "a@b,\r\rc@d",
        "a@b\x01",
        "\x7f <a@b>",
    };
    (void)state;
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        assert_read(bad[i], NULL);
    }
    assert_int_equal(mq_addresses_of_header((struct mq_str){"A\0 <a@b>", 8}, "Cc", &list, &err),
                     MQ_MESSAGE);
    assert_non_null(strstr(err.text, "U+0000 at byte 2"));
}

/* The error's text says what to do. */
static void test_cures(void **state)
{
    static const char *const samples[][2] = {
        {"<@r:a@b>", "has a source route; remove all up to the \":\""},
        {"a@[1.2.3.4", "has a \"[\" without \"]\"; add it"},
        {"a@b <c@d>", "put the name in double quotes, or a comma between two addresses"},
        {"a@b; c@d", "put commas between addresses"},
        {"a b@c", "has several words and no <address>"},
        {"g: a@b", "has a group without its \";\"; add it"},
        {"x@y, \"Ann <a@b>", "\"\"Ann <a@b>\" has a quoted name without its closing quote"},
        {"x@y (z", "has a comment without its \")\""},
        {"a@b\nc", "control character U+000A at byte 4; remove it"},
        {"root", "has no \"@\"; write it as name@example.org"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof samples / sizeof *samples; i++) {
        assert_int_equal(read_value(samples[i][0]), MQ_MESSAGE);
        if (strstr(err.text, samples[i][1]) == NULL) {
            fail_msg("\"%s\" is not in \"%s\"", samples[i][1], err.text);
        }
    }
}

/* One megabyte of each shape that makes a backtracking parser slow. */
static void test_linear(void **state)
{
    static const char *const shapes[] = {
        "(",   "()", "(()",        "<",      ",",          "\"",    "\"\"",   "\"\\",
        "\\",  "[",  "[]",         "@",      "a:",         "a:;",   "a,",     "a ",
        "a@b", "<a", "<>",         "a@b,",   "=?",         "=?a",   "=?,",    "=?a?",
        ";",   "=",  "<a@b>,",     "=?a?Q?", "=?a?Q?b?= ", "\r\n ", "\"a\" ", "g:a@b;,",
        "ä",   "a<", "a@b <a@b>,", "(\\",    "?",          "\" ",   "( ",     " "};
    static const char *const ends[] = {"", "<a@b>", ")", "\"<a@b>"};
    clock_t start = clock();
    (void)state;
    for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++) {
        for (size_t k = 0; k < sizeof ends / sizeof *ends; k++) {
            struct mq_buffer text = {0};
            clock_t began = clock();
            while (text.len < (k == 0 ? 1000000 : 200000)) {
                mq_buffer_cstr(&text, shapes[i]);
            }
            mq_buffer_cstr(&text, ends[k]);
            mq_addresses_of_header(mq_buffer_view(&text), "Cc", &list, &err);
            mq_strings_clear(&list);
            mq_buffer_clear(&text);
            if (clock() - began > 5 * CLOCKS_PER_SEC) {
                fail_msg("much of %s and then %s takes too long", shapes[i], ends[k]);
            }
        }
    }
    assert_true(clock() - start < 60 * CLOCKS_PER_SEC);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(test_plain, teardown),
        cmocka_unit_test_teardown(test_folding, teardown),
        cmocka_unit_test_teardown(test_quotes, teardown),
        cmocka_unit_test_teardown(test_encoded_words, teardown),
        cmocka_unit_test_teardown(test_comments, teardown),
        cmocka_unit_test_teardown(test_groups, teardown),
        cmocka_unit_test_teardown(test_empty_elements, teardown),
        cmocka_unit_test_teardown(test_idn, teardown),
        cmocka_unit_test_teardown(test_bad, teardown),
        cmocka_unit_test_teardown(test_bad_lists, teardown),
        cmocka_unit_test_teardown(test_cures, teardown),
        cmocka_unit_test_teardown(test_linear, teardown),
    };
    return cmocka_run_group_tests_name("mailbox_header", tests, NULL, NULL);
}
