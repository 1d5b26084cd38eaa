/* The queue's database through a PDO object of the application: within its transaction where one is
 * open, so that both commit together or not at all. */
#ifndef MQ_PHP_PDO_DRIVER_H
#define MQ_PHP_PDO_DRIVER_H

#include "php.h"

#include "core/error.h"

struct mq_db;
struct mq_php_run;

/* A driver over `object`, a PDO, to which it holds a reference: of SQLite, or of PostgreSQL from
 * 9.5 on (MQ_CONFIG names any other). begin() joins a transaction that is open already, by a
 * savepoint: commit() releases it, rollback() goes back to it and leaves the application's
 * transaction usable. A failure without begin() leaves it usable too. The object's attributes are
 * restored whenever neither a transaction of ours nor a result is open. close() never calls PHP
 * code. */
enum mq_status mq_php_pdo_open(zval *object, struct mq_db **out, struct mq_error *err);

/* How the driver opens a connection of its own. */
struct mq_php_pdo_options {
    const char *dsn;     /* of a server; server.h says where user and password come from */
    int busy_timeout_ms; /* for locks of others */
    bool worker;         /* a lost connection is not reopened unasked: its locks are gone */
};

/* The same over a PDO that no other code holds: reopen() works. A call on a connection that was
 * lost meanwhile works too, as long as nothing was done in a transaction. In a forked child close()
 * forgets the connection and sends nothing to the server. */
enum mq_status mq_php_pdo_open_dsn(const struct mq_php_pdo_options *options, struct mq_db **out,
                                   struct mq_error *err);
/* For a run of the worker. On the application's connection begin() joins no transaction from then
 * on: MQ_DATABASE where one is open now. MQ_CONFIG where a pooler shares the session. */
enum mq_status mq_php_pdo_for_worker(struct mq_db *db, struct mq_error *err);
/* The driver itself where a run uses the application's connection, else NULL. */
struct mq_db *mq_php_pdo_of_run(struct mq_db *db);
/* After a callback of such a run, `who`: rolls back a transaction that it left open. Outcomes must
 * not be stored in it. MQ_DATABASE says so. */
enum mq_status mq_php_pdo_after(struct mq_php_run *run, const char *who, struct mq_error *err);

/* Whether the driver is this one. */
bool mq_php_pdo_is(const struct mq_db *db);

/* Adds the objects that the driver holds, for the collector of cycles. */
void mq_php_pdo_held(struct mq_db *db, zend_get_gc_buffer *buffer);

/* Before each use from PHP code. Ends first what a fatal error broke off. MQ_DATABASE if the driver
 * itself is calling PHP code, which has come back here. */
enum mq_status mq_php_pdo_usable(struct mq_db *db, struct mq_error *err);

/* Whether the last rollback found that SQLite had undone the application's whole transaction (a
 * full disk); false afterwards. */
bool mq_php_pdo_take_undone(void);

/* The exception behind the last failure of a driver of this request, which DatabaseException has as
 * its previous one: owned by the caller; NULL: none. */
zend_object *mq_php_pdo_take_cause(void);

/* In RSHUTDOWN: ends what a fatal error left open, for a persistent connection outlives the
 * request; and leaves the parent's connections alone in a child. */
void mq_php_pdo_request_ends(void);

/* Whether PHP unwinds. After a call on the driver has returned, the caller has to continue that. */
bool mq_php_pdo_bailed(struct mq_db *db);

#endif
