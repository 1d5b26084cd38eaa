/* The queue: its tables, enqueue, claim, settle, upkeep. Written over db.h, once for all databases;
 * docs/architecture.md describes the algorithms and the invariants.
 *
 * Ownership: a queue owns the connection it was opened with. A function that fails undoes its
 * transaction (some run several). Events are appended only for what was committed. */
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
struct mq_zone_source; /* policy/zone.h */

struct mq_queue_options {
    const char *table; /* by default "mail_queue"; identifiers: [A-Za-z_][A-Za-z0-9_]{0,62} */
    const char *config_table;     /* by default "config" */
    const char *reference_column; /* by default "reference" */
    const char *orphan_table;     /* NULL: no orphan check */
    const char *orphan_column;
    /* This machine's test mode. The texts must outlive the queue. `redirect_to` overrules the
     * config table: an address or "@domain" that gets mail of every type; NULL: the table decides.
     * `allow_to`: addresses and "@domain"s, separated by commas, that get their mail all the same;
     * NULL: none. If one of them cannot be read, nothing is claimed (MQ_CONFIG). */
    const char *redirect_to;
    const char *allow_to;
    struct mq_backoff backoff;
    struct mq_clock clock;
    struct mq_random random;
    const struct mq_zone_source *zones; /* for mailHours, borrowed; NULL: only UTC */
};

void mq_queue_options_init(struct mq_queue_options *options); /* the defaults */
/* Whether a table or column can have this name: letters, digits and underscores, which need no
 * escaping in any dialect. */
bool mq_queue_is_name(const char *name);

/* Takes `db` over in any case (closes it on failure). In a file it creates or migrates the tables.
 * A server is not asked yet: mq_queue_prepare() does that. */
enum mq_status mq_queue_open(struct mq_db *db, const struct mq_queue_options *options,
                             struct mq_queue **out, struct mq_error *err);
/* Completes the opening, once: reads the tables' version and creates or migrates the tables. Call
 * it before anything else but mq_queue_enqueue(), which needs it only if its statement fails.
 * MQ_SCHEMA if the tables are newer. */
enum mq_status mq_queue_prepare(struct mq_queue *queue, struct mq_error *err);
void mq_queue_close(struct mq_queue *queue); /* NULL is allowed */
/* The connection, for the code that opened it. The worker only calls the queue. */
struct mq_db *mq_queue_db(struct mq_queue *queue);
/* Opens the database again after its file was replaced or its server was lost. MQ_CONFIG if the
 * connection is the application's, which the queue cannot open again. */
enum mq_status mq_queue_reopen(struct mq_queue *queue, struct mq_error *err);
/* Maintains the database's files (checkpoints); to be called between transactions. */
void mq_queue_maintain(struct mq_queue *queue);
/* The queue's clock, valid as long as the queue. With a file it is the clock of the options. With a
 * server, whose clients' clocks differ and jump, it is the server's last answer plus the time that
 * CLOCK_BOOTTIME has counted since that answer. It is never behind the server, and at most a second
 * plus the query's round trip ahead. Before the first answer it is the clock of the options. */
const struct mq_clock *mq_queue_clock(const struct mq_queue *queue);
const char *mq_queue_table(const struct mq_queue *queue); /* of its jobs */
/* Gets the time that counts for leases and tokens. Asks the server, if there is one. */
enum mq_status mq_queue_now(struct mq_queue *queue, int64_t *now_s, struct mq_error *err);
/* The absolute path of the database's file, owned by the queue; NULL if it has none. */
const char *mq_queue_path(const struct mq_queue *queue);
/* Whether the database is on a server that several machines can use, not in a file. */
bool mq_queue_is_shared(const struct mq_queue *queue);
/* A text that identifies the tables on a server from any machine: server, database, table. It has
 * no secrets, and other names are made from it. NULL for a file, or on a failure, with err set.
 * Owned by the queue. */
const char *mq_queue_identity(struct mq_queue *queue, struct mq_error *err);
/* Brings the schema to this version under the write lock; returns the version in *version. */
enum mq_status mq_queue_migrate(struct mq_queue *queue, int *version, struct mq_error *err);
/* The name of the job table's column i, from 0 on; NULL past the last one. Owned by the queue.
 * Without a queue, the name of the reference column is "{r}". */
const char *mq_queue_column(const struct mq_queue *queue, size_t i);
/* The type of that column: "integer" (32 bits on a server), "bigint" or "text". */
const char *mq_queue_column_type(size_t i);
/* Worker slots on a server (mq_queue_is_shared()) are locks that the database session holds. They
 * end with the connection: after mq_queue_reopen() the queue holds none. They do not work behind a
 * pooler that gives each transaction another session (pgbouncer in transaction mode). */

/* The config key mailMaxWorkers. */
enum mq_status mq_queue_max_workers(struct mq_queue *queue, int *most, struct mq_error *err);
/* Takes one of the slots 0 … max − 1 without waiting; *slot is -1 if all are taken. */
enum mq_status mq_queue_take_slot(struct mq_queue *queue, int max, int *slot, struct mq_error *err);
/* Frees a slot. If that fails, the connection is gone, and the slot with it. */
void mq_queue_free_slot(struct mq_queue *queue, int slot);
/* Counts the slots 0 … max − 1 that are taken, by any machine. */
enum mq_status mq_queue_slots_held(struct mq_queue *queue, int max, int *held,
                                   struct mq_error *err);
/* Stores that a worker runs or ran now (config key mailLastRun). */
enum mq_status mq_queue_note_run(struct mq_queue *queue, struct mq_error *err);

#endif
