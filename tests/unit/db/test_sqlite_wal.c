/* Which connection copies the WAL into the database, and when. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "sqlite_peer.h"

#include "db/sqlite/file_guard.h"

enum { MIB = 1 << 20 };

static void open_as(struct scene *scene, bool worker)
{
    struct mq_sqlite_options options = {.path = scene->path,
                                        .journal = "wal",
                                        .busy_timeout_ms = 300,
                                        .worker = worker,
                                        .synchronous_normal = true};

    assert_int_equal(mq_sqlite_open(&options, &scene->db, &scene->err), MQ_OK);
    assert_int_equal(mq_db_script(scene->db, "CREATE TABLE IF NOT EXISTS t (a TEXT)", &scene->err),
                     MQ_OK);
}

static void store_mib(struct scene *scene, int mib)
{
    for (int i = 0; i < mib * 10; i++) {
        assert_int_equal(scene->db->driver->begin(scene->db, &scene->err), MQ_OK);
        assert_int_equal(run_sql(scene->db, "INSERT INTO t VALUES (zeroblob(104857))", &scene->err),
                         MQ_OK);
        assert_int_equal(scene->db->driver->commit(scene->db, &scene->err), MQ_OK);
    }
}

static int64_t size_of(const char *path)
{
    struct stat info;

    return stat(path, &info) == 0 ? (int64_t)info.st_size : -1;
}

static void test_producers_leave_checkpoints_to_the_worker(void **state)
{
    struct scene *scene = *state;

    open_as(scene, false);
    peer_ask(&scene->peer, "open %s", scene->path);
    peer_ask(&scene->peer, "SELECT count(*) FROM t");
    store_mib(scene, 12); /* over SQLite's own 1,000 pages, below the cap */
    assert_in_range(size_of(scene->path), 1, MIB);
    assert_in_range(mq_sqlite_wal_bytes(scene->db), 12 * MIB, 15 * MIB);
    store_mib(scene, 38); /* without a cap: 50 */
    assert_in_range(mq_sqlite_wal_bytes(scene->db), 31 * MIB, 38 * MIB);
    assert_true(size_of(scene->path) > 30 * MIB);
}

static void test_producer_alone_does_checkpoints(void **state)
{
    struct scene *scene = *state;

    open_as(scene, false);
    store_mib(scene, 28);
    assert_in_range(mq_sqlite_wal_bytes(scene->db), 7 * MIB, 10 * MIB);
    assert_true(size_of(scene->path) > 15 * MIB);
}

static void test_worker_keeps_it_small(void **state)
{
    struct scene *scene = *state;

    open_as(scene, true);
    assert_int_equal(scene->db->driver->maintain(scene->db, &scene->err), MQ_OK);
    for (int i = 0; i < 40; i++) {
        store_mib(scene, 1);
        assert_int_equal(scene->db->driver->maintain(scene->db, &scene->err), MQ_OK);
    }
    assert_in_range(mq_sqlite_wal_bytes(scene->db), 7 * MIB, 10 * MIB);
}

/* A worker without work writes nothing, so SQLite does not tell it about the producers' frames. */
static void test_idle_worker_sees_what_producers_write(void **state)
{
    struct scene *scene = *state;

    open_as(scene, true);
    peer_ask(&scene->peer, "open %s", scene->path);
    peer_ask(&scene->peer, "PRAGMA wal_autocheckpoint = 0");
    assert_int_equal(scene->db->driver->maintain(scene->db, &scene->err), MQ_OK);
    for (int i = 0; i < 4; i++) {
        for (int mib = 0; mib < 10; mib++)
            peer_ask(&scene->peer, "INSERT INTO t VALUES (zeroblob(1048576))");
        usleep(110000); /* the interval between looks */
        assert_int_equal(scene->db->driver->maintain(scene->db, &scene->err), MQ_OK);
        assert_int_equal(scene->db->driver->maintain(scene->db, &scene->err), MQ_OK);
    }
    assert_in_range(mq_sqlite_wal_bytes(scene->db), 9 * MIB, 14 * MIB);
    assert_true(size_of(scene->path) > 30 * MIB);
}

/* After an incomplete checkpoint the next one comes soon, or producers would reach their cap. */
static void test_worker_tries_again_soon(void **state)
{
    struct scene *scene = *state;

    open_as(scene, true);
    store_mib(scene, 1);
    peer_ask(&scene->peer, "open %s", scene->path);
    peer_ask(&scene->peer, "BEGIN; SELECT count(*) FROM t");
    store_mib(scene, 10);
    assert_int_equal(scene->db->driver->maintain(scene->db, &scene->err), MQ_OK);
    assert_string_equal(peer_ask(&scene->peer, "COMMIT"), "");
    store_mib(scene, 1);
    assert_int_equal(scene->db->driver->maintain(scene->db, &scene->err), MQ_OK);
    store_mib(scene, 5);
    assert_in_range(mq_sqlite_wal_bytes(scene->db), 11 * MIB, 16 * MIB);
}

/* A long reader prevents the reuse of the WAL; afterwards it is cut. */
static void test_shrinks_when_a_reader_leaves(void **state)
{
    struct scene *scene = *state;

    open_as(scene, true);
    store_mib(scene, 1);
    peer_ask(&scene->peer, "open %s", scene->path);
    peer_ask(&scene->peer, "BEGIN; SELECT count(*) FROM t");
    for (int i = 0; i < 70; i++) {
        store_mib(scene, 1);
        assert_int_equal(scene->db->driver->maintain(scene->db, &scene->err), MQ_OK);
    }
    assert_true(mq_sqlite_wal_bytes(scene->db) > 70 * MIB);
    assert_string_equal(peer_ask(&scene->peer, "COMMIT"), "");
    usleep(1050000); /* attempts are a second apart */
    assert_int_equal(scene->db->driver->maintain(scene->db, &scene->err), MQ_OK);
    assert_int_equal(mq_sqlite_wal_bytes(scene->db), 0);
    for (int i = 0; i < 40; i++) { /* and kept short again */
        store_mib(scene, 1);
        assert_int_equal(scene->db->driver->maintain(scene->db, &scene->err), MQ_OK);
        assert_in_range(mq_sqlite_wal_bytes(scene->db), 0, 16 * MIB);
    }
    assert_string_equal(peer_ask(&scene->peer, "PRAGMA integrity_check"), "ok");
}

static void test_close(void **state)
{
    struct scene *scene = *state;
    char wal[128];

    snprintf(wal, sizeof(wal), "%s-wal", scene->path);
    open_as(scene, false);
    assert_int_equal(scene_store(scene, "x"), MQ_OK);
    scene->db->driver->close(scene->db);
    assert_true(size_of(wal) > 0); /* a producer leaves a small one … */
    open_as(scene, false);
    assert_string_equal(value_of(scene->db, "SELECT a FROM t"), "x");
    store_mib(scene, 1);
    scene->db->driver->close(scene->db);
    assert_int_equal(size_of(wal), -1); /* … no larger one … */
    open_as(scene, false);
    assert_int_equal(scene_store(scene, "y"), MQ_OK);
    scene->db->driver->close(scene->db);
    open_as(scene, true);
    scene->db->driver->close(scene->db);
    scene->db = NULL;
    assert_int_equal(size_of(wal), -1); /* … and the worker leaves none */
    assert_string_equal(peer_see(scene, "SELECT count(*) FROM t"), "12");
}

#define WAL_TEST(function) cmocka_unit_test_setup_teardown(function, scene_setup, scene_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        WAL_TEST(test_producers_leave_checkpoints_to_the_worker),
        WAL_TEST(test_producer_alone_does_checkpoints),
        WAL_TEST(test_worker_keeps_it_small),
        WAL_TEST(test_idle_worker_sees_what_producers_write),
        WAL_TEST(test_worker_tries_again_soon),
        WAL_TEST(test_shrinks_when_a_reader_leaves),
        WAL_TEST(test_close),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
