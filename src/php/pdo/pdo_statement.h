/* Statements, values and rows. These functions do what db.h says of run(), next(), column() and
 * finish(), but do not try again over a new connection. */
#ifndef MQ_PHP_PDO_PDO_STATEMENT_H
#define MQ_PHP_PDO_PDO_STATEMENT_H

#include "php/pdo/call.h"

enum mq_status mq_pdo_run(struct mq_db *db, const struct mq_query *query, struct mq_error *err);
enum mq_status mq_pdo_next(struct mq_db *db, bool *row, struct mq_error *err);
struct mq_value mq_pdo_column(struct mq_db *db, int index);
int mq_pdo_columns(struct mq_db *db);
void mq_pdo_finish(struct mq_db *db);
bool mq_pdo_has_column(struct mq_db *db, const char *table, const char *column);

/* Runs a query that gives one number; *number is unchanged if it gives none. */
enum mq_status mq_pdo_ask(struct mq_pdo *self, const struct mq_query *query, int64_t *number,
                          struct mq_error *err);

#endif
