/* Opens files that a message names: only once, within open_basedir, and never an open database. */
#include "php/local_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/buffer.h"
#include "core/file_id.h"
#include "php/paths.h"
#include "php_mailqueue.h"

/* Errors show at most this many octets of a path. */
#define SHOWN 200
#define IRREGULAR \
    "only regular files can be attached, not a directory, a device, a pipe or a socket"
#define FORBIDDEN "open_basedir does not allow this file; add its directory, or attach another file"

static enum mq_status bad(const char *field, const char *path, const char *what,
                          struct mq_error *err)
{
    return mq_error_set(err, MQ_MESSAGE, field, "%s: %.*s: %s", field, SHOWN, path, what);
}

/* Reports errno. */
static enum mq_status bad_errno(const char *field, const char *path, struct mq_error *err)
{
    const char *cure = errno == EACCES   ? "; let the user that PHP runs as read it"
                       : errno == ENOENT ? "; give the path of a local file that exists, or "
                                           "['stream' => fopen(…)], or a content as ['data' => …]"
                                         : "";
    return mq_error_set(err, MQ_MESSAGE, field, "%s: %.*s: %s%s", field, SHOWN, path,
                        strerror(errno), cure);
}

/* Writes the absolute path without symbolic links into `resolved` (MAXPATHLEN octets). If
 * open_basedir forbids the path, the error does not tell whether the file exists. */
static enum mq_status resolve(struct mq_str path, const char *field, char *resolved,
                              struct mq_error *err)
{
    if (!mq_php_is_allowed(path.data)) {
        return bad(field, path.data, FORBIDDEN, err);
    }
    if (VCWD_REALPATH(path.data, resolved) == NULL) {
        return bad_errno(field, path.data, err);
    }
    return mq_php_is_allowed(resolved) ? MQ_OK : bad(field, path.data, FORBIDDEN, err);
}

/* Opens an absolute path without following symbolic links, not even in its directories: someone may
 * have put a link there after the check of open_basedir. Returns -1 with errno. Changes `path`. */
static int open_without_links(char *path, int flags)
{
    int directory = open("/", O_PATH | O_DIRECTORY | O_CLOEXEC);
    char *name = path + 1;
    for (char *end; directory >= 0 && (end = strchr(name, '/')) != NULL; name = end + 1) {
        *end = '\0';
        int next = openat(directory, name, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
        close(directory);
        directory = next;
    }
    int fd = directory >= 0 ? openat(directory, name, flags) : -1;
    if (directory >= 0) {
        close(directory);
    }
    return fd;
}

enum mq_status mq_php_local_file_open(struct mq_str path, const char *field, int *fd, size_t *size,
                                      struct mq_error *err)
{
    char resolved[MAXPATHLEN];
    struct stat info;
    if (path.len == 0 || memchr(path.data, '\0', path.len)) {
        return mq_error_set(err, MQ_MESSAGE, field, "%s: the path %s", field,
                            path.len == 0 ? "is empty"
                                          : "has a NUL; give a content as ['data' => …]");
    }
    MQ_TRY(resolve(path, field, resolved, err));
    /* Check the type now, because opening a device can have effects, and again after open(),
     * because only then it cannot change. */
    if (stat(resolved, &info) == 0 && !S_ISREG(info.st_mode)) {
        return bad(field, path.data, IRREGULAR, err);
    }
    if (mq_file_is_open_database(resolved)) {
        return bad(field, path.data,
                   "a database that this process has open, whose locks reading it would drop; "
                   "make a copy with VACUUM INTO and give that",
                   err);
    }
    const int flags = O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY;
    *fd = mq_php_is_allowed("/") ? open(resolved, flags) : open_without_links(resolved, flags);
    if (*fd < 0 || fstat(*fd, &info) != 0) {
        return bad_errno(field, path.data, err);
    }
    if (!S_ISREG(info.st_mode)) {
        return bad(field, path.data, IRREGULAR, err);
    }
    zend_long limit = MAILQUEUE_G(max_message_size);
    if (limit && info.st_size > limit) {
        return mq_error_set(err, MQ_MESSAGE, field,
                            "%s: %.*s: it has %lld bytes, at most %lld are allowed for a "
                            "message (mailqueue.max_message_size)",
                            field, SHOWN, path.data, (long long)info.st_size, (long long)limit);
    }
    *size = (size_t)info.st_size;
    return MQ_OK;
}
