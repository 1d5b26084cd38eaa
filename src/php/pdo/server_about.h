/* Facts about a database server, which need no queue on it. */
#ifndef MQ_PHP_PDO_SERVER_ABOUT_H
#define MQ_PHP_PDO_SERVER_ABOUT_H

#include "php.h"

#include "core/error.h"

struct mq_db;

/* Adds "server" to an array: null, or for a server an array with its "kind" ("pgsql"), "version",
 * "ahead" (seconds that its clock is ahead of this host's), "autovacuum", "readOnly", "standby",
 * "encrypted", "oldestTransaction" (age in seconds of the server's oldest one; null: this
 * user cannot see it), and "sharesSessions" (a pooler gives each transaction another session). */
enum mq_status mq_php_server_about(struct mq_db *db, zval *array, struct mq_error *err);

/* Whether this name, without a schema, finds a table or view. */
enum mq_status mq_php_server_has_table(struct mq_db *db, const char *name, bool *has,
                                       struct mq_error *err);

#endif
