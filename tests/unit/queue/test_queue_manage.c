/* Changes that people make to jobs, the figures, and the sweep. */
#include "queue_fixture.h"

static void assert_state(struct fixture *fx, int64_t id, const char *status)
{
    char sql[96];
    snprintf(sql, sizeof(sql), "SELECT status FROM mail_queue WHERE id = %lld", (long long)id);
    fx_assert_text(fx, sql, status);
}

/* Six jobs: 1 pending, 2 sending, 3 failed, 4 parked (refused), 5 parked (hold), 6 held. */
static void six(struct fixture *fx)
{
    int64_t changed;
    int64_t five = 5;
    fx_open(fx);
    for (int i = 0; i < 6; i++) {
        fx_mail(fx, "a@example.org");
    }
    fx_claim(fx);
    for (size_t i = 0; i < 6; i++) {
        if (i == 2 || i == 3) {
            fx_settle(fx, i, i == 2 ? "l" : "r");
        } else if (i != 1) {
            fx_kind(fx, i, MQ_OUTCOME_RELEASED, NULL);
        }
    }
    assert_int_equal(mq_queue_hold(fx->queue, &(struct mq_ids){&five, 1}, &changed, &fx->err),
                     MQ_OK);
    assert_int_equal(changed, 1);
    fx_sql(fx, "UPDATE mail_queue SET status = 'held' WHERE id = 6");
}

static void test_retry(void **state)
{
    (void)state;
    struct fixture fx;
    int64_t all[] = {1, 2, 3, 4, 5, 6, 99};
    int64_t changed = -1;
    six(&fx);
    fx_assert_text(&fx, "SELECT parked_for FROM mail_queue WHERE id = 5", "hold");
    assert_int_equal(mq_queue_retry(fx.queue, NULL, true, &changed, &fx.err), MQ_OK);
    assert_int_equal(changed, 2); /* waiting and refused jobs, but not held ones */
    assert_state(&fx, 3, "pending");
    assert_state(&fx, 4, "pending");
    assert_state(&fx, 5, "parked");
    fx.now_s += 5;
    assert_int_equal(mq_queue_retry(fx.queue, &(struct mq_ids){all, 7}, true, &changed, &fx.err),
                     MQ_OK);
    assert_int_equal(changed, 1);
    assert_state(&fx, 2, "sending");
    assert_state(&fx, 3, "pending");
    assert_state(&fx, 5, "pending");
    assert_state(&fx, 6, "held");
    assert_int_equal(fx_int(&fx, "SELECT attempts FROM mail_queue WHERE id = 3"), 0);
    assert_int_equal(fx_int(&fx, "SELECT next_attempt_at FROM mail_queue WHERE id = 3"), START);
    fx_close(&fx);
}

/* Parked at the tenth failure; a retry gives it one more attempt, then it is parked again. */
static void test_retry_once(void **state)
{
    (void)state;
    struct fixture fx;
    int64_t changed = -1;
    fx_open(&fx);
    fx_mail(&fx, "a@example.org");
    for (int i = 0; i < 10; i++) {
        assert_int_equal(fx_claim(&fx), 1);
        fx_settle(&fx, 0, "l");
        fx.now_s += 3600;
    }
    assert_int_equal(fx_claim(&fx), 0);
    assert_state(&fx, 1, "parked");
    assert_int_equal(mq_queue_retry(fx.queue, NULL, false, &changed, &fx.err), MQ_OK);
    assert_int_equal(changed, 1);
    assert_int_equal(fx_claim(&fx), 1);
    assert_int_equal(fx.claim.jobs[0].attempts, 10);
    fx_settle(&fx, 0, "l");
    assert_state(&fx, 1, "parked");
    assert_int_equal(mq_queue_retry(fx.queue, NULL, true, &changed, &fx.err), MQ_OK);
    assert_int_equal(fx_claim(&fx), 1);
    fx_settle(&fx, 0, "l");
    assert_state(&fx, 1, "failed");
    fx_close(&fx);
}

static void test_retry_many(void **state)
{
    (void)state;
    struct fixture fx;
    int64_t changed = -1;
    fx_open(&fx);
    fx_sql(&fx, "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 1300) "
                "INSERT INTO mail_queue (mail_type, status, parked_for, next_attempt_at, "
                "created_at, message_id) SELECT 'mail', 'parked', CASE i % 2 WHEN 0 THEN 'hold' "
                "ELSE 'exhausted' END, 0, 0, '<x>' FROM n");
    assert_int_equal(mq_queue_retry(fx.queue, NULL, true, &changed, &fx.err), MQ_OK);
    assert_int_equal(changed, 650);
    fx_close(&fx);
}

static void test_delete(void **state)
{
    (void)state;
    struct fixture fx;
    int64_t all[] = {1, 2, 3, 4, 5, 6, 99};
    int64_t changed = -1;
    six(&fx);
    assert_int_equal(mq_queue_delete(fx.queue, &(struct mq_ids){all, 7}, &changed, &fx.err), MQ_OK);
    assert_int_equal(changed, 5);
    assert_state(&fx, 2, "sending");
    assert_int_equal(fx_int(&fx, "SELECT count(*) FROM mail_body"), 1);
    fx_close(&fx);
}

static void test_hold(void **state)
{
    (void)state;
    struct fixture fx;
    int64_t all[] = {1, 2, 3, 4, 5, 6};
    int64_t changed = -1;
    six(&fx);
    assert_int_equal(mq_queue_hold(fx.queue, &(struct mq_ids){all, 6}, &changed, &fx.err), MQ_OK);
    assert_int_equal(changed, 2);
    assert_state(&fx, 1, "parked");
    assert_state(&fx, 3, "parked");
    fx_assert_text(&fx, "SELECT parked_for FROM mail_queue WHERE id = 4", "refused");
    fx_close(&fx);
}

static void test_lists(void **state)
{
    (void)state;
    static const int64_t of_state[MQ_STATE_COUNT] = {1, 2, 3, 4, 6};
    struct fixture fx;
    struct mq_job_list list = {0};
    struct mq_job_filter filter = {.state = -1, .limit = 4, .after = 0};
    six(&fx);
    assert_int_equal(mq_queue_jobs(fx.queue, &filter, &list, &fx.err), MQ_OK);
    assert_int_equal(list.count, 4);
    assert_null(list.jobs[0].body);
    filter.after = list.jobs[3].id;
    mq_job_list_clear(&list);
    assert_int_equal(mq_queue_jobs(fx.queue, &filter, &list, &fx.err), MQ_OK);
    assert_int_equal(list.count, 2);
    assert_int_equal(list.jobs[0].id, 5);
    mq_job_list_clear(&list);
    filter.after = 0;
    for (int i = 0; i < MQ_STATE_COUNT; i++) {
        filter.state = i;
        assert_int_equal(mq_queue_jobs(fx.queue, &filter, &list, &fx.err), MQ_OK);
        assert_int_equal(list.count, i == MQ_PARKED ? 2 : 1);
        assert_int_equal(list.jobs[0].id, of_state[i]);
        assert_int_equal(list.jobs[0].state, i);
        mq_job_list_clear(&list);
    }
    fx_close(&fx);
}

static void test_stats(void **state)
{
    (void)state;
    struct fixture fx;
    six(&fx);
    fx.now_s += 10;
    struct mq_stats stats = fx_stats(&fx);
    assert_int_equal(stats.counts[MQ_PENDING], 1);
    assert_int_equal(stats.counts[MQ_SENDING], 1);
    assert_int_equal(stats.counts[MQ_FAILED], 1);
    assert_int_equal(stats.counts[MQ_PARKED], 2);
    assert_int_equal(stats.counts[MQ_HELD], 1);
    assert_int_equal(stats.due, 1);
    assert_int_equal(stats.oldest_waiting_s, START);
    assert_int_equal(stats.next_due_s, START);
    assert_int_equal(stats.limit, 0);
    assert_int_equal(stats.empty_in_s, -1);
    assert_true(stats.enabled);
    assert_int_equal(stats.last_run_s, 0);
    assert_int_equal(mq_queue_note_run(fx.queue, &fx.err), MQ_OK);
    fx_set(&fx, "mailMaxPerHour", "60");
    fx_set(&fx, "mailTokens", "0.5");
    fx_set(&fx, "mailLastRefill", "1800000010");
    stats = fx_stats(&fx);
    assert_int_equal(stats.last_run_s, START + 10);
    assert_int_equal(stats.burst, 5);
    assert_true(stats.tokens == 0.5);
    assert_int_equal(stats.empty_in_s, 150); /* three jobs, half a token: 2.5 minutes */
    fx_close(&fx);
}

static void sweep_all(struct fixture *fx)
{
    struct mq_sweep sweep = {0};
    mq_events_truncate(&fx->events, 0);
    for (int i = 0; !sweep.done; i++) {
        assert_true(i < 20);
        assert_int_equal(mq_queue_sweep(fx->queue, &sweep, &fx->events, &fx->err), MQ_OK);
    }
}

static void test_sweep(void **state)
{
    (void)state;
    struct fixture fx;
    fx_open(&fx);
    for (int i = 0; i < 1500; i++) {
        fx_enqueue(&fx, &(struct mail){.expires_at = START + 5 + i % 2, .send_at = START + 1});
    }
    fx_mail(&fx, "a@example.org");
    sweep_all(&fx);
    assert_int_equal(fx.events.count, 0);
    fx.now_s = START + 5;
    sweep_all(&fx);
    assert_int_equal(fx.events.count, 750);
    fx.now_s++;
    sweep_all(&fx);
    assert_int_equal(fx.events.count, 750);
    assert_int_equal(fx.events.items[0].type, MQ_EVENT_EXPIRED);
    assert_int_equal(fx_int(&fx, "SELECT count(*) FROM mail_queue"), 1);
    fx_close(&fx);
}

static void test_sweep_orphans(void **state)
{
    (void)state;
    struct fixture fx;
    fx_init(&fx);
    fx.options.orphan_table = "registrations";
    fx.options.orphan_column = "number";
    fx.options.table = "outbox";
    fx.options.reference_column = "registration";
    fx_open_with(&fx, "CREATE TABLE registrations (number TEXT PRIMARY KEY);"
                      "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 2 FROM n WHERE "
                      "i < 2500) INSERT INTO registrations SELECT 'r' || i FROM n");
    for (int i = 0; i < 2500; i++) {
        char reference[16];
        snprintf(reference, sizeof(reference), "r%d", i);
        fx_enqueue(&fx, &(struct mail){.reference = reference,
                                       .send_at = START + 100,
                                       .expires_at = i == 7 ? START + 200 : 0,
                                       .body = "x"});
    }
    fx_mail(&fx, "a@example.org");
    fx_sql(&fx, "UPDATE outbox SET status = 'parked' WHERE id = 1");
    fx.now_s = START + 200;
    sweep_all(&fx);
    assert_int_equal(fx.events.count, 1250); /* r0 is parked; r7 is expired */
    assert_int_equal(fx_int(&fx, "SELECT count(*) FROM outbox"), 2501 - 1250);
    assert_int_equal(fx_int(&fx, "SELECT count(*) FROM outbox_body"), 2501 - 1250);
    fx_close(&fx);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_retry),         cmocka_unit_test(test_retry_once),
        cmocka_unit_test(test_retry_many),    cmocka_unit_test(test_delete),
        cmocka_unit_test(test_hold),          cmocka_unit_test(test_lists),
        cmocka_unit_test(test_stats),         cmocka_unit_test(test_sweep),
        cmocka_unit_test(test_sweep_orphans),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
