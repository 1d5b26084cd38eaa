/* A sync of the WAL that fails, and the power failure afterwards: what is reported is there. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "db/sqlite_private.h"
#include "power_bench.h"
#include "power_vfs.h"
#include "sqlite_peer.h"

/* The first sync fails; what comes out in the last one. */
static void store_last(void *context, enum power_kind kind)
{
    struct power_bench *bench = context;
    bool first = bench->reported < 0;

    if (kind != POWER_WAL)
        return;
    bench->reported = bench_store(bench, 1, bench->next++);
    if (first)
        power_fail_syncs(POWER_WAL, 1, true);
}

/* What should have been written is lost; frames count only with all that are before them. So the
 * WAL is written once more, at once or with the next commit. */
static void fail_syncs(struct power_bench *bench, int count)
{
    bench_open_both(bench);
    power_fail_syncs(POWER_WAL, count, true);
    assert_int_equal(bench_store(bench, 0, 3), count < 2 ? MQ_OK : MQ_IO);
    if (count >= 2) {
        assert_non_null(strstr(bench->err.text, "may not survive"));
        assert_non_null(strstr(bench->err.text, strerror(EIO)));
        assert_non_null(strstr(bench->err.text, bench->path));
    }
    assert_int_equal(bench_store(bench, 0, 4), count < 3 ? MQ_OK : MQ_IO);
    assert_int_equal(bench_store(bench, count < 3 ? 1 : 0, 5), MQ_OK);
    power_off();
    bench_close_all(bench);
    power_restore(0);
    bench_check(bench, "after a sync that failed and lost what it was to write");
}

static void test_failing_sync(void **state)
{
    for (int count = 1; count <= 3; count++)
        fail_syncs(*state, count);
}

/* But once: with the next commit all is as ever. */
static void test_written_again_once(void **state)
{
    struct power_bench *bench = *state;
    int before;

    bench_open_both(bench);
    power_fail_syncs(POWER_WAL, 2, true);
    assert_int_equal(bench_store(bench, 0, 3), MQ_IO);
    assert_int_equal(bench_store(bench, 0, 4), MQ_OK);
    assert_int_equal(bench_store(bench, 1, 5), MQ_OK);
    before = power_counted()->operations;
    assert_int_equal(bench_syncs_of_empty(bench, 0), 1);
    assert_int_equal(power_counted()->operations - before, 1);
}

/* Another one's frames are not to be written over. */
static void test_written_again_alone(void **state)
{
    struct power_bench *bench = *state;

    bench_open_both(bench);
    bench->reported = -1;
    power_on_sync(store_last, bench);
    assert_int_equal(bench_store(bench, 0, 3), MQ_OK);
    assert_int_equal(bench->reported, MQ_BUSY);
}

static void zero_the_end(void *context, enum power_kind kind)
{
    struct power_bench *bench = context;
    char wal[128];
    FILE *file;

    if (kind != POWER_WAL || bench->reported >= 0)
        return;
    bench->reported = 0;
    snprintf(wal, sizeof(wal), "%s-wal", bench->path);
    assert_non_null(file = fopen(wal, "r+b"));
    assert_int_equal(fseek(file, -100, SEEK_END), 0);
    for (int i = 0; i < 100; i++)
        fputc(0, file);
    fclose(file);
    power_fail_syncs(POWER_WAL, 1, true);
}

/* What is read back may be what the disk has, and not what could not be written to it. */
static void test_not_written_again_from_the_disk(void **state)
{
    struct power_bench *bench = *state;

    bench_open_both(bench);
    bench->reported = -1;
    power_on_sync(zero_the_end, bench);
    assert_int_equal(bench_store(bench, 0, 3), MQ_IO);
    assert_int_equal(bench->reported, 0);
}

static void take_the_lock(void *context, enum power_kind kind)
{
    struct power_bench *bench = context;

    if (kind != POWER_WAL || bench->reported >= 0)
        return;
    bench->reported = bench_insert(bench, 1, 4);
    power_fail_syncs(POWER_WAL, 1, true);
}

/* It cannot be written again now: the next one that commits does it. */
static void test_lock_is_taken(void **state)
{
    struct power_bench *bench = *state;

    bench_open_both(bench);
    bench->reported = -1;
    power_on_sync(take_the_lock, bench);
    assert_int_equal(bench_store(bench, 0, 3), MQ_IO);
    assert_int_equal(bench->reported, MQ_OK);
    assert_non_null(strstr(bench->err.text, strerror(EIO)));
    bench->dbs[1]->driver->rollback(bench->dbs[1]);
    assert_int_equal(bench_store(bench, 0, 5), MQ_OK);
    power_off();
    bench_close_all(bench);
    power_restore(0);
    bench_check(bench, "after a sync that failed beside a lock");
}

/* The failure is reported to the checkpoint, and not once more to the next commit. */
static void test_checkpoint_that_fails_to_sync(void **state)
{
    static const struct power_variant application = {"application's wal", NULL, "wal"};
    struct power_bench *bench = *state;
    sqlite3 *other = NULL;

    bench_begin_anew(bench, &application, 1);
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
    bench_close_all(bench);
    power_restore(0);
    bench_check(bench, "after a checkpoint that could not sync");
}

static void test_reopened_after_failing_sync(void **state)
{
    struct power_bench *bench = *state;

    bench_open_both(bench);
    power_fail_syncs(POWER_WAL, 2, true);
    assert_int_equal(bench_store(bench, 0, 3), MQ_IO);
    assert_int_equal(bench->dbs[0]->driver->reopen(bench->dbs[0], &bench->err), MQ_OK);
    assert_int_equal(bench_store(bench, 0, 4), MQ_OK);
    power_off();
    bench_close_all(bench);
    power_restore(0);
    bench_check(bench, "reopened after a sync that failed");
}

/* With frames of no page that a row of t touches. */
static void begin_wal_anew(struct power_bench *bench)
{
    struct mq_db *db = bench->dbs[POWER_WORKER];

    assert_int_equal(run_sql(db, "CREATE TABLE z (a)", &bench->err), MQ_OK);
    assert_int_equal(bench_maintain(bench), MQ_OK);
    assert_int_equal(run_sql(db, "INSERT INTO z VALUES (1)", &bench->err), MQ_OK);
}

/* A checkpoint that is cut off leaves a sound file only with the whole WAL. */
static void test_no_checkpoint_of_a_gap(void **state)
{
    struct power_bench *bench = *state;

    for (int i = 0; i < 200; i++) {
        char when[80];

        snprintf(when, sizeof(when), "checkpoint %d after a sync that failed", i);
        bench_open_both(bench);
        bench->random = (uint32_t)i;
        begin_wal_anew(bench);
        power_fail_syncs(POWER_WAL, 2, true);
        assert_int_equal(bench_store(bench, POWER_WORKER, 3), MQ_IO);
        power_off_at(i / 2 % 25 + 1);
        if (i % 2 == 0)
            bench_maintain(bench);
        bench_close_all(bench);
        power_restore((uint32_t)i);
        bench_check(bench, when);
    }
}

#define POWER_TEST(function) cmocka_unit_test_setup_teardown(function, bench_setup, bench_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        POWER_TEST(test_failing_sync),
        POWER_TEST(test_written_again_once),
        POWER_TEST(test_written_again_alone),
        POWER_TEST(test_not_written_again_from_the_disk),
        POWER_TEST(test_lock_is_taken),
        POWER_TEST(test_checkpoint_that_fails_to_sync),
        POWER_TEST(test_reopened_after_failing_sync),
        POWER_TEST(test_no_checkpoint_of_a_gap),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
