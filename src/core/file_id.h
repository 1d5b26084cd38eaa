/* What tells files apart, whatever they are called, and which of them this process has open.
 *
 * Closing any descriptor of a file drops all POSIX locks of the process on it, SQLite's too: so
 * what a user names is asked about before it is opened. */
#ifndef MQ_CORE_FILE_ID_H
#define MQ_CORE_FILE_ID_H

#include <stdbool.h>
#include <sys/types.h>

/* No inode number is given away again while somebody has the file open. */
struct mq_file_id {
    dev_t device;
    ino_t inode;
};

/* False: it cannot be asked. */
bool mq_file_id_of(const char *path, struct mq_file_id *out);
bool mq_file_id_of_fd(int fd, struct mq_file_id *out);
bool mq_file_id_same(const struct mq_file_id *a, const struct mq_file_id *b);

/* Descriptors of this process for those files, or -1. */
void mq_file_find_fds(const struct mq_file_id *ids, int *fds, int count);
int mq_file_find_fd(const struct mq_file_id *id);

#define MQ_FILE_WHY 64
/* Whether an open file is a regular one of this process's user with no second name; else `why` says
 * what it is: "belongs to user 33". */
bool mq_file_is_own(int fd, char why[MQ_FILE_WHY]);

/* Whether the path, by whichever name, is an SQLite database, a WAL or its index that this process
 * has open. */
bool mq_file_is_open_database(const char *path);

#endif
