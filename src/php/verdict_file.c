/* Reads the verdict file, within open_basedir. */
#include "php/verdict_file.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "php.h"

#include "core/file_id.h"
#include "php_mailqueue.h"

#define CURE                                                                                   \
    "name a text file that this user can read (--verdicts, MAILQUEUE_VERDICTS or ini setting " \
    "mailqueue.verdicts)"

static enum mq_status bad(const char *path, const char *why, struct mq_error *err)
{
    return mq_error_set(err, MQ_CONFIG, "verdicts", "verdicts: %.200s: %s; " CURE, path, why);
}

/* Reads one byte more than is allowed, so that the parser sees that it is too much. */
static enum mq_status read_all(const char *path, int fd, char *text, size_t *len,
                               struct mq_error *err)
{
    ssize_t n = 0;
    do {
        n = read(fd, text + *len, MQ_RULES_BYTES + 1 - *len);
        *len += n > 0 ? (size_t)n : 0;
    } while (n > 0 || (n < 0 && errno == EINTR));
    return n < 0 ? bad(path, strerror(errno), err) : MQ_OK;
}

enum mq_status mq_php_verdicts_read(struct mq_rules **out, struct mq_error *err)
{
    const char *path = MAILQUEUE_G(verdicts);
    struct stat st;
    *out = NULL;
    if (path == NULL || *path == '\0') {
        return MQ_OK;
    }
    if (php_check_open_basedir_ex(path, 0) != 0) {
        return bad(path, "open_basedir does not allow this file", err);
    }
    if (mq_file_is_open_database(path)) {
        return bad(path, "this is a database", err);
    }
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (fd < 0) {
        return bad(path, strerror(errno), err);
    }
    char *text = emalloc(MQ_RULES_BYTES + 1);
    size_t len = 0;
    bool regular = fstat(fd, &st) == 0 && S_ISREG(st.st_mode);
    enum mq_status status = regular ? read_all(path, fd, text, &len, err)
                                    : bad(path, "this is not a regular file", err);
    close(fd);
    if (status == MQ_OK) {
        status = mq_rules_parse((struct mq_str){text, len}, path, out, err);
    }
    efree(text);
    return status;
}
