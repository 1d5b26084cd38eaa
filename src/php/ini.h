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

/* Whether it is set, and no more. */
ZEND_INI_DISP(mq_php_ini_show_secret);

/* phpinfo() and `php --ri` show the transport without its password. */
ZEND_INI_DISP(mq_php_ini_show_transport);
/* mailqueue.max_message_size: a word, which PHP would take for 0 and so for no limit, changes
 * nothing. */
ZEND_INI_MH(mq_php_ini_max_message_size);

#endif
