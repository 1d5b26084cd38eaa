/* What the module keeps for a thread: php.ini's settings, and what is open. */
#include "php.h"

#include "php_mailqueue.h"

ZEND_DECLARE_MODULE_GLOBALS(mailqueue)
