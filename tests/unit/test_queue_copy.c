/* Moving a queue: what is copied, what stands still, going on after an interruption. */
#include "copy_fixture.h"

static void test_all_is_there(void **state)
{
    (void)state;
    struct pair pair;
    pair_open(&pair);
    pair_fill(&pair.from);
    fx_set(&pair.to, "mailMaxPerHour", "70");
    fx_set(&pair.to, "mailBurst", "3");
    pair_move_ok(&pair);
    pair_same(&pair);
    assert_int_equal(pair.report.mails, 699);
    assert_int_equal(pair.report.copied, 699);
    assert_int_equal(pair.report.counts[MQ_HELD], 70);
    assert_int_equal(pair.report.counts[MQ_SENDING], 0);
    assert_int_equal(fx_int(&pair.to, "SELECT count(*) FROM config WHERE key = 'siteName'"), 0);
    fx_assert_text(&pair.to, "SELECT value FROM config WHERE key = 'mailTokens'", "2.5");
    fx_assert_text(&pair.to, "SELECT value FROM config WHERE key = 'mailMaxPerHour'", "60");
    assert_int_equal(pair.report.changed.count, 1);
    assert_string_equal(pair.report.changed.items[0], "mailMaxPerHour");
    assert_int_equal(pair.report.kept.count, 1);
    assert_string_equal(pair.report.kept.items[0], "mailBurst");
    pair_close(&pair);
}

/* Only the target sends, and its new ids are far away. */
static void test_one_sends(void **state)
{
    (void)state;
    struct pair pair;
    pair_open(&pair);
    fx_mail(&pair.from, "a@example.org");
    pair_move_ok(&pair);
    assert_int_equal(fx_claim(&pair.from), 0);
    assert_int_equal(pair.from.claim.end, MQ_CLAIM_DISABLED);
    assert_false(fx_stats(&pair.from).enabled);
    fx_set(&pair.from, "mailQueueEnabled", "1"); /* an admin page's switch is not enough */
    assert_int_equal(fx_claim(&pair.from), 0);
    assert_int_equal(fx_claim(&pair.to), 1);
    assert_int_equal(pair.to.claim.jobs[0].id, 1);
    assert_true(fx_mail(&pair.to, "b@example.org") >= 1000000);
    pair_close(&pair);
}

static void claim_both(struct pair *pair)
{
    assert_int_equal(fx_claim(&pair->from), 0);
    assert_int_equal(pair->from.claim.end, MQ_CLAIM_DISABLED);
    assert_int_equal(fx_claim(&pair->to), 0);
    assert_int_equal(pair->to.claim.end, MQ_CLAIM_DISABLED);
}

static void test_none_sends_meanwhile(void **state)
{
    (void)state;
    struct pair pair;
    pair_open(&pair);
    pair_fill(&pair.from);
    pair.at = claim_both;
    pair_move_ok(&pair);
    assert_true(pair.told >= 4);
    pair_same(&pair);
    pair_close(&pair);
}

/* Stopped at every place, the same call goes on; no row is written twice. */
static void test_goes_on(void **state)
{
    (void)state;
    struct pair pair;
    int64_t copied = 0;
    pair_open(&pair);
    pair_fill(&pair.from);
    for (pair.stop = 1; pair_move(&pair) != MQ_OK; pair.stop++) {
        assert_int_equal(pair.from.err.status, MQ_IO);
        copied += pair.report.copied;
        int told = pair.told;
        claim_both(&pair);
        pair.told = told;
        assert_true(pair.stop < 50);
    }
    assert_true(pair.stop > 3);
    assert_int_equal(copied + pair.report.copied, 699);
    pair_same(&pair);
    pair_close(&pair);
}

static void come_and_go(struct pair *pair)
{
    static int n;
    if (pair->told > 3) {
        return;
    }
    fx_mail(&pair->from, "new@example.org");
    fx_sql(&pair->from, n++ % 2 ? "DELETE FROM mail_queue WHERE id = 20; "
                                  "DELETE FROM mail_body WHERE id = 20"
                                : "UPDATE mail_queue SET status = 'parked', parked_for = 'hold' "
                                  "WHERE id = 21");
}

static void test_changes_meanwhile(void **state)
{
    (void)state;
    struct pair pair;
    pair_open(&pair);
    pair_fill(&pair.from);
    pair.at = come_and_go;
    pair_move_ok(&pair);
    pair_same(&pair);
    assert_int_equal(pair.report.mails, fx_int(&pair.from, "SELECT count(*) FROM mail_queue"));
    assert_true(pair.report.mails > 699);
    pair_close(&pair);
}

static void settle_it(struct pair *pair)
{
    if (pair->from.claim.count) {
        fx_settle(&pair->from, 0, "l");
        mq_claim_clear(&pair->from.claim);
    }
}

static void let_time_pass(struct pair *pair)
{
    pair->from.now_s += 10;
}

/* A row in flight is waited for; one whose worker is gone is recovered by the source's rules. */
static void test_in_flight(void **state)
{
    (void)state;
    struct pair pair;
    pair_open(&pair);
    fx_mail(&pair.from, "a@example.org");
    assert_int_equal(fx_claim(&pair.from), 1);
    pair.at = let_time_pass;
    pair_refused(&pair, MQ_BUSY, "still being sent after 60 s");
    assert_int_equal(fx_int(&pair.to, "SELECT count(*) FROM mail_queue"), 0);
    pair.at = settle_it;
    pair_move_ok(&pair);
    pair_same(&pair);
    fx_assert_text(&pair.to, "SELECT status FROM mail_queue", "failed");
    pair_close(&pair);

    pair_open(&pair);
    fx_mail(&pair.from, "a@example.org");
    assert_int_equal(fx_claim(&pair.from), 1);
    pair.options.timeout_s = 2000;
    pair.at = let_time_pass;
    pair_move_ok(&pair);
    assert_int_equal(fx_int(&pair.to, "SELECT uncertain FROM mail_queue"), 1);
    pair_same(&pair);
    pair_close(&pair);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_all_is_there),         cmocka_unit_test(test_one_sends),
        cmocka_unit_test(test_none_sends_meanwhile), cmocka_unit_test(test_goes_on),
        cmocka_unit_test(test_changes_meanwhile),    cmocka_unit_test(test_in_flight),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
