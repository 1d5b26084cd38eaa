/* mailWarmup: a limit of each day, beside mailLimits. */
#include "queue_fixture.h"

#define DAY_S  86400
#define NEXT_S (START + 16 * 3600) /* START is 08:00 UTC on 2027-01-15 */

static struct mq_relay_state relay;

static void open_queue(struct fixture *fx, const char *warmup)
{
    fx_open(fx);
    fx_set(fx, "mailRateMode", "strict");
    fx_set(fx, "mailWarmup", warmup);
    relay = (struct mq_relay_state){.name = "smtp://new.example.org:25"};
    fx->request.relays = &relay;
    fx->request.relay_count = 1;
    for (int i = 0; i < 50; i++) {
        fx_mail(fx, "a@example.org");
    }
}

/* Sends all that can go, and returns how many that were. */
static size_t send_all(struct fixture *fx)
{
    size_t sum = 0;
    for (size_t n = fx_claim(fx); n > 0; n = fx_claim(fx)) {
        for (size_t i = 0; i < n; i++) {
            fx_settle(fx, i, "a");
        }
        sum += n;
    }
    return sum;
}

static void test_days(void **state)
{
    struct fixture fx;
    (void)state;
    open_queue(&fx, "2027-01-15: 2, 7, 9");
    assert_int_equal(send_all(&fx), 2);
    assert_int_equal(fx.claim.end, MQ_CLAIM_TOKENS);
    assert_string_equal(fx.claim.reason, "2/1d");
    fx.now_s = NEXT_S - 1;
    assert_int_equal(send_all(&fx), 0);
    fx.now_s = NEXT_S; /* 7 in any day, of which 2 are gone */
    assert_int_equal(send_all(&fx), 5);
    fx.now_s = NEXT_S + DAY_S + 3600;
    assert_int_equal(send_all(&fx), 9);
    fx.now_s = NEXT_S + 2 * DAY_S;
    assert_int_equal(send_all(&fx), 34); /* the warm-up is over */
    fx_close(&fx);
}

/* Only for the relay that it names; of two limits for one window the lower one counts. */
static void test_beside_limits(void **state)
{
    struct fixture fx;
    (void)state;
    open_queue(&fx, "2027-01-15: 3, 20 per relay new.example.org; 2027-01-16: 1 per relay other");
    fx_set(&fx, "mailLimits", "10/1d per relay new.example.org");
    assert_int_equal(send_all(&fx), 3);
    fx.now_s = NEXT_S;
    assert_int_equal(send_all(&fx), 7);
    relay.name = "smtp://old.example.org:25";
    assert_int_equal(send_all(&fx), 40);
    fx_close(&fx);
}

/* Mail that a day's amount keeps has times as that amount lets it go; the next day brings it
 * forward. */
static void test_of_a_sender(void **state)
{
    struct fixture fx;
    (void)state;
    open_queue(&fx, "2027-01-15: 2, 7, 9 per sender domain");
    assert_int_equal(send_all(&fx), 2);
    assert_int_equal(fx.claim.end, MQ_CLAIM_EMPTY);
    assert_true(fx_int(&fx, "SELECT max(next_attempt_at) FROM mail_queue") > START + 20 * DAY_S);
    fx.now_s = NEXT_S;
    assert_int_equal(send_all(&fx), 5);
    fx.now_s = NEXT_S + DAY_S + 3600;
    assert_int_equal(send_all(&fx), 9);
    fx.now_s = NEXT_S + 2 * DAY_S;
    assert_int_equal(send_all(&fx), 34);
    fx_close(&fx);
}

/* As many limits as mailLimits and mailWarmup can have together. */
static void test_many(void **state)
{
    struct fixture fx;
    struct mq_buffer limits = {0}, warmup = {0};
    (void)state;
    for (int i = 1; i <= 16; i++) {
        mq_buffer_printf(&limits, "%s9/%dh", i > 1 ? ", " : "", i);
        mq_buffer_printf(&warmup, "%s2027-01-15: 9 per relay r%d", i > 1 ? "; " : "", i);
    }
    open_queue(&fx, warmup.data);
    fx_set(&fx, "mailLimits", limits.data);
    struct mq_stats stats = fx_stats(&fx);
    assert_int_equal(stats.limit_count, 32);
    assert_string_equal(stats.limits[31].text, "9/1d per relay r16");
    assert_int_equal(send_all(&fx), 9);
    mq_buffer_clear(&limits);
    mq_buffer_clear(&warmup);
    fx_close(&fx);
}

static void test_faults(void **state)
{
    struct fixture fx;
    (void)state;
    fx_open(&fx);
    assert_int_equal(
        mq_queue_set_config(fx.queue, "mailWarmup", "2027-01-15 Europe/Berlin: 2", &fx.err),
        MQ_INVALID);
    assert_string_equal(fx.err.text,
                        "mailWarmup cannot be \"2027-01-15 Europe/Berlin: 2\"; "
                        "\"2027-01-15 Europe/Berlin\" must begin with the first day (UTC) alone, "
                        "as 2026-12-01; allowed values: DATE: N, N, … [per …]; …");
    fx_set_raw(&fx, "mailWarmup", "50, 100");
    fx_mail(&fx, "a@example.org");
    assert_int_equal(fx_claim(&fx), 0);
    assert_int_equal(fx.claim.status, MQ_CONFIG);
    assert_non_null(
        strstr(fx.claim.error.text, "must begin with the first day (UTC) alone, as 2026-12-01"));
    fx_close(&fx);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_days),        cmocka_unit_test(test_beside_limits),
        cmocka_unit_test(test_of_a_sender), cmocka_unit_test(test_many),
        cmocka_unit_test(test_faults),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
