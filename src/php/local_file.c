/* Files that a message names: opened once, within open_basedir, never one of the databases. */
#include "php/local_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/ascii.h"
#include "core/buffer.h"
#include "core/file_id.h"
#include "php_mailqueue.h"

/* A path is shown up to this many octets. */
#define SHOWN     200
#define FORBIDDEN "open_basedir does not allow this file; add its directory, or attach another file"

static enum mq_status bad(const char *field, const char *path, const char *what,
                          struct mq_error *err)
{
    return mq_error_set(err, MQ_MESSAGE, field, "%s: %.*s: %s", field, SHOWN, path, what);
}

static enum mq_status bad_errno(const char *field, const char *path, int number,
                                struct mq_error *err)
{
    const char *cure = "";
    if (number == ENOENT || number == ENOTDIR || number == ENAMETOOLONG) {
        cure = "; give the path of a file that exists, or a content as ['data' => …]";
    } else if (number == EACCES) {
        cure = "; let the user that PHP runs as read it";
    }
    return mq_error_set(err, MQ_MESSAGE, field, "%s: %.*s: %s%s", field, SHOWN, path,
                        strerror(number), cure);
}

/* PHP opens "phar://…", "http://…", "data:…" and the like as files; nothing here does. */
static bool is_url(struct mq_str path)
{
    size_t n = 0;
    while (n < path.len && (mq_is_alnum(path.data[n]) || memchr("+-.", path.data[n], 3))) {
        n++;
    }
    struct mq_str rest = {path.data + n, path.len - n};
    if (n == 0 || rest.len == 0 || rest.data[0] != ':') {
        return false;
    }
    return (rest.len >= 3 && memcmp(rest.data, "://", 3) == 0) ||
           mq_str_equal_nocase((struct mq_str){path.data, n}, MQ_STR("data"));
}

static enum mq_status check_text(struct mq_str path, const char *field, struct mq_error *err)
{
    if (path.len == 0) {
        return mq_error_set(err, MQ_MESSAGE, field, "%s: the path is empty", field);
    }
    if (memchr(path.data, '\0', path.len)) {
        return mq_error_set(err, MQ_MESSAGE, field,
                            "%s: the path has a NUL; give a content as ['data' => …]", field);
    }
    if (is_url(path)) {
        return bad(field, path.data,
                   "a URL; give the path of a local file, or ['stream' => fopen(…)]", err);
    }
    return MQ_OK;
}

static bool is_allowed(const char *path)
{
    return php_check_open_basedir_ex(path, 0) == 0;
}

/* From where the script is, which is not where the process is in a threaded PHP. */
static bool make_absolute(struct mq_str path, char *absolute)
{
    size_t n = 0;
    if (path.data[0] != '/') {
        if (VCWD_GETCWD(absolute, MAXPATHLEN - 1) == NULL) {
            return false;
        }
        n = strlen(absolute);
        absolute[n++] = '/';
    }
    if (path.len >= MAXPATHLEN - n) {
        errno = ENAMETOOLONG;
        return false;
    }
    memcpy(absolute + n, path.data, path.len + 1);
    return true;
}

/* The absolute path without links, in `resolved` of MAXPATHLEN. What open_basedir forbids is not
 * even said to exist. */
static enum mq_status resolve(struct mq_str path, const char *field, char *resolved,
                              struct mq_error *err)
{
    char absolute[MAXPATHLEN];
    if (!make_absolute(path, absolute)) {
        return bad_errno(field, path.data, errno, err);
    }
    if (!is_allowed(absolute)) {
        return bad(field, path.data, FORBIDDEN, err);
    }
    if (realpath(absolute, resolved) == NULL) {
        return bad_errno(field, path.data, errno, err);
    }
    if (!is_allowed(resolved)) {
        return bad(field, path.data, FORBIDDEN, err);
    }
    return MQ_OK;
}

static const char *kind_of(mode_t mode)
{
    return S_ISDIR(mode)    ? "a directory; give the path of a file"
           : S_ISFIFO(mode) ? "a pipe; only regular files can be attached"
           : S_ISSOCK(mode) ? "a socket; only regular files can be attached"
                            : "a device; only regular files can be attached";
}

/* Where the open file is now: a directory on the way may have become a link to elsewhere between
 * the check and the opening. */
static bool is_descriptor_allowed(int fd, const char *resolved)
{
    char link[64], actual[MAXPATHLEN];
    struct stat at_path, opened;
    if (is_allowed("/")) { /* as everything is */
        return true;
    }
    snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
    ssize_t n = readlink(link, actual, sizeof actual - 1);
    if (n > 0) {
        actual[n] = '\0';
        return is_allowed(actual);
    }
    return realpath(resolved, actual) && strcmp(resolved, actual) == 0 && fstat(fd, &opened) == 0 &&
           lstat(actual, &at_path) == 0 && opened.st_dev == at_path.st_dev &&
           opened.st_ino == at_path.st_ino;
}

static enum mq_status check_size(off_t size, const char *path, const char *field,
                                 struct mq_error *err)
{
    zend_long limit = MAILQUEUE_G(max_message_size);
    if (limit == 0 || size <= limit) {
        return MQ_OK;
    }
    return mq_error_set(err, MQ_MESSAGE, field,
                        "%s: %.*s: it has %lld bytes, allowed for a message are %lld "
                        "(mailqueue.max_message_size)",
                        field, SHOWN, path, (long long)size, (long long)limit);
}

enum mq_status mq_php_local_file_open(struct mq_str path, const char *field, int *fd, size_t *size,
                                      struct mq_error *err)
{
    char resolved[MAXPATHLEN];
    struct stat info;
    enum mq_status status = check_text(path, field, err);
    if (status == MQ_OK) {
        status = resolve(path, field, resolved, err);
    }
    if (status != MQ_OK) {
        return status;
    }
    /* Before opening, because that can have effects on a device; after it, because then it holds.
     */
    if (stat(resolved, &info) == 0 && !S_ISREG(info.st_mode)) {
        return bad(field, path.data, kind_of(info.st_mode), err);
    }
    if (mq_file_is_open_database(resolved)) {
        return bad(field, path.data,
                   "a database that this process has open, whose locks reading it would drop; "
                   "make a copy with VACUUM INTO and give that",
                   err);
    }
    *fd = open(resolved, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY);
    if (*fd < 0 || fstat(*fd, &info) != 0) {
        return bad_errno(field, path.data, errno, err);
    }
    if (!S_ISREG(info.st_mode)) {
        return bad(field, path.data, kind_of(info.st_mode), err);
    }
    if (!is_descriptor_allowed(*fd, resolved)) {
        return bad(field, path.data, FORBIDDEN, err);
    }
    status = check_size(info.st_size, path.data, field, err);
    if (status == MQ_OK) {
        *size = (size_t)info.st_size;
    }
    return status;
}
