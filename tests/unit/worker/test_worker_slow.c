/* A relay that is slow to answer the dot (RFC 5321 allows 600 s), with runs that have a time limit
 * and a grace period: the default cron line, for a simulated day. */
#include "worker_fake.h"

#include <signal.h>

#define DAY_S 86400

static void default_cron_line(struct scene_worker *scene, int64_t answers_after_s)
{
    scene->options.time_limit_s = 55;
    scene->options.grace_s = 30;
    scene->relay.latency_ms = answers_after_s * 1000;
    scene->relay.body_ms = 20;
}

/* Each mail is sent once, and none is uncertain: a run waits for the replies to its dots. */
static void test_day_with_a_slow_relay(void **state)
{
    static const int64_t answers_after_s[] = {1, 30, 50, 100, 590};
    struct scene_worker *scene = *state;
    size_t sent = 0;
    for (size_t i = 0; i < sizeof(answers_after_s) / sizeof(answers_after_s[0]); i++) {
        default_cron_line(scene, answers_after_s[i]);
        for (int hour = 0; hour < 24; hour++) {
            enqueue_mails(scene, 20);
            cron_for(scene, DAY_S / 24);
        }
        cron_for(scene, 7200);
        sent += 24 * 20;
        assert_int_equal(count_jobs(scene, NULL), 0);
        assert_int_equal(scene->relay.bodies, sent);
        assert_int_equal(scene->relay.accepted_count, sent);
        assert_int_equal(scene->relay.aborts, 0);
    }
}

/* Exactly as many as a run can begin before the first reply: it ends with them. */
static void test_a_slow_relay_gets_fewer(void **state)
{
    struct scene_worker *scene = *state;
    default_cron_line(scene, 50);
    enqueue_mails(scene, 100);
    run_until(scene, MQ_RUN_TIME);
    assert_in_range(scene->report.sent, 8, 9);
    assert_in_range(scene->report.ms, 50000, 101000);
    assert_int_equal(scene->report.uncertain, 0);
    assert_int_equal(scene->report.sent + count_jobs(scene, "pending"), 100);
}

/* A mail that hangs before its dot goes back untouched. */
static void test_time_limit_without_a_body(void **state)
{
    struct scene_worker *scene = *state;
    default_cron_line(scene, 500);
    scene->relay.body_ms = 400000;
    enqueue_mails(scene, 20);
    run_until(scene, MQ_RUN_TIME);
    assert_in_range(scene->report.ms, 85000, 86000);
    assert_int_equal(scene->relay.bodies, 0);
    assert_int_equal(count_jobs(scene, "pending"), 20);
    assert_int_equal(fx_int(&scene->fx, "SELECT max(attempts) FROM mail_queue"), 0);
}

static enum mq_status term_at_200_s(struct fake_relay *relay, struct mq_error *err)
{
    struct scene_worker *scene = relay->scene;
    (void)err;
    if (scene->counter == 0 && scene->boot_ms >= 1200000) {
        scene->counter = 1;
        raise(SIGTERM);
    }
    return MQ_OK;
}

/* A signal cuts off mails, even while a run waits beyond its time limit; the report says so. */
static void test_term_cuts_off(void **state)
{
    struct scene_worker *scene = *state;
    default_cron_line(scene, 590);
    scene->relay.on_step = term_at_200_s;
    enqueue_mails(scene, 20);
    run_until(scene, MQ_RUN_TIME);
    assert_in_range(scene->report.ms, 230000, 231000);
    assert_int_equal(scene->relay.aborts, 1);
    assert_int_equal(scene->report.uncertain, 8);
    assert_int_equal(scene->report.cut, 8);
    assert_non_null(strstr(last_event(scene, MQ_EVENT_RUN)->reply, " cut_off=8"));
}

int main(void)
{
#define T(f) cmocka_unit_test_setup_teardown(f, scene_worker_setup, scene_worker_teardown)
    const struct CMUnitTest tests[] = {
        T(test_day_with_a_slow_relay),
        T(test_a_slow_relay_gets_fewer),
        T(test_time_limit_without_a_body),
        T(test_term_cuts_off),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
