/* What a transport finds out about its relay is kept in the queue and given to the next run. */
#include "worker_fake.h"

static const char *found;   /* by the fake's transport */
static char remembered[64]; /* what it was told */
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

static void assert_kept(struct scene_worker *scene, const char *expected)
{
    fx_assert_text(&scene->fx, "SELECT value FROM config WHERE key = 'mailRelayPipelining'",
                   expected);
}

static void test_a_finding_is_kept_for_the_next_run(void **state)
{
    struct scene_worker *scene = *state;
    begin(scene);
    enqueue_mails(scene, 3);
    scene->relay.on_step = find_at_second_step;
    run_until(scene, MQ_RUN_EMPTY);
    assert_string_equal(remembered, "");
    assert_kept(scene, "{\"smtp://relay.example:25\":\"group\"}");

    scene->relay.on_step = NULL;
    found = NULL;
    enqueue_mails(scene, 1);
    run_until(scene, MQ_RUN_EMPTY);
    assert_string_equal(remembered, "group");
    assert_kept(scene, "{\"smtp://relay.example:25\":\"group\"}");
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
    assert_kept(scene, "{\"other\":\"dot\",\"smtp://relay.example:25\":\"group\"}");
}

/* An application's user may write what he likes there. */
static void test_what_cannot_be_read_is_replaced(void **state)
{
    struct scene_worker *scene = *state;
    begin(scene);
    fx_sql(&scene->fx, "INSERT INTO config VALUES ('mailRelayPipelining', '[1]')");
    enqueue_mails(scene, 3);
    scene->relay.on_step = find_at_second_step;
    run_until(scene, MQ_RUN_EMPTY);
    assert_string_equal(remembered, "");
    assert_kept(scene, "{\"smtp://relay.example:25\":\"group\"}");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_a_finding_is_kept_for_the_next_run, scene_worker_setup,
                                        scene_worker_teardown),
        cmocka_unit_test_setup_teardown(test_other_relays_keep_theirs, scene_worker_setup,
                                        scene_worker_teardown),
        cmocka_unit_test_setup_teardown(test_what_cannot_be_read_is_replaced, scene_worker_setup,
                                        scene_worker_teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
