/* A campaign through a worker's run: its mails are rendered and sent, and its end is told once. */
#include "worker_fake.h"

#include "campaign/adding.h"
#include "db/db.h"
#include "mime/compose/composer.h"
#include "mime/template/campaign_message.h"
#include "queue/campaign/campaign.h"

static int told;
static int64_t told_id;

static enum mq_status finished(void *context, int64_t id, struct mq_error *err)
{
    (void)context;
    told++;
    told_id = id;
    return id == 7 ? mq_error_set(err, MQ_THROWN, "", "onFinished threw") : MQ_OK;
}

static int64_t campaign_of(struct scene_worker *scene, const char *text)
{
    int64_t id = 0;
    struct fixture *fx = &scene->fx;
    struct mq_buffer octets = {0};
    struct mq_compose_address from = {.field = "from", .address = MQ_STR("news@example.org")};
    struct mq_compose_fields fields = {
        .from = {&from, 1}, .subject = MQ_STR("Hello"), .text = mq_str_of(text)};
    assert_int_equal(mq_campaign_message_make(&fields, &octets, &fx->err), MQ_OK);
    const struct mq_campaign_setup setup = {.message = mq_buffer_view(&octets),
                                            .mail_type = MQ_STR("campaign"),
                                            .priority = -10,
                                            .message_id = "<c@example.org>",
                                            .envelope_from = "news@example.org"};
    assert_int_equal(mq_campaign_open(fx->queue, MQ_STR("spring"), &id, &fx->err), MQ_OK);
    assert_int_equal(mq_campaign_set(fx->queue, id, &setup, &fx->err), MQ_OK);
    mq_buffer_clear(&octets);
    told = 0;
    return id;
}

static void add(struct scene_worker *scene, int64_t id, int count)
{
    struct fixture *fx = &scene->fx;
    struct mq_adding *adding;
    assert_int_equal(mq_adding_begin(fx->queue, id, &adding, &fx->err), MQ_OK);
    for (int i = 0; i < count; i++) {
        char address[40];
        snprintf(address, sizeof(address), "r%d@example.net", i);
        const struct mq_addressee to = {
            .address = mq_str_of(address), .name = MQ_STR("Ann"), .fields = MQ_STR("{\"n\":1}")};
        assert_int_equal(mq_adding_take(adding, fx->queue, &to, &fx->err), MQ_OK);
    }
    assert_int_equal(mq_adding_store(adding, fx->queue, &fx->err), MQ_OK);
    mq_adding_free(adding);
}

static void start(struct scene_worker *scene, int64_t id)
{
    struct fixture *fx = &scene->fx;
    assert_int_equal(mq_campaign_do(fx->queue, id, MQ_CAMPAIGN_START, 0, &fx->err), MQ_OK);
}

static void test_sends_all(void **state)
{
    struct scene_worker *scene = *state;
    int64_t id = campaign_of(scene, "Hello {{name}}, number {{n}}");
    add(scene, id, 2500);
    start(scene, id);
    scene->hooks.finished = finished;
    run_until(scene, MQ_RUN_EMPTY);
    assert_int_equal(scene->report.sent, 2500);
    assert_int_equal(told, 1);
    assert_int_equal(told_id, id);
    fx_assert_text(&scene->fx, "SELECT state || ' ' || on_finished FROM mail_campaign",
                   "finished called");
    run_until(scene, MQ_RUN_EMPTY);
    assert_int_equal(told, 1);
}

/* A run without the hook leaves it to one that has it. */
static void test_told_later(void **state)
{
    struct scene_worker *scene = *state;
    int64_t id = campaign_of(scene, "Hello");
    add(scene, id, 3);
    start(scene, id);
    run_until(scene, MQ_RUN_EMPTY);
    fx_assert_text(&scene->fx, "SELECT on_finished FROM mail_campaign", NULL);
    scene->hooks.finished = finished;
    run_until(scene, MQ_RUN_EMPTY);
    assert_int_equal(told, 1);
}

/* What it did before the exception is not known. */
static void test_throws(void **state)
{
    struct scene_worker *scene = *state;
    int64_t id = campaign_of(scene, "Hello");
    add(scene, id, 1);
    fx_sql(&scene->fx, "UPDATE mail_campaign SET id = 7; UPDATE mail_body SET id = -7 WHERE id < 0;"
                       "UPDATE mail_recipient SET campaign_id = 7");
    start(scene, 7);
    scene->hooks.finished = finished;
    assert_int_equal(run_worker(scene), MQ_THROWN);
    assert_int_equal(told, 1);
    fx_assert_text(&scene->fx, "SELECT state || ' ' || on_finished FROM mail_campaign",
                   "finished begun");
    run_until(scene, MQ_RUN_EMPTY);
    assert_int_equal(told, 1);
    (void)id;
}

/* A mail that cannot be rendered is parked, and holds the campaign up no longer. */
static void test_cannot_be_rendered(void **state)
{
    struct scene_worker *scene = *state;
    int64_t id = campaign_of(scene, "Number {{n}}");
    add(scene, id, 2);
    fx_sql(&scene->fx, "UPDATE mail_recipient SET fields = '{}' WHERE address LIKE '%r1@%'");
    start(scene, id);
    run_until(scene, MQ_RUN_EMPTY);
    assert_int_equal(scene->report.sent, 1);
    fx_assert_text(&scene->fx, "SELECT parked_for FROM mail_queue", "unreadable");
    fx_assert_text(&scene->fx, "SELECT state FROM mail_campaign", "finished");
}

/* ---- a lock of another program ---- */

/* The application has locked the setting that says whether campaigns run, and works on. */
static struct {
    struct scene_worker *scene;
    const struct mq_db_driver *file;
    struct mq_db_driver driver;
    enum mq_status status;
    int64_t until_ms;
    int asked;
} lock;

static enum mq_status run_locked(struct mq_db *db, const struct mq_query *query,
                                 struct mq_error *err)
{
    bool is = query->param_count == 1 && query->params[0].s.data &&
              mq_str_equal(query->params[0].s, MQ_STR("mailCampaigns"));
    if (is && lock.scene->boot_ms < lock.until_ms) {
        lock.asked++;
        lock.scene->boot_ms += 5000; /* busyTimeout */
        return mq_error_set(err, lock.status, "database", "the database is locked");
    }
    return lock.file->run(db, query, err);
}

static void lock_for(struct scene_worker *scene, int64_t ms, enum mq_status status)
{
    struct mq_db *db = mq_queue_db(scene->fx.queue);
    lock.scene = scene;
    lock.file = lock.file ? lock.file : db->driver;
    lock.driver = *lock.file;
    lock.driver.run = run_locked;
    lock.until_ms = scene->boot_ms + ms;
    lock.status = status;
    lock.asked = 0;
    db->driver = &lock.driver;
    fx_set_raw(&scene->fx, "mailCampaigns", "1");
    scene->options.daemon = true;
    scene->options.time_limit_s = 120;
}

static int unlock(void **state)
{
    struct scene_worker *scene = *state;
    mq_queue_db(scene->fx.queue)->driver = lock.file;
    return scene_worker_teardown(state);
}

/* A daemon waits for the lock. */
static void test_locked(void **state)
{
    static const enum mq_status all[] = {MQ_BUSY, MQ_TX_ABORTED};
    struct scene_worker *scene = *state;
    for (size_t i = 0; i < 2; i++) {
        lock_for(scene, 20000, all[i]);
        enqueue_mails(scene, 3);
        run_until(scene, MQ_RUN_TIME);
        assert_int_equal(scene->report.sent, 3);
        assert_in_range(lock.asked, 3, 20);
        fx_assert_text(&scene->fx, "SELECT value FROM config WHERE key = 'mailCampaigns'", "0");
    }
}

/* It waits as long as for a lock on all, and ends in order. */
static void test_locked_for_long(void **state)
{
    struct scene_worker *scene = *state;
    lock_for(scene, 3600000, MQ_BUSY);
    assert_int_equal(run_worker(scene), MQ_BUSY);
    assert_in_range(scene->report.ms, 30000, 45000);
    assert_int_equal(count_files(scene, ".intent"), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_sends_all, scene_worker_setup, scene_worker_teardown),
        cmocka_unit_test_setup_teardown(test_told_later, scene_worker_setup, scene_worker_teardown),
        cmocka_unit_test_setup_teardown(test_throws, scene_worker_setup, scene_worker_teardown),
        cmocka_unit_test_setup_teardown(test_cannot_be_rendered, scene_worker_setup,
                                        scene_worker_teardown),
        cmocka_unit_test_setup_teardown(test_locked, scene_worker_setup, unlock),
        cmocka_unit_test_setup_teardown(test_locked_for_long, scene_worker_setup, unlock),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
