/* The state of a native SQLite connection. Only the driver's files include this. */
#ifndef MQ_DB_SQLITE_OPEN_FILE_H
#define MQ_DB_SQLITE_OPEN_FILE_H

#include <sqlite3.h>
#include <sys/stat.h>
#include <sys/types.h>

#include "core/file_id.h"
#include "db/db.h"

/* Slots of the driver's own statements, after the queue's. */
enum mq_fixed { MQ_FIXED_BEGIN = MQ_DB_SLOTS, MQ_FIXED_COMMIT, MQ_FIXED_ROLLBACK, MQ_SQLITE_SLOTS };

enum { MQ_PRAGMA_MAX = 12 };

struct mq_busy_wait {
    int64_t limit_us;
    int64_t started_us; /* CLOCK_MONOTONIC; when the present wait began */
    int64_t waited_us;  /* how long the last statement waited */
};

struct mq_sqlite {
    struct mq_db base;
    sqlite3 *handle; /* NULL: a reopen failed */
    pid_t owner;     /* the process that opened the file */

    char *name;      /* absolute, as the caller gave it; its links may point elsewhere later */
    char *path;      /* canonical; SQLite derives the names of journal and WAL from it */
    char *wal_path;  /* path-wal */
    char *shm_path;  /* path-shm */
    char *mark_path; /* path-unsynced; see failed_sync.c */
    char wanted_journal[MQ_PRAGMA_MAX]; /* as in the options; "": the default */
    char journal[MQ_PRAGMA_MAX];
    bool memory;
    bool synchronous_normal;
    bool worker;
    bool reader; /* the file was opened for reading only */

    struct mq_file_id file; /* of the opened file; valid when identified */
    struct mq_file_id wal;  /* of the WAL that SQLite has open; valid when wal_known */
    bool identified;
    bool wal_known;
    bool replaced; /* dead until reopened */
    int file_fd;   /* SQLite's own, used only to query locks; set with wal_known */

    bool committing;
    bool begun; /* begin() succeeded and neither commit() nor rollback() came */
    struct mq_busy_wait busy;

    sqlite3_stmt *slots[MQ_SQLITE_SLOTS];
    sqlite3_stmt *current; /* the open result */
    bool current_kept;     /* `current` is in a slot */
    bool row_ready;        /* run() has stepped to a row that next() has not given yet */
    int64_t changes;

    bool sync_failed;        /* a sync of the WAL failed; failed_sync.c has not repaired it yet */
    int wal_frames;          /* in the WAL after our last commit or checkpoint */
    bool wal_frames_fresh;   /* wal_frames was set since the last maintain() */
    int due_frames;          /* wal_frames at which a checkpoint is due */
    int retry_frames;        /* frames to wait for after an incomplete checkpoint; otherwise 0 */
    bool restart_due;        /* the last checkpoint left frames: the next is a RESTART */
    int64_t look_after_us;   /* CLOCK_MONOTONIC: when to look for frames of others again */
    int64_t shrink_after_us; /* CLOCK_MONOTONIC: when to try to shrink the WAL again */
};

static inline struct mq_sqlite *mq_sqlite_of(struct mq_db *db)
{
    return (struct mq_sqlite *)db;
}

#endif
