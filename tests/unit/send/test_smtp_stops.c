/* The ways in which our side ends a mail or a connection: timeouts, the end of a lease, recall. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "smtp_fake.h"

/* ---- while the message goes out ---- */

static void test_body_that_stalls_before_the_dot_is_denied_not_uncertain(void **state)
{
    (void)state;
    size_t size = 100000;
    char *big = malloc(size + 1);
    memset(big, 'x', size);
    big[size] = '\0';
    for (int opaque = 0; opaque < 2; opaque++) {
        struct fake *fake = fake_new(FAKE_PIPELINING);
        struct fake_mail mail;
        fake->channel.opaque = opaque;
        fake_mail_init(&mail, big, 1);
        fake_submit(fake, &mail);
        fake_says(fake, "250 ok\r\n250 ok\r\n");
        fake->out_blocked = true;
        fake_says(fake, "354 go\r\n");
        fake->now_ms += 179999;
        mq_smtp_session_check_timeout(&fake->session, fake->now_ms);
        assert_false(fake_is_back(&mail));
        fake->now_ms += 1;
        mq_smtp_session_check_timeout(&fake->session, fake->now_ms);
        fake_assert_back(&mail, MQ_TRANSFER_DONE, "D");
        assert_string_equal(mail.transfer.error, "the relay stopped reading the message");
        fake_free(fake);
    }
    free(big);
}

/* A short message and its dot are one write. If that write fails, it has not left in clear text,
 * but over TLS it may have. */
static void test_stalled_write_with_the_dot_is_uncertain_over_tls_only(void **state)
{
    (void)state;
    for (int opaque = 0; opaque < 2; opaque++) {
        struct fake *fake = fake_new(FAKE_PIPELINING);
        struct fake_mail mail;
        fake->channel.opaque = opaque;
        fake_mail_init(&mail, FAKE_MESSAGE, 1);
        fake_submit(fake, &mail);
        fake_says(fake, "250 ok\r\n250 ok\r\n");
        fake->out_blocked = true;
        fake_says(fake, "354 go\r\n");
        fake->now_ms += 180000;
        mq_smtp_session_check_timeout(&fake->session, fake->now_ms);
        fake_assert_back(&mail, MQ_TRANSFER_DONE, opaque ? "?" : "D");
        fake_free(fake);
    }
}

/* ---- timeouts ---- */

static void test_timeouts_by_state(void **state)
{
    (void)state;
    static const struct {
        const char *heard, *then;
        int64_t timeout_ms;
        const char *results;
    } cases[] = {{"", "", 300000, "D"},
                 {"250 ok\r\n", "", 300000, "D"},
                 {"250 ok\r\n250 ok\r\n", "", 120000, "D"},
                 {FAKE_TAKEN, "", 600000, "?"}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct fake *fake = fake_new(FAKE_PIPELINING);
        struct fake_mail mail;
        fake_mail_init(&mail, FAKE_MESSAGE, 1);
        fake_submit(fake, &mail);
        fake->now_ms += 1000; /* each reply restarts the timeout */
        fake_says(fake, cases[i].heard);
        int64_t since_ms = cases[i].heard[0] ? 0 : -1000;
        fake->now_ms += cases[i].timeout_ms + since_ms - 1;
        mq_smtp_session_check_timeout(&fake->session, fake->now_ms);
        assert_false(fake_is_back(&mail));
        fake->now_ms++;
        mq_smtp_session_check_timeout(&fake->session, fake->now_ms);
        fake_assert_back(&mail, MQ_TRANSFER_DONE, cases[i].results);
        fake_free(fake);
    }
}

static void test_idle_session_quits(void **state)
{
    (void)state;
    struct fake *fake = fake_new(FAKE_PIPELINING);
    mq_smtp_session_check_timeout(&fake->session, fake->now_ms + 9999);
    assert_string_equal(fake_wire(fake), "");
    mq_smtp_session_check_timeout(&fake->session, fake->now_ms + 10000);
    assert_string_equal(fake_wire(fake), "QUIT\r\n");
    fake_says(fake, "221 bye\r\n");
    assert_true(fake->closed);
    assert_string_equal(fake->why, "");
    fake_free(fake);
}

static void test_quit_without_an_answer_is_closed(void **state)
{
    (void)state;
    struct fake *fake = fake_new(FAKE_PIPELINING);
    mq_smtp_session_quit(&fake->session);
    fake->now_ms += 2000;
    mq_smtp_session_check_timeout(&fake->session, fake->now_ms);
    assert_true(fake->closed);
    fake_free(fake);

    fake = fake_new(FAKE_PIPELINING);
    mq_smtp_session_quit(&fake->session);
    fake_hangs_up(fake);
    assert_true(fake->closed);
    assert_string_equal(fake->why, ""); /* closed in order */
    fake_free(fake);
}

/* ---- the lease ---- */

static void test_lease_over_before_mail_sends_nothing(void **state)
{
    (void)state;
    struct fake *fake = fake_new(FAKE_PIPELINING);
    struct fake_mail one, two;
    fake_mail_init(&one, FAKE_MESSAGE, 1);
    fake_mail_init(&two, FAKE_MESSAGE, 1);
    one.refuse = 'E';
    fake_queue(fake, &one);
    fake_submit(fake, &two);
    fake_assert_back(&one, MQ_TRANSFER_LEASE_OVER, "U");
    assert_string_equal(fake_wire(fake), FAKE_ENVELOPE); /* the second mail's */
    fake_says(fake, FAKE_TAKEN);
    fake_says(fake, "250 queued\r\n");
    fake_assert_back(&two, MQ_TRANSFER_DONE, "A");
    fake_free(fake);
}

static void test_lease_over_behind_a_dot_leaves_the_first_alone(void **state)
{
    (void)state;
    struct fake *fake = fake_new(FAKE_PIPELINING);
    struct fake_mail one, two;
    fake_mail_init(&one, FAKE_MESSAGE, 1);
    fake_mail_init(&two, FAKE_MESSAGE, 1);
    two.refuse = 'E';
    fake_queue(fake, &one);
    fake_submit(fake, &two);
    fake_wire(fake);
    fake_says(fake, FAKE_TAKEN);
    assert_string_equal(fake_wire(fake), FAKE_MESSAGE ".\r\n");
    fake_assert_back(&two, MQ_TRANSFER_LEASE_OVER, "U");
    fake_says(fake, "250 queued\r\n");
    fake_assert_back(&one, MQ_TRANSFER_DONE, "A");
    assert_false(fake->closed);
    fake_free(fake);
}

static void test_lease_over_in_the_body_closes_without_a_dot(void **state)
{
    (void)state;
    struct fake *fake = fake_new(FAKE_PIPELINING);
    struct fake_mail mail;
    fake_mail_init(&mail, FAKE_MESSAGE, 1);
    mail.refuse = 'B';
    fake_submit(fake, &mail);
    fake_wire(fake);
    fake_says(fake, FAKE_TAKEN);
    assert_null(strstr(fake_wire(fake), "\r\n.\r\n"));
    assert_true(fake->closed);
    assert_int_equal(mail.transfer.end, MQ_TRANSFER_LEASE_OVER);
    fake_free(fake);
}

/* ---- recall, abort ---- */

static void test_recall_takes_back_what_has_no_body_out(void **state)
{
    (void)state;
    struct fake *fake = fake_new(FAKE_PIPELINING);
    struct fake_mail one, two, three;
    fake_mail_init(&one, FAKE_MESSAGE, 1);
    fake_mail_init(&two, FAKE_MESSAGE, 1);
    fake_mail_init(&three, FAKE_MESSAGE, 1);
    fake_queue(fake, &one);
    fake_submit(fake, &two);
    fake_says(fake, FAKE_TAKEN);
    mq_smtp_session_recall(&fake->session);
    assert_false(fake_is_back(&one));
    fake_assert_back(&two, MQ_TRANSFER_UNTOUCHED, "U");
    fake_wire(fake);
    fake_submit(fake, &three);
    fake_says(fake, "250 queued\r\n" FAKE_TAKEN);
    fake_assert_back(&one, MQ_TRANSFER_DONE, "A");
    assert_string_equal(fake_wire(fake), ""); /* no message in the second transaction */
    assert_true(fake->closed);
    assert_false(fake_is_back(&three));
    fake_free(fake);
}

static void test_recall_of_an_envelope_closes(void **state)
{
    (void)state;
    struct fake *fake = fake_new(FAKE_PIPELINING);
    struct fake_mail mail;
    fake_mail_init(&mail, FAKE_MESSAGE, 2);
    fake_submit(fake, &mail);
    fake_says(fake, "250 ok\r\n550 5.1.1 nobody\r\n");
    mq_smtp_session_recall(&fake->session);
    fake_assert_back(&mail, MQ_TRANSFER_UNTOUCHED, "UU");
    assert_true(fake->closed);
    fake_free(fake);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_body_that_stalls_before_the_dot_is_denied_not_uncertain),
        cmocka_unit_test(test_stalled_write_with_the_dot_is_uncertain_over_tls_only),
        cmocka_unit_test(test_timeouts_by_state),
        cmocka_unit_test(test_idle_session_quits),
        cmocka_unit_test(test_quit_without_an_answer_is_closed),
        cmocka_unit_test(test_lease_over_before_mail_sends_nothing),
        cmocka_unit_test(test_lease_over_behind_a_dot_leaves_the_first_alone),
        cmocka_unit_test(test_lease_over_in_the_body_closes_without_a_dot),
        cmocka_unit_test(test_recall_takes_back_what_has_no_body_out),
        cmocka_unit_test(test_recall_of_an_envelope_closes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
