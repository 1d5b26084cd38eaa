/* Worker slots: locked files beside SQLite, session locks on a server. The kernel or the server
 * frees the slot of a run that dies. */
#include "worker/lock.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <time.h>
#include <unistd.h>

#include "core/file_id.h"
#include "core/process_id.h"
#include "queue/queue.h"
#include "worker/files.h"

/* A process that counts held locks takes each of them shared for a moment, or longer on a busy
 * host. A worker that starts then must not mistake that process for another worker. */
#define LOOK_PAUSE_MS 2
#define LOOK_MAX_MS   10000

/* Whether only processes that count locks hold this one. */
static bool is_looked_at(int file)
{
    return flock(file, LOCK_SH | LOCK_NB) == 0 && flock(file, LOCK_UN) == 0;
}

/* *fd stays -1 if another worker holds the lock. */
static enum mq_status try_lock(const char *path, int *fd, struct mq_error *err)
{
    const struct timespec pause = {0, LOOK_PAUSE_MS * 1000000L};
    int file = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK, 0600);
    int failed = file < 0 ? errno : 0;
    char why[MQ_FILE_WHY];
    if (failed == 0 && !mq_file_is_own(file, why)) {
        close(file);
        return mq_error_set(err, MQ_CONFIG, "run_dir",
                            "the worker's lock file %s %s: remove it when no worker runs", path,
                            why);
    }
    for (int ms = 0; failed == 0 && ms < LOOK_MAX_MS; ms += LOOK_PAUSE_MS) {
        if (flock(file, LOCK_EX | LOCK_NB) == 0) {
            *fd = file;
            return MQ_OK;
        }
        failed = errno == EWOULDBLOCK || errno == EINTR ? 0 : errno;
        if (failed == 0 && !is_looked_at(file)) {
            break;
        }
        nanosleep(&pause, NULL);
    }
    if (file >= 0) {
        close(file);
    }
    return failed == 0 ? MQ_OK
                       : mq_error_set(err, mq_status_of_errno(failed), "run_dir",
                                      "cannot open the worker's lock file %s: %s; the worker's "
                                      "user must be able to write it",
                                      path, strerror(failed));
}

static char *lock_path(const char *run_dir, int slot)
{
    char name[32];
    snprintf(name, sizeof(name), "worker-%d.lock", slot);
    return mq_file_path(run_dir, name);
}

enum mq_status mq_worker_lock(const char *run_dir, int max_workers, int *fd, struct mq_error *err)
{
    *fd = -1;
    for (int i = 0; i < max_workers && *fd < 0; i++) {
        char *path = lock_path(run_dir, i);
        enum mq_status status = path ? try_lock(path, fd, err) : mq_error_nomem(err);
        free(path);
        MQ_TRY(status);
    }
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

/* Lowers slot->max_workers to mailMaxWorkers. */
static enum mq_status apply_ceiling(struct mq_slot *slot, struct mq_error *err)
{
    int most = 0;
    MQ_TRY(mq_queue_max_workers(slot->queue, &most, err));
    slot->max_workers = most < slot->max_workers ? most : slot->max_workers;
    return MQ_OK;
}

enum mq_status mq_slot_take(struct mq_slot *slot, struct mq_error *err)
{
    if (slot->fd >= 0) {
        return MQ_OK;
    }
    slot->number = -1;
    MQ_TRY(apply_ceiling(slot, err));
    return mq_queue_is_shared(slot->queue)
               ? mq_queue_take_slot(slot->queue, slot->max_workers, &slot->number, err)
               : mq_worker_lock(slot->run_dir, slot->max_workers, &slot->fd, err);
}

void mq_slot_leave(struct mq_slot *slot, bool usable)
{
    if (slot->fd >= 0) {
        /* If we only closed the file, the lock would stay with a child that a callback forked, or
         * that another thread forked and that has not called exec() yet. */
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
