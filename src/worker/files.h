/* The worker's own files (locks, intent records, the log), and the directory that they are in. */
#ifndef MQ_WORKER_FILES_H
#define MQ_WORKER_FILES_H

#include "core/error.h"

/* The run directory of a database: `configured`/<name>-<hash of the path> when configured (the ini
 * setting mailqueue.run_dir), or else <database>.run beside it. malloc'ed; NULL without memory. */
char *mq_run_dir_path(const char *configured, const char *database_path);
/* The directory for the run directories of databases that are not files: $XDG_STATE_HOME/mailqueue,
 * or else $HOME/.local/state/mailqueue, either only if it exists or can be made, or else
 * mailqueue-<uid> in `temporary`. malloc'ed; NULL without memory. */
char *mq_run_base_path(const char *temporary);
/* The run directory in `base` for the database of that identity (mq_queue_identity()). malloc'ed;
 * NULL without memory. */
char *mq_run_dir_of(const char *base, const char *identity);
/* Returns the default path of the log: $HOME/logs/mail-queue.log if that directory exists, or else
 * mail-queue.log beside the file `neighbour`: the database, or a file in the run directory of a
 * database that is not a file. malloc'ed; NULL without memory. */
char *mq_log_default_path(const char *neighbour);
/* Creates a run directory with mode 0700 if it is missing. Refuses a symbolic link, and a directory
 * that another user owns or others can write to. */
enum mq_status mq_run_dir_prepare(const char *path, struct mq_error *err);
/* Prepares `base` in the same way, and creates its missing parents. */
enum mq_status mq_run_base_prepare(const char *base, struct mq_error *err);

/* directory/name, malloc'ed; NULL without memory. */
char *mq_file_path(const char *directory, const char *name);

#endif
