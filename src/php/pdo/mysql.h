/* What only MySQL and MariaDB need. */
#ifndef MQ_PHP_PDO_MYSQL_H
#define MQ_PHP_PDO_MYSQL_H

#include "php/pdo/pdo_statement.h"

/* Ends a transaction whatever completion_type is. */
#define MQ_PDO_MYSQL_END " AND NO CHAIN NO RELEASE"

/* Checks the connection. MQ_CONFIG: the queue cannot live there. */
enum mq_status mq_pdo_mysql_look(struct mq_pdo *self, struct mq_error *err);
/* Begins a transaction, or sets *joins if one of the application is open. */
enum mq_status mq_pdo_mysql_begin(struct mq_pdo *self, bool *joins, struct mq_error *err);
/* To be called after SAVEPOINT. MQ_DATABASE: there is no transaction after all. */
enum mq_status mq_pdo_mysql_joined(struct mq_pdo *self, struct mq_error *err);
/* Asks for the largest packet before a large statement, if that is not known yet. */
enum mq_status mq_pdo_mysql_measure(struct mq_pdo *self, const struct mq_query *query,
                                    struct mq_error *err);
/* MQ_FULL if the server does not accept a statement of that size; it would end the connection.
 * `quotes`: PDO writes the values into the text. */
enum mq_status mq_pdo_mysql_fits(struct mq_pdo *self, const struct mq_query *query, bool quotes,
                                 struct mq_error *err);

#endif
