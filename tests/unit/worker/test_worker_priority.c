/* Mails of a high priority that fail in every run must not keep lower priorities waiting. Runs
 * start each minute. */
#include "worker_fake.h"

#define WEEK_S (7 * 86400)

static const char *reply; /* to the recipients that fail */

static void fail_all(struct fake_relay *relay, struct mq_transfer *transfer,
                     struct mq_target *target)
{
    (void)relay;
    (void)transfer;
    set_result(target, reply[0] == '4' ? MQ_OUTCOME_DEFERRED : MQ_OUTCOME_DENIED, reply);
}

static void fail_bad(struct fake_relay *relay, struct mq_transfer *transfer,
                     struct mq_target *target)
{
    if (strncmp(target->address, "bad@", 4) == 0) {
        fail_all(relay, transfer, target);
    } else {
        set_result(target, MQ_OUTCOME_DELIVERED, "250 Ok");
    }
}

/* To this many domains, in turn. */
static void enqueue(struct scene_worker *scene, int mails, const char *name, int domains,
                    int priority)
{
    char address[64];
    for (int i = 0; i < mails; i++) {
        snprintf(address, sizeof(address), "%s@d%d.example", name, i % domains);
        fx_enqueue(&scene->fx, &(struct mail){.recipients = address,
                                              .body = "Subject: x\r\n\r\nx\r\n",
                                              .priority = priority});
    }
}

static void begin(struct scene_worker *scene, const char *limit, const char *answer)
{
    fx_sql(&scene->fx, "DELETE FROM mail_queue; DELETE FROM config WHERE key <> "
                       "'mailSchemaVersion'");
    fx_set(&scene->fx, "mailMaxPerHour", limit);
    scene->relay.accepted_count = 0;
    scene->relay.submits = 0;
    scene->relay.answer = fail_bad;
    scene->options.time_limit_s = 55;
    reply = answer;
}

static int64_t attempts(struct scene_worker *scene, const char *what)
{
    char sql[96];
    snprintf(sql, sizeof(sql), "SELECT coalesce(%s(attempts), 0) FROM mail_queue", what);
    return fx_int(&scene->fx, sql);
}

/* The others get through within the first run; only the limit delays them. */
static void others_get_through(struct scene_worker *scene, int bad, int domains)
{
    enqueue(scene, bad, "bad", domains, 10);
    enqueue(scene, 20, "to", 7, 0);
    cron_for(scene, 1800);
    assert_int_equal(scene->relay.accepted_count, 20);
}

static void test_one_domain(void **state)
{
    static const char *const replies[] = {"451 4.3.0 no", "554 5.7.1 no"};
    for (int i = 0; i < 2; i++) {
        begin(*state, "0", replies[i]);
        others_get_through(*state, 1500, 1);
    }
}

static void test_several_domains(void **state)
{
    begin(*state, "0", "451 4.3.0 no");
    others_get_through(*state, 500, 5);
}

static void test_under_a_limit(void **state)
{
    static const char *const replies[] = {"451 4.3.0 no", "554 5.7.1 no"};
    for (int domains = 1; domains <= 2; domains++) {
        for (int i = 0; i < 2; i++) {
            begin(*state, "60", replies[i]);
            others_get_through(*state, 100, domains);
        }
    }
}

/* One token at a time: the first mail to fail has the only one. */
static void test_with_one_token(void **state)
{
    static const char *const replies[] = {"451 4.3.0 no", "554 5.7.1 no"};
    for (int i = 0; i < 2; i++) {
        begin(*state, "60", replies[i]);
        fx_set(&((struct scene_worker *)*state)->fx, "mailBurst", "1");
        others_get_through(*state, 20, 1);
    }
}

/* In the end they fail, because others get through. */
static void test_they_are_given_up(void **state)
{
    struct scene_worker *scene = *state;
    begin(scene, "60", "451 4.3.0 no");
    enqueue(scene, 3, "bad", 1, 10);
    for (int hour = 0; hour < 72; hour++) {
        enqueue(scene, 2, "to", 2, 0);
        cron_for(scene, 3600);
    }
    assert_int_equal(scene->relay.accepted_count, 144);
    assert_int_equal(count_jobs(scene, "parked"), 3);
}

/* A relay that accepts nothing costs no attempts, however many priorities there are: it is offered
 * a few mails of each. */
static void test_takes_nothing(void **state)
{
    static const char *const limits[] = {"0", "60"};
    struct scene_worker *scene = *state;
    for (int i = 0; i < 2; i++) {
        begin(scene, limits[i], "451 4.3.0 no");
        scene->relay.answer = fail_all;
        for (int priority = -2; priority <= 2; priority++) {
            enqueue(scene, 200, "to", 50, priority);
        }
        cron_for(scene, WEEK_S);
        assert_int_equal(count_jobs(scene, "parked"), 0);
        assert_true(attempts(scene, "sum") <= i);
        assert_in_range(scene->relay.submits, 100, 200 * (12 + 4 * 3));
        scene->relay.answer = NULL;
        fx_set(&scene->fx, "mailMaxPerHour", "0");
        cron_for(scene, 7200);
        assert_int_equal(scene->relay.accepted_count, 1000);
    }
}

/* The first run offers three of each. */
static void test_offers_a_few_of_each(void **state)
{
    struct scene_worker *scene = *state;
    begin(scene, "0", "451 4.3.0 no");
    scene->relay.answer = fail_all;
    scene->relay.sessions = scene->options.connections = 1;
    for (int priority = 0; priority < 4; priority++) {
        enqueue(scene, 50, "to", 50, priority);
    }
    run_until(scene, MQ_RUN_RELAY);
    assert_in_range(scene->relay.submits, 12, 12 + 4);
    assert_int_equal(attempts(scene, "max"), 0);
    assert_int_equal(count_jobs(scene, "pending"), 200);
}

static void refuse_bad(struct fake_relay *relay, struct mq_transfer *transfer,
                       struct mq_target *target)
{
    (void)relay;
    (void)transfer;
    if (strncmp(target->address, "bad@", 4) == 0) {
        set_result(target, MQ_OUTCOME_UNEXPLAINED, "550 not allowed");
    } else {
        set_result(target, MQ_OUTCOME_DELIVERED, "250 Ok");
    }
}

/* Refused without a reason, for many domains: others that get through do not park them. */
static void test_bare_refusals_are_not_parked(void **state)
{
    struct scene_worker *scene = *state;
    begin(scene, "0", "550");
    scene->relay.answer = refuse_bad;
    enqueue(scene, 200, "bad", 50, 10);
    enqueue(scene, 400, "to", 20, 0);
    for (int minute = 0; minute < 12; minute++) {
        cron_for(scene, 60);
        enqueue(scene, 5, "to", 5, 0);
    }
    assert_int_equal(count_jobs(scene, "parked"), 0);
    assert_int_not_equal(scene->relay.accepted_count, 0);
}

/* A run of so few mails that the failing ones are all it may claim. */
static void test_message_limit(void **state)
{
    static const int limits[] = {3, 10, 50, 110};
    struct scene_worker *scene = *state;
    for (size_t i = 0; i < sizeof(limits) / sizeof(limits[0]); i++) {
        begin(scene, "0", "451 4.3.0 no");
        scene->options.message_limit = limits[i];
        enqueue(scene, 300, "bad", 5, 10);
        enqueue(scene, 30, "to", 5, 0);
        cron_for(scene, 4 * 3600);
        assert_int_equal(scene->relay.accepted_count, 30);
    }
}

/* So many priorities have a few failing mails that the run cannot hold more: it ends. */
static void test_no_slot_is_left(void **state)
{
    struct scene_worker *scene = *state;
    begin(scene, "0", "451 4.3.0 no");
    scene->relay.answer = fail_all;
    fx_set(&scene->fx, "mailRelayPause", "{\"smtp://relay.example:25\":\"1 9 x\"}");
    enqueue(scene, 1000, "bad", 1, 100);
    for (int priority = -100; priority < 100; priority++) {
        enqueue(scene, 3, "bad", 1, priority);
    }
    scene->options.time_limit_s = 3600;
    run_until(scene, MQ_RUN_RELAY);
    assert_in_range(scene->report.ms, 0, 600000);
    assert_int_equal(count_jobs(scene, "pending"), 1600);
}

int main(void)
{
#define T(f) cmocka_unit_test_setup_teardown(f, scene_worker_setup, scene_worker_teardown)
    const struct CMUnitTest tests[] = {
        T(test_one_domain),           T(test_several_domains),
        T(test_under_a_limit),        T(test_with_one_token),
        T(test_they_are_given_up),    T(test_takes_nothing),
        T(test_offers_a_few_of_each), T(test_bare_refusals_are_not_parked),
        T(test_message_limit),        T(test_no_slot_is_left),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
