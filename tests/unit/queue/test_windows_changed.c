/* Mail that waits for a limit when the limits change. */
#include "queue/windows/payments.h"
#include "windows_fixture.h"

/* Sends until nothing more can go, and returns how many that were. */
static size_t send_all(struct fixture *fx)
{
    size_t sum = 0;
    do {
        sum += fx_claim(fx);
        settle_all(fx);
    } while (fx->claim.end == MQ_CLAIM_MORE || fx->claim.end == MQ_CLAIM_LIMIT);
    return sum;
}

/* Mail that waits for the old limits is tried by the new ones, however they were changed. */
static void test_changed(void **state)
{
    (void)state;
    struct fixture fx;
    begin(&fx, "2/1h per sender", "strict");
    from(&fx, "full@a.x", 2500);
    assert_int_equal(send_all(&fx), 2);
    fx_set_raw(&fx, "mailLimits", "1000/1h per sender, 9/1d per sender b@a.x");
    assert_int_equal(send_all(&fx), 998);
    /* The line begins at once, and has no gaps. */
    assert_in_range(fx_int(&fx, "SELECT min(next_attempt_at) FROM mail_queue"), START + 3601,
                    START + 3604);
    assert_in_range(fx_int(&fx, "SELECT max(next_attempt_at) FROM mail_queue"),
                    START + 3600 + 1500 * 36 / 10, START + 3620 + 1500 * 36 / 10);
    fx_set_raw(&fx, "mailLimits", "");
    assert_int_equal(send_all(&fx), 1500);
    assert_int_equal(fx_int(&fx, "SELECT count(*) FROM config WHERE key = 'mailHoursKept'"), 0);
    fx_close(&fx);
}

static void one_relay(void *context, const struct mq_job *job, struct mq_relay_list *out)
{
    (void)job;
    *out = (struct mq_relay_list){.names = {context}, .count = 1};
}

/* Also what is put back only when it is to pay at its relay. */
static void test_changed_after_a_payment(void **state)
{
    (void)state;
    struct fixture fx;
    char relay[] = "smtp://one.example:25";
    begin(&fx, "2/1h per relay", "strict");
    from(&fx, "f@a.x", 2);
    fx.request.relays_of = one_relay;
    fx.request.relays_context = relay;
    assert_int_equal(fx_claim(&fx), 2);
    for (int i = 0; i < 2; i++) {
        fx_kind(&fx, (size_t)i, MQ_OUTCOME_RELEASED, NULL);
    }
    fx_sql(&fx, "UPDATE mail_queue SET waits_for = '2/1h per relay', next_attempt_at = 2000000000");
    fx_set_raw(&fx, "mailLimits", "");
    assert_int_equal(fx_claim(&fx), 2);
    fx_close(&fx);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_changed),
        cmocka_unit_test(test_changed_after_a_payment),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
