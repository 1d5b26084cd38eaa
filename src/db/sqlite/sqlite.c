/* The native SQLite driver: its table, transactions, open and close. */
#include "db/sqlite/sqlite.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/process_id.h"
#include "db/sqlite/file_guard.h"

static void rollback(struct mq_db *db)
{
    struct mq_sqlite *self = mq_sqlite_of(db);
    bool begun = self->begun;
    if (mq_sqlite_forked(db)) {
        return;
    }
    mq_sqlite_finish(db);
    self->begun = false;
    if (self->handle && !sqlite3_get_autocommit(self->handle)) {
        mq_sqlite_run_fixed(self, MQ_FIXED_ROLLBACK, NULL);
    }
    /* If begin() failed, it has tried the repair, which can write 128 MiB. */
    if (begun && self->handle && !self->replaced) {
        mq_sqlite_after_failed_sync(self, NULL);
    }
}

static enum mq_status begin(struct mq_db *db, struct mq_error *err)
{
    struct mq_sqlite *self = mq_sqlite_of(db);
    MQ_TRY(mq_sqlite_usable(self, err));
    if (self->begun) {
        return mq_error_set(err, MQ_DATABASE, "database", "a transaction within a transaction");
    }
    mq_sqlite_finish(db);
    if (self->reader && access(self->path, W_OK) == 0) { /* the file became writable */
        mq_sqlite_disconnect(self);
        MQ_TRY(mq_sqlite_connect(self, true, err));
    }
    if (self->reader) { /* SQLite would begin a read transaction */
        return mq_sqlite_error(self, SQLITE_READONLY, err);
    }
    MQ_TRY(mq_sqlite_guard(self, err));
    MQ_TRY(mq_sqlite_after_failed_sync(self, err));
    MQ_TRY(mq_sqlite_run_fixed(self, MQ_FIXED_BEGIN, err));
    self->begun = true;
    enum mq_status status = mq_sqlite_note_journal(self, err);
    if (status != MQ_OK) {
        rollback(db);
    }
    return status;
}

/* If a lock makes the commit fail, the transaction stays open: try again or roll back. */
static enum mq_status commit(struct mq_db *db, struct mq_error *err)
{
    struct mq_sqlite *self = mq_sqlite_of(db);
    MQ_TRY(mq_sqlite_usable(self, err));
    if (!self->begun) {
        return mq_error_set(err, MQ_DATABASE, "database", "a commit without a transaction");
    }
    mq_sqlite_finish(db);
    self->committing = true;
    enum mq_status status = mq_sqlite_run_fixed(self, MQ_FIXED_COMMIT, err);
    self->committing = false;
    if (status != MQ_OK) {
        return status;
    }
    self->begun = false;
    status = mq_sqlite_guard_commit(self, err);
    if (status == MQ_OK) {
        mq_sqlite_wal_cap(self);
    }
    return status;
}

static int64_t changes(struct mq_db *db)
{
    return mq_sqlite_of(db)->changes;
}

static int64_t last_id(struct mq_db *db)
{
    struct mq_sqlite *self = mq_sqlite_of(db);
    return self->handle ? sqlite3_last_insert_rowid(self->handle) : 0;
}

static bool joined(struct mq_db *db)
{
    (void)db; /* the connection is our own: the application has no transaction on it */
    return false;
}

static bool has_column(struct mq_db *db, const char *table, const char *column)
{
    struct mq_sqlite *self = mq_sqlite_of(db);
    return self->handle && !mq_sqlite_forked(db) &&
           sqlite3_table_column_metadata(self->handle, "main", table, column, NULL, NULL, NULL,
                                         NULL, NULL) == SQLITE_OK;
}

static const char *path(struct mq_db *db)
{
    struct mq_sqlite *self = mq_sqlite_of(db);
    return self->path ? self->path : self->name;
}

static enum mq_status reopen(struct mq_db *db, struct mq_error *err)
{
    struct mq_sqlite *self = mq_sqlite_of(db);
    if (self->memory) {
        return mq_sqlite_usable(self, err);
    }
    if (mq_sqlite_forked(db)) {
        mq_sqlite_forget(self);
        self->owner = mq_process_id();
    } else {
        mq_sqlite_disconnect(self);
    }
    /* A deleted file is not created again: somebody may be about to restore it. */
    return mq_sqlite_connect(self, true, err);
}

static void close_db(struct mq_db *db)
{
    struct mq_sqlite *self = mq_sqlite_of(db);
    if (mq_sqlite_forked(db)) {
        mq_sqlite_forget(self);
    } else {
        mq_sqlite_disconnect(self);
    }
    free(self->name);
    free(self->path);
    free(self->wal_path);
    free(self->shm_path);
    free(self->mark_path);
    free(self);
}

static const struct mq_db_driver driver = {
    .dialect = MQ_SQLITE,
    .begin = begin,
    .commit = commit,
    .rollback = rollback,
    .run = mq_sqlite_run,
    .next = mq_sqlite_next,
    .column = mq_sqlite_column,
    .columns = mq_sqlite_columns,
    .finish = mq_sqlite_finish,
    .changes = changes,
    .last_id = last_id,
    .maintain = mq_sqlite_maintain,
    .reopen = reopen,
    .joined = joined,
    .has_column = has_column,
    .path = path,
    .close = close_db,
};

const char *mq_sqlite_journal(struct mq_db *db)
{
    const struct mq_sqlite *self = mq_sqlite_of(db);
    bool truncates = strcmp(self->journal, "delete") == 0 &&
                     strcmp(self->wanted_journal, "delete") != 0 && !self->reader;

    return truncates ? "truncate" : self->journal; /* in force from the first transaction on */
}

enum mq_status mq_sqlite_open(const struct mq_sqlite_options *options, struct mq_db **out,
                              struct mq_error *err)
{
    struct mq_sqlite *self = calloc(1, sizeof(*self));
    enum mq_status status;
    if (!self) {
        return mq_error_nomem(err);
    }
    self->base.driver = &driver;
    self->owner = mq_process_id();
    self->synchronous_normal = options->synchronous_normal;
    self->worker = options->worker;
    self->busy.limit_us = (int64_t)options->busy_timeout_ms * 1000;
    self->memory = strcmp(options->path, ":memory:") == 0;
    snprintf(self->wanted_journal, sizeof(self->wanted_journal), "%s",
             options->journal ? options->journal : "");
    self->name = mq_str_dup(mq_str_of(options->path));
    status = self->name ? MQ_OK : mq_error_nomem(err);
    if (status == MQ_OK) {
        status = mq_sqlite_connect(self, options->must_exist, err);
    }
    if (status != MQ_OK) {
        close_db(&self->base);
        return status;
    }
    *out = &self->base;
    return MQ_OK;
}
