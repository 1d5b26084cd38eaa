/* A file of this machine, opened for an attachment. */
#ifndef MQ_PHP_LOCAL_FILE_H
#define MQ_PHP_LOCAL_FILE_H

#include "php.h"

#include "core/buffer.h"
#include "core/error.h"

/* Opens a regular file that open_basedir allows, whatever links lead to it. *fd is the caller's as
 * soon as it is not -1, also on failure: PHP may unwind in here. MQ_MESSAGE with `field` for a URL,
 * a device, a pipe, a directory; for what does not exist or may not be read; over the size. */
enum mq_status mq_php_local_file_open(struct mq_str path, const char *field, int *fd, size_t *size,
                                      struct mq_error *err);

#endif
