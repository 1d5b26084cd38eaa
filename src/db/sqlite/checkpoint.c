/* Checkpoints copy the WAL into the database. Each syncs twice, so producers leave them to the
 * worker. A cap makes producers checkpoint too, which keeps the WAL bounded without a worker. */
#include <string.h>

#include "db/sqlite/file_guard.h"

enum {
    DUE_FRAMES = 1000,    /* A worker checkpoints after this many new frames, SQLite's default. So
                             does a producer if no other process has the file open. */
    CAP_FRAMES = 4096,    /* frames at which any producer checkpoints: 32 MiB with the page size of
                             the files that we create, 16 MiB with pages of 4 KiB */
    RETRY_FRAMES = 50,    /* new frames after an incomplete checkpoint, doubled each time */
    LOOK_BYTES = 4 << 20, /* in a smaller WAL, an idle worker does not look for frames of others */
    LOOK_EVERY_US = 100000,    /* how often an idle worker looks for frames of others */
    TRUNCATE_BYTES = 64 << 20, /* a worker tries to shrink a larger WAL. This is twice the cap,
                                  because commits are slow while a cut WAL grows again */
    RESTART_WAIT_US = 2000,    /* how long to wait for readers, while writers cannot write */
    SHRINK_EVERY_US = 1000000,
    LEFT_BYTES = 256 << 10, /* a producer that closes leaves a WAL up to this size, */
    LEFT_FRAMES = 32,       /* or with up to this many frames in use, if it knows their number */
};

static void restarted(struct mq_sqlite *self)
{
    self->due_frames = DUE_FRAMES;
    self->retry_frames = 0;
}

/* SQLite calls this within sqlite3_step(), so it only notes the number. */
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
    sqlite3_wal_hook(self->handle, note_frames, self); /* replaces the automatic checkpoints */
}

/* A producer that closes leaves a small WAL in place. To open, store and close then takes half as
 * long as with a checkpoint and a deletion; with 1,000 pages left it takes 1.6 times as long,
 * because the next process reads the whole WAL. The worker closes as SQLite does by default, so
 * that little is outside the database file between its runs. */
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
    /* A connection that lost its file, or cannot tell whether it did, must not copy its WAL and
     * must not delete the file that has the WAL's name now. */
    bool leave = self->reader || self->replaced || !self->wal_known ||
                 mq_sqlite_after_failed_sync(self, NULL) != MQ_OK || leaves(self) ||
                 mq_sqlite_guard(self, NULL) != MQ_OK;

    if (leave) {
        sqlite3_db_config(self->handle, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1, NULL);
    }
}

/* *all: all frames of the WAL are in the database now. */
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
        return MQ_OK; /* hindered by readers or another checkpoint: try again next time */
    }
    return mq_sqlite_error(self, sqlite3_extended_errcode(self->handle), err);
}

/* PASSIVE: copies the WAL while others write. If that copied all frames, SQLite's next writer
 * starts at the beginning of the WAL again, unless a reader still needs it.
 *
 * RESTART: if frames were left, the next call takes the write lock and copies the few that are new,
 * so that the WAL is used from its start again. Without this, a checkpoint under steady load never
 * catches up with the writers and the file grows; a sync of a growing file costs twice as much as
 * one of a file that is overwritten. RESTART fails while a reader needs old frames, or if writers
 * leave no gap. The same call must not do both: before SQLite 3.51.3, a checkpoint right after
 * another one may believe that it copied frames which a writer adds meanwhile, and they are lost
 * (the WAL-reset fault). */
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
    self->due_frames = self->wal_frames + DUE_FRAMES / 2; /* when to try again */
}

/* The worker's own commits tell how long the WAL is. An idle worker makes none, so it runs a
 * checkpoint now and then, which copies what producers have added. A WAL that once grew keeps its
 * size although it is used from its start again, so a large one is truncated. */
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
                restarted(self); /* no frames are left over for a retry */
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
