/* Checks whether the open file is still the one that has its name.
 *
 * If an application renames, restores or deletes the database while we have it open, we would write
 * to a file that nobody sees. And if code of our process reads the file without SQLite (copy(),
 * file_get_contents()), it closes a descriptor of the file, and POSIX drops all locks that the
 * process has on it. Then other processes do not know that we are connected. The next one that
 * closes believes that it is the last: it copies the WAL into the database and deletes the WAL.
 * What we write to the deleted WAL is lost, although every call reports success. So device and
 * inode of both files are compared before each transaction and after each commit. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/process_id.h"
#include "db/sqlite/file_guard.h"
#include "db/sqlite/sqlite.h"

bool mq_sqlite_forked(struct mq_db *db)
{
    return mq_sqlite_of(db)->owner != mq_process_id();
}

enum mq_status mq_sqlite_usable(struct mq_sqlite *self, struct mq_error *err)
{
    if (mq_sqlite_forked(&self->base)) {
        return mq_error_set(err, MQ_DATABASE, "database",
                            "the connection to %s belongs to the parent process: open another one "
                            "after the fork",
                            self->name);
    }
    if (!self->handle || self->replaced) {
        return mq_sqlite_gone(self, false, err);
    }
    return MQ_OK;
}

static bool unchanged(const char *path, const struct mq_file_id *id)
{
    struct mq_file_id now;
    return mq_file_id_of(path, &now) && mq_file_id_same(&now, id);
}

static bool intact(struct mq_sqlite *self)
{
    return self->memory || (unchanged(self->name, &self->file) &&
                            (!self->wal_known || unchanged(self->wal_path, &self->wal)));
}

bool mq_sqlite_journal_open(struct mq_sqlite *self)
{
    sqlite3_file *file = NULL;
    int code = sqlite3_file_control(self->handle, "main", SQLITE_FCNTL_JOURNAL_POINTER, &file);
    return code == SQLITE_OK && file && file->pMethods;
}

/* Notes the identity of the WAL that SQLite has open. Returns false if that WAL is gone. */
static bool take_wal(struct mq_sqlite *self)
{
    enum { FILE_ITSELF, WAL, SHM, COUNT };
    struct mq_file_id ids[COUNT] = {self->file};
    int fds[COUNT];

    if (!mq_file_id_of(self->wal_path, &ids[WAL]) || !mq_file_id_of(self->shm_path, &ids[SHM])) {
        return false;
    }
    /* A file that this process does not have open is not the one that SQLite uses. SQLite can use a
     * deleted one: all connections of a process share the WAL's index, so a connection whose locks
     * were dropped passes a deleted index on to connections that are opened later. */
    mq_file_find_fds(ids, fds, COUNT);
    if (fds[WAL] < 0 || fds[SHM] < 0) {
        return false;
    }
    self->file_fd = fds[FILE_ITSELF];
    self->wal = ids[WAL];
    self->wal_known = true;
    return true;
}

static bool identify(struct mq_sqlite *self)
{
    int moved = 0;
    /* HAS_MOVED compares SQLite's descriptor with the canonical name only. So the name as it was
     * given, with its links, is compared with the canonical name first. */
    if (!mq_file_id_of(self->name, &self->file) ||
        (strcmp(self->name, self->path) != 0 && !unchanged(self->path, &self->file)) ||
        sqlite3_file_control(self->handle, "main", SQLITE_FCNTL_HAS_MOVED, &moved) != SQLITE_OK ||
        moved) {
        return false;
    }
    self->identified = true;
    /* A connection that only reads never calls note_journal(), but must know its WAL to close. */
    if (strcmp(self->journal, "wal") == 0) {
        take_wal(self);
    }
    return true;
}

enum mq_status mq_sqlite_guard(struct mq_sqlite *self, struct mq_error *err)
{
    bool known = self->identified || self->memory;
    return (known ? intact(self) : identify(self)) ? MQ_OK : mq_sqlite_gone(self, false, err);
}

/* Uses TRUNCATE instead of DELETE. With synchronous=FULL, DELETE does not sync the directory, so a
 * power failure may bring a deleted journal back, which undoes the commit. The mode is that of the
 * connection only; the file keeps its own. */
static enum mq_status prefer_truncate(struct mq_sqlite *self, struct mq_error *err)
{
    if (strcmp(self->journal, "delete") != 0 || strcmp(self->wanted_journal, "delete") == 0) {
        return MQ_OK;
    }
    return mq_sqlite_pragma_text(self, "PRAGMA journal_mode = TRUNCATE", self->journal, err);
}

enum mq_status mq_sqlite_note_journal(struct mq_sqlite *self, struct mq_error *err)
{
    if (self->memory || self->wal_known) {
        return MQ_OK;
    }
    /* Asks SQLite, because nothing else is certain. A power failure may leave an empty -wal file,
     * which SQLite ignores. And a journal that is open before the first write can be a WAL (another
     * process has changed the mode) or the rollback journal of a process that was killed. */
    if (strcmp(self->journal, "delete") == 0 || mq_sqlite_journal_open(self)) {
        MQ_TRY(mq_sqlite_ask_journal(self, self->journal, err));
    }
    MQ_TRY(prefer_truncate(self, err));
    bool known = strcmp(self->journal, "wal") != 0 || take_wal(self);
    return known ? MQ_OK : mq_sqlite_gone(self, false, err);
}

enum mq_status mq_sqlite_guard_commit(struct mq_sqlite *self, struct mq_error *err)
{
    /* A process that believes that it is the last to close copies the WAL into the database, then
     * deletes the WAL. What we commit in between is lost, although the WAL is still there. All that
     * time the process holds the exclusive lock, which it cannot get while our lock is in force. To
     * check the lock first and the WAL afterwards leaves no gap. */
    if (self->wal_known) {
        struct mq_file_id id;

        if (!mq_file_id_of_fd(self->file_fd, &id) || !mq_file_id_same(&id, &self->file)) {
            self->file_fd = mq_file_find_fd(&self->file);
        }
        if (mq_sqlite_shut_out(self->file_fd)) {
            return mq_sqlite_gone(self, true, err);
        }
    }
    return intact(self) ? MQ_OK : mq_sqlite_gone(self, true, err);
}

int64_t mq_sqlite_wal_bytes(struct mq_db *db)
{
    struct mq_sqlite *self = mq_sqlite_of(db);
    struct stat info;
    if (self->memory || !self->wal_path || stat(self->wal_path, &info) != 0) {
        return 0;
    }
    return (int64_t)info.st_size;
}
