/* A domain whose recipients fail is slowed down, and does not slow down the others. */
#include "worker_fake.h"

#include "db/db.h"

static bool to(const struct mq_target *target, const char *domain)
{
    return strstr(target->address, domain) != NULL;
}

/* Defers all of slow.x, and takes all others. */
static void defer_slow(struct fake_relay *relay, struct mq_transfer *transfer,
                       struct mq_target *target)
{
    (void)transfer;
    bool slow = to(target, "@slow.x");
    relay->scene->counter += slow;
    target->phase = slow ? "rcpt" : "dot";
    if (slow) {
        set_result(target, MQ_OUTCOME_DEFERRED, "450 4.7.1 try later");
    } else {
        set_result(target, MQ_OUTCOME_DELIVERED, "250 2.0.0 Ok");
    }
}

/* Defers most of all domains: that is the relay's doing. */
static void defer_most(struct fake_relay *relay, struct mq_transfer *transfer,
                       struct mq_target *target)
{
    (void)transfer;
    target->phase = "rcpt";
    if (++relay->scene->counter % 3) {
        set_result(target, MQ_OUTCOME_DEFERRED, "450 4.7.1 greylisted");
    } else {
        set_result(target, MQ_OUTCOME_DELIVERED, "250 2.0.0 Ok");
    }
}

/* `count` mails to ten domains in turn, and to slow.x every `every`th. */
static void mix(struct scene_worker *scene, int count, int every)
{
    for (int i = 0; i < count; i++) {
        char address[32];
        snprintf(address, sizeof(address), "a@d%d.x", i % 10);
        fx_mail(&scene->fx, every && i % every == 0 ? "a@slow.x" : address);
    }
}

static int64_t slow_pause(struct scene_worker *scene)
{
    char *text = fx_text(&scene->fx, "SELECT substr(value, instr(value, '@slow.x') + 10) FROM "
                                     "config WHERE key = 'mailSlowDomains'");
    int64_t pause_s = text ? atoll(text) : 0;
    free(text);
    return pause_s;
}

/* How long the other mail takes, in ms a mail. */
static double pace(int every, bool fails)
{
    void *state;
    scene_worker_setup(&state);
    struct scene_worker *scene = state;
    scene->relay.answer = fails ? defer_slow : NULL;
    mix(scene, 3000, every);
    int64_t begun_ms = scene->boot_ms;
    run_until(scene, MQ_RUN_EMPTY);
    double ms = (double)(scene->boot_ms - begun_ms) / (double)scene->relay.accepted_count;
    scene_worker_teardown(&state);
    return ms;
}

static void test_others(void **state)
{
    (void)state;
    double alone = pace(0, false);
    double beside = pace(2, true);
    print_message("%.3f ms a mail alone, %.3f beside a domain that fails\n", alone, beside);
    assert_true(beside <= alone / 0.9);
}

/* What was claimed before is tried at once; the rest waits for the slow pace. */
static void test_slowed(void **state)
{
    struct scene_worker *scene = *state;
    scene->relay.answer = defer_slow;
    mix(scene, 1000, 2);
    run_until(scene, MQ_RUN_EMPTY);
    assert_int_equal(scene->report.sent, 500);
    assert_in_range(scene->counter, 20, 150);
    assert_in_range(fx_int(&scene->fx, "SELECT count(*) FROM mail_queue WHERE attempts = 0 AND "
                                       "waits_for LIKE 'mailSlowdown: 1 mail in %s to @slow.x'"),
                    350, 480);
    assert_int_equal(slow_pause(scene), 10);
}

/* Runs of a minute share what they see: together they see enough. */
static void test_cron(void **state)
{
    struct scene_worker *scene = *state;
    scene->relay.answer = defer_slow;
    for (int i = 1; i <= 4; i++) {
        fx_mail(&scene->fx, "a@good.x"); /* shows that the relay works */
        for (int n = 0; n < 6; n++) {
            fx_mail(&scene->fx, "a@slow.x");
        }
        run_until(scene, MQ_RUN_EMPTY);
        assert_int_equal(slow_pause(scene), i < 4 ? 0 : 10);
        scene->boot_ms += 20000;
    }
}

/* Runs of a minute, in which other mail shows that the relay works. */
static void minutes(struct scene_worker *scene, int count)
{
    for (int i = 0; i < count; i++) {
        fx_mail(&scene->fx, "a@good.x");
        cron_for(scene, 60);
    }
}

/* The pause grows while mail fails; once it is accepted, all of it arrives. */
static void test_recovers(void **state)
{
    struct scene_worker *scene = *state;
    scene->options.time_limit_s = 55;
    scene->relay.answer = defer_slow;
    mix(scene, 400, 2);
    minutes(scene, 40);
    assert_int_equal(slow_pause(scene), 320);
    int tried = scene->counter;
    minutes(scene, 53);
    assert_in_range(scene->counter - tried, 8, 11);
    scene->relay.answer = NULL;
    int recovering = 0;
    for (; slow_pause(scene) > 0 && recovering < 60; recovering++) {
        minutes(scene, 1);
    }
    print_message("slowed down for %d more minutes\n", recovering);
    assert_in_range(recovering, 5, 30);
    minutes(scene, 11);
    assert_int_equal(fx_int(&scene->fx, "SELECT count(*) FROM mail_queue WHERE waits_for IS NOT "
                                        "NULL"),
                     0);
}

/* If most domains fail, it is the relay, or we: no domain is slowed down for that. */
static void test_general(void **state)
{
    struct scene_worker *scene = *state;
    scene->relay.answer = defer_most;
    mix(scene, 1000, 0);
    run_until(scene, MQ_RUN_EMPTY);
    assert_int_equal(fx_int(&scene->fx, "SELECT count(*) FROM mail_queue WHERE waits_for IS NOT "
                                        "NULL"),
                     0);
}

/* Defers the first of each 20. */
static void defer_some(struct fake_relay *relay, struct mq_transfer *transfer,
                       struct mq_target *target)
{
    (void)transfer;
    bool bad = relay->scene->counter++ % 20 == 0;
    target->phase = "rcpt";
    if (bad) {
        set_result(target, MQ_OUTCOME_DEFERRED, "450 4.2.0 later");
    } else {
        set_result(target, MQ_OUTCOME_DELIVERED, "250 2.0.0 Ok");
    }
}

/* Runs that are killed early must not have counted their first failure without what went well. */
static void test_first(void **state)
{
    struct scene_worker *scene = *state;
    fx_sql(&scene->fx, "CREATE TABLE seen(value TEXT)");
    struct mq_query spy = {-1,
                           "CREATE TRIGGER spy AFTER INSERT ON config WHEN new.key = "
                           "'mailSlowDomains' BEGIN INSERT INTO seen VALUES(new.value); END",
                           NULL, 0};
    assert_int_equal(mq_db_exec(mq_queue_db(scene->fx.queue), &spy, &scene->err), MQ_OK);
    scene->relay.answer = defer_some;
    scene->options.batch = 10;
    for (int i = 0; i < 400; i++) {
        fx_mail(&scene->fx, "a@slow.x");
    }
    run_until(scene, MQ_RUN_EMPTY);
    char *first = fx_text(&scene->fx, "SELECT value FROM seen");
    int good = 0, bad = 0;
    assert_int_equal(sscanf(first, "{\"@slow.x\":\"%*d %*d %*d %d %d", &good, &bad), 2);
    assert_in_range(good, 10 * bad, 400);
    free(first);
}

/* A run in which nothing fails writes nothing of this. */
static void test_quiet(void **state)
{
    struct scene_worker *scene = *state;
    fx_sql(&scene->fx, "CREATE TABLE seen(key TEXT)");
    struct mq_query spy = {-1,
                           "CREATE TRIGGER spy AFTER INSERT ON config BEGIN INSERT INTO seen "
                           "VALUES(new.key); END",
                           NULL, 0};
    assert_int_equal(mq_db_exec(mq_queue_db(scene->fx.queue), &spy, &scene->err), MQ_OK);
    mix(scene, 1000, 2);
    run_until(scene, MQ_RUN_EMPTY);
    assert_int_equal(scene->report.sent, 1000);
    assert_int_equal(fx_int(&scene->fx, "SELECT count(*) FROM seen WHERE key LIKE '%Slow%'"), 0);
    scene->relay.answer = defer_slow; /* the spy sees it */
    mix(scene, 10, 2);
    run_until(scene, MQ_RUN_EMPTY);
    assert_int_equal(fx_int(&scene->fx, "SELECT count(*) FROM seen WHERE key LIKE '%Slow%'"), 1);
}

static void defer_by_name(struct fake_relay *relay, struct mq_transfer *transfer,
                          struct mq_target *target)
{
    (void)relay, (void)transfer;
    target->phase = "rcpt";
    set_result(target, MQ_OUTCOME_DEFERRED,
               "450 4.2.1 <Ann.B+c@slow.x> (ann=y@slow.x,bo@z): jo\xcc\x88@slow.x a@b@c @slow.x");
}

/* What is kept of a reply names no mailbox. */
static void test_nobody(void **state)
{
    struct scene_worker *scene = *state;
    scene->relay.answer = defer_by_name;
    fx_mail(&scene->fx, "a@slow.x");
    run_until(scene, MQ_RUN_EMPTY);
    fx_assert_text(&scene->fx,
                   "SELECT substr(value, instr(value, '450')) FROM config WHERE key = "
                   "'mailSlowDomains'",
                   "450 4.2.1 <*@slow.x> (*@slow.x,*@z): *@slow.x *@c @slow.x\"}");
}

int main(void)
{
#define SCENE(test) cmocka_unit_test_setup_teardown(test, scene_worker_setup, scene_worker_teardown)
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_others), SCENE(test_slowed), SCENE(test_cron),  SCENE(test_recovers),
        SCENE(test_general),           SCENE(test_first),  SCENE(test_quiet), SCENE(test_nobody),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
