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

/* What may be printed of a text that names a database, in request memory: a DSN without user and
 * secrets; of one that cannot be parsed, or of another kind of database, the scheme alone. A file's
 * name is returned itself. */
zend_string *mq_php_dsn_shown(zend_string *database, enum mq_php_secret *secret);

/* Replaces an argument of the running function by that, because stack traces before PHP 8.2 show
 * all arguments. Gives the text as it was, owned by the caller; NULL: it names a file. */
zend_string *mq_php_dsn_hide(zval *argument);

/* A new connection; `pdo` is the caller's. User and password are the DSN's, else those of the
 * environment, else of php.ini, else what the client library finds by itself. MQ_IO: the server
 * cannot be reached now; MQ_CONFIG: it does not accept this DSN. Neither leaves a PHP exception,
 * whose trace would have the password. */
enum mq_status mq_php_dsn_connect(const char *database, int busy_timeout_ms, zval *pdo,
                                  struct mq_error *err);

#endif
