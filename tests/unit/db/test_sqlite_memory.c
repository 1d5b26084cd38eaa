/* Allocations that fail, one after the other, SQLite's and ours. */
/* link: -Wl,--wrap=malloc,--wrap=calloc,--wrap=realloc,--wrap=strdup */
#include <setjmp.h>
#include <sqlite3.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "sqlite_peer.h"

static long countdown = -1; /* the allocation that fails; below 0: none */

static bool fails(void)
{
    return countdown >= 0 && countdown-- == 0;
}

void *__real_malloc(size_t size);
void *__wrap_malloc(size_t size);
void *__real_calloc(size_t count, size_t size);
void *__wrap_calloc(size_t count, size_t size);
void *__real_realloc(void *memory, size_t size);
void *__wrap_realloc(void *memory, size_t size);
char *__real_strdup(const char *s);
char *__wrap_strdup(const char *s);

void *__wrap_malloc(size_t size)
{
    return fails() ? NULL : __real_malloc(size);
}

void *__wrap_calloc(size_t count, size_t size)
{
    return fails() ? NULL : __real_calloc(count, size);
}

void *__wrap_realloc(void *memory, size_t size)
{
    return fails() ? NULL : __real_realloc(memory, size);
}

char *__wrap_strdup(const char *s)
{
    return fails() ? NULL : __real_strdup(s);
}

static sqlite3_mem_methods methods;

static void *sqlite_malloc(int size)
{
    return fails() ? NULL : methods.xMalloc(size);
}

static void *sqlite_realloc(void *memory, int size)
{
    return fails() ? NULL : methods.xRealloc(memory, size);
}

static int fail_in_sqlite_too(void **state)
{
    sqlite3_mem_methods ours;

    (void)state;
    if (sqlite3_config(SQLITE_CONFIG_GETMALLOC, &methods) != SQLITE_OK)
        return -1;
    ours = methods;
    ours.xMalloc = sqlite_malloc;
    ours.xRealloc = sqlite_realloc;
    return sqlite3_config(SQLITE_CONFIG_MALLOC, &ours);
}

/* Also a transaction whose reads convert values. */
static enum mq_status transact(struct mq_db *db, struct mq_error *err)
{
    struct mq_value value;
    struct mq_row row = {&value, 1, false};
    enum mq_status status = db->driver->begin(db, err);

    if (status == MQ_OK)
        status = run_sql(db, "DELETE FROM t", err);
    if (status == MQ_OK)
        status = mq_db_row(db, &(struct mq_query){.slot = 1, .sql = "SELECT 0.5"}, &row, err);
    if (status == MQ_OK)
        assert_true(row.found && mq_str_equal(value.s, MQ_STR("0.5")));
    mq_db_finish(db);
    if (status == MQ_OK)
        status = run_sql(db, "INSERT INTO t VALUES ('x')", err);
    if (status == MQ_OK)
        status = db->driver->commit(db, err);
    db->driver->rollback(db);
    return status;
}

/* Everything that a connection does; returns the status of the first failure. */
static enum mq_status use(struct scene *scene, const char *journal)
{
    struct mq_sqlite_options options = {
        .path = scene->path, .journal = journal, .busy_timeout_ms = 300, .worker = true};
    enum mq_status status = mq_sqlite_open(&options, &scene->db, &scene->err);

    if (status != MQ_OK)
        return status;
    status = mq_db_script(scene->db, "CREATE TABLE IF NOT EXISTS t (a TEXT);", &scene->err);
    if (status == MQ_OK)
        status = transact(scene->db, &scene->err);
    if (status == MQ_OK)
        status = scene->db->driver->maintain(scene->db, &scene->err);
    if (status == MQ_OK)
        status = scene->db->driver->reopen(scene->db, &scene->err);
    scene->db->driver->close(scene->db);
    scene->db = NULL;
    return status;
}

static void each_fails_once(struct scene *scene, const char *journal)
{
    enum mq_status status = MQ_NOMEM;
    long n;

    for (n = 0; n < 5000; n++) {
        bool bitten;

        scene->err.text[0] = '\0';
        countdown = n;
        status = use(scene, journal);
        bitten = countdown < 0;
        countdown = -1;
        if (!bitten)
            break;
        if (status != MQ_OK && status != MQ_NOMEM)
            fail_msg("allocation %ld: %s: %s", n, mq_status_name(status), scene->err.text);
    }
    assert_int_equal(status, MQ_OK);
    assert_in_range(n, 100, 4999);
    assert_string_equal(peer_see(scene, "PRAGMA integrity_check"), "ok");
}

static void test_rollback_journal(void **state)
{
    each_fails_once(*state, "truncate");
}

static void test_wal(void **state)
{
    each_fails_once(*state, "wal");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_rollback_journal, scene_setup, scene_teardown),
        cmocka_unit_test_setup_teardown(test_wal, scene_setup, scene_teardown),
    };

    return cmocka_run_group_tests(tests, fail_in_sqlite_too, NULL);
}
