/* Makes the paths of the worker's files, and creates their directories. No other user may be able
 * to write there. */
#include "worker/files.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/hash.h"

/* ---- paths ---- */

char *mq_file_path(const char *directory, const char *name)
{
    char *path;
    return asprintf(&path, "%s/%s", directory, name) < 0 ? NULL : path;
}

/* The hash in a run directory's name, which makes the names of two databases differ. */
static uint64_t hash_of(const char *name)
{
    return mq_hash(MQ_HASH_BEGIN, mq_str_of(name));
}

char *mq_run_dir_path(const char *configured, const char *database_path)
{
    const char *slash = strrchr(database_path, '/');
    char *path;
    int n = configured && *configured
                ? asprintf(&path, "%s/%s-%016" PRIx64, configured,
                           slash ? slash + 1 : database_path, hash_of(database_path))
                : asprintf(&path, "%s.run", database_path);
    return n < 0 ? NULL : path;
}

/* Whether the directory exists and can be used, or can be created. */
static bool is_possible(const char *path)
{
    char *copy = strdup(path), *slash;
    int found = -1;
    while (copy && (found = access(copy, F_OK)) != 0 && errno == ENOENT &&
           (slash = strrchr(copy, '/')) && slash > copy) {
        *slash = '\0';
    }
    bool possible = found == 0 && access(copy, W_OK | X_OK) == 0;
    free(copy);
    return possible;
}

/* The path of `name` in $variable; NULL if it cannot be used. `exists`: $variable must exist. */
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
    if (!path && asprintf(&path, "%s/mailqueue-%ld", temporary, (long)geteuid()) < 0) {
        path = NULL;
    }
    return path;
}

char *mq_run_dir_of(const char *base, const char *identity)
{
    char *path;
    return asprintf(&path, "%s/queue-%016" PRIx64, base, hash_of(identity)) < 0 ? NULL : path;
}

char *mq_log_default_path(const char *neighbour)
{
    static const char name[] = "mail-queue.log";
    const char *home = getenv("HOME");
    const char *slash = strrchr(neighbour, '/');
    struct stat st;
    char *path = NULL;
    if (home && *home) {
        char *directory = mq_file_path(home, "logs");
        bool exists = directory && stat(directory, &st) == 0 && S_ISDIR(st.st_mode);
        path = exists ? mq_file_path(directory, name) : NULL;
        free(directory);
        if (exists || !directory) {
            return path;
        }
    }
    int before = slash ? (int)(slash + 1 - neighbour) : 0;
    return asprintf(&path, "%.*s%s", before, neighbour, name) < 0 ? NULL : path;
}

/* ---- directories ---- */

/* Checks that the run's files are safe in the directory: no other user can write into it. */
static enum mq_status check_directory(const char *path, const struct stat *st, struct mq_error *err)
{
    const char *fault = NULL;
    if (S_ISLNK(st->st_mode)) {
        fault = "is a symbolic link; give the directory itself";
    } else if (!S_ISDIR(st->st_mode)) {
        fault = "is not a directory; move what is there away";
    } else if (st->st_mode & (S_IWGRP | S_IWOTH)) {
        fault = "may be written by others; chmod it to 0700";
    }
    if (fault) {
        return mq_error_set(err, MQ_CONFIG, "run_dir", "the run directory %s %s", path, fault);
    }
    if (st->st_uid != geteuid()) {
        return mq_error_set(err, MQ_CONFIG, "run_dir",
                            "the run directory %s belongs to user %ld: start the worker as that "
                            "user, or name another place (ini setting mailqueue.run_dir)",
                            path, (long)st->st_uid);
    }
    return MQ_OK;
}

enum mq_status mq_run_dir_prepare(const char *path, struct mq_error *err)
{
    struct stat st;
    if (mkdir(path, 0700) != 0 && errno != EEXIST) {
        return mq_error_set(err, mq_status_of_errno(errno), "run_dir",
                            "cannot create the run directory %s: %s; its parent must exist and be "
                            "writable for the worker (ini setting mailqueue.run_dir)",
                            path, strerror(errno));
    }
    bool exists = lstat(path, &st) == 0;
    if (exists) {
        MQ_TRY(check_directory(path, &st, err));
    }
    if (!exists || access(path, R_OK | W_OK | X_OK) != 0) {
        return mq_error_set(err, mq_status_of_errno(errno), "run_dir",
                            "cannot use the run directory %s: %s; the worker's user needs all "
                            "rights on it",
                            path, strerror(errno));
    }
    return MQ_OK;
}

enum mq_status mq_run_base_prepare(const char *base, struct mq_error *err)
{
    char *copy = strdup(base);
    enum mq_status status = copy ? MQ_OK : mq_error_nomem(err);
    for (char *at = copy; at && status == MQ_OK && (at = strchr(at + 1, '/'));) {
        *at = '\0';
        if (mkdir(copy, 0700) != 0 && errno != EEXIST && access(copy, X_OK) != 0) {
            status = mq_error_set(err, mq_status_of_errno(errno), "run_dir",
                                  "cannot create the run directory's parent %s: %s; set HOME to a "
                                  "directory that the worker may write in, or the ini setting "
                                  "mailqueue.run_dir",
                                  copy, strerror(errno));
        }
        *at = '/';
    }
    free(copy);
    return status == MQ_OK ? mq_run_dir_prepare(base, err) : status;
}
