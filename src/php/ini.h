/* How phpinfo() and `php --ri` show our ini settings, and reading PHP's own. */
#ifndef MQ_PHP_INI_H
#define MQ_PHP_INI_H

#include "php.h"
#include "php_ini.h"

/* The value of one of PHP's own settings, or NULL if it is not set or this PHP does not have it.
 * `name` is a string literal. (zend_ini_string() would return "" for a setting that is not set.) */
#define MQ_PHP_INI(name) zend_ini_string_ex(name, sizeof("" name) - 1, 0, NULL)

/* Shows the DSN of a database without user and password. */
ZEND_INI_DISP(mq_php_ini_show_database);

/* Shows only "set" or "not set". */
ZEND_INI_DISP(mq_php_ini_show_secret);

/* Shows the transport's DSN, or its group of them, without passwords. */
ZEND_INI_DISP(mq_php_ini_show_transport);
/* Refuses a value of mailqueue.max_message_size that is not a number: PHP would read it as 0, which
 * means no limit. */
ZEND_INI_MH(mq_php_ini_max_message_size);

#endif
