/* Whether an envelope is sent after an unanswered dot: one mail tries it, and the first connection
 * that ends because of it stops it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "smtp_fake.h"

#define M FAKE_MESSAGE

static struct fake *fake_unknown(void)
{
    struct fake *fake = fake_new(FAKE_PIPELINING);
    fake->owner.following = MQ_SMTP_FOLLOW_TRY;
    return fake;
}

/* Two mails, the second one's envelope after the first one's dot. */
static void begin_two(struct fake *fake, struct fake_mail *one, struct fake_mail *two)
{
    fake_mail_init(one, M, 1);
    fake_mail_init(two, M, 1);
    fake_queue(fake, one);
    fake_submit(fake, two);
    fake_says(fake, FAKE_TAKEN);
    assert_string_equal(fake_wire(fake), FAKE_ENVELOPE M ".\r\n" FAKE_ENVELOPE);
}

static void test_a_relay_that_answers_both_is_followed(void **state)
{
    (void)state;
    struct fake *fake = fake_unknown();
    struct fake_mail one, two, three;
    begin_two(fake, &one, &two);
    assert_true(fake->owner.trying);
    fake_says(fake, "250 queued\r\n");
    assert_int_equal(fake->owner.following, MQ_SMTP_FOLLOW_TRY); /* the trial has no result yet */
    fake_says(fake, FAKE_TAKEN);
    assert_int_equal(fake->owner.following, MQ_SMTP_FOLLOW_DOT);
    fake_wire(fake);
    /* From now on also after a dot that has left. */
    fake_mail_init(&three, M, 1);
    fake_submit(fake, &three);
    assert_string_equal(fake_wire(fake), FAKE_ENVELOPE);
    fake_says(fake, "250 queued\r\n");
    assert_false(fake->owner.trying);
    fake_free(fake);
}

/* The relay may have answered the dot before it read the envelope, which proves nothing. */
static void test_no_trial_once_the_dot_has_left(void **state)
{
    (void)state;
    struct fake *fake = fake_unknown();
    struct fake_mail one, two;
    fake_mail_init(&one, M, 1);
    fake_mail_init(&two, M, 1);
    fake_submit(fake, &one);
    fake_says(fake, FAKE_TAKEN);
    fake_wire(fake);
    fake_submit(fake, &two);
    assert_string_equal(fake_wire(fake), "");
    fake_says(fake, "250 queued\r\n");
    assert_string_equal(fake_wire(fake), FAKE_ENVELOPE);
    fake_free(fake);
}

static void test_one_trial_at_a_time(void **state)
{
    (void)state;
    struct fake *fake = fake_unknown();
    struct fake_mail one, two;
    fake->owner.trying = true; /* in another session */
    fake_mail_init(&one, M, 1);
    fake_mail_init(&two, M, 1);
    fake_queue(fake, &one);
    fake_submit(fake, &two);
    fake_says(fake, FAKE_TAKEN);
    assert_string_equal(fake_wire(fake), FAKE_ENVELOPE M ".\r\n");
    fake_says(fake, "250 queued\r\n");
    assert_true(fake->owner.trying);
    fake_free(fake);
}

static void stays_silent(struct fake *fake)
{
    fake->now_ms += 600000;
    mq_smtp_session_check_timeout(&fake->session, fake->now_ms);
}

static void talks_nonsense(struct fake *fake)
{
    fake_says(fake, "what?\r\n");
}

static void (*const losses[])(struct fake *) = {fake_hangs_up, fake_resets, stays_silent,
                                                talks_nonsense};

/* Whether it was a trial, or had been proved before. */
static void test_a_connection_lost_behind_a_dot_teaches(void **state)
{
    (void)state;
    for (size_t i = 0; i < 8; i++) {
        struct fake *fake = fake_unknown();
        struct fake_mail one, two;
        fake->owner.following = i < 4 ? MQ_SMTP_FOLLOW_TRY : MQ_SMTP_FOLLOW_DOT;
        begin_two(fake, &one, &two);
        losses[i % 4](fake);
        fake_assert_back(&one, MQ_TRANSFER_DONE, "?");
        fake_assert_back(&two, MQ_TRANSFER_UNTOUCHED, "U");
        assert_int_equal(fake->owner.following, MQ_SMTP_FOLLOW_NEVER);
        assert_false(fake->owner.trying);
        fake_free(fake);
    }
}

static void test_what_is_no_fault_of_following_teaches_nothing(void **state)
{
    (void)state;
    struct fake_mail one, two;
    /* the dot was answered */
    struct fake *fake = fake_unknown();
    begin_two(fake, &one, &two);
    fake_says(fake, "250 queued\r\n");
    fake_hangs_up(fake);
    fake_assert_back(&one, MQ_TRANSFER_DONE, "A");
    assert_int_equal(fake->owner.following, MQ_SMTP_FOLLOW_TRY);
    assert_false(fake->owner.trying);
    fake_free(fake);
    /* nothing was after it */
    fake = fake_unknown();
    fake_mail_init(&one, M, 1);
    fake_submit(fake, &one);
    fake_says(fake, FAKE_TAKEN);
    fake_hangs_up(fake);
    fake_assert_back(&one, MQ_TRANSFER_DONE, "?");
    assert_int_equal(fake->owner.following, MQ_SMTP_FOLLOW_TRY);
    fake_free(fake);
    /* we closed it */
    fake = fake_unknown();
    begin_two(fake, &one, &two);
    mq_smtp_session_lost(&fake->session, "sending was stopped");
    assert_int_equal(fake->owner.following, MQ_SMTP_FOLLOW_TRY);
    fake_free(fake);
    /* the second mail's sender is refused */
    fake = fake_unknown();
    begin_two(fake, &one, &two);
    fake_says(fake, "250 queued\r\n");
    fake_says(fake, "550 5.1.8 no such sender\r\n503 5.5.1 no\r\n503 5.5.1 no\r\n");
    assert_int_equal(fake->owner.following, MQ_SMTP_FOLLOW_TRY);
    assert_false(fake->owner.trying);
    fake_free(fake);
}

static void test_what_is_set_by_hand_stays(void **state)
{
    (void)state;
    struct fake *fake = fake_unknown();
    struct fake_mail one, two;
    fake->owner.following = MQ_SMTP_FOLLOW_DOT;
    fake->owner.following_fixed = true;
    begin_two(fake, &one, &two);
    fake_hangs_up(fake);
    assert_int_equal(fake->owner.following, MQ_SMTP_FOLLOW_DOT);
    fake_free(fake);
}

/* Another session lost its connection while this one's trial was under way. */
static void test_a_loss_outweighs_a_success(void **state)
{
    (void)state;
    struct fake *fake = fake_unknown();
    struct fake_mail one, two;
    begin_two(fake, &one, &two);
    fake->owner.following = MQ_SMTP_FOLLOW_NEVER;
    fake_says(fake, "250 queued\r\n" FAKE_TAKEN);
    assert_int_equal(fake->owner.following, MQ_SMTP_FOLLOW_NEVER);
    fake_free(fake);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_relay_that_answers_both_is_followed),
        cmocka_unit_test(test_no_trial_once_the_dot_has_left),
        cmocka_unit_test(test_one_trial_at_a_time),
        cmocka_unit_test(test_a_connection_lost_behind_a_dot_teaches),
        cmocka_unit_test(test_what_is_no_fault_of_following_teaches_nothing),
        cmocka_unit_test(test_what_is_set_by_hand_stays),
        cmocka_unit_test(test_a_loss_outweighs_a_success),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
