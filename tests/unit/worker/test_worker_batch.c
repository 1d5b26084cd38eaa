/* How many jobs a worker's cycle settles and claims. */
#include "mime/dkim/sign.h"
#include "worker_fake.h"

/* Records a cycle when the number of jobs held has changed since the last body. */
static void see_turn(struct fake_relay *relay, struct mq_transfer *transfer)
{
    static int64_t held;
    struct scene_worker *scene = relay->scene;
    (void)transfer;
    int64_t last = fx_int(&scene->fx, "SELECT max(id) FROM mail_queue WHERE status = 'sending'");
    scene->counter += scene->counter == 0 || last != held;
    held = last;
}

/* A transaction on a server costs a dozen round trips: even with few sessions it settles and claims
 * about a whole batch, not half of one. */
static void test_turns_of_a_batch(void **state)
{
    struct scene_worker *scene = *state;
    scene->options.batch = 100;
    scene->options.connections = 1;
    scene->relay.sessions = 1;
    scene->relay.latency_ms = 0;
    scene->relay.on_body = see_turn;
    enqueue_mails(scene, 2000);
    run_until(scene, MQ_RUN_EMPTY);
    assert_int_equal(scene->report.sent, 2000);
    assert_in_range(scene->counter, 2000 / 100, 2000 / 100 + 3);
}

static enum mq_status sign_slowly(void *context, const struct mq_dkim_mail *mail,
                                  struct mq_buffer *out, struct mq_error *err)
{
    struct scene_worker *scene = context;
    (void)mail;
    (void)out;
    (void)err;
    scene->boot_ms += 2;
    return MQ_OK;
}

/* While signing keeps sessions waiting, each mail that ends makes room for one more. A claim of one
 * costs as much as one of many. */
static void test_no_claims_of_a_few(void **state)
{
    struct scene_worker *scene = *state;
    scene->options.batch = 10;
    scene->options.connections = 30;
    scene->relay.sessions = 30;
    scene->relay.latency_ms = 20;
    scene->relay.on_body = see_turn;
    scene->hooks.sign = sign_slowly;
    enqueue_mails(scene, 1000);
    run_until(scene, MQ_RUN_EMPTY);
    assert_int_equal(scene->report.sent, 1000);
    assert_in_range(scene->counter, 1, 1000 / 5);
}

int main(void)
{
#define T(f) cmocka_unit_test_setup_teardown(f, scene_worker_setup, scene_worker_teardown)
    const struct CMUnitTest tests[] = {
        T(test_turns_of_a_batch),
        T(test_no_claims_of_a_few),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
