/* What the files of the native SQLite driver share; nobody else includes it.
 *
 *   sqlite.c        the driver's table, transactions, open and close
 *   connect.c   new files, journal mode, pragmas
 *   file_name.c   names, looked at before opening
 *   read_only.c users who may only read
 *   prepared.c   statements, values, rows
 *   file_guard.c  is the open file still the one under its name? fork
 *   lock_wait.c   waiting for locks, and who holds them
 *   checkpoint.c    checkpoints
 *   failed_sync.c  what follows a sync of the WAL that failed
 *   result_code.c  result codes to statuses and texts */
#ifndef MQ_DB_SQLITE_INTERNAL_H
#define MQ_DB_SQLITE_INTERNAL_H

#include <sqlite3.h>
#include <sys/stat.h>
#include <sys/types.h>

#include "core/file_id.h"
#include "db/sqlite/sqlite.h"

enum mq_journal { MQ_JOURNAL_AUTO, MQ_JOURNAL_WAL, MQ_JOURNAL_TRUNCATE, MQ_JOURNAL_DELETE };

/* Statements of the driver itself. */
enum mq_fixed { MQ_FIXED_BEGIN, MQ_FIXED_COMMIT, MQ_FIXED_ROLLBACK, MQ_FIXED_COUNT };

struct mq_busy_wait {
    int64_t limit_us;
    int64_t started_us; /* CLOCK_MONOTONIC, of the wait under way */
    int64_t waited_us;  /* in the statement that ran last */
    uint32_t seed;
};

struct mq_sqlite {
    struct mq_db base;
    sqlite3 *handle; /* NULL: a reopen failed */
    pid_t owner;     /* the process that opened */

    char *name;      /* absolute, as the caller spelled it: links in it may be turned elsewhere */
    char *path;      /* canonical: what SQLite derives the names of journal and WAL from */
    char *wal_path;  /* path-wal */
    char *shm_path;  /* path-shm */
    char *mark_path; /* path-unsynced: failed_sync.c */
    enum mq_journal wanted_journal;
    char journal[12];
    bool memory;
    bool synchronous_normal;
    bool worker;
    bool reader; /* the file was opened for reading only */

    struct mq_file_id file; /* what was opened; valid when identified */
    bool identified;
    struct mq_file_id wal; /* valid when wal_known */
    bool wal_known;        /* it is the one that SQLite has open */
    bool replaced;         /* dead until reopened */
    int file_fd;           /* SQLite's own, to ask for locks only; with wal_known */

    bool committing;
    bool begun;             /* begin() succeeded and neither commit() nor rollback() came */
    struct mq_error undone; /* why SQLite undid the transaction by itself; status MQ_OK: it did
                               not */
    struct mq_busy_wait busy;

    sqlite3_stmt *slots[MQ_DB_SLOTS];
    sqlite3_stmt *fixed[MQ_FIXED_COUNT];
    sqlite3_stmt *current; /* the open result */
    bool current_kept;     /* it lives in a slot */
    bool row_ready;        /* run() has stepped to a row that next() has not given yet */
    int64_t changes;

    bool sync_failed;        /* and mq_sqlite_after_failed_sync() has not succeeded since */
    int wal_frames;          /* in the WAL after our last commit or checkpoint */
    bool wal_frames_fresh;   /* since the last maintain() */
    int checkpointed_frames; /* wal_frames at our last checkpoint; 0 when it copied all */
    int retry_frames;        /* so many more make another checkpoint due; 0: the last copied all */
    bool restart_due;        /* the last checkpoint left something */
    int64_t look_after_us;   /* CLOCK_MONOTONIC: no look at others' frames before */
    int64_t shrink_after_us; /* CLOCK_MONOTONIC: no attempt to shrink the WAL before */
};

static inline struct mq_sqlite *mq_sqlite_of(struct mq_db *db)
{
    return (struct mq_sqlite *)db;
}

/* connect.c: opens self->name, and for a file without contents decides on its page size and
 * journal mode. On failure self->handle is NULL. */
enum mq_status mq_sqlite_connect(struct mq_sqlite *self, bool must_exist, struct mq_error *err);
/* Whether that version (3.51.3 is 3051003) has the fix of the WAL-reset fault. */
bool mq_sqlite_fixed_in(int version);
/* "wal", "delete", … as SQLite says it. */
enum mq_status mq_sqlite_ask_journal(struct mq_sqlite *self, char out[12], struct mq_error *err);
/* Closes handle and statements. */
void mq_sqlite_disconnect(struct mq_sqlite *self);
/* The same in a forked child, where nothing that the parent uses may be touched. */
void mq_sqlite_forget(struct mq_sqlite *self);

/* file_name.c */
/* Absolute form of a name, malloc'ed. */
enum mq_status mq_sqlite_absolute(const char *name, char **out, struct mq_error *err);
/* Whether the file may be opened, as far as can be seen from outside; *empty: it has no contents
 * yet, or does not exist and may be created. */
enum mq_status mq_sqlite_look(struct mq_sqlite *self, bool must_exist, bool *empty,
                              struct mq_error *err);
/* Whether the directory of an absolute name is on a network file system. */
bool mq_sqlite_on_network(const char *name);

/* read_only.c */
/* Sets self->reader; refuses a worker then, and a file that SQLite cannot read so. */
enum mq_status mq_sqlite_note_reader(struct mq_sqlite *self, struct mq_error *err);
/* Whether that code says so of a file that is read only, and the text for it. */
bool mq_sqlite_must_recover(int code);
enum mq_status mq_sqlite_unrecovered(struct mq_sqlite *self, struct mq_error *err);

/* prepared.c */
enum mq_status mq_sqlite_run(struct mq_db *db, const struct mq_query *query, struct mq_error *err);
enum mq_status mq_sqlite_next(struct mq_db *db, bool *row, struct mq_error *err);
struct mq_value mq_sqlite_column(struct mq_db *db, int index);
void mq_sqlite_finish(struct mq_db *db);
enum mq_status mq_sqlite_run_fixed(struct mq_sqlite *self, enum mq_fixed which,
                                   struct mq_error *err);
void mq_sqlite_finalize_all(struct mq_sqlite *self);

/* file_guard.c */
/* Not in a forked child, open, and not found replaced before. */
enum mq_status mq_sqlite_usable(struct mq_sqlite *self, struct mq_error *err);
/* Takes the identity of what was just opened, and of its WAL. */
enum mq_status mq_sqlite_identify(struct mq_sqlite *self, struct mq_error *err);
/* Compares file and WAL with what was opened; MQ_REPLACED marks the connection dead. */
enum mq_status mq_sqlite_guard(struct mq_sqlite *self, struct mq_error *err);
/* Inside a transaction: the same for a WAL that the file did not have when it was opened. */
enum mq_status mq_sqlite_note_wal(struct mq_sqlite *self, struct mq_error *err);
/* After a commit: whether what was committed is in the file that others see. */
enum mq_status mq_sqlite_guard_commit(struct mq_sqlite *self, struct mq_error *err);
/* Whether the WAL, or a rollback journal, is open. */
bool mq_sqlite_journal_open(struct mq_sqlite *self);

/* lock_wait.c */
int64_t mq_sqlite_monotonic_us(void);
void mq_sqlite_busy_install(struct mq_sqlite *self);
/* Whether another process has the exclusive lock on the database that `fd` is. */
bool mq_sqlite_shut_out(int fd);
/* Whether no other process has the database in WAL mode open that `fd` is. */
bool mq_sqlite_alone(int fd);
/* The text for a lock that could not be had. */
enum mq_status mq_sqlite_busy_error(struct mq_sqlite *self, struct mq_error *err);

/* checkpoint.c */
void mq_sqlite_wal_install(struct mq_sqlite *self);
/* After a producer's commit: keeps the WAL bounded. */
void mq_sqlite_wal_cap(struct mq_sqlite *self);
/* Decides whether closing copies the WAL into the database and deletes it. */
void mq_sqlite_wal_before_close(struct mq_sqlite *self);
enum mq_status mq_sqlite_maintain(struct mq_db *db, struct mq_error *err);

/* failed_sync.c: between transactions. MQ_IO: the WAL could not be cut yet, and nothing may
 * be stored until then. */
enum mq_status mq_sqlite_after_failed_sync(struct mq_sqlite *self, struct mq_error *err);

/* result_code.c: status and text for the handle's last error. */
enum mq_status mq_sqlite_error(struct mq_sqlite *self, int code, struct mq_error *err);

#endif
