/* A daemon that has nothing to do: how soon it notices what others change in its file. */
#include <signal.h>

#include <sqlite3.h>

#include "db/db.h"
#include "worker_fake.h"

/* What another connection does, and when, in ms of waiting. */
static struct {
    const char *sql[3];
    int64_t at_ms[3];
    int64_t jump_ms; /* when the wall clock jumps an hour ahead; 0: never */
    int64_t end_ms;
    bool writes; /* it writes into a table of its own all the time */
    size_t done;
    int begun;       /* out: transactions of the daemon */
    int64_t sent_ms; /* out: when the last mail was sent */
    sqlite3 *other;
} plan;

static const struct mq_db_driver *file;

static enum mq_status count_begin(struct mq_db *db, struct mq_error *err)
{
    plan.begun++;
    return file->begin(db, err);
}

static void follow_plan(struct scene_worker *scene)
{
    if (plan.writes) {
        sqlite3_exec(plan.other, "CREATE TABLE IF NOT EXISTS orders (n)", NULL, NULL, NULL);
        sqlite3_exec(plan.other, "INSERT INTO orders VALUES (1)", NULL, NULL, NULL);
    }
    for (; plan.done < 3 && plan.sql[plan.done] && scene->waited_ms >= plan.at_ms[plan.done];
         plan.done++) {
        assert_int_equal(sqlite3_exec(plan.other, plan.sql[plan.done], NULL, NULL, NULL),
                         SQLITE_OK);
    }
    if (plan.jump_ms && scene->waited_ms >= plan.jump_ms) {
        scene->wall_ahead_s = 3600;
    }
    if (scene->waited_ms >= plan.end_ms) {
        raise(SIGTERM);
    }
}

static enum mq_status note_sent(struct scene_worker *scene, const struct mq_event *event,
                                struct mq_error *err)
{
    (void)err;
    plan.sent_ms = event->type == MQ_EVENT_SENT ? scene->waited_ms : plan.sent_ms;
    return MQ_OK;
}

static void run_daemon(struct scene_worker *scene)
{
    static struct mq_db_driver counting;
    struct mq_db *db = mq_queue_db(scene->fx.queue);
    counting = *(file = db->driver);
    counting.begin = count_begin;
    db->driver = &counting;
    scene->options.daemon = true;
    scene->on_wait = follow_plan;
    scene->on_event = note_sent;
    run_until(scene, MQ_RUN_SIGNAL);
    db->driver = file;
    assert_int_equal(plan.done, plan.sql[0] ? 1 + !!plan.sql[1] + !!plan.sql[2] : 0);
}

static int setup(void **state)
{
    char path[128];
    scene_worker_setup(state);
    struct scene_worker *scene = *state;
    memset(&plan, 0, sizeof plan);
    plan.end_ms = 60000;
    plan.sent_ms = -1;
    scene_worker_on_file(scene);
    snprintf(path, sizeof path, "%s/db.sqlite", scene->directory);
    return sqlite3_open(path, &plan.other);
}

static int teardown(void **state)
{
    sqlite3_close(plan.other);
    return scene_worker_teardown(state);
}

#define INSERT(at)                                                                              \
    "INSERT INTO mail_queue(mail_type, status, next_attempt_at, created_at, message_id, "       \
    "envelope_from, recipients) VALUES ('mail', 'pending', " at ", 1, '<a@example.org>', "      \
    "'a@example.org', '[\"b@example.org\"]'); INSERT INTO mail_body(id, content) SELECT id, "   \
    "'Subject: x' || char(13, 10, 13, 10) || 'x' || char(13, 10) FROM mail_queue WHERE id NOT " \
    "IN (SELECT id FROM mail_body)"

static void test_new_mail(void **state)
{
    struct scene_worker *scene = *state;
    plan.sql[0] = INSERT("1");
    plan.at_ms[0] = 26000;
    plan.sql[1] = "UPDATE mail_queue SET priority = 1";
    plan.at_ms[1] = 40000;
    run_daemon(scene);
    assert_int_equal(scene->report.sent, 1);
    assert_in_range(plan.sent_ms, 26000, 26200);
    assert_in_range(plan.begun, 12, 20); /* in a minute */
}

/* A campaign waits for the hourly limit; new mail has the reserve, and goes at once. */
static void test_reserve(void **state)
{
    struct scene_worker *scene = *state;
    fx_set(&scene->fx, "mailMaxPerHour", "60");
    for (int i = 0; i < 5; i++) {
        fx_enqueue(&scene->fx, &(struct mail){.recipients = "b@example.org",
                                              .body = "Subject: x\r\n\r\nx\r\n",
                                              .priority = -10});
    }
    plan.sql[0] = INSERT("1");
    plan.at_ms[0] = 26000;
    plan.end_ms = 55000;
    run_daemon(scene);
    assert_int_equal(scene->report.sent, 4);
    assert_in_range(plan.sent_ms, 26000, 26200);
    assert_in_range(plan.begun, 12, 25);
}

/* An application that writes into the same file all the time causes two claims a second at most. */
static void test_writes_of_others(void **state)
{
    struct scene_worker *scene = *state;
    plan.writes = true;
    plan.sql[0] = INSERT("1");
    plan.at_ms[0] = 30500;
    run_daemon(scene);
    assert_int_equal(scene->report.sent, 1);
    assert_in_range(plan.sent_ms, 30500, 31500);
    assert_in_range(plan.begun, 60, 120); /* in a minute */
}

static void test_mail_that_becomes_due(void **state)
{
    struct scene_worker *scene = *state;
    int64_t now_s = START + scene->boot_ms / 1000;
    fx_enqueue(&scene->fx, &(struct mail){.recipients = "a@example.org",
                                          .body = "Subject: x\r\n\r\nx\r\n",
                                          .priority = 3,
                                          .send_at = now_s + 43});
    fx_enqueue(&scene->fx, &(struct mail){.recipients = "b@example.org",
                                          .body = "Subject: x\r\n\r\nx\r\n",
                                          .priority = -3,
                                          .send_at = now_s + 23});
    plan.end_ms = 42000;
    run_daemon(scene);
    assert_int_equal(scene->report.sent, 1);
    assert_in_range(plan.sent_ms, 23000, 23100);
    plan.end_ms = scene->waited_ms + 3000;
    run_daemon(scene);
    assert_int_equal(scene->report.sent, 1);
    assert_in_range(plan.sent_ms, 42900, 43100); /* 10 ms went by while the relay had the first */
}

/* A retry of what was parked, mail that is switched off, and on again. */
static void test_commands(void **state)
{
    struct scene_worker *scene = *state;
    enqueue_mails(scene, 1);
    fx_sql(&scene->fx, "UPDATE mail_queue SET status = 'parked'");
    plan.sql[0] = "INSERT OR REPLACE INTO config(key, value) VALUES ('mailQueueEnabled', '0')";
    plan.at_ms[0] = 20000;
    plan.sql[1] = "UPDATE mail_queue SET status = 'pending', next_attempt_at = 1";
    plan.at_ms[1] = 30000;
    plan.sql[2] = "UPDATE config SET value = '1' WHERE key = 'mailQueueEnabled'";
    plan.at_ms[2] = 40000;
    run_daemon(scene);
    assert_int_equal(scene->report.sent, 1);
    assert_in_range(plan.sent_ms, 40000, 42000);
}

static void test_limit_raised_while_it_waits_for_a_token(void **state)
{
    struct scene_worker *scene = *state;
    fx_set(&scene->fx, "mailMaxPerHour", "1");
    enqueue_mails(scene, 2);
    plan.sql[0] = "UPDATE config SET value = '0' WHERE key = 'mailMaxPerHour'";
    plan.at_ms[0] = 31000;
    run_daemon(scene);
    assert_int_equal(scene->report.sent, 2);
    assert_in_range(plan.sent_ms, 31000, 36000);
}

static void test_clock_jumps(void **state)
{
    struct scene_worker *scene = *state;
    fx_enqueue(&scene->fx, &(struct mail){.recipients = "a@example.org",
                                          .body = "Subject: x\r\n\r\nx\r\n",
                                          .send_at = START + scene->boot_ms / 1000 + 3600});
    plan.jump_ms = 31000;
    run_daemon(scene);
    assert_int_equal(scene->report.sent, 1);
    assert_in_range(plan.sent_ms, 31000, 36000);
}

/* Waiting reads only. A claim that meets the lock is made again: a daemon does not end because
 * another process keeps the file for longer than the busy timeout. */
static void test_another_keeps_the_lock(void **state)
{
    struct scene_worker *scene = *state;
    plan.sql[0] = "BEGIN IMMEDIATE";
    plan.at_ms[0] = 20000;
    plan.sql[1] = INSERT("1");
    plan.at_ms[1] = 30000;
    plan.sql[2] = "COMMIT";
    plan.at_ms[2] = 40000;
    run_daemon(scene);
    assert_int_equal(scene->report.sent, 1);
    assert_in_range(plan.sent_ms, 40000, 42000);
}

int main(void)
{
#define T(f) cmocka_unit_test_setup_teardown(f, setup, teardown)
    const struct CMUnitTest tests[] = {
        T(test_new_mail),
        T(test_writes_of_others),
        T(test_mail_that_becomes_due),
        T(test_reserve),
        T(test_commands),
        T(test_limit_raised_while_it_waits_for_a_token),
        T(test_clock_jumps),
        T(test_another_keeps_the_lock),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
