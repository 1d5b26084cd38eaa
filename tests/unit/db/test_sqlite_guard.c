/* The database is renamed, restored, deleted or merely read by the application while it is open:
 * nothing may be acknowledged that other processes do not see. Each case with both kinds of
 * journal; each was seen to fail with the guard switched off. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "db/sqlite/internal.h"
#include "sqlite_peer.h"

static const char *const journals[] = {"wal", "truncate"};

static const char *beside(struct scene *scene, const char *suffix)
{
    static char names[4][128];
    static int next;
    char *name = names[next++ % 4];

    snprintf(name, sizeof(names[0]), "%s%s", scene->path, suffix);
    return name;
}

static void start(struct scene *scene, const char *journal)
{
    char command[160];

    if (scene->db)
        scene->db->driver->close(scene->db);
    scene->db = NULL;
    snprintf(command, sizeof(command), "rm -f '%s'*", scene->path);
    assert_int_equal(system(command), 0);
    scene_open(scene, journal);
    assert_int_equal(scene_store(scene, "first"), MQ_OK);
}

/* Refused, still refused at the next try; usable again after a reopen, and visible to others. */
static void assert_replaced_then_reopened(struct scene *scene)
{
    assert_int_equal(scene_store(scene, "lost?"), MQ_REPLACED);
    assert_non_null(strstr(scene->err.text, scene->path));
    assert_non_null(strstr(scene->err.text, "VACUUM INTO"));
    assert_int_equal(scene_store(scene, "lost?"), MQ_REPLACED);
    assert_false(mq_sqlite_of(scene->db)->begun);
    assert_int_equal(scene->db->driver->reopen(scene->db, &scene->err), MQ_OK);
    assert_int_equal(scene_store(scene, "seen"), MQ_OK);
    assert_string_equal(peer_see(scene, "SELECT count(*) FROM t WHERE a = 'seen'"), "1");
    assert_string_equal(peer_see(scene, "SELECT count(*) FROM t WHERE a = 'lost?'"), "0");
    assert_string_equal(peer_see(scene, "PRAGMA integrity_check"), "ok");
}

static void make_other(struct scene *scene, const char *journal, const char *path)
{
    peer_ask(&scene->peer, "open %s", path);
    assert_string_equal(peer_ask(&scene->peer, "PRAGMA journal_mode = %s", journal), journal);
    assert_string_equal(peer_ask(&scene->peer, "CREATE TABLE t (a TEXT)"), "");
    peer_ask(&scene->peer, "close");
}

static void test_replaced_by_rename(void **state)
{
    struct scene *scene = *state;

    for (int i = 0; i < 2; i++) {
        start(scene, journals[i]);
        make_other(scene, journals[i], beside(scene, ".new"));
        unlink(beside(scene, "-wal"));
        unlink(beside(scene, "-shm"));
        assert_int_equal(rename(beside(scene, ".new"), scene->path), 0);
        assert_replaced_then_reopened(scene);
    }
}

static void test_replaced_within_transaction(void **state)
{
    struct scene *scene = *state;

    for (int i = 0; i < 2; i++) {
        start(scene, journals[i]);
        make_other(scene, journals[i], beside(scene, ".new"));
        assert_int_equal(scene->db->driver->begin(scene->db, &scene->err), MQ_OK);
        assert_int_equal(run_sql(scene->db, "INSERT INTO t VALUES ('lost?')", &scene->err), MQ_OK);
        assert_int_equal(rename(beside(scene, ".new"), scene->path), 0);
        assert_int_equal(scene->db->driver->commit(scene->db, &scene->err), MQ_REPLACED);
        assert_non_null(strstr(scene->err.text, "may not be stored"));
        scene->db->driver->rollback(scene->db);
        unlink(beside(scene, "-wal"));
        unlink(beside(scene, "-shm"));
        assert_replaced_then_reopened(scene);
    }
}

/* Each function that can be the first to notice. */
static void test_noticed_by_each(void **state)
{
    struct scene *scene = *state;

    for (int i = 0; i < 2; i++) {
        struct mq_db *db;

        start(scene, journals[i]);
        db = scene->db;
        assert_int_equal(rename(scene->path, beside(scene, ".old")), 0);
        assert_int_equal(db->driver->begin(db, &scene->err), MQ_REPLACED);
        assert_non_null(strstr(scene->err.text, "nothing was stored"));

        start(scene, journals[i]);
        db = scene->db;
        assert_int_equal(rename(scene->path, beside(scene, ".old")), 0);
        assert_int_equal(strncmp(value_of(db, "SELECT a FROM t"), "replaced", 8), 0);

        start(scene, journals[i]);
        db = scene->db;
        assert_int_equal(rename(scene->path, beside(scene, ".old")), 0);
        assert_int_equal(run_sql(db, "INSERT INTO t VALUES ('lost?')", &scene->err), MQ_REPLACED);
    }
    start(scene, "wal");
    assert_int_equal(rename(scene->path, beside(scene, ".old")), 0);
    assert_int_equal(scene->db->driver->maintain(scene->db, &scene->err), MQ_REPLACED);
}

static void test_deleted_is_not_recreated(void **state)
{
    struct scene *scene = *state;

    for (int i = 0; i < 2; i++) {
        start(scene, journals[i]);
        assert_int_equal(unlink(scene->path), 0);
        assert_int_equal(scene_store(scene, "lost?"), MQ_REPLACED);
        assert_int_equal(scene->db->driver->reopen(scene->db, &scene->err), MQ_CANTOPEN);
        assert_false(exists(scene->path));
        assert_int_equal(scene_store(scene, "lost?"), MQ_REPLACED);
        unlink(beside(scene, "-wal"));
        unlink(beside(scene, "-shm"));
        make_other(scene, journals[i], scene->path);
        assert_int_equal(scene->db->driver->reopen(scene->db, &scene->err), MQ_OK);
        assert_int_equal(scene_store(scene, "seen"), MQ_OK);
        assert_string_equal(peer_see(scene, "SELECT a FROM t"), "seen");
    }
}

static void test_link_turned(void **state)
{
    struct scene *scene = *state;

    for (int i = 0; i < 2; i++) {
        struct mq_sqlite_options options = {.busy_timeout_ms = 300, .journal = journals[i]};
        char link[128];

        start(scene, journals[i]);
        snprintf(link, sizeof(link), "%s.link", scene->path);
        assert_int_equal(symlink(scene->path, link), 0);
        scene->db->driver->close(scene->db);
        scene->db = NULL;
        options.path = link;
        assert_int_equal(mq_sqlite_open(&options, &scene->db, &scene->err), MQ_OK);
        assert_string_equal(scene->db->driver->path(scene->db), scene->path);
        assert_int_equal(scene_store(scene, "second"), MQ_OK);
        make_other(scene, journals[i], beside(scene, ".new"));
        unlink(link);
        assert_int_equal(symlink(beside(scene, ".new"), link), 0);
        assert_int_equal(scene_store(scene, "lost?"), MQ_REPLACED);
        assert_int_equal(scene->db->driver->reopen(scene->db, &scene->err), MQ_OK);
        assert_string_equal(scene->db->driver->path(scene->db), beside(scene, ".new"));
        assert_int_equal(scene_store(scene, "seen"), MQ_OK);
    }
}

/* The application reads the file, which drops our locks; another process comes and goes. */
static void test_copied_with_wal(void **state)
{
    struct scene *scene = *state;

    start(scene, "wal");
    peer_see(scene, "SELECT count(*) FROM t");
    assert_true(exists(beside(scene, "-wal"))); /* our lock keeps it */
    read_whole(scene->path);
    assert_string_equal(peer_see(scene, "SELECT a FROM t"), "first");
    assert_false(exists(beside(scene, "-wal")));
    assert_replaced_then_reopened(scene);
}

/* Meanwhile another process has started a new WAL, which closing must not touch. */
static void test_copied_and_used_by_others(void **state)
{
    struct scene *scene = *state;

    start(scene, "wal");
    read_whole(scene->path);
    peer_see(scene, "SELECT count(*) FROM t");
    peer_ask(&scene->peer, "open %s", scene->path);
    assert_string_equal(peer_ask(&scene->peer, "INSERT INTO t VALUES ('theirs')"), "");
    assert_int_equal(scene_store(scene, "lost?"), MQ_REPLACED);
    scene->db->driver->close(scene->db);
    scene->db = NULL;
    assert_true(exists(beside(scene, "-wal")));
    assert_string_equal(peer_ask(&scene->peer, "SELECT count(*) FROM t"), "2");
    peer_ask(&scene->peer, "close");
    assert_string_equal(peer_see(scene, "PRAGMA integrity_check"), "ok");
    assert_string_equal(peer_see(scene, "SELECT count(*) FROM t"), "2");
}

/* The same, but the other process is killed: closing could now have the file to itself, copy its
 * old WAL over newer pages and delete the new WAL. */
static void test_closing_spares_what_others_wrote(void **state)
{
    for (int noticed = 0; noticed < 2; noticed++) {
        struct scene *scene = *state;
        struct mq_sqlite_options options = {
            .path = scene->path, .busy_timeout_ms = 300, .worker = true};

        start(scene, "wal");
        scene->db->driver->close(scene->db);
        assert_int_equal(mq_sqlite_open(&options, &scene->db, &scene->err), MQ_OK);
        assert_int_equal(scene_store(scene, "second"), MQ_OK);
        read_whole(scene->path);
        peer_see(scene, "SELECT count(*) FROM t");
        peer_ask(&scene->peer, "open %s", scene->path);
        assert_string_equal(peer_ask(&scene->peer, "INSERT INTO t VALUES ('theirs')"), "");
        peer_ask(&scene->peer, "exit");
        if (noticed)
            assert_int_equal(scene_store(scene, "lost?"), MQ_REPLACED);
        scene->db->driver->close(scene->db);
        scene->db = NULL;
        assert_true(exists(beside(scene, "-wal")));
        assert_int_equal(mq_sqlite_open(&options, &scene->db, &scene->err), MQ_OK);
        assert_string_equal(value_of(scene->db, "SELECT group_concat(a) FROM t"),
                            "first,second,theirs");
        scene->db->driver->close(scene->db);
        scene->db = NULL;
        scene_teardown(state);
        scene_setup(state);
    }
}

/* A backup is copied over the file, its WAL is removed, and others continue. A connection that only
 * read, and so never began a transaction, has the old WAL open when it ends. */
static void test_restored_beside_a_reader(void **state)
{
    for (int worker = 0; worker < 2; worker++) {
        struct scene *scene = *state;
        struct mq_sqlite_options options = {
            .path = scene->path, .busy_timeout_ms = 300, .worker = worker};
        char restore[400];

        start(scene, "wal");
        scene->db->driver->close(scene->db);
        scene->db = NULL;
        peer_see(scene, "SELECT count(*) FROM t");
        copy_file(scene->path, beside(scene, ".backup"));
        assert_int_equal(mq_sqlite_open(&options, &scene->db, &scene->err), MQ_OK);
        assert_string_equal(value_of(scene->db, "SELECT a FROM t"), "first");
        snprintf(restore, sizeof(restore), "cp '%s' '%s' && rm '%s' '%s'", beside(scene, ".backup"),
                 scene->path, beside(scene, "-wal"), beside(scene, "-shm"));
        assert_int_equal(system(restore), 0);
        peer_ask(&scene->peer, "open %s", scene->path);
        assert_string_equal(peer_ask(&scene->peer, "INSERT INTO t VALUES (hex(zeroblob(200000)))"),
                            "");
        assert_string_equal(peer_ask(&scene->peer, "INSERT INTO t VALUES ('theirs')"), "");
        peer_ask(&scene->peer, "exit");
        assert_int_equal(scene->db->driver->maintain(scene->db, &scene->err), MQ_REPLACED);
        scene->db->driver->close(scene->db);
        assert_true(exists(beside(scene, "-wal")));
        assert_int_equal(mq_sqlite_open(&options, &scene->db, &scene->err), MQ_OK);
        assert_string_equal(value_of(scene->db, "SELECT count(*) FROM t"), "3");
        scene_teardown(state);
        scene_setup(state);
    }
}

static void test_copied_within_transaction(void **state)
{
    struct scene *scene = *state;

    start(scene, "wal");
    assert_int_equal(scene->db->driver->begin(scene->db, &scene->err), MQ_OK);
    assert_int_equal(run_sql(scene->db, "INSERT INTO t VALUES ('lost?')", &scene->err), MQ_OK);
    read_whole(scene->path);
    peer_see(scene, "SELECT count(*) FROM t");
    assert_int_equal(scene->db->driver->commit(scene->db, &scene->err), MQ_REPLACED);
    assert_string_equal(peer_see(scene, "SELECT count(*) FROM t"), "1");
}

/* The process that believes it is the last has copied the WAL and is about to delete it: at that
 * moment only its lock shows that. */
static void test_commit_while_another_closes(void **state)
{
    struct scene *scene = *state;

    start(scene, "wal");
    read_whole(scene->path);
    peer_ask(&scene->peer, "open %s", scene->path);
    peer_ask(&scene->peer, "lock");
    assert_int_equal(scene_store(scene, "lost?"), MQ_REPLACED);
    assert_non_null(strstr(scene->err.text, "may not be stored"));
}

static void test_single_statement_while_another_closes(void **state)
{
    struct scene *scene = *state;

    start(scene, "wal");
    read_whole(scene->path);
    peer_ask(&scene->peer, "open %s", scene->path);
    peer_ask(&scene->peer, "lock");
    assert_int_equal(run_sql(scene->db, "INSERT INTO t VALUES ('lost?')", &scene->err),
                     MQ_REPLACED);
}

/* With a rollback journal no lock is held between transactions: reading the file drops nothing. */
static void test_copied_without_wal(void **state)
{
    struct scene *scene = *state;

    start(scene, "truncate");
    read_whole(scene->path);
    peer_see(scene, "INSERT INTO t VALUES ('theirs')");
    assert_int_equal(scene_store(scene, "second"), MQ_OK);
    assert_string_equal(peer_see(scene, "SELECT count(*) FROM t"), "3");
}

static void test_wal_deleted(void **state)
{
    struct scene *scene = *state;

    start(scene, "wal");
    assert_int_equal(unlink(beside(scene, "-wal")), 0);
    assert_int_equal(scene_store(scene, "lost?"), MQ_REPLACED);
}

/* A connection opened beside one whose locks were dropped shares its deleted index. */
static void test_second_connection_after_copy(void **state)
{
    struct scene *scene = *state;
    struct mq_sqlite_options options = {.path = scene->path, .busy_timeout_ms = 300};
    struct mq_db *first;

    start(scene, "wal");
    first = scene->db;
    scene->db = NULL;
    read_whole(scene->path);
    peer_see(scene, "SELECT count(*) FROM t");
    if (mq_sqlite_open(&options, &scene->db, &scene->err) == MQ_OK)
        assert_int_equal(scene_store(scene, "lost?"), MQ_REPLACED);
    first->driver->close(first);
    if (scene->db)
        scene->db->driver->close(scene->db);
    assert_int_equal(mq_sqlite_open(&options, &scene->db, &scene->err), MQ_OK);
    assert_int_equal(scene_store(scene, "seen"), MQ_OK);
    assert_string_equal(peer_see(scene, "SELECT group_concat(a) FROM t"), "first,seen");
}

/* The same while other processes work: the new WAL would be written by an index that they do not
 * share. */
static void test_second_connection_shares_old_index(void **state)
{
    struct scene *scene = *state;
    struct mq_sqlite_options options = {.path = scene->path, .busy_timeout_ms = 300};
    struct mq_db *first;

    start(scene, "wal");
    first = scene->db;
    scene->db = NULL;
    read_whole(scene->path);
    peer_see(scene, "SELECT count(*) FROM t");
    peer_ask(&scene->peer, "open %s", scene->path);
    assert_string_equal(peer_ask(&scene->peer, "INSERT INTO t VALUES ('theirs')"), "");
    assert_int_equal(mq_sqlite_open(&options, &scene->db, &scene->err), MQ_OK);
    assert_int_equal(scene_store(scene, "lost?"), MQ_REPLACED);
    first->driver->close(first);
    assert_string_equal(peer_ask(&scene->peer, "SELECT group_concat(a) FROM t"), "first,theirs");
    assert_string_equal(peer_ask(&scene->peer, "PRAGMA integrity_check"), "ok");
}

/* Restored in place, as copy($backup, $db) does: the same file, other contents. */
static void test_overwritten_in_place(void **state)
{
    struct scene *scene = *state;

    start(scene, "truncate");
    copy_file(scene->path, beside(scene, ".backup"));
    assert_int_equal(scene_store(scene, "second"), MQ_OK);
    copy_file(beside(scene, ".backup"), scene->path);
    assert_int_equal(scene_store(scene, "third"), MQ_OK);
    assert_string_equal(peer_see(scene, "SELECT group_concat(a) FROM t"), "first,third");
    assert_string_equal(peer_see(scene, "PRAGMA integrity_check"), "ok");
}

/* A power failure can leave an empty WAL beside a file in another journal mode. SQLite ignores it,
 * except that it sometimes deletes it. */
static void test_empty_wal_beside_journal(void **state)
{
    struct scene *scene = *state;
    FILE *wal;

    start(scene, "truncate");
    assert_non_null(wal = fopen(beside(scene, "-wal"), "w"));
    fclose(wal);
    assert_int_equal(scene_store(scene, "second"), MQ_OK);
    assert_int_equal(scene->db->driver->reopen(scene->db, &scene->err), MQ_OK);
    assert_int_equal(scene_store(scene, "third"), MQ_OK);
    assert_string_equal(peer_see(scene, "SELECT group_concat(a) FROM t"), "first,second,third");
}

/* The journal of a killed process is open from the start of the transaction that rolls it back. */
static void test_journal_of_a_killed_process(void **state)
{
    struct scene *scene = *state;

    start(scene, "truncate");
    peer_ask(&scene->peer, "open %s", scene->path);
    peer_ask(&scene->peer, "PRAGMA cache_size = 1; BEGIN");
    peer_ask(&scene->peer, "INSERT INTO t VALUES (zeroblob(1000000))");
    assert_true(exists(beside(scene, "-journal")));
    peer_tell(&scene->peer, "exit");
    assert_int_equal(waitpid(scene->peer.pid, NULL, 0), scene->peer.pid);
    scene->peer.pid = 0;
    assert_int_equal(scene_store(scene, "second"), MQ_OK);
    assert_string_equal(value_of(scene->db, "SELECT group_concat(a) FROM t"), "first,second");
}

/* Another process switches the file to a WAL: from then on the WAL is watched. */
static void test_changed_to_wal(void **state)
{
    struct scene *scene = *state;

    start(scene, "truncate");
    peer_ask(&scene->peer, "open %s", scene->path);
    assert_string_equal(peer_ask(&scene->peer, "PRAGMA journal_mode = WAL"), "wal");
    assert_int_equal(scene_store(scene, "second"), MQ_OK);
    assert_string_equal(mq_sqlite_journal(scene->db), "wal");
    assert_int_equal(unlink(beside(scene, "-wal")), 0);
    assert_int_equal(scene_store(scene, "third"), MQ_REPLACED);
}

#define GUARD_TEST(function) cmocka_unit_test_setup_teardown(function, scene_setup, scene_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        GUARD_TEST(test_replaced_by_rename),
        GUARD_TEST(test_replaced_within_transaction),
        GUARD_TEST(test_noticed_by_each),
        GUARD_TEST(test_deleted_is_not_recreated),
        GUARD_TEST(test_link_turned),
        GUARD_TEST(test_copied_with_wal),
        GUARD_TEST(test_copied_and_used_by_others),
        GUARD_TEST(test_restored_beside_a_reader),
        GUARD_TEST(test_copied_within_transaction),
        GUARD_TEST(test_commit_while_another_closes),
        GUARD_TEST(test_single_statement_while_another_closes),
        GUARD_TEST(test_closing_spares_what_others_wrote),
        GUARD_TEST(test_second_connection_shares_old_index),
        GUARD_TEST(test_copied_without_wal),
        GUARD_TEST(test_wal_deleted),
        GUARD_TEST(test_second_connection_after_copy),
        GUARD_TEST(test_overwritten_in_place),
        GUARD_TEST(test_empty_wal_beside_journal),
        GUARD_TEST(test_journal_of_a_killed_process),
        GUARD_TEST(test_changed_to_wal),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
