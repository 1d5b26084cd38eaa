/* A PDO of the queue's own, by the DSN of a server and credentials that are never printed. */
#ifndef MQ_PHP_PDO_SERVER_H
#define MQ_PHP_PDO_SERVER_H

#include "php.h"

#include "core/error.h"

/* Whether the text is the DSN of a server. */
bool mq_php_dsn_is(const zend_string *database);

/* The same without user and password, in request memory; of databases that are none of the queue's
 * the scheme only, and of a file its name. */
zend_string *mq_php_dsn_shown(zend_string *database);

/* Puts that in the place of an argument of the running function, for stack traces, which before PHP
 * 8.2 show all of them. The text as it was, owned by the caller; NULL: it names a file. */
zend_string *mq_php_dsn_hide(zval *argument);

/* A new connection; `pdo` is the caller's. User and password are the DSN's, else those of the
 * environment, else of php.ini, else what the client library finds by itself. MQ_IO: the server
 * cannot be reached now; MQ_CONFIG: it will not take this DSN; no PHP exception is left of either,
 * for its trace would have the password. */
enum mq_status mq_php_dsn_connect(const char *database, int busy_timeout_ms, zval *pdo,
                                  struct mq_error *err);

#endif
