/* What the disk of power_vfs.c has, and what is on its way to it. */
#ifndef MQ_TESTS_POWER_DISK_H
#define MQ_TESTS_POWER_DISK_H

#include <stddef.h>
#include <stdint.h>

/* A file, whatever its name. */
struct inode;
/* A name and what is under it. */
struct name;

/* Nobody may have a file open that is new to this: it is read, and that would drop its locks. */
struct name *disk_name(const char *path);
/* NULL: there is no such file. */
struct inode *disk_inode(const struct name *name);
struct inode *disk_create(struct name *name);
void disk_delete(struct name *name);

void disk_write(struct inode *inode, size_t offset, const void *bytes, size_t len);
void disk_truncate(struct inode *inode, size_t len);
void disk_sync(struct inode *inode);
/* What waits for a sync is never written. */
void disk_lose(struct inode *inode);
/* The same, and where it would have made the file longer, nothing is until the file is cut: so does
 * ext4. */
void disk_spoil(struct inode *inode);
void disk_sync_directory(const char *path);

/* As power_restore(). */
void disk_restore(uint32_t seed);
void disk_forget(void);

#endif
