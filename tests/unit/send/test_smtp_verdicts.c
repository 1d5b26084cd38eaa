/* What each kind of reply means for the mail and the session, at each command. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "smtp_fake.h"

#define M        "Subject: x\r\n\r\nhello\r\n"
#define ENVELOPE "MAIL FROM:<s@y>\r\nRCPT TO:<a@x>\r\nRCPT TO:<b@x>\r\nDATA\r\n"

enum at { AT_MAIL, AT_FIRST, AT_SECOND, AT_DATA, AT_DOT };

/* The relay's replies before the reply under test, and after it, so that the envelope ends. */
static const char *const before[] = {"", "250 ok\r\n", "250 ok\r\n250 ok\r\n",
                                     "250 ok\r\n250 ok\r\n250 ok\r\n",
                                     "250 ok\r\n250 ok\r\n250 ok\r\n354 go\r\n"};
static const char *const after_refusal[] = {"503 a\r\n503 b\r\n503 c\r\n", "250 ok\r\n354 go\r\n",
                                            "354 go\r\n", "", ""};

enum fate {
    GOES_ON, /* the session */
    CLOSED,
    AGAIN,  /* closed, and the mail is sent again */
    TROUBLE /* closed, and the relay is in trouble */
};

struct sample {
    enum at at;
    const char *reply;
    enum mq_transfer_end end;
    const char *results; /* after the relay accepted the other recipients */
    enum fate fate;
};

static const struct sample samples[] = {
    /* MAIL */
    {AT_MAIL, "421 4.3.2 down", MQ_TRANSFER_UNTOUCHED, "UU", AGAIN},
    {AT_MAIL, "530 5.7.0 authenticate first", MQ_TRANSFER_UNTOUCHED, "UU", TROUBLE},
    {AT_MAIL, "535 5.7.8 bad", MQ_TRANSFER_UNTOUCHED, "UU", TROUBLE},
    {AT_MAIL, "454 4.7.0 temporary", MQ_TRANSFER_UNTOUCHED, "UU", TROUBLE},
    {AT_MAIL, "452 no space", MQ_TRANSFER_UNTOUCHED, "UU", TROUBLE},
    {AT_MAIL, "452 4.3.1 no space", MQ_TRANSFER_UNTOUCHED, "UU", TROUBLE},
    {AT_MAIL, "550 5.4.5 daily limit", MQ_TRANSFER_UNTOUCHED, "UU", TROUBLE},
    {AT_MAIL, "451 4.3.0 busy", MQ_TRANSFER_DONE, "LL", GOES_ON},
    {AT_MAIL, "550 5.1.8 sender refused", MQ_TRANSFER_DONE, "LL", GOES_ON},
    {AT_MAIL, "552 5.3.4 too big", MQ_TRANSFER_DONE, "RR", GOES_ON},
    {AT_MAIL, "554 5.7.1 denied", MQ_TRANSFER_DONE, "DD", GOES_ON},
    {AT_MAIL, "501 syntax", MQ_TRANSFER_UNTOUCHED, "UU", AGAIN},
    {AT_MAIL, "503 nested MAIL", MQ_TRANSFER_UNTOUCHED, "UU", AGAIN},
    {AT_MAIL, "555 parameters", MQ_TRANSFER_UNTOUCHED, "UU", AGAIN},
    /* RCPT */
    {AT_FIRST, "421 4.3.2 down", MQ_TRANSFER_UNTOUCHED, "UU", AGAIN},
    {AT_FIRST, "550 5.1.1 nobody", MQ_TRANSFER_DONE, "RA", GOES_ON},
    {AT_SECOND, "550 5.1.1 nobody", MQ_TRANSFER_DONE, "AR", GOES_ON},
    {AT_SECOND, "550 no such user", MQ_TRANSFER_DONE, "AR", GOES_ON},
    {AT_SECOND, "550 no", MQ_TRANSFER_DONE, "AX", GOES_ON},
    {AT_SECOND, "452 4.5.3 too many", MQ_TRANSFER_DONE, "AU", GOES_ON},
    {AT_SECOND, "552 too many recipients", MQ_TRANSFER_DONE, "AU", GOES_ON},
    {AT_SECOND, "450 4.2.0 greylisted", MQ_TRANSFER_DONE, "AL", GOES_ON},
    {AT_SECOND, "552 5.2.2 mailbox full", MQ_TRANSFER_DONE, "AL", GOES_ON},
    {AT_SECOND, "554 5.7.1 denied", MQ_TRANSFER_DONE, "AD", GOES_ON},
    {AT_SECOND, "550 5.4.5 quota", MQ_TRANSFER_UNTOUCHED, "UU", TROUBLE},
    {AT_SECOND, "421 4.7.0 slow down", MQ_TRANSFER_UNTOUCHED, "UU", AGAIN},
    {AT_SECOND, "503 what", MQ_TRANSFER_UNTOUCHED, "UU", AGAIN},
    {AT_SECOND, "501 5.1.3 bad address", MQ_TRANSFER_DONE, "AR", GOES_ON},
    /* DATA */
    {AT_DATA, "421 4.3.0 down", MQ_TRANSFER_UNTOUCHED, "UU", AGAIN},
    {AT_DATA, "451 4.3.0 busy", MQ_TRANSFER_DONE, "LL", GOES_ON},
    {AT_DATA, "554 5.7.1 denied", MQ_TRANSFER_DONE, "DD", GOES_ON},
    {AT_DATA, "550 5.6.0 content", MQ_TRANSFER_DONE, "RR", GOES_ON},
    {AT_DATA, "503 no recipients", MQ_TRANSFER_UNTOUCHED, "UU", AGAIN},
    {AT_DATA, "250 what", MQ_TRANSFER_UNTOUCHED, "UU", AGAIN},
    {AT_DATA, "530 5.7.0 no", MQ_TRANSFER_UNTOUCHED, "UU", TROUBLE},
    /* the dot */
    {AT_DOT, "250 ok", MQ_TRANSFER_DONE, "AA", GOES_ON},
    {AT_DOT, "299 ok", MQ_TRANSFER_DONE, "AA", GOES_ON},
    {AT_DOT, "451 4.3.0 busy", MQ_TRANSFER_DONE, "LL", GOES_ON},
    {AT_DOT, "554 5.7.1 spam", MQ_TRANSFER_DONE, "DD", GOES_ON},
    {AT_DOT, "550 5.6.0 content", MQ_TRANSFER_DONE, "RR", GOES_ON},
    {AT_DOT, "552 5.3.4 too big", MQ_TRANSFER_DONE, "RR", GOES_ON},
    {AT_DOT, "550 5.4.5 quota", MQ_TRANSFER_UNTOUCHED, "UU", TROUBLE},
    {AT_DOT, "500 what", MQ_TRANSFER_UNTOUCHED, "UU", AGAIN},
    {AT_DOT, "354 what", MQ_TRANSFER_DONE, "??", CLOSED},
    {AT_DOT, "421 4.3.0 down", MQ_TRANSFER_UNTOUCHED, "UU", CLOSED},
};

static void check_sample(const struct sample *sample, size_t row)
{
    struct fake *fake = fake_new(FAKE_PIPELINING | FAKE_SIZE);
    struct fake_mail mail;
    char line[128];
    fake_mail_init(&mail, M, 2);
    fake_submit(fake, &mail);
    fake_says(fake, before[sample->at]);
    snprintf(line, sizeof line, "%s\r\n", sample->reply);
    fake_says(fake, line);
    if (!fake->closed) {
        fake_says(fake, after_refusal[sample->at]);
        if (fake->session.state == MQ_SMTP_AWAITING) {
            fake_says(fake, "250 queued\r\n");
        } else if (fake->session.state == MQ_SMTP_ENVELOPE) {
            fake_says(fake, "250 reset\r\n"); /* which checks a refusal */
        }
    }
    bool again = fake->transport.pending.first != NULL;
    bool trouble = fake->transport.troubled;
    enum fate fate = again ? AGAIN : trouble ? TROUBLE : fake->closed ? CLOSED : GOES_ON;
    if (fate != sample->fate || fake_is_back(&mail) == again || fake->closed != (fate != GOES_ON) ||
        strcmp(fake_results(&mail), sample->results) != 0 ||
        (fake_is_back(&mail) && mail.transfer.end != sample->end)) {
        fail_msg("row %zu, %s: fate %d, results %s, end %d", row, sample->reply, fate,
                 fake_results(&mail), mail.transfer.end);
    }
    assert_int_equal(fake->owner.following, MQ_SMTP_FOLLOW_DOT); /* nothing was after a dot */
    if (fate == TROUBLE) {
        assert_string_equal(fake->transport.trouble.reason, sample->reply);
    }
    fake_free(fake);
}

static void test_every_kind_at_every_command(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof samples / sizeof *samples; i++) {
        check_sample(&samples[i], i);
    }
}

/* The phases of the dot: only replies that were read are recorded. */
static void test_phases_at_the_dot(void **state)
{
    (void)state;
    static const struct {
        const char *reply, *phases, *seen;
    } cases[] = {{"250 ok\r\n", "EBA", "A"},
                 {"451 4.3.0 no\r\n", "EBR", "L"},
                 {"550 5.4.5 no\r\n", "EBR", "U"},
                 {"500 what\r\n", "EBR", "U"},
                 {"354 what\r\n", "EB", "U"}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct fake *fake = fake_new(FAKE_PIPELINING);
        struct fake_mail mail;
        fake_mail_init(&mail, M, 1);
        fake_submit(fake, &mail);
        fake_says(fake, "250 ok\r\n250 ok\r\n354 go\r\n");
        fake_says(fake, cases[i].reply);
        assert_string_equal(mail.phases, cases[i].phases);
        assert_string_equal(mail.seen, cases[i].seen);
        fake_free(fake);
    }
}

static void test_retry_after_is_noted(void **state)
{
    (void)state;
    struct fake *fake = fake_new(FAKE_PIPELINING);
    struct fake_mail mail;
    fake_mail_init(&mail, M, 2);
    fake_submit(fake, &mail);
    fake_says(fake, "250 ok\r\n450 4.2.0 try again in 300 seconds\r\n"
                    "450 4.2.0 try again in 60 seconds\r\n503 no\r\n");
    assert_int_equal(mail.transfer.retry_after_s, 300);
    fake_free(fake);

    fake = fake_new(FAKE_PIPELINING);
    fake_mail_init(&mail, M, 1);
    fake_submit(fake, &mail);
    fake_says(fake, "550 5.4.5 daily limit, try again in 7200 seconds\r\n");
    assert_int_equal(fake->transport.trouble.retry_after_s, 7200);
    fake_free(fake);
}

/* ---- again without extensions ---- */

static void test_plain_has_no_group_and_no_parameters(void **state)
{
    (void)state;
    struct fake *fake = fake_new(FAKE_PIPELINING | FAKE_SIZE | FAKE_8BIT);
    struct fake_mail mail, next;
    fake_mail_init(&mail, M, 1);
    fake_mail_init(&next, M, 1);
    fake_set_plain(&mail);
    fake_queue(fake, &mail);
    fake_submit(fake, &next);
    assert_string_equal(fake_wire(fake), "MAIL FROM:<s@y>\r\n");
    fake_says(fake, "250 ok\r\n");
    assert_string_equal(fake_wire(fake), "RCPT TO:<a@x>\r\n");
    fake_says(fake, "250 ok\r\n");
    assert_string_equal(fake_wire(fake), "DATA\r\n");
    fake_says(fake, "354 ok\r\n");
    assert_string_equal(fake_wire(fake), M ".\r\n"); /* nothing after the dot */
    fake_says(fake, "250 ok\r\n");
    assert_string_equal(fake_results(&mail), "A");
    assert_true(fake->owner.no_params); /* that worked */
    assert_string_equal(fake_wire(fake), "MAIL FROM:<s@y>\r\n");
    fake_free(fake);
}

static void test_plain_protocol_error_is_later(void **state)
{
    (void)state;
    static const struct {
        const char *at_mail, *at_rcpt, *at_data, *results;
        bool closed;
    } cases[] = {{"501 a\r\n", NULL, NULL, "LL", true},
                 {"250 ok\r\n", "501 a\r\n", "354 go\r\n", "LA", false},
                 {"250 ok\r\n", "250 ok\r\n", "502 a\r\n", "LL", true}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct fake *fake = fake_new(FAKE_PIPELINING);
        struct fake_mail mail;
        fake_mail_init(&mail, M, 2);
        fake_set_plain(&mail);
        fake_submit(fake, &mail);
        fake_says(fake, cases[i].at_mail);
        if (cases[i].at_rcpt != NULL) {
            fake_says(fake, cases[i].at_rcpt);
            fake_says(fake, "250 ok\r\n");
            fake_says(fake, cases[i].at_data);
        }
        if (!fake->closed) {
            fake_says(fake, "250 queued\r\n");
        }
        assert_null(fake->transport.pending.first);
        assert_true(fake_is_back(&mail));
        assert_int_equal(mail.transfer.end, MQ_TRANSFER_DONE);
        assert_string_equal(fake_results(&mail), cases[i].results);
        assert_int_equal(fake->closed, cases[i].closed);
        assert_false(fake->owner.no_params);
        fake_free(fake);
    }
}

static void test_lost_step_ends_envelopes_behind_dots(void **state)
{
    (void)state;
    static const char *const errors[] = {"503 bad sequence\r\n",
                                         "554 SMTP synchronization error\r\n"};
    for (size_t i = 0; i < 2; i++) {
        struct fake *fake = fake_new(FAKE_PIPELINING);
        struct fake_mail one, two;
        fake_mail_init(&one, M, 1);
        fake_mail_init(&two, M, 1);
        fake_queue(fake, &one);
        fake_submit(fake, &two);
        fake_says(fake, "250 ok\r\n250 ok\r\n354 go\r\n");
        fake_says(fake, "250 queued\r\n");
        fake_says(fake, errors[i]);
        assert_string_equal(fake_results(&one), "A");
        assert_ptr_equal(fake->transport.pending.first, &two);
        assert_int_equal(fake->owner.following, MQ_SMTP_FOLLOW_NEVER);
        assert_true(fake->closed);
        fake_free(fake);
    }
    struct fake *fake = fake_new(FAKE_PIPELINING);
    struct fake_mail one, two;
    fake_mail_init(&one, M, 2);
    fake_mail_init(&two, M, 2);
    fake->owner.following = MQ_SMTP_FOLLOW_NEVER;
    fake_queue(fake, &one);
    fake_submit(fake, &two);
    assert_string_equal(fake_wire(fake), ENVELOPE);
    fake_says(fake, "250 ok\r\n250 ok\r\n250 ok\r\n354 go\r\n");
    assert_string_equal(fake_wire(fake), M ".\r\n");
    fake_says(fake, "250 queued\r\n");
    assert_string_equal(fake_wire(fake), ENVELOPE);
    fake_free(fake);
}

/* ---- how long a session is used ---- */

static void fail_one(struct fake *fake, struct fake_mail *mail)
{
    fake_mail_init(mail, M, 1);
    fake_submit(fake, mail);
    fake_says(fake, fake->session.open_transaction ? "250 reset\r\n" : "");
    fake_says(fake, "250 ok\r\n550 5.1.1 nobody\r\n503 no\r\n");
    fake_says(fake, "250 reset\r\n");
    assert_string_equal(fake_results(mail), "R");
}

static void test_four_failures_in_a_row_end_the_session(void **state)
{
    (void)state;
    struct fake *fake = fake_new(FAKE_PIPELINING);
    struct fake_mail mail;
    for (int round = 0; round < 2; round++) {
        for (int i = 0; i < 3; i++) {
            fail_one(fake, &mail);
        }
        if (round == 0) {
            fake_mail_init(&mail, M, 1);
            fake_submit(fake, &mail);
            fake_says(fake, "250 ok\r\n250 ok\r\n354 go\r\n");
            fake_says(fake, "250 queued\r\n"); /* counts from zero again */
        }
    }
    fake_wire(fake);
    assert_int_equal(fake->session.state, MQ_SMTP_IDLE);
    fail_one(fake, &mail);
    assert_non_null(strstr(fake_wire(fake), "QUIT\r\n"));
    fake_free(fake);
}

static void test_quits_after_so_many_mails(void **state)
{
    (void)state;
    struct fake *fake = fake_new(FAKE_PIPELINING);
    struct fake_mail mails[3];
    fake->dsn.mails_per_connection = 2;
    for (int i = 0; i < 3; i++) {
        fake_mail_init(&mails[i], M, 2);
        fake_queue(fake, &mails[i]);
    }
    mq_smtp_session_pump(&fake->session);
    fake_says(fake, "250 ok\r\n250 ok\r\n250 ok\r\n354 go\r\n");
    assert_string_equal(fake_wire(fake), ENVELOPE M ".\r\n" ENVELOPE);
    fake_says(fake, "250 queued\r\n250 ok\r\n250 ok\r\n250 ok\r\n354 go\r\n");
    assert_string_equal(fake_wire(fake), M ".\r\n");
    fake_says(fake, "250 queued\r\n");
    assert_string_equal(fake_wire(fake), "QUIT\r\n");
    assert_false(fake_is_back(&mails[2]));
    assert_int_equal(fake->waiting_count, 1);
    fake_free(fake);
}

/* ---- not a reply ---- */

static void test_garbage_ends_the_session(void **state)
{
    (void)state;
    static const char *const garbage[] = {"hello\r\n", "250-a\r\n251 b\r\n", "25 ok\r\n",
                                          "HTTP/1.1 400 Bad Request\r\n"};
    for (size_t i = 0; i < sizeof garbage / sizeof *garbage; i++) {
        struct fake *fake = fake_new(FAKE_PIPELINING);
        struct fake_mail mail;
        fake_mail_init(&mail, M, 1);
        fake_submit(fake, &mail);
        fake_says(fake, garbage[i]);
        assert_true(fake->closed);
        assert_true(fake_is_back(&mail));
        assert_string_equal(fake_results(&mail), "D");
        assert_true(mail.transfer.error[0] != '\0');
        fake_free(fake);
    }
}

static void test_endless_replies_end_the_session(void **state)
{
    (void)state;
    struct fake *fake = fake_new(FAKE_PIPELINING);
    struct fake_mail mail;
    fake_mail_init(&mail, M, 1);
    fake_submit(fake, &mail);
    fake_says(fake, "250 ok\r\n250 ok\r\n354 go\r\n");
    fake_says(fake, "250-still\r\n");
    for (int i = 0; i < 2000 && !fake->closed; i++) {
        fake_says(fake, "250-still\r\n");
    }
    assert_true(fake->closed);
    assert_string_equal(fake_results(&mail), "?");
    fake_free(fake);
}

/* Cutting the relay's replies anywhere gives the same results. */
static void test_any_cut_of_the_replies(void **state)
{
    (void)state;
    for (size_t cut = 1; cut < 60; cut++) {
        struct fake *fake = fake_new(FAKE_PIPELINING);
        struct fake_mail one, two;
        fake->in_cut = cut;
        fake_mail_init(&one, M, 2);
        fake_mail_init(&two, M, 2);
        fake_queue(fake, &one);
        fake_submit(fake, &two);
        fake_says(fake,
                  "250-2.1.0 first\r\n250 2.1.0 ok\r\n250 ok\r\n450 4.2.0 later\r\n354 go\r\n");
        fake_says(fake, "250 queued\r\n250 ok\r\n250 ok\r\n250 ok\r\n354 go\r\n");
        assert_string_equal(fake_results(&one), "AL");
        fake_says(fake, "451-4.3.0 no\r\n451 4.3.0 no\r\n");
        assert_string_equal(fake_results(&two), "LL");
        assert_int_equal(fake->session.state, MQ_SMTP_IDLE);
        fake_free(fake);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_kind_at_every_command),
        cmocka_unit_test(test_phases_at_the_dot),
        cmocka_unit_test(test_retry_after_is_noted),
        cmocka_unit_test(test_plain_has_no_group_and_no_parameters),
        cmocka_unit_test(test_plain_protocol_error_is_later),
        cmocka_unit_test(test_lost_step_ends_envelopes_behind_dots),
        cmocka_unit_test(test_four_failures_in_a_row_end_the_session),
        cmocka_unit_test(test_quits_after_so_many_mails),
        cmocka_unit_test(test_garbage_ends_the_session),
        cmocka_unit_test(test_endless_replies_end_the_session),
        cmocka_unit_test(test_any_cut_of_the_replies),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
