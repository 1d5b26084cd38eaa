/* A connection that the driver has opened itself, by a DSN. */
#ifndef MQ_PHP_PDO_OWN_H
#define MQ_PHP_PDO_OWN_H

#include "php/pdo/held.h"

/* look.c: which database it is. MQ_CONFIG where the queue cannot live there. */
enum mq_status mq_pdo_look(struct mq_pdo *self, struct mq_error *err);
/* The PostgreSQL process that was named when the connection began; a pooler names a number of its
 * own. *pid is unchanged if none was. */
enum mq_status mq_pdo_announced(struct mq_pdo *self, int64_t *pid, struct mq_error *err);

/* pooler.c: whether one gives each transaction another session of PostgreSQL, as far as can be
 * seen; with a second connection where this one is the driver's own. Not within a transaction. */
enum mq_status mq_pdo_shares_sessions(struct mq_pdo *self, bool *shared, struct mq_error *err);

/* Opens the connection for the first time, by own.dsn. */
enum mq_status mq_pdo_connect(struct mq_pdo *self, struct mq_error *err);
/* Opens the connection again. On failure there is none: calls are MQ_IO. */
enum mq_status mq_pdo_reopen(struct mq_pdo *self, struct mq_error *err);
/* Before a statement on our own connection that cannot be repeated: asks a question that can,
 * unless the server has just answered. The server may have closed the connection meanwhile. */
enum mq_status mq_pdo_wake(struct mq_pdo *self, struct mq_error *err);
/* Reopens it where `failure` shows that it was lost before anything was done on it; false: it was
 * not reopened. */
bool mq_pdo_resume(struct mq_pdo *self, enum mq_status failure, struct mq_error *err);

#endif
