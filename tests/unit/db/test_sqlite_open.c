/* Opening: names, rights, new files, journal modes. */
/* link: -Wl,--wrap=statfs */
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "db/sqlite/internal.h"
#include "sqlite_peer.h"

static long pretended_magic; /* 0: the real one */

int __real_statfs(const char *path, struct statfs *info);
int __wrap_statfs(const char *path, struct statfs *info);

int __wrap_statfs(const char *path, struct statfs *info)
{
    int result = __real_statfs(path, info);

    if (pretended_magic)
        info->f_type = pretended_magic;
    return result;
}

static enum mq_status try_open(struct scene *scene, const char *path, const char *journal)
{
    struct mq_sqlite_options options = {.path = path, .journal = journal, .busy_timeout_ms = 2000};

    return mq_sqlite_open(&options, &scene->db, &scene->err);
}

static void close_scene(struct scene *scene)
{
    scene->db->driver->close(scene->db);
    scene->db = NULL;
}

static void test_not_a_file(void **state)
{
    struct scene *scene = *state;
    struct mq_sqlite_options options = {.path = scene->path, .must_exist = true};
    char name[256];

    assert_int_equal(mq_sqlite_open(&options, &scene->db, &scene->err), MQ_CANTOPEN);
    assert_non_null(strstr(scene->err.text, "does not exist"));
    assert_int_equal(close(open(scene->path, O_WRONLY | O_CREAT | O_CLOEXEC, 0600)), 0);
    assert_int_equal(mq_sqlite_open(&options, &scene->db, &scene->err), MQ_CANTOPEN);
    assert_non_null(strstr(scene->err.text, "is empty"));
    assert_int_equal(try_open(scene, scene->directory, NULL), MQ_CANTOPEN);
    assert_non_null(strstr(scene->err.text, "a directory"));
    static const char *const ends[] = {"/", "/.", "/.."};
    for (size_t i = 0; i < sizeof(ends) / sizeof(ends[0]); i++) {
        snprintf(name, sizeof(name), "%s/none%s", scene->directory, ends[i]);
        assert_int_equal(try_open(scene, name, NULL), MQ_CANTOPEN);
        assert_non_null(strstr(scene->err.text, "by its end it is a directory"));
        assert_non_null(strstr(scene->err.text, name));
    }
    snprintf(name, sizeof(name), "%s/none", scene->directory);
    assert_false(exists(name));
    snprintf(name, sizeof(name), "%s/none/x.sqlite", scene->directory);
    assert_int_equal(try_open(scene, name, NULL), MQ_CANTOPEN);
    assert_non_null(strstr(scene->err.text, "/none"));
    snprintf(name, sizeof(name), "%s/fifo", scene->directory);
    assert_int_equal(mkfifo(name, 0600), 0);
    assert_int_equal(try_open(scene, name, NULL), MQ_CANTOPEN);
}

static void test_garbage_and_damage(void **state)
{
    struct scene *scene = *state;
    char bytes[9000];
    int fd = open(scene->path, O_WRONLY | O_CREAT, 0600);

    memset(bytes, 'x', sizeof(bytes));
    assert_int_equal(write(fd, bytes, sizeof(bytes)), sizeof(bytes));
    close(fd);
    assert_int_equal(try_open(scene, scene->path, NULL), MQ_CORRUPT);
    assert_non_null(strstr(scene->err.text, ".recover"));
    assert_non_null(strstr(scene->err.text, scene->path));
    unlink(scene->path);

    scene_open(scene, "truncate");
    for (int i = 0; i < 50; i++) {
        memset(bytes, 'y', 2000);
        bytes[2000] = '\0';
        assert_int_equal(scene_store(scene, bytes), MQ_OK);
    }
    close_scene(scene);
    fd = open(scene->path, O_WRONLY);
    memset(bytes, 0xa5, 8192);
    assert_int_equal(pwrite(fd, bytes, 8192, 8192), 8192);
    close(fd);
    assert_int_equal(try_open(scene, scene->path, NULL), MQ_OK);
    assert_int_equal(scene_store(scene, "more"), MQ_CORRUPT);
}

static void test_new_file(void **state)
{
    static const char *const journals[] = {"wal", "truncate", "delete", NULL};
    struct scene *scene = *state;

    for (int i = 0; i < 4; i++) {
        const char *expected = journals[i];

        if (!expected)
            expected = mq_sqlite_wal_safe() ? "wal" : "truncate";
        assert_int_equal(try_open(scene, scene->path, journals[i]), MQ_OK);
        assert_string_equal(mq_sqlite_journal(scene->db), expected);
        assert_int_equal(scene->db->driver->begin(scene->db, &scene->err), MQ_OK);
        assert_string_equal(value_of(scene->db, "PRAGMA journal_mode"), expected);
        scene->db->driver->rollback(scene->db);
        assert_string_equal(value_of(scene->db, "PRAGMA page_size"), "8192");
        assert_string_equal(value_of(scene->db, "PRAGMA locking_mode"), "normal");
        /* EXTRA, FULL */
        assert_string_equal(value_of(scene->db, "PRAGMA synchronous"),
                            strcmp(expected, "delete") == 0 ? "3" : "2");
        assert_string_equal(value_of(scene->db, "PRAGMA user_version"), "0");
        close_scene(scene);
        assert_string_equal(peer_see(scene, "PRAGMA journal_mode"),
                            strcmp(expected, "wal") == 0 ? "wal" : "delete");
        unlink(scene->path);
    }
}

static void assert_mode(const char *path, const char *suffix, mode_t mode)
{
    char name[160];
    struct stat info;

    snprintf(name, sizeof(name), "%s%s", path, suffix);
    assert_int_equal(stat(name, &info), 0);
    assert_int_equal(info.st_mode & 07777, mode);
}

/* Mails are private, whatever the umask is; but the directory may belong to a group. */
static void test_mode_of_new_file(void **state)
{
    struct scene *scene = *state;
    mode_t before = umask(0);

    for (int shared = 0; shared < 2; shared++) {
        mode_t expected = shared ? 0660 : 0600;
        char link[160];

        assert_int_equal(chmod(scene->directory, shared ? 02770 : 0700), 0);
        umask(shared ? 022 : 0);
        assert_int_equal(try_open(scene, scene->path, "wal"), MQ_OK);
        assert_int_equal(run_sql(scene->db, "CREATE TABLE t (a)", &scene->err), MQ_OK);
        assert_mode(scene->path, "", expected);
        assert_mode(scene->path, "-wal", expected);
        assert_mode(scene->path, "-shm", expected);
        close_scene(scene);
        peer_see(scene, "SELECT 1 FROM t");
        unlink(scene->path);
        assert_int_equal(try_open(scene, scene->path, "truncate"), MQ_OK);
        assert_int_equal(run_sql(scene->db, "CREATE TABLE t (a)", &scene->err), MQ_OK);
        assert_int_equal(scene_store(scene, "x"), MQ_OK);
        assert_mode(scene->path, "-journal", expected);
        close_scene(scene);
        unlink(scene->path);
        snprintf(link, sizeof(link), "%s.link", scene->path);
        assert_int_equal(symlink(scene->path, link), 0);
        assert_int_equal(try_open(scene, link, "wal"), MQ_OK);
        assert_mode(scene->path, "", expected);
        close_scene(scene);
        unlink(link);
        peer_see(scene, "SELECT count(*) FROM sqlite_master"); /* the last one leaves no WAL */
        unlink(scene->path);
    }
    umask(before);
}

static void test_no_wal_on_network_file_systems(void **state)
{
    static const long magics[] = {0x6969, 0xfe534d42, 0xff534d42, 0x65735546};
    struct scene *scene = *state;

    for (size_t i = 0; i < sizeof(magics) / sizeof(magics[0]); i++) {
        pretended_magic = magics[i];
        assert_int_equal(try_open(scene, scene->path, "wal"), MQ_CONFIG);
        assert_string_equal(scene->err.field, "journal");
        assert_non_null(strstr(scene->err.text, "network"));
        assert_false(exists(scene->path));
        assert_int_equal(try_open(scene, scene->path, NULL), MQ_OK);
        assert_string_equal(mq_sqlite_journal(scene->db), "truncate");
        close_scene(scene);
        unlink(scene->path);
    }
    pretended_magic = 0xef53; /* ext4 */
    assert_int_equal(try_open(scene, scene->path, "wal"), MQ_OK);
    pretended_magic = 0;
}

static void test_versions_with_the_wal_fix(void **state)
{
    static const int with[] = {3044006, 3044999, 3050007, 3051003, 3052000, 4000000};
    static const int without[] = {3007000, 3040001, 3044005, 3045000, 3049002, 3050006, 3051002};

    (void)state;
    for (size_t i = 0; i < sizeof(with) / sizeof(with[0]); i++)
        assert_true(mq_sqlite_fixed_in(with[i]));
    for (size_t i = 0; i < sizeof(without) / sizeof(without[0]); i++)
        assert_false(mq_sqlite_fixed_in(without[i]));
}

static void test_synchronous_normal(void **state)
{
    struct scene *scene = *state;
    struct mq_sqlite_options options = {
        .path = scene->path, .journal = "wal", .synchronous_normal = true};

    assert_int_equal(mq_sqlite_open(&options, &scene->db, &scene->err), MQ_OK);
    assert_string_equal(value_of(scene->db, "PRAGMA synchronous"), "1");
}

static void test_existing_file_keeps_its_mode(void **state)
{
    static const char *const modes[] = {"wal", "delete"};
    static const char *const options[] = {"wal", "truncate", "delete", NULL};
    struct scene *scene = *state;

    for (int i = 0; i < 2; i++) {
        peer_ask(&scene->peer, "open %s", scene->path);
        peer_ask(&scene->peer, "PRAGMA journal_mode = %s", modes[i]);
        peer_ask(&scene->peer, "CREATE TABLE t (a TEXT); PRAGMA user_version = 7");
        peer_ask(&scene->peer, "close");
        for (int k = 0; k < 4; k++) {
            assert_int_equal(try_open(scene, scene->path, options[k]), MQ_OK);
            assert_int_equal(scene_store(scene, "x"), MQ_OK);
            assert_string_equal(value_of(scene->db, "PRAGMA page_size"), "4096");
            close_scene(scene);
            assert_string_equal(peer_see(scene, "PRAGMA journal_mode"), modes[i]);
        }
        assert_string_equal(peer_see(scene, "PRAGMA user_version"), "7");
        unlink(scene->path);
    }
}

/* Between our look at the empty file and our lock, another process has created its own database. */
static void test_another_creates_first(void **state)
{
    struct scene *scene = *state;

    peer_ask(&scene->peer, "open %s", scene->path);
    assert_string_equal(peer_ask(&scene->peer, "BEGIN EXCLUSIVE; CREATE TABLE t (a TEXT)"), "");
    peer_tell(&scene->peer, "hold 100");
    assert_int_equal(try_open(scene, scene->path, "wal"), MQ_OK);
    peer_wait(&scene->peer);
    assert_string_equal(mq_sqlite_journal(scene->db), "truncate");
    assert_string_equal(peer_ask(&scene->peer, "PRAGMA journal_mode"), "delete");
    assert_string_equal(value_of(scene->db, "PRAGMA page_size"), "4096");
    peer_ask(&scene->peer, "close");
}

/* Many processes at once: one creates the file, all use it. */
static int create_and_store(struct scene *scene)
{
    /* Eight at once on a slow machine. */
    struct mq_sqlite_options options = {
        .path = scene->path, .journal = "wal", .busy_timeout_ms = 60000};
    struct mq_db *db;

    if (mq_sqlite_open(&options, &scene->db, &scene->err) != MQ_OK) {
        fprintf(stderr, "%s\n", scene->err.text);
        return 1;
    }
    db = scene->db;
    if (strcmp(mq_sqlite_journal(db), "wal") != 0)
        return 2;
    if (db->driver->begin(db, &scene->err) != MQ_OK ||
        run_sql(db, "CREATE TABLE IF NOT EXISTS t (a TEXT)", &scene->err) != MQ_OK ||
        run_sql(db, "INSERT INTO t VALUES ('x')", &scene->err) != MQ_OK ||
        db->driver->commit(db, &scene->err) != MQ_OK) {
        fprintf(stderr, "%s\n", scene->err.text);
        return 3;
    }
    db->driver->close(db);
    return 0;
}

static void test_created_by_many(void **state)
{
    enum { PROCESSES = 8, ROUNDS = 5 };
    struct scene *scene = *state;

    for (int round = 0; round < ROUNDS; round++) {
        char command[160];

        for (int i = 0; i < PROCESSES; i++) {
            if (fork() == 0)
                _exit(create_and_store(scene));
        }
        for (int i = 0; i < PROCESSES; i++) {
            int result;

            while (waitpid(-1, &result, 0) == scene->peer.pid)
                continue;
            assert_int_equal(result, 0);
        }
        assert_string_equal(peer_see(scene, "SELECT count(*) FROM t"), "8");
        assert_string_equal(peer_see(scene, "PRAGMA journal_mode"), "wal");
        assert_string_equal(peer_see(scene, "PRAGMA page_size"), "8192");
        snprintf(command, sizeof(command), "rm -f '%s'*", scene->path);
        assert_int_equal(system(command), 0);
    }
}

/* Root may write everywhere, so this runs as nobody. Exit code: 100 + the status of opening or
 * storing. */
static int store_as_nobody(struct scene *scene, const char *expected)
{
    enum mq_status status;

    if (setgid(65534) != 0 || setuid(65534) != 0)
        return 1;
    status = try_open(scene, scene->path, NULL);
    if (status == MQ_OK)
        status = scene_store(scene, "x");
    if (status != MQ_OK && !strstr(scene->err.text, expected)) {
        fprintf(stderr, "%s\n", scene->err.text);
        return 2;
    }
    return 100 + (int)status;
}

static int as_nobody(struct scene *scene, const char *expected)
{
    int result = -1;
    pid_t pid = fork();

    if (pid == 0)
        _exit(store_as_nobody(scene, expected));
    waitpid(pid, &result, 0);
    return WIFEXITED(result) ? WEXITSTATUS(result) - 100 : -1;
}

static void test_rights(void **state)
{
    struct scene *scene = *state;
    char in_directory[128];

    if (geteuid() != 0)
        skip();
    snprintf(in_directory, sizeof(in_directory), "the directory %s is not writable",
             scene->directory);
    assert_int_equal(chmod(scene->directory, 0755), 0);
    assert_int_equal(as_nobody(scene, in_directory), MQ_READONLY); /* no file yet */
    peer_see(scene, "CREATE TABLE t (a TEXT)");
    assert_int_equal(as_nobody(scene, "is not writable for user 65534"), MQ_READONLY);
    assert_int_equal(chmod(scene->path, 0666), 0);
    assert_int_equal(as_nobody(scene, in_directory), MQ_READONLY); /* no journal */
    peer_see(scene, "PRAGMA journal_mode = wal");
    assert_int_equal(as_nobody(scene, in_directory), MQ_READONLY); /* no WAL */
    assert_int_equal(chmod(scene->directory, 0777), 0);
    assert_int_equal(as_nobody(scene, ""), MQ_OK);
    assert_int_equal(chmod(scene->path, 0), 0);
    assert_int_equal(as_nobody(scene, "user 65534 may not read"), MQ_CANTOPEN);
    assert_int_equal(chmod(scene->directory, 0700), 0);
    assert_int_equal(as_nobody(scene, scene->path), MQ_CANTOPEN);
}

static int read_then_store(struct scene *scene, int other)
{
    char go;

    if (setgid(65534) != 0 || setuid(65534) != 0 || try_open(scene, scene->path, NULL) != MQ_OK ||
        strcmp(value_of(scene->db, "SELECT count(*) FROM t"), "1") != 0)
        return 1;
    if (scene_store(scene, "x") != MQ_READONLY || write(other, "x", 1) != 1 ||
        read(other, &go, 1) != 1)
        return 2;
    return scene_store(scene, "x") == MQ_OK ? 0 : 3;
}

/* A connection that could only read stores once it is allowed to. */
static void test_rights_that_come(void **state)
{
    struct scene *scene = *state;
    int ends[2], result = -1;
    char refused;
    pid_t pid;

    if (geteuid() != 0)
        skip();
    peer_see(scene, "CREATE TABLE t (a TEXT)");
    peer_see(scene, "INSERT INTO t VALUES ('a')");
    assert_int_equal(chmod(scene->directory, 0777), 0);
    assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, ends), 0);
    pid = fork();
    if (pid == 0) {
        close(ends[0]);
        _exit(read_then_store(scene, ends[1]));
    }
    close(ends[1]);
    assert_int_equal(read(ends[0], &refused, 1), 1);
    assert_int_equal(chmod(scene->path, 0666), 0);
    assert_int_equal(write(ends[0], "x", 1), 1);
    waitpid(pid, &result, 0);
    assert_true(WIFEXITED(result) && WEXITSTATUS(result) == 0);
    assert_string_equal(peer_see(scene, "SELECT count(*) FROM t"), "2");
    close(ends[0]);
}

#define OPEN_TEST(function) cmocka_unit_test_setup_teardown(function, scene_setup, scene_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        OPEN_TEST(test_not_a_file),
        OPEN_TEST(test_garbage_and_damage),
        OPEN_TEST(test_new_file),
        OPEN_TEST(test_no_wal_on_network_file_systems),
        OPEN_TEST(test_versions_with_the_wal_fix),
        OPEN_TEST(test_synchronous_normal),
        OPEN_TEST(test_mode_of_new_file),
        OPEN_TEST(test_existing_file_keeps_its_mode),
        OPEN_TEST(test_another_creates_first),
        OPEN_TEST(test_created_by_many),
        OPEN_TEST(test_rights),
        OPEN_TEST(test_rights_that_come),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
