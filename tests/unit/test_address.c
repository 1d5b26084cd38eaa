#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <time.h>

#include "core/address.h"

static struct mq_error err;

static enum mq_status check(struct mq_str address, bool *utf8)
{
    return mq_address_check(address, "to", utf8, &err);
}

#define A10 "aaaaaaaaaa"
#define A60 A10 A10 A10 A10 A10 A10
#define A63 A60 "aaa"

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
        bool utf8 = true;
        if (check(mq_str_of(good[i]), &utf8) != MQ_OK) {
            fail_msg("%s: %s", good[i], err.text);
        }
        assert_false(utf8);
    }
    bool utf8 = false;
    assert_int_equal(check(MQ_STR("jörg.日本@example.org"), &utf8), MQ_OK);
    assert_true(utf8);
}

/* Strings of published advisories (options for sendmail, quoted local parts, smuggled lines) and
 * what people mistype. */
static const char *const bad[] = {
    "",
    "@",
    "a",
    "a@",
    "@b",
    "-X/x@example.org",
    "-OQueueDirectory=/tmp@example.org",
    "-be${run{x}}@example.org",
    "\"a@evil x\"@ok",
    "\"a\"@ok.example",
    "\"\\\" -X/var/www/x.php \"@example.org",
    "\"attacker' -oQ/tmp -X/x\"@example.org",
    "a\"b\"@example.org",
    "(comment)a@example.org",
    "a(comment)@example.org",
    "a@example.org(comment)",
    "a@(c)example.org",
    "group:a@example.org;",
    "a@b@example.org",
    "@relay.example:a@example.org",
    "a b@example.org",
    " a@example.org",
    "a@example.org ",
    "a@exa mple.org",
    "a@example.org,b@example.org",
    "a@example.org;b@example.org",
    "<a@example.org>",
    "a@example.org>",
    "a@example.org> SIZE=1",
    "a@example.org\r\nRCPT TO:<b@example.org>",
    "a@example.org\n",
    "a\r@example.org",
    "a\t@example.org",
    "a\x01@example.org",
    "a\x7f@example.org",
    "a@example.org\x7f",
    ".a@example.org",
    "a.@example.org",
    "a..b@example.org",
    "a\\b@example.org",
    "a,b@example.org",
    "a:b@example.org",
    "a[b@example.org",
    "a@.example.org",
    "a@example..org",
    "a@example.org.",
    "a@.",
    "a@-example.org",
    "a@example-.org",
    "a@example.-org",
    "a@example.org-",
    "a@exam_ple.org",
    "a@exam/ple.org",
    "a@example.org:25",
    "a@m\xC3\xBCller.example",
    "a@[",
    "a@[]",
    "a@[1.2.3]",
    "a@[1.2.3.4",
    "a@[1.2.3.256]",
    "a@[1.2.3.4]x",
    "a@[IPv6:]",
    "a@[IPv6:1.2.3.4]",
    "a@[2001:db8::1]",
    "a@[x]",
    "a\xFF@example.org",
    "a\xC3@example.org",
    "a\xED\xA0\x80@example.org",
    "a\xC2\x85@example.org",
    "a\xC2\xA0@example.org",
    "a\xE2\x80\xA8@example.org",
    "a\xE2\x80\xAE@example.org",
    A60 "aaaaa@example.org", /* 65 octets */
    "a@" A63 "a.example",
    "a@" A63 "." A63 "." A63 "." A60 "a", /* 255 octets in all */
    "a@" A63 "." A63 "." A63 "." A63 "." A10,
};

static void test_bad(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        bool utf8 = true;
        if (check(mq_str_of(bad[i]), &utf8) != MQ_MESSAGE) {
            fail_msg("%s was taken", bad[i]);
        }
        assert_true(utf8); /* untouched */
        assert_string_equal(err.field, "to");
        assert_int_equal(strncmp(err.text, "to: ", 4), 0);
        assert_true(mq_utf8_valid(mq_str_of(err.text)));
        assert_null(strpbrk(err.text, "\r\n\t"));
    }
    bool utf8;
    assert_int_equal(check((struct mq_str){"a\0b@example.org", 15}, &utf8), MQ_MESSAGE);
    assert_int_equal(check((struct mq_str){"a@example.org\0", 14}, &utf8), MQ_MESSAGE);
    assert_int_equal(check((struct mq_str){"a@[1.2.3.4\0]", 12}, &utf8), MQ_MESSAGE);
    check(MQ_STR("a@m\xC3\xBCller.example"), &utf8);
    assert_non_null(strstr(err.text, "A-labels"));
}

/* One megabyte of each shape that makes a backtracking parser slow. */
static void test_linear(void **state)
{
    static const char *const shapes[] = {"a.", "(", "\"", "a@", "<", "\\", "a ", "[", "ä", "a-."};
    clock_t start = clock();
    (void)state;
    for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++) {
        struct mq_mailbox box = {0};
        struct mq_buffer text = {0};
        bool utf8;
        while (text.len < 1000000) {
            mq_buffer_cstr(&text, shapes[i]);
        }
        assert_int_equal(check(mq_buffer_view(&text), &utf8), MQ_MESSAGE);
        assert_int_equal(mq_mailbox_parse(mq_buffer_view(&text), "to", &box, &err), MQ_MESSAGE);
        mq_buffer_cstr(&text, "@example.org");
        assert_int_equal(check(mq_buffer_view(&text), &utf8), MQ_MESSAGE);
        mq_buffer_clear(&text);
    }
    assert_true(clock() - start < 5 * CLOCKS_PER_SEC);
}

static void test_mailbox(void **state)
{
    static const struct {
        const char *text, *name, *address;
    } samples[] = {
        {"a@example.org", NULL, "a@example.org"},
        {"  a@example.org ", NULL, "a@example.org"},
        {"<a@example.org>", NULL, "a@example.org"},
        {" <a@example.org>", NULL, "a@example.org"},
        {"Ann Example <a@example.org>", "Ann Example", "a@example.org"},
        {"Ann  Example<a@example.org>", "Ann  Example", "a@example.org"},
        {"J. R. Müller <a@example.org>", "J. R. Müller", "a@example.org"},
        {"\"Müller, Ann\" <a@example.org>", "Müller, Ann", "a@example.org"},
        {"\"say \\\"hi\\\" \\\\ <x@y>\"<a@example.org>", "say \"hi\" \\ <x@y>", "a@example.org"},
        {"\"\" <a@example.org>", NULL, "a@example.org"},
        {"😀 <a@example.org>", "😀", "a@example.org"},
        {"=?utf-8?Q?x?= <a@example.org>", "=?utf-8?Q?x?=", "a@example.org"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof samples / sizeof *samples; i++) {
        struct mq_mailbox box = {0};
        if (mq_mailbox_parse(mq_str_of(samples[i].text), "to", &box, &err) != MQ_OK) {
            fail_msg("%s: %s", samples[i].text, err.text);
        }
        assert_string_equal(box.address, samples[i].address);
        if (samples[i].name == NULL) {
            assert_null(box.name);
        } else {
            assert_string_equal(box.name, samples[i].name);
        }
        assert_false(box.utf8);
        mq_mailbox_clear(&box);
    }
    struct mq_mailbox box = {0};
    assert_int_equal(mq_mailbox_parse(MQ_STR("X <jörg@example.org>"), "to", &box, &err), MQ_OK);
    assert_true(box.utf8);
    mq_mailbox_clear(&box);
    assert_null(box.address);
}

static void test_bad_mailboxes(void **state)
{
    static const char *const more[] = {
        "Ann <a@example.org> Bob <b@example.org>",
        "Ann <a@example.org>, b@example.org",
        "Ann <a@example.org> (comment)",
        "Ann (comment) <a@example.org>",
        "(<a@example.org>",
        "Müller, Ann <a@example.org>",
        "group: Ann <a@example.org>;",
        "a@example.org <b@example.org>",
        "Ann <a@example.org",
        "Ann a@example.org>",
        "Ann <>",
        "<>",
        "Ann <<a@example.org>>",
        "Ann < a@example.org>",
        "Ann <a@example.org >",
        "\"Ann <a@example.org>",
        "\"Ann\\",
        "\"Ann\"",
        "\"Ann\" a@example.org",
        "\"Ann\" x <a@example.org>",
        "\"Ann\"@example.org",
        "Ann\\ <a@example.org>",
        "Ann \"x\" <a@example.org>",
        "Ann [x] <a@example.org>",
        "Ann\r\nBcc: b@example.org <a@example.org>",
        "\"Ann\r\n\" <a@example.org>",
        "Ann\t<a@example.org>",
        "Ann\xC2\x85 <a@example.org>",
        "Ann\xE2\x80\xA8 <a@example.org>",
        "Ann\xFF <a@example.org>",
        "Ann\x7f <a@example.org>",
    };
    struct mq_mailbox box = {.utf8 = true};
    (void)state;
    for (size_t i = 0; i < sizeof more / sizeof *more; i++) {
        if (mq_mailbox_parse(mq_str_of(more[i]), "from", &box, &err) != MQ_MESSAGE) {
            fail_msg("%s was taken", more[i]);
        }
        assert_string_equal(err.field, "from");
        assert_int_equal(strncmp(err.text, "from: ", 6), 0);
    }
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        char text[600];
        snprintf(text, sizeof text, "Ann <%s>", bad[i]);
        if (mq_mailbox_parse(mq_str_of(text), "from", &box, &err) != MQ_MESSAGE) {
            fail_msg("%s was taken", text);
        }
    }
    assert_int_equal(mq_mailbox_parse((struct mq_str){"An\0n <a@b>", 10}, "to", &box, &err),
                     MQ_MESSAGE);
    assert_null(box.name);
    assert_true(box.utf8); /* untouched */
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_good),          cmocka_unit_test(test_bad),
        cmocka_unit_test(test_linear),        cmocka_unit_test(test_mailbox),
        cmocka_unit_test(test_bad_mailboxes),
    };
    return cmocka_run_group_tests_name("address", tests, NULL, NULL);
}
