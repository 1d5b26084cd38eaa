/* Checks names of files before SQLite opens them. */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/vfs.h>

#include "db/sqlite/internal.h"

void mq_sqlite_directory(const char *name, char out[PATH_MAX])
{
    const char *slash = strrchr(name, '/');
    int len = slash && slash > name ? (int)(slash - name) : 1;
    snprintf(out, PATH_MAX, "%.*s", len, slash ? name : ".");
}

/* Whether the name ends with "/", "/." or "/..". SQLite would drop that end and create a file with
 * the name of the directory. */
static bool names_directory(const char *name)
{
    const char *last = strrchr(name, '/') + 1;
    return *last == '\0' || strcmp(last, ".") == 0 || strcmp(last, "..") == 0;
}

/* Returns why an existing file cannot be the database, or NULL if it can. */
static const char *fault_of(const struct stat *info, bool must_exist)
{
    if (S_ISDIR(info->st_mode)) {
        return "it is a directory: give the path of a file";
    }
    if (!S_ISREG(info->st_mode)) {
        return "it is not a regular file: give the path of a file";
    }
    /* An empty file is refused if it must exist: somebody may be about to restore it. */
    return must_exist && info->st_size == 0 ? "it is empty: correct the path, or create it first"
                                            : NULL;
}

/* Uses stat(), never open(): to close the file would drop the locks of every connection of this
 * process. */
enum mq_status mq_sqlite_look(struct mq_sqlite *self, bool must_exist, bool *empty,
                              struct mq_error *err)
{
    struct stat info = {0};
    const char *fault = NULL;
    if (names_directory(self->name)) {
        fault = "by its end it is a directory: give the path of a file";
    } else if (stat(self->name, &info) == 0) {
        fault = fault_of(&info, must_exist);
    } else if (errno != ENOENT) {
        return mq_error_set(err, MQ_CANTOPEN, "database",
                            "cannot open %s: %s: check the rights of the directories above it",
                            self->name, strerror(errno));
    } else if (must_exist) {
        fault = "it does not exist: correct the path, or create it first";
    }
    *empty = info.st_size == 0;
    return fault
               ? mq_error_set(err, MQ_CANTOPEN, "database", "cannot open %s: %s", self->name, fault)
               : MQ_OK;
}

/* f_type of statfs(2). FUSE is here because it can be a network, such as sshfs. */
static const unsigned int network_magic[] = {
    0x6969,     /* NFS */
    0x517b,     /* SMB */
    0xfe534d42, /* SMB2 */
    0xff534d42, /* CIFS */
    0x65735546, /* FUSE */
    0x01021997, /* 9P */
    0x00c36400, /* Ceph */
    0x5346414f, /* AFS */
    0x6b414653, /* AFS, the kernel's */
    0x73757245, /* Coda */
    0x564c,     /* NCP */
    0x01161970, /* GFS2 */
    0x7461636f, /* OCFS2 */
    0x0bd00bd0, /* Lustre */
    0x19830326, /* BeeGFS */
    0x47504653, /* GPFS */
    0x20030528, /* OrangeFS */
    0x786f4256, /* VirtualBox shared folders */
    0xbacbacbc, /* VMware shared folders */
};

bool mq_sqlite_on_network(const char *name)
{
    struct statfs info;
    char directory[PATH_MAX];
    mq_sqlite_directory(name, directory);
    if (statfs(directory, &info) != 0) {
        return false;
    }
    for (size_t i = 0; i < sizeof(network_magic) / sizeof(network_magic[0]); i++) {
        if ((unsigned int)info.f_type == network_magic[i]) {
            return true;
        }
    }
    return false;
}
