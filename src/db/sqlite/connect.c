/* Connecting: new files, journal mode, pragmas. */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "db/sqlite/file_guard.h"
#include "db/sqlite/sqlite.h"

bool mq_sqlite_fixed_in(int version)
{
    return version >= 3051003 || (version / 1000 == 3050 && version >= 3050007) ||
           (version / 1000 == 3044 && version >= 3044006);
}

bool mq_sqlite_wal_safe(void)
{
    return mq_sqlite_fixed_in(sqlite3_libversion_number());
}

const char *mq_sqlite_version(void)
{
    return sqlite3_libversion();
}

static enum mq_status open_handle(struct mq_sqlite *self, bool create, struct mq_error *err)
{
    /* One thread at a time; a cache shared with the application's connections would bring its
     * table locks and SQLITE_LOCKED. An absolute name is never taken for a URI. */
    int flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_PRIVATECACHE |
                (create ? SQLITE_OPEN_CREATE : 0);
    int code = sqlite3_open_v2(self->memory ? ":memory:" : self->name, &self->handle, flags, NULL);

    if (!self->handle) {
        return mq_error_nomem(err);
    }
    sqlite3_extended_result_codes(self->handle, 1);
    if (code != SQLITE_OK) {
        return mq_sqlite_error(self, sqlite3_extended_errcode(self->handle), err);
    }
    mq_sqlite_busy_install(self);
    mq_sqlite_wal_install(self);
    self->busy.waited_us = 0;
    return MQ_OK;
}

static enum mq_status wants_wal(const struct mq_sqlite *self, bool *wal, struct mq_error *err)
{
    bool asked = strcmp(self->wanted_journal, "wal") == 0;
    bool network = mq_sqlite_on_network(self->name);
    *wal = asked || (!network && !*self->wanted_journal && mq_sqlite_wal_safe());
    if (!asked || !network) {
        return MQ_OK;
    }
    return mq_error_set(err, MQ_CONFIG, "journal",
                        "%s is on a network file system, where a WAL corrupts the database: use "
                        "journal \"truncate\", or put it on a local disk",
                        self->name);
}

/* A new file is for its owner, or for the group that shares the directory (setgid); journal, WAL
 * and index get its mode from SQLite. O_EXCL: closing a file that is already open elsewhere in
 * this process would drop its locks. SQLite reports what fails here. */
static void make_private(struct mq_sqlite *self)
{
    struct stat info;
    char directory[PATH_MAX];
    int fd;
    mq_sqlite_directory(self->name, directory);
    fd = open(self->name, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    if (fd < 0 && errno == EEXIST && stat(self->name, &info) != 0) { /* a dangling link */
        fd = open(self->name, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    }
    if (fd < 0) {
        return;
    }
    if (stat(directory, &info) == 0 && (info.st_mode & S_ISGID)) {
        (void)!fchmod(fd, 0660);
    }
    close(fd);
}

/* Gives an empty file its page size and journal mode, once, even if other processes do the same
 * now: the file is looked at again under the exclusive lock, which is then kept (locking_mode) over
 * the change to WAL, for that cannot be made inside a transaction. The connection is of no further
 * use, since one that entered WAL in this locking mode cannot leave it. */
static enum mq_status create(struct mq_sqlite *self, struct mq_error *err)
{
    struct stat info;
    bool wal = false;
    enum mq_status status = wants_wal(self, &wal, err);
    if (status == MQ_OK) {
        make_private(self);
        status = open_handle(self, true, err);
    }
    if (status == MQ_OK) {
        status = mq_sqlite_pragma(self, "PRAGMA page_size = 8192; BEGIN EXCLUSIVE", err);
    }
    if (status != MQ_OK) {
        goto out;
    }
    if (stat(self->name, &info) != 0 || info.st_size != 0) {
        goto out; /* another process was first */
    }
    status = mq_sqlite_pragma(self, "PRAGMA locking_mode = EXCLUSIVE; COMMIT", err);
    if (status == MQ_OK && wal) {
        status = mq_sqlite_pragma(self, "PRAGMA journal_mode = WAL", err);
    }
out:
    mq_sqlite_disconnect(self);
    return status;
}

/* The first of these reads header and schema, which finds out whether the file is a database. In
 * WAL mode the WAL is then open, while a rollback journal is not yet: to look is quicker than to
 * ask by `PRAGMA journal_mode`. */
static enum mq_status configure(struct mq_sqlite *self, struct mq_error *err)
{
    enum mq_status status = mq_sqlite_pragma(
        self,
        self->synchronous_normal ? "PRAGMA synchronous = NORMAL" : "PRAGMA synchronous = FULL",
        err);

    if (status == MQ_OK && mq_sqlite_journal_open(self)) {
        memcpy(self->journal, "wal", 4);
    } else if (status == MQ_OK) {
        status = mq_sqlite_ask_journal(self, self->journal, err);
    }
    /* Some distributions build SQLite to write zeros over all that is deleted. The worker deletes
     * every mail that it has sent: pages that become free as a whole are left as they are, which
     * halves what it writes. */
    if (status == MQ_OK && self->worker) {
        status = mq_sqlite_pragma(self, "PRAGMA secure_delete = FAST", err);
    }
    /* EXTRA syncs the directory, too. */
    if (status == MQ_OK && strcmp(self->wanted_journal, "delete") == 0 && !self->reader &&
        strcmp(self->journal, "delete") == 0 && !self->synchronous_normal) {
        status = mq_sqlite_pragma(self, "PRAGMA synchronous = EXTRA", err);
    }
    return status;
}

/* What SQLite calls the files: links resolved, as it derives the names of journal and WAL. */
static enum mq_status take_names(struct mq_sqlite *self, struct mq_error *err)
{
    const char *canonical = sqlite3_db_filename(self->handle, "main");
    char **names[] = {&self->path, &self->wal_path, &self->shm_path, &self->mark_path};
    static const char *const suffixes[] = {"", "-wal", "-shm", "-unsynced"};

    if (!canonical || !*canonical) {
        canonical = self->name;
    }
    for (int i = 0; i < 4; i++) {
        struct mq_buffer name = {0};

        mq_buffer_cstr(&name, canonical);
        mq_buffer_cstr(&name, suffixes[i]);
        free(*names[i]);
        *names[i] = mq_buffer_take(&name);
        mq_buffer_clear(&name);
        if (!*names[i]) {
            return mq_error_nomem(err);
        }
    }
    return MQ_OK;
}

static enum mq_status set_up(struct mq_sqlite *self, bool must_exist, struct mq_error *err)
{
    bool empty = false;
    if (!self->memory) {
        MQ_TRY(mq_sqlite_look(self, must_exist, &empty, err));
    }
    if (empty) {
        MQ_TRY(create(self, err));
    }
    MQ_TRY(open_handle(self, false, err));
    MQ_TRY(take_names(self, err));
    MQ_TRY(mq_sqlite_note_reader(self, err));
    return configure(self, err);
}

enum mq_status mq_sqlite_connect(struct mq_sqlite *self, bool must_exist, struct mq_error *err)
{
    self->replaced = false;
    self->identified = self->wal_known = false;
    self->file_fd = -1;
    enum mq_status status = set_up(self, must_exist, err);
    if (status == MQ_OK && !self->reader && access(self->mark_path, F_OK) == 0) {
        self->sync_failed = true;
    }
    if (status != MQ_OK) {
        mq_sqlite_disconnect(self);
    }
    return status;
}

void mq_sqlite_disconnect(struct mq_sqlite *self)
{
    if (!self->handle) {
        return;
    }
    mq_sqlite_finalize_all(self);
    mq_sqlite_wal_before_close(self);
    sqlite3_close(self->handle); /* undoes an open transaction */
    self->handle = NULL;
    self->begun = false;
}

void mq_sqlite_forget(struct mq_sqlite *self)
{
    /* SQLite keeps account of its POSIX locks in tables of the process. The child has a copy of
     * them, but not the locks: as long as the parent's connection is in the tables, one that
     * the child opens believes to hold the lock that keeps others from deleting the WAL. So an
     * idle one is closed: without checkpoint and transaction that only releases descriptors
     * and locks of the child, and it has no locks. One with a transaction is left alone, for
     * closing would undo it. */
    bool idle =
        self->handle && !self->begun && !self->current && sqlite3_get_autocommit(self->handle);

    if (idle) {
        sqlite3_db_config(self->handle, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1, NULL);
        mq_sqlite_finalize_all(self);
        sqlite3_close(self->handle);
    }
    self->handle = NULL;
    self->current = NULL;
    memset(self->slots, 0, sizeof(self->slots));
    self->begun = false;
}
