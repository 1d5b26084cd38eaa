/* The native SQLite driver. */
#ifndef MQ_DB_SQLITE_SQLITE_H
#define MQ_DB_SQLITE_SQLITE_H

#include "db/db.h"

struct mq_sqlite_options {
    const char *path;        /* a file's absolute path; for unit tests also ":memory:" */
    const char *journal;     /* NULL: WAL only where SQLite has the WAL-reset fix, else TRUNCATE;
                                "wal", "truncate", "delete": for a file that this call creates.
                                The mode of a file that exists is never changed. */
    bool synchronous_normal; /* FULL otherwise */
    bool worker;             /* does checkpoints in maintain(); producers do none but for a cap */
    bool must_exist;         /* do not create the file */
    int busy_timeout_ms;
};

/* MQ_CANTOPEN, MQ_READONLY, MQ_CORRUPT, MQ_CONFIG (WAL on a network file system): the text names
 * the path, the reason and the cure. */
enum mq_status mq_sqlite_open(const struct mq_sqlite_options *options, struct mq_db **out,
                              struct mq_error *err);

const char *mq_sqlite_version(void); /* of the library in use */
/* Whether that library has the fix of the WAL-reset fault (3.51.3; 3.50.7 and 3.44.6). */
bool mq_sqlite_wal_safe(void);
/* "wal", "delete", "truncate", … that a transaction writes. */
const char *mq_sqlite_journal(struct mq_db *db);
/* Whether this is a forked child of the process that opened: every call but close() fails then. */
bool mq_sqlite_forked(struct mq_db *db);
/* Size of the -wal file; 0 without one. One that stays large after maintain() is kept from
 * shrinking by a long reader. */
int64_t mq_sqlite_wal_bytes(struct mq_db *db);

#endif
