/* Replies that are about our sessions or our rate, as one session handles them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "smtp_fake.h"

#define TOO_MANY "432 4.3.2 Concurrent connections limit exceeded\r\n"
#define LATER    "450 4.7.1 try again in 30 seconds\r\n"

static void test_too_many_sends_the_mail_over_another_session(void **state)
{
    (void)state;
    struct fake *fake = fake_new(FAKE_PIPELINING);
    struct fake_mail mail;
    fake->has_more_sessions = true;
    fake_mail_init(&mail, FAKE_MESSAGE, 1);
    fake_submit(fake, &mail);
    fake_says(fake, TOO_MANY);
    assert_int_equal(fake->crowds, 1);
    assert_true(fake->closed);
    assert_false(fake_is_back(&mail));
    assert_ptr_equal(fake->transport.pending.first, &mail.transfer);
    assert_false(mail.transfer.drew_trouble);
    assert_false(fake->transport.troubled);
    fake_free(fake);
}

static void test_too_many_at_the_dot_gives_the_mail_back(void **state)
{
    (void)state;
    struct fake *fake = fake_new(FAKE_PIPELINING);
    struct fake_mail mail;
    fake->has_more_sessions = true;
    fake_mail_init(&mail, FAKE_MESSAGE, 1);
    fake_submit(fake, &mail);
    fake_says(fake, FAKE_TAKEN);
    fake_says(fake, TOO_MANY);
    fake_assert_back(&mail, MQ_TRANSFER_UNTOUCHED, "U");
    assert_string_equal(mail.phases, "EBR");
    assert_false(mail.transfer.drew_trouble);
    fake_free(fake);
}

/* Fewer than one session cannot help: other mails go first, and the worker looks at the relay. */
static void test_too_many_for_the_only_session(void **state)
{
    (void)state;
    struct fake *fake = fake_new(FAKE_PIPELINING);
    struct fake_mail mail;
    fake_mail_init(&mail, FAKE_MESSAGE, 1);
    fake_submit(fake, &mail);
    fake_says(fake, FAKE_TAKEN);
    fake_says(fake, TOO_MANY);
    fake_assert_back(&mail, MQ_TRANSFER_UNTOUCHED, "U");
    assert_true(mail.transfer.drew_trouble);
    assert_string_equal(mail.transfer.error, "432 4.3.2 Concurrent connections limit exceeded");
    fake_free(fake);
}

/* … unless the relay names a time. */
static void test_too_many_for_a_time(void **state)
{
    (void)state;
    struct fake *fake = fake_new(FAKE_PIPELINING);
    struct fake_mail mail;
    fake_mail_init(&mail, FAKE_MESSAGE, 1);
    fake_submit(fake, &mail);
    fake_says(fake, "421 4.7.0 too many connections, try again in 300 seconds\r\n");
    fake_assert_back(&mail, MQ_TRANSFER_UNTOUCHED, "U");
    assert_true(fake->transport.troubled);
    assert_int_equal(fake->transport.trouble.retry_after_s, 300);
    fake_free(fake);
}

/* Submits a mail, and answers the RSET that may go before it. */
static void begin(struct fake *fake, struct fake_mail *mail)
{
    bool reset = fake->session.open_transaction;
    fake_submit(fake, mail);
    if (reset) {
        fake_says(fake, "250 reset\r\n");
    }
}

/* Sends a mail to `address`, whose RCPT gets `reply`. */
static void refuse_one(struct fake *fake, const char *address, const char *reply)
{
    struct fake_mail mail;
    fake_mail_init(&mail, FAKE_MESSAGE, 1);
    mail.targets[0].address = address;
    begin(fake, &mail);
    fake_says(fake, "250 ok\r\n");
    fake_says(fake, reply);
    fake_says(fake, "503 no recipients\r\n");
    fake_assert_back(&mail, MQ_TRANSFER_DONE, "L");
    assert_ptr_equal(mq_transport_take_done(&fake->transport), &mail.transfer);
}

static void accept_one(struct fake *fake)
{
    struct fake_mail mail;
    fake_mail_init(&mail, FAKE_MESSAGE, 1);
    begin(fake, &mail);
    fake_says(fake, FAKE_TAKEN);
    fake_says(fake, "250 queued\r\n");
    fake_assert_back(&mail, MQ_TRANSFER_DONE, "A");
    assert_ptr_equal(mq_transport_take_done(&fake->transport), &mail.transfer);
}

/* One such mail may be greylisted; several for different domains are not. */
static void test_deferred_in_a_row_for_a_named_time_is_the_relays_trouble(void **state)
{
    (void)state;
    struct fake *fake = fake_new(FAKE_PIPELINING);
    refuse_one(fake, "a@one.example", LATER);
    refuse_one(fake, "b@two.example", LATER);
    accept_one(fake);
    refuse_one(fake, "a@one.example", LATER);
    refuse_one(fake, "a@ONE.example", LATER);
    refuse_one(fake, "b@one.example", LATER);
    assert_false(fake->transport.troubled); /* one domain */
    accept_one(fake);
    refuse_one(fake, "a@one.example", LATER);
    refuse_one(fake, "b@two.example", LATER);
    assert_false(fake->transport.troubled);
    refuse_one(fake, "c@one.example", LATER);
    assert_true(fake->transport.troubled);
    assert_string_equal(fake->transport.trouble.reason, "450 4.7.1 try again in 30 seconds");
    assert_int_equal(fake->transport.trouble.retry_after_s, 30);
    fake_free(fake);
}

static void test_greylisting_never_is(void **state)
{
    (void)state;
    struct fake *fake = fake_new(FAKE_PIPELINING);
    for (int i = 0; i < 3; i++) {
        refuse_one(fake, "a@one.example", "450 4.2.0 greylisted, try again in 300 seconds\r\n");
        refuse_one(fake, "b@two.example", "450 4.2.2 mailbox full, retry in 5 minutes\r\n");
        accept_one(fake);
        refuse_one(fake, "c@x.example", "451 4.7.1 try again later\r\n");
    }
    assert_false(fake->transport.troubled);
    fake_free(fake);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_too_many_sends_the_mail_over_another_session),
        cmocka_unit_test(test_too_many_at_the_dot_gives_the_mail_back),
        cmocka_unit_test(test_too_many_for_the_only_session),
        cmocka_unit_test(test_too_many_for_a_time),
        cmocka_unit_test(test_deferred_in_a_row_for_a_named_time_is_the_relays_trouble),
        cmocka_unit_test(test_greylisting_never_is),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
