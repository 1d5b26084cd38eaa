/* How a run stops, and what it does when its leases or its database fail. */
#include "worker_fake.h"

#include <signal.h>
#include <unistd.h>

/* ---- signals ---- */

static void term_once(struct fake_relay *relay, struct mq_transfer *transfer)
{
    (void)transfer;
    if (relay->scene->counter++ == 0) {
        raise(SIGTERM);
    }
}

/* Finishes deliveries under way, releases the others with their attempts and tokens. */
static void test_sigterm(void **state)
{
    struct scene_worker *scene = *state;
    struct sigaction before, after;
    sigaction(SIGTERM, NULL, &before);
    fx_set(&scene->fx, "mailMaxPerHour", "3600");
    fx_set(&scene->fx, "mailBurst", "50");
    scene->relay.on_body = term_once;
    scene->relay.latency_ms = 3000;
    enqueue_mails(scene, 30);
    run_until(scene, MQ_RUN_SIGNAL);
    assert_int_equal(scene->report.sent, 4);
    assert_int_equal(count_jobs(scene, "pending"), 26);
    assert_int_equal(fx_int(&scene->fx, "SELECT max(attempts) FROM mail_queue"), 0);
    assert_true(fx_tokens(&scene->fx) >= 46);
    assert_int_equal(scene->relay.wind_downs, 1);
    assert_int_equal(scene->relay.aborts, 0);
    sigaction(SIGTERM, NULL, &after);
    assert_true(before.sa_handler == after.sa_handler);
}

/* A delivery that does not finish within the grace period is cut off: if its body is out, it is
 * uncertain. */
static void test_grace_is_over(void **state)
{
    struct scene_worker *scene = *state;
    scene->relay.on_body = term_once;
    scene->relay.latency_ms = 100000;
    scene->options.grace_s = 10;
    scene->options.lease_s = 3600;
    enqueue_mails(scene, 20);
    run_until(scene, MQ_RUN_SIGNAL);
    assert_in_range(scene->report.ms, 60000, 60400);
    assert_int_equal(scene->relay.aborts, 1);
    assert_int_equal(scene->report.uncertain, 8);
    assert_int_equal(count_jobs(scene, "pending"), 12);
    assert_int_equal(count_jobs(scene, "failed"), 8);
}

static void term_twice(struct fake_relay *relay, struct mq_transfer *transfer)
{
    (void)transfer;
    if (relay->scene->counter++ == 0) {
        raise(SIGTERM);
        raise(SIGINT);
    }
}

static void test_second_signal(void **state)
{
    struct scene_worker *scene = *state;
    scene->relay.on_body = term_twice;
    scene->relay.latency_ms = 10000;
    enqueue_mails(scene, 20);
    run_until(scene, MQ_RUN_SIGNAL);
    assert_in_range(scene->report.ms, 5000, 5400);
    assert_int_equal(scene->relay.aborts, 1);
    assert_int_equal(scene->report.uncertain + count_jobs(scene, "pending"), 20);
    assert_int_equal(count_jobs(scene, "sending"), 0);
}

static void file_too_large(struct fake_relay *relay, struct mq_transfer *transfer)
{
    (void)transfer;
    relay->scene->counter++;
    raise(SIGXFSZ);
    raise(SIGPIPE);
}

/* Either signal would end the process; afterwards both have their earlier handlers. */
static void test_signals_of_failed_writes(void **state)
{
    struct scene_worker *scene = *state;
    struct sigaction after;
    scene->relay.on_body = file_too_large;
    enqueue_mails(scene, 3);
    run_until(scene, MQ_RUN_EMPTY);
    assert_int_equal(scene->counter, 3);
    assert_int_equal(scene->report.sent, 3);
    sigaction(SIGXFSZ, NULL, &after);
    assert_true(after.sa_handler == SIG_DFL);
}

/* ---- hooks that end the run ---- */

static enum mq_status throw_at_third(struct scene_worker *scene, const struct mq_event *event,
                                     struct mq_error *err)
{
    if (event->type == MQ_EVENT_SENT && ++scene->counter == 3) {
        return mq_error_set(err, MQ_THROWN, "", "onEvent threw");
    }
    return MQ_OK;
}

static void test_listener_throws(void **state)
{
    struct scene_worker *scene = *state;
    scene->on_event = throw_at_third;
    scene->relay.latency_ms = 100;
    enqueue_mails(scene, 100);
    assert_int_equal(run_worker(scene), MQ_THROWN);
    assert_string_equal(scene->err.text, "onEvent threw");
    assert_int_equal(count_jobs(scene, "sending"), 0);
    assert_int_equal(scene->report.sent + count_jobs(scene, "pending"), 100);
    assert_int_equal(count_files(scene, ".intent"), 0);
    assert_string_equal(last_event(scene, MQ_EVENT_RUN)->type ? "run" : "", "run");
}

static enum mq_compose_end compose_bails_out(struct scene_worker *scene, const struct mq_job *job,
                                             struct mq_composed *out, struct mq_error *err)
{
    (void)scene;
    (void)job;
    (void)out;
    mq_error_set(err, MQ_BAILOUT, "", "unwinding");
    return MQ_COMPOSE_STOP;
}

/* The run changes nothing any more; the record stays, and the next run counts the attempt. */
static void test_bailout(void **state)
{
    struct scene_worker *scene = *state;
    scene->on_compose = compose_bails_out;
    enqueue_mails(scene, 2);
    fx_enqueue(&scene->fx, &(struct mail){.type = "mail", .priority = 5});
    assert_int_equal(run_worker(scene), MQ_BAILOUT);
    assert_int_equal(count_jobs(scene, "sending"), 3);
    assert_int_equal(count_files(scene, ".intent"), 1);
    scene->on_compose = NULL;
    run_until(scene, MQ_RUN_EMPTY);
    assert_int_equal(scene->report.sent, 2);
    assert_int_equal(scene->report.recovered, 2);
    assert_int_equal(fx_int(&scene->fx, "SELECT attempts FROM mail_queue"), 1);
}

static enum mq_status step_throws(struct fake_relay *relay, struct mq_error *err)
{
    if (relay->under_way_count == 0) {
        return MQ_OK;
    }
    return mq_error_set(err, MQ_THROWN, "", "the transport threw");
}

static void test_transport_throws(void **state)
{
    struct scene_worker *scene = *state;
    scene->relay.on_step = step_throws;
    enqueue_mails(scene, 10);
    assert_int_equal(run_worker(scene), MQ_THROWN);
    assert_int_equal(count_jobs(scene, "pending"), 10);
    assert_int_equal(count_files(scene, ".intent"), 0);
}

/* ---- leases ---- */

/* Leases are renewed after a third, also of jobs that only wait. Without renewal, these 40 s would
 * outlast them. */
static void test_renewal(void **state)
{
    struct scene_worker *scene = *state;
    scene->options.lease_s = 12;
    scene->options.batch = 20;
    scene->relay.latency_ms = 20000;
    enqueue_mails(scene, 16);
    run_until(scene, MQ_RUN_EMPTY);
    assert_int_equal(scene->report.sent, 16);
    assert_int_equal(scene->report.stale, 0);
    assert_int_equal(scene->report.recovered, 0);
    assert_in_range(scene->report.ms, 40000, 40400);
}

static void sleep_long(struct fake_relay *relay, struct mq_transfer *transfer)
{
    (void)transfer;
    if (relay->scene->counter++ == 0) {
        relay->scene->boot_ms += 20000; /* stopped between the envelope and the body */
    }
}

/* A body does not go out once its lease is over. */
static void test_guard(void **state)
{
    struct scene_worker *scene = *state;
    scene->options.lease_s = 12;
    scene->options.message_limit = 4;
    scene->relay.on_body = sleep_long;
    enqueue_mails(scene, 4);
    run_until(scene, MQ_RUN_MESSAGES);
    /* The others' leases, also over but not taken by anybody, are renewed first. */
    assert_int_equal(scene->relay.bodies, 3);
    assert_int_equal(scene->report.released, 1);
    assert_int_equal(count_jobs(scene, "pending"), 1);
}

static void another_takes_them(struct fake_relay *relay, struct mq_transfer *transfer)
{
    (void)transfer;
    if (relay->scene->counter++ == 0) {
        fx_sql(&relay->scene->fx, "UPDATE mail_queue SET locked_by = 'another'");
    }
}

/* Results for a lost lease change nothing. A waiting job whose lease is lost is not begun. */
static void test_lost_leases(void **state)
{
    struct scene_worker *scene = *state;
    scene->options.lease_s = 12;
    scene->relay.latency_ms = 5000;
    scene->relay.on_body = another_takes_them;
    enqueue_mails(scene, 20);
    run_until(scene, MQ_RUN_EMPTY);
    assert_int_equal(scene->report.stale, 20);
    assert_int_equal(scene->relay.submits, 8);
    assert_int_equal(count_jobs(scene, "sending"), 20);
}

/* The wall clock jumps ahead, so our leases look over. They are renewed before the next claim could
 * take them for lost. */
static void jump_ahead(struct fake_relay *relay, struct mq_transfer *transfer)
{
    (void)transfer;
    if (relay->scene->counter++ == 0) {
        relay->scene->wall_ahead_s += 4000;
    }
}

static void test_wall_clock_jumps(void **state)
{
    struct scene_worker *scene = *state;
    scene->relay.on_body = jump_ahead;
    scene->options.batch = 10;
    enqueue_mails(scene, 60);
    run_until(scene, MQ_RUN_EMPTY);
    assert_int_equal(scene->report.sent, 60);
    assert_int_equal(scene->report.recovered, 0);
    assert_int_equal(scene->relay.bodies, 60);
}

/* ---- the database ---- */

static void set_query_only(struct scene_worker *scene, bool on)
{
    fx_sql(&scene->fx, on ? "PRAGMA query_only = ON" : "PRAGMA query_only = OFF");
}

static void fail_writes(struct fake_relay *relay, struct mq_transfer *transfer)
{
    (void)transfer;
    if (relay->scene->counter++ == 0) {
        set_query_only(relay->scene, true);
    }
}

static enum mq_status writes_work_after_10_s(struct fake_relay *relay, struct mq_error *err)
{
    (void)err;
    if (relay->scene->boot_ms > 1010000) {
        set_query_only(relay->scene, false);
    }
    return MQ_OK;
}

/* A failed settle is retried, and nothing more is sent meanwhile. */
static void test_settle_is_retried(void **state)
{
    struct scene_worker *scene = *state;
    scene->relay.on_body = fail_writes;
    scene->relay.on_step = writes_work_after_10_s;
    enqueue_mails(scene, 300);
    scene->relay.latency_ms = 30;
    scene->options.time_limit_s = 10;
    run_until(scene, MQ_RUN_TIME);
    assert_true(scene->relay.bodies <= 24);
    assert_int_equal(scene->relay.recalls, 1);
    assert_int_equal(scene->report.sent, scene->relay.bodies);
    assert_int_equal(scene->report.sent + count_jobs(scene, "pending"), 300);
    assert_int_equal(scene->report.uncertain, 0);
}

static void more_behind(struct fake_relay *relay, struct mq_transfer *transfer)
{
    (void)transfer;
    if (relay->scene->counter++ == 0) {
        enqueue_mails(relay->scene, 60);
    }
}

static enum mq_status writes_fail_after_the_first(struct fake_relay *relay, struct mq_error *err)
{
    struct scene_worker *scene = relay->scene;
    (void)err;
    if (relay->accepted_count == 1) {
        set_query_only(scene, scene->boot_ms < 1010000);
    }
    return MQ_OK;
}

/* The mails that we recall from the relay do not say that it fails: it is not paused, and they do
 * not go to another one. */
static void test_recall_is_not_trouble(void **state)
{
    struct scene_worker *scene = *state;
    scene->dsn = "failover(a b)";
    scene->relay.on_body = more_behind;
    scene->relay.on_step = writes_fail_after_the_first;
    scene->relay.sessions = 30;
    scene->relay.latency_ms = 1000;
    enqueue_mails(scene, 1);
    run_until(scene, MQ_RUN_EMPTY);
    assert_int_equal(scene->relay.recalls, 1);
    assert_in_range(scene->relay.submits, 61 + 50, 61 + 60); /* so many were recalled */
    assert_int_equal(count_events(scene, MQ_EVENT_RELAY_TROUBLE), 0);
    assert_int_equal(scene->other.submits, 0);
    assert_int_equal(scene->relay.accepted_count, 61);
}

/* The run gives up after the grace period, with the error. Mail that was sent is not sent again:
 * the record tells the next run. */
static void test_gives_up(void **state)
{
    struct scene_worker *scene = *state;
    scene->relay.on_body = fail_writes;
    enqueue_mails(scene, 20);
    assert_int_equal(run_worker(scene), MQ_READONLY);
    assert_in_range(scene->report.ms, 30000, 32000);
    set_query_only(scene, false);
    assert_int_equal(count_files(scene, ".intent"), 1);
    assert_int_equal(count_jobs(scene, "sending"), 20);
    run_until(scene, MQ_RUN_EMPTY);
    assert_int_equal(count_jobs(scene, NULL), 0);
    assert_int_equal(scene->relay.bodies, 20);
    assert_int_equal(scene->report.uncertain, 0);
}

/* A claim that cannot be made, with nothing under way, is an error at once. */
static void test_claim_fails(void **state)
{
    struct scene_worker *scene = *state;
    enqueue_mails(scene, 3);
    set_query_only(scene, true);
    assert_int_equal(run_worker(scene), MQ_READONLY);
    assert_in_range(scene->report.ms, 0, 100);
    set_query_only(scene, false);
}

static void copy_to(const char *from, const char *to)
{
    char command[512];
    snprintf(command, sizeof(command), "cp '%s' '%s'", from, to);
    assert_int_equal(system(command), 0);
}

static void replace_database(struct fake_relay *relay, struct mq_transfer *transfer)
{
    struct scene_worker *scene = relay->scene;
    char old[160], path[128];
    (void)transfer;
    if (scene->counter++ != 0) {
        return;
    }
    snprintf(path, sizeof(path), "%s/db.sqlite", scene->directory);
    snprintf(old, sizeof(old), "%s.old", path);
    assert_int_equal(rename(old, path), 0);
}

/* The file is restored to its state before the claim: the worker opens it again. Deliveries under
 * way then are claimed again and sent once more. */
static void test_database_is_replaced(void **state)
{
    struct scene_worker *scene = *state;
    char old[160], path[128];
    scene_worker_on_file(scene);
    enqueue_mails(scene, 40);
    snprintf(path, sizeof(path), "%s/db.sqlite", scene->directory);
    snprintf(old, sizeof(old), "%s.old", path);
    copy_to(path, old);
    scene->relay.on_body = replace_database;
    scene->relay.latency_ms = 200;
    run_until(scene, MQ_RUN_EMPTY);
    assert_int_equal(count_jobs(scene, NULL), 0);
    assert_true(scene->relay.bodies >= 40);
    assert_true(scene->relay.bodies <= 48); /* those under way, at most once more */
}

int main(void)
{
#define T(f) cmocka_unit_test_setup_teardown(f, scene_worker_setup, scene_worker_teardown)
    const struct CMUnitTest tests[] = {
        T(test_sigterm),
        T(test_grace_is_over),
        T(test_second_signal),
        T(test_listener_throws),
        T(test_bailout),
        T(test_transport_throws),
        T(test_signals_of_failed_writes),
        T(test_renewal),
        T(test_guard),
        T(test_lost_leases),
        T(test_wall_clock_jumps),
        T(test_settle_is_retried),
        T(test_recall_is_not_trouble),
        T(test_gives_up),
        T(test_claim_fails),
        T(test_database_is_replaced),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
