/* The points at which the relay can end a connection, and what that means for the mail under way
 * and the one after it. test_smtp_stops.c tests the ends from our side. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "smtp_fake.h"

/* All replies of the relay to one mail; the connection ends after each byte in turn. */
static void test_the_stream_ends_after_every_byte(void **state)
{
    (void)state;
    static const char all[] = FAKE_TAKEN "250 2.0.0 queued\r\n";
    size_t body_at = strlen(FAKE_TAKEN);
    for (size_t cut = 0; cut <= strlen(all); cut++) {
        for (int reset = 0; reset < 2; reset++) {
            char before[sizeof all] = "", after[sizeof all] = "";
            struct fake *fake = fake_new(FAKE_PIPELINING);
            struct fake_mail mail;
            fake_mail_init(&mail, FAKE_MESSAGE, 1);
            fake_submit(fake, &mail);
            memcpy(before, all, cut < body_at ? cut : body_at);
            memcpy(after, all + body_at, cut > body_at ? cut - body_at : 0);
            fake_says(fake, before);
            fake_says(fake, after);
            if (cut < strlen(all)) {
                assert_false(fake_is_back(&mail));
            }
            reset ? fake_resets(fake) : fake_hangs_up(fake);
            const char *expected = cut < body_at ? "D" : cut < strlen(all) ? "?" : "A";
            fake_assert_back(&mail, MQ_TRANSFER_DONE, expected);
            assert_true((mail.transfer.error[0] != '\0') == (cut < strlen(all)));
            assert_true(fake->closed);
            fake_free(fake);
        }
    }
}

static void test_accepted_then_reset_with_the_next_envelope_unread(void **state)
{
    (void)state;
    struct fake *fake = fake_new(FAKE_PIPELINING);
    struct fake_mail one, two;
    fake_mail_init(&one, FAKE_MESSAGE, 1);
    fake_mail_init(&two, FAKE_MESSAGE, 1);
    fake_queue(fake, &one);
    fake_submit(fake, &two);
    fake_says(fake, FAKE_TAKEN);
    assert_string_equal(two.phases, "E");
    fake_says(fake, "250 queued\r\n");
    fake_resets(fake);
    fake_assert_back(&one, MQ_TRANSFER_DONE, "A");
    fake_assert_back(&two, MQ_TRANSFER_UNTOUCHED, "U");
    fake_free(fake);
}

/* The relay closes after a mail while the next one's MAIL is on its way: that mail is tried once
 * more in another session, and the result there counts. */
static void test_close_that_crosses_the_next_mail(void **state)
{
    (void)state;
    for (int before = 0; before < 2; before++) {
        struct fake *fake = fake_new(FAKE_PIPELINING);
        struct fake_mail one, two;
        fake_mail_init(&one, FAKE_MESSAGE, 1);
        fake_mail_init(&two, FAKE_MESSAGE, 1);
        if (before) {
            fake_submit(fake, &one);
            fake_says(fake, FAKE_TAKEN);
            fake_says(fake, "250 queued\r\n");
        }
        fake_submit(fake, &two);
        fake_hangs_up(fake);
        if (before) {
            assert_false(fake_is_back(&two));
            assert_ptr_equal(fake->transport.pending.first, &two);
        } else {
            fake_assert_back(&two, MQ_TRANSFER_DONE, "D");
        }
        fake_free(fake);
    }
}

static void test_reset_at_the_dot_spares_the_one_behind(void **state)
{
    (void)state;
    struct fake *fake = fake_new(FAKE_PIPELINING);
    struct fake_mail one, two;
    fake_mail_init(&one, FAKE_MESSAGE, 1);
    fake_mail_init(&two, FAKE_MESSAGE, 1);
    fake_queue(fake, &one);
    fake_submit(fake, &two);
    fake_says(fake, FAKE_TAKEN);
    fake_resets(fake);
    fake_assert_back(&one, MQ_TRANSFER_DONE, "?");
    assert_string_equal(one.transfer.error, "the connection to the relay broke");
    fake_assert_back(&two, MQ_TRANSFER_UNTOUCHED, "U");
    fake_free(fake);
}

static void test_the_one_behind_counts_once_it_was_answered(void **state)
{
    (void)state;
    struct fake *fake = fake_new(FAKE_PIPELINING);
    struct fake_mail one, two;
    fake_mail_init(&one, FAKE_MESSAGE, 1);
    fake_mail_init(&two, FAKE_MESSAGE, 1);
    fake_queue(fake, &one);
    fake_submit(fake, &two);
    fake_says(fake, FAKE_TAKEN);
    fake_says(fake, "250 queued\r\n250 sender ok\r\n");
    fake_hangs_up(fake);
    fake_assert_back(&two, MQ_TRANSFER_DONE, "D");
    fake_free(fake);
}

/* A refused recipient stays refused, however the connection ends. */
static void test_refused_recipient_survives_the_connection(void **state)
{
    (void)state;
    struct fake *fake = fake_new(FAKE_PIPELINING);
    struct fake_mail mail;
    fake_mail_init(&mail, FAKE_MESSAGE, 3);
    fake_submit(fake, &mail);
    fake_says(fake, "250 ok\r\n550 5.1.1 nobody\r\n250 ok\r\n");
    fake_hangs_up(fake);
    fake_assert_back(&mail, MQ_TRANSFER_DONE, "RDD");
    fake_free(fake);
}

/* ---- 421 ---- */

/* From a new session: the mail is tried in one more session, then others go first. */
static void test_421_before_the_dot_gives_the_mail_back(void **state)
{
    (void)state;
    static const char *const before[] = {"", "250 ok\r\n", "250 ok\r\n550 5.1.1 no\r\n"};
    for (size_t i = 0; i < 3; i++) {
        struct fake_mail mail;
        fake_mail_init(&mail, FAKE_MESSAGE, 2);
        for (int session = 0; session < 2; session++) {
            struct fake *fake = fake_new(FAKE_PIPELINING);
            fake_submit(fake, &mail);
            fake_says(fake, before[i]);
            fake_says(fake, "421 4.3.2 going down\r\n");
            assert_ptr_equal(fake->transport.pending.first, session == 0 ? &mail : NULL);
            assert_true(fake->closed);
            assert_string_equal(fake->why, "421 4.3.2 going down");
            assert_string_equal(fake_results(&mail), "UU");
            fake_free(fake);
        }
        fake_assert_back(&mail, MQ_TRANSFER_UNTOUCHED, "UU");
        assert_true(mail.transfer.drew_trouble);
        assert_string_equal(mail.transfer.error, "421 4.3.2 going down");
    }
}

/* The second session accepts it: nothing of the first remains. */
static void test_421_then_another_session_takes_it(void **state)
{
    (void)state;
    struct fake_mail mail;
    struct fake *fake = fake_new(FAKE_PIPELINING);
    fake_mail_init(&mail, FAKE_MESSAGE, 1);
    fake_submit(fake, &mail);
    fake_says(fake, "421 4.3.2 try again in 900 seconds\r\n");
    fake_free(fake);
    fake = fake_new(FAKE_PIPELINING);
    fake_submit(fake, &mail);
    fake_says(fake, FAKE_TAKEN);
    fake_says(fake, "250 queued\r\n");
    fake_assert_back(&mail, MQ_TRANSFER_DONE, "A");
    assert_string_equal(mail.transfer.error, "");
    assert_int_equal(mail.transfer.retry_after_s, 0);
    fake_free(fake);
}

/* A session that has served others has reached the relay's limit: that is not this mail's fault,
 * nor is the end of the mail after the dot. */
static void test_421_after_other_mails_blames_nobody(void **state)
{
    (void)state;
    struct fake *fake = fake_new(FAKE_PIPELINING);
    struct fake_mail one, two;
    fake_mail_init(&one, FAKE_MESSAGE, 1);
    fake_mail_init(&two, FAKE_MESSAGE, 1);
    fake_queue(fake, &one);
    fake_submit(fake, &two);
    fake_says(fake, FAKE_TAKEN);
    fake_says(fake, "250 queued\r\n421 4.7.0 enough\r\n");
    fake_assert_back(&one, MQ_TRANSFER_DONE, "A");
    fake_assert_back(&two, MQ_TRANSFER_UNTOUCHED, "U");
    assert_false(two.transfer.drew_trouble);
    fake_free(fake);
}

/* The relay's trouble at one mail's dot is not the fault of the mail after it. */
static void test_relay_trouble_marks_the_mail_that_drew_it(void **state)
{
    (void)state;
    struct fake *fake = fake_new(FAKE_PIPELINING);
    struct fake_mail one, two;
    fake_mail_init(&one, FAKE_MESSAGE, 1);
    fake_mail_init(&two, FAKE_MESSAGE, 1);
    fake_queue(fake, &one);
    fake_submit(fake, &two);
    fake_says(fake, FAKE_TAKEN);
    fake_says(fake, "452 4.3.1 system storage\r\n");
    fake_assert_back(&one, MQ_TRANSFER_UNTOUCHED, "U");
    fake_assert_back(&two, MQ_TRANSFER_UNTOUCHED, "U");
    assert_true(one.transfer.drew_trouble);
    assert_string_equal(one.transfer.error, "452 4.3.1 system storage");
    assert_false(two.transfer.drew_trouble);
    fake_free(fake);
}

/* It was not accepted, and no attempt is counted: others go first, and it is not sent again at
 * once. */
static void test_421_to_the_dot_is_an_answer(void **state)
{
    (void)state;
    struct fake *fake = fake_new(FAKE_PIPELINING);
    struct fake_mail one, two;
    fake_mail_init(&one, FAKE_MESSAGE, 1);
    fake_mail_init(&two, FAKE_MESSAGE, 1);
    fake_queue(fake, &one);
    fake_submit(fake, &two);
    fake_says(fake, FAKE_TAKEN);
    fake_says(fake, "421 4.3.0 going down\r\n");
    fake_assert_back(&one, MQ_TRANSFER_UNTOUCHED, "U");
    assert_true(one.transfer.drew_trouble);
    assert_string_equal(one.transfer.error, "421 4.3.0 going down");
    assert_string_equal(one.phases, "EBR");
    fake_assert_back(&two, MQ_TRANSFER_UNTOUCHED, "U");
    assert_false(two.transfer.drew_trouble);
    assert_null(fake->transport.pending.first);
    assert_true(fake->closed);
    fake_free(fake);
}

static void test_421_among_the_consequences_changes_nothing(void **state)
{
    (void)state;
    struct fake *fake = fake_new(FAKE_PIPELINING);
    struct fake_mail mail;
    fake_mail_init(&mail, FAKE_MESSAGE, 1);
    fake_submit(fake, &mail);
    fake_says(fake, "450 4.1.8 no such domain\r\n421 4.7.0 too many errors\r\n");
    fake_assert_back(&mail, MQ_TRANSFER_DONE, "L");
    assert_string_equal(mail.targets[0].reply, "450 4.1.8 no such domain");
    assert_true(fake->closed);
    fake_free(fake);

    fake = fake_new(FAKE_PIPELINING);
    fake_mail_init(&mail, FAKE_MESSAGE, 1);
    fake_submit(fake, &mail);
    fake_says(fake, "250 ok\r\n550 5.1.1 nobody\r\n421 4.7.0 too many errors\r\n");
    fake_assert_back(&mail, MQ_TRANSFER_DONE, "R");
    assert_true(fake->closed);
    fake_free(fake);
}

static void test_idle_session_that_speaks_or_ends_is_closed(void **state)
{
    (void)state;
    for (int i = 0; i < 3; i++) {
        struct fake *fake = fake_new(FAKE_PIPELINING);
        struct fake_mail mail;
        fake_mail_init(&mail, FAKE_MESSAGE, 1);
        i == 0   ? fake_says(fake, "421 4.4.2 idle too long\r\n")
        : i == 1 ? fake_hangs_up(fake)
                 : fake_resets(fake);
        assert_true(fake->closed);
        fake_submit(fake, &mail);
        assert_false(fake_is_back(&mail));
        assert_string_equal(fake_wire(fake), "");
        fake_free(fake);
    }
}

/* ---- while the message goes out ---- */

static void test_reply_during_the_body_decides_and_closes(void **state)
{
    (void)state;
    static const struct {
        const char *reply;
        enum mq_transfer_end end;
        const char *results;
    } cases[] = {{"552 5.3.4 too big\r\n", MQ_TRANSFER_DONE, "R"},
                 {"451 4.3.0 scanner down\r\n", MQ_TRANSFER_DONE, "L"},
                 {"554 5.7.1 spam\r\n", MQ_TRANSFER_DONE, "D"},
                 {"421 4.3.2 going down\r\n", MQ_TRANSFER_UNTOUCHED, "U"},
                 {"250 ok\r\n", MQ_TRANSFER_DONE, "D"}};
    size_t size = 100000;
    char *big = malloc(size + 1);
    memset(big, 'x', size);
    big[size] = '\0';
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct fake *fake = fake_new(FAKE_PIPELINING);
        struct fake_mail mail;
        fake_mail_init(&mail, big, 1);
        fake_submit(fake, &mail);
        fake->out_cut = 5000;
        fake_says(fake, "250 ok\r\n250 ok\r\n");
        fake->out_blocked = true;
        fake_says(fake, "354 go\r\n");
        assert_true(fake->session.wants_write);
        assert_int_equal(fake->session.state, MQ_SMTP_BODY);
        fake_says(fake, cases[i].reply);
        if (cases[i].end == MQ_TRANSFER_UNTOUCHED) {
            assert_ptr_equal(fake->transport.pending.first, &mail);
        } else {
            fake_assert_back(&mail, cases[i].end, cases[i].results);
        }
        assert_string_equal(mail.phases, "E"); /* the dot was not in that write yet */
        assert_true(fake->closed);
        fake_free(fake);
    }
    free(big);
}

static void test_broken_write_reads_the_reply_that_is_there(void **state)
{
    (void)state;
    struct fake *fake = fake_new(FAKE_PIPELINING);
    struct fake_mail mail;
    fake_mail_init(&mail, FAKE_MESSAGE, 1);
    fake_submit(fake, &mail);
    fake_says(fake, "250 ok\r\n250 ok\r\n");
    fake->out_broken = true;
    fake->in_eof = true;
    strcpy(fake->in, "354 go\r\n552 5.3.4 too big\r\n");
    fake->in_pos = 0;
    fake->in_len = strlen("354 go\r\n");
    fake->session.write_failed = false;
    fake->in_cut = strlen("354 go\r\n");
    fake->in_len = strlen(fake->in);
    mq_smtp_session_readable(&fake->session);
    fake_assert_back(&mail, MQ_TRANSFER_DONE, "R");
    fake_free(fake);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_the_stream_ends_after_every_byte),
        cmocka_unit_test(test_accepted_then_reset_with_the_next_envelope_unread),
        cmocka_unit_test(test_close_that_crosses_the_next_mail),
        cmocka_unit_test(test_reset_at_the_dot_spares_the_one_behind),
        cmocka_unit_test(test_the_one_behind_counts_once_it_was_answered),
        cmocka_unit_test(test_refused_recipient_survives_the_connection),
        cmocka_unit_test(test_421_before_the_dot_gives_the_mail_back),
        cmocka_unit_test(test_421_then_another_session_takes_it),
        cmocka_unit_test(test_421_after_other_mails_blames_nobody),
        cmocka_unit_test(test_relay_trouble_marks_the_mail_that_drew_it),
        cmocka_unit_test(test_421_to_the_dot_is_an_answer),
        cmocka_unit_test(test_421_among_the_consequences_changes_nothing),
        cmocka_unit_test(test_idle_session_that_speaks_or_ends_is_closed),
        cmocka_unit_test(test_reply_during_the_body_decides_and_closes),
        cmocka_unit_test(test_broken_write_reads_the_reply_that_is_there),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
