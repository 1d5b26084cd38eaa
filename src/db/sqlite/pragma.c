/* Pragmas and other statements without values, run once. */
#include "db/sqlite/internal.h"

enum mq_status mq_sqlite_pragma(struct mq_sqlite *self, const char *sql, struct mq_error *err)
{
    int code = sqlite3_exec(self->handle, sql, NULL, NULL, NULL);
    return code == SQLITE_OK ? MQ_OK
                             : mq_sqlite_error(self, sqlite3_extended_errcode(self->handle), err);
}

/* The single value of a pragma as text, cut to fit. */
enum mq_status mq_sqlite_pragma_text(struct mq_sqlite *self, const char *sql,
                                     char out[MQ_PRAGMA_MAX], struct mq_error *err)
{
    sqlite3_stmt *stmt = NULL;
    int code = sqlite3_prepare_v2(self->handle, sql, -1, &stmt, NULL);
    if (code == SQLITE_OK) {
        code = sqlite3_step(stmt);
    }
    if (code == SQLITE_ROW) {
        sqlite3_snprintf(MQ_PRAGMA_MAX, out, "%s", (const char *)sqlite3_column_text(stmt, 0));
    }
    if (code == SQLITE_ROW || code == SQLITE_DONE) {
        code = sqlite3_finalize(stmt); /* fails without memory for the text */
    } else {
        sqlite3_finalize(stmt);
    }
    return code == SQLITE_OK ? MQ_OK : mq_sqlite_error(self, code, err);
}

enum mq_status mq_sqlite_ask_journal(struct mq_sqlite *self, char out[MQ_PRAGMA_MAX],
                                     struct mq_error *err)
{
    return mq_sqlite_pragma_text(self, "PRAGMA journal_mode", out, err);
}
