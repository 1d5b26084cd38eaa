/* Poolers that give each transaction another session of PostgreSQL. */
#ifndef MQ_PHP_PDO_POOLER_H
#define MQ_PHP_PDO_POOLER_H

#include "php/pdo/call.h"

/* Whether one does, as far as can be seen; with a second connection where this one is the driver's
 * own. Not within a transaction. */
enum mq_status mq_pdo_shares_sessions(struct mq_pdo *self, bool *shared, struct mq_error *err);

#endif
