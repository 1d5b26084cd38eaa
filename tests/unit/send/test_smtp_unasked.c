/* One unsolicited reply at each position in a group: it shifts the replies after it, and must not
 * refuse any recipient. Seen to fail without the check by RSET (begin_check): "550 5.1.1 unknown"
 * refused recipients that RCPT had accepted. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "smtp_fake.h"

#define M FAKE_MESSAGE

/* A server's replies to MAIL, two RCPTs and DATA, and to the commands after those. */
struct answers {
    const char *group[4];
    const char *then;
    const char *truth; /* results without the extra reply */
};

static const struct answers all_answers[] = {
    {{"250 2.1.0 ok\r\n", "250 2.1.5 ok\r\n", "250 2.1.5 ok\r\n", "354 go\r\n"}, "", "AA"},
    {{"250 2.1.0 ok\r\n", "550 5.1.1 no\r\n", "250 2.1.5 ok\r\n", "354 go\r\n"}, "", "RA"},
    {{"250 2.1.0 ok\r\n", "250 2.1.5 ok\r\n", "550 5.1.1 no\r\n", "354 go\r\n"}, "", "AR"},
    {{"250 2.1.0 ok\r\n", "550 5.1.1 no\r\n", "450 4.2.0 wait\r\n", "554 5.5.1 none\r\n"},
     "250 reset\r\n",
     "RL"},
    {{"250 2.1.0 ok\r\n", "450 4.2.0 wait\r\n", "450 4.2.0 wait\r\n", "554 5.5.1 none\r\n"},
     "250 reset\r\n",
     "LL"},
    {{"450 4.1.8 who\r\n", "503 5.5.1 MAIL\r\n", "503 5.5.1 MAIL\r\n", "503 5.5.1 MAIL\r\n"},
     "250 reset\r\n",
     "LL"},
};

static const char *const extras[] = {"250 2.0.0 hello\r\n", "550 5.1.1 unknown\r\n",
                                     "450 4.2.0 later\r\n", "354 go\r\n"};

/* In one read, or each reply in its own read. */
static void say(struct fake *fake, const char *const *replies, size_t count, bool at_once)
{
    char text[512] = "";
    for (size_t i = 0; i < count; i++) {
        if (at_once) {
            strcat(text, replies[i]);
        } else if (fake->session.channel != NULL) {
            fake_says(fake, replies[i]);
        }
    }
    if (at_once) {
        fake_says(fake, text);
    }
}

static void check(const struct answers *answers, size_t at, const char *extra, bool at_once)
{
    const char *replies[6];
    size_t count = 0;
    struct fake *fake = fake_new(FAKE_PIPELINING);
    struct fake_mail mail;
    for (size_t i = 0; i < 4; i++) {
        if (i == at) {
            replies[count++] = extra;
        }
        replies[count++] = answers->group[i];
    }
    fake_mail_init(&mail, M, 2);
    fake_submit(fake, &mail);
    say(fake, replies, count, at_once);
    if (fake->session.channel != NULL && answers->then[0] != '\0') {
        fake_says(fake, answers->then);
    }
    const char *got = fake_results(&mail);
    for (size_t i = 0; i < 2; i++) {
        if (got[i] == 'R' && answers->truth[i] != 'R') {
            fail_msg("\"%s\" before reply %zu: %s, in truth %s", extra, at, got, answers->truth);
        }
    }
    /* No message if nothing is known about its recipients. An early 354 is taken for DATA's. */
    fake->out[fake->out_len] = '\0';
    assert_true(strstr(fake->out, M) == NULL || (at == 3 && extra[0] == '3'));
    fake_free(fake);
}

static void test_nobody_is_refused_by_an_extra_reply(void **state)
{
    (void)state;
    for (size_t a = 0; a < sizeof all_answers / sizeof *all_answers; a++) {
        for (size_t at = 0; at < 4; at++) {
            for (size_t e = 0; e < sizeof extras / sizeof *extras; e++) {
                check(&all_answers[a], at, extras[e], true);
                check(&all_answers[a], at, extras[e], false);
            }
        }
    }
}

/* The normal case, without an extra reply. */
static void test_refusals_that_are_meant(void **state)
{
    (void)state;
    for (size_t a = 3; a < sizeof all_answers / sizeof *all_answers; a++) {
        const struct answers *answers = &all_answers[a];
        struct fake *fake = fake_new(FAKE_PIPELINING);
        struct fake_mail mail;
        fake_mail_init(&mail, M, 2);
        fake_submit(fake, &mail);
        say(fake, answers->group, 4, true);
        if (strchr(answers->truth, 'R') != NULL) {
            assert_false(fake_is_back(&mail));
            fake_says(fake, answers->then);
        }
        fake_assert_back(&mail, MQ_TRANSFER_DONE, answers->truth);
        assert_int_equal(fake->session.state, MQ_SMTP_IDLE);
        fake_free(fake);
    }
}

static void test_behind_the_go_ahead(void **state)
{
    (void)state;
    for (size_t e = 0; e < sizeof extras / sizeof *extras; e++) {
        char text[200];
        struct fake *fake = fake_new(FAKE_PIPELINING);
        struct fake_mail mail;
        fake_mail_init(&mail, M, 1);
        fake_submit(fake, &mail);
        fake_wire(fake);
        snprintf(text, sizeof text, FAKE_TAKEN "%s", extras[e]);
        fake_says(fake, text);
        fake_assert_back(&mail, MQ_TRANSFER_UNTOUCHED, "U");
        assert_string_equal(fake_wire(fake), "");
        assert_true(fake->closed);
        fake_free(fake);
    }
}

/* The session ends in order, as if the relay had only hung up: the relay has refused nothing. */
static void test_to_a_session_that_waits(void **state)
{
    (void)state;
    struct fake *fake = fake_new(FAKE_PIPELINING);
    fake_says(fake, "550 5.1.1 unknown\r\n");
    assert_true(fake->closed);
    assert_string_equal(fake->why, "");
    fake_free(fake);
    fake = fake_new(FAKE_PIPELINING);
    fake_hangs_up(fake);
    assert_true(fake->closed);
    assert_string_equal(fake->why, "");
    fake_free(fake);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_nobody_is_refused_by_an_extra_reply),
        cmocka_unit_test(test_refusals_that_are_meant),
        cmocka_unit_test(test_behind_the_go_ahead),
        cmocka_unit_test(test_to_a_session_that_waits),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
