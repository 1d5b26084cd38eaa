/* For the tests of the SQLite driver: a scratch directory, and a second process with its own SQLite
 * connection, like another program on the same database. */
#ifndef MQ_TESTS_SQLITE_PEER_H
#define MQ_TESTS_SQLITE_PEER_H

#include <stdbool.h>
#include <sys/types.h>

#include "db/sqlite/sqlite.h"

struct peer {
    pid_t pid;
    int fd;
    char reply[512];
};

/* A directory with one database name, and a peer. The peer is forked before any connection is open,
 * because it must not inherit SQLite's list of locks. */
struct scene {
    char directory[64];
    char path[96];
    struct peer peer;
    struct mq_db *db;
    struct mq_error err;
};

int scene_setup(void **state);
int scene_teardown(void **state);

/* Runs SQL in the peer on its connection, which "open PATH" opens and "close" closes: the first
 * column of the last row, "" without one, or the text of an error. "hold MS": ends the peer's
 * transaction by COMMIT after that time, without an answer before. "lock": takes the exclusive
 * POSIX lock on the file opened last, without SQLite; "exit" ends the peer. */
const char *peer_ask(struct peer *peer, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
void peer_tell(struct peer *peer, const char *format, ...) __attribute__((format(printf, 2, 3)));
const char *peer_wait(struct peer *peer);
/* Opens the scene's file, asks for one value, closes. */
const char *peer_see(struct scene *scene, const char *sql);

/* Opens the scene's database with that journal mode and a table t(a TEXT); 300 ms busy timeout. */
void scene_open(struct scene *scene, const char *journal);
/* begin, insert `value`, commit. */
enum mq_status scene_store(struct scene *scene, const char *value);
enum mq_status run_sql(struct mq_db *db, const char *sql, struct mq_error *err);
/* One value as text; "" for NULL. */
const char *value_of(struct mq_db *db, const char *sql);

/* Does what PHP's copy() does to a file: opens, reads and closes it. */
void read_whole(const char *path);
void copy_file(const char *from, const char *to);
bool exists(const char *path);

#endif
