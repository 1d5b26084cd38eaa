/* At most so many mails to a domain are under way in a run; others go on. */
#include "worker_fake.h"

static int most_slow; /* mails to slow.x under way at a time */

static enum mq_status watch_slow(struct fake_relay *relay, struct mq_error *err)
{
    int now = 0;
    (void)err;
    for (size_t i = 0; i < relay->under_way_count; i++) {
        const struct mq_transfer *transfer = relay->under_way[i];
        bool slow = false;
        for (size_t n = 0; n < transfer->target_count; n++) {
            slow = slow || strstr(transfer->targets[n].address, "@slow.x");
        }
        now += slow;
    }
    most_slow = now > most_slow ? now : most_slow;
    return MQ_OK;
}

static void begin(struct scene_worker *scene, const char *sessions)
{
    most_slow = 0;
    scene->relay.sessions = 20;
    scene->relay.latency_ms = 100;
    scene->relay.on_step = watch_slow;
    fx_set(&scene->fx, "mailDomainSessions", sessions);
}

static void mails(struct scene_worker *scene, const char *recipients, int count)
{
    for (int i = 0; i < count; i++) {
        fx_mail(&scene->fx, recipients);
    }
}

/* How many mails were accepted before the last one of those after this id. */
static size_t last_place(const struct scene_worker *scene, int64_t after)
{
    size_t last = 0;
    for (size_t i = 0; i < scene->relay.accepted_count; i++) {
        last = scene->relay.accepted[i] > after ? i : last;
    }
    return last;
}

/* A thousand mails to one domain do not hold up the others behind them, and go at its own pace. */
static void test_full(void **state)
{
    struct scene_worker *scene = *state;
    begin(scene, "3 to @SLOW.x");
    mails(scene, "a@slow.x", 1000);
    mails(scene, "a@fast.x", 200);
    int64_t begun_ms = scene->boot_ms;
    run_until(scene, MQ_RUN_EMPTY);
    assert_int_equal(most_slow, 3);
    assert_in_range(last_place(scene, 1000), 199, 260); /* 17 of 20 sessions for them */
    assert_in_range(scene->relay.steps, 1, 20 * 1200);
    while (count_jobs(scene, NULL) > 0) {
        run_until(scene, MQ_RUN_EMPTY);
        scene->boot_ms += 100;
    }
    assert_int_equal(scene->relay.accepted_count, 1200);
    assert_in_range(scene->boot_ms - begun_ms, 1000 * 100 / 3, 1000 * 100 / 3 * 12 / 10);
}

/* Many such domains do not, either. */
static void test_many_domains(void **state)
{
    struct scene_worker *scene = *state;
    char address[24];
    begin(scene, "1 per recipient domain");
    for (int i = 0; i < 13 * 300; i++) {
        snprintf(address, sizeof(address), "a@d%d.x", i % 13);
        mails(scene, address, 1);
    }
    for (int i = 0; i < 50; i++) {
        snprintf(address, sizeof(address), "a@f%d.x", i);
        mails(scene, address, 1);
    }
    scene->options.time_limit_s = 60;
    assert_int_equal(run_worker(scene), MQ_OK);
    print_message("the last of the 50 was number %zu\n", last_place(scene, 13 * 300));
    assert_in_range(last_place(scene, 13 * 300), 49, 1000);
}

/* Nor do those whose messages are large. */
static void test_large(void **state)
{
    struct scene_worker *scene = *state;
    begin(scene, "1 to @slow.x");
    mails(scene, "a@slow.x", 500);
    mails(scene, "a@fast.x", 50);
    scene->options.max_bytes = 10 * (int64_t)strlen("Subject: x\r\n\r\nx\r\n");
    scene->options.time_limit_s = 30;
    assert_int_equal(run_worker(scene), MQ_OK);
    assert_in_range(last_place(scene, 500), 49, 150);
}

/* Nothing but this domain waits: all its sessions work. */
static void test_pace(void **state)
{
    struct scene_worker *scene = *state;
    begin(scene, "5 per recipient domain");
    mails(scene, "a@slow.x", 500);
    int64_t begun_ms = scene->boot_ms;
    run_until(scene, MQ_RUN_EMPTY);
    assert_int_equal(most_slow, 5);
    assert_int_equal(scene->report.sent, 500);
    assert_in_range(scene->boot_ms - begun_ms, 500 * 100 / 5, 500 * 100 / 5 * 11 / 10);
}

/* A mail to several domains counts in each of them. */
static void test_several(void **state)
{
    struct scene_worker *scene = *state;
    begin(scene, "2 to @slow.x, 4 to @other.x");
    mails(scene, "a@slow.x a@other.x b@slow.x", 30);
    mails(scene, "a@other.x", 30);
    mails(scene, "a@third.x", 30);
    run_until(scene, MQ_RUN_EMPTY);
    assert_int_equal(most_slow, 2);
    assert_int_equal(scene->report.sent, 90);
}

/* What is held goes back when the run ends, and when its relay is paused. */
static void test_ends(void **state)
{
    struct scene_worker *scene = *state;
    begin(scene, "1 to @slow.x");
    scene->options.time_limit_s = 1;
    mails(scene, "a@slow.x", 80);
    run_until(scene, MQ_RUN_TIME);
    assert_in_range(scene->report.sent, 9, 12);
    assert_int_equal(count_jobs(scene, "pending"), 80 - scene->report.sent);
    assert_int_equal(fx_int(&scene->fx, "SELECT sum(attempts) FROM mail_queue"), 0);
    scene->options.time_limit_s = -1;
    scene->relay.down = true;
    run_until(scene, MQ_RUN_RELAY);
    assert_int_equal(fx_int(&scene->fx, "SELECT sum(attempts) FROM mail_queue"), 0);
    assert_int_equal(count_jobs(scene, "sending"), 0);
}

/* Without the key nothing is held; a rule that is removed during a run ends. */
static enum mq_status unset(struct scene_worker *scene, const struct mq_event *event,
                            struct mq_error *err)
{
    (void)err;
    if (event->type == MQ_EVENT_SENT && ++scene->counter == 150) {
        fx_set(&scene->fx, "mailDomainSessions", NULL);
        most_slow = 0;
    }
    return MQ_OK;
}

static void test_removed(void **state)
{
    struct scene_worker *scene = *state;
    begin(scene, "2 to @slow.x");
    scene->on_event = unset;
    mails(scene, "a@slow.x", 400);
    cron_for(scene, 60);
    assert_int_equal(count_jobs(scene, NULL), 0);
    assert_in_range(most_slow, 20, 40); /* as many as the relay has, and as many ready */
}

static void denied(struct fake_relay *relay, struct mq_transfer *transfer, struct mq_target *target)
{
    (void)relay;
    (void)transfer;
    set_result(target, MQ_OUTCOME_DENIED, "554 5.7.1 Message denied");
}

/* Mail that the first relay of two denies goes to the second one, and counts there as well. */
static void test_moves(void **state)
{
    struct scene_worker *scene = *state;
    begin(scene, "2 to @slow.x");
    scene->dsn = "failover(a b)";
    scene->relay.answer = denied;
    scene->other.sessions = 20;
    scene->other.latency_ms = 100;
    scene->other.on_step = watch_slow;
    mails(scene, "a@slow.x", 60);
    mails(scene, "a@fast.x", 1);
    cron_for(scene, 600);
    assert_int_equal(most_slow, 2);
    assert_int_equal(scene->other.accepted_count, 61);
    assert_int_equal(count_jobs(scene, NULL), 0);
}

int main(void)
{
#define SCENE(test) cmocka_unit_test_setup_teardown(test, scene_worker_setup, scene_worker_teardown)
    const struct CMUnitTest tests[] = {
        SCENE(test_full),    SCENE(test_many_domains), SCENE(test_large),   SCENE(test_pace),
        SCENE(test_several), SCENE(test_ends),         SCENE(test_removed), SCENE(test_moves),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
