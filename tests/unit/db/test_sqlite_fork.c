/* A process that forks with an open connection. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "sqlite_peer.h"

#include "db/sqlite/file_guard.h"

static const char *const journals[] = {"wal", "truncate"};

static void start(struct scene *scene, const char *journal)
{
    if (scene->db)
        scene->db->driver->close(scene->db);
    scene->db = NULL;
    remove(scene->path);
    scene_open(scene, journal);
    assert_int_equal(scene_store(scene, "first"), MQ_OK);
}

/* The child's part runs there; its result is the line that failed, or 0. */
static int in_child(struct scene *scene, int (*part)(struct scene *))
{
    int result = -1;
    pid_t pid = fork();

    if (pid == 0)
        _exit(part(scene) % 256);
    waitpid(pid, &result, 0);
    return WIFEXITED(result) ? WEXITSTATUS(result) : -1;
}

#define CHECK(condition)                                                                         \
    do {                                                                                         \
        if (!(condition)) {                                                                      \
            fprintf(stderr, "%s:%d: %s: %s\n", __FILE__, __LINE__, #condition, scene->err.text); \
            return __LINE__;                                                                     \
        }                                                                                        \
    } while (0)

static int refuses(struct scene *scene)
{
    struct mq_db *db = scene->db;
    bool row;

    CHECK(mq_sqlite_forked(db));
    CHECK(db->driver->begin(db, &scene->err) == MQ_DATABASE);
    CHECK(strstr(scene->err.text, "parent process"));
    CHECK(run_sql(db, "INSERT INTO t VALUES ('child')", &scene->err) == MQ_DATABASE);
    CHECK(db->driver->commit(db, &scene->err) == MQ_DATABASE);
    CHECK(db->driver->maintain(db, &scene->err) == MQ_DATABASE);
    CHECK(db->driver->next(db, &row, &scene->err) != MQ_OK || !row);
    db->driver->rollback(db);
    db->driver->finish(db);
    db->driver->close(db);
    return 0;
}

static void test_child_is_refused(void **state)
{
    struct scene *scene = *state;

    for (int i = 0; i < 2; i++) {
        start(scene, journals[i]);
        assert_false(mq_sqlite_forked(scene->db));
        assert_int_equal(in_child(scene, refuses), 0);
        /* in the middle of a transaction, too */
        assert_int_equal(scene->db->driver->begin(scene->db, &scene->err), MQ_OK);
        assert_int_equal(run_sql(scene->db, "INSERT INTO t VALUES ('mine')", &scene->err), MQ_OK);
        assert_int_equal(in_child(scene, refuses), 0);
        assert_int_equal(run_sql(scene->db, "INSERT INTO t VALUES ('mine')", &scene->err), MQ_OK);
        assert_int_equal(scene->db->driver->commit(scene->db, &scene->err), MQ_OK);
        assert_string_equal(peer_see(scene, "SELECT group_concat(a) FROM t"), "first,mine,mine");
    }
}

static int closes(struct scene *scene)
{
    scene->db->driver->close(scene->db);
    return 0;
}

/* The parent's locks stay: no other process believes that it is the last one. */
static void test_child_takes_no_lock_away(void **state)
{
    struct scene *scene = *state;
    char wal[128];

    snprintf(wal, sizeof(wal), "%s-wal", scene->path);
    start(scene, "wal");
    assert_int_equal(in_child(scene, closes), 0);
    assert_true(exists(wal));
    assert_string_equal(peer_see(scene, "SELECT a FROM t"), "first");
    assert_true(exists(wal));
    assert_int_equal(scene_store(scene, "second"), MQ_OK);
}

/* A transaction that has begun to write to the file is not undone by the child. */
static void test_child_undoes_nothing(void **state)
{
    struct scene *scene = *state;

    for (int i = 0; i < 2; i++) {
        start(scene, journals[i]);
        run_sql(scene->db, "PRAGMA cache_size = 5", &scene->err);
        assert_int_equal(scene->db->driver->begin(scene->db, &scene->err), MQ_OK);
        for (int row = 0; row < 100; row++)
            assert_int_equal(
                run_sql(scene->db, "INSERT INTO t VALUES (hex(zeroblob(3000)))", &scene->err),
                MQ_OK);
        assert_int_equal(in_child(scene, closes), 0);
        assert_int_equal(scene->db->driver->commit(scene->db, &scene->err), MQ_OK);
        assert_string_equal(peer_see(scene, "SELECT count(*) FROM t"), "101");
        assert_string_equal(peer_see(scene, "PRAGMA integrity_check"), "ok");
    }
}

static int stores(struct scene *scene)
{
    CHECK(scene->db->driver->reopen(scene->db, &scene->err) == MQ_OK);
    CHECK(!mq_sqlite_forked(scene->db));
    CHECK(scene_store(scene, "child") == MQ_OK);
    scene->db->driver->close(scene->db);
    return 0;
}

static void test_child_opens_its_own(void **state)
{
    enum { ROUNDS = 50 };
    struct scene *scene = *state;

    for (int i = 0; i < 2; i++) {
        start(scene, journals[i]);
        for (int round = 0; round < ROUNDS; round++) {
            assert_int_equal(in_child(scene, stores), 0);
            assert_int_equal(scene_store(scene, "parent"), MQ_OK);
        }
        assert_string_equal(peer_see(scene, "SELECT count(*) FROM t"), "101");
        assert_string_equal(peer_see(scene, "PRAGMA integrity_check"), "ok");
    }
}

/* The parent closes while the child is connected: the child's own lock must keep the WAL, which it
 * does only if the child does not take the parent's locks for its own. */
static int outlives(struct scene *scene, int from_parent, int to_parent)
{
    char byte = 0;
    struct mq_sqlite_options options = {.path = scene->path, .busy_timeout_ms = 300};

    scene->db->driver->close(scene->db);
    scene->db = NULL;
    CHECK(mq_sqlite_open(&options, &scene->db, &scene->err) == MQ_OK);
    CHECK(scene_store(scene, "child") == MQ_OK);
    CHECK(write(to_parent, "x", 1) == 1);
    CHECK(read(from_parent, &byte, 1) == 1);
    CHECK(scene_store(scene, "child") == MQ_OK);
    scene->db->driver->close(scene->db);
    return 0;
}

static void test_parent_closes_first(void **state)
{
    struct scene *scene = *state;
    int down[2];
    int up[2];
    int result = -1;
    char byte;
    pid_t pid;

    start(scene, "wal");
    assert_int_equal(pipe(down) + pipe(up), 0);
    pid = fork();
    if (pid == 0)
        _exit(outlives(scene, down[0], up[1]) % 256);
    close(up[1]);
    assert_int_equal(read(up[0], &byte, 1), 1);
    scene->db->driver->close(scene->db);
    scene->db = NULL;
    assert_string_equal(peer_see(scene, "SELECT count(*) FROM t"), "2");
    assert_int_equal(write(down[1], "x", 1), 1);
    waitpid(pid, &result, 0);
    assert_int_equal(result, 0);
    assert_string_equal(peer_see(scene, "SELECT count(*) FROM t"), "3");
    assert_string_equal(peer_see(scene, "PRAGMA integrity_check"), "ok");
    close(down[0]);
    close(down[1]);
    close(up[0]);
}

#define FORK_TEST(function) cmocka_unit_test_setup_teardown(function, scene_setup, scene_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        FORK_TEST(test_child_is_refused),     FORK_TEST(test_child_takes_no_lock_away),
        FORK_TEST(test_child_undoes_nothing), FORK_TEST(test_child_opens_its_own),
        FORK_TEST(test_parent_closes_first),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
