/* Writing a WAL once more after a sync that failed.
 *
 * The frames that are in use are read back and written to where they are: with the write lock, so
 * that no other process adds to them. What could not be written may be gone from the system's
 * cache, and what is read then is what the disk has: so the frames' salts and checksums are
 * compared, which go on from frame to frame (https://www.sqlite.org/fileformat2.html#walformat).
 * How many there are is in the WAL's index (https://www.sqlite.org/walformat.html, section 2.1). */
#include <stdlib.h>
#include <string.h>

#include "db/sqlite_private.h"

enum {
    HEADER_BYTES = 32,
    FRAME_HEADER_BYTES = 24,
    PAGE_MAX = 65536,
    INDEX_BYTES = 32768, /* of its first part, as SQLite maps it */
    INDEX_FRAMES = 16,   /* where in it the number of the last frame in use is */
    MAGIC = 0x377f0682   /* plus 1: checksums of big-endian numbers */
};

struct chain {
    uint32_t sums[2];
    bool big_endian;
};

static uint32_t big(const unsigned char *at)
{
    return (uint32_t)at[0] << 24 | (uint32_t)at[1] << 16 | (uint32_t)at[2] << 8 | at[3];
}

static uint32_t little(const unsigned char *at)
{
    return (uint32_t)at[3] << 24 | (uint32_t)at[2] << 16 | (uint32_t)at[1] << 8 | at[0];
}

static void add(struct chain *chain, const unsigned char *bytes, size_t len)
{
    for (size_t i = 0; i < len; i += 8) {
        bool as_big = chain->big_endian;

        chain->sums[0] += (as_big ? big(bytes + i) : little(bytes + i)) + chain->sums[1];
        chain->sums[1] += (as_big ? big(bytes + i + 4) : little(bytes + i + 4)) + chain->sums[0];
    }
}

static bool matches(const struct chain *chain, const unsigned char *sums)
{
    return chain->sums[0] == big(sums) && chain->sums[1] == big(sums + 4);
}

static bool rewrite(sqlite3_file *wal, unsigned char *bytes, int len, sqlite3_int64 at)
{
    return wal->pMethods->xWrite(wal, bytes, len, at) == SQLITE_OK;
}

static bool rewrite_header(sqlite3_file *wal, unsigned char header[HEADER_BYTES],
                           struct chain *chain)
{
    uint32_t page;

    if (wal->pMethods->xRead(wal, header, HEADER_BYTES, 0) != SQLITE_OK)
        return false;
    *chain = (struct chain){.big_endian = big(header) & 1};
    add(chain, header, HEADER_BYTES - 8);
    page = big(header + 8);
    return (big(header) & ~1u) == MAGIC && page >= 512 && page <= PAGE_MAX && page % 8 == 0 &&
           matches(chain, header + HEADER_BYTES - 8) && rewrite(wal, header, HEADER_BYTES, 0);
}

static bool rewrite_frames(sqlite3_file *wal, uint32_t count, unsigned char *frame)
{
    unsigned char header[HEADER_BYTES];
    sqlite3_int64 at = HEADER_BYTES;
    struct chain chain;
    int len;

    if (!rewrite_header(wal, header, &chain))
        return false;
    len = FRAME_HEADER_BYTES + (int)big(header + 8);
    for (uint32_t i = 0; i < count; i++, at += len) {
        if (wal->pMethods->xRead(wal, frame, len, at) != SQLITE_OK)
            return false;
        add(&chain, frame, 8);
        add(&chain, frame + FRAME_HEADER_BYTES, (size_t)len - FRAME_HEADER_BYTES);
        if (memcmp(frame + 8, header + 16, 8) != 0 || !matches(&chain, frame + 16) ||
            !rewrite(wal, frame, len, at))
            return false;
    }
    return true;
}

static bool frames_in_use(struct mq_sqlite *self, uint32_t *out)
{
    sqlite3_file *file = NULL;
    volatile void *index = NULL;

    if (sqlite3_file_control(self->handle, "main", SQLITE_FCNTL_FILE_POINTER, &file) != SQLITE_OK ||
        !file || !file->pMethods || file->pMethods->iVersion < 2 ||
        file->pMethods->xShmMap(file, 0, INDEX_BYTES, 0, &index) != SQLITE_OK || !index)
        return false;
    memcpy(out, (const char *)(uintptr_t)index + INDEX_FRAMES, sizeof(*out));
    return true;
}

bool mq_sqlite_rewrite_wal(struct mq_sqlite *self, sqlite3_file *wal)
{
    unsigned char *frame;
    uint32_t count = 0;
    bool done;

    if (!frames_in_use(self, &count))
        return false;
    if (count == 0)
        return true; /* all is in the database */
    frame = malloc(FRAME_HEADER_BYTES + PAGE_MAX);
    done = frame && rewrite_frames(wal, count, frame);
    free(frame);
    return done && wal->pMethods->xSync(wal, SQLITE_SYNC_NORMAL) == SQLITE_OK;
}
