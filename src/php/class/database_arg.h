/* The argument that names a database: of functions whose first one it is. */
#ifndef MQ_PHP_CLASS_DATABASE_ARG_H
#define MQ_PHP_CLASS_DATABASE_ARG_H

#include "php.h"

/* The path: what follows "sqlite:", or the whole text. NULL: it cannot be a file that other
 * processes can open. */
const char *mq_php_database_file(const zend_string *database);

/* The absolute path of the file, or NULL with an exception. */
zend_string *mq_php_database_path(const zend_string *database);

#endif
