/* What the environment sets, and where the worker of a queue keeps its files. */
#ifndef MQ_PHP_PATHS_H
#define MQ_PHP_PATHS_H

#include "php.h"

#include "core/error.h"

struct mq_queue;

/* Returns what PHP's getenv() finds: the web server's value (nginx's fastcgi_param, Apache's
 * SetEnv), or else the process's. If that is not set or empty, returns `ini`, the value of php.ini;
 * NULL: that has none either. Borrowed: copy the text before PHP code runs. */
const char *mq_php_setting(const char *name, const char *ini);

/* Whether open_basedir allows the path. */
bool mq_php_is_allowed(const char *path);

/* The run directory, malloc'ed. For a database file it is beside the file, or in mailqueue.run_dir;
 * for a server's database it is in mailqueue.run_dir, or in the user's own directory
 * (worker/files.h). NULL for an SQLite database in memory. Creates nothing. `err` must not be
 * NULL. */
enum mq_status mq_php_run_dir(struct mq_queue *queue, char **out, struct mq_error *err);
/* Creates the run directory of a server's database. The worker creates that of a database file. */
enum mq_status mq_php_run_dir_prepare(struct mq_queue *queue, const char *run_dir,
                                      struct mq_error *err);
/* The directory of the OAuth2 accounts: $MAILQUEUE_ACCOUNTS, or else the ini setting
 * mailqueue.accounts, or else "accounts" in mailqueue.run_dir or in the user's own directory.
 * malloc'ed. MQ_CONFIG: open_basedir does not allow it. */
enum mq_status mq_php_accounts_path(char **out, struct mq_error *err);
/* The path of the worker's log: $MAIL_QUEUE_LOG, or else the ini setting mailqueue.log, or else the
 * log's own default; malloc'ed. NULL without memory, and for an SQLite database in memory. */
char *mq_php_log_path(struct mq_queue *queue, const char *run_dir);
/* Returns the same path. `neighbour`: the database's file, or any name in the run directory. */
char *mq_php_log_beside(const char *neighbour);

#endif
