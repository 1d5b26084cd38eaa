/* The ini settings as they are shown and used. */
#ifndef MQ_PHP_INI_H
#define MQ_PHP_INI_H

#include "php.h"
#include "php_ini.h"

/* One of PHP's own settings; NULL: unset, or unknown to this PHP. The name is a literal.
 * zend_ini_string() would say "" for what is unset. */
#define MQ_PHP_INI(name) zend_ini_string_ex(name, sizeof("" name) - 1, 0, NULL)

/* A server's DSN without user and password. */
ZEND_INI_DISP(mq_php_ini_show_database);

/* Only whether it is set. */
ZEND_INI_DISP(mq_php_ini_show_secret);

/* phpinfo() and `php --ri` show the transport without its password. */
ZEND_INI_DISP(mq_php_ini_show_transport);
/* mailqueue.max_message_size: a value that is not a number is refused. PHP would read it as 0,
 * which means no limit. */
ZEND_INI_MH(mq_php_ini_max_message_size);

#endif
