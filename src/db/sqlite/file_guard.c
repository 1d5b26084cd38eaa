/* Is the open file still the one under its name?
 *
 * An application may rename, restore or delete the database while we have it open: then we would
 * write to a file that nobody sees. And code of our process that reads the file without SQLite
 * (copy(), file_get_contents()) closes a descriptor of it, whereupon POSIX drops all locks of the
 * process on it. From then on nothing tells other processes that we are connected: the
 * next one that closes believes that it is the last, copies the WAL into the database and deletes
 * it, and what we write to the deleted one is gone, with every call reporting success. So device
 * and inode of both files are compared before each transaction and after each commit. */
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

/* False: the WAL is gone. */
static bool take_wal(struct mq_sqlite *self)
{
    enum { FILE_ITSELF, WAL, SHM, COUNT };
    struct mq_file_id ids[COUNT] = {self->file};
    int fds[COUNT];

    if (!mq_file_id_of(self->wal_path, &ids[WAL]) || !mq_file_id_of(self->shm_path, &ids[SHM])) {
        return false;
    }
    /* What has those names now may no longer be what SQLite opened; the WAL's index is shared by
     * all connections of a process, so that one whose locks were dropped passes a deleted one on
     * to those that open later. */
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
    /* HAS_MOVED compares the name with the descriptor that SQLite has; the first comparison with
     * the name before resolving links. */
    if (!mq_file_id_of(self->name, &self->file) ||
        (strcmp(self->name, self->path) != 0 && !unchanged(self->path, &self->file)) ||
        sqlite3_file_control(self->handle, "main", SQLITE_FCNTL_HAS_MOVED, &moved) != SQLITE_OK ||
        moved) {
        return false;
    }
    self->identified = true;
    /* Who only reads must know its WAL, too, before it closes. */
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

/* TRUNCATE instead of DELETE, which with synchronous=FULL does not sync the directory, so that a
 * power failure may bring a deleted journal back and undo the commit. It is the mode of the
 * connection only: the file keeps its own. */
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
    /* A file of the WAL's name does not tell: a power failure may leave an empty one, which SQLite
     * takes no notice of. Nor does a journal that is open before the first write: it is a WAL since
     * another process changed the file to it, or the rollback journal of a process that was killed.
     */
    if (strcmp(self->journal, "delete") == 0 || mq_sqlite_journal_open(self)) {
        MQ_TRY(mq_sqlite_ask_journal(self, self->journal, err));
    }
    MQ_TRY(prefer_truncate(self, err));
    bool known = strcmp(self->journal, "wal") != 0 || take_wal(self);
    return known ? MQ_OK : mq_sqlite_gone(self, false, err);
}

enum mq_status mq_sqlite_guard_commit(struct mq_sqlite *self, struct mq_error *err)
{
    /* A process that closes "as the last" first copies the WAL into the database and then deletes
     * it, and what we commit in between is lost although the WAL is still there. It holds the
     * exclusive lock all that time, which is impossible while ours is in force. Asking for the lock
     * first and looking at the WAL afterwards leaves no gap. */
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
