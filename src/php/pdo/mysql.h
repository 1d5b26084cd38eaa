/* What only MySQL and MariaDB need. */
#ifndef MQ_PHP_PDO_MYSQL_H
#define MQ_PHP_PDO_MYSQL_H

#include "php/pdo/statement.h"

/* Ends a transaction whatever completion_type is. */
#define MQ_PDO_MYSQL_END " AND NO CHAIN NO RELEASE"

/* MQ_CONFIG where the queue cannot live there. */
enum mq_status mq_pdo_mysql_look(struct mq_pdo *self, struct mq_error *err);
/* Begins a transaction; *joins where one of the application's is open. */
enum mq_status mq_pdo_mysql_begin(struct mq_pdo *self, bool *joins, struct mq_error *err);
/* After SAVEPOINT: MQ_DATABASE where there is no transaction after all. */
enum mq_status mq_pdo_mysql_joined(struct mq_pdo *self, struct mq_error *err);
/* MQ_FULL where the server takes no statement of that size, for the connection would be lost.
 * `quotes`: PDO writes the values into its text. */
enum mq_status mq_pdo_mysql_fits(struct mq_pdo *self, const struct mq_query *query, bool quotes,
                                 struct mq_error *err);

#endif
