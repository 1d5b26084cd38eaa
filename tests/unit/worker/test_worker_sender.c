/* Envelope senders that name the recipient: what the relay gets. */
#include "worker_fake.h"

#include "queue/suppress/sender.h"

static char senders[8][100];
static int sent;

static void note(struct fake_relay *relay, struct mq_transfer *transfer)
{
    (void)relay;
    snprintf(senders[sent++ % 8], sizeof(senders[0]), "%s", transfer->from);
}

static void store(struct scene_worker *scene, const char *sender, const char *one, const char *two)
{
    struct fixture *fx = &scene->fx;
    struct mq_strings to = {0};
    int64_t id;
    assert_true(mq_strings_add(&to, mq_str_of(one)));
    assert_true(!two || mq_strings_add(&to, mq_str_of(two)));
    struct mq_new_job job = {.mail_type = MQ_STR("mail"),
                             .message_id = "<x@example.org>",
                             .envelope_from = sender,
                             .recipients = &to,
                             .body = MQ_STR("Subject: x\r\n\r\nx\r\n")};
    assert_int_equal(mq_new_job_check(&job, &fx->err), MQ_OK);
    assert_int_equal(mq_queue_enqueue(fx->queue, &job, 1, &id, &fx->err), MQ_OK);
    mq_strings_clear(&to);
}

static void expect(struct scene_worker *scene, int i, const char *recipient)
{
    struct mq_buffer out = {0};
    assert_int_equal(mq_suppress_sender(scene->fx.queue, "bounces+*@example.org", recipient, &out,
                                        &scene->fx.err),
                     MQ_OK);
    assert_string_equal(senders[i], out.data);
    mq_buffer_clear(&out);
}

static void run(struct scene_worker *scene)
{
    sent = 0;
    scene->relay.on_body = note;
    run_until(scene, MQ_RUN_EMPTY);
}

static void test_tokens(void **state)
{
    struct scene_worker *scene = *state;
    store(scene, "bounces+*@example.org", "Ann@example.net", NULL);
    store(scene, "bounces+*@example.org", "ann@example.net", "bea@example.net");
    store(scene, "bounces@example.org", "ann@example.net", NULL);
    store(scene, "", "ann@example.net", NULL);
    run(scene);
    assert_int_equal(sent, 4);
    expect(scene, 0, "ann@example.net");
    assert_string_equal(senders[1], "bounces+many@example.org");
    assert_string_equal(senders[2], "bounces@example.org");
    assert_string_equal(senders[3], "");
}

/* A bounce of redirected mail is not about the customer. */
static void test_redirected(void **state)
{
    struct scene_worker *scene = *state;
    fx_set(&scene->fx, "mailRedirectTo", "test@example.org");
    store(scene, "bounces+*@example.org", "ann@example.net", "bea@example.net");
    run(scene);
    assert_int_equal(sent, 1);
    expect(scene, 0, "test@example.org");
}

/* Without the key nobody could read the bounce, so the mail waits. */
static void test_no_key(void **state)
{
    struct scene_worker *scene = *state;
    fx_sql(&scene->fx, "DELETE FROM config WHERE key = 'mailSuppressionKey'");
    store(scene, "bounces+*@example.org", "ann@example.net", NULL);
    store(scene, "bounces@example.org", "ann@example.net", NULL);
    run(scene);
    assert_int_equal(sent, 1);
    fx_assert_text(&scene->fx, "SELECT status || substr(last_error, 1, 29) FROM mail_queue",
                   "failedconfig key mailSuppressionKey");
}

static void test_refused(void **state)
{
    struct scene_worker *scene = *state;
    struct mq_new_job job = {.mail_type = MQ_STR("mail"),
                             .message_id = "<x@example.org>",
                             .envelope_from = "bounces-of-our-newsletter-and-shop*@example.org"};
    assert_int_equal(mq_new_job_check(&job, &scene->fx.err), MQ_MESSAGE);
    assert_string_equal(scene->fx.err.field, "envelopeFrom");
}

#define SCENE(test) cmocka_unit_test_setup_teardown(test, scene_worker_setup, scene_worker_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        SCENE(test_tokens),
        SCENE(test_redirected),
        SCENE(test_no_key),
        SCENE(test_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
