/* Run directories of databases that are no file. */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/buffer.h"
#include "worker/files.h"
#include "worker/lock.h"

/* Whether the directory is there and can be used, or can be made. */
static bool is_possible(const char *path)
{
    char *copy = mq_str_dup(mq_str_of(path));
    bool possible = false;
    while (copy) {
        char *slash = strrchr(copy, '/');
        if (access(copy, F_OK) == 0) {
            possible = access(copy, W_OK | X_OK) == 0;
            break;
        }
        if (errno != ENOENT || !slash || slash == copy) {
            break;
        }
        *slash = '\0';
    }
    free(copy);
    return possible;
}

/* The directory below that of an environment variable; NULL where it cannot be used. */
static char *below(const char *variable, const char *name, bool exists)
{
    const char *directory = getenv(variable);
    if (!directory || directory[0] != '/' || (exists && access(directory, X_OK) != 0)) {
        return NULL;
    }
    char *path = mq_file_path(directory, name);
    if (path && !is_possible(path)) {
        free(path);
        path = NULL;
    }
    return path;
}

char *mq_run_base_path(const char *temporary)
{
    char *path = below("XDG_STATE_HOME", "mailqueue", false);
    if (!path) {
        path = below("HOME", ".local/state/mailqueue", true);
    }
    if (path) {
        return path;
    }
    struct mq_buffer out;
    mq_buffer_init(&out);
    mq_buffer_printf(&out, "%s/mailqueue-%ld", temporary, (long)geteuid());
    path = mq_buffer_take(&out);
    mq_buffer_clear(&out);
    return path;
}

char *mq_run_dir_of(const char *base, const char *identity)
{
    struct mq_buffer out;
    mq_buffer_init(&out);
    mq_buffer_printf(&out, "%s/queue-%016" PRIx64, base, mq_run_hash(identity));
    char *path = mq_buffer_take(&out);
    mq_buffer_clear(&out);
    return path;
}

static const char cure[] =
    "set HOME to a directory that the worker may write in, or the ini setting "
    "mailqueue.run_dir";

/* mkdir -p, without the last one. */
static enum mq_status make_parents(const char *path, struct mq_error *err)
{
    const struct mq_file_task create = {"create", "the run directory's parent", "run_dir", cure};
    char *copy = mq_str_dup(mq_str_of(path));
    enum mq_status status = copy ? MQ_OK : mq_error_nomem(err);
    for (char *at = copy ? strchr(copy + 1, '/') : NULL; at && status == MQ_OK;
         at = strchr(at + 1, '/')) {
        *at = '\0';
        if (mkdir(copy, 0700) != 0 && errno != EEXIST && access(copy, X_OK) != 0) {
            status = mq_file_error(&create, copy, errno, err);
        }
        *at = '/';
    }
    free(copy);
    return status;
}

enum mq_status mq_run_base_prepare(const char *base, struct mq_error *err)
{
    enum mq_status status = make_parents(base, err);
    return status == MQ_OK ? mq_run_dir_prepare(base, err) : status;
}
