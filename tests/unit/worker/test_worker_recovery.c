/* How the next run recovers from one that died or was stopped, at each point of a mail's way. The
 * other run is a separate process; it and the test share a database file and a run directory. */
#include "worker_fake.h"

#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include "db/sqlite/sqlite.h"

static void close_queue(struct scene_worker *scene)
{
    mq_queue_close(scene->fx.queue);
    scene->fx.queue = NULL;
}

static void open_queue(struct scene_worker *scene)
{
    char path[128];
    struct mq_db *db = NULL;
    snprintf(path, sizeof(path), "%s/db.sqlite", scene->directory);
    struct mq_sqlite_options options = {
        .path = path, .synchronous_normal = true, .worker = true, .busy_timeout_ms = 2000};
    assert_int_equal(mq_sqlite_open(&options, &db, &scene->err), MQ_OK);
    assert_int_equal(mq_queue_open(db, &scene->fx.options, &scene->fx.queue, &scene->err), MQ_OK);
}

static void die(void)
{
    kill(getpid(), SIGKILL);
    pause();
}

/* Runs a worker in a child. Its exit code, if it gets that far: bodies that left, plus 16 times the
 * stale results. */
static pid_t run_in_child(struct scene_worker *scene)
{
    close_queue(scene); /* SQLite's connections and locks must not be inherited */
    pid_t pid = fork();
    assert_true(pid >= 0);
    if (pid == 0) {
        open_queue(scene);
        if (run_worker(scene) != MQ_OK) {
            _exit(255);
        }
        _exit((int)(scene->relay.bodies + 16 * scene->report.stale));
    }
    return pid;
}

static void let_it_die(struct scene_worker *scene)
{
    int status = 0;
    pid_t pid = run_in_child(scene);
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_true(WIFSIGNALED(status));
    open_queue(scene);
    assert_int_equal(count_files(scene, ".intent"), 1);
    scene->relay.on_body = NULL;
    scene->relay.on_step = NULL;
    scene->relay.answer = NULL;
}

static void start(struct scene_worker *scene, int mails)
{
    scene_worker_on_file(scene);
    enqueue_mails(scene, mails);
}

/* ---- deaths ---- */

static enum mq_compose_end compose_dies(struct scene_worker *scene, const struct mq_job *job,
                                        struct mq_composed *out, struct mq_error *err)
{
    (void)scene;
    (void)job;
    (void)out;
    (void)err;
    die();
    return MQ_COMPOSE_GONE;
}

static enum mq_compose_end composes(struct scene_worker *scene, const struct mq_job *job,
                                    struct mq_composed *out, struct mq_error *err)
{
    (void)scene;
    (void)job;
    (void)err;
    out->message = strdup("Subject: x\r\n\r\nx\r\n");
    out->message_len = strlen(out->message);
    out->envelope_from = strdup("from@example.org");
    mq_strings_add(&out->recipients, MQ_STR("to@example.org"));
    return MQ_COMPOSED;
}

/* A mail that kills its worker while it is composed uses up its attempts; mails claimed with it do
 * not. */
static void test_death_while_composing(void **state)
{
    struct scene_worker *scene = *state;
    start(scene, 0);
    fx_enqueue(&scene->fx, &(struct mail){.type = "mail", .priority = 1});
    enqueue_mails(scene, 3);
    scene->on_compose = compose_dies;
    let_it_die(scene);
    scene->on_compose = composes;
    run_until(scene, MQ_RUN_EMPTY);
    assert_int_equal(scene->report.recovered, 3);
    assert_int_equal(scene->report.try_later, 1);
    assert_int_equal(scene->report.sent, 3);
    assert_int_equal(fx_int(&scene->fx, "SELECT attempts FROM mail_queue"), 1);
    scene->boot_ms += 60000;
    run_until(scene, MQ_RUN_EMPTY);
    assert_int_equal(count_jobs(scene, NULL), 0);
}

static enum mq_status dies_with_envelopes_out(struct fake_relay *relay, struct mq_error *err)
{
    (void)err;
    if (relay->under_way_count > 0) {
        die();
    }
    return MQ_OK;
}

static void test_death_in_the_envelope(void **state)
{
    struct scene_worker *scene = *state;
    start(scene, 4);
    scene->relay.on_step = dies_with_envelopes_out;
    let_it_die(scene);
    run_until(scene, MQ_RUN_EMPTY);
    assert_int_equal(scene->report.uncertain, 0);
    assert_int_equal(scene->report.try_later, 4);
    assert_int_equal(fx_int(&scene->fx, "SELECT sum(attempts) FROM mail_queue"), 4);
    scene->boot_ms += 60000;
    run_until(scene, MQ_RUN_EMPTY);
    assert_int_equal(scene->report.sent, 4);
}

static void answer_dies(struct fake_relay *relay, struct mq_transfer *transfer,
                        struct mq_target *target)
{
    (void)relay;
    (void)transfer;
    (void)target;
    die();
}

/* The body may have arrived: uncertain, and counted. */
static void test_death_behind_the_body(void **state)
{
    struct scene_worker *scene = *state;
    start(scene, 4);
    scene->relay.answer = answer_dies;
    let_it_die(scene);
    run_until(scene, MQ_RUN_EMPTY);
    assert_int_equal(scene->report.uncertain, 4);
    assert_int_equal(fx_int(&scene->fx, "SELECT sum(uncertain) FROM mail_queue"), 4);
    assert_int_equal(scene->relay.bodies, 0);
    scene->boot_ms += 60000;
    run_until(scene, MQ_RUN_EMPTY);
    assert_int_equal(scene->report.sent, 4);
}

static void test_uncertain_is_held(void **state)
{
    struct scene_worker *scene = *state;
    start(scene, 4);
    scene->relay.answer = answer_dies;
    scene->options.on_uncertain = MQ_UNCERTAIN_HOLD;
    let_it_die(scene);
    run_until(scene, MQ_RUN_EMPTY);
    assert_int_equal(count_jobs(scene, "parked"), 4);
}

static enum mq_status dies_after_a_reply(struct fake_relay *relay, struct mq_error *err)
{
    (void)err;
    if (relay->accepted_count > 0 || relay->scene->counter > 0) {
        die();
    }
    return MQ_OK;
}

/* Accepted but not settled: the record tells, so nothing is sent again. */
static void test_death_after_the_reply(void **state)
{
    struct scene_worker *scene = *state;
    start(scene, 4);
    scene->relay.on_step = dies_after_a_reply;
    let_it_die(scene);
    run_until(scene, MQ_RUN_EMPTY);
    /* One reply was read; the other three had their bodies out. */
    assert_int_equal(scene->report.sent, 1);
    assert_int_equal(scene->report.uncertain, 3);
    assert_int_equal(scene->relay.bodies, 0);
    assert_int_equal(count_jobs(scene, NULL), 3);
}

static void answer_three_ways(struct fake_relay *relay, struct mq_transfer *transfer,
                              struct mq_target *target)
{
    (void)transfer;
    relay->scene->counter = 1;
    if (strncmp(target->address, "good", 4) == 0) {
        set_result(target, MQ_OUTCOME_DELIVERED, "250 Ok");
    } else if (strncmp(target->address, "dead", 4) == 0) {
        set_result(target, MQ_OUTCOME_REFUSED, "550 5.1.1 unknown");
    } else {
        set_result(target, MQ_OUTCOME_DEFERRED, "450 4.2.0 later");
    }
}

/* Each recipient's own result survives. */
static void test_death_with_three_results(void **state)
{
    struct scene_worker *scene = *state;
    start(scene, 0);
    fx_mail(&scene->fx, "good@example.org later@example.org dead@example.org");
    fx_mail(&scene->fx, "slow@example.org"); /* keeps the first one from being settled */
    scene->relay.answer = answer_three_ways;
    scene->relay.on_step = dies_after_a_reply;
    let_it_die(scene);
    run_until(scene, MQ_RUN_EMPTY);
    assert_int_equal(scene->report.recipients, 1);
    fx_assert_text(&scene->fx, "SELECT recipients FROM mail_queue WHERE id = 1",
                   "[\"later@example.org\"]");
    assert_int_equal(
        fx_int(&scene->fx, "SELECT refused LIKE '%dead@%' FROM mail_queue WHERE id = 1"), 1);
}

static void dies_when_1000_are_held(struct fake_relay *relay, struct mq_transfer *transfer)
{
    (void)transfer;
    if (count_jobs(relay->scene, "sending") > 1000) {
        die();
    }
}

/* More rows than one transaction recovers: the record stays until no row is left. */
static void test_death_with_many_claimed(void **state)
{
    struct scene_worker *scene = *state;
    start(scene, 1100);
    scene->options.batch = 1000;
    scene->relay.on_body = dies_when_1000_are_held;
    let_it_die(scene);
    int64_t held = count_jobs(scene, "sending");
    assert_true(held > 1000);
    run_until(scene, MQ_RUN_EMPTY);
    assert_int_equal(scene->report.uncertain, 0);
    assert_int_equal(scene->report.recovered + scene->report.try_later, held);
    assert_in_range(scene->report.try_later, 1, 8);
    assert_int_equal(fx_int(&scene->fx, "SELECT count(*) FROM mail_queue WHERE attempts <> 1"), 0);
    assert_int_equal(count_jobs(scene, NULL), scene->report.try_later);
}

/* Expired leases of other runs fill the first transaction, which then reaches none of the dead
 * run's rows: its record is still needed. */
static void test_death_behind_many_leases(void **state)
{
    struct scene_worker *scene = *state;
    start(scene, 4);
    scene->relay.on_step = dies_after_a_reply;
    let_it_die(scene);
    fx_sql(&scene->fx,
           "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 1000) "
           "INSERT INTO mail_queue (mail_type, status, attempts, next_attempt_at, locked_until, "
           "locked_by, created_at, message_id, envelope_from, recipients) SELECT 'old', 'sending', "
           "1, 1, 1, 'cccccccccccccccccccccccccccccccc', 1, '<' || i || '@x>', 's@y', "
           "'[\"a@x\"]' FROM n");
    run_until(scene, MQ_RUN_EMPTY);
    assert_int_equal(count_jobs(scene, "sending"), 0);
    assert_int_equal(scene->report.sent, 1);
    assert_int_equal(scene->report.uncertain, 1000 + 3);
    assert_int_equal(count_files(scene, ".intent"), 0);
}

/* A run that finds another's death while it works recovers it without waiting for the leases. */
static void test_death_beside_a_run(void **state)
{
    struct scene_worker *scene = *state;
    start(scene, 4);
    scene->relay.on_step = dies_with_envelopes_out;
    scene->options.daemon = true;
    let_it_die(scene);
    scene->options.daemon = false;
    scene->options.time_limit_s = 0; /* neither claims nor recovers */
    assert_int_equal(run_worker(scene), MQ_OK);
    assert_int_equal(count_jobs(scene, "sending"), 4);
    assert_int_equal(count_files(scene, ".intent"), 1);
    scene->options.time_limit_s = -1;
    run_until(scene, MQ_RUN_EMPTY);
    assert_int_equal(count_jobs(scene, "failed"), 4);
}

static void appears_later(struct scene_worker *scene)
{
    char command[256];
    snprintf(command, sizeof(command), "mv %s/*.intent %s/ 2>/dev/null", scene->directory,
             scene->run_dir);
    if (scene->counter++ == 0) {
        assert_int_equal(system(command), 0);
    }
    if (count_jobs(scene, "sending") == 0 || scene->counter > 60) {
        raise(SIGTERM);
    }
}

/* The worker looks for dead runs every 10 s, so it does not wait for leases of 15 minutes. */
static void test_death_is_found_meanwhile(void **state)
{
    struct scene_worker *scene = *state;
    char command[256];
    start(scene, 4);
    scene->relay.on_step = dies_with_envelopes_out;
    let_it_die(scene);
    snprintf(command, sizeof(command), "mv %s/*.intent %s/", scene->run_dir, scene->directory);
    assert_int_equal(system(command), 0);
    scene->options.daemon = true;
    scene->on_wait = appears_later;
    run_until(scene, MQ_RUN_SIGNAL);
    assert_int_equal(scene->report.try_later, 4);
    assert_in_range(scene->waited_ms, 9000, 12000);
}

/* Without a readable record, only the end of the lease tells anything, and every mail is
 * uncertain. */
static void test_death_without_a_record(void **state)
{
    struct scene_worker *scene = *state;
    char command[160];
    start(scene, 2);
    scene->relay.on_step = dies_with_envelopes_out;
    let_it_die(scene);
    snprintf(command, sizeof(command), "rm %s/*.intent", scene->run_dir);
    assert_int_equal(system(command), 0);
    run_until(scene, MQ_RUN_EMPTY);
    assert_int_equal(count_jobs(scene, "sending"), 2);
    scene->boot_ms += 901000;
    run_until(scene, MQ_RUN_EMPTY);
    assert_int_equal(scene->report.uncertain, 2);
}

/* ---- a stopped worker ---- */

static void stops_before_the_body(struct fake_relay *relay, struct mq_transfer *transfer)
{
    (void)transfer;
    if (relay->scene->counter++ == 0) {
        raise(SIGSTOP);
        relay->scene->boot_ms += 100000; /* CLOCK_BOOTTIME continued meanwhile */
    }
}

static void answer_stops(struct fake_relay *relay, struct mq_transfer *transfer,
                         struct mq_target *target)
{
    stops_before_the_body(relay, transfer);
    set_result(target, MQ_OUTCOME_DELIVERED, "250 Ok");
}

/* Starts a child that stops, and lets the test act as another worker after the child's lease is
 * over. */
static pid_t let_it_stop(struct scene_worker *scene)
{
    int status = 0;
    scene->options.lease_s = 5;
    scene->options.message_limit = 1;
    pid_t pid = run_in_child(scene);
    assert_int_equal(waitpid(pid, &status, WUNTRACED), pid);
    assert_true(WIFSTOPPED(status));
    open_queue(scene);
    scene->relay.on_body = NULL;
    scene->relay.answer = NULL;
    scene->options.message_limit = -1;
    scene->options.max_workers = 2;
    assert_int_equal(run_worker(scene), MQ_OK); /* its lease is still valid */
    assert_int_equal(scene->report.claimed, 0);
    assert_int_equal(count_jobs(scene, "sending"), 1);
    scene->boot_ms += 6000;
    assert_int_equal(run_worker(scene), MQ_OK);
    assert_int_equal(count_jobs(scene, "sending"), 0);
    assert_int_equal(count_files(scene, ".intent"), 1); /* it is alive, so its record stays */
    return pid;
}

static int let_it_continue(pid_t pid)
{
    int status = 0;
    kill(pid, SIGCONT);
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_true(WIFEXITED(status));
    return WEXITSTATUS(status);
}

/* Stopped before the body: another worker sends the mail; when the first one continues, no body
 * leaves, and its result changes nothing. */
static void test_stopped_before_the_body(void **state)
{
    struct scene_worker *scene = *state;
    start(scene, 1);
    scene->relay.on_body = stops_before_the_body;
    pid_t pid = let_it_stop(scene);
    assert_int_equal(scene->report.uncertain, 0);
    assert_int_equal(count_jobs(scene, "failed"), 1);
    scene->boot_ms += 60000;
    assert_int_equal(run_worker(scene), MQ_OK);
    assert_int_equal(scene->report.sent, 1);
    assert_int_equal(let_it_continue(pid), 16); /* no body, one stale result */
    assert_int_equal(count_files(scene, ".intent"), 0);
}

static struct scene_worker *jumping;

static void clock_jumps(struct fake_relay *relay, struct mq_transfer *transfer)
{
    (void)relay;
    (void)transfer;
    jumping->wall_ahead_s += jumping->counter++ == 0 ? 2 * jumping->options.lease_s : 0;
}

/* The wall clock, by which others judge the lease, jumps ahead just before the body: it does not
 * leave, because another worker may have taken the mail over. */
static void test_clock_jumps_before_the_body(void **state)
{
    struct scene_worker *scene = jumping = *state;
    start(scene, 1);
    scene->relay.on_body = clock_jumps;
    run_worker(scene);
    assert_int_equal(scene->counter, 2); /* it began again, with a new lease */
    assert_int_equal(scene->relay.bodies, 1);
    assert_int_equal(scene->report.sent, 1);
}

/* Stopped after the body: uncertain for the other worker. */
static void test_stopped_behind_the_body(void **state)
{
    struct scene_worker *scene = *state;
    start(scene, 1);
    scene->relay.answer = answer_stops;
    pid_t pid = let_it_stop(scene);
    assert_int_equal(scene->report.uncertain, 1);
    assert_int_equal(let_it_continue(pid), 17);
    assert_int_equal(count_jobs(scene, "failed"), 1);
}

int main(void)
{
#define T(f) cmocka_unit_test_setup_teardown(f, scene_worker_setup, scene_worker_teardown)
    const struct CMUnitTest tests[] = {
        T(test_death_while_composing),   T(test_death_in_the_envelope),
        T(test_death_behind_the_body),   T(test_uncertain_is_held),
        T(test_death_after_the_reply),   T(test_death_with_three_results),
        T(test_death_with_many_claimed), T(test_death_behind_many_leases),
        T(test_death_beside_a_run),      T(test_death_is_found_meanwhile),
        T(test_death_without_a_record),  T(test_stopped_before_the_body),
        T(test_stopped_behind_the_body), T(test_clock_jumps_before_the_body),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
