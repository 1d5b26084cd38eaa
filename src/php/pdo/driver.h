/* Uses a PDO object of the application as the queue's database: within the application's
 * transaction if one is open, so that both commit together or not at all. */
#ifndef MQ_PHP_PDO_DRIVER_H
#define MQ_PHP_PDO_DRIVER_H

#include "php.h"

#include "core/error.h"

struct mq_db;
struct mq_php_run;

/* Opens a driver over `object`, a PDO, and holds a reference to it. MQ_CONFIG: the database is not
 * SQLite, PostgreSQL from 9.5 on, MySQL from 8.0.4 on or MariaDB from 10.6 on. If the application
 * has a transaction open, begin() sets a savepoint in it: commit() releases that, rollback() goes
 * back to it. The application's transaction stays usable, even if a statement outside begin()
 * fails. The object's attributes are restored whenever neither a transaction of ours nor a result
 * is open. close() never calls PHP code. */
enum mq_status mq_php_pdo_open(zval *object, struct mq_db **out, struct mq_error *err);

/* How the driver opens its own connection. */
struct mq_php_pdo_options {
    const char *dsn;     /* of a server; server.h says where user and password come from */
    int busy_timeout_ms; /* how long to wait for locks of others */
    bool worker;         /* a lost connection stays closed until reopen(): its locks are gone */
};

/* Opens a driver over its own PDO, which no other code holds, so reopen() works. A call on a
 * connection that was lost meanwhile reopens it, unless a transaction was lost with it. In a forked
 * child close() forgets the connection and sends nothing to the server. */
enum mq_status mq_php_pdo_open_dsn(const struct mq_php_pdo_options *options, struct mq_db **out,
                                   struct mq_error *err);
/* Prepares for a worker's run. On the application's connection, begin() joins no transaction from
 * then on; MQ_DATABASE if one is open now. MQ_CONFIG if a pooler shares the session. */
enum mq_status mq_php_pdo_for_worker(struct mq_db *db, struct mq_error *err);
/* Returns `db` if a run uses the application's connection, or NULL. */
struct mq_db *mq_php_pdo_of_run(struct mq_db *db);
/* To be called after a callback (`who`) of such a run. If it left a transaction open, rolls that
 * back, because outcomes must not be stored in it, and returns MQ_DATABASE. */
enum mq_status mq_php_pdo_after(struct mq_php_run *run, const char *who, struct mq_error *err);

/* Whether the driver is one over a PDO. */
bool mq_php_pdo_is(const struct mq_db *db);

/* Adds the objects that the driver holds, for the collector of cycles. */
void mq_php_pdo_held(struct mq_db *db, zend_get_gc_buffer *buffer);

/* To be called before each use from PHP code. Rolls back a transaction that a fatal error broke
 * off. MQ_DATABASE if the driver is calling PHP code now, and that code calls the queue. */
enum mq_status mq_php_pdo_usable(struct mq_db *db, struct mq_error *err);

/* Whether the last rollback found that the database had undone the application's whole transaction
 * (SQLite on a full disk). The next call returns false. */
bool mq_php_pdo_take_undone(void);

/* Returns the exception behind the last failure of a driver in this request, or NULL; the caller
 * owns it. It becomes the previous exception of the DatabaseException. */
zend_object *mq_php_pdo_take_cause(void);

/* To be called in RSHUTDOWN. Rolls back what a fatal error left open, because a persistent
 * connection outlives the request. In a forked child, leaves the parent's connections alone. */
void mq_php_pdo_request_ends(void);

/* Whether PHP unwinds (bailout). If so, the caller must continue that when the driver returned. */
bool mq_php_pdo_bailed(struct mq_db *db);

#endif
