/* Checkpoints: copying the WAL into the database. They sync twice, so producers leave them to the
 * worker, but for a cap that keeps the WAL bounded while no worker runs. */
#include <string.h>

#include "db/sqlite/file_guard.h"
#include "db/sqlite/sqlite.h"

enum {
    DUE_FRAMES = 1000,    /* a worker copies these, and a producer whose process alone has the file
                             open: SQLite's own default */
    CAP_FRAMES = 4096,    /* a producer in any case: 32 MiB with the page size that we give to new
                             files, 16 with 4 KiB */
    RETRY_FRAMES = 50,    /* more, after a checkpoint in vain; doubled each time */
    LOOK_BYTES = 4 << 20, /* a file below it is not worth a look at what others wrote */
    LOOK_EVERY_US = 100000,    /* so often a worker that does not write looks */
    TRUNCATE_BYTES = 64 << 20, /* a worker tries to shrink a file above it: twice the cap, for a
                                  file that has been cut grows again, and that costs */
    RESTART_WAIT_US = 2000,    /* for readers; writers are kept out meanwhile */
    SHRINK_EVERY_US = 1000000,
    LEFT_BYTES = 256 << 10, /* a producer leaves a WAL up to this size when it closes */
    LEFT_FRAMES = 32,       /* or with this many frames in use, where it knows that number */
};

static void restarted(struct mq_sqlite *self)
{
    self->due_frames = DUE_FRAMES;
    self->retry_frames = 0;
}

/* Runs inside sqlite3_step(): nothing but remembering. */
static int note_frames(void *context, sqlite3 *handle, const char *schema, int frames)
{
    struct mq_sqlite *self = context;
    (void)handle;
    if (strcmp(schema, "main") != 0) {
        return SQLITE_OK;
    }
    if (frames < self->wal_frames) {
        restarted(self);
    }
    self->wal_frames = frames;
    self->wal_frames_fresh = true;
    return SQLITE_OK;
}

void mq_sqlite_wal_install(struct mq_sqlite *self)
{
    self->wal_frames = 0;
    self->wal_frames_fresh = self->restart_due = false;
    restarted(self);
    sqlite3_wal_hook(self->handle, note_frames, self); /* takes the automatic one's place */
}

/* A producer leaves a small WAL where it is: opening, storing and closing take half the time of a
 * close with checkpoint and deletion. With 1,000 pages left it is 1.6 times that, since the next
 * process reads the whole WAL. The worker closes as SQLite does it, so that between its runs little
 * is outside of the database file. */
static bool leaves(struct mq_sqlite *self)
{
    if (self->worker) {
        return false;
    }
    return self->wal_frames > 0 ? self->wal_frames <= LEFT_FRAMES
                                : mq_sqlite_wal_bytes(&self->base) <= LEFT_BYTES;
}

void mq_sqlite_wal_before_close(struct mq_sqlite *self)
{
    /* A connection that lost its file, or cannot tell, must neither copy its WAL anywhere nor
     * delete what is now under the WAL's name. */
    bool leave = self->reader || self->replaced || !self->wal_known ||
                 mq_sqlite_after_failed_sync(self, NULL) != MQ_OK || leaves(self) ||
                 mq_sqlite_guard(self, NULL) != MQ_OK;

    if (leave) {
        sqlite3_db_config(self->handle, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1, NULL);
    }
}

/* *all: nothing is left in the WAL that the database lacks. */
static enum mq_status checkpoint(struct mq_sqlite *self, int mode, bool *all, struct mq_error *err)
{
    int64_t limit_us = self->busy.limit_us;
    int frames = -1, copied = -1;
    int code;
    self->busy.limit_us = RESTART_WAIT_US;
    code = sqlite3_wal_checkpoint_v2(self->handle, "main", mode, &frames, &copied);
    self->busy.limit_us = limit_us;
    *all = code == SQLITE_OK && frames == copied;
    if (frames >= 0) {
        self->wal_frames = frames;
    }
    if (code == SQLITE_OK || (code & 0xff) == SQLITE_BUSY || (code & 0xff) == SQLITE_LOCKED) {
        return MQ_OK; /* readers or another checkpoint: next time */
    }
    return mq_sqlite_error(self, sqlite3_extended_errcode(self->handle), err);
}

/* Copies most of the WAL while others write. Where that was all, SQLite's next writer starts at the
 * beginning of the WAL by itself, unless a reader keeps it from that.
 *
 * Otherwise the next call does the rest: with the write lock it copies the few frames that came
 * since, so that the WAL is used from its start again. Under steady load a checkpoint that lets
 * others write never comes to an end, the file grows, and a sync of a file that grows costs twice
 * one of a file that is written over. It is in vain while a reader needs old frames, or when
 * writers leave no gap. Not in the same call: before SQLite 3.51.3 a checkpoint right behind
 * another one may take what a writer puts there meanwhile for copied, and it is lost (the WAL-reset
 * fault). */
static enum mq_status copy(struct mq_sqlite *self, struct mq_error *err)
{
    bool all = false;
    bool restarts = self->restart_due;
    enum mq_status status = checkpoint(
        self, restarts ? SQLITE_CHECKPOINT_RESTART : SQLITE_CHECKPOINT_PASSIVE, &all, err);

    self->restart_due = !restarts && !all;
    if (all && restarts) {
        self->wal_frames = 0;
    }
    if (all) {
        self->retry_frames = 0;
    } else if (self->retry_frames == 0) {
        self->retry_frames = RETRY_FRAMES;
    } else if (restarts && self->retry_frames < DUE_FRAMES) {
        self->retry_frames *= 2;
    }
    self->due_frames = self->wal_frames + (all ? DUE_FRAMES : self->retry_frames);
    return status;
}

void mq_sqlite_wal_cap(struct mq_sqlite *self)
{
    if (self->worker || self->wal_frames < self->due_frames) {
        return;
    }
    if (self->wal_frames >= CAP_FRAMES || mq_sqlite_alone(self->file_fd)) {
        copy(self, NULL);
    }
    self->due_frames = self->wal_frames + DUE_FRAMES / 2; /* the next look is that much later */
}

/* The WAL's length is known from our own commits. A worker that has nothing to do makes none, and
 * must ask how far producers have come: a checkpoint tells, and copies what it finds. A file that
 * once grew keeps its size although it is used from its start again. */
static enum mq_status keep_short(struct mq_sqlite *self, struct mq_error *err)
{
    bool all;
    bool fresh = self->wal_frames_fresh;
    int64_t now_us = mq_sqlite_monotonic_us();
    if (now_us >= self->shrink_after_us) {
        self->shrink_after_us = now_us + SHRINK_EVERY_US;
        if (mq_sqlite_wal_bytes(&self->base) > TRUNCATE_BYTES) {
            enum mq_status status = checkpoint(self, SQLITE_CHECKPOINT_TRUNCATE, &all, err);
            if (all) {
                restarted(self); /* what the reader made due is done */
            }
            return status;
        }
    }
    self->wal_frames_fresh = false;
    if (fresh ? self->wal_frames < self->due_frames
              : now_us < self->look_after_us || mq_sqlite_wal_bytes(&self->base) < LOOK_BYTES) {
        return MQ_OK;
    }
    self->look_after_us = now_us + LOOK_EVERY_US;
    return copy(self, err);
}

enum mq_status mq_sqlite_maintain(struct mq_db *db, struct mq_error *err)
{
    struct mq_sqlite *self = mq_sqlite_of(db);
    enum mq_status status = mq_sqlite_usable(self, err);
    if (status != MQ_OK || self->memory || self->begun || strcmp(self->journal, "wal") != 0) {
        return status;
    }
    mq_sqlite_finish(db);
    status = mq_sqlite_guard(self, err); /* an old WAL must not go into a new file */
    if (status == MQ_OK) {
        status = mq_sqlite_after_failed_sync(self, err);
    }
    return status == MQ_OK ? keep_short(self, err) : status;
}
