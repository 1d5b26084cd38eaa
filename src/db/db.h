/* The queue's view of a database: transactions, statements with bound values, rows, the class of
 * an error. Drivers implement it; the queue's logic is written once above it.
 *
 * Statements are given by a slot and their text. The text of a slot never changes on one
 * connection, so a driver prepares it once and keeps it. At most one result is open at a time:
 * finish it before the next statement. All functions may be called only by the process that opened.
 */
#ifndef MQ_DB_DB_H
#define MQ_DB_DB_H

#include <stdbool.h>
#include <stdint.h>

#include "core/error.h"
#include "db/value.h"

/* Which spelling of SQL the statements have. */
enum mq_dialect { MQ_SQLITE, MQ_PGSQL, MQ_MYSQL, MQ_DIALECT_COUNT };

#define MQ_DB_SLOTS 96

/* One statement: where its prepared form is kept, its text, its parameters. */
struct mq_query {
    int slot; /* 0 … MQ_DB_SLOTS − 1; -1: not kept */
    const char *sql;
    const struct mq_value *params; /* bound to ?1, ?2, … */
    int param_count;
};

struct mq_db;

/* A statement outside begin() … */
enum mq_alone {
    MQ_ALONE_NEVER,   /* needs begin(): its waits for locks would not end in time */
    MQ_ALONE_COMMITS, /* is a transaction of its own */
    MQ_ALONE_JOINS    /* is in a savepoint of the application's transaction */
};

struct mq_db_driver {
    enum mq_dialect dialect;
    /* Takes the write lock, where the database has but one; within a transaction of the
     * application's, a savepoint. */
    enum mq_status (*begin)(struct mq_db *db, struct mq_error *err);
    /* The same for a transaction that only stores new rows, for which any isolation will do. NULL:
     * begin() it is. */
    enum mq_status (*begin_inserts)(struct mq_db *db, struct mq_error *err);
    enum mq_status (*commit)(struct mq_db *db, struct mq_error *err);
    void (*rollback)(struct mq_db *db); /* without a transaction: nothing */
    /* Before a statement outside begin() that writes: what becomes of it. NULL: it needs begin().
     */
    enum mq_status (*alone)(struct mq_db *db, enum mq_alone *what, struct mq_error *err);
    /* Runs a statement; rows are read with next() until *row is false, and finish() ends it early.
     */
    enum mq_status (*run)(struct mq_db *db, const struct mq_query *query, struct mq_error *err);
    enum mq_status (*next)(struct mq_db *db, bool *row, struct mq_error *err);
    struct mq_value (*column)(struct mq_db *db, int index);
    void (*finish)(struct mq_db *db);
    int64_t (*changes)(struct mq_db *db); /* rows that the last statement wrote */
    int64_t (*last_id)(struct mq_db *db);
    /* Upkeep between transactions (checkpoints); called by the worker only. NULL: the database
     * makes it. */
    enum mq_status (*maintain)(struct mq_db *db, struct mq_error *err);
    /* Closes what is gone or replaced and opens the file under the same name, or the connection,
     * again. MQ_CONFIG: that can never be, for it is the application's. */
    enum mq_status (*reopen)(struct mq_db *db, struct mq_error *err);
    /* Whether the transaction of begin() is a part of the application's. */
    bool (*joined)(struct mq_db *db);
    /* Whether the table has that column, by the schema that the connection has read already; false
     * also where that cannot be told. True where a server should not be asked yet: the first
     * statement that fails will tell. */
    bool (*has_column)(struct mq_db *db, const char *table, const char *column);
    /* The absolute path of the database's file, borrowed; NULL: it has none. */
    const char *(*path)(struct mq_db *db);
    /* Whether a column of so many octets can be read, as far as can be told before: where PHP would
     * end with a fatal error otherwise. NULL: reading tells it. */
    bool (*has_room)(struct mq_db *db, size_t octets);
    void (*close)(struct mq_db *db); /* rolls back and frees; in a forked child it only forgets */
};

/* First member of every driver's own structure. */
struct mq_db {
    const struct mq_db_driver *driver;
    bool returning; /* the server has INSERT … RETURNING */
};

/* Runs a statement that gives no rows. */
enum mq_status mq_db_exec(struct mq_db *db, const struct mq_query *query, struct mq_error *err);
/* The first row of a result, and where its columns go. */
struct mq_row {
    struct mq_value *values; /* the caller's, `count` of them */
    int count;
    bool found; /* out */
};

/* Runs a query for one row. The bytes of its values stay valid until mq_db_finish(), which is also
 * called when nothing was found. */
enum mq_status mq_db_row(struct mq_db *db, const struct mq_query *query, struct mq_row *out,
                         struct mq_error *err);
static inline void mq_db_finish(struct mq_db *db)
{
    db->driver->finish(db);
}
/* Runs several statements with ';' between, and nowhere else, without parameters (migrations). */
enum mq_status mq_db_script(struct mq_db *db, const char *sql, struct mq_error *err);

#endif
