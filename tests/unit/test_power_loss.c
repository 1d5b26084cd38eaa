/* What is there after a power failure: each row whose commit() was reported, in a sound file. */
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

enum { STEPS = 14, LIVES = 3 };

static const struct power_variant variants[] = {
    {"new wal", "wal", NULL},
    {"new truncate", "truncate", NULL},
    {"new delete", "delete", NULL},
    {"application's wal", NULL, "wal"},
    {"application's delete", NULL, "delete"},
    {"application's delete, as it is", "delete", "delete"},
};
enum { VARIANTS = sizeof(variants) / sizeof(variants[0]) };

static enum mq_status step(struct power_bench *bench)
{
    int which = (int)bench_chance(bench, POWER_CONNECTIONS);
    int action = (int)bench_chance(bench, 8);
    enum mq_status status;

    bench->active = which;
    bench->active_key = 0;
    if (bench->reopens)
        bench_close(bench, which);
    status = bench_open(bench, which);
    if (status != MQ_OK)
        return status;
    if (action == 0 && which == POWER_WORKER)
        return bench_maintain(bench);
    if (action == 0) {
        status = bench_insert(bench, which, bench->next);
        bench->dbs[which]->driver->rollback(bench->dbs[which]);
        bench->promises[bench->next++] = PROMISED_UNDONE;
        return status;
    }
    if (action == 1 && bench->next > 1 && bench->promises[bench->next - 1] == PROMISED_STORED)
        return bench_store(bench, which, bench->next - 1);
    bench->active_key = bench->next++;
    return action == 2 ? bench_store_alone(bench, which, bench->active_key)
                       : bench_store(bench, which, bench->active_key);
}

/* What the other connection does while one is in a sync; locks may keep it from that. */
static void meddle(void *context, enum power_kind kind)
{
    struct power_bench *bench = context;
    int other = !bench->active;
    int action = (int)bench_chance(bench, 6);

    if (kind != POWER_WAL || !bench->dbs[other])
        return;
    if (action == 0 && other == POWER_WORKER)
        bench_maintain(bench);
    else if (action <= 2 && bench->active_key > 0)
        bench_store(bench, other, bench->active_key);
    else if (action == 3 && bench->next < POWER_KEYS - STEPS)
        bench_store(bench, other, bench->next++);
}

static void live(struct power_bench *bench, const char *when)
{
    enum mq_status status = MQ_OK;

    bench->reopens = bench_chance(bench, 2);
    for (int i = 0; i < STEPS && status == MQ_OK; i++)
        status = step(bench);
    if (status != MQ_OK && !power_is_off())
        fail_msg("%s: %s: %s", when, mq_status_name(status), bench->err.text);
}

/* --- power failures at any operation --- */

/* One file through several power failures; where the driver finds what is left of the last. */
static int suffer(struct power_bench *bench, uint32_t random, int cuts)
{
    int lives = cuts < LIVES ? cuts : LIVES;

    for (int i = 0; i < lives; i++) {
        int operation = (int)bench_chance(bench, i == 0 ? 160 : 80) + 1;
        uint32_t seed = bench_chance(bench, 3) == 0 ? 0 : 1 + bench_chance(bench, 1000000);
        char when[160];

        snprintf(when, sizeof(when), "%s, random %u, power failure %d at operation %d, seed %u",
                 bench->variant->name, random, i + 1, operation, seed);
        power_off_at(operation);
        power_on_sync(meddle, bench);
        live(bench, when);
        power_off();
        bench_close_all(bench);
        power_restore(seed);
        bench_check(bench, when);
    }
    return lives;
}

static void test_acknowledged_is_there(void **state)
{
    struct power_bench *bench = *state;
    const char *wanted = getenv("MAILQUEUE_TEST_CUTS");
    int cuts = wanted ? atoi(wanted) : 600;

    for (uint32_t i = 0; cuts > 0; i++) {
        bench_begin_anew(bench, &variants[i % VARIANTS], i + 1);
        cuts -= suffer(bench, i + 1, cuts);
    }
}

/* --- what others see before it is on the disk --- */

/* The other one is told that the row is there, and the power goes off before it is. */
static void store_duplicate(void *context, enum power_kind kind)
{
    struct power_bench *bench = context;

    if (kind != POWER_WAL)
        return;
    bench->reported = bench_store(bench, 1, 3);
    power_off();
}

/* One stores a row, the other one finds it there. */
static void see_duplicate(struct power_bench *bench, const char *when)
{
    bench->reported = -1;
    power_on_sync(store_duplicate, bench);
    assert_int_equal(bench_store(bench, 0, 3), MQ_IO);
    assert_int_equal(bench->reported, MQ_OK);
    assert_int_equal(bench->dbs[1]->driver->changes(bench->dbs[1]), 0);
    bench_close_all(bench);
    power_restore(0);
    bench_check(bench, when);
}

static void test_duplicate(void **state)
{
    struct power_bench *bench = *state;

    bench_open_both(bench);
    see_duplicate(bench, "duplicate");
}

/* Who sees it opened the file when it had no WAL yet. */
static void test_duplicate_in_new_wal(void **state)
{
    static const struct power_variant truncate_first = {"truncate", "truncate", NULL};
    struct power_bench *bench = *state;
    sqlite3 *application = NULL;

    bench_begin_anew(bench, &truncate_first, 1);
    bench->requests = true;
    bench->next = 10;
    assert_int_equal(bench_open(bench, 1), MQ_OK);
    assert_int_equal(sqlite3_open(bench->path, &application), SQLITE_OK);
    assert_int_equal(sqlite3_exec(application, "PRAGMA journal_mode = WAL", NULL, NULL, NULL),
                     SQLITE_OK);
    assert_int_equal(sqlite3_close(application), SQLITE_OK);
    assert_int_equal(bench_open(bench, 0), MQ_OK);
    assert_int_equal(bench_store(bench, 0, 1), MQ_OK);
    assert_int_equal(bench_store(bench, 1, 2), MQ_OK);
    see_duplicate(bench, "duplicate in a new WAL");
}

static void test_idle_does_not_sync(void **state)
{
    struct power_bench *bench = *state;

    bench_open_both(bench);
    assert_int_equal(bench_syncs_of_empty(bench, 0), 1); /* the other one wrote */
    for (int i = 0; i < 3; i++)
        assert_int_equal(bench_syncs_of_empty(bench, 0), 0);
    assert_int_equal(bench_store(bench, 0, 3), MQ_OK);
    assert_int_equal(bench_syncs_of_empty(bench, 0), 0);
    assert_int_equal(bench_store(bench, 1, 4), MQ_OK);
    assert_string_equal(value_of(bench->dbs[0], "SELECT count(*) FROM t"), "4");
    assert_int_equal(bench_syncs_of_empty(bench, 0), 1); /* though seen before the transaction */
    assert_int_equal(bench_syncs_of_empty(bench, 0), 0);
}

/* A transaction that was undone has synced nothing of what it saw. */
static void test_rollback_is_no_sync(void **state)
{
    struct power_bench *bench = *state;

    bench_open_both(bench);
    bench_syncs_of_empty(bench, 0);
    assert_int_equal(bench_store(bench, 1, 3), MQ_OK);
    assert_int_equal(bench_insert(bench, 0, 4), MQ_OK);
    bench->dbs[0]->driver->rollback(bench->dbs[0]);
    assert_int_equal(bench_syncs_of_empty(bench, 0), 1);
}

/* --- during a sync --- */

static void store_another(void *context, enum power_kind kind)
{
    struct power_bench *bench = context;

    if (kind == POWER_WAL && bench->reported < 0)
        bench->reported = bench_store(bench, 1, 4);
}

static void test_lock_is_free(void **state)
{
    struct power_bench *bench = *state;

    bench_open_both(bench);
    bench->reported = -1;
    power_on_sync(store_another, bench);
    assert_int_equal(bench_store(bench, 0, 3), MQ_OK);
    power_on_sync(NULL, NULL);
    assert_int_equal(bench->reported, MQ_OK);
    assert_string_equal(value_of(bench->dbs[0], "SELECT count(*) FROM t"), "4");
}

/* --- the directory --- */

static void test_directory(void **state)
{
    struct power_bench *bench = *state;
    int before;

    bench_begin_anew(bench, NULL, 1);
    bench->next = 10;
    for (int key = 1; key <= 5; key++) {
        before = power_counted()->directories;
        assert_int_equal(bench_open(bench, 0), MQ_OK);
        assert_int_equal(bench_store(bench, 0, key), MQ_OK);
        bench_close(bench, 0);
        if (key == 1)
            assert_true(power_counted()->directories > before);
        else
            assert_int_equal(power_counted()->directories, before);
    }
    power_off();
    power_restore(0);
    bench_check(bench, "requests");
}

#define POWER_TEST(function) cmocka_unit_test_setup_teardown(function, bench_setup, bench_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        POWER_TEST(test_acknowledged_is_there),
        POWER_TEST(test_duplicate),
        POWER_TEST(test_duplicate_in_new_wal),
        POWER_TEST(test_idle_does_not_sync),
        POWER_TEST(test_rollback_is_no_sync),
        POWER_TEST(test_lock_is_free),
        POWER_TEST(test_directory),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
