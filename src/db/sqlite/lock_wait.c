/* Waiting for locks: short jittered steps instead of SQLite's own, which soon sleep 100 ms at a
 * time and so miss the gaps between the short transactions that a queue has. */
#include <fcntl.h>
#include <time.h>

#include "db/sqlite/internal.h"

enum {
    STEP_MIN_US = 50,
    STEP_MAX_US = 1000,
    /* A short transaction's lock is free for less time than a long step takes, and a process that
     * sleeps longer than the others never gets it: no long steps for about the first 10 ms. */
    SOON_US = 300,
    SOON_TRIES = 64,
};

/* Where SQLite's Unix locks of readers lie: in the database's lock-byte page
 * (sqlite.org/fileformat2.html, section 1.3). Who has the file in WAL mode open has one. */
enum { LOCK_SHARED = 0x40000002, LOCK_SHARED_SIZE = 510 };

int64_t mq_sqlite_monotonic_us(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000000 + now.tv_nsec / 1000;
}

static int wait_a_step(void *context, int tries)
{
    struct mq_busy_wait *busy = context;
    int64_t now = mq_sqlite_monotonic_us();
    int64_t ceiling = tries < SOON_TRIES ? SOON_US : STEP_MAX_US;
    int64_t step;
    uint32_t random;
    struct timespec pause;
    if (tries == 0) {
        busy->started_us = now;
    }
    busy->waited_us = now - busy->started_us;
    if (busy->waited_us >= busy->limit_us) {
        return 0;
    }
    sqlite3_randomness(sizeof(random), &random);
    step = STEP_MIN_US + random % (ceiling - STEP_MIN_US + 1);
    if (step > busy->limit_us - busy->waited_us) {
        step = busy->limit_us - busy->waited_us;
    }
    pause = (struct timespec){.tv_sec = 0, .tv_nsec = step * 1000};
    nanosleep(&pause, NULL); /* a signal shortens it: then it is simply the next try */
    return 1;
}

void mq_sqlite_busy_install(struct mq_sqlite *self)
{
    sqlite3_busy_handler(self->handle, wait_a_step, &self->busy);
}

enum lock { FREE /* or this process's, which are not reported */, TAKEN, UNKNOWN };

/* Whether another process has a lock on the database that `fd` is, in conflict with `type`. */
static enum lock ask_lock(int fd, short type)
{
    struct flock lock = {
        .l_type = type, .l_whence = SEEK_SET, .l_start = LOCK_SHARED, .l_len = LOCK_SHARED_SIZE};

    if (fd < 0 || fcntl(fd, F_GETLK, &lock) != 0) {
        return UNKNOWN;
    }
    return lock.l_type == F_UNLCK ? FREE : TAKEN;
}

bool mq_sqlite_shut_out(int fd)
{
    return ask_lock(fd, F_RDLCK) == TAKEN;
}

bool mq_sqlite_alone(int fd)
{
    return ask_lock(fd, F_WRLCK) == FREE;
}

enum mq_status mq_sqlite_busy_error(struct mq_sqlite *self, struct mq_error *err)
{
    return mq_error_set(err, MQ_BUSY, "database",
                        "another connection holds %s on %s; waited %lld ms: keep its transactions "
                        "short, or raise the busy timeout; if it is the application's own "
                        "connection in this process, call this after its commit",
                        self->begun ? "a lock" : "the write lock",
                        self->path ? self->path : self->name,
                        (long long)(self->busy.waited_us / 1000));
}
