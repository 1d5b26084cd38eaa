/* Where the worker of a queue keeps its files. */
#ifndef MQ_PHP_PATHS_H
#define MQ_PHP_PATHS_H

#include "php.h"

#include "core/error.h"

struct mq_queue;

/* The run directory, malloc'ed: beside the database's file, or in mailqueue.run_dir; for a database
 * that is not a file, in mailqueue.run_dir or in a directory of the user's (worker/files.h). NULL
 * for an SQLite database in memory. Creates nothing. `err` is required. */
enum mq_status mq_php_run_dir(struct mq_queue *queue, char **out, struct mq_error *err);
/* Creates the run directory of a database that is not a file. Those of files are created by the
 * worker. */
enum mq_status mq_php_run_dir_prepare(struct mq_queue *queue, const char *run_dir,
                                      struct mq_error *err);
/* Where the worker's log is: $MAIL_QUEUE_LOG, else the ini setting mailqueue.log, else the log's
 * own default; malloc'ed. NULL without memory, and for an SQLite database in memory. */
char *mq_php_log_path(struct mq_queue *queue, const char *run_dir);
/* The same for a database's file. */
char *mq_php_log_beside(const char *neighbour);

#endif
