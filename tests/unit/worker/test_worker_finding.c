/* What a transport finds out about its relay is stored in the queue for the next run. */
#include <signal.h>

#include "worker_fake.h"

static const char *found;   /* by the fake's transport */
static char remembered[64]; /* the finding that it was given */
static struct mq_transport_ops ops;

static const char *finding(const struct mq_transport *transport)
{
    (void)transport;
    return found;
}

static void remember(struct mq_transport *transport, const char *text)
{
    (void)transport;
    snprintf(remembered, sizeof(remembered), "%s", text);
    found = strcmp(text, "group") == 0 ? "group" : NULL;
}

static void begin(struct scene_worker *scene)
{
    found = NULL;
    remembered[0] = '\0';
    ops = *scene->relay.transport.ops;
    ops.finding = finding;
    ops.remember = remember;
    scene->relay.transport.ops = &ops;
}

static enum mq_status find_at_second_step(struct fake_relay *relay, struct mq_error *err)
{
    (void)err;
    if (relay->steps == 2) {
        found = "group";
    }
    return MQ_OK;
}

#define DAY_S 86400

static int64_t now_s(const struct scene_worker *scene)
{
    return START + scene->wall_ahead_s + scene->boot_ms / 1000;
}

/* The stored finding: `before`, a time this many days ahead, `after`. */
static void assert_kept_for(struct scene_worker *scene, const char *before, int days,
                            const char *after)
{
    char *value = NULL;
    char *end = NULL;
    assert_int_equal(mq_queue_config(scene->fx.queue, "mailRelayPipelining", &value, NULL), MQ_OK);
    assert_non_null(value);
    assert_memory_equal(value, before, strlen(before));
    int64_t until = strtoll(value + strlen(before), &end, 10);
    assert_in_range(until, now_s(scene) + days * DAY_S - 60, now_s(scene) + days * DAY_S);
    assert_string_equal(end, after);
    free(value);
}

static void test_a_finding_is_kept_for_the_next_run(void **state)
{
    struct scene_worker *scene = *state;
    begin(scene);
    enqueue_mails(scene, 3);
    scene->relay.on_step = find_at_second_step;
    run_until(scene, MQ_RUN_EMPTY);
    assert_string_equal(remembered, "");
    assert_kept_for(scene, "{\"smtp://relay.example:25\":\"group ", 30, "\"}");

    scene->relay.on_step = NULL;
    found = NULL;
    scene->wall_ahead_s += DAY_S;
    enqueue_mails(scene, 1);
    run_until(scene, MQ_RUN_EMPTY);
    assert_string_equal(remembered, "group");
    assert_kept_for(scene, "{\"smtp://relay.example:25\":\"group ", 29, "\"}");
}

static void find_in_a_run(struct scene_worker *scene)
{
    begin(scene);
    enqueue_mails(scene, 3);
    scene->relay.on_step = find_at_second_step;
    run_until(scene, MQ_RUN_EMPTY);
    assert_kept_for(scene, "{\"smtp://relay.example:25\":\"group ", 30, "\"}");
    scene->relay.on_step = NULL;
}

/* A relay that lost one connection this way is tried again later. */
static void test_it_is_found_again_after_a_month(void **state)
{
    struct scene_worker *scene = *state;
    find_in_a_run(scene);
    scene->wall_ahead_s += 31 * DAY_S;
    found = NULL;
    enqueue_mails(scene, 3);
    scene->relay.on_step = find_at_second_step;
    scene->relay.steps = 0;
    run_until(scene, MQ_RUN_EMPTY);
    assert_string_equal(remembered, "");
    assert_kept_for(scene, "{\"smtp://relay.example:25\":\"group ", 30, "\"}");
}

static void test_what_a_wrong_clock_kept(void **state)
{
    struct scene_worker *scene = *state;
    scene->wall_ahead_s = INT64_C(10) * 365 * DAY_S;
    find_in_a_run(scene);
    scene->wall_ahead_s = 0;
    found = NULL;
    enqueue_mails(scene, 1);
    run_until(scene, MQ_RUN_EMPTY);
    assert_string_equal(remembered, "");
    assert_null(found);
}

static void end_after_31_days(struct scene_worker *scene)
{
    if (scene->waited_ms > INT64_C(31) * DAY_S * 1000) {
        raise(SIGTERM);
    } else {
        scene->boot_ms += 3600000;
        scene->waited_ms += 3600000;
    }
}

static void test_a_daemon_finds_it_again(void **state)
{
    struct scene_worker *scene = *state;
    begin(scene);
    enqueue_mails(scene, 3);
    scene->relay.on_step = find_at_second_step;
    scene->options.daemon = true;
    scene->on_wait = end_after_31_days;
    run_until(scene, MQ_RUN_SIGNAL);
    assert_null(found);
}

static void test_what_a_relay_can_lasts(void **state)
{
    struct scene_worker *scene = *state;
    begin(scene);
    fx_set(&scene->fx, "mailRelayPipelining", "{\"smtp://relay.example:25\":\"dot\"}");
    enqueue_mails(scene, 1);
    run_until(scene, MQ_RUN_EMPTY);
    assert_string_equal(remembered, "dot");
}

static void test_other_relays_keep_theirs(void **state)
{
    struct scene_worker *scene = *state;
    begin(scene);
    fx_set(&scene->fx, "mailRelayPipelining", "{\"other\":\"dot\"}");
    enqueue_mails(scene, 3);
    scene->relay.on_step = find_at_second_step;
    run_until(scene, MQ_RUN_EMPTY);
    assert_string_equal(remembered, "");
    assert_kept_for(scene, "{\"other\":\"dot\",\"smtp://relay.example:25\":\"group ", 30, "\"}");
}

/* The application may have written anything there. */
static void test_what_cannot_be_read_is_replaced(void **state)
{
    struct scene_worker *scene = *state;
    begin(scene);
    fx_sql(&scene->fx, "INSERT INTO config VALUES ('mailRelayPipelining', '[1]')");
    enqueue_mails(scene, 3);
    scene->relay.on_step = find_at_second_step;
    run_until(scene, MQ_RUN_EMPTY);
    assert_string_equal(remembered, "");
    assert_kept_for(scene, "{\"smtp://relay.example:25\":\"group ", 30, "\"}");
}

int main(void)
{
#define T(f) cmocka_unit_test_setup_teardown(f, scene_worker_setup, scene_worker_teardown)
    const struct CMUnitTest tests[] = {
        T(test_a_finding_is_kept_for_the_next_run),
        T(test_it_is_found_again_after_a_month),
        T(test_what_a_wrong_clock_kept),
        T(test_a_daemon_finds_it_again),
        T(test_what_a_relay_can_lasts),
        T(test_other_relays_keep_theirs),
        T(test_what_cannot_be_read_is_replaced),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
