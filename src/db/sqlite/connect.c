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
    /* NOMUTEX: only one thread at a time uses the connection. PRIVATECACHE: a cache shared with the
     * application's connections would bring table locks and SQLITE_LOCKED. An absolute name is
     * never read as a URI. */
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

/* Creates a file for its owner only, or also for the group if that shares the directory (setgid).
 * SQLite gives the same mode to journal, WAL and index. O_EXCL, because closing a file that is
 * already open elsewhere in this process would drop its locks. If this fails, SQLite reports it. */
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

/* Gives an empty file its page size and journal mode. Other processes may do the same now, so this
 * checks again under the exclusive lock that the file is empty. locking_mode keeps the lock while
 * the file changes to WAL, because that is not possible inside a transaction. A connection that
 * entered WAL in this locking mode cannot leave the locking mode, so it is closed. */
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

/* The first pragma reads header and schema, and fails if the file is not a database. A WAL is open
 * then; a rollback journal would be opened later. So an open journal means WAL mode, and checking
 * for one is faster than `PRAGMA journal_mode`. */
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
    /* Some distributions build SQLite so that it overwrites deleted content with zeros. The worker
     * deletes every mail that it has sent. FAST does not overwrite pages that become free as a
     * whole, which halves what the worker writes. */
    if (status == MQ_OK && self->worker) {
        status = mq_sqlite_pragma(self, "PRAGMA secure_delete = FAST", err);
    }
    /* EXTRA also syncs the directory after it deleted the journal. */
    if (status == MQ_OK && strcmp(self->wanted_journal, "delete") == 0 && !self->reader &&
        strcmp(self->journal, "delete") == 0 && !self->synchronous_normal) {
        status = mq_sqlite_pragma(self, "PRAGMA synchronous = EXTRA", err);
    }
    return status;
}

/* Takes the database's name, with links resolved, from SQLite. Derives the other files' names. */
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
    /* SQLite records its POSIX locks in tables of the process. The child has a copy of the tables,
     * but not the locks. As long as the parent's connection is in the tables, a connection that the
     * child opens believes that it holds the lock that keeps others from deleting the WAL. So an
     * idle connection is closed: without a checkpoint or a transaction, that only closes the
     * child's descriptors and releases locks, of which the child has none. A connection with a
     * transaction is left alone, because closing would roll the transaction back. */
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
