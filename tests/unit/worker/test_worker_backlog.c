/* Several routes, and a backlog for a slow relay: it holds up no other mail, costs nothing while it
 * waits, and keeps its order. The clock moves only when the worker waits. */
#include "worker_fake.h"

static void map_senders(struct scene_worker *scene)
{
    assert_int_equal(mq_relays_map(&scene->relays, MQ_STR("@other.x"), MQ_STR("b"), &scene->err),
                     MQ_OK);
}

static void enqueue_from(struct scene_worker *scene, int count, const char *from)
{
    char sql[160];
    snprintf(sql, sizeof(sql),
             "UPDATE mail_queue SET envelope_from = '%s' WHERE envelope_from = 'from@example.org'",
             from);
    enqueue_mails(scene, count);
    fx_sql(&scene->fx, sql);
}

static enum mq_status remember_time(struct fake_relay *relay, struct mq_error *err)
{
    struct scene_worker *scene = relay->scene;
    (void)err;
    if (relay->accepted_count > 0 && scene->counter == 0) {
        scene->counter = (int)scene->boot_ms;
    }
    return MQ_OK;
}

/* Runs with `count` mails for a relay that takes 10 s for each of 8, and then one for another.
 * Returns after how many ms that one has left. */
static int64_t behind(struct scene_worker *scene, int count)
{
    scene->dsn = "a";
    scene->on_relays = map_senders;
    scene->relay.latency_ms = 10000;
    scene->other.latency_ms = 10;
    scene->other.on_step = remember_time;
    enqueue_from(scene, count, "f@one.x");
    enqueue_from(scene, 1, "f@other.x");
    scene->options.time_limit_s = 120;
    int64_t begun_ms = scene->boot_ms;
    run_until(scene, MQ_RUN_TIME);
    assert_int_equal(scene->other.accepted_count, 1);
    return scene->counter - begun_ms;
}

static void test_behind_a_backlog(void **state)
{
    struct scene_worker *scene = *state;
    int64_t ms = behind(scene, 5000);
    int claimed = count_events(scene, MQ_EVENT_CLAIMED), sent = (int)scene->relay.accepted_count;
    print_message("after %lld ms; %d claims for %d mails in two minutes\n", (long long)ms, claimed,
                  sent);
    assert_in_range(ms, 0, 2000);
    assert_in_range(claimed, sent, sent + 200); /* one batch waits, and was claimed once */
}

static void test_behind_a_long_backlog(void **state)
{
    struct scene_worker *scene = *state;
    int64_t ms = behind(scene, 100000);
    print_message("after %lld ms\n", (long long)ms);
    assert_in_range(ms, 0, 1000);
}

/* Messages of which only so many fit into memory: those of the slow relay take not all of it. */
static void test_large(void **state)
{
    struct scene_worker *scene = *state;
    scene->options.max_bytes = 10 * (int64_t)strlen("Subject: x\r\n\r\nx\r\n");
    assert_in_range(behind(scene, 2000), 0, 12000);
}

static void test_few_in_memory(void **state)
{
    struct scene_worker *scene = *state;
    scene->options.max_bytes = 4 * (int64_t)strlen("Subject: x\r\n\r\nx\r\n");
    assert_in_range(behind(scene, 2000), 0, 32000);
}

/* Mail of each sender leaves in the order in which it came, while two backlogs are mixed, in two
 * priorities, and other mail comes. */
static void check_order(const struct fake_relay *relay, size_t count)
{
    assert_int_equal(relay->accepted_count, count);
    for (size_t i = 1; i < count; i++) {
        assert_true(relay->accepted[i] > relay->accepted[i - 1]);
    }
}

static void more_for_the_other(struct scene_worker *scene)
{
    if (scene->counter < 20 && scene->boot_ms > 1005000 + 500 * scene->counter) {
        scene->counter++;
        enqueue_from(scene, 20, "f@other.x");
    }
}

static void test_order(void **state)
{
    struct scene_worker *scene = *state;
    scene->dsn = "a";
    scene->on_relays = map_senders;
    scene->relay.latency_ms = 100;
    scene->other.latency_ms = 30;
    scene->relay.sessions = scene->other.sessions = 1;
    scene->on_wait = more_for_the_other;
    for (int i = 0; i < 10; i++) {
        enqueue_from(scene, 200, "f@one.x");
        enqueue_from(scene, 200, "f@other.x");
    }
    run_until(scene, MQ_RUN_EMPTY);
    check_order(&scene->relay, 2000);
    check_order(&scene->other, 2000 + 20 * 20);
    assert_int_equal(count_events(scene, MQ_EVENT_CLAIMED), 4400);
}

/* A backlog in each of two priorities, and a mail for the other relay behind each of them; then one
 * of the higher priority that comes later. */
static void urgent_for_the_other(struct scene_worker *scene)
{
    if (scene->counter == 0 && scene->boot_ms > 1010000) {
        scene->counter = 1;
        enqueue_from(scene, 1, "f@other.x");
        fx_sql(&scene->fx, "UPDATE mail_queue SET priority = 9 WHERE status = 'pending' AND "
                           "envelope_from = 'f@other.x'");
    }
    if (scene->counter == 1 && scene->other.accepted_count == 3) {
        scene->counter = (int)scene->boot_ms;
    }
}

static void test_priorities(void **state)
{
    struct scene_worker *scene = *state;
    scene->dsn = "a";
    scene->on_relays = map_senders;
    scene->relay.latency_ms = 10000;
    scene->other.latency_ms = 10;
    scene->on_wait = urgent_for_the_other;
    scene->options.time_limit_s = 30;
    enqueue_from(scene, 3000, "f@one.x");
    enqueue_from(scene, 1, "f@other.x");
    fx_sql(&scene->fx, "UPDATE mail_queue SET priority = 9");
    enqueue_from(scene, 3000, "f@one.x");
    enqueue_from(scene, 1, "f@other.x");
    run_until(scene, MQ_RUN_TIME);
    assert_int_equal(scene->other.accepted_count, 3);
    assert_in_range(scene->counter, 1010000, 1012000);
}

/* ---- mail that must wait ---- */

/* Runs with 3,000 mails for the first relay and then one for the other; returns how many were
 * claimed. */
static int claimed_with_a_backlog(struct scene_worker *scene, enum mq_run_end end)
{
    scene->dsn = "a";
    scene->on_relays = map_senders;
    for (int i = 0; i < 3000; i++) {
        fx_mail(&scene->fx, i % 2 ? "to@a.x" : "to@b.x");
    }
    fx_sql(&scene->fx, "UPDATE mail_queue SET envelope_from = 'f@one.x'");
    enqueue_from(scene, 1, "f@other.x");
    int64_t before = fx_int(&scene->fx, "SELECT total_changes()");
    run_until(scene, end);
    int claimed = count_events(scene, MQ_EVENT_CLAIMED);
    print_message("%d claims, %lld rows\n", claimed,
                  (long long)(fx_int(&scene->fx, "SELECT total_changes()") - before));
    assert_int_equal(scene->other.accepted_count, 1);
    assert_int_equal(fx_int(&scene->fx, "SELECT max(attempts) FROM mail_queue"), 0);
    return claimed;
}

/* Mail of a relay that is paused waits until the pause ends, without a claim. */
static void test_paused_relay(void **state)
{
    struct scene_worker *scene = *state;
    char pause[120];
    int64_t until_s = START + scene->boot_ms / 1000 + 600;
    snprintf(pause, sizeof(pause), "{\"smtp://relay.example:25\":\"%lld 1 no\"}",
             (long long)until_s);
    fx_set(&scene->fx, "mailRelayPause", pause);
    assert_in_range(claimed_with_a_backlog(scene, MQ_RUN_EMPTY), 1, 101);
    assert_int_equal(count_jobs(scene, "pending"), 3000);
    assert_int_equal(fx_int(&scene->fx, "SELECT min(next_attempt_at) FROM mail_queue"), until_s);
    assert_int_equal(fx_int(&scene->fx, "SELECT max(next_attempt_at) FROM mail_queue"), until_s);
    fx_assert_text(&scene->fx, "SELECT group_concat(DISTINCT waits_for) FROM mail_queue", "pause");
    fx_set(&scene->fx, "mailRelayPause", NULL); /* a person ends the pause */
    run_until(scene, MQ_RUN_EMPTY);
    check_order(&scene->relay, 3000);
}

/* The same while it is not known yet if a relay takes anything. */
static void test_suspect_relay(void **state)
{
    struct scene_worker *scene = *state;
    scene->relay.answer = deny_all;
    assert_in_range(claimed_with_a_backlog(scene, MQ_RUN_EMPTY), 1, 300);
    assert_int_equal(count_jobs(scene, "pending"), 3000);
}

int main(void)
{
#define T(f) cmocka_unit_test_setup_teardown(f, scene_worker_setup, scene_worker_teardown)
    const struct CMUnitTest tests[] = {
        T(test_behind_a_backlog),
        T(test_behind_a_long_backlog),
        T(test_large),
        T(test_few_in_memory),
        T(test_order),
        T(test_priorities),
        T(test_paused_relay),
        T(test_suspect_relay),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
