/* What the files of the PDO driver share. */
#ifndef MQ_PHP_PDO_INTERNAL_H
#define MQ_PHP_PDO_INTERNAL_H

#include <sys/types.h>
#include <unistd.h>

#include "core/clock.h"
#include "core/process_id.h"
#include "php/pdo/call.h"
#include "php/pdo/driver.h"

/* Slots of the driver's own statements, behind the queue's. */
enum { MQ_PDO_CHANGES = MQ_DB_SLOTS, MQ_PDO_LAST_ID, MQ_PDO_SLOTS };

/* A server parses and forgets a statement that is used this often: to prepare it would cost a round
 * trip of its own, and one more to deallocate it. The next use prepares it. */
#define MQ_PDO_UNPREPARED_USES 2

/* One statement. PDO has no numbered parameters: each use of ?n is a placeholder of its own. */
struct mq_pdo_statement {
    zval object;           /* PDOStatement; undefined: none */
    unsigned short *order; /* placeholder → parameter, from 0; owned */
    int placeholders;
    int uses; /* on this connection, up to MQ_PDO_UNPREPARED_USES + 1 */
};

/* Of a connection that the driver has opened itself. */
struct mq_pdo_own {
    char *dsn; /* NULL: the PDO is the application's, and nothing of this is used */
    int busy_timeout_ms;
    bool opening;        /* the new one is being looked at */
    bool bounded;        /* PostgreSQL: the session's waits for locks end (mq_pdo_bound_waits()) */
    bool resumes;        /* opened anew where nothing can have been lost with it */
    char begin[160];     /* the statement that begins a transaction */
    struct mq_pdo *next; /* in the list of the request's */
};

struct mq_pdo {
    struct mq_db base;
    zval object;              /* the PDO */
    pid_t pid;                /* the process that opened it; in any other it is only forgotten */
    char *path;               /* of the main database's file; owned */
    struct mq_pdo *next_open; /* in the list of those with a transaction of ours */
    struct mq_pdo_own own;

    int64_t called_ms;   /* when the call under way, or the last one, began */
    int64_t answered_ms; /* when the database last answered a statement */
    bool bailed;         /* PHP unwinds: nothing of it may be called any more */
    bool calling;        /* PHP code may run, which may come back to the queue */
    bool forked;         /* PHP code has forked this process in the middle of a call */
    bool closing;        /* closed, but for the transaction that a fatal error left open */
    bool lost;           /* what a statement wrote could not be asked: no commit */
    bool inserts;        /* begin() is for INSERTs alone */
    bool begun;          /* begin() succeeded and neither commit() nor rollback() came */
    bool joined;         /* by a savepoint in the application's transaction */
    bool aborted; /* PostgreSQL: a statement of begin()'s transaction failed, so nothing of it stays
                   */
    bool fresh;   /* no statement has succeeded since begin() */
    bool stale;   /* PostgreSQL: what was prepared is gone: DISCARD ALL */
    bool worker;  /* joins no transaction (mq_php_pdo_for_worker()) */
    int64_t packet_max; /* MySQL: octets of a statement with its values */
    bool guarded;       /* PostgreSQL: a statement runs in a savepoint of its own */
    bool ends_idle;     /* PostgreSQL 9.6: it can end sessions that idle in a transaction */
    bool unnamed; /* PostgreSQL: statements have no name in the server, as the application's */
    bool native;  /* MySQL, since enter(): the application has switched emulated statements off */
    bool entered; /* the attributes are ours, the application's are below */
    zval errmode, nulls;

    struct mq_pdo_statement slots[MQ_PDO_SLOTS];
    struct mq_pdo_statement single;   /* of a query that is not kept */
    struct mq_pdo_statement *current; /* the open result */
    zval row;                         /* its row: an array; undefined: none */
    int64_t changes;                  /* not SQLite: rows that the last statement changed */
    bool row_ready;                   /* run() has read a row that next() has not given yet */
};

static inline struct mq_pdo *mq_pdo_of(struct mq_db *db)
{
    return (struct mq_pdo *)(void *)db;
}

static inline int64_t mq_pdo_now_ms(void)
{
    const struct mq_clock clock = mq_clock_system();
    return clock.boot_ms(clock.context);
}
/* call.c: calls a method of the PDO or of one of its statements. On failure *result is
 * undefined and the exception is kept as the cause. NULL: what it returns is of no use. */
enum mq_status mq_pdo_call(struct mq_pdo *self, struct mq_php_method method, zval *result,
                           struct mq_error *err);
/* Frees a value, whose destructor may be PHP code; undefined afterwards. */
void mq_pdo_drop(struct mq_pdo *self, zval *value);
/* Forgets the connection, which is the parent's. A worker's run does not come back from here. */
enum mq_status mq_pdo_forked(struct mq_pdo *self, struct mq_error *err);

/* A PHP string of that text in *out. MQ_BAILOUT where the memory limit made PHP unwind. */
enum mq_status mq_pdo_string(struct mq_pdo *self, struct mq_str text, zval *out,
                             struct mq_error *err);
enum mq_status mq_pdo_exec(struct mq_pdo *self, const char *sql, struct mq_error *err);
/* driver.c: whether the connection is within a transaction, as far as PDO knows. */
enum mq_status mq_pdo_in_transaction(struct mq_pdo *self, bool *within, struct mq_error *err);
/* Prepares anew what the application has deallocated; in begin()'s transaction only before any of
 * its statements has succeeded. False: it could not, or nothing was deallocated. */
bool mq_pdo_renew(struct mq_pdo *self);
/* The driver's table for that dialect. */
const struct mq_db_driver *mq_pdo_driver(enum mq_dialect dialect);
static inline bool mq_pdo_is_pgsql(const struct mq_pdo *self)
{
    return self->base.driver->dialect == MQ_PGSQL;
}

/* open.c: which database it is, and whether the queue can live there. */
enum mq_status mq_pdo_look(struct mq_pdo *self, struct mq_error *err);

/* own.c: opens a connection of our own anew. On failure there is none: calls are MQ_IO. */
enum mq_status mq_pdo_reopen(struct mq_pdo *self, struct mq_error *err);
/* Before a statement of our own connection that cannot be repeated: a question, which can, unless
 * the server has just answered. It may have closed the connection meanwhile. */
enum mq_status mq_pdo_wake(struct mq_pdo *self, struct mq_error *err);
/* The same where a connection was found lost before anything was done on it; false: it was not. */
bool mq_pdo_resume(struct mq_pdo *self, enum mq_status failure, struct mq_error *err);
/* Before the driver is freed: leaves a connection of the parent's alone. */
void mq_pdo_disown(struct mq_pdo *self);
void mq_pdo_own_request_ends(void);
/* Leaves an object as it is for the rest of the process, as if it were never freed. */
void mq_pdo_abandon(zval *object);
static inline bool mq_pdo_is_foreign(const struct mq_pdo *self)
{
    return self->pid != mq_process_id();
}
/* borrowed.c: undoes the transaction that begin() has joined. */
enum mq_status mq_pdo_refuse_join(struct mq_pdo *self, struct mq_error *err);
bool mq_pdo_has_room(struct mq_db *db, size_t octets);
static inline bool mq_pdo_is_mysql(const struct mq_pdo *self)
{
    return self->base.driver->dialect == MQ_MYSQL;
}
/* Whatever MySQL's completion_type is. */
#define MQ_PDO_MYSQL_END " AND NO CHAIN NO RELEASE"
static inline const char *mq_pdo_rollback_text(const struct mq_pdo *self)
{
    return mq_pdo_is_mysql(self) ? "ROLLBACK" MQ_PDO_MYSQL_END : "ROLLBACK";
}
/* An attribute's value, owned by the caller. */
enum mq_status mq_pdo_attribute(struct mq_pdo *self, zend_long name, zval *value,
                                struct mq_error *err);

/* pooler.c: whether a pooler gives each transaction another session of PostgreSQL, so far as
 * can be seen; with a second connection where this one is the driver's own. Not within a
 * transaction. */
enum mq_status mq_pdo_shares_sessions(struct mq_pdo *self, bool *shared, struct mq_error *err);
/* For a connection of the driver's own: gives its session the limit of waits for locks, unless a
 * pooler would give it to other clients as well. Behind one no statement gets a name. */
enum mq_status mq_pdo_bound_waits(struct mq_pdo *self, struct mq_error *err);
/* MQ_CONFIG where one does: for a worker. */
enum mq_status mq_pdo_refuse_pooler(struct mq_pdo *self, struct mq_error *err);
#define MQ_PDO_POOLER                                                                 \
    "a pooler before PostgreSQL gives each transaction another session (pgbouncer's " \
    "pool_mode = transaction)"
#define MQ_PDO_POOLER_CURE "give the server's own address, or one with pool_mode = session"

/* mysql.c: whether the queue can live there. */
enum mq_status mq_pdo_mysql_look(struct mq_pdo *self, struct mq_error *err);
/* Begins a transaction; *joins where one is open that is the application's. */
enum mq_status mq_pdo_mysql_begin(struct mq_pdo *self, bool *joins, struct mq_error *err);
/* After SAVEPOINT: whether there is a transaction indeed. */
enum mq_status mq_pdo_mysql_joined(struct mq_pdo *self, struct mq_error *err);
/* Whether the server takes a statement of that size, where `quotes` says that PDO writes the values
 * into its text; the connection would be lost otherwise. */
enum mq_status mq_pdo_mysql_fits(struct mq_pdo *self, const struct mq_query *query, bool quotes,
                                 struct mq_error *err);

/* attributes.c: sets the attributes that the driver needs, and puts the application's back. */
enum mq_status mq_pdo_enter(struct mq_pdo *self, struct mq_error *err);
void mq_pdo_leave(struct mq_pdo *self);
/* MySQL: whether PDO writes the values of what is prepared next into its text. */
enum mq_status mq_pdo_emulate(struct mq_pdo *self, bool emulate, struct mq_error *err);

/* sqlstate.c: what a PDOException means; takes the exception as the cause. */
enum mq_status mq_pdo_failed(struct mq_pdo *self, zend_object *thrown, struct mq_error *err);
/* Whether the last failure of SQLite or MySQL says that a transaction is open already. */
bool mq_pdo_cause_is_nested(void);
void mq_pdo_forget_cause(struct mq_pdo *self);
void mq_pdo_keep_cause(struct mq_pdo *self, zend_object *cause); /* takes it over; NULL: none */

/* placeholder.c: the text with each ?n as ?, malloc'ed; which n each of them was is noted in the
 * statement. NULL: no memory. */
char *mq_pdo_number_placeholders(const char *sql, struct mq_pdo_statement *statement);

/* statement.c */
enum mq_status mq_pdo_run(struct mq_db *db, const struct mq_query *query, struct mq_error *err);
enum mq_status mq_pdo_next(struct mq_db *db, bool *row, struct mq_error *err);
struct mq_value mq_pdo_column(struct mq_db *db, int index);
void mq_pdo_finish(struct mq_db *db);
bool mq_pdo_has_column(struct mq_db *db, const char *table, const char *column);
/* Of a column that is a number; else *number stays. */
void mq_pdo_number(struct mq_value value, int64_t *number);
/* Forgets all statements; their next uses are the first. */
void mq_pdo_forget_statements(struct mq_pdo *self);
/* Frees what forgotten statements still have. */
void mq_pdo_free_statements(struct mq_pdo *self);

#endif
