/* Envelope senders with a token: which ask for one, and what is written. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "mime/verp.h"

static const unsigned char key[MQ_VERP_KEY + 1] = "0123456789abcdefghijklmnopqrstuv";

static void test_asks(void **state)
{
    (void)state;
    static const struct {
        const char *sender;
        bool asks, fits;
    } cases[] = {
        {"bounces+*@example.org", true, true},
        {"*@bounces.example.org", true, true},
        {"\"a@b\"*@example.org", true, true},
        {"bounces@example.org", false, true},
        {"b*ounces@example.org", false, true},
        {"bounces*", false, true},
        {"@", false, true},
        {"*@", true, true},
        {"", false, true},
        {"12345678901234567890123456789012*@example.org", true, true},
        {"123456789012345678901234567890123*@example.org", false, false},
    };
    struct mq_error err;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct mq_str sender = mq_str_of(cases[i].sender);
        assert_int_equal(mq_verp_asks(sender), cases[i].asks);
        assert_int_equal(mq_verp_check(sender, "envelopeFrom", &err),
                         cases[i].fits ? MQ_OK : MQ_MESSAGE);
    }
    assert_string_equal(err.field, "envelopeFrom");
    assert_int_equal(mq_verp_check((struct mq_str){NULL, 0}, "envelopeFrom", NULL), MQ_OK);
}

static const char *written(const char *sender, const struct mq_verp *to)
{
    static char text[200];
    struct mq_buffer out = {0};
    mq_verp_write(key, mq_str_of(sender), to, &out);
    assert_false(out.failed);
    assert_true(out.len < sizeof text);
    memcpy(text, out.data, out.len + 1);
    mq_buffer_clear(&out);
    return text;
}

/* The token was computed with Python's hmac and base64: the form is kept, because mails with it are
 * under way. */
static void test_token(void **state)
{
    (void)state;
    const struct mq_verp to = {.hash = UINT64_C(0xfedcba9876543210), .at_s = INT64_C(1800000000)};
    assert_string_equal(written("bounces+*@example.org", &to),
                        "bounces+afiwd7w4xkmhmvbscbwdpfhj2cs4ep5k@example.org");
    assert_string_equal(written("*@b.example.org", &to),
                        "afiwd7w4xkmhmvbscbwdpfhj2cs4ep5k@b.example.org");
}

static void test_what_a_token_says(void **state)
{
    (void)state;
    struct mq_verp to = {.hash = 1, .at_s = 86400 * 5 + 1};
    char first[200];
    strcpy(first, written("b+*@example.org", &to));
    to.at_s = 86400 * 6 - 1;
    assert_string_equal(written("b+*@example.org", &to), first); /* the same day */
    to.at_s = 86400 * 6;
    assert_string_not_equal(written("b+*@example.org", &to), first);
    to = (struct mq_verp){.hash = 2, .at_s = 86400 * 5};
    assert_string_not_equal(written("b+*@example.org", &to), first);
    assert_string_equal(written("b+*@example.org", NULL), "b+many@example.org");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_asks),
        cmocka_unit_test(test_token),
        cmocka_unit_test(test_what_a_token_says),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
