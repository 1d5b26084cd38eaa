/* The queue's view of a database: transactions, statements with bound values, rows, kinds of
 * errors. Drivers implement it; the queue's logic is written once above it.
 *
 * A statement has a slot and a text. The text of a slot never changes on one connection, so a
 * driver prepares it once and keeps it. At most one result is open at a time: finish it before the
 * next statement. Only the process that opened the database may call these functions, except
 * close(). */
#ifndef MQ_DB_DB_H
#define MQ_DB_DB_H

#include <stdbool.h>
#include <stdint.h>

#include "core/error.h"
#include "db/value.h"

/* The dialect of SQL in which the statements are written. */
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

/* What happens to a statement that runs outside begin(). */
enum mq_alone {
    MQ_ALONE_NEVER,   /* it needs begin(): alone it could wait for locks too long */
    MQ_ALONE_COMMITS, /* it is a transaction by itself */
    MQ_ALONE_JOINS    /* it joins the application's transaction, in a savepoint */
};

struct mq_db_driver {
    enum mq_dialect dialect;
    /* Begins a transaction, with the write lock if the database has only one. Within a transaction
     * of the application it begins a savepoint. */
    enum mq_status (*begin)(struct mq_db *db, struct mq_error *err);
    /* Begins one that only stores new rows: any isolation level will do. NULL: use begin(). */
    enum mq_status (*begin_inserts)(struct mq_db *db, struct mq_error *err);
    enum mq_status (*commit)(struct mq_db *db, struct mq_error *err);
    void (*rollback)(struct mq_db *db); /* does nothing without a transaction */
    /* Sets *what for a statement that writes outside begin(). NULL: it needs begin(). */
    enum mq_status (*alone)(struct mq_db *db, enum mq_alone *what, struct mq_error *err);
    /* Runs a statement; next() reads rows until *row is false, and finish() ends it early. */
    enum mq_status (*run)(struct mq_db *db, const struct mq_query *query, struct mq_error *err);
    enum mq_status (*next)(struct mq_db *db, bool *row, struct mq_error *err);
    struct mq_value (*column)(struct mq_db *db, int index);
    int (*columns)(struct mq_db *db); /* how many the current row has */
    void (*finish)(struct mq_db *db);
    int64_t (*changes)(struct mq_db *db); /* rows that the last statement wrote */
    int64_t (*last_id)(struct mq_db *db);
    /* The worker's upkeep between transactions (checkpoints). NULL: the database does its own. */
    enum mq_status (*maintain)(struct mq_db *db, struct mq_error *err);
    /* Waits up to ms. *told: other sessions have told this one something. Only if `waits`. */
    enum mq_status (*wait)(struct mq_db *db, int64_t ms, bool *told, struct mq_error *err);
    /* Closes the lost connection, or the replaced file, and opens it again under the same name.
     * MQ_CONFIG: the connection is the application's, so the driver can never reopen it. */
    enum mq_status (*reopen)(struct mq_db *db, struct mq_error *err);
    /* Whether the transaction of begin() is a part of the application's. */
    bool (*joined)(struct mq_db *db);
    /* Whether the table has that column. Reads the schema that the connection knows; false, too, if
     * the connection cannot tell. A driver may return true without asking a server: then the first
     * statement that needs the column fails. */
    bool (*has_column)(struct mq_db *db, const char *table, const char *column);
    /* The absolute path of the database's file, borrowed; NULL: it has none. */
    const char *(*path)(struct mq_db *db);
    /* Whether the memory suffices to read a column of that size, as far as this can be known. If it
     * does not, PHP ends with a fatal error. NULL: reading itself reports a lack of memory. */
    bool (*has_room)(struct mq_db *db, size_t octets);
    void (*close)(struct mq_db *db); /* rolls back and frees; in a forked child it only forgets */
};

/* First member of every driver's own structure. */
struct mq_db {
    const struct mq_db_driver *driver;
    bool returning; /* the server has INSERT … RETURNING */
    bool waits;     /* wait() can be called: nobody else reads what the connection is told */
};

/* Runs a statement that gives no rows. */
enum mq_status mq_db_exec(struct mq_db *db, const struct mq_query *query, struct mq_error *err);
/* The first row of a result, and where its columns go. */
struct mq_row {
    struct mq_value *values; /* the caller's, `count` of them */
    int count;
    bool found; /* out */
};

/* Runs a query for one row. After MQ_OK, even if there was no row, the caller calls mq_db_finish();
 * the bytes of the values stay valid until then. */
enum mq_status mq_db_row(struct mq_db *db, const struct mq_query *query, struct mq_row *out,
                         struct mq_error *err);
static inline void mq_db_finish(struct mq_db *db)
{
    db->driver->finish(db);
}
/* Runs statements without parameters (migrations). A ';' separates them; none contains a ';'. */
enum mq_status mq_db_script(struct mq_db *db, const char *sql, struct mq_error *err);

#endif
