/* Moving a queue: two calls at once, and mail that comes to either side in between. */
#include "copy_fixture.h"

static int once; /* at which call of progress() */

static void move_again(struct pair *pair)
{
    struct mq_copy_options options = pair->options;
    struct mq_copy_report report;
    if (pair->told != once) {
        return;
    }
    options.progress = NULL;
    mq_copy_report_init(&report);
    assert_int_equal(
        mq_queue_move(pair->from.queue, pair->to.queue, &options, &report, &pair->from.err), MQ_OK);
    mq_copy_report_clear(&report);
    assert_int_equal(fx_claim(&pair->to), 139);
    for (int i = 0; i < 139; i++) {
        fx_settle(&pair->to, i, "aa");
    }
}

/* The first one writes nothing any more: what the target has sent does not come back. */
static void test_two_at_once(void **state)
{
    (void)state;
    for (once = 1; once <= 6; once++) {
        struct pair pair;
        pair_open(&pair);
        pair_fill(&pair.from);
        fx_sql(&pair.from, "UPDATE mail_queue SET status = 'parked' WHERE id % 5 > 0");
        fx_set(&pair.from, "mailMaxPerHour", "0");
        pair.to.request.limit = 1000;
        pair.at = move_again;
        pair_refused(&pair, MQ_INVALID, "another migrate-store has taken over");
        assert_int_equal(fx_int(&pair.to, "SELECT count(*) FROM mail_queue"), 560);
        assert_int_equal(fx_claim(&pair.to), 0);
        assert_int_equal(fx_claim(&pair.from), 0);
        pair_close(&pair);
    }
}

static void give_up(struct pair *pair)
{
    if (pair->told == once) {
        assert_int_equal(
            mq_queue_move_abort(pair->from.queue, pair->to.queue, "two", &pair->from.err), MQ_OK);
    }
}

static void test_given_up_meanwhile(void **state)
{
    (void)state;
    for (once = 1; once <= 6; once++) {
        struct pair pair;
        pair_open(&pair);
        pair_fill(&pair.from);
        pair.at = give_up;
        pair_refused(&pair, MQ_INVALID, "or it was given up");
        assert_int_equal(fx_int(&pair.to, "SELECT count(*) FROM mail_queue"), 0);
        assert_true(fx_stats(&pair.from).enabled);
        assert_true(fx_stats(&pair.to).enabled);
        pair.at = NULL;
        pair_move_ok(&pair);
        pair_same(&pair);
        pair_close(&pair);
    }
}

static void own_mail(struct fixture *fx, int id)
{
    char sql[120];
    int64_t now = fx_enqueue(fx, &(struct mail){.type = "own", .recipients = "a@example.org"});
    snprintf(sql, sizeof(sql), "UPDATE mail_queue SET id = %d WHERE id = %lld", id, (long long)now);
    fx_sql(fx, sql);
}

static void foreign_mail(struct pair *pair)
{
    if (pair->told == 1) {
        own_mail(&pair->to, 690);
    }
}

/* Mail of the target's own is never deleted. */
static void test_foreign(void **state)
{
    (void)state;
    struct pair pair;
    pair_open(&pair);
    pair_fill(&pair.from);
    pair.at = foreign_mail;
    pair_refused(&pair, MQ_INVALID, "the target has mail 690, which this move did not write");
    fx_assert_text(&pair.to, "SELECT mail_type FROM mail_queue WHERE id = 690", "own");
    assert_int_equal(mq_queue_move_abort(pair.from.queue, pair.to.queue, "two", &pair.from.err),
                     MQ_OK);
    fx_assert_text(&pair.to, "SELECT group_concat(id) FROM mail_queue", "690");
    pair_close(&pair);
}

/* Stored between the look at the target and the note in it. */
static void test_foreign_at_once(void **state)
{
    (void)state;
    struct pair pair;
    pair_open(&pair);
    fx_mail(&pair.from, "a@example.org");
    assert_int_equal(fx_claim(&pair.from), 1);
    pair.stop = 1; /* waiting for that one: nothing was copied yet */
    assert_int_equal(pair_move(&pair), MQ_IO);
    pair.stop = 0;
    fx_kind(&pair.from, 0, MQ_SETTLE_RELEASE, NULL);
    own_mail(&pair.to, 1);
    pair_refused(&pair, MQ_INVALID, "the target has mail of its own already (1 mails");
    fx_assert_text(&pair.to, "SELECT mail_type FROM mail_queue", "own");
    assert_true(fx_stats(&pair.from).enabled);
    assert_true(fx_stats(&pair.to).enabled);
    pair_close(&pair);
}

static void queue_again(struct pair *pair)
{
    if (pair->told == once) {
        fx_enqueue(&pair->from, &(struct mail){.reference = "r7", .recipients = "a@example.org"});
    }
}

/* A parked mail that was copied is queued again in the source, under a new id. */
static void test_queued_again(void **state)
{
    (void)state;
    for (once = 1; once <= 6; once++) {
        struct pair pair;
        pair_open(&pair);
        pair_fill(&pair.from);
        fx_sql(&pair.from, "UPDATE mail_queue SET status = 'parked' WHERE id = 8");
        pair.at = queue_again;
        pair_move_ok(&pair);
        pair_same(&pair);
        assert_true(fx_int(&pair.to, "SELECT id FROM mail_queue WHERE reference = 'r7'") > 700);
        pair_close(&pair);
    }
}

/* The same after the end: the target's copy gives way if it is still parked. */
static void test_queued_late(void **state)
{
    (void)state;
    struct pair pair;
    pair_open(&pair);
    fx_enqueue(&pair.from, &(struct mail){.reference = "r", .recipients = "a@example.org"});
    fx_sql(&pair.from, "UPDATE mail_queue SET status = 'parked'");
    pair_move_ok(&pair);
    fx_enqueue(&pair.from, &(struct mail){.reference = "r", .recipients = "b@example.org"});
    pair_move_ok(&pair);
    fx_assert_text(&pair.to, "SELECT group_concat(id || status) FROM mail_queue", "3pending");
    pair_close(&pair);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_two_at_once),  cmocka_unit_test(test_given_up_meanwhile),
        cmocka_unit_test(test_foreign),      cmocka_unit_test(test_foreign_at_once),
        cmocka_unit_test(test_queued_again), cmocka_unit_test(test_queued_late),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
