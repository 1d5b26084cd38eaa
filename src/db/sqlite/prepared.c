/* Statements, values and rows. */
#include "db/sqlite/file_guard.h"

/* Fails if SQLite has undone the whole transaction, as it does after some failures (disk full, I/O
 * error, no memory). Each later statement would commit by itself. */
static enum mq_status check_undone(struct mq_sqlite *self, struct mq_error *err)
{
    if (!self->begun || !sqlite3_get_autocommit(self->handle)) {
        return MQ_OK;
    }
    return mq_error_set(err, MQ_DATABASE, "database",
                        "SQLite undid the transaction on %s after an error", self->name);
}

static int bind(sqlite3_stmt *stmt, int index, const struct mq_value *value)
{
    switch (value->type) {
    case MQ_INT:
        return sqlite3_bind_int64(stmt, index, value->i);
    case MQ_TEXT:
        return sqlite3_bind_text64(stmt, index, value->s.data ? value->s.data : "", value->s.len,
                                   SQLITE_STATIC, SQLITE_UTF8);
    case MQ_BLOB:
        if (value->s.len == 0) {
            return sqlite3_bind_zeroblob(stmt, index, 0);
        }
        return sqlite3_bind_blob64(stmt, index, value->s.data, value->s.len, SQLITE_STATIC);
    case MQ_NULL:
        break;
    }
    return sqlite3_bind_null(stmt, index);
}

static enum mq_status prepare(struct mq_sqlite *self, const struct mq_query *query,
                              struct mq_error *err)
{
    bool kept = query->slot >= 0 && query->slot < MQ_SQLITE_SLOTS;
    sqlite3_stmt *stmt = kept ? self->slots[query->slot] : NULL;
    if (!stmt) {
        int code = sqlite3_prepare_v3(self->handle, query->sql, -1,
                                      kept ? SQLITE_PREPARE_PERSISTENT : 0, &stmt, NULL);

        if (code != SQLITE_OK) {
            return mq_sqlite_error(self, code, err);
        }
        if (kept) {
            self->slots[query->slot] = stmt;
        }
    }
    self->current = stmt;
    self->current_kept = kept;
    return MQ_OK;
}

enum mq_status mq_sqlite_run_fixed(struct mq_sqlite *self, enum mq_fixed which,
                                   struct mq_error *err)
{
    /* IMMEDIATE, because a deferred transaction takes the write lock too late: if another
     * connection wrote since its first read, it fails at once, whatever the timeout. */
    static const char *const texts[] = {"BEGIN IMMEDIATE", "COMMIT", "ROLLBACK"};
    const struct mq_query query = {.slot = (int)which, .sql = texts[which - MQ_FIXED_BEGIN]};
    MQ_TRY(check_undone(self, err));
    MQ_TRY(prepare(self, &query, err));
    self->busy.waited_us = 0;
    int code = sqlite3_step(self->current);
    enum mq_status status = code == SQLITE_DONE ? MQ_OK : mq_sqlite_error(self, code, err);
    mq_sqlite_finish(&self->base);
    return status;
}

/* Outside begin() each statement is its own transaction, so it needs the same guard as a commit. */
static enum mq_status completed(struct mq_sqlite *self, struct mq_error *err)
{
    bool wrote = !sqlite3_stmt_readonly(self->current);
    self->changes = wrote ? sqlite3_changes(self->handle) : 0;
    mq_sqlite_finish(&self->base);
    return wrote && !self->begun ? mq_sqlite_guard_commit(self, err) : MQ_OK;
}

/* Reads the columns that SQLite has to convert or copy (numbers and UTF-16 to text, text without
 * its NUL), because a lack of memory can be reported here, but not in column(). */
static bool columns_ready(sqlite3_stmt *stmt)
{
    int count = sqlite3_column_count(stmt);
    for (int i = 0; i < count; i++) {
        int type = sqlite3_column_type(stmt, i);

        if ((type == SQLITE_TEXT || type == SQLITE_FLOAT) && !sqlite3_column_text(stmt, i)) {
            return false;
        }
        if (type == SQLITE_BLOB && !sqlite3_column_blob(stmt, i) &&
            sqlite3_column_bytes(stmt, i) > 0) {
            return false;
        }
    }
    return true;
}

static enum mq_status step(struct mq_sqlite *self, bool *row, struct mq_error *err)
{
    int code = sqlite3_step(self->current);
    enum mq_status status;
    *row = code == SQLITE_ROW;
    if (code == SQLITE_ROW && columns_ready(self->current)) {
        return MQ_OK;
    }
    if (code == SQLITE_DONE) {
        return completed(self, err);
    }
    *row = false;
    status = mq_sqlite_error(self, code == SQLITE_ROW ? SQLITE_NOMEM : code, err);
    mq_sqlite_finish(&self->base);
    return status;
}

enum mq_status mq_sqlite_run(struct mq_db *db, const struct mq_query *query, struct mq_error *err)
{
    struct mq_sqlite *self = mq_sqlite_of(db);
    MQ_TRY(mq_sqlite_usable(self, err));
    mq_sqlite_finish(db);
    MQ_TRY(check_undone(self, err));
    if (!self->begun) {
        MQ_TRY(mq_sqlite_guard(self, err));
    }
    MQ_TRY(prepare(self, query, err));
    self->busy.waited_us = 0;
    for (int i = 0; i < query->param_count; i++) {
        int code = bind(self->current, i + 1, &query->params[i]);
        if (code != SQLITE_OK) {
            enum mq_status status = mq_sqlite_error(self, code, err);
            mq_sqlite_finish(db);
            return status;
        }
    }
    return step(self, &self->row_ready, err);
}

enum mq_status mq_sqlite_next(struct mq_db *db, bool *row, struct mq_error *err)
{
    struct mq_sqlite *self = mq_sqlite_of(db);
    enum mq_status status;
    bool more = false;
    if (self->current && self->row_ready) {
        self->row_ready = false;
        *row = true;
        return MQ_OK;
    }
    status = self->current ? mq_sqlite_usable(self, err) : MQ_OK;
    if (status == MQ_OK && self->current) {
        status = step(self, &more, err);
    }
    if (status == MQ_OK) {
        *row = more;
    }
    return status;
}

struct mq_value mq_sqlite_column(struct mq_db *db, int index)
{
    struct mq_sqlite *self = mq_sqlite_of(db);
    sqlite3_stmt *stmt = self->current;
    struct mq_value value = {.type = MQ_NULL};
    if (!stmt) {
        return value;
    }
    switch (sqlite3_column_type(stmt, index)) {
    case SQLITE_INTEGER:
        return mq_int(sqlite3_column_int64(stmt, index));
    case SQLITE_BLOB:
        value.type = MQ_BLOB;
        value.s.data = sqlite3_column_blob(stmt, index);
        break;
    case SQLITE_NULL:
        return value;
    default: /* text; real numbers too, whose text reads back as the same number */
        value.type = MQ_TEXT;
        value.s.data = (const char *)sqlite3_column_text(stmt, index);
        break;
    }
    value.s.len = (size_t)sqlite3_column_bytes(stmt, index);
    if (value.s.len == 0) {
        value.s.data = ""; /* SQLite gives no pointer for an empty blob */
    }
    return value;
}

int mq_sqlite_columns(struct mq_db *db)
{
    return sqlite3_column_count(mq_sqlite_of(db)->current);
}

void mq_sqlite_finish(struct mq_db *db)
{
    struct mq_sqlite *self = mq_sqlite_of(db);
    self->row_ready = false;
    if (!self->current || mq_sqlite_forked(db)) {
        return;
    }
    if (self->current_kept) {
        sqlite3_reset(self->current);
        sqlite3_clear_bindings(self->current); /* they point into the caller's memory */
    } else {
        sqlite3_finalize(self->current);
    }
    self->current = NULL;
}

void mq_sqlite_finalize_all(struct mq_sqlite *self)
{
    mq_sqlite_finish(&self->base);
    for (int i = 0; i < MQ_SQLITE_SLOTS; i++) {
        sqlite3_finalize(self->slots[i]);
        self->slots[i] = NULL;
    }
}
