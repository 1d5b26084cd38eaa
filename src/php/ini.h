/* The ini settings as they are shown and used. */
#ifndef MQ_PHP_INI_H
#define MQ_PHP_INI_H

#include "php.h"
#include "php_ini.h"

/* phpinfo() and `php --ri` show the transport without its password. */
ZEND_INI_DISP(mq_php_ini_show_transport);

#endif
