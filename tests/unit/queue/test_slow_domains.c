/* Domains of recipients that are slowed down: what all runs know of them, and what goes. */
#include "queue_fixture.h"

#include "queue/config/slow.h"

static int64_t count(struct fixture *fx, const char *domain, int64_t good, int64_t bad)
{
    struct mq_domain_seen seen = {
        .domain = domain, .seen = {good, bad, false}, .reply = bad ? "450 4.7.1 \"later\"" : NULL};
    assert_int_equal(mq_queue_count_domains(fx->queue, &seen, 1, &fx->err), MQ_OK);
    return seen.pause_s;
}

static void assert_kept(struct fixture *fx, const char *expected)
{
    fx_assert_text(fx, "SELECT value FROM config WHERE key = 'mailSlowDomains'", expected);
}

static void mails(struct fixture *fx, const char *recipients, int count)
{
    for (int i = 0; i < count; i++) {
        fx_mail(fx, recipients);
    }
}

static void settle_all(struct fixture *fx, const char *letters)
{
    for (size_t i = 0; i < fx->claim.count; i++) {
        fx_settle(fx, i, letters);
    }
}

/* Counts of several runs add up. */
static void test_counts(void **state)
{
    (void)state;
    struct fixture fx;
    fx_open(&fx);
    assert_int_equal(count(&fx, "@good.x", 100, 0), 0);
    assert_kept(&fx, NULL);
    assert_int_equal(count(&fx, "@slow.x", 5, 8), 0);
    assert_kept(&fx, "{\"@slow.x\":\"0 0 1800000000 5 8 450 4.7.1 \\\"later\\\"\"}");
    fx.now_s += 60;
    assert_int_equal(count(&fx, "@other.x", 0, 1), 0);
    assert_int_equal(count(&fx, "@slow.x", 7, 0), 0); /* 8 of 20, but none of these failed */
    assert_int_equal(count(&fx, "@slow.x", 0, 1), 10);
    assert_kept(&fx, "{\"@slow.x\":\"10 1800000060 1800000000 12 9 450 4.7.1 \\\"later\\\"\","
                     "\"@other.x\":\"0 0 1800000060 0 1 450 4.7.1 \\\"later\\\"\"}");
    fx.now_s += 3600;
    assert_int_equal(count(&fx, "@good.x", 1, 0), 0);
    assert_kept(&fx, NULL);
    fx_close(&fx);
}

/* One mail goes, the others are put back with times of their own; mail to other domains goes. */
static void test_limit(void **state)
{
    (void)state;
    static const char *const modes[] = {"strict", "average"};
    for (int m = 0; m < 2; m++) {
        struct fixture fx;
        fx_open(&fx);
        fx_set(&fx, "mailRateMode", modes[m]);
        count(&fx, "@slow.x", 0, 20);
        mails(&fx, "a@Slow.x b@slow.x", 3);
        mails(&fx, "a@other.x", 20);
        assert_int_equal(fx_claim(&fx), 21);
        assert_false(fx.claim.limited);
        assert_int_equal(fx.claim.end, MQ_CLAIM_EMPTY);
        assert_string_equal(fx.claim.slow, "@slow.x");
        assert_int_equal(fx_int(&fx, "SELECT count(*) FROM mail_queue WHERE waits_for = "
                                     "'mailSlowdown: 1 mail in 10s to @slow.x' AND attempts = 0"),
                         2);
        assert_int_equal(fx_int(&fx, "SELECT max(next_attempt_at) - min(next_attempt_at) FROM "
                                     "mail_queue WHERE waits_for IS NOT NULL"),
                         10);
        assert_int_equal(fx_stats(&fx).limit_count, 0);
        fx_settle(&fx, 0, "ll"); /* no recipient was handed over, but it was tried */
        fx.now_s += 5;
        fx_sql(&fx, "UPDATE mail_queue SET next_attempt_at = 0");
        assert_int_equal(fx_claim(&fx), 0);
        for (int i = 0; i < 2; i++) { /* what comes back untried leaves its room */
            fx.now_s = START + 12;
            fx_sql(&fx, "UPDATE mail_queue SET next_attempt_at = 0");
            assert_int_equal(fx_claim(&fx), 1);
            fx_kind(&fx, 0, MQ_OUTCOME_RELEASED, NULL);
        }
        fx_set(&fx, "mailSlowdown", "0");
        fx_sql(&fx, "UPDATE mail_queue SET next_attempt_at = 0");
        fx_claim(&fx);
        assert_null(fx.claim.slow);
        assert_int_equal(fx_int(&fx, "SELECT count(*) FROM mail_queue WHERE status <> 'sending'"),
                         0);
        count(&fx, "@slow.x", 0, 2);
        assert_kept(&fx, NULL);
        fx_close(&fx);
    }
}

/* However many mails wait, they come again within ten minutes, and not all at once. */
static void test_far(void **state)
{
    (void)state;
    struct fixture fx;
    fx_open(&fx);
    count(&fx, "@slow.x", 0, 20);
    mails(&fx, "a@slow.x", 500);
    fx_claim(&fx);
    settle_all(&fx, "a");
    assert_int_equal(fx_int(&fx, "SELECT count(*) FROM mail_queue WHERE waits_for IS NOT NULL"),
                     499);
    assert_in_range(fx_int(&fx, "SELECT max(next_attempt_at) FROM mail_queue"), START + 590,
                    START + 600);
    assert_in_range(fx_int(&fx, "SELECT max(n) FROM (SELECT count(*) AS n FROM mail_queue GROUP BY "
                                "next_attempt_at)"),
                    1, 12);
    /* Once it works again, all go within that time. */
    for (int i = 0; i < 200 && count(&fx, "@slow.x", 9, 0) > 0; i++) {
        fx.now_s += 10;
    }
    fx.now_s = START + 2000;
    assert_int_equal(fx_int(&fx, "SELECT count(*) FROM config WHERE key = 'mailSlowDomains'"), 0);
    for (int i = 0; i < 5; i++) {
        assert_int_equal(fx_claim(&fx), i < 4 ? 100 : 99);
    }
    fx_close(&fx);
}

/* No more than 20 domains are kept: those that are slowed down, and those that fail most. */
static void test_bounded(void **state)
{
    (void)state;
    struct fixture fx;
    char domain[32];
    fx_open(&fx);
    count(&fx, "@slow.x", 0, 30);
    for (int i = 0; i < 200; i++) {
        snprintf(domain, sizeof(domain), "@d%d.x", i);
        count(&fx, domain, 0, 1 + i % 7);
    }
    assert_int_equal(fx_int(&fx, "SELECT (length(value) - length(replace(value, '@', ''))) FROM "
                                 "config WHERE key = 'mailSlowDomains'"),
                     20);
    assert_int_equal(fx_int(&fx, "SELECT count(*) FROM config WHERE value LIKE '%\"@slow.x\"%' AND "
                                 "value LIKE '%\"@d6.x\"%' AND value NOT LIKE '%\"@d0.x\"%'"),
                     1);
    fx_close(&fx);
}

/* Entries that cannot be read do not count; a value that is not an object stops claims. */
static void test_unreadable(void **state)
{
    (void)state;
    struct fixture fx;
    fx_open(&fx);
    mails(&fx, "a@slow.x", 2);
    fx_set_raw(&fx, "mailSlowDomains",
               "{\"@slow.x\":\"soon\",\"slow.x\":\"10 1800000000 1 1 1 x\","
               "\"@slow.x\":\"99999999 1800000000 1 1 1 x\",\"@slow.x\":\"-1 1 1 1 1 x\"}");
    assert_int_equal(fx_claim(&fx), 2);
    fx_set_raw(&fx, "mailSlowDomains", "[1]");
    struct mq_cycle cycle = {.request = &fx.request, .claim = &fx.claim};
    assert_int_equal(mq_queue_cycle(fx.queue, &cycle, &fx.err), MQ_OK);
    assert_int_equal(fx.claim.status, MQ_CONFIG);
    assert_non_null(strstr(fx.claim.error.text, "config --unset mailSlowDomains"));
    assert_int_equal(count(&fx, "@slow.x", 0, 20), 0);
    assert_int_equal(mq_queue_set_config(fx.queue, "mailSlowdown", "101", &fx.err), MQ_INVALID);
    assert_string_equal(fx.err.text, "mailSlowdown cannot be \"101\"; allowed values: 0 … 100");
    fx_close(&fx);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_counts),     cmocka_unit_test(test_limit),
        cmocka_unit_test(test_far),        cmocka_unit_test(test_bounded),
        cmocka_unit_test(test_unreadable),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
