/* Only the files of the native SQLite driver include this. They are listed in the order of use:
 * each file calls only functions of files above it. */
#ifndef MQ_DB_SQLITE_INTERNAL_H
#define MQ_DB_SQLITE_INTERNAL_H

#include <limits.h>

#include "db/sqlite/open_file.h"

/* lock_wait.c */
int64_t mq_sqlite_monotonic_us(void);
void mq_sqlite_busy_install(struct mq_sqlite *self);
/* Whether another process has the exclusive lock on the database open as `fd`; false if unknown. */
bool mq_sqlite_shut_out(int fd);
/* Whether no other process has the database of `fd` open in WAL mode; false if unknown. */
bool mq_sqlite_alone(int fd);
/* Sets the text for a lock that another connection did not release in time; MQ_BUSY. */
enum mq_status mq_sqlite_busy_error(struct mq_sqlite *self, struct mq_error *err);

/* file_name.c */
/* Checks self->name without opening the file; MQ_CANTOPEN. *empty: the file has no contents yet, or
 * does not exist and may be created. */
enum mq_status mq_sqlite_look(struct mq_sqlite *self, bool must_exist, bool *empty,
                              struct mq_error *err);
/* The directory of an absolute name, cut to fit. */
void mq_sqlite_directory(const char *name, char out[PATH_MAX]);
/* Whether an absolute name is on a network file system. */
bool mq_sqlite_on_network(const char *name);

/* result_code.c: status and text for the handle's last error. */
enum mq_status mq_sqlite_error(struct mq_sqlite *self, int code, struct mq_error *err);
/* Marks the connection dead, because another file has the database's name. Returns MQ_REPLACED.
 * `committed`: a commit has just succeeded, and may be lost. */
enum mq_status mq_sqlite_gone(struct mq_sqlite *self, bool committed, struct mq_error *err);
long mq_sqlite_owner(const char *path); /* user ID; -1: unknown */

/* read_only.c: sets self->reader. Then fails for a worker, or in WAL mode without -wal or -shm. */
enum mq_status mq_sqlite_note_reader(struct mq_sqlite *self, struct mq_error *err);

/* pragma.c */
enum mq_status mq_sqlite_pragma(struct mq_sqlite *self, const char *sql, struct mq_error *err);
/* A pragma's single value as text, cut to fit. */
enum mq_status mq_sqlite_pragma_text(struct mq_sqlite *self, const char *sql,
                                     char out[MQ_PRAGMA_MAX], struct mq_error *err);
/* "wal", "delete", … */
enum mq_status mq_sqlite_ask_journal(struct mq_sqlite *self, char out[MQ_PRAGMA_MAX],
                                     struct mq_error *err);

/* prepared.c */
enum mq_status mq_sqlite_run(struct mq_db *db, const struct mq_query *query, struct mq_error *err);
enum mq_status mq_sqlite_next(struct mq_db *db, bool *row, struct mq_error *err);
struct mq_value mq_sqlite_column(struct mq_db *db, int index);
int mq_sqlite_columns(struct mq_db *db);
void mq_sqlite_finish(struct mq_db *db);
enum mq_status mq_sqlite_run_fixed(struct mq_sqlite *self, enum mq_fixed which,
                                   struct mq_error *err);
void mq_sqlite_finalize_all(struct mq_sqlite *self);

/* connect.c: opens self->name, and gives an empty file its page size and journal mode. On failure
 * self->handle is NULL. */
enum mq_status mq_sqlite_connect(struct mq_sqlite *self, bool must_exist, struct mq_error *err);
/* Whether that version (3.51.3 is 3051003) has the fix of the WAL-reset fault. */
bool mq_sqlite_fixed_in(int version);
void mq_sqlite_disconnect(struct mq_sqlite *self);
/* Disconnects in a forked child, where nothing that the parent uses may be touched. */
void mq_sqlite_forget(struct mq_sqlite *self);

#endif
