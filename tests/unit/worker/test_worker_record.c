/* The log when a worker is killed around a commit: each uncertain attempt is there at least once.
 * The worker is a separate process; it and the test share a database file and a run directory. */
#include "worker_fake.h"

#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

static void die(void)
{
    kill(getpid(), SIGKILL);
    pause();
}

/* SQLite's connections and locks must not be inherited: the child opens the file by itself. */
static void let_it_die(struct scene_worker *scene)
{
    int status = 0;
    mq_queue_close(scene->fx.queue);
    scene->fx.queue = NULL;
    pid_t pid = fork();
    assert_true(pid >= 0);
    if (pid == 0) {
        scene_worker_on_file(scene);
        run_worker(scene);
        _exit(0);
    }
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_true(WIFSIGNALED(status));
    scene_worker_on_file(scene);
}

static void is_lost(struct fake_relay *relay, struct mq_transfer *transfer,
                    struct mq_target *target)
{
    (void)relay;
    (void)transfer;
    set_result(target, MQ_OUTCOME_UNCERTAIN, "");
}

/* The row is deleted with the mail, so the event tells how often the mail was uncertain. */
static void test_sent_tells_of_uncertain_attempts(void **state)
{
    struct scene_worker *scene = *state;
    enqueue_mails(scene, 1);
    scene->relay.answer = is_lost;
    run_until(scene, MQ_RUN_EMPTY);
    scene->relay.answer = NULL;
    scene->boot_ms += 3600000;
    run_until(scene, MQ_RUN_EMPTY);
    assert_int_equal(last_event(scene, MQ_EVENT_SENT)->uncertain, 1);
}

static void record_path(const struct scene_worker *scene, char *path, size_t size)
{
    snprintf(path, size, "%s/recorded", scene->directory);
}

/* The log as one letter per event, as it is when the process is killed. */
static void writes_record(void *context, const struct mq_events *events)
{
    char path[128];
    record_path(context, path, sizeof(path));
    FILE *file = fopen(path, "a");
    for (size_t i = 0; i < events->count; i++) {
        if (events->items[i].recorded) {
            fputc(mq_event_type_name(events->items[i].type)[0], file);
        }
    }
    fclose(file);
}

static void writes_record_and_dies(void *context, const struct mq_events *events)
{
    writes_record(context, events);
    die();
}

static enum mq_status dies_before_the_log(struct scene_worker *scene, const struct mq_event *event,
                                          struct mq_error *err)
{
    (void)scene;
    (void)err;
    if (event->type == MQ_EVENT_SENT || event->type == MQ_EVENT_UNCERTAIN) {
        die();
    }
    return MQ_OK;
}

static void assert_recorded(const struct scene_worker *scene, const char *expected)
{
    char path[128];
    char text[16] = "";
    record_path(scene, path, sizeof(path));
    FILE *file = fopen(path, "r");
    assert_true(!file || fgets(text, sizeof(text), file) || feof(file));
    if (file) {
        fclose(file);
    }
    assert_string_equal(text, expected);
}

/* Each uncertain attempt is in the log before it is committed, and before its row goes. */
static void test_death_between_commit_and_log(void **state)
{
    struct scene_worker *scene = *state;
    scene_worker_on_file(scene);
    enqueue_mails(scene, 1);
    scene->hooks.record = writes_record;
    scene->on_event = dies_before_the_log;
    scene->relay.answer = is_lost;
    let_it_die(scene);
    assert_recorded(scene, "u");
    assert_int_equal(fx_int(&scene->fx, "SELECT uncertain FROM mail_queue"), 1);
    scene->relay.answer = NULL;
    scene->boot_ms += 3600000;
    let_it_die(scene);
    assert_recorded(scene, "us");
    assert_int_equal(count_jobs(scene, NULL), 0);
}

/* Written before the commit, so the next run writes it again; but it is not lost. */
static void test_death_between_log_and_commit(void **state)
{
    struct scene_worker *scene = *state;
    scene_worker_on_file(scene);
    enqueue_mails(scene, 1);
    scene->relay.answer = is_lost;
    scene->hooks.record = writes_record_and_dies;
    let_it_die(scene);
    assert_recorded(scene, "u");
    assert_int_equal(fx_int(&scene->fx, "SELECT uncertain FROM mail_queue"), 0);
    scene->hooks.record = writes_record;
    run_until(scene, MQ_RUN_EMPTY);
    assert_recorded(scene, "uu");
    assert_int_equal(fx_int(&scene->fx, "SELECT uncertain FROM mail_queue"), 1);
}

int main(void)
{
#define T(f) cmocka_unit_test_setup_teardown(f, scene_worker_setup, scene_worker_teardown)
    const struct CMUnitTest tests[] = {
        T(test_sent_tells_of_uncertain_attempts),
        T(test_death_between_commit_and_log),
        T(test_death_between_log_and_commit),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
