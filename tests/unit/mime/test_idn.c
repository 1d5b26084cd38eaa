/* Internationalised domains: which are converted, and which are refused. */
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

static struct mq_error err;

static void assert_becomes(const char *address, const char *expected)
{
    char *out = NULL;
    if (mq_idn_address(mq_str_of(address), "from", &out, &err) != MQ_OK) {
        fail_msg("%s: %s", address, err.text);
    }
    assert_string_equal(out, expected);
    free(out);
}

static void assert_refused(struct mq_str address, const char *expected)
{
    char *out = NULL;
    if (mq_idn_address(address, "from", &out, &err) != MQ_MESSAGE) {
        fail_msg("%.*s became %s", (int)address.len, address.data, out);
    }
    assert_null(out);
    assert_string_equal(err.field, "from");
    assert_int_equal(strncmp(err.text, "from: the address ", 18), 0);
    if (strstr(err.text, expected) == NULL) {
        fail_msg("\"%s\" is not in \"%s\"", expected, err.text);
    }
}

/* ASCII domains stay as they are, and so do local parts. */
static void test_ascii(void **state)
{
    (void)state;
    assert_becomes("a@b", "a@b");
    assert_becomes("Ann.Ex@EXAMPLE.Org", "Ann.Ex@EXAMPLE.Org");
    assert_becomes("J\xC3\xB6rg@Example.ORG", "J\xC3\xB6rg@Example.ORG");
    assert_becomes("a@xn--mller-kva.example", "a@xn--mller-kva.example");
    assert_becomes("a@[IPv6:2001:DB8::1]", "a@[IPv6:2001:DB8::1]");
}

static void test_bad(void **state)
{
    static const char *const bad[] = {BAD_ADDRESSES};
    (void)state;
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        assert_refused(mq_str_of(bad[i]), "; ");
    }
    assert_refused((struct mq_str){"a@b\0\xC3\xBC", 6}, "; ");
    assert_refused((struct mq_str){"a@\xC3\xBC\0", 5}, "; ");
}

static void test_without(void **state)
{
    (void)state;
    if (mq_idn_available()) {
        return;
    }
    assert_refused(MQ_STR("a@m\xC3\xBCller.example"), "A-labels (xn--...)");
}

static void test_domains(void **state)
{
    (void)state;
    if (!mq_idn_available()) {
        skip();
    }
    assert_becomes("a@müller.example", "a@xn--mller-kva.example");
    assert_becomes("A@MÜLLER.Example", "A@xn--mller-kva.example");
    assert_becomes("jörg@Bücher.CH", "jörg@xn--bcher-kva.ch");
    assert_becomes("a@faß.de", "a@xn--fa-hia.de");   /* not transitional: not fass.de */
    assert_becomes("a@日本。jp", "a@xn--wgv71a.jp"); /* their full stop */
    assert_becomes("a@пример.испытание", "a@xn--e1afmkfd.xn--80akhbyknj4f");
    assert_becomes("a@ｅｘａｍｐｌｅ.com", "a@example.com");
    assert_becomes("a@mu\xCC\x88ller.example", "a@xn--mller-kva.example"); /* to NFC */
    assert_becomes("a@xn--mller-kva.bücher.example", "a@xn--mller-kva.xn--bcher-kva.example");
}

/* Mapping could turn them into other addresses, so they are refused, not repaired. */
static void test_no_domains(void **state)
{
    static const char *const bad[] = {
        "a@ü_x.example",
        "a@ü＿x.example",
        "a@b＠ü.example",
        "a@ü/x.example",
        "a@ü x.example",
        "a@ü\r\n.example",
        "a@ü.example\r",
        "a@ü.example\n",
        "a@ü.example>",
        "a@ü.example＞",
        "a@ü,b@c",
        "a@ü\xEF\xBC\x8C"
        "b", /* fullwidth comma */
        "a@［1.2.3.4］",
        "a@[１.2.3.4]",
        "a@[IPv6:::１]",
        "a@.ü",
        "a@ü..example",
        "a@ü.",
        "a@ü。",
        "a@-ü.example",
        "a@ü-.example",
        "a@ab--ü.example",
        "a@\xCC\x88x.example",
        "a@א1a.example",
        "a@😀.example",
        "a@☃.example",
        "a@ü.xn--a",
        "a@\xE2\x80\x8B", /* nothing is left of a zero width space */
        "a@\xE2\x80\xAEx",
        "a@ü\xFF",
        "a@\xC3",
        "@ü.example",
        "ü.example",
        "a b@ü.example",
        "-a@ü.example",
        "\"a b\"@ü.example",
        A60 "aaaaa@ü.example",
    };
    (void)state;
    if (!mq_idn_available()) {
        skip();
    }
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        assert_refused(mq_str_of(bad[i]), "; ");
    }
    assert_refused(MQ_STR("a@☃.example"), "not an internationalised domain name (IDN2_DISALLOWED)");
}

/* Punycode takes quadratic time, so text longer than a domain must not reach it. */
static void test_long(void **state)
{
    struct mq_buffer text = {0};
    clock_t start = clock();
    (void)state;
    if (!mq_idn_available()) {
        skip();
    }
    mq_buffer_cstr(&text, "a@");
    for (int i = 0; i < 30; i++) {
        mq_buffer_cstr(&text, "ü");
    }
    while (text.len < 300) {
        mq_buffer_cstr(&text, ".üü");
    }
    assert_refused(mq_buffer_view(&text), "IDN2_TOO_BIG_DOMAIN");
    while (text.len < 1000000) {
        mq_buffer_cstr(&text, "ü");
    }
    assert_refused(mq_buffer_view(&text), "more than 255 octets");
    assert_true(clock() - start < CLOCKS_PER_SEC);
    mq_buffer_clear(&text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_ascii),      cmocka_unit_test(test_bad),
        cmocka_unit_test(test_without),    cmocka_unit_test(test_domains),
        cmocka_unit_test(test_no_domains), cmocka_unit_test(test_long),
    };
    return cmocka_run_group_tests_name("idn", tests, NULL, NULL);
}
