/* Waiting for locks: short jittered steps instead of SQLite's own, which soon sleep 100 ms at a
 * time and so miss the gaps between the short transactions that a queue has. */
#include <fcntl.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "core/process_id.h"
#include "db/sqlite/internal.h"

enum {
    STEP_MIN_US = 50,
    STEP_MAX_US = 1000,
    /* The lock of a short transaction comes free for less time than a long step takes, and whoever
     * sleeps longer than the others never has it: so no longer steps for about the first 10 ms. */
    SOON_US = 300,
    SOON_TRIES = 64,
};

/* Where SQLite's Unix locks lie: in the database's lock-byte page (sqlite.org/fileformat2.html,
 * section 1.3) and in the WAL index (sqlite.org/walformat.html, section 2.3.1). */
enum {
    LOCK_PAGE = 0x40000000,
    LOCK_PAGE_SIZE = 512,
    LOCK_RESERVED = LOCK_PAGE + 1,
    LOCK_SHARED = LOCK_PAGE + 2,
    LOCK_SHARED_SIZE = 510,
    LOCK_WAL_WRITE = 120
};

int64_t mq_sqlite_monotonic_us(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000000 + now.tv_nsec / 1000;
}

static uint32_t next_random(uint32_t *seed)
{
    *seed = *seed * 1664525u + 1013904223u;
    return *seed >> 8;
}

static int wait_a_step(void *context, int tries)
{
    struct mq_busy_wait *busy = context;
    int64_t now = mq_sqlite_monotonic_us();
    int64_t ceiling = tries < SOON_TRIES ? SOON_US : STEP_MAX_US;
    int64_t step;
    struct timespec pause;

    if (tries == 0)
        busy->started_us = now;
    busy->waited_us = now - busy->started_us;
    if (busy->waited_us >= busy->limit_us)
        return 0;
    step = STEP_MIN_US + next_random(&busy->seed) % (ceiling - STEP_MIN_US + 1);
    if (step > busy->limit_us - busy->waited_us)
        step = busy->limit_us - busy->waited_us;
    pause = (struct timespec){.tv_sec = 0, .tv_nsec = step * 1000};
    nanosleep(&pause, NULL); /* a signal shortens it: then it is simply the next try */
    return 1;
}

void mq_sqlite_busy_install(struct mq_sqlite *self)
{
    self->busy.seed = (uint32_t)mq_sqlite_monotonic_us() ^ ((uint32_t)mq_process_id() << 12);
    sqlite3_busy_handler(self->handle, wait_a_step, &self->busy);
}

/* The process that has a lock in conflict with `type` on those bytes, or one of these. */
enum {
    NOBODY = 0,   /* or this process, whose own locks are not reported */
    UNNAMED = -1, /* somebody, of another process namespace or machine */
    UNKNOWN = -2, /* could not be asked */
};

static long lock_owner(int fd, short type, off_t start, off_t len)
{
    struct flock lock = {.l_type = type, .l_whence = SEEK_SET, .l_start = start, .l_len = len};

    if (fd < 0 || fcntl(fd, F_GETLK, &lock) != 0)
        return UNKNOWN;
    if (lock.l_type == F_UNLCK)
        return NOBODY;
    return lock.l_pid > 0 ? (long)lock.l_pid : UNNAMED;
}

static long writer_in_wal(struct mq_sqlite *self)
{
    struct mq_file_id shm;
    struct stat info;

    if (stat(self->shm_path, &info) != 0)
        return UNKNOWN;
    shm = (struct mq_file_id){info.st_dev, info.st_ino};
    return lock_owner(mq_file_find_fd(&shm), F_WRLCK, LOCK_WAL_WRITE, 1);
}

static long writer_in_file(struct mq_sqlite *self)
{
    int fd = mq_file_find_fd(&self->file);
    long pid = lock_owner(fd, F_WRLCK, LOCK_RESERVED, 1);

    if (pid == NOBODY)
        pid = lock_owner(fd, F_RDLCK, LOCK_PAGE, LOCK_PAGE_SIZE);
    if (pid == NOBODY && self->begun) /* a commit that waits for readers to leave */
        pid = lock_owner(fd, F_WRLCK, LOCK_SHARED, LOCK_SHARED_SIZE);
    return pid;
}

static long writer(struct mq_sqlite *self)
{
    long pid;

    if (self->memory || !self->identified)
        return UNKNOWN;
    pid = strcmp(self->journal, "wal") == 0 ? writer_in_wal(self) : writer_in_file(self);
    /* Without another connection in this process, the holder has just released the lock. */
    if (pid == NOBODY && mq_file_count_fds(&self->file) < 2)
        return UNKNOWN;
    return pid;
}

bool mq_sqlite_shut_out(int fd)
{
    long pid = lock_owner(fd, F_RDLCK, LOCK_SHARED, LOCK_SHARED_SIZE);

    return pid != NOBODY && pid != UNKNOWN;
}

bool mq_sqlite_alone(int fd)
{
    return lock_owner(fd, F_WRLCK, LOCK_SHARED, LOCK_SHARED_SIZE) == NOBODY;
}

enum mq_status mq_sqlite_busy_error(struct mq_sqlite *self, struct mq_error *err)
{
    const char *path = self->path ? self->path : self->name;
    const char *what = self->begun ? "a lock" : "the write lock";
    long long waited_ms = (long long)(self->busy.waited_us / 1000);
    long pid = writer(self);

    if (pid > 0)
        return mq_error_set(err, MQ_BUSY, "database",
                            "another connection (process %ld) holds %s on %s; waited %lld ms: "
                            "keep its transactions short, or raise the busy timeout",
                            pid, what, path, waited_ms);
    if (pid == NOBODY)
        return mq_error_set(err, MQ_BUSY, "database",
                            "another connection of this same process holds %s on %s; waited %lld "
                            "ms: end that transaction first, and call this after its commit (the "
                            "queue has a connection of its own, which cannot join it)",
                            what, path, waited_ms);
    return mq_error_set(err, MQ_BUSY, "database",
                        "another connection holds %s on %s; waited %lld ms: keep its transactions "
                        "short; if it is the application's own connection in this process, call "
                        "this after its commit",
                        what, path, waited_ms);
}
