/* Worker slots and the run directory. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <fcntl.h>
#include <signal.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "worker/files.h"
#include "worker/lock.h"

static char directory[64];
static char run_dir[96];
static struct mq_error err;

static int setup(void **state)
{
    (void)state;
    snprintf(directory, sizeof(directory), "/tmp/mq-lock-XXXXXX");
    if (!mkdtemp(directory)) {
        return -1;
    }
    snprintf(run_dir, sizeof(run_dir), "%s/run", directory);
    return 0;
}

static int teardown(void **state)
{
    char command[128];
    (void)state;
    snprintf(command, sizeof(command), "rm -rf '%s'", directory);
    return system(command);
}

static int lock(int max_workers)
{
    int fd = -1;
    if (mq_worker_lock(run_dir, max_workers, &fd, &err) != MQ_OK) {
        fail_msg("%s", err.text);
    }
    return fd;
}

static void test_slots(void **state)
{
    (void)state;
    assert_int_equal(mq_run_dir_prepare(run_dir, &err), MQ_OK);
    int a = lock(2), b = lock(2);
    assert_true(a >= 0 && b >= 0);
    assert_int_equal(lock(2), -1);
    assert_int_equal(mq_worker_lock_held(run_dir, 4), 2);
    assert_true(fcntl(a, F_GETFD) & FD_CLOEXEC);
    close(a);
    assert_int_equal(mq_worker_lock_held(run_dir, 4), 1);
    a = lock(2);
    assert_true(a >= 0);
    close(a);
    close(b);
}

/* A process that counts the workers shares each lock for a moment, or longer on a slow machine. A
 * worker that starts then waits for it. */
static void test_looking_disturbs_nobody(void **state)
{
    int status, fds[2];
    char byte;
    (void)state;
    assert_int_equal(mq_run_dir_prepare(run_dir, &err), MQ_OK);
    close(lock(1));
    assert_int_equal(pipe(fds), 0);
    pid_t pid = fork();
    if (pid == 0) {
        char path[128];
        snprintf(path, sizeof(path), "%s/worker-0.lock", run_dir);
        int fd = open(path, O_RDONLY);
        if (flock(fd, LOCK_SH) == 0 && write(fds[1], "x", 1) == 1) {
            usleep(200000);
        }
        _exit(0);
    }
    assert_int_equal(read(fds[0], &byte, 1), 1);
    int fd = lock(1);
    assert_true(fd >= 0);
    assert_int_equal(lock(1), -1);
    close(fd);
    waitpid(pid, &status, 0);
    close(fds[0]);
    close(fds[1]);
}

static void test_dies_with_its_process(void **state)
{
    int status, fds[2];
    char byte;
    (void)state;
    assert_int_equal(mq_run_dir_prepare(run_dir, &err), MQ_OK);
    assert_int_equal(pipe(fds), 0);
    pid_t pid = fork();
    if (pid == 0) {
        int fd = -1;
        mq_worker_lock(run_dir, 1, &fd, &err);
        if (write(fds[1], "x", 1) == 1) {
            pause();
        }
        _exit(fd);
    }
    assert_int_equal(read(fds[0], &byte, 1), 1);
    assert_int_equal(lock(1), -1);
    kill(pid, SIGKILL);
    waitpid(pid, &status, 0);
    int fd = lock(1);
    assert_true(fd >= 0);
    close(fd);
    close(fds[0]);
    close(fds[1]);
}

static void test_run_dir(void **state)
{
    struct stat st;
    char link[128];
    (void)state;
    assert_int_equal(mq_run_dir_prepare(run_dir, &err), MQ_OK);
    assert_int_equal(stat(run_dir, &st), 0);
    assert_int_equal(st.st_mode & 0777, 0700);
    assert_int_equal(mq_run_dir_prepare(run_dir, &err), MQ_OK);
    assert_int_equal(chmod(run_dir, 0777), 0);
    assert_int_equal(mq_run_dir_prepare(run_dir, &err), MQ_CONFIG);
    assert_non_null(strstr(err.text, run_dir));
    assert_int_equal(chmod(run_dir, 0700), 0);
    snprintf(link, sizeof(link), "%s/link", directory);
    assert_int_equal(symlink(run_dir, link), 0);
    assert_int_equal(mq_run_dir_prepare(link, &err), MQ_CONFIG);
    unlink(link);
    close(open(link, O_CREAT | O_WRONLY, 0600));
    assert_int_equal(mq_run_dir_prepare(link, &err), MQ_CONFIG);
    assert_int_equal(mq_run_dir_prepare("/nonexistent/a/b", &err), MQ_CANTOPEN);
    assert_non_null(strstr(err.text, "/nonexistent/a/b"));
}

static void test_lock_file_is_a_link(void **state)
{
    char target[128], link[128];
    int fd = -1;
    (void)state;
    assert_int_equal(mq_run_dir_prepare(run_dir, &err), MQ_OK);
    snprintf(target, sizeof(target), "%s/target", directory);
    snprintf(link, sizeof(link), "%s/worker-0.lock", run_dir);
    assert_int_equal(symlink(target, link), 0);
    assert_int_equal(mq_worker_lock(run_dir, 1, &fd, &err), MQ_CANTOPEN);
    assert_int_equal(fd, -1);
    assert_int_equal(access(target, F_OK), -1);
}

static void test_paths(void **state)
{
    (void)state;
    char *path = mq_run_dir_path(NULL, "/srv/app/db.sqlite");
    assert_string_equal(path, "/srv/app/db.sqlite.run");
    free(path);
    path = mq_run_dir_path("", "/srv/app/db.sqlite");
    assert_string_equal(path, "/srv/app/db.sqlite.run");
    free(path);
    char *a = mq_run_dir_path("/run/mq", "/srv/app/db.sqlite");
    char *b = mq_run_dir_path("/run/mq", "/srv/other/db.sqlite");
    assert_int_equal(strncmp(a, "/run/mq/db.sqlite-", 18), 0);
    assert_int_equal(strlen(a), 18 + 16);
    assert_string_not_equal(a, b);
    free(a);
    free(b);
}

/* A database that is not a file: the run directory is in the user's own directory, if there is
 * one. */
static void test_run_base(void **state)
{
    char state_home[96], expected[160], taken[160];
    struct stat st;
    (void)state;
    snprintf(state_home, sizeof(state_home), "%s/state", directory);
    unsetenv("XDG_STATE_HOME");
    setenv("HOME", directory, 1);
    char *base = mq_run_base_path("/tmp");
    snprintf(expected, sizeof(expected), "%s/.local/state/mailqueue", directory);
    assert_string_equal(base, expected);
    char *a = mq_run_dir_of(base, "server/db/public/mail_queue");
    char *b = mq_run_dir_of(base, "server/other/public/mail_queue");
    assert_string_not_equal(a, b);
    assert_int_equal(strlen(a), strlen(base) + 7 + 16);
    assert_int_equal(mq_run_base_prepare(base, &err), MQ_OK);
    assert_int_equal(mq_run_base_prepare(base, &err), MQ_OK);
    assert_int_equal(mq_run_dir_prepare(a, &err), MQ_OK);
    assert_int_equal(stat(base, &st), 0);
    assert_int_equal(st.st_mode & 0777, 0700);
    assert_int_equal(chmod(base, 0770), 0);
    assert_int_equal(mq_run_base_prepare(base, &err), MQ_CONFIG);
    free(base);
    free(a);
    free(b);
    setenv("XDG_STATE_HOME", state_home, 1);
    base = mq_run_base_path("/tmp");
    snprintf(expected, sizeof(expected), "%s/mailqueue", state_home);
    assert_string_equal(base, expected);
    free(base);
    /* Neither can be used. */
    setenv("XDG_STATE_HOME", "relative", 1);
    setenv("HOME", "/proc/nonexistent", 1);
    base = mq_run_base_path(directory);
    snprintf(taken, sizeof(taken), "%s/mailqueue-%ld", directory, (long)geteuid());
    assert_string_equal(base, taken);
    assert_int_equal(mkdir(taken, 0700), 0);
    if (chown(taken, geteuid() + 1, (gid_t)-1) == 0) { /* by root only */
        assert_int_equal(mq_run_base_prepare(base, &err), MQ_CONFIG);
        assert_non_null(strstr(err.text, "belongs to user"));
        assert_int_equal(chown(taken, geteuid(), (gid_t)-1), 0);
    }
    assert_int_equal(mq_run_base_prepare(base, &err), MQ_OK);
    assert_int_equal(rmdir(taken), 0);
    assert_int_equal(symlink(directory, taken), 0);
    assert_int_equal(mq_run_base_prepare(base, &err), MQ_CONFIG);
    free(base);
}

int main(void)
{
#define T(f) cmocka_unit_test_setup_teardown(f, setup, teardown)
    const struct CMUnitTest tests[] = {
        T(test_slots),    T(test_looking_disturbs_nobody), T(test_dies_with_its_process),
        T(test_run_dir),  T(test_lock_file_is_a_link),     T(test_paths),
        T(test_run_base),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
