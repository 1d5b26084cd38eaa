/* link: -Wl,--wrap=fsync */
/* A sync of the WAL fails, and a power failure follows: every commit that was reported is on the
 * disk. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "db/sqlite/internal.h"
#include "power_bench.h"
#include "power_vfs.h"
#include "sqlite_peer.h"

int __real_fsync(int fd);
int __wrap_fsync(int fd);

static bool disk_fails;
static int asked; /* whether the disk works */

/* Hooks of the driver's own calls; SQLite's calls are in its library, and are caught in
 * power_vfs.c. */
int __wrap_fsync(int fd)
{
    asked++;
    if (!disk_fails)
        return __real_fsync(fd);
    errno = EIO;
    return -1;
}

static int setup(void **state)
{
    disk_fails = false;
    asked = 0;
    return bench_setup(state);
}

static int64_t wal_bytes(struct power_bench *bench)
{
    struct stat info;
    char wal[128];

    snprintf(wal, sizeof(wal), "%s-wal", bench->path);
    return stat(wal, &info) == 0 ? (int64_t)info.st_size : 0;
}

static void fail_once(struct power_bench *bench)
{
    bench_open_both(bench);
    power_fail_syncs(POWER_WAL, 1, true);
    assert_int_equal(bench_store(bench, 0, 3), MQ_IO);
}

static void cut_power(struct power_bench *bench, const char *when)
{
    power_off();
    bench_close_all(bench);
    power_restore(0);
    bench_check(bench, when);
}

/* Rows stored after it would not reach the disk, so the WAL starts again. */
static void test_next_commit(void **state)
{
    struct power_bench *bench = *state;

    fail_once(bench);
    assert_int_equal(bench_store(bench, 0, 4), MQ_OK);
    assert_int_equal(bench_store(bench, 1, 5), MQ_OK);
    assert_int_equal(asked, 1);
    cut_power(bench, "the next commit after a sync that failed");
}

static void test_other_connection(void **state)
{
    struct power_bench *bench = *state;

    fail_once(bench);
    assert_int_equal(bench_store(bench, 1, 4), MQ_OK);
    cut_power(bench, "another connection's commit after a sync that failed");
}

static void test_new_connection(void **state)
{
    struct power_bench *bench = *state;

    fail_once(bench);
    for (int i = 0; i < POWER_CONNECTIONS; i++)
        bench_close(bench, i);
    assert_true(wal_bytes(bench) == 0);
    assert_int_equal(bench_open(bench, 0), MQ_OK);
    assert_int_equal(bench_store(bench, 0, 4), MQ_OK);
    cut_power(bench, "a new connection's commit after a sync that failed");
}

/* Outside of a transaction there is no rollback: the next one begins with it. */
static void test_single_statement(void **state)
{
    struct power_bench *bench = *state;

    bench_open_both(bench);
    power_fail_syncs(POWER_WAL, 1, true);
    assert_int_equal(run_sql(bench->dbs[0], "INSERT INTO t VALUES (3, NULL)", &bench->err), MQ_IO);
    assert_int_equal(bench_store(bench, 0, 4), MQ_OK);
    cut_power(bench, "a single statement whose sync failed");
}

/* A checkpoint would damage the database, too. */
static void test_disk_still_fails(void **state)
{
    struct power_bench *bench = *state;
    int64_t bytes;
    int before;

    disk_fails = true;
    fail_once(bench);
    bytes = wal_bytes(bench);
    before = power_counted()->operations;
    asked = 0;
    assert_int_equal(bench_store(bench, 0, 4), MQ_IO);
    assert_int_equal(asked, 1); /* each repair writes twice the size of the WAL */
    assert_non_null(strstr(bench->err.text, "nothing more is stored"));
    assert_non_null(strstr(bench->err.text, bench->path));
    assert_int_equal(mq_sqlite_of(bench->dbs[0])->base.driver->maintain(bench->dbs[0], &bench->err),
                     MQ_IO);
    bench_close(bench, 1);
    bench_close(bench, 0);
    assert_int_equal(power_counted()->operations, before);
    assert_int_equal(wal_bytes(bench), bytes);
    assert_int_equal(bench_open(bench, 0), MQ_OK);
    assert_int_equal(bench_store(bench, 0, 5), MQ_IO); /* although it is a new connection */
    cut_power(bench, "a disk that goes on failing");
}

/* A process that opens the file later takes the contents of the system's cache for committed. */
static void test_opened_later(void **state)
{
    struct power_bench *bench = *state;
    char mark[128];

    snprintf(mark, sizeof(mark), "%s-unsynced", bench->path);
    disk_fails = true;
    fail_once(bench);
    bench_close(bench, 0);
    bench_close(bench, 1);
    disk_fails = false;
    assert_true(exists(mark));
    assert_int_equal(bench_open(bench, 0), MQ_OK);
    assert_int_equal(bench_store(bench, 0, 4), MQ_OK);
    assert_false(exists(mark));
    cut_power(bench, "a connection that was opened later");
}

static void test_disk_works_again(void **state)
{
    struct power_bench *bench = *state;

    disk_fails = true;
    fail_once(bench);
    assert_int_equal(bench_store(bench, 0, 4), MQ_IO);
    disk_fails = false;
    assert_int_equal(bench_store(bench, 0, 5), MQ_OK);
    cut_power(bench, "a disk that works again");
}

/* The driver waits for the lock, but not for long. */
static void test_reader_in_the_way(void **state)
{
    struct power_bench *bench = *state;

    bench_open_both(bench);
    assert_int_equal(bench_insert(bench, 1, 9), MQ_OK); /* its snapshot needs the WAL */
    bench->dbs[1]->driver->rollback(bench->dbs[1]);
    assert_int_equal(run_sql(bench->dbs[1], "BEGIN", &bench->err), MQ_OK);
    assert_string_equal(value_of(bench->dbs[1], "SELECT count(*) FROM t"), "2");
    power_fail_syncs(POWER_WAL, 1, true);
    assert_int_equal(bench_store(bench, 0, 3), MQ_IO);
    assert_int_equal(bench_store(bench, 0, 4), MQ_IO);
    assert_int_equal(run_sql(bench->dbs[1], "COMMIT", &bench->err), MQ_OK);
    assert_int_equal(bench_store(bench, 0, 5), MQ_OK);
    cut_power(bench, "a reader that kept the WAL from being cut");
}

/* The failure is reported to the checkpoint, and not once more to the next commit. */
static void test_checkpoint_that_fails_to_sync(void **state)
{
    static const struct power_variant application = {"application's wal", NULL, "wal"};
    struct power_bench *bench = *state;
    sqlite3 *other = NULL;

    bench_restart(bench, &application, 1);
    bench->next = 10;
    assert_int_equal(bench_open(bench, POWER_WORKER), MQ_OK);
    assert_int_equal(bench_store(bench, POWER_WORKER, 1), MQ_OK);
    assert_int_equal(sqlite3_open(bench->path, &other), SQLITE_OK);
    assert_int_equal(sqlite3_exec(other,
                                  "PRAGMA synchronous = NORMAL; CREATE TABLE x (a);"
                                  "INSERT INTO x VALUES (1)",
                                  NULL, NULL, NULL),
                     SQLITE_OK);
    power_fail_syncs(POWER_WAL, 1, true);
    assert_int_equal(bench_maintain(bench), MQ_IO);
    assert_int_equal(bench_store(bench, POWER_WORKER, 4), MQ_OK);
    power_off();
    sqlite3_close(other);
    cut_power(bench, "after a checkpoint that could not sync");
}

/* Another process changes the file: there is nothing left to cut. */
static void test_no_wal_any_more(void **state)
{
    struct power_bench *bench = *state;
    sqlite3 *other = NULL;

    disk_fails = true;
    fail_once(bench);
    bench_close(bench, 0);
    bench_close(bench, 1);
    assert_int_equal(sqlite3_open(bench->path, &other), SQLITE_OK);
    assert_int_equal(sqlite3_exec(other, "PRAGMA journal_mode = DELETE", NULL, NULL, NULL),
                     SQLITE_OK);
    sqlite3_close(other);
    assert_int_equal(bench_open(bench, 0), MQ_OK);
    power_fail_syncs(POWER_JOURNAL, 1, false);
    assert_int_equal(bench_store(bench, 0, 4), MQ_IO);
    assert_int_equal(bench_store(bench, 0, 5), MQ_OK);
}

static void fail_after_commit(void *context, enum power_kind kind)
{
    (void)context;
    if (kind == POWER_MAIN)
        power_fail_syncs(POWER_JOURNAL, 1, false);
}

/* The journal is already cut, and that is the commit. */
static void test_stored_though_reported(void **state)
{
    static const struct power_variant truncate_journal = {"truncate", "truncate", NULL};
    struct power_bench *bench = *state;

    bench_restart(bench, &truncate_journal, 1);
    bench->next = 10;
    assert_int_equal(bench_open(bench, 0), MQ_OK);
    power_on_sync(fail_after_commit, bench);
    assert_int_equal(bench_store(bench, 0, 1), MQ_IO);
    power_on_sync(NULL, NULL);
    assert_string_equal(value_of(bench->dbs[0], "SELECT count(*) FROM t"), "1");
    assert_null(strstr(bench->err.text, "nothing was stored"));
    assert_non_null(strstr(bench->err.text, "same reference"));
    assert_true(bench->err.in_doubt);
    power_fail_syncs(POWER_JOURNAL, 1, false);
    assert_int_equal(bench_store(bench, 0, 2), MQ_IO);
    assert_string_equal(value_of(bench->dbs[0], "SELECT count(*) FROM t"), "1");
}

#define POWER_TEST(function) cmocka_unit_test_setup_teardown(function, setup, bench_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        POWER_TEST(test_next_commit),
        POWER_TEST(test_other_connection),
        POWER_TEST(test_new_connection),
        POWER_TEST(test_single_statement),
        POWER_TEST(test_disk_still_fails),
        POWER_TEST(test_opened_later),
        POWER_TEST(test_disk_works_again),
        POWER_TEST(test_reader_in_the_way),
        POWER_TEST(test_checkpoint_that_fails_to_sync),
        POWER_TEST(test_no_wal_any_more),
        POWER_TEST(test_stored_though_reported),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
