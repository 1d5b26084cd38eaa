/* Several relays in one run: groups, and relays that fail, are left out and come back. The clock
 * moves only when the worker waits. */
#include "limit_marks.h"
#include "worker/run.h"
#include "worker_fake.h"

static int64_t most_attempts(struct scene_worker *scene)
{
    return fx_int(&scene->fx, "SELECT coalesce(max(attempts), 0) FROM mail_queue");
}

static int told_by(const struct scene_worker *scene, const char *relay, enum mq_event_type type)
{
    int count = 0;
    for (size_t i = 0; i < scene->events.count; i++) {
        const struct mq_event *event = &scene->events.items[i];
        count += event->type == type && event->relay && strcmp(event->relay, relay) == 0;
    }
    return count;
}

static void test_failover(void **state)
{
    struct scene_worker *scene = *state;
    scene->dsn = "failover(a b)";
    enqueue_mails(scene, 20);
    run_until(scene, MQ_RUN_EMPTY);
    assert_int_equal(scene->relay.accepted_count, 20);
    assert_int_equal(scene->other.submits, 0);
    scene->relay.down = true;
    enqueue_mails(scene, 20);
    run_until(scene, MQ_RUN_EMPTY); /* in the same run, without the database */
    assert_int_equal(scene->other.accepted_count, 20);
    assert_int_equal(scene->report.released, 0);
    assert_int_equal(count_jobs(scene, NULL), 0);
    assert_int_equal(told_by(scene, "smtp://relay.example:25", MQ_EVENT_RELAY_TROUBLE), 1);
    assert_int_equal(told_by(scene, "smtp://other.example:25", MQ_EVENT_SENT), 20);
    assert_int_equal(last_event(scene, MQ_EVENT_RELAY_TROUBLE)->next_attempt_at,
                     START + scene->boot_ms / 1000 + 60);
    /* The first relay is used again when its time is over. */
    scene->relay.down = false;
    int submits = scene->relay.submits;
    enqueue_mails(scene, 1);
    run_until(scene, MQ_RUN_EMPTY);
    assert_int_equal(scene->relay.submits, submits);
    scene->boot_ms += 61000;
    enqueue_mails(scene, 1);
    run_until(scene, MQ_RUN_EMPTY);
    assert_int_equal(scene->relay.submits, submits + 1);
    assert_int_equal(scene->relay.accepted_count, 21);
}

static void test_round_robin(void **state)
{
    struct scene_worker *scene = *state;
    scene->dsn = "roundrobin(a b)?retry_period=15";
    enqueue_mails(scene, 40);
    run_until(scene, MQ_RUN_EMPTY);
    assert_int_equal(scene->relay.accepted_count, 20);
    assert_int_equal(scene->other.accepted_count, 20);
    scene->other.latency_ms = 1000; /* the slow one does not hold the other up */
    enqueue_mails(scene, 400);
    int64_t begun_ms = scene->boot_ms;
    run_until(scene, MQ_RUN_EMPTY);
    assert_in_range(scene->relay.accepted_count, 20 + 380, 20 + 396);
    assert_in_range(scene->boot_ms - begun_ms, 1000, 2100);
}

/* Mails for the relay that is left out; it comes back within the run. */
static void mails_for_a_minute(struct scene_worker *scene)
{
    if (scene->boot_ms < 1060000 && scene->boot_ms / 100 != scene->counter) {
        scene->counter = (int)(scene->boot_ms / 100);
        enqueue_mails(scene, 2);
    }
    if (scene->boot_ms > 1020000) {
        scene->other.down = false;
    }
}

static void test_comes_back_within_the_run(void **state)
{
    struct scene_worker *scene = *state;
    scene->dsn = "roundrobin(a b)?retry_period=15";
    scene->options.daemon = true;
    scene->options.time_limit_s = 70;
    scene->other.down = true;
    scene->on_wait = mails_for_a_minute;
    run_until(scene, MQ_RUN_TIME);
    assert_int_equal(count_jobs(scene, NULL), 0);
    /* down at 0 s and 15 s, back at 30 s */
    assert_int_equal(told_by(scene, "smtp://other.example:25", MQ_EVENT_RELAY_TROUBLE), 2);
    /* half of the mails in half of the time */
    size_t first = scene->relay.accepted_count, second = scene->other.accepted_count;
    assert_in_range(3 * second, first * 8 / 10, first * 13 / 10);
    assert_int_equal(scene->report.try_later, 0);
}

/* However many relays do not answer QUIT, a run that stops waits only once. */
static void test_quits_together(void **state)
{
    struct scene_worker *scene = *state;
    struct mq_run run = {.relays = &scene->relays};
    struct fake_relay *relays[] = {&scene->relay, &scene->other};
    for (int i = 0; i < 2; i++) {
        relays[i]->silent = true;
        assert_int_equal(mq_relays_add_transport(&scene->relays, i ? "b" : "a",
                                                 &relays[i]->transport, 1, &scene->err),
                         MQ_OK);
    }
    mq_run_quit(&run, 100);
    assert_in_range(scene->relay.quit_ms, 1, 100);
    assert_int_equal(scene->other.quit_ms, 0);
    mq_relays_clear(&scene->relays);
}

static bool turns_four_away(const struct mq_transfer *transfer)
{
    return transfer->job_id >= 3 && transfer->job_id <= 6;
}

/* Mails that one relay gave back wait for the other. That fails with the first two of them: the
 * others must not keep the mail behind them from the first relay. */
static void test_moved_to_one_that_fails(void **state)
{
    struct scene_worker *scene = *state;
    scene->dsn = "failover(a b)?retry_period=3600";
    scene->relay.turns_away = turns_four_away;
    scene->relay.sessions = scene->other.sessions = 1;
    scene->other.down = true;
    scene->options.batch = 4;
    enqueue_mails(scene, 20);
    scene->options.time_limit_s = 60;
    run_until(scene, MQ_RUN_EMPTY);
    assert_int_equal(scene->relay.accepted_count, 16);
    assert_int_equal(count_jobs(scene, "pending"), 4);
    assert_int_equal(most_attempts(scene), 0);
}

static void deny(struct fake_relay *relay, struct mq_transfer *transfer, struct mq_target *target)
{
    (void)relay;
    (void)transfer;
    set_result(target, MQ_OUTCOME_DENIED, "554 5.7.1 Message denied");
}

/* A relay that answers and takes nothing fails, too; mail goes on at once, and counts nothing. */
static void test_denies_all(void **state)
{
    struct scene_worker *scene = *state;
    scene->dsn = "failover(a b)";
    scene->relay.answer = deny;
    fx_mail(&scene->fx, "x@example.com");
    enqueue_mails(scene, 30);
    run_until(scene, MQ_RUN_EMPTY);
    assert_int_equal(scene->other.accepted_count, 31);
    assert_int_equal(told_by(scene, "smtp://relay.example:25", MQ_EVENT_RELAY_TROUBLE), 1);
    assert_int_equal(count_jobs(scene, NULL), 0);
}

static void lacks_smtputf8(struct fake_relay *relay, struct mq_transfer *transfer,
                           struct mq_target *target)
{
    (void)relay;
    (void)transfer;
    set_result(target, MQ_OUTCOME_REFUSED, "5.6.7 the address is not ASCII; not sent");
    target->phase = "check";
}

static void test_lacks_an_extension(void **state)
{
    struct scene_worker *scene = *state;
    scene->dsn = "failover(a b)";
    scene->relay.answer = lacks_smtputf8;
    enqueue_mails(scene, 3);
    run_until(scene, MQ_RUN_EMPTY);
    assert_int_equal(scene->other.accepted_count, 3);
    /* It waits for a relay that may have it and is left out now. */
    scene->other.down = true;
    enqueue_mails(scene, 1);
    run_until(scene, MQ_RUN_EMPTY);
    assert_int_equal(count_jobs(scene, "pending"), 1);
    scene->other.down = false;
    scene->boot_ms += 61000;
    run_until(scene, MQ_RUN_EMPTY);
    assert_int_equal(count_jobs(scene, NULL), 0);
    scene->other.answer = lacks_smtputf8; /* no relay has it */
    enqueue_mails(scene, 1);
    run_until(scene, MQ_RUN_EMPTY);
    assert_int_equal(count_jobs(scene, "parked"), 1);
}

static bool turns_all_away(const struct mq_transfer *transfer)
{
    (void)transfer;
    return true;
}

/* A mail goes to each relay of its group once, and to the last, too. */
static void test_two_of_three_take_nothing(void **state)
{
    struct scene_worker *scene = *state;
    scene->dsn = "failover(a b c)";
    scene->relay.answer = scene->other.answer = lacks_smtputf8;
    enqueue_mails(scene, 3);
    run_until(scene, MQ_RUN_EMPTY);
    assert_int_equal(scene->third.accepted_count, 3);
    scene->third.down = true; /* for the last one they wait */
    enqueue_mails(scene, 2);
    run_until(scene, MQ_RUN_EMPTY);
    assert_int_equal(count_jobs(scene, "pending"), 2);
    scene->third.down = false;
    scene->boot_ms += 61000;
    scene->relay.answer = scene->other.answer = NULL;
    scene->relay.turns_away = scene->other.turns_away = turns_all_away;
    run_until(scene, MQ_RUN_EMPTY);
    assert_int_equal(scene->third.accepted_count, 5);
    assert_int_equal(count_jobs(scene, NULL), 0);
}

/* ---- a week without a relay ---- */

#define MAILS  10000
#define DAY_S  86400
#define WEEK_S (7 * DAY_S)

static struct marks taken[2]; /* when each relay took mail */

static void take(struct fake_relay *relay, struct mq_transfer *transfer, struct mq_target *target)
{
    (void)transfer;
    add_mark(&taken[relay == &relay->scene->other], relay->scene->boot_ms, 1);
    set_result(target, MQ_OUTCOME_DELIVERED, "250 Ok");
}

static size_t sent(const struct scene_worker *scene)
{
    return scene->relay.accepted_count + scene->other.accepted_count;
}

/* The relays are back at the end, and the longest pause is over. */
static void dead_for_a_week(struct scene_worker *scene)
{
    scene->options.time_limit_s = 55;
    scene->relay.down = scene->other.down = true;
    enqueue_mails(scene, MAILS);
    cron_for(scene, WEEK_S);
    assert_int_equal(count_jobs(scene, "pending"), MAILS);
    assert_int_equal(most_attempts(scene), 0);
    scene->relay.down = scene->other.down = false;
    scene->boot_ms += 3600000;
}

static void limited_to_one_a_second(struct scene_worker *scene)
{
    fx_set(&scene->fx, "mailMaxPerHour", "3600");
    fx_set(&scene->fx, "mailRateMode", "strict");
    fx_set(&scene->fx, "mailBurst", "1");
    dead_for_a_week(scene);
    int64_t begun_ms = scene->boot_ms;
    cron_for(scene, 2 * 3600);
    int64_t most = (scene->boot_ms - begun_ms) / 1000 + 1;
    assert_in_range(sent(scene), most * 9 / 10, most);
    cron_for(scene, 2 * 3600);
    assert_int_equal(sent(scene), MAILS);
    assert_int_equal(count_jobs(scene, NULL), 0);
}

static void test_dead_for_a_week(void **state)
{
    limited_to_one_a_second(*state);
}

static void test_both_dead_for_a_week(void **state)
{
    struct scene_worker *scene = *state;
    scene->dsn = "failover(a b)";
    limited_to_one_a_second(scene);
}

/* The three limits of each relay hold one after the other: the first one for half an hour of runs
 * each minute, the hour's for the other half, the day's for the rest of the day. */
static void test_dead_for_a_week_with_limits(void **state)
{
    static const int64_t rules[][2] = {{100, 50}, {3000, 3600}, {4000, DAY_S}};
    struct scene_worker *scene = *state;
    scene->dsn = "failover(a b)";
    scene->relay.answer = scene->other.answer = take;
    fx_set(&scene->fx, "mailRateMode", "strict");
    fx_set(&scene->fx, "mailLimits", "100/50s per relay, 3000/1h per relay, 4000/1d per relay");
    dead_for_a_week(scene);
    cron_for(scene, 50 * 60);
    assert_int_equal(sent(scene), 2 * 3000);
    cron_for(scene, DAY_S - 3600);
    assert_int_equal(sent(scene), 2 * 4000);
    cron_for(scene, 8 * 3600); /* each waits for its place in a line of 4,000 a day */
    assert_int_equal(sent(scene), MAILS);
    assert_int_equal(count_jobs(scene, NULL), 0);
    for (int i = 0; i < 2; i++) {
        for (size_t rule = 0; rule < 3; rule++) {
            assert_int_equal(most_in(&taken[i], rules[rule][1] * 1000, false), rules[rule][0]);
        }
        free(taken[i].items);
        taken[i] = (struct marks){0};
    }
}

static void test_dead_for_a_week_without_limits(void **state)
{
    struct scene_worker *scene = *state;
    scene->dsn = "failover(a b)";
    dead_for_a_week(scene);
    run_until(scene, MQ_RUN_EMPTY); /* of 10 ms each, at 4 sessions with a mail behind another */
    assert_int_equal(scene->relay.accepted_count, MAILS);
    assert_in_range(scene->report.ms, MAILS * 10 / 8, MAILS * 10 / 8 * 11 / 10);
    assert_int_equal(count_jobs(scene, NULL), 0);
}

int main(void)
{
#define T(f) cmocka_unit_test_setup_teardown(f, scene_worker_setup, scene_worker_teardown)
    const struct CMUnitTest tests[] = {
        T(test_failover),
        T(test_round_robin),
        T(test_comes_back_within_the_run),
        T(test_moved_to_one_that_fails),
        T(test_quits_together),
        T(test_denies_all),
        T(test_lacks_an_extension),
        T(test_two_of_three_take_nothing),
        T(test_dead_for_a_week),
        T(test_both_dead_for_a_week),
        T(test_dead_for_a_week_with_limits),
        T(test_dead_for_a_week_without_limits),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
