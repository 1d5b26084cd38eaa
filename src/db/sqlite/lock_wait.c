/* Waits for locks in short jittered steps. SQLite's own busy handler soon sleeps 100 ms at a time,
 * and so misses the gaps between the short transactions that a queue has. */
#include <fcntl.h>
#include <time.h>

#include "db/sqlite/internal.h"

enum {
    STEP_MIN_US = 50,
    STEP_MAX_US = 1000,
    /* Between short transactions the lock is free for less time than a long step takes, so a
     * process that sleeps longer than the others never gets it. The first steps, for about 10 ms
     * together, are short. */
    SOON_US = 300,
    SOON_TRIES = 64,
};

/* The bytes that readers lock on Unix, in the database's lock-byte page
 * (sqlite.org/fileformat2.html, section 1.3). In WAL mode each open connection has such a lock. */
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
    nanosleep(&pause, NULL); /* a signal may shorten the sleep, which does no harm */
    return 1;
}

void mq_sqlite_busy_install(struct mq_sqlite *self)
{
    sqlite3_busy_handler(self->handle, wait_a_step, &self->busy);
}

enum lock { FREE /* F_GETLK ignores this process's own locks */, TAKEN, UNKNOWN };

/* Whether another process has a lock that conflicts with `type`, on the database open as `fd`. */
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
