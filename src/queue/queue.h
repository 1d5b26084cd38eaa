/* The queue: its tables, enqueue, claim, settle, upkeep. Written once over db.h; the algorithms and
 * the invariants are described in docs/architecture.md.
 *
 * Ownership: a queue owns the connection it was opened with. Every function that fails leaves the
 * database as it was. Events are appended only for what was committed. */
#ifndef MQ_QUEUE_QUEUE_H
#define MQ_QUEUE_QUEUE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/clock.h"
#include "core/error.h"
#include "policy/backoff.h"

struct mq_db; /* db/db.h */
struct mq_queue;

struct mq_queue_options {
    const char *table;            /* "mail_queue"; identifiers: [A-Za-z_][A-Za-z0-9_]{0,62} */
    const char *config_table;     /* "config" */
    const char *reference_column; /* "reference" */
    const char *orphan_table;     /* NULL: no orphan check */
    const char *orphan_column;
    struct mq_backoff backoff;
    struct mq_clock clock;
    struct mq_random random;
};

void mq_queue_options_init(struct mq_queue_options *options); /* the defaults */
/* Of a table or column: letters, digits and underscores, which need no escaping in any dialect. */
bool mq_queue_is_name(const char *name);

/* Takes `db` over in any case (closes it on failure). Creates or migrates the tables. */
enum mq_status mq_queue_open(struct mq_db *db, const struct mq_queue_options *options,
                             struct mq_queue **out, struct mq_error *err);
void mq_queue_close(struct mq_queue *queue); /* NULL is allowed */
/* For those who made it; the worker asks the queue. */
struct mq_db *mq_queue_db(struct mq_queue *queue);
/* Opens the database again where it was replaced or its server was lost. MQ_CONFIG: that is
 * impossible, because the connection is the application's. */
enum mq_status mq_queue_reopen(struct mq_queue *queue, struct mq_error *err);
/* Upkeep of the database's files between transactions. */
void mq_queue_maintain(struct mq_queue *queue);
/* The queue's time, valid as long as the queue. On a file it is the clock of the options. On a
 * server, whose clients' clocks differ and jump, it is what the server said last and what
 * CLOCK_BOOTTIME has counted since: never behind the server, and ahead of it by at most a second
 * and the time of the question. Before the first answer it is the clock of the options. */
const struct mq_clock *mq_queue_clock(const struct mq_queue *queue);
/* The time that leases and tokens go by: a server is asked for its own. */
enum mq_status mq_queue_now(struct mq_queue *queue, int64_t *now_s, struct mq_error *err);
/* The absolute path of the database's file, owned by the queue; NULL: it has none. */
const char *mq_queue_path(const struct mq_queue *queue);
/* Whether machines may share the database: there is no file beside which anything could lie. */
bool mq_queue_is_shared(const struct mq_queue *queue);
/* Which tables these are, wherever they are seen from: the server, its database, the table. A text
 * without secrets for making other names from. NULL on a file, and where err says why. Owned by
 * the queue. */
const char *mq_queue_identity(struct mq_queue *queue, struct mq_error *err);
/* Brings the schema to this version under the write lock; returns the version in *version. */
enum mq_status mq_queue_migrate(struct mq_queue *queue, int *version, struct mq_error *err);
/* The job table's columns, from 0 on; NULL past the last one. Owned by the queue. */
const char *mq_queue_column(const struct mq_queue *queue, size_t i);
/* "integer" (32 bits on a server), "bigint" or "text". */
const char *mq_queue_column_type(size_t i);
/* Worker slots on a server (mq_queue_is_shared()): locks of the database, held by the session. They
 * go with the connection: one that is opened again holds none. Behind a pooler that gives each
 * transaction another session (pgbouncer in transaction mode) they hold nothing. */

/* Takes one of the slots 0 … max − 1 without waiting; *slot is -1 where all are taken. */
enum mq_status mq_queue_take_slot(struct mq_queue *queue, int max, int *slot, struct mq_error *err);
/* Gives it back. Where that fails the connection is gone, and the slot with it. */
void mq_queue_free_slot(struct mq_queue *queue, int slot);
/* How many of the slots 0 … max − 1 are taken, by whatever machine. */
enum mq_status mq_queue_slots_held(struct mq_queue *queue, int max, int *held,
                                   struct mq_error *err);
/* Notes the end of a worker run (config key mailLastRun). */
enum mq_status mq_queue_note_run(struct mq_queue *queue, struct mq_error *err);

#endif
