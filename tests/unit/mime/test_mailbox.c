/* Mailboxes in the forms that people write. */
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
static struct mq_mailboxes list;

static int teardown(void **state)
{
    (void)state;
    mq_mailboxes_clear(&list);
    assert_null(list.addresses.items);
    return 0;
}

static enum mq_status parse(const char *text)
{
    return mq_mailboxes_parse(mq_str_of(text), "to", &list, &err);
}

/* The list as "name|address" with ";" between. */
static void assert_list(const char *expected)
{
    struct mq_buffer text = {0};
    for (size_t i = 0; i < list.addresses.count; i++) {
        mq_buffer_printf(&text, "%s%s|%s", i > 0 ? ";" : "", list.names.items[i],
                         list.addresses.items[i]);
    }
    assert_string_equal(text.len > 0 ? text.data : "", expected);
    mq_buffer_clear(&text);
}

static void test_good(void **state)
{
    static const char *const samples[][2] = {
        {"a@example.org", "|a@example.org"},
        {"  a@example.org ", "|a@example.org"},
        {"<a@example.org>", "|a@example.org"},
        {" <a@example.org>", "|a@example.org"},
        {"Ann Example <a@example.org>", "Ann Example|a@example.org"},
        {"Ann  Example<a@example.org>", "Ann  Example|a@example.org"},
        {"J. R. Müller <a@example.org>", "J. R. Müller|a@example.org"},
        {"\"Müller, Ann\" <a@example.org>", "Müller, Ann|a@example.org"},
        {"\"say \\\"hi\\\" \\\\ <x@y>\"<a@example.org>", "say \"hi\" \\ <x@y>|a@example.org"},
        {"\"\" <a@example.org>", "|a@example.org"},
        {"😀 <a@example.org>", "😀|a@example.org"},
        {"=?utf-8?Q?x?= <a@example.org>", "=?utf-8?Q?x?=|a@example.org"},
        {"O'Neil & Co <o'neil+x=y@example.org>", "O'Neil & Co|o'neil+x=y@example.org"},
        {"a@[192.0.2.1]", "|a@[192.0.2.1]"},
        {"X <a@[IPv6:2001:db8::1]>", "X|a@[IPv6:2001:db8::1]"},
        {"a@b,c@d", "|a@b;|c@d"},
        {" a@b , <c@d> ,E <e@f>,\"g, h\" <g@h>", "|a@b;|c@d;E|e@f;g, h|g@h"},
        {"a@b, a@b", "|a@b;|a@b"},
        {"J <jörg@example.org>, x@y", "J|jörg@example.org;|x@y"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof samples / sizeof *samples; i++) {
        if (parse(samples[i][0]) != MQ_OK) {
            fail_msg("%s: %s", samples[i][0], err.text);
        }
        assert_list(samples[i][1]);
        mq_mailboxes_clear(&list);
    }
    parse("Ann\t<a@b>,\vB\xC2\x85\xE2\x80\xA8O <b@c>\t,\f c@d\xE2\x80\xA9");
    assert_list("Ann|a@b;B  O|b@c;|c@d"); /* pasted */
    mq_mailboxes_clear(&list);
    parse("a@b, jörg@example.org");
    assert_int_equal(parse("X <c@d>"), MQ_OK); /* appends */
    assert_list("|a@b;|jörg@example.org;X|c@d");
}

static void test_idn(void **state)
{
    (void)state;
    if (!mq_idn_available()) {
        assert_int_equal(parse("a@m\xC3\xBCller.example"), MQ_MESSAGE);
        return;
    }
    assert_int_equal(parse("Jörg <jörg@MÜLLER.example>, a@EXAMPLE.org"), MQ_OK);
    assert_list("Jörg|jörg@xn--mller-kva.example;|a@EXAMPLE.org");
}

static void test_many(void **state)
{
    struct mq_buffer text = {0};
    (void)state;
    for (int i = 0; i < 10000; i++) {
        mq_buffer_printf(&text, "%s\"N, %d\" <a%d@example.org>", i > 0 ? ", " : "", i, i);
    }
    assert_int_equal(mq_mailboxes_parse(mq_buffer_view(&text), "to", &list, &err), MQ_OK);
    assert_int_equal(list.addresses.count, 10000);
    assert_string_equal(list.names.items[9999], "N, 9999");
    assert_string_equal(list.addresses.items[9999], "a9999@example.org");
    mq_buffer_clear(&text);
}

static void assert_refused(const char *text)
{
    err = (struct mq_error){0};
    if (parse(text) != MQ_MESSAGE) {
        fail_msg("%s was taken", text);
    }
    assert_string_equal(err.field, "to");
    assert_int_equal(strncmp(err.text, "to: ", 4), 0);
    assert_true(mq_utf8_valid(mq_str_of(err.text)));
    assert_null(strpbrk(err.text, "\r\n\t"));
    assert_int_equal(list.addresses.count, 1); /* untouched */
    assert_int_equal(list.names.count, 1);
}

static void test_bad_addresses(void **state)
{
    static const char *const bad[] = {BAD_ADDRESSES};
    (void)state;
    parse("x@y");
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        char text[700];
        assert_refused(bad[i]);
        snprintf(text, sizeof text, "Ann <%s>", bad[i]);
        assert_refused(text);
        snprintf(text, sizeof text, "\"A, B\"<%s>", bad[i]);
        assert_refused(text);
        snprintf(text, sizeof text, "ok@example.org, %s", bad[i]);
        assert_refused(text);
        snprintf(text, sizeof text, "%s,ok@example.org", bad[i]);
        assert_refused(text);
        assert_int_equal(mq_mailboxes_add(MQ_STR("Ann"), mq_str_of(bad[i]), "to", &list, &err),
                         MQ_MESSAGE);
        assert_int_equal(list.addresses.count, 1);
    }
}

static void test_bad(void **state)
{
    static const char *const bad[] = {
        "",
        " ",
        ",",
        "a@b,",
        ",a@b",
        "a@b,,c@d",
        "Ann <a@example.org> Bob <b@example.org>",
        "Ann <a@example.org> (comment)",
        "Ann (comment) <a@example.org>",
        "(comment) a@example.org",
        "a@example.org (comment)",
        "(<a@example.org>",
        "group: Ann <a@example.org>;",
        "group: a@b, c@d;",
        "undisclosed-recipients:;",
        "a@example.org <a@example.org>",
        "a@example.org;b@example.org",
        "Ann <a@example.org",
        "Ann a@example.org>",
        "Ann <>",
        "<>",
        "Ann <<a@example.org>>",
        "Ann < a@example.org>",
        "Ann <a@example.org >",
        "Ann <@relay:a@example.org>",
        "\"Ann <a@example.org>",
        "\"Ann\\",
        "\"Ann\"",
        "\"Ann\" a@example.org",
        "\"Ann\" x <a@example.org>",
        "\"Ann\" \"x\" <a@example.org>",
        "\"Ann\"@example.org",
        "Ann\\ <a@example.org>",
        "Ann \"x\" <a@example.org>",
        "Ann [x] <a@example.org>",
        "Ann\r\nBcc: b@example.org <a@example.org>",
        "\"Ann\r\n\" <a@example.org>",
        "Ann\r\n <a@example.org>",
        "Ann <a@\texample.org>",
        "Ann <a\xC2\x85@example.org>",
        "Ann <a@example\xE2\x80\xA8.org>",
        "Ann\xFF <a@example.org>",
        "Ann\x7f <a@example.org>",
        "Ann\x1b[2J <a@example.org>",
    };
    (void)state;
    parse("x@y");
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        assert_refused(bad[i]);
    }
    assert_int_equal(mq_mailboxes_parse((struct mq_str){"An\0n <a@b>", 10}, "to", &list, &err),
                     MQ_MESSAGE);
    assert_int_equal(mq_mailboxes_parse((struct mq_str){"a@b\0", 4}, "to", &list, &err),
                     MQ_MESSAGE);
    assert_int_equal(list.addresses.count, 1);
}

/* The error's text says what to do. */
static void test_cures(void **state)
{
    static const char *const samples[][2] = {
        {"Müller, Ann <a@example.org>",
         "has no \"@\"; write it as name@example.org, and a name that has a comma in double "
         "quotes"},
        {"Ann (x) <a@b>", "put the name in double quotes"},
        {"a@b, Ann <c@d", "\"Ann <c@d\" has a \"<\" without \">\""},
        {"a@b\r\nBcc: c@d", "control character U+000D at byte 4"},
        {"a b@c", "has several words and no <address>"},
        {"a@b c@d", "a comma between two addresses"},
        {"a@b (c)", "comments are not supported"},
        {"<a@b> <c@d>", "put a comma between"},
        {"a@b,", "the address is empty"},
        {"\"a b\"@example.org", "has a quoted local part, which is not supported"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof samples / sizeof *samples; i++) {
        assert_int_equal(parse(samples[i][0]), MQ_MESSAGE);
        if (strstr(err.text, samples[i][1]) == NULL) {
            fail_msg("\"%s\" is not in \"%s\"", samples[i][1], err.text);
        }
    }
}

static void test_add(void **state)
{
    static const char *const names[] = {"A\r\nBcc: x@y", "A\n",       "\r",  "A\x01",
                                        "\x7f",          "A\xC2\x86", "\xFF"};
    struct mq_str address = MQ_STR("a@b");
    (void)state;
    assert_int_equal(mq_mailboxes_add(MQ_STR("Mü, \"x\" <y@z>"), address, "cc", &list, &err),
                     MQ_OK);
    assert_int_equal(mq_mailboxes_add((struct mq_str){0}, address, "cc", &list, &err), MQ_OK);
    assert_list("Mü, \"x\" <y@z>|a@b;|a@b");
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        assert_int_equal(mq_mailboxes_add(mq_str_of(names[i]), address, "cc", &list, &err),
                         MQ_MESSAGE);
        assert_string_equal(err.field, "cc");
    }
    assert_int_equal(mq_mailboxes_add((struct mq_str){"A\0", 2}, address, "cc", &list, &err),
                     MQ_MESSAGE);
    assert_int_equal(mq_mailboxes_add(MQ_STR("A"), MQ_STR(""), "cc", &list, &err), MQ_MESSAGE);
    assert_int_equal(mq_mailboxes_add(MQ_STR("A"), MQ_STR(" a@b"), "cc", &list, &err), MQ_MESSAGE);
    assert_int_equal(mq_mailboxes_add(MQ_STR("A"), MQ_STR("a@b,c@d"), "cc", &list, &err),
                     MQ_MESSAGE);
    assert_int_equal(list.addresses.count, 2);
}

/* One megabyte of each shape that makes a backtracking parser slow: as fast as plain text. */
static void test_linear(void **state)
{
    static const char *const shapes[] = {
        "(",     "<",    "\"",     ",",           "\\",   "a,", "a ", "<a", "\"<",
        "\"\" ", "a@b,", "<a@b>,", "\"a\"<a@b>,", "a<",   "@",  ">",  "[",  "\\\"",
        "ä",     ":",    "a:b;",   "\"\\",        "\" ,", "<>", " ",
    };
    clock_t start = clock();
    (void)state;
    for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++) {
        struct mq_buffer text = {0};
        while (text.len < 1000000) {
            mq_buffer_cstr(&text, shapes[i]);
        }
        assert_int_equal(mq_mailboxes_parse(mq_buffer_view(&text), "to", &list, &err), MQ_MESSAGE);
        assert_int_equal(list.addresses.count, 0);
        mq_buffer_cstr(&text, "x@example.org");
        mq_mailboxes_parse(mq_buffer_view(&text), "to", &list, &err);
        mq_mailboxes_clear(&list);
        mq_buffer_cstr(&text, ">");
        mq_mailboxes_parse(mq_buffer_view(&text), "to", &list, &err);
        mq_mailboxes_clear(&list);
        mq_buffer_clear(&text);
    }
    assert_true(clock() - start < 10 * CLOCKS_PER_SEC);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(test_good, teardown),
        cmocka_unit_test_teardown(test_idn, teardown),
        cmocka_unit_test_teardown(test_many, teardown),
        cmocka_unit_test_teardown(test_bad_addresses, teardown),
        cmocka_unit_test_teardown(test_bad, teardown),
        cmocka_unit_test_teardown(test_cures, teardown),
        cmocka_unit_test_teardown(test_add, teardown),
        cmocka_unit_test_teardown(test_linear, teardown),
    };
    return cmocka_run_group_tests_name("mailbox", tests, NULL, NULL);
}
