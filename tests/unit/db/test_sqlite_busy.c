/* Waiting for locks that others hold; what the error says about them. */
#include <setjmp.h>
#include <sqlite3.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <cmocka.h>

#include "sqlite_peer.h"

static const char *const journals[] = {"wal", "truncate"};

static int64_t now_ms(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

static void start(struct scene *scene, const char *journal)
{
    if (scene->db)
        scene->db->driver->close(scene->db);
    scene->db = NULL;
    remove(scene->path);
    scene_open(scene, journal);
    peer_ask(&scene->peer, "open %s", scene->path);
}

static void test_another_process(void **state)
{
    struct scene *scene = *state;

    for (int i = 0; i < 2; i++) {
        int64_t begun;
        int64_t waited;
        const char *said;

        start(scene, journals[i]);
        assert_string_equal(peer_ask(&scene->peer, "BEGIN IMMEDIATE"), "");
        begun = now_ms();
        assert_int_equal(scene_store(scene, "x"), MQ_BUSY);
        waited = now_ms() - begun;
        assert_in_range(waited, 299, 60000);
        assert_non_null(strstr(scene->err.text, scene->path));
        assert_non_null(strstr(scene->err.text, "the write lock"));
        said = strstr(scene->err.text, "waited ");
        assert_non_null(said);
        assert_in_range(atoi(said + 7), 299, waited + 1);
        assert_int_equal(scene->db->driver->commit(scene->db, &scene->err), MQ_DATABASE);
        peer_ask(&scene->peer, "COMMIT");
        assert_int_equal(scene_store(scene, "x"), MQ_OK);
        peer_ask(&scene->peer, "close");
    }
}

static void test_the_same_process(void **state)
{
    struct scene *scene = *state;

    for (int i = 0; i < 2; i++) {
        sqlite3 *application = NULL;

        start(scene, journals[i]);
        assert_int_equal(sqlite3_open(scene->path, &application), SQLITE_OK);
        assert_int_equal(sqlite3_exec(application, "BEGIN IMMEDIATE", NULL, NULL, NULL), SQLITE_OK);
        assert_int_equal(scene_store(scene, "x"), MQ_BUSY);
        assert_non_null(strstr(scene->err.text, "own connection in this process"));
        assert_non_null(strstr(scene->err.text, "after its commit"));
        sqlite3_close(application);
        assert_int_equal(scene_store(scene, "x"), MQ_OK);
    }
}

/* Whether a wait for a lock of 100 ms took about that long; a commit takes as long as the disk
 * does. */
static bool wakes_soon(struct scene *scene, const char *journal)
{
    int64_t begun, waited;
    enum mq_status status;

    start(scene, journal);
    assert_string_equal(peer_ask(&scene->peer, "BEGIN IMMEDIATE"), "");
    peer_tell(&scene->peer, "hold 100");
    begun = now_ms();
    status = scene->db->driver->begin(scene->db, &scene->err);
    waited = now_ms() - begun;
    scene->db->driver->rollback(scene->db);
    peer_wait(&scene->peer);
    peer_ask(&scene->peer, "close");
    return status == MQ_OK && waited >= 80 && waited <= 200;
}

/* The wait ends soon after the lock is free, though on a busy machine not every time. */
static void test_waits_in_short_steps(void **state)
{
    for (int i = 0; i < 2; i++) {
        int times = 1;

        while (!wakes_soon(*state, journals[i]) && times < 50)
            times++;
        assert_true(times < 50);
    }
}

/* With a rollback journal a commit waits for readers; it may be tried again. */
static void test_commit_waits_for_readers(void **state)
{
    struct scene *scene = *state;
    struct mq_db *db;

    start(scene, "truncate");
    db = scene->db;
    assert_int_equal(scene_store(scene, "x"), MQ_OK);
    assert_string_equal(peer_ask(&scene->peer, "BEGIN; SELECT a FROM t"), "x");
    assert_int_equal(db->driver->begin(db, &scene->err), MQ_OK);
    assert_int_equal(run_sql(db, "INSERT INTO t VALUES ('y')", &scene->err), MQ_OK);
    assert_int_equal(db->driver->commit(db, &scene->err), MQ_BUSY);
    assert_string_equal(peer_ask(&scene->peer, "COMMIT"), "");
    assert_int_equal(db->driver->commit(db, &scene->err), MQ_OK);
    assert_string_equal(peer_ask(&scene->peer, "SELECT count(*) FROM t"), "2");
}

#define BUSY_TEST(function) cmocka_unit_test_setup_teardown(function, scene_setup, scene_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        BUSY_TEST(test_another_process),
        BUSY_TEST(test_the_same_process),
        BUSY_TEST(test_waits_in_short_steps),
        BUSY_TEST(test_commit_waits_for_readers),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
