/* Syncing what was committed to a WAL without holding the write lock.
 *
 * With synchronous=FULL SQLite syncs the WAL before a commit lets the write lock go, so that the
 * requests that store mails wait for each other's syncs, one after the other. With NORMAL it leaves
 * that sync out and keeps all others, those of a new header and of checkpoints: a power failure may
 * then take the last commits with it, but the database stays whole, since a frame counts only
 * with all that are before it. So a connection that is to be durable runs with NORMAL and syncs
 * the WAL itself once the lock is free. Several processes then sync at the same time, and all that
 * was promised is the same: what commit() reports is on the disk.
 *
 * Others see what was committed before it is on the disk. What they decide by it must not be
 * promised earlier than it: a duplicate that is not stored, since the mail is there already. So a
 * transaction that writes nothing ends with a sync, too, unless nobody wrote since our last. Over a
 * PDO the same holds because an INSERT into a table with AUTOINCREMENT writes in any case.
 *
 * A commit whose sync fails has been seen, and others write behind it. Linux then takes the pages
 * for clean: the next sync would succeed, with a gap in the WAL that makes all behind it worthless.
 * So the WAL is written once more (sqlite_rewrite.c). Only when that fails as well does the commit
 * end with MQ_IO. Linux reports such an error once to everyone who had the WAL open, and each does
 * the same; who opens it later, before it is mended, knows of nothing.
 *
 * A worker leaves its syncs to SQLite: a batch needs but one, and a claim or a settling that could
 * not be synced has not happened. It answers nobody, so it need not sync what others wrote. */
#include <errno.h>
#include <string.h>

#include "db/sqlite_private.h"

/* A torn write of a frame must leave what is before it in the same sector alone; SQLite pads each
 * commit to a whole sector where a device does not promise that, but not with NORMAL. */
static bool powersafe(struct mq_sqlite *self)
{
    sqlite3_file *file = NULL;

    return sqlite3_file_control(self->handle, "main", SQLITE_FCNTL_FILE_POINTER, &file) ==
               SQLITE_OK &&
           file && file->pMethods &&
           (file->pMethods->xDeviceCharacteristics(file) & SQLITE_IOCAP_POWERSAFE_OVERWRITE);
}

/* Changes with every commit, of whichever connection, as far as this one has seen it. */
static int64_t data_version(struct mq_sqlite *self)
{
    unsigned version = 0;
    int code = sqlite3_file_control(self->handle, "main", SQLITE_FCNTL_DATA_VERSION, &version);

    return code == SQLITE_OK ? (int64_t)version : -1;
}

sqlite3_file *mq_sqlite_journal_file(struct mq_sqlite *self)
{
    sqlite3_file *file = NULL;
    int code = sqlite3_file_control(self->handle, "main", SQLITE_FCNTL_JOURNAL_POINTER, &file);

    return code == SQLITE_OK && file && file->pMethods ? file : NULL;
}

/* How long the write lock is waited for to write the WAL again: the commit has waited already. */
enum { AGAIN_WAIT_US = 200000 };

bool mq_sqlite_sync_start(struct mq_sqlite *self, bool wal)
{
    self->sync_late = wal && !self->worker && !self->synchronous_normal && powersafe(self);
    self->unsynced = false; /* `gap` stays: the WAL may be the same */
    self->synced_version = -1;
    return self->synchronous_normal || self->sync_late;
}

bool mq_sqlite_sync_due(struct mq_sqlite *self)
{
    return self->sync_late &&
           (self->synced_version < 0 || data_version(self) != self->synced_version);
}

void mq_sqlite_sync_failed(struct mq_sqlite *self, int system_error)
{
    if (self->synchronous_normal || strcmp(self->journal, "wal") != 0)
        return;
    self->gap = true;
    self->gap_error = system_error;
}

static bool write_again(struct mq_sqlite *self, sqlite3_file *wal)
{
    int64_t limit_us = self->busy.limit_us;
    int code;

    if (self->busy.limit_us > AGAIN_WAIT_US)
        self->busy.limit_us = AGAIN_WAIT_US;
    code = sqlite3_exec(self->handle, "BEGIN IMMEDIATE", NULL, NULL, NULL);
    self->busy.limit_us = limit_us;
    if (code != SQLITE_OK)
        return false;
    self->gap = !mq_sqlite_rewrite_wal(self, wal);
    sqlite3_exec(self->handle, "ROLLBACK", NULL, NULL, NULL);
    return !self->gap;
}

static bool sync_wal(struct mq_sqlite *self)
{
    sqlite3_file *wal = mq_sqlite_journal_file(self);

    if (!wal)
        return false;
    errno = 0;
    if (!self->gap && wal->pMethods->xSync(wal, SQLITE_SYNC_NORMAL) == SQLITE_OK)
        return true;
    if (!self->gap)
        mq_sqlite_sync_failed(self, errno);
    return write_again(self, wal);
}

enum mq_status mq_sqlite_sync(struct mq_sqlite *self, bool due, struct mq_error *err)
{
    int64_t version;

    if (!self->sync_late && !self->gap)
        return MQ_OK;
    version = data_version(self);
    if ((due || self->unsynced || self->gap) && !sync_wal(self))
        return mq_error_set(err, MQ_IO, "database",
                            "%s was written, but its -wal file could not be synced (%s), nor "
                            "written again: what was stored is there, but may not survive a power "
                            "failure: check disk and file system",
                            self->path,
                            self->gap_error ? strerror(self->gap_error) : "no system error");
    self->unsynced = false;
    self->synced_version = version;
    return MQ_OK;
}
