/* That the open file is the one that others see, and that its WAL is synced and stays short. */
#ifndef MQ_DB_SQLITE_FILE_GUARD_H
#define MQ_DB_SQLITE_FILE_GUARD_H

#include "db/sqlite/internal.h"

/* file_guard.c */
/* Not in a forked child, open, and not found replaced before. */
enum mq_status mq_sqlite_usable(struct mq_sqlite *self, struct mq_error *err);
/* Takes the identity of file and WAL at the first call, and compares it from then on; MQ_REPLACED
 * marks the connection dead. */
enum mq_status mq_sqlite_guard(struct mq_sqlite *self, struct mq_error *err);
/* At a transaction's start, in which no other process changes the file to WAL or from it: sets the
 * journal mode, and takes the identity of a WAL that the file did not have when it was opened. */
enum mq_status mq_sqlite_note_journal(struct mq_sqlite *self, struct mq_error *err);
/* After a commit: whether what was committed is in the file that others see. */
enum mq_status mq_sqlite_guard_commit(struct mq_sqlite *self, struct mq_error *err);
/* Whether the WAL, or a rollback journal, is open. */
bool mq_sqlite_journal_open(struct mq_sqlite *self);

/* failed_sync.c: between transactions. MQ_IO: the WAL could not be cut yet, and nothing may be
 * stored until then. */
enum mq_status mq_sqlite_after_failed_sync(struct mq_sqlite *self, struct mq_error *err);

/* checkpoint.c */
void mq_sqlite_wal_install(struct mq_sqlite *self);
/* After a producer's commit: keeps the WAL bounded. */
void mq_sqlite_wal_cap(struct mq_sqlite *self);
/* Decides whether closing copies the WAL into the database and deletes it. */
void mq_sqlite_wal_before_close(struct mq_sqlite *self);
enum mq_status mq_sqlite_maintain(struct mq_db *db, struct mq_error *err);

#endif
