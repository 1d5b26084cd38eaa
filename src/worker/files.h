/* Errors of the worker's own files: locks, the run directory, the log. */
#ifndef MQ_WORKER_FILES_H
#define MQ_WORKER_FILES_H

#include <stdint.h>

#include "core/error.h"

/* What was to be done, with what kind of file. */
struct mq_file_task {
    const char *verb;  /* "open", "create" */
    const char *kind;  /* "the log file" */
    const char *field; /* the setting that names it */
    const char *cure;  /* what a person can do */
};

/* "cannot <verb> <kind> <path>: <reason>; <cure>", with the status that fits sys_errno. */
enum mq_status mq_file_error(const struct mq_file_task *task, const char *path, int sys_errno,
                             struct mq_error *err);
/* directory/name, malloc'ed; NULL without memory. */
char *mq_file_path(const char *directory, const char *name);
/* Tells names of databases apart in names of files. */
uint64_t mq_run_hash(const char *text);

#endif
