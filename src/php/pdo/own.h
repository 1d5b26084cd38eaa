/* A connection that the driver has opened itself, by a DSN. */
#ifndef MQ_PHP_PDO_OWN_H
#define MQ_PHP_PDO_OWN_H

#include "php/pdo/held.h"

/* look.c: finds which database the PDO has. MQ_CONFIG: the queue cannot live there. */
enum mq_status mq_pdo_look(struct mq_pdo *self, struct mq_error *err);
/* Sets *pid to the process that PostgreSQL named when the connection began; a pooler names a number
 * that it chose. *pid is unchanged if no process was named. */
enum mq_status mq_pdo_announced(struct mq_pdo *self, int64_t *pid, struct mq_error *err);

/* pooler.c: whether a pooler gives each transaction another session of PostgreSQL, as far as can be
 * seen. Opens a second connection if this one is the driver's own. Not within a transaction. */
enum mq_status mq_pdo_shares_sessions(struct mq_pdo *self, bool *shared, struct mq_error *err);

/* Opens the connection for the first time, by own.dsn. */
enum mq_status mq_pdo_connect(struct mq_pdo *self, struct mq_error *err);
/* Opens the connection again. After a failure there is no connection, and calls return MQ_IO. */
enum mq_status mq_pdo_reopen(struct mq_pdo *self, struct mq_error *err);
/* The driver's wait(). PostgreSQL. */
enum mq_status mq_pdo_wait(struct mq_db *db, int64_t ms, bool *told, struct mq_error *err);
/* To be called on our own connection before a statement that cannot be repeated, because the server
 * may have closed it. Sends a query that can be repeated, unless the server has just answered. */
enum mq_status mq_pdo_wake(struct mq_pdo *self, struct mq_error *err);
/* Reopens the connection if `failure` says that it was lost and no transaction was lost with it.
 * Returns whether it was reopened. */
bool mq_pdo_resume(struct mq_pdo *self, enum mq_status failure, struct mq_error *err);

#endif
