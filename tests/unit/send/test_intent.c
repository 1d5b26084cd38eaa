/* The intent file: what a run writes, and what others conclude from it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <dirent.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "send/intent/format.h"
#include "send/transport.h"

#define TOKEN "0123456789abcdef0123456789abcdef"
#define OTHER "ffffffffffffffffffffffffffffffff"

static char directory[64];
static struct mq_error err;

static int setup(void **state)
{
    (void)state;
    snprintf(directory, sizeof(directory), "/tmp/mq-intent-XXXXXX");
    return mkdtemp(directory) ? 0 : -1;
}

static int teardown(void **state)
{
    char command[128];
    (void)state;
    snprintf(command, sizeof(command), "rm -rf '%s'", directory);
    return system(command);
}

static const char *path_of(const char *token, const char *suffix)
{
    static char path[160];
    snprintf(path, sizeof(path), "%s/%s%s", directory, token, suffix);
    return path;
}

static int count_files(void)
{
    int count = 0;
    DIR *dir = opendir(directory);
    struct dirent *entry;
    while ((entry = readdir(dir))) {
        count += entry->d_name[0] != '.';
    }
    closedir(dir);
    return count;
}

static struct mq_intent *create(size_t slots)
{
    struct mq_intent *intent = NULL;
    if (mq_intent_create(directory, TOKEN, slots, &intent, &err) != MQ_OK) {
        fail_msg("%s", err.text);
    }
    return intent;
}

static struct mq_intent_record *open_record(void)
{
    struct mq_intent_record *record = NULL;
    assert_int_equal(mq_intent_open(directory, TOKEN, &record, &err), MQ_OK);
    return record;
}

static enum mq_intent_owner owner_now(void)
{
    struct mq_intent_record *record = open_record();
    assert_non_null(record);
    enum mq_intent_owner owner = record->owner;
    mq_intent_record_close(record, false);
    return owner;
}

/* A record as a dead run leaves it: one job whose body was out. */
static void leave_record(void)
{
    struct mq_intent *intent = create(4);
    struct mq_intent_entry entry = {.job_id = 7,
                                    .phase = MQ_INTENT_BODY,
                                    .results = {MQ_OUTCOME_UNCERTAIN, MQ_OUTCOME_REFUSED},
                                    .code = 550,
                                    .handed_over = 1,
                                    .at_s = 1800000000};
    int slot = mq_intent_begin(intent, 7);
    mq_intent_write(intent, slot, &entry);
    mq_intent_abandon(intent);
}

static void overwrite(const void *bytes, size_t size, off_t offset)
{
    int fd = open(path_of(TOKEN, ".intent"), O_WRONLY);
    assert_true(fd >= 0);
    assert_int_equal(pwrite(fd, bytes, size, offset), size);
    close(fd);
}

static void test_own_life(void **state)
{
    struct stat st;
    (void)state;
    struct mq_intent *intent = create(2);
    assert_int_equal(stat(path_of(TOKEN, ".intent"), &st), 0);
    assert_int_equal(st.st_mode & 0777, 0600);
    assert_int_equal(st.st_size, 128 + 2 * 128);
    assert_true(st.st_blocks * 512 >= st.st_size); /* so that a full disk causes no SIGBUS */
    int a = mq_intent_begin(intent, 1), b = mq_intent_begin(intent, 2);
    assert_true(a >= 0 && b >= 0 && a != b);
    assert_int_equal(mq_intent_begin(intent, 3), -1);
    mq_intent_release(intent, a);
    assert_int_equal(mq_intent_begin(intent, 3), a);
    mq_intent_close(intent);
    assert_int_equal(count_files(), 0);
}

/* The next run can read every result that a run writes: a record with any other result proves
 * nothing. */
static void test_every_result_is_read(void **state)
{
    struct mq_intent_entry entry = {.job_id = 7, .phase = MQ_INTENT_REFUSED};
    struct mq_intent *intent = create(1);
    (void)state;
    for (uint8_t i = 0; i <= MQ_OUTCOME_UNEXPLAINED; i++) {
        entry.results[i] = i;
    }
    mq_intent_write(intent, mq_intent_begin(intent, 7), &entry);
    mq_intent_abandon(intent);
    struct mq_intent_record *record = open_record();
    assert_int_equal(record->owner, MQ_INTENT_DEAD);
    memset(entry.results, 0, sizeof(entry.results));
    assert_true(mq_intent_find(record, 7, &entry));
    assert_int_equal(entry.results[MQ_OUTCOME_UNEXPLAINED], MQ_OUTCOME_UNEXPLAINED);
    mq_intent_record_close(record, true);
}

static void test_alive_is_read_only(void **state)
{
    (void)state;
    struct mq_intent *intent = create(2);
    struct mq_intent_entry entry;
    mq_intent_begin(intent, 9);
    struct mq_intent_record *record = open_record();
    assert_int_equal(record->owner, MQ_INTENT_ALIVE);
    assert_true(mq_intent_find(record, 9, &entry));
    assert_int_equal(entry.phase, MQ_INTENT_BEGUN);
    assert_false(mq_intent_find(record, 10, &entry));
    mq_intent_record_close(record, false);
    mq_intent_close(intent);
}

static void test_dead(void **state)
{
    (void)state;
    struct mq_intent_entry entry;
    leave_record();
    struct mq_intent_record *record = open_record();
    assert_int_equal(record->owner, MQ_INTENT_DEAD);
    assert_string_equal(record->token, TOKEN);
    assert_true(mq_intent_find(record, 7, &entry));
    assert_int_equal(entry.phase, MQ_INTENT_BODY);
    assert_int_equal(entry.results[0], MQ_OUTCOME_UNCERTAIN);
    assert_int_equal(entry.results[1], MQ_OUTCOME_REFUSED);
    assert_int_equal(entry.results[2], MQ_OUTCOME_RELEASED);
    assert_int_equal(entry.code, 550);
    assert_int_equal(entry.handed_over, 1);
    assert_int_equal(entry.at_s, 1800000000);
    /* While one process has the record, others see it as locked. */
    assert_int_equal(owner_now(), MQ_INTENT_ALIVE);
    mq_intent_record_close(record, true);
    assert_int_equal(count_files(), 0);
    assert_null(open_record());
}

/* A reused slot shows nothing of the previous job. */
static void test_reused_slot_is_clean(void **state)
{
    (void)state;
    struct mq_intent *intent = create(1);
    struct mq_intent_entry entry = {.job_id = 1,
                                    .phase = MQ_INTENT_ACCEPTED,
                                    .results = {MQ_OUTCOME_DELIVERED},
                                    .code = 250,
                                    .handed_over = 1};
    int slot = mq_intent_begin(intent, 1);
    mq_intent_write(intent, slot, &entry);
    mq_intent_release(intent, slot);
    mq_intent_begin(intent, 2);
    mq_intent_abandon(intent);
    struct mq_intent_record *record = open_record();
    assert_false(mq_intent_find(record, 1, &entry));
    assert_true(mq_intent_find(record, 2, &entry));
    assert_int_equal(entry.phase, MQ_INTENT_BEGUN);
    assert_int_equal(entry.results[0], 0);
    assert_int_equal(entry.handed_over, 0);
    mq_intent_record_close(record, false);
}

/* Any other thing under that name does no harm, and proves nothing. */
static void test_garbage(void **state)
{
    static const off_t sizes[] = {0, 1, 100, 128, 129, 300, 128 + 3 * 128, 128 + 5 * 128};
    (void)state;
    leave_record();
    for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
        assert_int_equal(truncate(path_of(TOKEN, ".intent"), sizes[i]), 0);
        assert_int_equal(owner_now(), MQ_INTENT_OTHER);
    }
    unlink(path_of(TOKEN, ".intent"));
    assert_int_equal(mkdir(path_of(TOKEN, ".intent"), 0700), 0);
    assert_int_equal(owner_now(), MQ_INTENT_OTHER);
    rmdir(path_of(TOKEN, ".intent"));
    assert_int_equal(symlink("/etc/passwd", path_of(TOKEN, ".intent")), 0);
    assert_int_equal(owner_now(), MQ_INTENT_OTHER);
    unlink(path_of(TOKEN, ".intent"));
    assert_int_equal(mkfifo(path_of(TOKEN, ".intent"), 0600), 0);
    assert_int_equal(owner_now(), MQ_INTENT_OTHER);
}

static void test_foreign_or_damaged(void **state)
{
    static const struct {
        off_t offset;
        uint32_t value;
    } changes[] = {
        {0, 0},                /* magic */
        {8, 99},               /* version */
        {12, 0},               /* slots: none */
        {12, 0x7fffffff},      /* slots: more than there can be */
        {16, 1},               /* host */
        {24, 0x31313131},      /* boot id */
        {128, 77},             /* an unknown phase */
        {128 + 28, 0x77777777} /* unknown results */
    };
    (void)state;
    for (size_t i = 0; i < sizeof(changes) / sizeof(changes[0]); i++) {
        leave_record();
        assert_int_equal(owner_now(), MQ_INTENT_DEAD);
        overwrite(&changes[i].value, sizeof(changes[i].value), changes[i].offset);
        assert_int_equal(owner_now(), MQ_INTENT_OTHER);
        unlink(path_of(TOKEN, ".intent"));
    }
}

/* ---- scans ---- */

static int seen[3];

static void see(void *context, struct mq_intent_record *record)
{
    (void)context;
    seen[record->owner]++;
    mq_intent_record_close(record, false);
}

static void make_old(const char *path, int days)
{
    struct timespec times[2] = {{.tv_nsec = UTIME_OMIT}, {.tv_sec = time(NULL) - days * 86400}};
    assert_int_equal(utimensat(AT_FDCWD, path, times, 0), 0);
}

static void touch(const char *path)
{
    int fd = open(path, O_WRONLY | O_CREAT, 0600);
    assert_true(fd >= 0);
    close(fd);
}

static void test_scan(void **state)
{
    struct mq_intent *own = NULL;
    (void)state;
    memset(seen, 0, sizeof(seen));
    leave_record();
    assert_int_equal(mq_intent_create(directory, OTHER, 1, &own, &err), MQ_OK);
    touch(path_of("notes", ".txt"));
    touch(path_of("short", ".intent"));
    touch(path_of("eeeeeeeeeeeeeeeeeeeeeeeeeeeeeeee", ".intent"));
    assert_int_equal(mq_intent_scan(directory, OTHER, see, NULL, &err), MQ_OK);
    assert_int_equal(seen[MQ_INTENT_DEAD], 1);
    assert_int_equal(seen[MQ_INTENT_ALIVE], 0);
    assert_int_equal(seen[MQ_INTENT_OTHER], 1);
    assert_int_equal(mq_intent_scan(directory, NULL, see, NULL, &err), MQ_OK);
    assert_int_equal(seen[MQ_INTENT_ALIVE], 1);
    mq_intent_close(own);
    assert_int_equal(mq_intent_scan("/nonexistent", NULL, see, NULL, &err), MQ_CANTOPEN);
}

/* Records that prove nothing are removed after a week, and those of a start that died after an
 * hour; a record that still tells something is never removed. */
static void test_scan_clears_away(void **state)
{
    (void)state;
    leave_record();
    make_old(path_of(TOKEN, ".intent"), 30);
    touch(path_of(OTHER, ".intent"));
    touch(path_of(OTHER, ".intent.starting"));
    assert_int_equal(mq_intent_scan(directory, NULL, see, NULL, &err), MQ_OK);
    assert_int_equal(count_files(), 3);
    make_old(path_of(OTHER, ".intent"), 8);
    make_old(path_of(OTHER, ".intent.starting"), 1);
    assert_int_equal(mq_intent_scan(directory, NULL, see, NULL, &err), MQ_OK);
    assert_int_equal(count_files(), 1);
    assert_int_equal(owner_now(), MQ_INTENT_DEAD);
}

/* ---- processes ---- */

static void test_killed_owner(void **state)
{
    int fds[2], status;
    char byte;
    struct mq_intent_entry entry;
    (void)state;
    assert_int_equal(pipe(fds), 0);
    pid_t pid = fork();
    if (pid == 0) {
        struct mq_intent *intent = create(4);
        mq_intent_begin(intent, 5);
        if (write(fds[1], "x", 1) == 1) {
            pause();
        }
        _exit(1);
    }
    assert_int_equal(read(fds[0], &byte, 1), 1);
    assert_int_equal(owner_now(), MQ_INTENT_ALIVE);
    kill(pid, SIGKILL);
    waitpid(pid, &status, 0);
    struct mq_intent_record *record = open_record();
    assert_int_equal(record->owner, MQ_INTENT_DEAD);
    assert_true(mq_intent_find(record, 5, &entry));
    mq_intent_record_close(record, false);
    close(fds[0]);
    close(fds[1]);
}

/* A forked child that exits normally must not remove its parent's file. */
static void test_fork(void **state)
{
    int status;
    (void)state;
    struct mq_intent *intent = create(1);
    pid_t pid = fork();
    if (pid == 0) {
        mq_intent_close(intent);
        _exit(0);
    }
    waitpid(pid, &status, 0);
    assert_int_equal(count_files(), 1);
    assert_int_equal(owner_now(), MQ_INTENT_ALIVE);
    mq_intent_close(intent);
}

static void test_errors(void **state)
{
    struct mq_intent *intent = NULL;
    (void)state;
    assert_int_equal(mq_intent_create("/nonexistent/x", TOKEN, 1, &intent, &err), MQ_CANTOPEN);
    assert_non_null(strstr(err.text, "/nonexistent/x/" TOKEN));
    assert_null(intent);
    touch(path_of(TOKEN, ".intent.starting"));
    assert_int_equal(mq_intent_create(directory, TOKEN, 1, &intent, &err), MQ_CANTOPEN);
    assert_int_equal(count_files(), 1);
}

int main(void)
{
#define T(f) cmocka_unit_test_setup_teardown(f, setup, teardown)
    const struct CMUnitTest tests[] = {
        T(test_own_life),
        T(test_every_result_is_read),
        T(test_alive_is_read_only),
        T(test_dead),
        T(test_reused_slot_is_clean),
        T(test_garbage),
        T(test_foreign_or_damaged),
        T(test_scan),
        T(test_scan_clears_away),
        T(test_killed_owner),
        T(test_fork),
        T(test_errors),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
