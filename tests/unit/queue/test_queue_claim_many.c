/* A claim that updates its rows with one statement, as on servers. */
#include "queue/handle.h"
#include "queue_fixture.h"

static void test_many_written_together(void **state)
{
    (void)state;
    struct fixture fx;
    const char *overrides[MQ_SQL_COUNT];
    fx_open(&fx);
    struct mq_sql_dialect dialect = *fx.queue->dialect;
    memcpy(overrides, dialect.overrides, sizeof(overrides));
    overrides[MQ_SQL_CLAIM_TAKE_MANY] =
        "UPDATE {t} SET status = ?1, attempts = attempts + 1, locked_until = ?2, locked_by = ?3, "
        "paid_to = ?5 WHERE id IN (SELECT value ->> 0 FROM json_each(?4))";
    dialect.overrides = overrides;
    fx.queue->dialect = &dialect;
    fx_enqueue(&fx, &(struct mail){.recipients = "a@example.org", .send_at = START + 10});
    assert_int_equal(fx_claim(&fx), 0); /* a priority that has jobs, but none that is due */
    fx_mail(&fx, "b@example.org");
    fx_mail(&fx, "c@example.org");
    assert_int_equal(fx_claim(&fx), 2);
    assert_int_equal(fx_int(&fx, "SELECT count(*) FROM mail_queue WHERE status = 'sending'"), 2);
    assert_false(fx_settle(&fx, 0, "a"));
    fx_close(&fx);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_many_written_together)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
