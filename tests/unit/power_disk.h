/* The contents of power_vfs.c's disk, and the writes that have not reached it yet. */
#ifndef MQ_TESTS_POWER_DISK_H
#define MQ_TESTS_POWER_DISK_H

#include <stddef.h>
#include <stdint.h>

/* A file, under any name. */
struct inode;
/* A name and the files that it stood for. */
struct name;

/* Nobody may have a file open that the disk does not know yet: the disk reads it, which would drop
 * its locks. */
struct name *disk_name(const char *path);
/* NULL: there is no such file. */
struct inode *disk_inode(const struct name *name);
struct inode *disk_create(struct name *name);
void disk_delete(struct name *name);

void disk_write(struct inode *inode, size_t offset, const void *bytes, size_t len);
void disk_truncate(struct inode *inode, size_t len);
void disk_sync(struct inode *inode);
/* Writes that wait for a sync are never written. */
void disk_lose(struct inode *inode);
/* The same; and where a write would have made the file longer, later writes are lost, too, until
 * the file is cut, as on ext4. */
void disk_spoil(struct inode *inode);
void disk_sync_directory(const char *path);

/* As power_restore(). */
void disk_restore(uint32_t seed);
void disk_forget(void);

#endif
