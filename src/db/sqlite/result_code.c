/* SQLite's result codes as statuses, with texts that name path, cause and cure. */
#include <errno.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "db/sqlite/internal.h"

static const char *path_of(const struct mq_sqlite *self)
{
    return self->path ? self->path : self->name;
}

long mq_sqlite_owner(const char *path)
{
    struct stat info;
    return stat(path, &info) == 0 ? (long)info.st_uid : -1;
}

/* Explains why SQLite cannot open or write: checks the directory, then the file, then the rest. */
static enum mq_status denied(struct mq_sqlite *self, int system_error, enum mq_status otherwise,
                             struct mq_error *err)
{
    const char *path = path_of(self);
    char directory[PATH_MAX];
    long uid = (long)geteuid();
    mq_sqlite_directory(path, directory);
    if (access(directory, X_OK) != 0) {
        return mq_error_set(err, MQ_CANTOPEN, "database",
                            "cannot open %s: its directory %s: %s: create it, correct the path, or "
                            "change its owner or mode",
                            path, directory, strerror(errno));
    }
    if (access(path, R_OK) != 0 && errno == EACCES) {
        return mq_error_set(err, MQ_CANTOPEN, "database",
                            "user %ld may not read the database file %s: do this as its owner, or "
                            "change its owner or mode",
                            uid, path);
    }
    if (system_error == EROFS || (access(path, W_OK) != 0 && errno == EROFS) ||
        (access(directory, W_OK) != 0 && errno == EROFS)) {
        return mq_error_set(err, MQ_READONLY, "database",
                            "%s is on a file system that is mounted read-only: put the database "
                            "elsewhere, or remount",
                            path);
    }
    if (access(path, F_OK) == 0 && access(path, W_OK) != 0) {
        return mq_error_set(err, MQ_READONLY, "database",
                            "the database file %s is not writable for user %ld: do this as user "
                            "%ld, who owns it, or change its owner or mode",
                            path, uid, mq_sqlite_owner(path));
    }
    if (access(directory, W_OK) != 0) {
        return mq_error_set(err, MQ_READONLY, "database",
                            "the directory %s is not writable for user %ld, and SQLite must "
                            "create its journal there, beside %s: change its owner or mode",
                            directory, uid, path);
    }
    return mq_error_set(err, otherwise, "database",
                        "cannot open %s or a file that SQLite keeps beside it: %s (%s): check "
                        "owner, mode and the limit of open files",
                        path, self->handle ? sqlite3_errmsg(self->handle) : "no handle",
                        system_error ? strerror(system_error) : "no system error");
}

#define IN_DOUBT                                                                                 \
    "it may be stored all the same: look, or store it once more with the same reference, which " \
    "stores it once"

/* Says whether a failed commit may be stored all the same. At its end, a commit truncates or
 * deletes the rollback journal and syncs this change. If one of these steps fails, the commit is
 * stored, at once or after a power failure. If the sync of the WAL fails, it may be stored, too. */
static bool in_doubt(const struct mq_sqlite *self, int code)
{
    bool commits = self->committing || !self->begun;
    bool late = code == SQLITE_IOERR_FSYNC || code == SQLITE_IOERR_DIR_FSYNC ||
                code == SQLITE_IOERR_TRUNCATE || code == SQLITE_IOERR_DELETE;

    return commits && late;
}

static const char *outcome(const struct mq_sqlite *self, int code)
{
    return in_doubt(self, code) ? IN_DOUBT : "nothing was stored";
}

static enum mq_status full(struct mq_sqlite *self, int code, int system_error, struct mq_error *err)
{
    const char *why = system_error == EFBIG
                          ? "file size limit (ulimit -f) reached: raise the limit"
                          : "no space is left: free disk space or raise the quota";

    return mq_error_set(err, MQ_FULL, "database", "%s cannot grow: %s; %s", path_of(self), why,
                        outcome(self, code));
}

static enum mq_status damaged(int code, const char *path, struct mq_error *err)
{
    if ((code & 0xff) == SQLITE_NOTADB) {
        return mq_error_set(err, MQ_CORRUPT, "database",
                            "%s is not an SQLite database (or an encrypted or damaged one): "
                            "correct the path, or restore a backup; see also: sqlite3 %s .recover",
                            path, path);
    }
    return mq_error_set(err, MQ_CORRUPT, "database",
                        "the database %s is damaged: stop what uses it, restore a backup, or save "
                        "what is readable with: sqlite3 %s .recover | sqlite3 new.sqlite",
                        path, path);
}

static bool is_size_limited(void)
{
    struct rlimit limit;
    return getrlimit(RLIMIT_FSIZE, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY;
}

static enum mq_status input_output(struct mq_sqlite *self, int code, int system_error,
                                   struct mq_error *err)
{
    const char *path = path_of(self);
    self->sync_failed = self->sync_failed || code == SQLITE_IOERR_FSYNC;
    if (code == SQLITE_IOERR_WRITE && system_error == 0 && is_size_limited()) {
        system_error = EFBIG; /* a part was written; SQLite does not keep the errno for the rest */
    }
    if (system_error == EDQUOT || system_error == EFBIG || system_error == ENOSPC) {
        return full(self, code, system_error, err);
    }
    return mq_error_set(err, MQ_IO, "database",
                        "input/output error on %s: %s, %s (code %d): check disk and file system; "
                        "%s",
                        path, sqlite3_errmsg(self->handle),
                        system_error ? strerror(system_error) : "no system error", code,
                        outcome(self, code));
}

static enum mq_status mark_doubt(const struct mq_sqlite *self, int code, enum mq_status status,
                                 struct mq_error *err)
{
    if (err) {
        err->in_doubt = in_doubt(self, code);
    }
    return status;
}

enum mq_status mq_sqlite_gone(struct mq_sqlite *self, bool committed, struct mq_error *err)
{
    self->replaced = true;
    return mq_error_set(err, MQ_REPLACED, "database",
                        "%s (or its -wal file) was replaced, renamed or deleted while it was open; "
                        "%s. Replace a database only while nothing has it open, and copy it with "
                        "VACUUM INTO or the backup functions, never with copy(), which drops "
                        "SQLite's locks",
                        self->name,
                        committed ? "the transaction may not be stored: open it again and look"
                                  : "nothing was stored: open it again");
}

static enum mq_status read_only(struct mq_sqlite *self, int code, int system_error,
                                struct mq_error *err)
{
    bool must_recover = code == SQLITE_READONLY_ROLLBACK || code == SQLITE_READONLY_RECOVERY ||
                        code == SQLITE_READONLY_CANTINIT || code == SQLITE_READONLY_CANTLOCK;

    if (!self->reader || !must_recover) {
        return denied(self, system_error, MQ_READONLY, err);
    }
    return mq_error_set(err, MQ_READONLY, "database",
                        "a transaction on %s was broken off and must be undone first, which user "
                        "%ld, who may only read it, cannot do: run `mailqueue status` once as user "
                        "%ld, who owns it",
                        self->path, (long)geteuid(), mq_sqlite_owner(self->path));
}

static enum mq_status other(const struct mq_sqlite *self, int code, struct mq_error *err)
{
    return mq_error_set(err, MQ_DATABASE, "database", "%s: %s (SQLite code %d)", path_of(self),
                        self->handle ? sqlite3_errmsg(self->handle) : sqlite3_errstr(code), code);
}

enum mq_status mq_sqlite_error(struct mq_sqlite *self, int code, struct mq_error *err)
{
    int system_error = self->handle ? sqlite3_system_errno(self->handle) : errno;
    if (code == SQLITE_READONLY_DBMOVED) {
        return mq_sqlite_gone(self, false, err);
    }
    switch (code == SQLITE_IOERR_NOMEM ? SQLITE_NOMEM : code & 0xff) {
    case SQLITE_BUSY:
    case SQLITE_LOCKED:
    case SQLITE_PROTOCOL: /* SQLite gave up reading the WAL, because of others' locks */
        return mq_sqlite_busy_error(self, err);
    case SQLITE_NOMEM:
        return mq_error_nomem(err);
    case SQLITE_READONLY:
    case SQLITE_PERM:
        return read_only(self, code, system_error, err);
    case SQLITE_CANTOPEN:
        return denied(self, system_error, MQ_CANTOPEN, err);
    case SQLITE_FULL:
        return full(self, code, system_error, err);
    case SQLITE_CORRUPT:
    case SQLITE_NOTADB:
        return damaged(code, path_of(self), err);
    case SQLITE_IOERR:
        return mark_doubt(self, code, input_output(self, code, system_error, err), err);
    default:
        return other(self, code, err);
    }
}
