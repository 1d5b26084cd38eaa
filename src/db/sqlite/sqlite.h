/* The native SQLite driver. */
#ifndef MQ_DB_SQLITE_SQLITE_H
#define MQ_DB_SQLITE_SQLITE_H

#include "db/db.h"

struct mq_sqlite_options {
    const char *path;        /* a file's absolute path; for unit tests also ":memory:" */
    const char *journal;     /* "wal", "truncate" or "delete" for a file that this call creates.
                                NULL: WAL if SQLite has the WAL-reset fix and the file is not on a
                                network, or else TRUNCATE. An existing file keeps its mode. */
    bool synchronous_normal; /* FULL otherwise */
    bool worker;             /* does checkpoints in maintain(); others only when the WAL is long */
    bool must_exist;         /* do not create the file */
    int busy_timeout_ms;
};

/* Fails with MQ_CANTOPEN, MQ_READONLY, MQ_CORRUPT or MQ_CONFIG (WAL on a network file system). The
 * text names path, reason and cure. */
enum mq_status mq_sqlite_open(const struct mq_sqlite_options *options, struct mq_db **out,
                              struct mq_error *err);

const char *mq_sqlite_version(void); /* of the library in use */
/* Whether the library in use has the fix of the WAL-reset fault (3.51.3; 3.50.7 and 3.44.6). */
bool mq_sqlite_wal_safe(void);
/* The journal that a transaction writes: "wal", "delete", "truncate", … */
const char *mq_sqlite_journal(struct mq_db *db);

#endif
