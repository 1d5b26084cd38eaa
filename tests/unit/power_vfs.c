/* The VFS between SQLite and the simulated disk, and how tests cut the power. */
#include "power_vfs.h"

#include <errno.h>
#include <sqlite3.h>
#include <stdlib.h>
#include <string.h>

#include "power_disk.h"

struct file {
    sqlite3_file base;
    struct inode *inode; /* NULL: a temporary file */
    enum power_kind kind;
    char *path;
    bool sync_directory; /* with the next sync */
};

static struct {
    struct power_counts counts;
    int left; /* operations until the power goes off; 0: it stays on */
    bool off;
    int fail[POWER_KINDS]; /* how many syncs fail */
    bool lost;
    int ill; /* operations until one fails; 0: none fails, 1: the next one */
    bool lasting;
    bool failed;
    void (*hook)(void *context, enum power_kind kind);
    void *context;
} machine;

static sqlite3_vfs *real;
static sqlite3_vfs ours;

static struct file *file_of(sqlite3_file *file)
{
    return (struct file *)file;
}

static sqlite3_file *real_of(sqlite3_file *file)
{
    return (sqlite3_file *)(file_of(file) + 1);
}

/* --- what SQLite calls --- */

static void sync_directory_of(const char *path)
{
    machine.counts.directories++;
    disk_sync_directory(path);
}

static bool healthy(void)
{
    if (machine.ill == 0 || --machine.ill > 0)
        return true;
    machine.failed = true;
    machine.ill = machine.lasting ? 1 : 0;
    errno = EIO;
    return false;
}

static bool powered(void)
{
    machine.counts.operations++;
    if (machine.left > 0 && --machine.left == 0)
        machine.off = true;
    return !machine.off;
}

static int close_file(sqlite3_file *file)
{
    free(file_of(file)->path);
    return real_of(file)->pMethods->xClose(real_of(file));
}

static int read_file(sqlite3_file *file, void *out, int len, sqlite3_int64 offset)
{
    if (file_of(file)->inode && !healthy())
        return SQLITE_IOERR_READ;
    return real_of(file)->pMethods->xRead(real_of(file), out, len, offset);
}

static int write_file(sqlite3_file *file, const void *bytes, int len, sqlite3_int64 offset)
{
    if (!file_of(file)->inode)
        return real_of(file)->pMethods->xWrite(real_of(file), bytes, len, offset);
    if (!powered() || !healthy())
        return SQLITE_IOERR_WRITE;
    disk_write(file_of(file)->inode, (size_t)offset, bytes, (size_t)len);
    return real_of(file)->pMethods->xWrite(real_of(file), bytes, len, offset);
}

static int truncate_file(sqlite3_file *file, sqlite3_int64 len)
{
    if (!file_of(file)->inode)
        return real_of(file)->pMethods->xTruncate(real_of(file), len);
    if (!powered() || !healthy())
        return SQLITE_IOERR_TRUNCATE;
    disk_truncate(file_of(file)->inode, (size_t)len);
    return real_of(file)->pMethods->xTruncate(real_of(file), len);
}

static void call_hook(enum power_kind kind)
{
    void (*hook)(void *context, enum power_kind kind) = machine.hook;

    machine.hook = NULL;
    if (hook)
        hook(machine.context, kind);
    if (!machine.hook)
        machine.hook = hook;
}

static int sync_file(sqlite3_file *file, int flags)
{
    struct file *self = file_of(file);
    struct inode *inode = self->inode;

    (void)flags;
    if (!inode)
        return SQLITE_OK;
    call_hook(self->kind);
    if (!powered())
        return SQLITE_IOERR_FSYNC;
    machine.counts.syncs[self->kind]++;
    if (!healthy()) {
        if (self->kind == POWER_WAL)
            disk_spoil(inode);
        return SQLITE_IOERR_FSYNC;
    }
    if (machine.fail[self->kind] > 0) {
        machine.fail[self->kind]--;
        if (machine.lost)
            disk_spoil(inode);
        errno = EIO;
        return SQLITE_IOERR_FSYNC;
    }
    disk_sync(inode);
    if (self->sync_directory)
        sync_directory_of(self->path);
    self->sync_directory = false;
    return SQLITE_OK;
}

static int size_of_file(sqlite3_file *file, sqlite3_int64 *out)
{
    return real_of(file)->pMethods->xFileSize(real_of(file), out);
}

static int lock(sqlite3_file *file, int level)
{
    return real_of(file)->pMethods->xLock(real_of(file), level);
}

static int unlock(sqlite3_file *file, int level)
{
    return real_of(file)->pMethods->xUnlock(real_of(file), level);
}

static int check_reserved(sqlite3_file *file, int *out)
{
    return real_of(file)->pMethods->xCheckReservedLock(real_of(file), out);
}

static int control(sqlite3_file *file, int operation, void *argument)
{
    return real_of(file)->pMethods->xFileControl(real_of(file), operation, argument);
}

static int sector_size(sqlite3_file *file)
{
    return real_of(file)->pMethods->xSectorSize(real_of(file));
}

static int characteristics(sqlite3_file *file)
{
    return real_of(file)->pMethods->xDeviceCharacteristics(real_of(file));
}

static int shm_map(sqlite3_file *file, int page, int size, int extend, void volatile **out)
{
    return real_of(file)->pMethods->xShmMap(real_of(file), page, size, extend, out);
}

static int shm_lock(sqlite3_file *file, int offset, int n, int flags)
{
    return real_of(file)->pMethods->xShmLock(real_of(file), offset, n, flags);
}

static void shm_barrier(sqlite3_file *file)
{
    real_of(file)->pMethods->xShmBarrier(real_of(file));
}

static int shm_unmap(sqlite3_file *file, int delete)
{
    return real_of(file)->pMethods->xShmUnmap(real_of(file), delete);
}

static const sqlite3_io_methods methods = {
    .iVersion = 2, /* no memory mapping, because its writes would not be seen */
    .xClose = close_file,
    .xRead = read_file,
    .xWrite = write_file,
    .xTruncate = truncate_file,
    .xSync = sync_file,
    .xFileSize = size_of_file,
    .xLock = lock,
    .xUnlock = unlock,
    .xCheckReservedLock = check_reserved,
    .xFileControl = control,
    .xSectorSize = sector_size,
    .xDeviceCharacteristics = characteristics,
    .xShmMap = shm_map,
    .xShmLock = shm_lock,
    .xShmBarrier = shm_barrier,
    .xShmUnmap = shm_unmap,
};

static int open_file(sqlite3_vfs *vfs, const char *path, sqlite3_file *file, int flags,
                     int *granted)
{
    const int kept = SQLITE_OPEN_MAIN_DB | SQLITE_OPEN_MAIN_JOURNAL | SQLITE_OPEN_WAL;
    struct file *self = file_of(file);
    struct name *name = path && (flags & kept) ? disk_name(path) : NULL;
    int code;

    (void)vfs;
    memset(self, 0, sizeof(*self));
    if (machine.off || (name && !healthy()))
        return SQLITE_CANTOPEN;
    code = real->xOpen(real, path, real_of(file), flags, granted);
    if (code != SQLITE_OK)
        return code;
    self->base.pMethods = &methods;
    if (!name)
        return SQLITE_OK;
    self->inode = disk_inode(name) ? disk_inode(name) : disk_create(name);
    self->path = strdup(path);
    self->kind = flags & SQLITE_OPEN_WAL            ? POWER_WAL
                 : flags & SQLITE_OPEN_MAIN_JOURNAL ? POWER_JOURNAL
                                                    : POWER_MAIN;
    self->sync_directory = (flags & SQLITE_OPEN_CREATE) && self->kind != POWER_MAIN;
    return SQLITE_OK;
}

static int delete_file(sqlite3_vfs *vfs, const char *path, int sync_directory)
{
    struct name *name = disk_name(path);
    int code;

    (void)vfs;
    if (!powered() || !healthy())
        return SQLITE_IOERR_DELETE;
    code = real->xDelete(real, path, 0);
    if (code == SQLITE_OK && disk_inode(name))
        disk_delete(name);
    if (code == SQLITE_OK && sync_directory)
        sync_directory_of(path);
    return code;
}

/* --- what tests call --- */

bool power_install(void)
{
    real = sqlite3_vfs_find("unix");
    if (!real)
        return false;
    ours = *real;
    ours.pNext = NULL;
    ours.szOsFile = (int)sizeof(struct file) + real->szOsFile;
    ours.xOpen = open_file;
    ours.xDelete = delete_file;
    return sqlite3_vfs_register(&ours, 1) == SQLITE_OK;
}

void power_uninstall(void)
{
    sqlite3_vfs_unregister(&ours);
    power_settle();
}

void power_settle(void)
{
    disk_forget();
    memset(&machine, 0, sizeof(machine));
}

void power_restore(uint32_t seed)
{
    disk_restore(seed);
    memset(&machine, 0, sizeof(machine));
}

void power_off_at(int operation)
{
    machine.left = operation;
}

void power_off(void)
{
    machine.off = true;
}

bool power_is_off(void)
{
    return machine.off;
}

void power_fail_syncs(enum power_kind kind, int count, bool lost)
{
    machine.fail[kind] = count;
    machine.lost = lost;
}

void power_fail_at(int operation, bool lasting)
{
    machine.ill = operation;
    machine.lasting = lasting;
    machine.failed = false;
}

bool power_has_failed(void)
{
    return machine.failed;
}

void power_heal(void)
{
    machine.ill = 0;
}

void power_on_sync(void (*hook)(void *context, enum power_kind kind), void *context)
{
    machine.hook = hook;
    machine.context = context;
}

const struct power_counts *power_counted(void)
{
    return &machine.counts;
}
