/* Checks that the open file is still the one that others see. Keeps its WAL synced and short. */
#ifndef MQ_DB_SQLITE_FILE_GUARD_H
#define MQ_DB_SQLITE_FILE_GUARD_H

#include "db/sqlite/internal.h"

/* file_guard.c */
/* Fails in a forked child, if no file is open, and if the file was found replaced before. */
enum mq_status mq_sqlite_usable(struct mq_sqlite *self, struct mq_error *err);
/* Notes the identity of file and WAL at the first call and compares it at each later one.
 * MQ_REPLACED: another file has the name; the connection is marked dead. */
enum mq_status mq_sqlite_guard(struct mq_sqlite *self, struct mq_error *err);
/* To be called within a transaction, where no other process can switch WAL mode on or off. Notes
 * the journal mode, and the identity of a WAL that the file did not have when it was opened. */
enum mq_status mq_sqlite_note_journal(struct mq_sqlite *self, struct mq_error *err);
/* After a commit: fails if the commit may not be in the file that others see. */
enum mq_status mq_sqlite_guard_commit(struct mq_sqlite *self, struct mq_error *err);
/* Whether this is a forked child of the process that opened: every call but close() fails then. */
bool mq_sqlite_forked(struct mq_db *db);
/* Size of the -wal file; 0 without one. If it stays large after maintain(), a long reader keeps it
 * from shrinking. */
int64_t mq_sqlite_wal_bytes(struct mq_db *db);
/* Whether the WAL, or a rollback journal, is open. */
bool mq_sqlite_journal_open(struct mq_sqlite *self);

/* failed_sync.c: to be called between transactions. MQ_IO: the WAL could not be truncated yet;
 * nothing may be stored until it is. */
enum mq_status mq_sqlite_after_failed_sync(struct mq_sqlite *self, struct mq_error *err);

/* checkpoint.c */
void mq_sqlite_wal_install(struct mq_sqlite *self);
/* After a producer's commit: keeps the WAL bounded. */
void mq_sqlite_wal_cap(struct mq_sqlite *self);
/* Decides whether closing copies the WAL into the database and deletes it. */
void mq_sqlite_wal_before_close(struct mq_sqlite *self);
enum mq_status mq_sqlite_maintain(struct mq_db *db, struct mq_error *err);

#endif
