/* The worker's own files (locks, intent records, the log), and the directory that they are in. */
#ifndef MQ_WORKER_FILES_H
#define MQ_WORKER_FILES_H

#include "core/error.h"

/* The run directory of a database: `configured`/<name>-<hash of the path> when configured (the ini
 * setting mailqueue.run_dir), else <database>.run beside it. malloc'ed; NULL without memory. */
char *mq_run_dir_path(const char *configured, const char *database_path);
/* Where the run directories are of databases that are no file: $XDG_STATE_HOME/mailqueue, else
 * $HOME/.local/state/mailqueue, each where it is or can be made, else mailqueue-<uid> in
 * `temporary`. malloc'ed; NULL without memory. */
char *mq_run_base_path(const char *temporary);
/* The one there of the database of that identity (mq_queue_identity()). malloc'ed; NULL without
 * memory. */
char *mq_run_dir_of(const char *base, const char *identity);
/* Creates it with mode 0700 when missing; refuses one that is another user's, that others may write
 * or that is a link. */
enum mq_status mq_run_dir_prepare(const char *path, struct mq_error *err);
/* The same, with what is missing above it. */
enum mq_status mq_run_base_prepare(const char *base, struct mq_error *err);

/* directory/name, malloc'ed; NULL without memory. */
char *mq_file_path(const char *directory, const char *name);

#endif
