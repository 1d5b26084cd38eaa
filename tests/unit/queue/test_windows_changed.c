/* Mail that waits for a limit when the limits change, or when mail before it is stopped. */
#include "queue/campaign/campaign.h"
#include "queue/windows/payments.h"
#include "windows_fixture.h"

#define KEPT "SELECT value FROM config WHERE key = 'mailHoursKept'"

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

/* A run that had begun to bring mail forward, when another one ended that, begins again from the
 * first mail the next time. */
static void test_ended_by_another_run(void **state)
{
    (void)state;
    struct fixture fx;
    begin(&fx, "2/1h per sender", "strict");
    from(&fx, "full@a.x", 2500);
    assert_int_equal(send_all(&fx), 2);
    char *kept = fx_text(&fx, KEPT);
    fx_set_raw(&fx, "mailHoursKept", "{\"mail_queue\":\"1\"}");
    fx_claim(&fx);
    assert_int_equal(fx.claim.end, MQ_CLAIM_MORE);
    fx_set_raw(&fx, "mailHoursKept", kept);
    fx_claim(&fx);
    fx_set_raw(&fx, "mailHoursKept", "{\"mail_queue\":\"1\"}");
    fx_sql(&fx, "UPDATE mail_queue SET next_attempt_at = 2000000000 WHERE id < 10");
    assert_int_equal(send_all(&fx), 0);
    fx_assert_text(&fx, KEPT, kept);
    assert_in_range(fx_int(&fx, "SELECT max(next_attempt_at) FROM mail_queue"), START, 1999999999);
    free(kept);
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

/* A campaign of six, of which the limit lets two go. */
static int64_t campaign_waits(struct fixture *fx)
{
    int64_t id;
    struct mq_recipient to[6] = {{.fields = MQ_STR("{}")}};
    struct mq_recipients all = {.items = to, .count = 6};
    const struct mq_campaign_setup setup = {.message = MQ_STR("octets"),
                                            .mail_type = MQ_STR("mail"),
                                            .message_id = "<c@a.x>",
                                            .envelope_from = "full@a.x"};
    char addresses[6][8];
    for (int i = 0; i < 6; i++) {
        snprintf(addresses[i], sizeof(addresses[i]), "%d@b.c", i);
        to[i].address = mq_str_of(addresses[i]);
    }
    assert_int_equal(mq_campaign_open(fx->queue, MQ_STR("spring"), &id, &fx->err), MQ_OK);
    assert_int_equal(mq_campaign_set(fx->queue, id, &setup, &fx->err), MQ_OK);
    assert_int_equal(mq_campaign_add(fx->queue, id, &all, &fx->err), MQ_OK);
    assert_int_equal(mq_campaign_do(fx->queue, id, MQ_CAMPAIGN_START, 0, &fx->err), MQ_OK);
    fx->request.limit = 2;
    assert_int_equal(send_all(fx), 2);
    return id;
}

/* When the mail behind it is due, from the beginning on. */
static int64_t other_waits_s(struct fixture *fx)
{
    assert_int_equal(send_all(fx), 0);
    return fx_int(fx, "SELECT next_attempt_at FROM mail_queue WHERE campaign_id IS NULL") - START;
}

/* Mail does not wait for slots of a campaign that is stopped. */
static void check_stopped(enum mq_campaign_act act)
{
    struct fixture fx;
    begin(&fx, "2/1h per sender", "strict");
    int64_t id = campaign_waits(&fx);
    from(&fx, "full@a.x", 1);
    assert_int_equal(other_waits_s(&fx), 3603 + 4 * 1800);
    assert_int_equal(mq_campaign_do(fx.queue, id, act, 0, &fx.err), MQ_OK);
    assert_int_equal(other_waits_s(&fx), 3603);
    /* One of which nothing waits makes nothing to count. */
    char *kept = fx_text(&fx, KEPT);
    assert_int_equal(mq_campaign_open(fx.queue, MQ_STR("fall"), &id, &fx.err), MQ_OK);
    assert_int_equal(mq_campaign_do(fx.queue, id, MQ_CAMPAIGN_CANCEL, 0, &fx.err), MQ_OK);
    fx_assert_text(&fx, KEPT, kept);
    free(kept);
    fx_close(&fx);
}

static void test_paused(void **state)
{
    (void)state;
    check_stopped(MQ_CAMPAIGN_PAUSE);
}

static void test_cancelled(void **state)
{
    (void)state;
    check_stopped(MQ_CAMPAIGN_CANCEL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_changed),
        cmocka_unit_test(test_ended_by_another_run),
        cmocka_unit_test(test_changed_after_a_payment),
        cmocka_unit_test(test_paused),
        cmocka_unit_test(test_cancelled),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
