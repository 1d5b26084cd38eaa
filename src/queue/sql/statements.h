/* The queue's statements, which are slots of the driver. One result is open at a time. */
#ifndef MQ_QUEUE_SQL_STATEMENTS_H
#define MQ_QUEUE_SQL_STATEMENTS_H

#include <stdbool.h>
#include <stdint.h>

#include "core/error.h"
#include "db/value.h"
struct mq_queue;
#define MQ_CLAIM_CHUNK 128 /* due rows that a claim reads at a time */
#define MQ_BODIES_MAX  16  /* ids that one MQ_SQL_BODIES takes on SQLite */
enum mq_sql {
    MQ_SQL_CONFIG_TABLE, /* these two are scripts: for mq_db_script() */
    MQ_SQL_TABLES,
    MQ_SQL_CONFIG_GET,
    MQ_SQL_CONFIG_ALL,
    MQ_SQL_CONFIG_UPDATE,
    MQ_SQL_CONFIG_INSERT,
    MQ_SQL_CONFIG_DELETE,
    MQ_SQL_INSERT_JOB,
    MQ_SQL_INSERT_BODY,
    MQ_SQL_PAIR, /* ?1 is the time, as in MQ_INSERT_JOB */
    MQ_SQL_DELETE_JOB,
    MQ_SQL_BODY_OCTETS,
    MQ_SQL_DELETE_BODY,
    MQ_SQL_BODY,
    MQ_SQL_BODIES, /* of list ?3 (SQLite: ids ?3 to ?18): id, octets, the body up to ?1 octets */
    MQ_SQL_JOB,
    MQ_SQL_JOB_CHANGE,
    MQ_SQL_CLAIM_PRIORITY,
    MQ_SQL_CLAIM_DUE,
    MQ_SQL_CLAIM_DUE_BEHIND, /* behind ?4 and ?5, a due time and an id */
    MQ_SQL_CLAIM_NEXT,
    MQ_SQL_CLAIM_TAKE,
    MQ_SQL_PAY_RELAY,
    MQ_SQL_PUT_BACK,
    MQ_SQL_PARK,
    MQ_SQL_HOLD,
    MQ_SQL_ORPHAN,
    MQ_SQL_LEASE_OVER,
    MQ_SQL_LEASE_DEAD,
    MQ_SQL_PAID,
    MQ_SQL_SETTLE_DELETE,
    MQ_SQL_SETTLE,
    MQ_SQL_RENEW,
    MQ_SQL_ENVELOPE,
    MQ_SQL_SPENT_ADD,
    MQ_SQL_SPENT_SUM,
    MQ_SQL_SPENT_AHEAD,
    MQ_SQL_SPENT_ROWS,
    MQ_SQL_SPENT_PURGE,
    MQ_SQL_SPENT_MARK,
    MQ_SQL_UNDER_WAY,
    MQ_SQL_WINDOW_SUM, /* of rows after ?2 up to ?3; and of those after ?3 that have no mark */
    MQ_SQL_WINDOW_ROWS,
    MQ_SQL_WINDOW_ADD,
    MQ_SQL_WINDOW_MARK,
    MQ_SQL_WINDOW_DROP,  /* of one scope */
    MQ_SQL_WINDOW_PURGE, /* of all */
    MQ_SQL_LINE_END,     /* whether job ?1 still waits for a limit */
    MQ_SQL_COUNT_ADD,    /* for mq_sql_insert_rows() */
    MQ_SQL_COUNT_PARTS,  /* an hour before ?1 whose counters have parts */
    MQ_SQL_COUNT_HOURS,  /* an hour before ?1 that is not the first of its ?2 seconds */
    MQ_SQL_COUNT_MARK,   /* these three add up counters from ?1 on, before ?2, in one transaction */
    MQ_SQL_COUNT_MERGE,  /* ?1 and ?2, here and below: the same, negative */
    MQ_SQL_COUNT_MERGED,
    MQ_SQL_LOG_ADD,       /* likewise */
    MQ_SQL_RECIPIENT_ADD, /* likewise */
    MQ_SQL_LOG_OLD,
    MQ_SQL_LOG_PURGE, /* deletes up to ?2 rows from before ?1 */
    MQ_SQL_RETRY,
    MQ_SQL_RETRYABLE,
    MQ_SQL_ARRIVED, /* takes recipients that may have got it out of the row */
    MQ_SQL_EXPIRED,
    MQ_SQL_WALK_END,
    MQ_SQL_WALK,
    MQ_SQL_STRAYS,
    MQ_SQL_JOBS,
    MQ_SQL_JOBS_PENDING, /* these five in the order of enum mq_state */
    MQ_SQL_JOBS_SENDING,
    MQ_SQL_JOBS_FAILED,
    MQ_SQL_JOBS_PARKED,
    MQ_SQL_JOBS_HELD,
    MQ_SQL_STATS,      /* one row: see stats.c */
    MQ_SQL_LOOK,       /* ?1: host's time, ?2, ?3: keys of the version and of the last run */
    MQ_SQL_DUE,        /* see statements.c */
    MQ_SQL_DUE_BEFORE, /* up to ?3 jobs of priority ?1, due before ?2, or at ?2 with ids below ?4 */
    MQ_SQL_COLUMNS_OF, /* the next ones are NULL in some dialects, see mq_sql_has() */
    MQ_SQL_STORE,      /* stores a job and, if ?2 is not NULL, its body; returns the id */
    MQ_SQL_NOW,
    MQ_SQL_LOCK_SCHEMA,
    MQ_SQL_UNLOCK_SCHEMA,
    MQ_SQL_LOCK_BUCKET,
    MQ_SQL_CONFIG_SAME,
    MQ_SQL_QUIET,
    MQ_SQL_CLAIM_REPLAN,
    MQ_SQL_IDENTITY,  /* server, database and job table as one text (mq_queue_identity()) */
    MQ_SQL_SLOT_TAKE, /* ?1: the queue's number (31 bits), ?2: the slot's. 0: it is taken already */
    MQ_SQL_SLOT_FREE,
    MQ_SQL_SLOTS_HELD, /* how many of the slots below ?2 are taken */
    MQ_SQL_VERSION,    /* a number that changes when another connection writes to the file */
    MQ_SQL_LISTEN,
    MQ_SQL_LISTEN_LOCK, /* 1: new mail is told until MQ_SQL_UNLISTEN; comes before LISTEN */
    MQ_SQL_UNLISTEN,    /* a script, even if LISTEN failed */
    /* Many rows at a time. A list is a JSON array of pairs: an id and a number beside it. */
    MQ_SQL_CLAIM_TAKE_MANY,    /* as MQ_SQL_CLAIM_TAKE, but ?4 is a list: ids and tokens paid */
    MQ_SQL_SETTLE_DELETE_MANY, /* ?1: ids and attempts, ?2: token; returns those gone or locked */
    MQ_SQL_DELETE_JOBS,
    MQ_SQL_DELETE_BODIES,
    MQ_SQL_COUNT
};
/* Bound values of one statement: MQ_ARGS(mq_int(1), mq_text(s)). */
struct mq_args {
    const struct mq_value *values;
    int count;
};
#define MQ_ARGS(...)                            \
    ((struct mq_args){                          \
        (const struct mq_value[]){__VA_ARGS__}, \
        (int)(sizeof((const struct mq_value[]){__VA_ARGS__}) / sizeof(struct mq_value))})
#define MQ_NO_ARGS ((struct mq_args){NULL, 0})
bool mq_sql_has(const struct mq_queue *queue, enum mq_sql slot); /* whether the dialect has it */
/* The statement's text; NULL without memory. Owned by the queue. */
const char *mq_sql_text(struct mq_queue *queue, enum mq_sql slot);
enum mq_status mq_sql_exec(struct mq_queue *queue, enum mq_sql slot, struct mq_args args,
                           struct mq_error *err);
/* Runs a query, whose rows mq_sql_next() gives. The second function takes a text of its own. */
enum mq_status mq_sql_query(struct mq_queue *queue, enum mq_sql slot, struct mq_args args,
                            struct mq_error *err);
enum mq_status mq_sql_query_text(struct mq_queue *queue, const char *sql, struct mq_args args,
                                 struct mq_error *err);
/* Moves to the next row. *status: in, of the query or of the work on the last row; out. False at
 * the end or on a failure; then the query is finished. */
bool mq_sql_next(struct mq_queue *queue, enum mq_status *status, struct mq_error *err);
/* Runs a query for one row. False: none, or a failure; else mq_sql_finish() must follow. */
bool mq_sql_row(struct mq_queue *queue, enum mq_sql slot, struct mq_args args,
                enum mq_status *status, struct mq_error *err);
void mq_sql_finish(struct mq_queue *queue); /* ends a query before its last row */
/* Reads the first column of the first row into *value; unchanged without a row, or on NULL. */
enum mq_status mq_sql_int(struct mq_queue *queue, enum mq_sql slot, struct mq_args args,
                          int64_t *value, struct mq_error *err);
/* Reads the first column of the first row as text, malloc'ed; NULL without a row, or on NULL. */
enum mq_status mq_sql_text_of(struct mq_queue *queue, enum mq_sql slot, struct mq_args args,
                              char **text, struct mq_error *err);
int64_t mq_sql_column_int(struct mq_queue *queue, int index); /* 0 for NULL */
struct mq_str mq_sql_column_str(struct mq_queue *queue, int index);
int64_t mq_sql_changes(struct mq_queue *queue);

#endif
