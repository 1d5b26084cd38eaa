/* Recovers from a failed sync of the WAL.
 *
 * SQLite undoes the commit whose sync failed, and the next commits overwrite its frames. Their sync
 * can succeed although the disk still lacks the data: ext4 leaves the blocks of a failed write
 * unwritten, whatever is written over them later, until the file is truncated. So a checkpoint
 * truncates the WAL. No committed frame is missing: with FULL, each was synced before the failure.
 *
 * But a failed checkpoint does the same to the database, and that is worse: the next checkpoint of
 * any process reports success, and the next power failure destroys the file. (SQLite's own
 * checkpoint has this effect too, if a process closes the file while its disk fails.) So the disk
 * is tested first, with a scratch file.
 *
 * A process that opens the WAL later is not told of the error. It reads the system's cache,
 * and would store after frames that the disk lacks. An empty file beside the database warns it. */
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "db/sqlite/file_guard.h"

enum { WAIT_US = 200000, CHUNK = 64 << 10 };

static bool write_and_sync(int fd, int64_t bytes)
{
    static const char chunk[CHUNK] = {1};
    for (; bytes > 0; bytes -= CHUNK) {
        if (write(fd, chunk, CHUNK) != CHUNK) {
            return false;
        }
    }
    return fsync(fd) == 0;
}

/* Whether the disk can store a scratch file of twice the size that the checkpoint may write. */
static bool disk_takes(struct mq_sqlite *self)
{
    struct mq_buffer name = {0};
    int fd = -1;
    bool taken = false;
    mq_buffer_cstr(&name, self->path);
    mq_buffer_cstr(&name, "-XXXXXX");
    if (!name.failed) {
        fd = mkostemp(name.data, O_CLOEXEC);
    }
    if (fd >= 0) {
        unlink(name.data);
        taken = write_and_sync(fd, 2 * mq_sqlite_wal_bytes(&self->base) + CHUNK);
        close(fd);
    }
    mq_buffer_clear(&name);
    return taken;
}

static bool cut_wal(struct mq_sqlite *self)
{
    int64_t limit_us = self->busy.limit_us;
    int code;
    if (limit_us > WAIT_US) {
        self->busy.limit_us = WAIT_US;
    }
    code = sqlite3_wal_checkpoint_v2(self->handle, "main", SQLITE_CHECKPOINT_TRUNCATE, NULL, NULL);
    self->busy.limit_us = limit_us;
    return code == SQLITE_OK;
}

static void set_mark(struct mq_sqlite *self)
{
    int fd = open(self->mark_path, O_WRONLY | O_CREAT | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK, 0600);
    if (fd >= 0) {
        close(fd);
    }
}

enum mq_status mq_sqlite_after_failed_sync(struct mq_sqlite *self, struct mq_error *err)
{
    if (!self->sync_failed || self->memory) {
        return MQ_OK;
    }
    MQ_TRY(mq_sqlite_guard(self, err));
    /* Other journals need no repair: they are truncated or deleted after each commit. */
    if (strcmp(self->journal, "wal") != 0 || (disk_takes(self) && cut_wal(self))) {
        self->sync_failed = false;
        unlink(self->mark_path);
        return MQ_OK;
    }
    set_mark(self);
    return mq_error_set(err, MQ_IO, "database",
                        "input/output error on %s: a sync of its -wal file failed, and until what "
                        "is in that file could be copied into the database nothing more is "
                        "stored: check disk and file system",
                        self->path);
}
