#include "worker/lock.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "core/hash.h"
#include "core/own_file.h"
#include "core/process_id.h"
#include "queue/queue.h"
#include "worker/files.h"

/* A process that counts the held locks shares each of them for a moment, or for longer if the
 * system suspends it then. A worker that starts meanwhile must not take that for another run. */
#define LOOK_PAUSE_MS 2
#define LOOK_MAX_MS   10000

enum mq_status mq_file_error(const struct mq_file_task *task, const char *path, int sys_errno,
                             struct mq_error *err)
{
    enum mq_status status = MQ_CANTOPEN;
    if (sys_errno == EACCES || sys_errno == EPERM || sys_errno == EROFS) {
        status = MQ_READONLY;
    } else if (sys_errno == ENOSPC || sys_errno == EDQUOT || sys_errno == EFBIG) {
        status = MQ_FULL;
    } else if (sys_errno == EIO) {
        status = MQ_IO;
    } else if (sys_errno == ENOMEM) {
        status = MQ_NOMEM;
    }
    return mq_error_set(err, status, task->field, "cannot %s %s %s: %s; %s", task->verb, task->kind,
                        path, strerror(sys_errno), task->cure);
}

char *mq_file_path(const char *directory, const char *name)
{
    struct mq_buffer path;
    mq_buffer_init(&path);
    mq_buffer_cstr(&path, directory);
    mq_buffer_char(&path, '/');
    mq_buffer_cstr(&path, name);
    char *result = mq_buffer_take(&path);
    mq_buffer_clear(&path);
    return result;
}

uint64_t mq_run_hash(const char *text)
{
    return mq_hash(MQ_HASH_BEGIN, mq_str_of(text));
}

char *mq_run_dir_path(const char *configured, const char *database_path)
{
    struct mq_buffer path;
    const char *slash = strrchr(database_path, '/');

    mq_buffer_init(&path);
    if (configured && *configured) {
        mq_buffer_printf(&path, "%s/%s-%016" PRIx64, configured, slash ? slash + 1 : database_path,
                         mq_run_hash(database_path));
    } else {
        mq_buffer_printf(&path, "%s.run", database_path);
    }
    char *result = mq_buffer_take(&path);
    mq_buffer_clear(&path);
    return result;
}

enum mq_status mq_run_dir_prepare(const char *path, struct mq_error *err)
{
    static const struct mq_file_task create = {
        "create", "the run directory", "run_dir",
        "its parent must exist and be writable for the worker (ini setting mailqueue.run_dir)"};
    static const struct mq_file_task use = {"use", "the run directory", "run_dir",
                                            "the worker's user needs all rights on it"};
    struct stat st;

    if (mkdir(path, 0700) != 0 && errno != EEXIST) {
        return mq_file_error(&create, path, errno, err);
    }
    if (lstat(path, &st) != 0) {
        return mq_file_error(&use, path, errno, err);
    }
    if (S_ISLNK(st.st_mode)) {
        return mq_error_set(err, MQ_CONFIG, "run_dir",
                            "the run directory %s is a symbolic link; give the directory itself",
                            path);
    }
    if (!S_ISDIR(st.st_mode)) {
        return mq_error_set(err, MQ_CONFIG, "run_dir",
                            "the run directory %s is no directory; move what is there away", path);
    }
    if (st.st_mode & (S_IWGRP | S_IWOTH)) {
        return mq_error_set(err, MQ_CONFIG, "run_dir",
                            "others may write in the run directory %s; chmod it to 0700", path);
    }
    if (st.st_uid != geteuid()) { /* who could put any records there */
        return mq_error_set(err, MQ_CONFIG, "run_dir",
                            "the run directory %s belongs to user %ld: start the worker as that "
                            "user, or name another place (ini setting mailqueue.run_dir)",
                            path, (long)st.st_uid);
    }
    return access(path, R_OK | W_OK | X_OK) == 0 ? MQ_OK : mq_file_error(&use, path, errno, err);
}

/* Whether the lock is held by others who only look. */
static bool is_looked_at(int file)
{
    return flock(file, LOCK_SH | LOCK_NB) == 0 && flock(file, LOCK_UN) == 0;
}

/* *fd stays -1 when another holds the lock. */
static enum mq_status try_lock(const char *path, int *fd, struct mq_error *err)
{
    static const struct mq_file_task task = {"open", "the worker's lock file", "run_dir",
                                             "the worker's user must be able to write it"};
    int file = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK, 0600);
    char why[MQ_OWN_FILE_WHY];
    if (file < 0) {
        return mq_file_error(&task, path, errno, err);
    }
    if (!mq_own_file(file, why)) {
        close(file);
        return mq_error_set(err, MQ_CONFIG, "run_dir",
                            "the worker's lock file %s %s: remove it when no worker runs", path,
                            why);
    }
    for (int ms = 0; ms < LOOK_MAX_MS; ms += LOOK_PAUSE_MS) {
        struct timespec pause = {0, LOOK_PAUSE_MS * 1000000L};
        if (flock(file, LOCK_EX | LOCK_NB) == 0) {
            *fd = file;
            return MQ_OK;
        }
        if (errno != EWOULDBLOCK && errno != EINTR) {
            int reason = errno;
            close(file);
            return mq_file_error(&task, path, reason, err);
        }
        if (!is_looked_at(file)) {
            break;
        }
        nanosleep(&pause, NULL);
    }
    close(file);
    return MQ_OK;
}

static char *lock_path(const char *run_dir, int slot)
{
    char name[32];
    snprintf(name, sizeof(name), "worker-%d.lock", slot);
    return mq_file_path(run_dir, name);
}

enum mq_status mq_worker_lock(const char *run_dir, int max_workers, int *fd, struct mq_error *err)
{
    int taken = -1;
    for (int i = 0; i < max_workers && taken < 0; i++) {
        char *path = lock_path(run_dir, i);
        if (!path) {
            return mq_error_nomem(err);
        }
        enum mq_status status = try_lock(path, &taken, err);
        free(path);
        if (status != MQ_OK) {
            return status;
        }
    }
    *fd = taken;
    return MQ_OK;
}

int mq_worker_lock_held(const char *run_dir, int max_workers)
{
    int held = 0;
    for (int i = 0; i < max_workers; i++) {
        char *path = lock_path(run_dir, i);
        int fd = path ? open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK) : -1;
        free(path);
        if (fd < 0) {
            continue;
        }
        if (flock(fd, LOCK_SH | LOCK_NB) != 0 && errno == EWOULDBLOCK) {
            held++;
        }
        close(fd);
    }
    return held;
}

/* ---- slots ---- */

void mq_slot_init(struct mq_slot *slot, struct mq_queue *queue, const char *run_dir,
                  int max_workers)
{
    *slot = (struct mq_slot){queue, run_dir, max_workers, -1, -1, mq_process_id()};
}

enum mq_status mq_slot_take(struct mq_slot *slot, struct mq_error *err)
{
    if (slot->fd >= 0) {
        return MQ_OK;
    }
    if (mq_queue_is_shared(slot->queue)) {
        return mq_queue_take_slot(slot->queue, slot->max_workers, &slot->number, err);
    }
    return mq_worker_lock(slot->run_dir, slot->max_workers, &slot->fd, err);
}

enum mq_status mq_slot_take_again(struct mq_slot *slot, struct mq_error *err)
{
    slot->number = -1;
    return mq_slot_take(slot, err);
}

void mq_slot_leave(struct mq_slot *slot, bool usable)
{
    if (slot->fd >= 0) {
        /* Closing alone leaves the lock to a child that was forked in a callback, or by another
         * thread and has not called exec() yet. */
        if (slot->owner == mq_process_id()) {
            flock(slot->fd, LOCK_UN);
        }
        close(slot->fd);
    }
    if (slot->number >= 0 && usable) {
        mq_queue_free_slot(slot->queue, slot->number);
    }
    slot->fd = slot->number = -1;
}

enum mq_status mq_slots_held(struct mq_queue *queue, const char *run_dir, int max_workers,
                             int *held, struct mq_error *err)
{
    if (mq_queue_is_shared(queue)) {
        return mq_queue_slots_held(queue, max_workers, held, err);
    }
    *held = run_dir ? mq_worker_lock_held(run_dir, max_workers) : 0;
    return MQ_OK;
}
