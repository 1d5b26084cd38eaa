/* Connections to a database on the disk that loses its power. SQLite alone reads what survived. */
#include "power_bench.h"

#include <setjmp.h>
#include <sqlite3.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "db/sqlite/internal.h"
#include "power_vfs.h"
#include "sqlite_peer.h"

static const struct power_variant driver_wal = {"wal", "wal", NULL};

uint32_t bench_chance(struct power_bench *bench, uint32_t below)
{
    bench->random = bench->random * 1664525u + 1013904223u;
    return (bench->random >> 8) % below;
}

int bench_setup(void **state)
{
    struct power_bench *bench = calloc(1, sizeof(*bench));

    if (!bench)
        return -1;
    strcpy(bench->directory, "/tmp/mq-power-XXXXXX");
    if (!mkdtemp(bench->directory) || !power_install())
        return -1;
    snprintf(bench->path, sizeof(bench->path), "%s/queue.sqlite", bench->directory);
    bench->variant = &driver_wal;
    *state = bench;
    return 0;
}

void bench_close(struct power_bench *bench, int which)
{
    if (bench->dbs[which])
        bench->dbs[which]->driver->close(bench->dbs[which]);
    bench->dbs[which] = NULL;
}

void bench_close_all(struct power_bench *bench)
{
    for (int i = 0; i < POWER_CONNECTIONS; i++)
        bench_close(bench, i);
}

int bench_teardown(void **state)
{
    struct power_bench *bench = *state;
    char command[128];

    bench_close_all(bench);
    power_uninstall();
    snprintf(command, sizeof(command), "rm -rf '%s'", bench->directory);
    if (system(command) != 0)
        return -1;
    free(bench);
    return 0;
}

static enum mq_status make_table(struct mq_db *db, struct mq_error *err)
{
    enum mq_status status;

    if (run_sql(db, "SELECT k FROM t LIMIT 0", err) == MQ_OK)
        return MQ_OK;
    status = db->driver->begin(db, err);
    if (status == MQ_OK)
        status =
            run_sql(db, "CREATE TABLE IF NOT EXISTS t (k INTEGER PRIMARY KEY, filler BLOB)", err);
    if (status == MQ_OK)
        status = db->driver->commit(db, err);
    if (status != MQ_OK)
        db->driver->rollback(db);
    return status;
}

enum mq_status bench_open(struct power_bench *bench, int which)
{
    struct mq_sqlite_options options = {.path = bench->path,
                                        .journal = bench->variant->journal,
                                        .worker = which == POWER_WORKER && !bench->requests,
                                        .busy_timeout_ms = 2};
    enum mq_status status;

    if (bench->dbs[which])
        return MQ_OK;
    status = mq_sqlite_open(&options, &bench->dbs[which], &bench->err);
    return status == MQ_OK ? make_table(bench->dbs[which], &bench->err) : status;
}

enum mq_status bench_insert(struct power_bench *bench, int which, int key)
{
    struct mq_db *db = bench->dbs[which];
    struct mq_value params[] = {mq_int(key),
                                mq_int(1 + bench_chance(bench, 4) * bench_chance(bench, 9000))};
    enum mq_status status = db->driver->begin(db, &bench->err);

    if (status == MQ_OK)
        status = mq_db_exec(
            db,
            &(struct mq_query){
                .slot = 0,
                .sql = "INSERT INTO t VALUES (?1, randomblob(?2)) ON CONFLICT DO NOTHING",
                .params = params,
                .param_count = 2},
            &bench->err);
    return status;
}

enum mq_status bench_store(struct power_bench *bench, int which, int key)
{
    struct mq_db *db = bench->dbs[which];
    enum mq_status status = bench_insert(bench, which, key);
    bool wrote = false;

    if (status == MQ_OK) {
        wrote = db->driver->changes(db) > 0;
        status = db->driver->commit(db, &bench->err);
    }
    if (status != MQ_OK)
        db->driver->rollback(db);
    else if (wrote || which != POWER_WORKER || bench->requests)
        bench->promises[key] = PROMISED_STORED;
    return status;
}

static void name_with(const char *path, const char *suffix, char out[128])
{
    snprintf(out, 128, "%s%s", path, suffix);
}

/* The first column of the last row. */
static int take_text(void *context, int count, char **values, char **names)
{
    (void)names;
    snprintf(context, 256, "%s", count > 0 && values[0] ? values[0] : "");
    return 0;
}

static void ask(sqlite3 *handle, const char *sql, char out[256])
{
    char *error = NULL;

    out[0] = '\0';
    if (sqlite3_exec(handle, sql, take_text, out, &error) != SQLITE_OK)
        snprintf(out, 256, "%s", error);
    sqlite3_free(error);
}

/* Opens a copy with SQLite alone, not on that disk, so that the driver finds the files as they were
 * left. */
static sqlite3 *look(struct power_bench *bench)
{
    static const char *const suffixes[] = {"", "-wal", "-journal"};
    char copy[128];
    sqlite3 *handle = NULL;

    name_with(bench->directory, "/copy", copy);
    for (int i = 0; i < 3; i++) {
        char from[128], to[128];

        name_with(bench->path, suffixes[i], from);
        name_with(copy, suffixes[i], to);
        unlink(to);
        if (exists(from))
            copy_file(from, to);
    }
    assert_int_equal(
        sqlite3_open_v2(copy, &handle, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE, "unix-excl"),
        SQLITE_OK);
    return handle;
}

void bench_check(struct power_bench *bench, const char *when)
{
    sqlite3 *handle = look(bench);
    char text[256];

    ask(handle, "PRAGMA synchronous = OFF; PRAGMA integrity_check", text);
    if (strcmp(text, "ok") != 0)
        fail_msg("%s: integrity_check: %s", when, text);
    for (int key = 1; key < bench->next; key++) {
        char sql[64];

        if (bench->promises[key] == PROMISED_NOTHING)
            continue;
        snprintf(sql, sizeof(sql), "SELECT count(*) FROM t WHERE k = %d", key);
        ask(handle, sql, text);
        if (bench->promises[key] == PROMISED_STORED && strcmp(text, "1") != 0)
            fail_msg("%s: row %d of %d is lost: %s", when, key, bench->next - 1, text);
        if (bench->promises[key] == PROMISED_UNDONE && strcmp(text, "1") == 0)
            fail_msg("%s: row %d, which was undone, is there", when, key);
    }
    sqlite3_close(handle);
}

static void make(struct power_bench *bench)
{
    sqlite3 *handle = NULL;
    char sql[192], text[256];

    if (!bench->variant->made)
        return;
    snprintf(sql, sizeof(sql),
             "PRAGMA page_size = 4096; PRAGMA journal_mode = %s; PRAGMA synchronous = OFF; "
             "CREATE TABLE users (name TEXT); INSERT INTO users VALUES ('a')",
             bench->variant->made);
    assert_int_equal(sqlite3_open(bench->path, &handle), SQLITE_OK);
    ask(handle, sql, text);
    assert_int_equal(sqlite3_close(handle), SQLITE_OK);
}

void bench_restart(struct power_bench *bench, const struct power_variant *variant, uint32_t random)
{
    static const char *const suffixes[] = {"", "-wal", "-journal", "-shm"};

    for (int i = 0; i < 4; i++) {
        char name[128];

        name_with(bench->path, suffixes[i], name);
        unlink(name);
    }
    memset(bench->promises, 0, sizeof(bench->promises));
    bench->variant = variant ? variant : &driver_wal;
    bench->next = 1;
    bench->random = random;
    make(bench);
    power_settle();
}

void bench_open_both(struct power_bench *bench)
{
    bench_restart(bench, NULL, 1);
    bench->requests = true;
    for (int i = 0; i < POWER_CONNECTIONS; i++)
        assert_int_equal(bench_open(bench, i), MQ_OK);
    bench->next = 10;
    assert_int_equal(bench_store(bench, 0, 1), MQ_OK);
    assert_int_equal(bench_store(bench, 1, 2), MQ_OK);
}

enum mq_status bench_maintain(struct power_bench *bench)
{
    struct mq_db *db = bench->dbs[POWER_WORKER];

    mq_sqlite_of(db)->due_frames = 0; /* otherwise it waits for a long WAL */
    return db->driver->maintain(db, &bench->err);
}
