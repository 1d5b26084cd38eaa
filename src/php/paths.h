/* Where the worker of a queue keeps its files. */
#ifndef MQ_PHP_PATHS_H
#define MQ_PHP_PATHS_H

#include "php.h"

/* Both malloc'ed; NULL without memory, and for a database that is in memory (path NULL). */
char *mq_php_run_dir(const char *database_path);
/* $MAIL_QUEUE_LOG, else the ini setting mailqueue.log, else the log's own default. */
char *mq_php_log_path(const char *database_path);

#endif
