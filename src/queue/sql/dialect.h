/* What differs between the databases, and how a template of SQL becomes a statement. */
#ifndef MQ_QUEUE_SQL_DIALECT_H
#define MQ_QUEUE_SQL_DIALECT_H

#include <stdbool.h>
#include <stddef.h>

#include "queue/sql/statements.h"

struct mq_db;

#define MQ_NAME_MAX 63 /* octets of a configured identifier */

/* The condition for rows that a claim may take. */
#define MQ_CLAIMABLE_SQL "{l}"
/* The condition for rows that have expired by the time that follows. 0, which another program can
 * have written, means never, as NULL does: mq_job_expired() is the same rule. */
#define MQ_EXPIRED_BY "expires_at >= 1 AND expires_at <= "

/* The condition for parked jobs that count as failed: what retryFailed() brings back. */
#define MQ_FAILED_SQL "{%}"
/* The condition for jobs that an enqueue of their reference and type replaces; {y} is the time. */
#define MQ_REPLACED_SQL "{>}"

#define MQ_COLS "{j}" /* all columns, in the order of MQ_COLUMNS */

/* Inserts a job; a dialect appends what happens to a duplicate. ?1 is the time, if the host's clock
 * is used (SQLite), ?2 the body, if the statement stores it as well. */
#define MQ_INSERT_JOB "INSERT INTO {t}({f}) VALUES {g}"

/* Counts of jobs, up to ?1 that wait, ?2 sending, ?3 failed, ?4 parked, ?5 held, each by the macro
 * count(most, rows); and when the oldest of those that wait was stored. The order makes the planner
 * use the index. */
#define MQ_COUNT_OF(most, rows) \
    "(SELECT count(*) FROM (SELECT 1 AS one FROM {t} WHERE " rows " LIMIT " most ") AS counted), "
#define MQ_STATS_OF(count, sending, failed, held, oldest)                                       \
    "SELECT " count("?1", MQ_CLAIMABLE_SQL " ORDER BY priority") count("?2", sending)           \
        count("?3", failed " ORDER BY status, id") count("?4", "status = 'parked' ORDER BY id") \
            count("?5", held " ORDER BY status, id") "(" oldest ")"
/* The condition for the jobs of campaign ?2 that are not parked; an index finds them. MQ_LIVE_OF is
 * what comes before the campaign's number. */
#define MQ_LIVE_OF  "{Y}"
#define MQ_LIVE_SQL MQ_LIVE_OF " = ?2"
/* Finds the counters from ?1 on, before ?2, that are not in the row of ?1 that sums them up. */
#define MQ_COUNTS_IN_PARTS "WHERE hour >= ?1 AND hour < ?2 AND (hour > ?1 OR part > 0)"
#define MQ_COUNT_UPSERT                                                              \
    " ON CONFLICT (hour, mail_type, event, part) DO UPDATE SET mails = {C}.mails + " \
    "excluded.mails, recipients = {C}.recipients + excluded.recipients"

/* Matches mailSlowDomains if a domain is slowed down (config/slow.c): its pause is above 0. */
#define MQ_SLOW_PATTERN "\":\"[1-9]"

/* How one database's SQL differs from the common templates. */
struct mq_sql_dialect {
    const char *const *overrides; /* MQ_SQL_COUNT templates; NULL: the common one */
    /* What replaces {letter} in templates; it can contain {letter} itself. NULL: nothing.
     * q: the quote around identifiers
     * m: the schema, with a dot, before the names of tables and indexes
     * i: the type of a generated id, with the primary key  I: the same, ids can be used again
     * W: options of a table that is only read by its primary key
     * U: makes an INSERT into the counters add to the row that has the key
     * P: makes the index of the counters' parts
     * n: 64 bits  x: octets  z: text of any length
     * v: text up to MQ_REFERENCE_MAX octets, which can be in a unique key
     * h: the queue's own words and tokens, which are ASCII
     * l: the condition for rows that a claim may take
     * a, e: options of the job table, and of the bodies' table
     * d: how an INSERT returns the id  R: for many rows, returns id, reference, type, message_id;
     *    both may return more columns
     * y: the time, by the server's clock; ?1 if the host's clock is used
     * u: locks the rows that a SELECT reads  w: the same, but skips rows that others have locked
     * #: what a priority that counts must be, too  <: ?1 beside a priority
     * +: before a condition: keeps the planner from using an index for it
     * D, L, X: after the job table's name: forces its index of due jobs, of leases, of expiry
     * A: a text's type in CAST  F: the function that finds a text in another
     * V: reads a config value  N: the new value, from ?2
     * Y: MQ_LIVE_OF  J: what an older job table gets with recipient_id
     * Q: makes an INSERT leave out rows whose key exists  &: the same for the config table
     * B: Message-ID and texts of a campaign's job, from ?1 and ?2 around its id, ?3 to ?6 */
    const char *words[128];
    size_t table_max; /* most octets of the job table's name */
    bool shared; /* writers run at the same time, and a failed statement undoes a transaction */
    bool takes_arrays; /* the statements of mq_sql_insert_rows() do, one for each column */
    bool walks_all;    /* MQ_SQL_WALK gives all rows with a reference, orphans or not */
};
extern const struct mq_sql_dialect mq_pgsql_dialect;
extern const struct mq_sql_dialect mq_mysql_dialect;
const struct mq_sql_dialect *mq_dialect_of(const struct mq_db *db);

/* Identifiers as configured, unquoted. */
struct mq_names {
    char table[MQ_NAME_MAX + 1];
    char body[MQ_NAME_MAX + 8];
    char spent[MQ_NAME_MAX + 8];
    char window[MQ_NAME_MAX + 8];
    char count[MQ_NAME_MAX + 8];
    char log[MQ_NAME_MAX + 8];
    char suppression[MQ_NAME_MAX + 1];
    char campaign[MQ_NAME_MAX + 1];
    char recipient[MQ_NAME_MAX + 1];
    char bounce[MQ_NAME_MAX + 8];
    char config[MQ_NAME_MAX + 1];
    char reference[MQ_NAME_MAX + 1];
    char orphan_table[MQ_NAME_MAX + 1]; /* "": no orphan check */
    char orphan_column[MQ_NAME_MAX + 1];
    char version_key[MQ_NAME_MAX + 24];
};

/* Replaces the dialect's words, {t} (the job table, quoted), {b} (bodies), {s} (ledger), {S}
 * (windows), {C} (counters), {H} (history), {Z} (suppressions), {M} (campaigns), {p} (their
 * recipients), {!} (bounces), {c} (config), {r} (reference column), {o} and {k} (orphan check's
 * table and column), {T}, {O}, {G} and {E} (the bare names of the job table, the windows, the
 * counters and the history), {j} (all columns), {*} (with their types), {f} and {g} (a new row's
 * columns and values), {K} (the config keys that claims read), {%} (MQ_FAILED_SQL), {>}
 * (MQ_REPLACED_SQL). malloc'ed; NULL without memory. */
char *mq_sql_expand(const struct mq_sql_dialect *dialect, const struct mq_names *names,
                    const char *text);
/* Runs a template that is too rare for a slot of the driver. */
enum mq_status mq_sql_exec_text(struct mq_queue *queue, const char *text, struct mq_args args,
                                struct mq_error *err);
/* The same for a query, whose rows mq_sql_next() gives. */
enum mq_status mq_sql_query_template(struct mq_queue *queue, const char *text, struct mq_args args,
                                     struct mq_error *err);
/* Inserts rows whose values follow each other in `args`. */
enum mq_status mq_sql_insert_rows(struct mq_queue *queue, enum mq_sql slot, struct mq_args args,
                                  int rows, struct mq_error *err);

#endif
