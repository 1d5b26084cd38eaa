/* When the directory of a WAL is synced. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <unistd.h>

#include <cmocka.h>

#include "db/sqlite_private.h"
#include "sqlite_peer.h"

typedef int open_directory(const char *name, int *fd);

static open_directory *real_open_directory;
static int directories; /* opened by SQLite, which does so for nothing but to sync them */

static int counting_open_directory(const char *name, int *fd)
{
    directories++;
    return real_open_directory(name, fd);
}

static int setup(void **state)
{
    sqlite3_vfs *standard = sqlite3_vfs_find("unix");

    if (!standard)
        return -1;
    if (!real_open_directory)
        real_open_directory = (open_directory *)standard->xGetSystemCall(standard, "openDirectory");
    if (standard->xSetSystemCall(standard, "openDirectory",
                                 (sqlite3_syscall_ptr)counting_open_directory) != SQLITE_OK)
        return -1;
    return scene_setup(state);
}

static int teardown(void **state)
{
    sqlite3_vfs *standard = sqlite3_vfs_find("unix");

    standard->xSetSystemCall(standard, "openDirectory", NULL);
    return scene_teardown(state);
}

static void close_scene(struct scene *scene)
{
    scene->db->driver->close(scene->db);
    scene->db = NULL;
}

/* Opens, stores one row and closes: how often the directory was synced. */
static int syncs_of_a_request(struct scene *scene, const char *journal)
{
    directories = 0;
    scene_open(scene, journal);
    assert_int_equal(scene_store(scene, "a"), MQ_OK);
    close_scene(scene);
    return directories;
}

static void wal_of(const struct scene *scene, char out[128])
{
    snprintf(out, 128, "%s-wal", scene->path);
}

static void test_new_wal(void **state)
{
    struct scene *scene = *state;

    directories = 0;
    scene_open(scene, "wal");
    assert_int_equal(scene_store(scene, "a"), MQ_OK);
    assert_true(directories > 0);
}

static void test_used_wal(void **state)
{
    struct scene *scene = *state;
    char wal[128];

    wal_of(scene, wal);
    syncs_of_a_request(scene, "wal");
    assert_true(exists(wal));
    assert_int_equal(syncs_of_a_request(scene, "wal"), 0);
    peer_ask(&scene->peer, "open %s", scene->path); /* a WAL that another process has open */
    peer_ask(&scene->peer, "SELECT count(*) FROM t");
    assert_int_equal(syncs_of_a_request(scene, "wal"), 0);
    assert_string_equal(peer_ask(&scene->peer, "SELECT count(*) FROM t"), "3");
    assert_string_equal(peer_ask(&scene->peer, "PRAGMA integrity_check"), "ok");
}

/* Whoever wrote the header may have been killed before it was synced. */
static void test_header_only(void **state)
{
    struct scene *scene = *state;
    char wal[128];

    wal_of(scene, wal);
    syncs_of_a_request(scene, "wal");
    for (off_t bytes = 0; bytes <= 32; bytes += 32) {
        FILE *file;

        peer_see(scene, "SELECT count(*) FROM t"); /* the last to close: all is in the database */
        assert_false(exists(wal));
        assert_non_null(file = fopen(wal, "w"));
        fclose(file);
        assert_int_equal(truncate(wal, bytes), 0);
        assert_true(syncs_of_a_request(scene, "wal") > 0);
    }
    assert_string_equal(peer_see(scene, "SELECT count(*) FROM t"), "3");
}

static void test_rollback_journal(void **state)
{
    struct scene *scene = *state;

    syncs_of_a_request(scene, "truncate");
    assert_true(syncs_of_a_request(scene, "truncate") > 0);
}

/* PHP may be unloaded and loaded again in one process. */
static void test_shutdown(void **state)
{
    struct scene *scene = *state;

    mq_sqlite_shutdown(); /* before any connection */
    syncs_of_a_request(scene, "wal");
    assert_non_null(sqlite3_vfs_find("mailqueue"));
    assert_string_not_equal(sqlite3_vfs_find(NULL)->zName, "mailqueue"); /* the application's */
    mq_sqlite_shutdown();
    mq_sqlite_shutdown();
    assert_null(sqlite3_vfs_find("mailqueue"));
    assert_int_equal(syncs_of_a_request(scene, "wal"), 0);
}

#define VFS_TEST(function) cmocka_unit_test_setup_teardown(function, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        VFS_TEST(test_new_wal),          VFS_TEST(test_used_wal), VFS_TEST(test_header_only),
        VFS_TEST(test_rollback_journal), VFS_TEST(test_shutdown),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
