/* Statements, values, rows and transactions of the native SQLite driver. */
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "sqlite_peer.h"

static int memory_setup(void **state)
{
    struct mq_sqlite_options options = {.path = ":memory:"};

    if (scene_setup(state) != 0)
        return -1;
    struct scene *scene = *state;
    if (mq_sqlite_open(&options, &scene->db, &scene->err) != MQ_OK)
        return -1;
    return mq_db_script(scene->db, "CREATE TABLE t (a)", &scene->err);
}

static void test_values(void **state)
{
    struct scene *scene = *state;
    struct mq_value params[] = {
        mq_null(),
        mq_int(INT64_MIN),
        mq_text(MQ_STR("a\0\xc3\xa4")),
        mq_text(MQ_STR("")),
        mq_blob(MQ_STR("\0\\\xff")),
        mq_blob((struct mq_str){NULL, 0}),
        mq_text((struct mq_str){NULL, 0}),
    };
    struct mq_value out[8];
    struct mq_query query = {.slot = 3,
                             .sql = "SELECT ?1, ?2, ?3, ?4, ?5, ?6, ?7, 0.1",
                             .params = params,
                             .param_count = 7};

    for (int round = 0; round < 2; round++) {
        struct mq_row row = {out, 8, false};

        assert_int_equal(mq_db_row(scene->db, &query, &row, &scene->err), MQ_OK);
        assert_true(row.found);
        assert_int_equal(out[0].type, MQ_NULL);
        assert_true(out[1].type == MQ_INT && out[1].i == INT64_MIN);
        assert_true(out[2].type == MQ_TEXT && mq_str_equal(out[2].s, params[2].s));
        assert_true(out[3].type == MQ_TEXT && out[3].s.len == 0 && out[3].s.data);
        assert_true(out[4].type == MQ_BLOB && mq_str_equal(out[4].s, params[4].s));
        assert_true(out[5].type == MQ_BLOB && out[5].s.len == 0 && out[5].s.data);
        assert_int_equal(out[6].type, MQ_NULL);
        assert_true(out[7].type == MQ_TEXT && mq_str_equal(out[7].s, MQ_STR("0.1")));
        mq_db_finish(scene->db);
    }
}

static void test_parameters_do_not_stay(void **state)
{
    struct scene *scene = *state;
    struct mq_value param = mq_int(7);
    struct mq_query query = {.slot = 3, .sql = "SELECT ?1", .params = &param, .param_count = 1};
    struct mq_value out;
    struct mq_row row = {&out, 1, false};

    assert_int_equal(mq_db_row(scene->db, &query, &row, &scene->err), MQ_OK);
    mq_db_finish(scene->db);
    query.param_count = 0;
    assert_int_equal(mq_db_row(scene->db, &query, &row, &scene->err), MQ_OK);
    assert_int_equal(out.type, MQ_NULL);
    mq_db_finish(scene->db);
}

static void test_rows(void **state)
{
    struct scene *scene = *state;
    struct mq_db *db = scene->db;
    struct mq_query all = {.slot = 1, .sql = "SELECT a FROM t ORDER BY a"};
    struct mq_value value;
    struct mq_row first = {&value, 1, true};
    bool row = false;
    int sum = 0;

    assert_int_equal(mq_db_row(db, &all, &first, &scene->err), MQ_OK);
    assert_false(first.found);
    mq_db_finish(db);
    assert_int_equal(run_sql(db, "INSERT INTO t VALUES (1), (2), (3)", &scene->err), MQ_OK);
    assert_int_equal(db->driver->changes(db), 3);
    assert_int_equal(db->driver->last_id(db), 3);
    assert_int_equal(db->driver->run(db, &all, &scene->err), MQ_OK);
    while (db->driver->next(db, &row, &scene->err) == MQ_OK && row)
        sum += (int)db->driver->column(db, 0).i;
    assert_int_equal(sum, 6);
    assert_int_equal(db->driver->next(db, &row, &scene->err), MQ_OK);
    assert_false(row);
    assert_int_equal(db->driver->changes(db), 0);
    /* left half-read: the next run of the statement starts again */
    assert_int_equal(db->driver->run(db, &all, &scene->err), MQ_OK);
    assert_int_equal(db->driver->next(db, &row, &scene->err), MQ_OK);
    assert_int_equal(run_sql(db, "UPDATE t SET a = a WHERE a > 1", &scene->err), MQ_OK);
    assert_int_equal(db->driver->changes(db), 2);
    assert_string_equal(value_of(db, "SELECT sum(a) FROM t"), "6");
}

static void test_errors_name_the_cause(void **state)
{
    struct scene *scene = *state;

    assert_int_equal(run_sql(scene->db, "SELECT * FROM absent", &scene->err), MQ_DATABASE);
    assert_non_null(strstr(scene->err.text, "no such table: absent"));
    assert_int_equal(run_sql(scene->db, "CREATE TABLE u (k UNIQUE)", &scene->err), MQ_OK);
    assert_int_equal(run_sql(scene->db, "INSERT INTO u VALUES (1), (1)", &scene->err), MQ_DATABASE);
    assert_non_null(strstr(scene->err.text, "UNIQUE constraint failed"));
    assert_string_equal(value_of(scene->db, "SELECT count(*) FROM u"), "0");
}

static void test_transactions(void **state)
{
    struct scene *scene = *state;
    struct mq_db *db = scene->db;
    struct mq_error *err = &scene->err;

    db->driver->rollback(db); /* none: nothing */
    assert_int_equal(db->driver->commit(db, err), MQ_DATABASE);
    assert_int_equal(db->driver->begin(db, err), MQ_OK);
    assert_false(db->driver->joined(db));
    assert_int_equal(db->driver->begin(db, err), MQ_DATABASE);
    assert_int_equal(run_sql(db, "INSERT INTO t VALUES ('kept')", err), MQ_OK);
    assert_int_equal(db->driver->commit(db, err), MQ_OK);
    assert_int_equal(db->driver->commit(db, err), MQ_DATABASE);
    assert_int_equal(db->driver->begin(db, err), MQ_OK);
    assert_int_equal(run_sql(db, "DELETE FROM t", err), MQ_OK);
    db->driver->rollback(db);
    assert_string_equal(value_of(db, "SELECT group_concat(a) FROM t"), "kept");
}

static void test_script(void **state)
{
    struct scene *scene = *state;
    struct mq_db *db = scene->db;

    assert_int_equal(mq_db_script(db,
                                  "INSERT INTO t VALUES ('a') ; ;\n"
                                  "INSERT INTO t VALUES ('b');\n"
                                  "CREATE TABLE x (k TEXT)\n; ",
                                  &scene->err),
                     MQ_OK);
    assert_string_equal(value_of(db, "SELECT group_concat(a, '|') FROM t"), "a|b");
    assert_string_equal(value_of(db, "SELECT count(*) FROM x"), "0");
    assert_int_equal(mq_db_script(db, "DELETE FROM t; nonsense; DROP TABLE t", &scene->err),
                     MQ_DATABASE);
    assert_string_equal(value_of(db, "SELECT count(*) FROM t"), "0");
}

/* SQLite undoes the whole transaction when a write fails; later statements must not commit
 * alone. */
static int write_until_full(struct scene *scene)
{
    struct rlimit limit = {.rlim_cur = 200000, .rlim_max = RLIM_INFINITY};
    struct mq_db *db;
    enum mq_status status;

    scene_open(scene, "truncate");
    db = scene->db;
    signal(SIGXFSZ, SIG_IGN);
    if (setrlimit(RLIMIT_FSIZE, &limit) != 0 || scene_store(scene, "before") != MQ_OK)
        return 1;
    if (db->driver->begin(db, &scene->err) != MQ_OK ||
        run_sql(db, "INSERT INTO t VALUES ('outer')", &scene->err) != MQ_OK)
        return 2;
    run_sql(db, "PRAGMA cache_size = 2", &scene->err);
    status = run_sql(db,
                     "WITH n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n LIMIT 100)"
                     " INSERT INTO t SELECT hex(randomblob(9000)) FROM n",
                     &scene->err);
    if (status != MQ_FULL || !strstr(scene->err.text, scene->path))
        return 3;
    /* Whether SQLite undid everything or only the statement: a later success must be true. */
    status = db->driver->commit(db, &scene->err);
    if (status != MQ_OK && run_sql(db, "INSERT INTO t VALUES ('alone')", &scene->err) == MQ_OK)
        return 4;
    db->driver->rollback(db);
    limit.rlim_cur = RLIM_INFINITY;
    setrlimit(RLIMIT_FSIZE, &limit);
    if (strcmp(value_of(db, "SELECT count(*) FROM t WHERE a = 'alone'"), "0") != 0)
        return 5;
    if ((status == MQ_OK) !=
        (strcmp(value_of(db, "SELECT count(*) FROM t WHERE a = 'outer'"), "1") == 0))
        return 6;
    if (scene_store(scene, "after") != MQ_OK)
        return 7;
    return strcmp(value_of(db, "PRAGMA integrity_check"), "ok") == 0 ? 0 : 8;
}

static void test_full(void **state)
{
    int result = -1;
    pid_t pid = fork();

    if (pid == 0)
        _exit(write_until_full(*state));
    waitpid(pid, &result, 0);
    assert_true(WIFEXITED(result));
    assert_int_equal(WEXITSTATUS(result), 0);
}

#define ON_MEMORY(function) cmocka_unit_test_setup_teardown(function, memory_setup, scene_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        ON_MEMORY(test_values),
        ON_MEMORY(test_parameters_do_not_stay),
        ON_MEMORY(test_rows),
        ON_MEMORY(test_errors_name_the_cause),
        ON_MEMORY(test_transactions),
        ON_MEMORY(test_script),
        cmocka_unit_test_setup_teardown(test_full, scene_setup, scene_teardown),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
