/* Reading without write permission, or on a file system that is mounted read-only.
 *
 * A file with a rollback journal needs nothing special. To read a file in WAL mode, SQLite needs
 * its -wal and -shm files (sqlite.org/wal.html, "Read-Only Databases"). If they are missing, it
 * would create them as this user, and users with write permission could not open them. `immutable`
 * is never used: it could read what is not committed or no longer there. */
#include <errno.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "db/sqlite/internal.h"

/* Whether the header's read version is that of WAL mode. Reads through SQLite's own descriptor,
 * because closing another one would drop SQLite's locks. */
static bool says_wal(struct mq_sqlite *self)
{
    enum { READ_VERSION = 19, VERSION_WAL = 2 };
    sqlite3_file *file = NULL;
    unsigned char version = 0;

    return sqlite3_file_control(self->handle, "main", SQLITE_FCNTL_FILE_POINTER, &file) ==
               SQLITE_OK &&
           file && file->pMethods &&
           file->pMethods->xRead(file, &version, 1, READ_VERSION) == SQLITE_OK &&
           version == VERSION_WAL;
}

static enum mq_status check_file_beside(struct mq_sqlite *self, const char *path,
                                        struct mq_error *err)
{
    int missing = access(path, R_OK) == 0 ? 0 : errno;
    if (missing == 0) {
        return MQ_OK;
    }
    if (access(self->path, W_OK) != 0 && errno == EROFS) {
        return mq_sqlite_error(self, SQLITE_READONLY, err);
    }
    return mq_error_set(err, MQ_READONLY, "database",
                        "user %ld may only read %s, which is in WAL mode, and SQLite reads it only "
                        "with its -wal and -shm files: %s: %s: look as user %ld, who owns it, or "
                        "while a process that may write has it open",
                        (long)geteuid(), self->path, path, strerror(missing),
                        mq_sqlite_owner(self->path));
}

enum mq_status mq_sqlite_note_reader(struct mq_sqlite *self, struct mq_error *err)
{
    enum mq_status status = MQ_OK;
    self->reader = !self->memory && sqlite3_db_readonly(self->handle, "main") == 1;
    if (self->reader && self->worker) {
        return mq_sqlite_error(self, SQLITE_READONLY, err);
    }
    if (self->reader && says_wal(self)) {
        status = check_file_beside(self, self->wal_path, err);
        if (status == MQ_OK) {
            status = check_file_beside(self, self->shm_path, err);
        }
    }
    return status;
}
