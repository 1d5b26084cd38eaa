/* A PDO object as the driver holds it. Only the folder's files look inside. */
#ifndef MQ_PHP_PDO_HELD_H
#define MQ_PHP_PDO_HELD_H

#include <sys/types.h>

#include "core/clock.h"
#include "core/process_id.h"
#include "db/db.h"
#include "php/pdo/call_method.h"
#include "php/pdo/driver.h"

/* Slots of the driver's own statements, after the queue's; SINGLE is for one that is not kept. */
enum { MQ_PDO_CHANGES = MQ_DB_SLOTS, MQ_PDO_LAST_ID, MQ_PDO_SINGLE, MQ_PDO_SLOTS };

/* For the first uses of a statement, the server parses it each time and does not keep it: to
 * prepare it costs a round trip, and so does deallocating it. The next use prepares it. */
#define MQ_PDO_UNPREPARED_USES 2

struct mq_pdo_statement {
    zval object; /* PDOStatement; undefined: none */
    int uses;    /* on this connection; stops at MQ_PDO_UNPREPARED_USES + 1 */
};

/* The state of a connection that the driver has opened itself. */
struct mq_pdo_own {
    char *dsn; /* NULL: the PDO is the application's, and the rest is not used */
    int busy_timeout_ms;
    bool opening;    /* a new connection is being checked */
    bool bounded;    /* PostgreSQL: the session's waits for locks have a limit */
    bool resumes;    /* a lost connection is reopened if no transaction was lost */
    bool persistent; /* PHP keeps it after the request */
    char begin[160]; /* the statement that begins a transaction */
};

struct mq_pdo {
    struct mq_db base;
    const struct mq_db_driver *drivers; /* indexed by dialect */
    zval object;                        /* the PDO */
    pid_t pid;                          /* the process that opened it; any other only forgets it */
    char *path;                         /* SQLite: identifies the main database's file; owned */
    struct mq_pdo *next;                /* in the request's list of drivers */
    struct mq_pdo_own own;

    int64_t called_ms;   /* when the last call began */
    int64_t answered_ms; /* when the database last answered a statement */
    bool bailed;         /* PHP unwinds: no PHP code may be called any more */
    bool calling;        /* PHP code may be running, and may call the queue */
    bool forked;         /* PHP code has forked this process in the middle of a call */
    bool closing;        /* close() was called, but a fatal error left a transaction open */
    bool lost;           /* PDO did not say what a statement wrote: commit() fails */
    bool inserts;        /* begin() is for INSERTs alone */
    bool begun;          /* begin() succeeded, and neither commit() nor rollback() was called */
    bool joined;         /* begin() has set a savepoint in the application's transaction */
    bool aborted;       /* PostgreSQL: a statement of begin()'s transaction failed, all is undone */
    bool fresh;         /* no statement has succeeded since begin() */
    bool stale;         /* PostgreSQL: the server lacks statements that it was to keep */
    bool ascii;         /* PostgreSQL: its encoding is not UTF-8 and lacked a character */
    bool again;         /* the statement that failed last may succeed if repeated */
    bool worker;        /* joins no transaction (mq_php_pdo_for_worker()) */
    int64_t packet_max; /* MySQL: octets of a statement with its values */
    bool guarded;       /* PostgreSQL: a statement runs in its own savepoint */
    bool ends_idle;     /* PostgreSQL from 9.6 on: it can end sessions that idle in a transaction */
    bool unnamed;       /* PostgreSQL: statements get no name, so the server does not keep them */
    bool native;  /* MySQL, set by enter(): the application has switched emulated prepares off */
    bool entered; /* the PDO has our attributes; those of the application are below */
    zval errmode, nulls;

    struct mq_pdo_statement slots[MQ_PDO_SLOTS];
    struct mq_pdo_statement *current; /* the open result */
    zval row;                         /* its row: an array; undefined: none */
    int64_t changes;                  /* not SQLite: rows that the last statement changed */
    bool row_ready;                   /* run() has read a row that next() has not given yet */
};

static inline struct mq_pdo *mq_pdo_of(struct mq_db *db)
{
    return (struct mq_pdo *)(void *)db;
}

static inline bool mq_pdo_is_pgsql(const struct mq_pdo *self)
{
    return self->base.driver->dialect == MQ_PGSQL;
}

static inline bool mq_pdo_is_mysql(const struct mq_pdo *self)
{
    return self->base.driver->dialect == MQ_MYSQL;
}

/* Whether a parent process opened the connection. */
static inline bool mq_pdo_is_foreign(const struct mq_pdo *self)
{
    return self->pid != mq_process_id();
}

static inline int64_t mq_pdo_now_ms(void)
{
    const struct mq_clock clock = mq_clock_system();
    return clock.boot_ms(clock.context);
}

/* Frees a value, whose destructor may be PHP code. The value is undefined afterwards. */
void mq_pdo_drop(struct mq_pdo *self, zval *value);
/* Drops the row that was read last. */
void mq_pdo_drop_row(struct mq_pdo *self);
/* Drops the row and all statements, and counts their uses from 0 again. */
void mq_pdo_forget_statements(struct mq_pdo *self);
/* In a forked child: forgets the parent's statements, and never frees them. `pdo`: the PDO too. */
void mq_pdo_abandon(struct mq_pdo *self, bool pdo);
/* Forgets the parent's connection and returns MQ_DATABASE. In a worker's run, exits. */
enum mq_status mq_pdo_forked(struct mq_pdo *self, struct mq_error *err);

/* The exception behind the last failure. keep() takes it over; NULL: none. */
void mq_pdo_keep_cause(struct mq_pdo *self, zend_object *cause);
void mq_pdo_forget_cause(struct mq_pdo *self); /* `self` may be NULL when the request ends */

#endif
