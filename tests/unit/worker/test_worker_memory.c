/* Messages in memory: bounded by bytes, loaded after the claim, deleted a few at a time. */
#include "db/db.h"
#include "queue/event.h"
#include "queue/job.h"
#include "queue/queue.h"
#include "queue/sql/statements.h"
#include "worker_fake.h"

#define MIB      1048576
#define START_MS 1000000 /* of the fake clock */

/* Counts what the database is asked for, and makes it fail. */
static struct {
    const struct mq_db_driver *file;
    struct mq_db_driver driver;
    struct scene_worker *scene;
    bool begun;
    int loads_within; /* messages read within a write transaction */
    int deleted;      /* in this transaction */
    int most_deleted;
    size_t fits;     /* as many messages can be read while others are under way; 0: any number */
    bool never;      /* none can be read */
    int claims_fail; /* this many claims run out of memory */
    int claims;
    int claims_before; /* the test's own */
    int64_t wait_ms;   /* the wait for the write lock, each time */
    int64_t delete_ms; /* how long deleting a message takes */
} database;

static enum mq_status spy_begin(struct mq_db *db, struct mq_error *err)
{
    database.begun = true;
    database.deleted = 0;
    database.scene->boot_ms += database.wait_ms;
    return database.file->begin(db, err);
}

static enum mq_status spy_commit(struct mq_db *db, struct mq_error *err)
{
    database.begun = false;
    if (database.deleted > database.most_deleted) {
        database.most_deleted = database.deleted;
    }
    return database.file->commit(db, err);
}

static void spy_rollback(struct mq_db *db)
{
    database.begun = false;
    database.file->rollback(db);
}

static enum mq_status spy_run(struct mq_db *db, const struct mq_query *query, struct mq_error *err)
{
    bool bodies = query->param_count > 2 && strstr(query->sql, "length(content)");
    bool one = bodies && query->slot < 0;
    const struct fake_relay *relay = &database.scene->relay;
    size_t loaded = relay->under_way_count + relay->transport.pending.count;
    database.loads_within += database.begun && bodies;
    if (query->slot == MQ_SQL_DELETE_BODY) {
        database.deleted++;
        database.scene->boot_ms += database.delete_ms;
    }
    if (query->slot == MQ_SQL_CLAIM_DUE && database.claims++ < database.claims_fail) {
        return mq_error_nomem(err);
    }
    if (one && (database.never || (database.fits > 0 && loaded >= database.fits))) {
        return mq_error_nomem(err);
    }
    return database.file->run(db, query, err);
}

static struct scene_worker *watched(void **state)
{
    struct scene_worker *scene = *state;
    struct mq_db *db = mq_queue_db(scene->fx.queue);
    memset(&database, 0, sizeof(database));
    database.scene = scene;
    database.file = db->driver;
    database.driver = *db->driver;
    database.driver.begin = spy_begin;
    database.driver.commit = spy_commit;
    database.driver.rollback = spy_rollback;
    database.driver.run = spy_run;
    db->driver = &database.driver;
    scene->relay.sessions = 20;
    scene->options.connections = 20;
    return scene;
}

/* A message of lines. */
static void fill(char *message, size_t octets)
{
    memset(message, 'x', octets);
    for (size_t i = 62; i < octets; i += 64) {
        memcpy(message + i, "\r\n", 2);
    }
    memcpy(message, "Subject: x\r\n\r\n", 14);
    memcpy(message + octets - 2, "\r\n", 2);
}

static void enqueue_large(struct scene_worker *scene, int count, size_t octets)
{
    char *body = malloc(octets + 1);
    assert_non_null(body);
    fill(body, octets);
    body[octets] = '\0';
    for (int i = 0; i < count; i++) {
        fx_enqueue(&scene->fx, &(struct mail){.recipients = "to@example.org", .body = body});
    }
    free(body);
}

static int64_t most_sending;

static enum mq_status note_sending(struct fake_relay *relay, struct mq_error *err)
{
    int64_t sending = count_jobs(relay->scene, "sending");
    (void)err;
    most_sending = sending > most_sending ? sending : most_sending;
    return MQ_OK;
}

static void test_bounded_by_bytes(void **state)
{
    struct scene_worker *scene = watched(state);
    scene->options.max_bytes = 3 * MIB;
    enqueue_large(scene, 30, MIB);
    most_sending = 0;
    scene->relay.on_step = note_sending;
    run_until(scene, MQ_RUN_EMPTY);
    assert_int_equal(scene->report.sent, 30);
    assert_int_equal(scene->relay.most_under_way, 3);
    assert_int_equal(database.loads_within, 0);
    /* The first claim takes one job per session, because nothing is known yet. */
    assert_int_equal(most_sending, 20);
}

/* A claim leaves jobs that do not fit in memory to other runs. */
static void test_claims_are_bounded(void **state)
{
    struct scene_worker *scene = watched(state);
    scene->options.max_bytes = 3 * MIB;
    scene->relay.sessions = scene->options.connections = 4;
    enqueue_large(scene, 200, MIB);
    most_sending = 0;
    scene->relay.on_step = note_sending;
    run_until(scene, MQ_RUN_EMPTY);
    assert_int_equal(scene->report.sent, 200);
    assert_in_range(most_sending, 3, 10);
}

static void test_small_ones_are_not(void **state)
{
    struct scene_worker *scene = watched(state);
    scene->options.max_bytes = 3 * MIB;
    enqueue_mails(scene, 200);
    run_until(scene, MQ_RUN_EMPTY);
    assert_int_equal(scene->report.sent, 200);
    assert_int_equal(scene->relay.most_under_way, 40); /* as many as the relay takes in advance */
}

static enum mq_status large_is_alone(struct fake_relay *relay, struct mq_error *err)
{
    (void)err;
    for (size_t i = 0; i < relay->under_way_count; i++) {
        if (relay->under_way[i]->message.len == MIB) {
            assert_int_equal(relay->under_way_count, 1);
            relay->scene->counter++;
        }
    }
    return MQ_OK;
}

static void test_one_always_passes(void **state)
{
    struct scene_worker *scene = watched(state);
    scene->options.max_bytes = 100;
    enqueue_large(scene, 3, MIB);
    enqueue_mails(scene, 10);
    enqueue_large(scene, 1, MIB);
    scene->relay.on_step = large_is_alone;
    run_until(scene, MQ_RUN_EMPTY);
    assert_int_equal(scene->report.sent, 14);
    assert_int_equal(scene->relay.most_under_way, 5); /* of 17 octets each */
    assert_true(scene->counter >= 4);
}

static enum mq_compose_end compose_large(struct scene_worker *scene, const struct mq_job *job,
                                         struct mq_composed *out, struct mq_error *err)
{
    (void)scene;
    (void)job;
    (void)err;
    out->message = calloc(1, MIB + 1);
    assert_non_null(out->message);
    fill(out->message, MIB);
    out->message_len = MIB;
    out->envelope_from = mq_str_dup(MQ_STR("from@example.org"));
    mq_strings_add(&out->recipients, MQ_STR("to@example.org"));
    return MQ_COMPOSED;
}

static void test_composed_ones_count(void **state)
{
    struct scene_worker *scene = watched(state);
    scene->options.max_bytes = 3 * MIB;
    for (int i = 0; i < 12; i++) {
        fx_enqueue(&scene->fx, &(struct mail){0});
    }
    scene->on_compose = compose_large;
    run_until(scene, MQ_RUN_EMPTY);
    assert_int_equal(scene->report.sent, 12);
    assert_int_equal(scene->relay.most_under_way, 4); /* its size is known once it is loaded */
}

/* ---- rows that disappear ---- */

static enum mq_status delete_by_hand(struct fake_relay *relay, struct mq_error *err)
{
    (void)err;
    if (relay->steps == (relay->scene->counter ? 3 : 1)) { /* after the claim, or the first look */
        fx_sql(&relay->scene->fx, relay->scene->counter ? "DELETE FROM mail_body WHERE id > 2"
                                                        : "DELETE FROM mail_queue WHERE id > 2");
    }
    return MQ_OK;
}

static void deleted_between(struct scene_worker *scene, size_t octets, int body_only)
{
    scene->options.max_bytes = octets + 100;
    scene->counter = body_only;
    scene->relay.on_step = delete_by_hand;
    enqueue_large(scene, 8, octets);
    run_until(scene, MQ_RUN_EMPTY);
    assert_in_range(scene->relay.accepted_count, 1, 2);
    assert_int_equal(scene->relay.submits, scene->relay.accepted_count);
}

static void test_row_is_gone(void **state)
{
    struct scene_worker *scene = watched(state);
    deleted_between(scene, MIB, 0);
    assert_int_equal(count_events(scene, MQ_EVENT_STALE), 6);
}

/* No message is composed for it either. */
static void test_body_is_gone(void **state)
{
    struct scene_worker *scene = watched(state);
    scene->on_compose = compose_large;
    scene->options.message_limit = 8;
    scene->options.max_bytes = MIB + 100;
    scene->counter = 1;
    scene->relay.on_step = delete_by_hand;
    enqueue_large(scene, 8, MIB);
    run_until(scene, MQ_RUN_MESSAGES);
    assert_in_range(scene->relay.accepted_count, 1, 2);
    assert_int_equal(scene->report.try_later, 8 - (int64_t)scene->relay.accepted_count);
    assert_int_equal(scene->report.stale, 0);
}

/* A row whose body is a number. The worker reports that row and sends the others. */
static void test_body_is_a_number(void **state)
{
    struct scene_worker *scene = watched(state);
    enqueue_mails(scene, 10);
    fx_sql(&scene->fx, "UPDATE mail_body SET content = 5 WHERE id = 3");
    run_until(scene, MQ_RUN_EMPTY);
    assert_int_equal(scene->report.sent, 9);
    fx_assert_text(&scene->fx, "SELECT parked_for FROM mail_queue", "unreadable");
}

/* ---- too little memory ---- */

static void test_fewer_when_short(void **state)
{
    struct scene_worker *scene = watched(state);
    database.fits = 2;
    enqueue_large(scene, 20, MIB);
    run_until(scene, MQ_RUN_EMPTY);
    assert_int_equal(scene->report.sent, 20);
    assert_int_equal(scene->relay.most_under_way, 2);
}

static void test_too_large_alone(void **state)
{
    struct scene_worker *scene = watched(state);
    database.never = true;
    enqueue_large(scene, 1, MIB);
    enqueue_mails(scene, 5);
    run_until(scene, MQ_RUN_EMPTY);
    assert_int_equal(scene->report.sent, 5);
    assert_int_equal(scene->report.try_later, 1);
    fx_assert_text(&scene->fx, "SELECT last_error FROM mail_queue",
                   "out of memory for a message of 1048576 bytes: give the worker more "
                   "(memory_limit, ulimit -v)");
}

static void test_claim_without_memory(void **state)
{
    struct scene_worker *scene = watched(state);
    database.claims_fail = 3;
    enqueue_mails(scene, 30);
    run_until(scene, MQ_RUN_EMPTY);
    assert_int_equal(scene->report.sent, 30);
    assert_in_range(database.claims, 3 + 12, 60); /* of 20, 10, 5, then ten of 2 */
}

/* Memory is short for a while: afterwards a daemon uses as much as before. */
static void test_claims_grow_again(void **state)
{
    struct scene_worker *scene = watched(state);
    database.claims_fail = 4;
    enqueue_mails(scene, 400);
    run_until(scene, MQ_RUN_EMPTY);
    assert_int_equal(scene->report.sent, 400);
    assert_in_range(database.claims, 4 + 40, 90); /* 10 each of 1, 2, 4, 8, then 16 or more */
}

static enum mq_status short_for_ten(struct fake_relay *relay, struct mq_error *err)
{
    (void)err;
    if (relay->accepted_count < 10) {
        database.fits = 2;
        relay->most_under_way = 0;
    } else {
        database.fits = 0;
    }
    return MQ_OK;
}

static void test_bytes_grow_again(void **state)
{
    struct scene_worker *scene = watched(state);
    scene->relay.on_step = short_for_ten;
    enqueue_large(scene, 200, MIB);
    run_until(scene, MQ_RUN_EMPTY);
    assert_int_equal(scene->report.sent, 200);
    assert_in_range(scene->relay.most_under_way, 20, 40);
}

/* From that minute on there is much to send. */
static void enqueue_after_a_minute(struct scene_worker *scene)
{
    if (scene->counter == 0 && scene->boot_ms >= START_MS + 60000) {
        scene->counter = 1;
        database.claims_before = database.claims;
        enqueue_mails(scene, 20);
    }
}

/* A claim that finds nothing does not prove that there is memory again. */
static void test_empty_claims_show_nothing(void **state)
{
    struct scene_worker *scene = watched(state);
    database.claims_fail = 4;
    scene->options.daemon = true;
    scene->options.time_limit_s = 62;
    scene->on_wait = enqueue_after_a_minute;
    enqueue_mails(scene, 1);
    run_until(scene, MQ_RUN_TIME);
    assert_int_equal(scene->report.sent, 21);
    assert_true(database.claims - database.claims_before >= 10);
}

static void test_no_claim_has_memory(void **state)
{
    struct scene_worker *scene = watched(state);
    database.claims_fail = 100;
    enqueue_mails(scene, 3);
    assert_int_equal(run_worker(scene), MQ_NOMEM);
    assert_int_equal(count_jobs(scene, "pending"), 3);
}

/* ---- settling ---- */

static void test_large_ones_are_deleted_alone(void **state)
{
    struct scene_worker *scene = watched(state);
    scene->options.max_bytes = 100 * MIB;
    enqueue_large(scene, 6, 5 * MIB);
    run_until(scene, MQ_RUN_EMPTY);
    assert_int_equal(scene->report.sent, 6);
    assert_int_equal(scene->relay.most_under_way, 6);
    assert_int_equal(database.most_deleted, 1);
}

static void test_some_are_deleted_together(void **state)
{
    struct scene_worker *scene = watched(state);
    enqueue_large(scene, 12, MIB);
    run_until(scene, MQ_RUN_EMPTY);
    assert_int_equal(scene->report.sent, 12);
    assert_int_equal(database.most_deleted, 4);
}

/* ---- after holding the write lock, the worker leaves it free for as long ---- */

static void test_what_was_held_is_left_free(void **state)
{
    struct scene_worker *scene = watched(state);
    database.delete_ms = 500;
    enqueue_large(scene, 6, 5 * MIB);
    run_until(scene, MQ_RUN_EMPTY);
    assert_in_range(scene->report.ms, 5 * 1000 + 500, 8000);
}

/* Another connection had it while we waited. */
static void test_what_was_waited_for_is_not(void **state)
{
    struct scene_worker *scene = watched(state);
    database.wait_ms = 4000;
    enqueue_large(scene, 6, 5 * MIB);
    run_until(scene, MQ_RUN_EMPTY);
    assert_in_range(scene->report.ms, 9 * 4000, 9 * 4000 + 2000); /* one notes the relays */
    assert_int_equal(scene->report.sent, 6);
}

static void test_nor_by_the_sweep(void **state)
{
    struct scene_worker *scene = watched(state);
    database.wait_ms = 4000;
    enqueue_large(scene, 12, MIB); /* of which a transaction deletes 4 */
    fx_sql(&scene->fx, "UPDATE mail_queue SET expires_at = 1, next_attempt_at = 9999999999");
    run_until(scene, MQ_RUN_EMPTY);
    assert_in_range(scene->report.ms, 0, 8 * 4000 + 1000);
    assert_int_equal(scene->report.expired, 12);
}

/* Expired mails, when the sweep is done; after them one that is not expired. */
static void enqueue_expired(struct scene_worker *scene)
{
    if (scene->counter == 0 && scene->boot_ms >= START_MS + 5000) {
        scene->counter = 1;
        enqueue_large(scene, 12, MIB);
        fx_sql(&scene->fx, "UPDATE mail_queue SET expires_at = 1");
        enqueue_mails(scene, 1);
    }
}

/* The next claim comes when that time is over, no later. */
static void test_claims_when_it_was_free(void **state)
{
    struct scene_worker *scene = watched(state);
    database.delete_ms = 20;
    scene->options.daemon = true;
    scene->options.time_limit_s = 7;
    scene->on_wait = enqueue_expired;
    run_until(scene, MQ_RUN_TIME);
    assert_int_equal(scene->report.expired, 12);
    assert_int_equal(scene->report.sent, 1);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, scene_worker_setup, scene_worker_teardown)
    const struct CMUnitTest tests[] = {
        TEST(test_bounded_by_bytes),
        TEST(test_claims_are_bounded),
        TEST(test_small_ones_are_not),
        TEST(test_one_always_passes),
        TEST(test_composed_ones_count),
        TEST(test_row_is_gone),
        TEST(test_body_is_gone),
        TEST(test_body_is_a_number),
        TEST(test_fewer_when_short),
        TEST(test_too_large_alone),
        TEST(test_claim_without_memory),
        TEST(test_claims_grow_again),
        TEST(test_bytes_grow_again),
        TEST(test_no_claim_has_memory),
        TEST(test_large_ones_are_deleted_alone),
        TEST(test_some_are_deleted_together),
        TEST(test_empty_claims_show_nothing),
        TEST(test_what_was_held_is_left_free),
        TEST(test_what_was_waited_for_is_not),
        TEST(test_nor_by_the_sweep),
        TEST(test_claims_when_it_was_free),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
