/* Limits by the domain of recipients: which recipients of a mail go, and what counts for whom. */
/* link: -Wl,--wrap=mq_ledger_frees */
#include "queue/windows/internal.h"
#include "windows_fixture.h"

static int asked; /* how often a ledger was asked when it has room */

__typeof__(mq_ledger_frees) __real_mq_ledger_frees, __wrap_mq_ledger_frees;

enum mq_status __wrap_mq_ledger_frees(struct mq_tx *tx, const struct mq_window *w, int64_t excess,
                                      int64_t *at_s, struct mq_error *err)
{
    asked++;
    return __real_mq_ledger_frees(tx, w, excess, at_s, err);
}

static void mails(struct fixture *fx, const char *recipients, int count)
{
    for (int i = 0; i < count; i++) {
        fx_mail(fx, recipients);
    }
}

static int64_t waiting_for(struct fixture *fx, const char *limit)
{
    char sql[160];
    snprintf(sql, sizeof(sql),
             "SELECT count(*) FROM mail_queue WHERE attempts = 0 AND waits_for = '%s'", limit);
    return fx_int(fx, sql);
}

/* Mail to a full domain is put back, each with a time of its own; other mail goes. */
static void test_full(void **state)
{
    (void)state;
    static const char *const modes[] = {"strict", "average"};
    for (int m = 0; m < 2; m++) {
        struct fixture fx;
        begin(&fx, "2/1h to @full.x", modes[m]);
        mails(&fx, "a@full.x", 2);
        mails(&fx, "b@FULL.x", 3);
        mails(&fx, "a@sub.full.x", 1);
        mails(&fx, "a@other.x", 1);
        assert_int_equal(fx_claim(&fx), 4);
        assert_string_equal(fx.claim.jobs[3].recipients.items[0], "a@other.x");
        assert_int_equal(fx.claim.end, MQ_CLAIM_EMPTY);
        assert_int_equal(waiting_for(&fx, "2/1h to @full.x"), 3);
        assert_int_equal(fx_int(&fx, "SELECT max(next_attempt_at) - min(next_attempt_at) FROM "
                                     "mail_queue WHERE waits_for IS NOT NULL"),
                         2 * 1800);
        assert_int_equal(fx_stats(&fx).limits[0].left, -1);
        fx_settle(&fx, 0, "a");
        fx_settle(&fx, 1, "l"); /* gives its token back */
        fx_settle(&fx, 2, "a");
        fx_settle(&fx, 3, "a");
        fx_sql(&fx, "UPDATE mail_queue SET next_attempt_at = 0");
        assert_int_equal(fx_claim(&fx), 1);
        fx_close(&fx);
    }
}

/* A mail counts in each domain with the recipients that it has there, and goes to those before the
 * first one that has no room. */
static void test_several(void **state)
{
    (void)state;
    static const char *const modes[] = {"strict", "average"};
    for (int m = 0; m < 2; m++) {
        struct fixture fx;
        begin(&fx, "2/1h per recipient domain", modes[m]);
        fx_set(&fx, "mailBurst", "2");
        mails(&fx, "a@x.x b@y.y b@x.x c@x.x c@y.y", 1);
        mails(&fx, "a@z.z a@x.x", 1);
        mails(&fx, "d@x.x a@z.z", 1);
        assert_int_equal(fx_claim(&fx), 2);
        assert_int_equal(fx.claim.jobs[0].targets.count, 3);
        assert_int_equal(fx.claim.jobs[1].targets.count, 1);
        assert_int_equal(waiting_for(&fx, "2/1h per recipient domain"), 1);
        fx_settle(&fx, 0, "al...");
        fx_settle(&fx, 1, "a.");
        /* x.x took one of two, y.y none of one, z.z one of one. */
        fx_sql(&fx, "UPDATE mail_queue SET next_attempt_at = 2000000000");
        mails(&fx, "a@y.y b@y.y c@y.y", 1);
        mails(&fx, "a@x.x b@x.x", 1);
        mails(&fx, "b@z.z c@z.z", 1);
        assert_int_equal(fx_claim(&fx), 3);
        assert_int_equal(fx.claim.jobs[0].targets.count, 2);
        assert_int_equal(fx.claim.jobs[1].targets.count, 1);
        assert_int_equal(fx.claim.jobs[2].targets.count, 1);
        fx_close(&fx);
    }
}

/* A limit of mails counts one mail in each domain, however many recipients it has there. */
static void test_mails(void **state)
{
    (void)state;
    struct fixture fx;
    begin(&fx, "1/1h mails per recipient domain", "strict");
    mails(&fx, "a@x.x b@x.x c@y.y", 1);
    mails(&fx, "d@y.y", 1);
    assert_int_equal(fx_claim(&fx), 1);
    assert_int_equal(fx.claim.jobs[0].targets.count, 3);
    fx_settle(&fx, 0, "aal");
    assert_int_equal(fx_int(&fx, "SELECT sum(n) FROM mail_window WHERE scope LIKE '%to @x.x'"), 1);
    fx_sql(&fx, "UPDATE mail_queue SET next_attempt_at = 0 WHERE id = 2");
    assert_int_equal(fx_claim(&fx), 1); /* y.y took none */
    assert_int_equal(fx.claim.jobs[0].id, 2);
    fx_close(&fx);
}

/* What a dead worker had under way counts: from its claim, and from its recovery for a window. */
static void test_dead_worker(void **state)
{
    (void)state;
    struct fixture fx;
    begin(&fx, "2/1h per recipient domain", "strict");
    mails(&fx, "a@x.x a@y.y b@x.x c@x.x", 1);
    assert_int_equal(fx_claim(&fx), 1);
    assert_int_equal(fx.claim.jobs[0].targets.count, 3);
    mails(&fx, "d@x.x", 1);
    mails(&fx, "b@y.y", 1);
    fx.request.token = TOKEN_B;
    fx.now_s += 100;
    assert_int_equal(fx_claim(&fx), 1);
    assert_string_equal(fx.claim.jobs[0].recipients.items[0], "b@y.y");
    fx_settle(&fx, 0, "a");
    fx.now_s += 1000;
    assert_int_equal(fx_claim(&fx), 0);
    assert_int_equal(fx_int(&fx, "SELECT sum(n) FROM mail_window WHERE scope LIKE '%to @x.x' AND "
                                 "scope LIKE '3600 %'"),
                     2);
    assert_int_equal(fx_int(&fx, "SELECT sum(n) FROM mail_window WHERE scope LIKE '%to @y.y' AND "
                                 "scope LIKE '3600 %'"),
                     2);
    fx_close(&fx);
}

/* A mail whose recipients are not known before it is composed pays for them then. */
static void test_composed(void **state)
{
    (void)state;
    static const char *const modes[] = {"strict", "average"};
    for (int m = 0; m < 2; m++) {
        struct fixture fx;
        begin(&fx, "2/1h per recipient domain", modes[m]);
        pay_when_composed(&fx);
        fx_close(&fx);
    }
}

/* Beside another limit the lower one decides; a limit for all mail stops the claim. */
static void test_beside(void **state)
{
    (void)state;
    struct fixture fx;
    begin(&fx, "3/1h, 5/1h to @x.x, 1/1h per sender", "strict");
    mails(&fx, "a@x.x b@x.x", 1);
    assert_int_equal(fx_claim(&fx), 1);
    assert_int_equal(fx.claim.jobs[0].targets.count, 1);
    fx_set(&fx, "mailLimits", "1/1h, 5/1h to @x.x");
    mails(&fx, "a@x.x", 1);
    assert_int_equal(fx_claim(&fx), 0);
    assert_int_equal(fx.claim.end, MQ_CLAIM_TOKENS);
    assert_string_equal(fx.claim.reason, "1/1h");
    fx_close(&fx);
}

/* A mail that goes whole waits until all its domains have room for all its recipients. Each ledger
 * is asked once a mail, not once a recipient. */
static void test_whole(void **state)
{
    (void)state;
    struct fixture fx;
    begin(&fx, "9/1h per recipient domain", "strict");
    for (int i = 0; i < 2; i++) {
        mails(&fx, i == 0 ? "a@x.x" : "a@y.y", 8);
        assert_int_equal(fx_claim(&fx), 8);
        settle_all(&fx);
        fx.now_s += 1000;
    }
    fx.request.whole = true;
    mails(&fx, "b@y.y c@y.y d@y.y e@y.y b@x.x c@x.x d@x.x b@z.z", 2);
    asked = 0;
    assert_int_equal(fx_claim(&fx), 0);
    assert_int_equal(asked, 2); /* both mails need as much room in a domain */
    assert_int_equal(waiting_for(&fx, "9/1h per recipient domain"), 2);
    /* y.y has room last, and so the mails are in its line. */
    assert_int_equal(fx_int(&fx, "SELECT min(next_attempt_at) FROM mail_queue") - START,
                     1000 + 3600 + 2);
    assert_int_equal(fx_int(&fx, "SELECT count(*) FROM mail_window WHERE scope LIKE 'line %'"), 1);
    assert_int_equal(fx_int(&fx, "SELECT count(*) FROM mail_window WHERE scope LIKE 'line % @y.y'"),
                     1);
    fx_close(&fx);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_full),     cmocka_unit_test(test_several),
        cmocka_unit_test(test_mails),    cmocka_unit_test(test_dead_worker),
        cmocka_unit_test(test_composed), cmocka_unit_test(test_beside),
        cmocka_unit_test(test_whole),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
