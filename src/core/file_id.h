/* Identifies files whatever their names are, and finds those that this process has open.
 *
 * Closing any descriptor of a file drops all POSIX locks of the process on it, SQLite's too. So a
 * file that a user names is checked before it is opened. */
#ifndef MQ_CORE_FILE_ID_H
#define MQ_CORE_FILE_ID_H

#include <stdbool.h>
#include <sys/types.h>

/* The system does not reuse an inode number while a process has the file open. */
struct mq_file_id {
    dev_t device;
    ino_t inode;
};

/* These two return false if the system call fails. */
bool mq_file_id_of(const char *path, struct mq_file_id *out);
bool mq_file_id_of_fd(int fd, struct mq_file_id *out);
bool mq_file_id_same(const struct mq_file_id *a, const struct mq_file_id *b);

/* Sets fds[i] to a descriptor that this process has for the file ids[i], or to -1. */
void mq_file_find_fds(const struct mq_file_id *ids, int *fds, int count);
int mq_file_find_fd(const struct mq_file_id *id);

#define MQ_FILE_WHY 64
/* Whether an open file is a regular file, belongs to the process's user and has no second name. If
 * not, `why` says the reason, such as "belongs to user 33". */
bool mq_file_is_own(int fd, char why[MQ_FILE_WHY]);

/* Whether this process has the file open (under any name), and it is an SQLite database, a WAL or a
 * WAL's index. */
bool mq_file_is_open_database(const char *path);

#endif
