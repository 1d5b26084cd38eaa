/* A file of this machine, opened for an attachment. */
#ifndef MQ_PHP_LOCAL_FILE_H
#define MQ_PHP_LOCAL_FILE_H

#include "php.h"

#include "core/buffer.h"
#include "core/error.h"

/* Opens a regular file that open_basedir allows, also through symbolic links. Once *fd is not -1,
 * the caller must close it, also on failure: PHP may unwind in here. MQ_MESSAGE with `field` if
 * this is not a regular file (but a URL, for example), cannot be read, or is too large. */
enum mq_status mq_php_local_file_open(struct mq_str path, const char *field, int *fd, size_t *size,
                                      struct mq_error *err);

#endif
