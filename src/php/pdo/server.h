/* A PDO of the queue's own, by the DSN of a server and credentials that are never printed. */
#ifndef MQ_PHP_PDO_SERVER_H
#define MQ_PHP_PDO_SERVER_H

#include "php.h"

#include "core/error.h"

/* Whether the text is the DSN of a server. */
bool mq_php_dsn_is(const zend_string *database);

/* Whether a password or another secret is in a DSN. */
enum mq_php_secret {
    MQ_PHP_SECRET_NONE,
    MQ_PHP_SECRET_THERE,
    MQ_PHP_SECRET_UNKNOWN /* the text cannot be parsed */
};

/* Returns what may be printed of a text that names a database, in request memory. A DSN loses user
 * and secrets. If it cannot be parsed, or names another kind of database, only the scheme is left.
 * The name of a file is returned unchanged. */
zend_string *mq_php_dsn_shown(zend_string *database, enum mq_php_secret *secret);

/* Replaces an argument of the running function by its printable form, because stack traces before
 * PHP 8.2 show all arguments. Returns the original, owned by the caller; NULL: it names a file. */
zend_string *mq_php_dsn_hide(zval *argument);

/* Opens a connection; the caller owns *pdo, and asks for one persistent connection at a time. User
 * and password come from the DSN, or else from the environment, or else from php.ini, or else the
 * client library searches for them. MQ_IO: the server cannot be reached now. MQ_CONFIG: it does not
 * accept this DSN. No PHP exception is left then, because its trace would have the password. */
enum mq_status mq_php_dsn_connect(const char *database, int busy_timeout_ms, bool persistent,
                                  zval *pdo, struct mq_error *err);
/* sqlstate.c: whether an error of MySQL, its server or its client library, is a refusal: a second
 * try to connect would not help. */
bool mq_pdo_mysql_refuses(zend_long code);

#endif
