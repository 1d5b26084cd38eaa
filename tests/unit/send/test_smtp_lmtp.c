/* LMTP sessions: LHLO, and a reply to the dot for each recipient that was accepted. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "smtp_fake.h"

#define TAKEN_3 "250 ok\r\n250 ok\r\n250 ok\r\n250 ok\r\n354 go\r\n"

/* A session that has greeted already. */
static struct fake *lmtp_new(void)
{
    struct fake *fake = fake_new(FAKE_PIPELINING);
    fake->owner.lhlo = "me.example";
    return fake;
}

/* A session that says LHLO itself. */
static struct fake *greets(void)
{
    struct fake *fake = fake_new(0);
    struct mq_smtp_caps none = {0};
    mq_smtp_session_lost(&fake->session, "");
    fake->owner.lhlo = "me.example";
    fake->dsn.connect_timeout_ms = 30000;
    mq_smtp_session_init(&fake->session, &fake->owner);
    mq_smtp_session_ready(&fake->session, &fake->channel, &none);
    return fake;
}

static void assert_greets(const char *says, const char *then, const char *why)
{
    struct fake *fake = greets();
    fake_says(fake, says);
    if (then[0] != '\0') {
        assert_string_equal(fake_wire(fake), "LHLO me.example\r\n");
        fake_says(fake, then);
    }
    assert_int_equal(fake->session.state, MQ_SMTP_CLOSED);
    assert_string_equal(fake->why, why);
    assert_null(fake->session.hello);
    fake_free(fake);
}

static void test_lhlo(void **state)
{
    (void)state;
    struct fake *fake = greets();
    struct fake_mail mail;
    fake_mail_init(&mail, FAKE_MESSAGE, 1);
    fake_submit(fake, &mail);
    assert_string_equal(fake_wire(fake), "");
    assert_int_equal(fake->owner.in_state[MQ_SMTP_CONNECTING], 1);
    fake->in_cut = 1;
    fake_says(fake, "220-mx\r\n220 LMTP\r\n");
    assert_string_equal(fake_wire(fake), "LHLO me.example\r\n");
    fake_says(fake, "250-mx\r\n250-SIZE 100\r\n250-PIPELINING\r\n250 8BITMIME\r\n");
    assert_true(fake->session.caps.pipelining && fake->session.caps.eightbit);
    assert_int_equal(fake->session.caps.size_max, 100);
    assert_true(fake->owner.pipelining);
    assert_string_equal(fake_wire(fake), "MAIL FROM:<s@y> SIZE=21\r\nRCPT TO:<a@x>\r\nDATA\r\n");
    fake_says(fake, FAKE_TAKEN);
    fake_says(fake, "250 saved\r\n");
    fake_assert_back(&mail, MQ_TRANSFER_DONE, "A");
    fake_free(fake);
}

static void test_lhlo_without_pipelining(void **state)
{
    (void)state;
    struct fake *fake = greets();
    fake->dsn.pipelining = MQ_PIPELINING_NONE;
    fake_says(fake, "220 LMTP\r\n");
    fake_says(fake, "250-mx\r\n250 PIPELINING\r\n");
    assert_int_equal(fake->session.state, MQ_SMTP_IDLE);
    assert_false(fake->session.caps.pipelining);
    fake_free(fake);
}

static void test_bad_greetings(void **state)
{
    static const char none[] = "the relay does not greet as LMTP does";
    static char line[5000];
    (void)state;
    memset(line, 'x', sizeof line - 1);
    assert_greets("421 4.3.2 busy\r\n", "", "421 4.3.2 busy");
    assert_greets("220 SMTP\r\n", "500 5.5.1 LHLO?\r\n", "500 5.5.1 LHLO?");
    assert_greets("250 mx\r\n", "", none);
    assert_greets("220 mx\r\n", "220 mx\r\n", none);
    assert_greets("220 mx\r\n", "hello\r\n", none);
    assert_greets("220 mx\r\n250 mx\r\n", "", none);
    assert_greets("\r\n", "", none);
    assert_greets(line, "", "the relay's greeting is too long");
    assert_greets("220 mx\r\n", "250 mx\r\n250 more\r\n", "250 more");
}

static void test_silence(void **state)
{
    (void)state;
    struct fake *fake = greets();
    fake_says(fake, "220-mx\r\n");
    mq_smtp_session_check_timeout(&fake->session, fake->now_ms + 29999);
    assert_int_equal(fake->session.state, MQ_SMTP_CONNECTING);
    mq_smtp_session_check_timeout(&fake->session, fake->now_ms + 30000);
    assert_int_equal(fake->session.state, MQ_SMTP_CLOSED);
    assert_string_equal(fake->why, "the relay did not greet in time");
    fake_free(fake);
    fake = greets();
    fake_hangs_up(fake);
    assert_string_equal(fake->why, "the relay closed the connection");
    fake_free(fake);
}

/* ---- the replies to the dot ---- */

static void begin(struct fake *fake, struct fake_mail *mail)
{
    fake_mail_init(mail, FAKE_MESSAGE, 3);
    fake_submit(fake, mail);
    fake_says(fake, TAKEN_3);
    assert_non_null(strstr(fake_wire(fake), FAKE_MESSAGE ".\r\n"));
    assert_string_equal(mail->phases, "EB");
}

static void test_each_its_own(void **state)
{
    (void)state;
    struct fake *fake = lmtp_new();
    struct fake_mail mail;
    begin(fake, &mail);
    fake_says(fake, "250 a\r\n");
    assert_string_equal(mail.phases, "EBP");
    assert_string_equal(mail.seen, "AUU");
    assert_false(fake_is_back(&mail));
    fake_says(fake, "452 4.2.2 full\r\n550 5.1.1 none\r\n");
    assert_string_equal(mail.phases, "EBPPA");
    fake_assert_back(&mail, MQ_TRANSFER_DONE, "ALR");
    assert_string_equal(mail.targets[0].reply, "250 a");
    assert_string_equal(mail.targets[1].reply, "452 4.2.2 full");
    assert_string_equal(mail.targets[2].phase, "dot");
    assert_int_equal(fake->session.state, MQ_SMTP_IDLE);
    begin(fake, &mail);
    fake_says(fake, "550 5.1.1 a\r\n550 5.1.1 b\r\n550 5.1.1 c\r\n");
    assert_string_equal(mail.phases, "EBPPR");
    fake_assert_back(&mail, MQ_TRANSFER_DONE, "RRR");
    fake_free(fake);
}

/* Only recipients whose RCPT was accepted have one. */
static void test_refused_have_none(void **state)
{
    (void)state;
    struct fake *fake = lmtp_new();
    struct fake_mail mail;
    fake_mail_init(&mail, FAKE_MESSAGE, 3);
    fake_submit(fake, &mail);
    fake_says(fake, "250 ok\r\n250 ok\r\n550 5.1.1 no\r\n250 ok\r\n354 go\r\n");
    fake_says(fake, "452 4.2.2 full\r\n250 saved\r\n");
    fake_assert_back(&mail, MQ_TRANSFER_DONE, "LRA");
    fake_free(fake);
}

static void test_cut(void **state)
{
    (void)state;
    for (int how = 0; how < 4; how++) {
        struct fake *fake = lmtp_new();
        struct fake_mail mail;
        begin(fake, &mail);
        fake_says(fake, "250 a\r\n550 5.1.1 b\r\n");
        if (how == 0) {
            fake_hangs_up(fake);
        } else if (how == 1) {
            fake_resets(fake);
        } else if (how == 2) {
            fake_says(fake, "nonsense\r\n");
        } else {
            mq_smtp_session_check_timeout(&fake->session, fake->now_ms + 600000);
        }
        fake_assert_back(&mail, MQ_TRANSFER_DONE, "AR?");
        assert_int_equal(fake->session.state, MQ_SMTP_CLOSED);
        fake_free(fake);
    }
}

/* What the session or the relay suffers from tells nothing about a recipient. */
static void test_trouble(void **state)
{
    static const struct {
        const char *replies, *results;
        enum mq_transfer_end end;
        bool troubled;
    } cases[] = {
        {"250 a\r\n421 4.3.2 down\r\n", "AU?", MQ_TRANSFER_DONE, false},
        {"421 4.3.2 down\r\n", "U??", MQ_TRANSFER_DONE, false},
        {"250 a\r\n250 b\r\n421 4.3.2 down\r\n", "AAU", MQ_TRANSFER_DONE, false},
        {"250 a\r\n452 4.3.1 disk\r\n452 4.3.1 disk\r\n", "AUU", MQ_TRANSFER_DONE, true},
        {"452 4.3.1 disk\r\n452 4.3.1 disk\r\n452 4.3.1 disk\r\n", "UUU", MQ_TRANSFER_UNTOUCHED,
         true},
        {"250 a\r\n354 what\r\n250 c\r\n", "A?A", MQ_TRANSFER_DONE, false},
        {"250 a\r\n500 5.5.1 what\r\n250 c\r\n", "ALA", MQ_TRANSFER_DONE, false},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct fake *fake = lmtp_new();
        struct fake_mail mail;
        begin(fake, &mail);
        fake_says(fake, cases[i].replies);
        fake_assert_back(&mail, cases[i].end, cases[i].results);
        assert_int_equal(fake->transport.troubled, cases[i].troubled);
        fake_free(fake);
    }
}

/* The next mail's envelope goes behind the dot, and is answered after all replies to it. */
static void test_mails_in_a_row(void **state)
{
    (void)state;
    struct fake *fake = lmtp_new();
    struct fake_mail one, two;
    fake_mail_init(&one, FAKE_MESSAGE, 2);
    fake_mail_init(&two, FAKE_MESSAGE, 2);
    fake_queue(fake, &one);
    fake_submit(fake, &two);
    fake_says(fake, "250 ok\r\n250 ok\r\n250 ok\r\n354 go\r\n");
    assert_string_equal(strstr(fake_wire(fake), FAKE_MESSAGE), FAKE_MESSAGE
                        ".\r\nMAIL FROM:<s@y>\r\nRCPT TO:<a@x>\r\nRCPT TO:<b@x>\r\nDATA\r\n");
    fake_says(fake, "250 a\r\n");
    assert_false(fake_is_back(&one));
    fake_says(fake, "452 4.2.2 b\r\n250 ok\r\n250 ok\r\n250 ok\r\n354 go\r\n");
    fake_assert_back(&one, MQ_TRANSFER_DONE, "AL");
    fake_says(fake, "250 a\r\n250 b\r\n");
    fake_assert_back(&two, MQ_TRANSFER_DONE, "AA");
    fake_free(fake);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_lhlo),
        cmocka_unit_test(test_lhlo_without_pipelining),
        cmocka_unit_test(test_bad_greetings),
        cmocka_unit_test(test_silence),
        cmocka_unit_test(test_each_its_own),
        cmocka_unit_test(test_refused_have_none),
        cmocka_unit_test(test_cut),
        cmocka_unit_test(test_trouble),
        cmocka_unit_test(test_mails_in_a_row),
    };
    return cmocka_run_group_tests_name("smtp_lmtp", tests, NULL, NULL);
}
