/* Identifies files by device and inode, given a name or a descriptor. */
#include "core/file_id.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

enum { FEW_FDS = 64, MANY_FDS = 1024, FILES = 3 };

/* Asks for the inode only. A stat() that also reads the times makes Linux 6.13 and later
 * (fine-grained timestamps) update them at the next write, which on ext4 costs more than the whole
 * guard of the database file. An empty `path` means the descriptor itself. */
static bool ask_identity(int fd, const char *path, struct mq_file_id *out)
{
#ifdef STATX_INO
    struct statx info;

    if (statx(fd, path, *path ? 0 : AT_EMPTY_PATH, STATX_INO, &info) == 0) {
        *out = (struct mq_file_id){makedev(info.stx_dev_major, info.stx_dev_minor), info.stx_ino};
        return true;
    }
    if (errno != ENOSYS && errno != EPERM) {
        return false;
    }
#endif
    struct stat old;

    if ((*path ? stat(path, &old) : fstat(fd, &old)) != 0) {
        return false;
    }
    *out = (struct mq_file_id){old.st_dev, old.st_ino};
    return true;
}

bool mq_file_id_of(const char *path, struct mq_file_id *out)
{
    return ask_identity(AT_FDCWD, path, out);
}

bool mq_file_id_same(const struct mq_file_id *a, const struct mq_file_id *b)
{
    return a->device == b->device && a->inode == b->inode;
}

bool mq_file_id_of_fd(int fd, struct mq_file_id *out)
{
    return fd >= 0 && ask_identity(fd, "", out);
}

/* Sets fds[i] to fd if that is file ids[i]. Returns whether all files have a descriptor now. */
static bool match_fd(int fd, const struct mq_file_id *ids, int *fds, int count)
{
    struct mq_file_id id;
    bool all = true;
    if (!mq_file_id_of_fd(fd, &id)) {
        return false;
    }
    for (int i = 0; i < count; i++) {
        if (fds[i] < 0 && mq_file_id_same(&id, &ids[i])) {
            fds[i] = fd;
        }
        all = all && fds[i] >= 0;
    }
    return all;
}

/* Searches the process's list of descriptors; without /proc it tries one number after another. */
static void search_all(const struct mq_file_id *ids, int *fds, int count)
{
    DIR *directory = opendir("/proc/self/fd");
    struct dirent *entry;
    bool all = false;
    for (int fd = FEW_FDS; !directory && fd < MANY_FDS && !all; fd++) {
        all = match_fd(fd, ids, fds, count);
    }
    while (directory && !all && (entry = readdir(directory))) {
        all = entry->d_name[0] != '.' && match_fd(atoi(entry->d_name), ids, fds, count);
    }
    if (directory) {
        closedir(directory);
    }
}

/* Finds descriptors that other code opened. It only calls statx() on them: if we opened the files
 * ourselves, closing them would drop SQLite's locks. Most processes have few descriptors. */
void mq_file_find_fds(const struct mq_file_id *ids, int *fds, int count)
{
    /* Tried first: a program that reopens the same files usually gets the same descriptors. */
    static _Atomic int last_found[FILES];
    bool all = false;

    for (int i = 0; i < count; i++) {
        fds[i] = -1;
    }
    for (int i = 0; i < count && i < FILES && !all; i++) {
        all = match_fd(last_found[i], ids, fds, count);
    }
    for (int fd = 0; fd < FEW_FDS && !all; fd++) {
        all = match_fd(fd, ids, fds, count);
    }
    for (int i = 0; all && i < count && i < FILES; i++) {
        last_found[i] = fds[i];
    }
    if (!all) {
        search_all(ids, fds, count);
    }
}

int mq_file_find_fd(const struct mq_file_id *id)
{
    int fd;
    mq_file_find_fds(id, &fd, 1);
    return fd;
}

/* Whether the file begins like a database or, in either byte order, like a WAL or a WAL's index. */
static bool is_sqlite(int fd)
{
    static const struct {
        unsigned char bytes[16];
        size_t len;
    } beginnings[] = {
        {"SQLite format 3", 16},       {{0x37, 0x7f, 0x06, 0x82}, 4}, {{0x37, 0x7f, 0x06, 0x83}, 4},
        {{0x18, 0xe2, 0x2d, 0x00}, 4}, {{0x00, 0x2d, 0xe2, 0x18}, 4},
    };
    unsigned char found[16];
    ssize_t n = pread(fd, found, sizeof(found), 0);

    for (size_t i = 0; i < sizeof(beginnings) / sizeof(beginnings[0]); i++) {
        if (n >= (ssize_t)beginnings[i].len &&
            memcmp(found, beginnings[i].bytes, beginnings[i].len) == 0) {
            return true;
        }
    }
    return false;
}

bool mq_file_is_open_database(const char *path)
{
    struct mq_file_id id;
    int fd = mq_file_id_of(path, &id) ? mq_file_find_fd(&id) : -1;
    return fd >= 0 && is_sqlite(fd);
}

bool mq_file_is_own(int fd, char why[MQ_FILE_WHY])
{
    struct stat st;
    if (fstat(fd, &st) != 0) {
        snprintf(why, MQ_FILE_WHY, "cannot be looked at: %.40s", strerror(errno));
    } else if (!S_ISREG(st.st_mode)) {
        snprintf(why, MQ_FILE_WHY, "is not a regular file");
    } else if (st.st_uid != geteuid()) {
        snprintf(why, MQ_FILE_WHY, "belongs to user %ld, not to user %ld", (long)st.st_uid,
                 (long)geteuid());
    } else if (st.st_nlink > 1) {
        snprintf(why, MQ_FILE_WHY, "has another name too (a hard link)");
    } else {
        return true;
    }
    return false;
}
