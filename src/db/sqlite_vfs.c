/* SQLite's own VFS, but for the sync of the directory that a WAL in use does not need.
 *
 * SQLite opens the WAL as a file to be created, and the first sync of such a file syncs its
 * directory, too, so that the name survives a power failure. A request that opens, commits once and
 * closes pays for that each time: measured on ext4, a sixth of all it takes. Whoever writes the
 * header of a WAL syncs it, and by that its directory, before the first frame (sqlite.org's ticket
 * ff5be73dee). So a WAL that is longer than its header is opened as a file that exists.
 *
 * An application that writes with PRAGMA synchronous=OFF syncs nothing. A WAL that such a
 * connection began has its name from the file system's own care only: ext4, XFS and Btrfs store a
 * new file's name with its first sync. */
#include <pthread.h>
#include <string.h>

#include "db/sqlite.h"
#include "db/sqlite_private.h"

enum { WAL_HEADER_BYTES = 32 }; /* https://www.sqlite.org/fileformat2.html#walformat */

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static sqlite3_vfs *standard; /* NULL: ours is not registered */
static sqlite3_vfs ours;

/* The length is asked for once the file is open: it cannot become another file's any more. */
static bool open_used_wal(const char *name, sqlite3_file *file, int flags, int *granted)
{
    sqlite3_int64 bytes = 0;
    int there = 0;
    bool open;

    if (standard->xAccess(standard, name, SQLITE_ACCESS_EXISTS, &there) != SQLITE_OK || !there)
        return false;
    open = standard->xOpen(standard, name, file, flags & ~SQLITE_OPEN_CREATE, granted) == SQLITE_OK;
    if (open && !(*granted & SQLITE_OPEN_READONLY) &&
        file->pMethods->xFileSize(file, &bytes) == SQLITE_OK && bytes > WAL_HEADER_BYTES)
        return true;
    if (file->pMethods)
        file->pMethods->xClose(file); /* locks are on the database and the WAL's index, not here */
    return false;
}

static int open_file(sqlite3_vfs *self, const char *name, sqlite3_file *file, int flags,
                     int *granted)
{
    int used = 0;

    (void)self;
    if ((flags & SQLITE_OPEN_WAL) && open_used_wal(name, file, flags, &used)) {
        if (granted)
            *granted = used;
        return SQLITE_OK;
    }
    return standard->xOpen(standard, name, file, flags, granted);
}

/* Only SQLite's own is stood in for, as far as its members are known: it lives as long as SQLite,
 * and is no part of a larger structure. */
static bool is_plain(const sqlite3_vfs *vfs)
{
    return vfs && strcmp(vfs->zName, "unix") == 0 && vfs->iVersion <= 3;
}

const char *mq_sqlite_vfs(void)
{
    const char *name = NULL;
    sqlite3_vfs *found;

    pthread_mutex_lock(&lock);
    found = sqlite3_vfs_find(NULL);
    if (!standard && is_plain(found)) {
        ours = *found;
        ours.pNext = NULL;
        ours.zName = "mailqueue";
        ours.xOpen = open_file;
        if (sqlite3_vfs_register(&ours, 0) == SQLITE_OK)
            standard = found;
    }
    if (standard && found == standard) /* the application has not chosen another one since */
        name = ours.zName;
    pthread_mutex_unlock(&lock);
    return name;
}

void mq_sqlite_shutdown(void)
{
    pthread_mutex_lock(&lock);
    if (standard)
        sqlite3_vfs_unregister(&ours);
    standard = NULL;
    pthread_mutex_unlock(&lock);
}
