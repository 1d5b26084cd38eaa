/* The course of a session: groups of commands, RSET, and every point at which a connection can
 * end. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "smtp_fake.h"

/* ---- groups ---- */

static void test_one_mail_is_one_group_and_one_body(void **state)
{
    (void)state;
    struct fake *fake = fake_new(FAKE_PIPELINING | FAKE_SIZE);
    struct fake_mail mail;
    fake_mail_init(&mail, FAKE_MESSAGE, 2);
    fake_submit(fake, &mail);
    assert_string_equal(fake_wire(fake),
                        "MAIL FROM:<s@y> SIZE=21\r\nRCPT TO:<a@x>\r\nRCPT TO:<b@x>\r\nDATA\r\n");
    assert_int_equal(fake->writes, 1);
    assert_string_equal(mail.phases, "E");
    fake_says(fake, "250 ok\r\n250 ok\r\n250 ok\r\n");
    assert_string_equal(fake_wire(fake), "");
    fake_says(fake, "354 go\r\n");
    assert_string_equal(fake_wire(fake), FAKE_MESSAGE ".\r\n");
    assert_int_equal(fake->writes, 2);
    assert_string_equal(mail.phases, "EB");
    assert_string_equal(mail.seen, "UU");
    assert_int_equal(fake->session.state, MQ_SMTP_AWAITING);
    fake->now_ms += 2500;
    fake_says(fake, "250 2.0.0 queued as 17\r\n");
    fake_assert_back(&mail, MQ_TRANSFER_DONE, "AA");
    assert_string_equal(mail.phases, "EBA");
    assert_string_equal(mail.seen, "AA");
    assert_string_equal(mail.targets[1].reply, "250 2.0.0 queued as 17");
    assert_int_equal(mail.transfer.ms, 2500);
    assert_int_equal(mail.transfer.at_s, 1000003);
    assert_int_equal(fake->session.state, MQ_SMTP_IDLE);
    fake_free(fake);
}

static void test_next_envelope_goes_behind_the_dot(void **state)
{
    (void)state;
    struct fake *fake = fake_new(FAKE_PIPELINING);
    struct fake_mail one, two, three;
    fake_mail_init(&one, FAKE_MESSAGE, 1);
    fake_mail_init(&two, FAKE_MESSAGE, 1);
    fake_mail_init(&three, FAKE_MESSAGE, 1);
    fake_queue(fake, &one);
    fake_queue(fake, &two);
    fake_submit(fake, &three);
    assert_string_equal(fake_wire(fake), FAKE_ENVELOPE);
    fake_says(fake, FAKE_TAKEN);
    assert_string_equal(fake_wire(fake), FAKE_MESSAGE ".\r\n" FAKE_ENVELOPE);
    assert_int_equal(fake->writes, 2);
    assert_string_equal(two.phases, "E");
    /* The second mail's body waits for its own 354, the third one's envelope for the second
     * body. */
    fake_says(fake, "250 done\r\n250 ok\r\n250 ok\r\n");
    fake_assert_back(&one, MQ_TRANSFER_DONE, "A");
    assert_string_equal(fake_wire(fake), "");
    fake_says(fake, "354 go\r\n");
    assert_string_equal(fake_wire(fake), FAKE_MESSAGE ".\r\n" FAKE_ENVELOPE);
    fake_says(fake, "250 done\r\n" FAKE_TAKEN);
    assert_string_equal(fake_wire(fake), FAKE_MESSAGE ".\r\n");
    fake_says(fake, "250 done\r\n");
    fake_assert_back(&two, MQ_TRANSFER_DONE, "A");
    fake_assert_back(&three, MQ_TRANSFER_DONE, "A");
    fake_free(fake);
}

static void test_envelope_follows_while_the_dot_awaits(void **state)
{
    (void)state;
    struct fake *fake = fake_new(FAKE_PIPELINING);
    struct fake_mail one, two;
    fake_mail_init(&one, FAKE_MESSAGE, 1);
    fake_mail_init(&two, FAKE_MESSAGE, 1);
    fake_submit(fake, &one);
    fake_says(fake, FAKE_TAKEN);
    fake_wire(fake);
    fake_submit(fake, &two);
    assert_string_equal(fake_wire(fake), FAKE_ENVELOPE);
    fake_says(fake, "250 done\r\n" FAKE_TAKEN);
    assert_string_equal(fake_wire(fake), FAKE_MESSAGE ".\r\n");
    fake_free(fake);
}

static void test_without_pipelining_command_by_command(void **state)
{
    (void)state;
    struct fake *fake = fake_new(0);
    struct fake_mail one, two;
    fake_mail_init(&one, FAKE_MESSAGE, 2);
    fake_mail_init(&two, FAKE_MESSAGE, 1);
    fake_queue(fake, &one);
    fake_submit(fake, &two);
    assert_string_equal(fake_wire(fake), "MAIL FROM:<s@y>\r\n");
    fake_says(fake, "250 ok\r\n");
    assert_string_equal(fake_wire(fake), "RCPT TO:<a@x>\r\n");
    fake_says(fake, "250 ok\r\n");
    assert_string_equal(fake_wire(fake), "RCPT TO:<b@x>\r\n");
    fake_says(fake, "450 4.2.0 later\r\n");
    assert_string_equal(fake_wire(fake), "DATA\r\n");
    fake_says(fake, "354 go\r\n");
    assert_string_equal(fake_wire(fake), FAKE_MESSAGE ".\r\n");
    assert_string_equal(one.seen, "UL");
    fake_says(fake, "250 ok\r\n");
    fake_assert_back(&one, MQ_TRANSFER_DONE, "AL");
    assert_string_equal(fake_wire(fake), "MAIL FROM:<s@y>\r\n");
    fake_free(fake);
}

static void test_without_pipelining_stops_where_nothing_is_left(void **state)
{
    (void)state;
    struct fake *fake = fake_new(0);
    struct fake_mail one, two, three;
    fake_mail_init(&one, FAKE_MESSAGE, 1);
    fake_mail_init(&two, FAKE_MESSAGE, 1);
    fake_mail_init(&three, FAKE_MESSAGE, 1);
    fake_submit(fake, &one);
    fake_says(fake, "451 4.3.0 busy\r\n");
    fake_assert_back(&one, MQ_TRANSFER_DONE, "L");
    assert_string_equal(fake_wire(fake), "MAIL FROM:<s@y>\r\n");
    fake_submit(fake, &two); /* no transaction was opened, so no RSET */
    assert_string_equal(fake_wire(fake), "MAIL FROM:<s@y>\r\n");
    fake_says(fake, "250 ok\r\n");
    fake_says(fake, "550 5.1.1 nobody\r\n");
    fake_assert_back(&two, MQ_TRANSFER_DONE, "R");
    assert_string_equal(fake_wire(fake), "RCPT TO:<a@x>\r\n");
    fake_submit(fake, &three);
    assert_string_equal(fake_wire(fake), "RSET\r\n");
    fake_says(fake, "250 ok\r\n");
    assert_string_equal(fake_wire(fake), "MAIL FROM:<s@y>\r\n");
    fake_free(fake);
}

/* ---- RSET ---- */

static void test_refused_data_is_reset_before_the_next_mail(void **state)
{
    (void)state;
    struct fake *fake = fake_new(FAKE_PIPELINING);
    struct fake_mail one, two;
    fake_mail_init(&one, FAKE_MESSAGE, 1);
    fake_mail_init(&two, FAKE_MESSAGE, 1);
    two.targets[0].address = "other@x";
    fake_submit(fake, &one);
    fake_says(fake, "250 ok\r\n250 ok\r\n451 4.3.0 no data now\r\n");
    fake_assert_back(&one, MQ_TRANSFER_DONE, "L");
    fake_wire(fake);
    fake_submit(fake, &two);
    /* Otherwise its message would go to a@x as well. */
    assert_string_equal(fake_wire(fake),
                        "RSET\r\nMAIL FROM:<s@y>\r\nRCPT TO:<other@x>\r\nDATA\r\n");
    fake_says(fake, "250 reset\r\n" FAKE_TAKEN);
    fake_says(fake, "250 queued\r\n");
    fake_assert_back(&two, MQ_TRANSFER_DONE, "A");
    assert_false(fake->session.open_transaction);
    fake_free(fake);
}

static void test_all_recipients_refused_then_reset(void **state)
{
    (void)state;
    struct fake *fake = fake_new(FAKE_PIPELINING);
    struct fake_mail one, two;
    fake_mail_init(&one, FAKE_MESSAGE, 1);
    fake_mail_init(&two, FAKE_MESSAGE, 1);
    fake_submit(fake, &one);
    fake_wire(fake);
    fake_says(fake, "250 ok\r\n550 5.1.1 nobody\r\n503 5.5.1 need RCPT\r\n");
    assert_false(fake_is_back(&one)); /* waits for RSET's reply, which shows no shift */
    assert_string_equal(fake_wire(fake), "RSET\r\n");
    fake_says(fake, "250 reset\r\n");
    fake_assert_back(&one, MQ_TRANSFER_DONE, "R");
    assert_string_equal(one.phases, "E");
    assert_string_equal(one.targets[0].reply, "550 5.1.1 nobody");
    fake_submit(fake, &two);
    assert_string_equal(fake_wire(fake), FAKE_ENVELOPE);
    fake_free(fake);
}

/* RFC 2920, 3.1: only a dot or the end of the connection ends a transaction whose DATA was
 * accepted. */
static void test_data_taken_without_recipients_closes_without_a_dot(void **state)
{
    (void)state;
    struct fake *fake = fake_new(FAKE_PIPELINING);
    struct fake_mail one;
    fake_mail_init(&one, FAKE_MESSAGE, 2);
    fake_submit(fake, &one);
    fake_wire(fake);
    fake_says(fake, "250 ok\r\n550 5.1.1 nobody\r\n450 4.2.0 later\r\n354 go\r\n");
    assert_string_equal(fake_wire(fake), "");
    assert_true(fake->closed);
    fake_assert_back(&one, MQ_TRANSFER_DONE, "RL");
    assert_string_equal(one.phases, "E");
    fake_free(fake);
}

static void test_data_taken_though_mail_was_refused_closes_without_a_dot(void **state)
{
    (void)state;
    struct fake *fake = fake_new(FAKE_PIPELINING);
    struct fake_mail mail;
    fake_mail_init(&mail, FAKE_MESSAGE, 1);
    fake_submit(fake, &mail);
    fake_wire(fake);
    fake_says(fake, "451 4.3.0 no\r\n250 ok\r\n354 go\r\n");
    assert_string_equal(fake_wire(fake), "");
    assert_true(fake->closed);
    assert_ptr_equal(fake->transport.pending.first, &mail);
    fake_free(fake);
}

static void test_503s_after_a_refused_mail_are_consequences(void **state)
{
    (void)state;
    struct fake *fake = fake_new(FAKE_PIPELINING);
    struct fake_mail one, two;
    fake_mail_init(&one, FAKE_MESSAGE, 2);
    fake_mail_init(&two, FAKE_MESSAGE, 1);
    fake_submit(fake, &one);
    fake_wire(fake);
    fake_says(fake, "450 4.1.8 no such domain\r\n503 5.5.1 MAIL first\r\n503 5.5.1 MAIL first\r\n");
    assert_false(fake_is_back(&one));
    fake_says(fake, "503 5.5.1 MAIL first\r\n");
    fake_assert_back(&one, MQ_TRANSFER_DONE, "LL");
    assert_string_equal(one.targets[1].reply, "450 4.1.8 no such domain");
    assert_false(fake->closed);
    fake_submit(fake, &two);
    assert_string_equal(fake_wire(fake), FAKE_ENVELOPE); /* nothing open */
    fake_free(fake);
}

static void test_refused_rset_closes_and_blames_no_mail(void **state)
{
    (void)state;
    struct fake *fake = fake_new(FAKE_PIPELINING);
    struct fake_mail one, two;
    fake_mail_init(&one, FAKE_MESSAGE, 1);
    fake_mail_init(&two, FAKE_MESSAGE, 1);
    fake_submit(fake, &one);
    fake_says(fake, "250 ok\r\n250 ok\r\n451 no\r\n");
    fake_submit(fake, &two);
    fake_says(fake, "502 what?\r\n");
    fake_assert_back(&two, MQ_TRANSFER_UNTOUCHED, "U");
    assert_true(fake->closed);
    fake_free(fake);
}

/* ---- several recipients ---- */

static void test_each_recipient_its_own_result(void **state)
{
    (void)state;
    struct fake *fake = fake_new(FAKE_PIPELINING);
    struct fake_mail mail;
    fake_mail_init(&mail, FAKE_MESSAGE, 5);
    fake_submit(fake, &mail);
    fake_says(fake, "250 ok\r\n250 ok\r\n450 4.2.0 later\r\n550 5.1.1 nobody\r\n"
                    "554 5.7.1 denied\r\n452 4.5.3 too many\r\n354 go\r\n");
    assert_string_equal(mail.seen, "ULRDU");
    assert_int_equal(mail.targets[0].code, 250);
    assert_int_equal(mail.targets[4].code, 452);
    fake_says(fake, "250 queued\r\n");
    fake_assert_back(&mail, MQ_TRANSFER_DONE, "ALRDU");
    assert_string_equal(mail.targets[2].reply, "550 5.1.1 nobody");
    assert_string_equal(mail.targets[0].reply, "250 queued");
    fake_free(fake);
}

static void test_too_many_with_none_accepted_is_later(void **state)
{
    (void)state;
    struct fake *fake = fake_new(FAKE_PIPELINING);
    struct fake_mail mail;
    fake_mail_init(&mail, FAKE_MESSAGE, 2);
    fake_submit(fake, &mail);
    fake_says(fake, "250 ok\r\n452 4.5.3 too many\r\n452 4.5.3 too many\r\n503 no\r\n");
    fake_assert_back(&mail, MQ_TRANSFER_DONE, "LL"); /* otherwise it would be tried for ever */
    fake_free(fake);
}

static void test_refused_body_spares_the_recipients_not_in_it(void **state)
{
    (void)state;
    struct fake *fake = fake_new(FAKE_PIPELINING);
    struct fake_mail mail;
    fake_mail_init(&mail, FAKE_MESSAGE, 3);
    fake_submit(fake, &mail);
    fake_says(fake, "250 ok\r\n250 ok\r\n450 4.2.0 later\r\n452 4.5.3 many\r\n354 go\r\n");
    fake_says(fake, "550 5.6.0 bad content\r\n");
    fake_assert_back(&mail, MQ_TRANSFER_DONE, "RLU");
    assert_string_equal(mail.phases, "EBR");
    assert_string_equal(mail.seen, "RLU");
    fake_free(fake);
}

/* A recipient refused before it was asked for does not take part in later results. */
static void test_locally_refused_recipient_stays_refused(void **state)
{
    (void)state;
    struct fake *fake = fake_new(FAKE_PIPELINING);
    struct fake_mail mail;
    fake_mail_init(&mail, FAKE_MESSAGE, 2);
    mail.targets[0].address = "a b@x";
    fake_submit(fake, &mail);
    fake_says(fake, "250 ok\r\n");
    fake_hangs_up(fake);
    fake_assert_back(&mail, MQ_TRANSFER_DONE, "RD");
    fake_free(fake);
}

static void test_connection_that_ends_before_mail_left(void **state)
{
    (void)state;
    struct fake *fake = fake_new(FAKE_PIPELINING);
    struct fake_mail mail;
    fake_mail_init(&mail, FAKE_MESSAGE, 1);
    fake->out_blocked = true;
    fake_submit(fake, &mail);
    assert_string_equal(mail.phases, "E");
    fake_hangs_up(fake);
    fake_assert_back(&mail, MQ_TRANSFER_UNTOUCHED, "U");
    fake_free(fake);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_locally_refused_recipient_stays_refused),
        cmocka_unit_test(test_connection_that_ends_before_mail_left),
        cmocka_unit_test(test_one_mail_is_one_group_and_one_body),
        cmocka_unit_test(test_next_envelope_goes_behind_the_dot),
        cmocka_unit_test(test_envelope_follows_while_the_dot_awaits),
        cmocka_unit_test(test_without_pipelining_command_by_command),
        cmocka_unit_test(test_without_pipelining_stops_where_nothing_is_left),
        cmocka_unit_test(test_refused_data_is_reset_before_the_next_mail),
        cmocka_unit_test(test_all_recipients_refused_then_reset),
        cmocka_unit_test(test_data_taken_without_recipients_closes_without_a_dot),
        cmocka_unit_test(test_data_taken_though_mail_was_refused_closes_without_a_dot),
        cmocka_unit_test(test_503s_after_a_refused_mail_are_consequences),
        cmocka_unit_test(test_refused_rset_closes_and_blames_no_mail),
        cmocka_unit_test(test_each_recipient_its_own_result),
        cmocka_unit_test(test_too_many_with_none_accepted_is_later),
        cmocka_unit_test(test_refused_body_spares_the_recipients_not_in_it),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
