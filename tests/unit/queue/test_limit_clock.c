/* The strict limit when clocks jump, and when workers die after the dot: no rolling hour on the
 * relay's clock, which is right, exceeds the limit. The queue cannot tell a step forward from
 * elapsed time: the step lets up to one extra limit through, once, and delays nothing
 * afterwards. A relay's pause from a clock that was ahead is over. */
#include "queue/config/relays.h"
#include "worker_fake.h"

#define LIMIT 5

static int64_t taken_ms[1000]; /* boot time of each acceptance */
static size_t taken;

static void takes(struct fake_relay *relay, struct mq_transfer *transfer, struct mq_target *target)
{
    (void)transfer;
    taken_ms[taken++] = relay->scene->boot_ms;
    set_result(target, MQ_OUTCOME_DELIVERED, "250 Ok");
}

static size_t most_in_an_hour(void)
{
    size_t most = 0;
    for (size_t i = 0; i < taken; i++) {
        size_t n = 0;
        while (i + n < taken && taken_ms[i + n] - taken_ms[i] < 3600000) {
            n++;
        }
        most = n > most ? n : most;
    }
    return most;
}

static void begin(struct scene_worker *scene)
{
    taken = 0;
    fx_set(&scene->fx, "mailMaxPerHour", "5");
    fx_set(&scene->fx, "mailBurst", "5");
    fx_set(&scene->fx, "mailRateMode", "strict");
    scene->relay.answer = takes;
    scene->options.time_limit_s = 5;
    enqueue_mails(scene, 100);
}

/* The clock is this many seconds slow during one run, and right before and after it. */
static void behind_for_one_run(struct scene_worker *scene, int64_t seconds)
{
    begin(scene);
    cron_for(scene, 600);
    assert_int_equal(taken, LIMIT);
    scene->wall_ahead_s = -seconds;
    cron_for(scene, 60);
    scene->wall_ahead_s = 0;
    cron_for(scene, 600);
    assert_int_equal(most_in_an_hour(), LIMIT);
    cron_for(scene, 6 * 3600);
    assert_int_equal(most_in_an_hour(), LIMIT);
    assert_true(taken >= 5 * LIMIT);
}

static void test_an_hour_behind(void **state)
{
    behind_for_one_run(*state, 3600);
}

static void test_minutes_behind(void **state)
{
    behind_for_one_run(*state, 900);
}

static void test_a_day_behind(void **state)
{
    behind_for_one_run(*state, 86400);
}

/* Mail that was handed over during the jump counts from its own time; nothing waits for ten
 * years. */
static void test_ten_years_ahead(void **state)
{
    struct scene_worker *scene = *state;
    begin(scene);
    cron_for(scene, 600);
    scene->wall_ahead_s = INT64_C(10) * 365 * 86400;
    cron_for(scene, 60);
    scene->wall_ahead_s = 0;
    size_t before = taken;
    assert_true(before <= 2 * LIMIT); /* the step forward */
    cron_for(scene, 3000);
    assert_int_equal(taken, before);
    cron_for(scene, 6 * 3600);
    assert_true(taken >= before + 4 * LIMIT);
    taken_ms[0] = taken_ms[before - 1]; /* from the step on */
    memmove(taken_ms, taken_ms + LIMIT, (taken - LIMIT) * sizeof(taken_ms[0]));
    taken -= LIMIT;
    assert_int_equal(most_in_an_hour(), LIMIT);
}

static int64_t step_s; /* that the clock is off while the run sends */

static void clock_steps(struct fake_relay *relay, struct mq_transfer *transfer)
{
    (void)transfer;
    relay->scene->wall_ahead_s = step_s;
}

/* The clock goes back while a run sends, and is right again for the next run. */
static void test_goes_back_within_a_run(void **state)
{
    static const int64_t steps[] = {-60, -900, -3600};
    struct scene_worker *scene = *state;
    for (size_t i = 0; i < sizeof(steps) / sizeof(steps[0]); i++) {
        fx_sql(&scene->fx, "DELETE FROM mail_queue; DELETE FROM mail_spent; DELETE FROM config "
                           "WHERE key IN ('mailTokens', 'mailLastRefill')");
        begin(scene);
        step_s = steps[i];
        scene->relay.sessions = scene->options.connections = LIMIT;
        scene->options.time_limit_s = 55;
        scene->relay.on_body = clock_steps;
        run_worker(scene);
        assert_int_equal(taken, LIMIT);
        scene->relay.on_body = NULL;
        scene->wall_ahead_s = 0;
        cron_for(scene, 4 * 3600);
        assert_int_equal(most_in_an_hour(), LIMIT);
        assert_true(taken >= 3 * LIMIT);
    }
}

static int dying; /* deliveries whose reply comes after this many ms, from a dead worker */

static void dies_behind_the_dot(struct fake_relay *relay, struct mq_transfer *transfer,
                                struct mq_target *target)
{
    (void)relay;
    (void)transfer;
    dying++;
    set_result(target, MQ_OUTCOME_UNCERTAIN, "");
}

/* The relay accepts them up to ten minutes after the worker's death. */
static void test_taken_after_the_worker_died(void **state)
{
    struct scene_worker *scene = *state;
    begin(scene);
    dying = 0;
    scene->relay.answer = dies_behind_the_dot;
    run_worker(scene);
    assert_int_equal(dying, LIMIT);
    for (int i = 0; i < dying; i++) {
        taken_ms[taken++] = scene->boot_ms + 590000;
    }
    scene->relay.answer = takes;
    cron_for(scene, 6 * 3600);
    assert_true(taken >= 5 * LIMIT);
    assert_int_equal(most_in_an_hour(), LIMIT);
}

static enum mq_status dies(struct fake_relay *relay, struct mq_error *err)
{
    if (relay->bodies < LIMIT) {
        return MQ_OK;
    }
    return mq_error_set(err, MQ_BAILOUT, "", "killed"); /* nothing is settled */
}

/* The same when the worker settles nothing: recovery enters the results in its record. */
static void test_taken_after_the_worker_was_killed(void **state)
{
    struct scene_worker *scene = *state;
    begin(scene);
    scene->relay.sessions = scene->options.connections = LIMIT;
    scene->relay.latency_ms = 590000;
    scene->relay.body_ms = 10;
    scene->relay.on_step = dies;
    assert_int_equal(run_worker(scene), MQ_BAILOUT);
    assert_int_equal(count_jobs(scene, "sending"), LIMIT);
    assert_int_equal(count_files(scene, ".intent"), 1);
    for (int i = 0; i < LIMIT; i++) {
        taken_ms[taken++] = scene->boot_ms + 590000;
    }
    scene->relay.under_way_count = 0;
    scene->relay.on_step = NULL;
    scene->relay.latency_ms = 10;
    cron_for(scene, 6 * 3600);
    assert_true(taken >= 5 * LIMIT);
    assert_int_equal(most_in_an_hour(), LIMIT);
}

/* Runs whose clock was ahead have paused the relay: the pause ends with that clock. */
static void test_clock_was_ahead(void **state)
{
    (void)state;
    static const int64_t ahead_s[] = {3600, INT64_C(10) * 365 * 86400};
    struct fixture fx;
    fx_open(&fx);
    struct mq_relay_pause pause = {.relay = "r", .reason = "down", .retry_after_s = 86400};
    struct mq_relay_pause short_one = {.relay = "q", .reason = "down"};
    struct mq_relay_state relays[] = {{.name = "r"}};
    fx.request.relays = relays;
    fx.request.relay_count = 1;
    fx_mail(&fx, "a@example.org");
    assert_int_equal(mq_queue_pause_relay(fx.queue, &short_one, &fx.err), MQ_OK);
    fx.now_s -= 30; /* a clock that is set right */
    assert_int_equal(fx_stats(&fx).paused_until_s, short_one.until_s);
    fx.now_s += 30;
    assert_int_equal(mq_queue_clear_pause(fx.queue, "q", &fx.err), MQ_OK);
    assert_int_equal(mq_queue_pause_relay(fx.queue, &pause, &fx.err), MQ_OK);
    assert_int_equal(fx_claim(&fx), 0); /* a whole day is a pause */
    for (size_t i = 0; i < 2; i++) {
        fx.now_s += ahead_s[i];
        assert_int_equal(mq_queue_pause_relay(fx.queue, &pause, &fx.err), MQ_OK);
        fx.now_s -= ahead_s[i];
        assert_int_equal(fx_stats(&fx).paused_until_s, 0);
        assert_int_equal(fx_claim(&fx), 1);
        fx_mail(&fx, "a@example.org");
    }
    pause.retry_after_s = 0;
    assert_int_equal(mq_queue_pause_relay(fx.queue, &pause, &fx.err), MQ_OK);
    assert_in_range(pause.until_s - fx.now_s, 60, 3600);
    fx_close(&fx);
}

int main(void)
{
#define T(f) cmocka_unit_test_setup_teardown(f, scene_worker_setup, scene_worker_teardown)
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_clock_was_ahead),
        T(test_minutes_behind),
        T(test_an_hour_behind),
        T(test_a_day_behind),
        T(test_ten_years_ahead),
        T(test_goes_back_within_a_run),
        T(test_taken_after_the_worker_died),
        T(test_taken_after_the_worker_was_killed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
