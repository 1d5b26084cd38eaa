/* What the queue's own files share. Nothing outside src/queue/ and its tests includes this. */
#ifndef MQ_QUEUE_INTERNAL_H
#define MQ_QUEUE_INTERNAL_H

#include "db/db.h"
#include "queue/queue.h"

/* ---- statements.c, dialect.c, dialect_pgsql.c, dialect_mysql.c: the statements ---- */

/* One statement each; the value is its slot in the driver. */
enum mq_sql {
    MQ_SQL_CONFIG_GET,
    MQ_SQL_CONFIG_ALL,
    MQ_SQL_MOVED,
    MQ_SQL_CONFIG_UPDATE,
    MQ_SQL_CONFIG_INSERT,
    MQ_SQL_CONFIG_DELETE,
    MQ_SQL_INSERT_JOB,
    MQ_SQL_INSERT_BODY,
    MQ_SQL_PAIR,
    MQ_SQL_DELETE_JOB,
    MQ_SQL_BODY_OCTETS,
    MQ_SQL_DELETE_BODY,
    MQ_SQL_BODY,
    MQ_SQL_BODIES, /* of the jobs in ?3 (on SQLite ?3 …, MQ_BODIES_MAX ids) whose claim token is ?2:
                      id, octets (NULL: no body), and the body where it has at most ?1 octets */
    MQ_SQL_JOB,
    MQ_SQL_JOB_CHANGE,
    MQ_SQL_CLAIM_PRIORITY,
    MQ_SQL_CLAIM_DUE,
    MQ_SQL_CLAIM_NEXT,
    MQ_SQL_CLAIM_TAKE,
    MQ_SQL_PARK,
    MQ_SQL_ORPHAN,
    MQ_SQL_LEASE_OVER,
    MQ_SQL_LEASE_DEAD,
    MQ_SQL_PAID,
    MQ_SQL_SETTLE_DELETE,
    MQ_SQL_SETTLE_STATE,
    MQ_SQL_SETTLE_LISTS,
    MQ_SQL_RENEW,
    MQ_SQL_ENVELOPE,
    MQ_SQL_SPENT_ADD,
    MQ_SQL_SPENT_SUM,
    MQ_SQL_SPENT_AHEAD,
    MQ_SQL_SPENT_ROWS,
    MQ_SQL_SPENT_PURGE,
    MQ_SQL_SPENT_MARK,
    MQ_SQL_RETRY,
    MQ_SQL_RETRYABLE,
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
    MQ_SQL_STATS_DUE,
    MQ_SQL_STATS_CREATED,
    MQ_SQL_STATS_SENDING,
    MQ_SQL_STATS_FAILED,
    MQ_SQL_STATS_PARKED,
    MQ_SQL_STATS_HELD,
    MQ_SQL_COLUMNS_OF,
    /* these only where the dialect has them */
    MQ_SQL_NOW,
    MQ_SQL_LOCK_SCHEMA,
    MQ_SQL_UNLOCK_SCHEMA,
    MQ_SQL_LOCK_BUCKET,
    MQ_SQL_CONFIG_SAME,
    MQ_SQL_QUIET,
    MQ_SQL_CLAIM_REPLAN,
    /* One row: the server, its database and the job table as one text (mq_queue_identity()). */
    MQ_SQL_IDENTITY,
    /* Places of workers: ?1 the queue's number (31 bits), ?2 the place's. The first gives 1 where
     * it was taken just now, 0 where it is another's or this very session's already. */
    MQ_SQL_SLOT_TAKE,
    MQ_SQL_SLOT_FREE,
    MQ_SQL_SLOTS_HELD, /* how many of those below ?2 are taken */
    /* Many rows at a time. A list of rows is one parameter: a JSON array of arrays, the id and what
     * is to be known beside it. */
    MQ_SQL_CLAIM_TAKE_MANY,    /* ?4: ids and what was paid; else as MQ_SQL_CLAIM_TAKE */
    MQ_SQL_SETTLE_DELETE_MANY, /* ?1: ids and attempts, ?2: token; gives both of what it deleted, or
                                  locked for MQ_SQL_DELETE_JOBS */
    MQ_SQL_DELETE_JOBS,
    MQ_SQL_DELETE_BODIES,
    MQ_SQL_COUNT
};

#define MQ_NAME_MAX 63 /* octets of a configured identifier */

/* What a claim may take, in a statement. */
#define MQ_CLAIMABLE_SQL "{l}"

/* The config keys that each transaction reads. */
#define MQ_CONFIG_KEYS                                                             \
    "'mailQueueEnabled','mailMaxPerHour','mailBurst','mailRateMode','mailTokens'," \
    "'mailLastRefill','mailRelayPause','mailRedirectTo','mailRedirectToSchumbi',"  \
    "'mailRedirectTypes','mailLiveFrom','mailLiveUntil','mailQueueMovedTo',"       \
    "'mailQueueMovedFrom'"

#define MQ_MOVED_KEYS "'mailQueueMovedTo','mailQueueMovedFrom'"

/* The columns of a job, in the order that mq_job_read() expects. */
#define MQ_COLS                                                                           \
    "id, {r}, mail_type, status, priority, attempts, max_attempts, uncertain, paid, "     \
    "next_attempt_at, expires_at, locked_until, locked_by, last_attempt_at, created_at, " \
    "last_error, parked_for, message_id, envelope_from, recipients, refused, fields"

/* What a dialect writes in another way. */
struct mq_spelling {
    const char *const *overrides; /* MQ_SQL_COUNT templates; NULL: the common one */
    char quote;                   /* around identifiers */
    const char *schema;           /* {m}: before the names of tables and indexes, with its dot */
    size_t table_max;             /* octets of the job table's name */
    const char *id;               /* {i}: the type of a generated id, with the primary key */
    const char *integer;          /* {n}: 64 bits */
    const char *blob;             /* {x} */
    const char *key_text;         /* {v}: up to MQ_REFERENCE_MAX octets, which a key may have */
    const char *word;             /* {h}: the queue's own words and tokens, which are ASCII */
    const char *text;             /* {z}: of any length */
    const char *claimable;        /* {l}: whether a claim may take the row */
    const char *options;          /* {a}: of the job table */
    const char *body_options;     /* {e}: of the bodies' table */
    const char *returning;        /* {d}: how an INSERT gives its id; "": it does not */
    const char *lock;             /* {u}: for rows that are about to be changed */
    const char *lock_free;        /* {w}: the same, leaving out what others have locked */
    const char *no_index;         /* {+}: before a condition that no index shall serve */
    bool shared;    /* writers run at the same time, and a failed statement undoes a transaction */
    bool walks_all; /* MQ_SQL_WALK gives all rows with a reference, orphans or not */
    const char *config_table;      /* the script that makes it; NULL: as SQLite's */
    const char *const *migrations; /* MQ_SCHEMA_VERSION scripts; NULL: as SQLite's */
};
extern const struct mq_spelling mq_pgsql_dialect;
extern const struct mq_spelling mq_mysql_dialect;
const struct mq_spelling *mq_dialect_of(enum mq_dialect dialect);

/* Identifiers as configured, unquoted. */
struct mq_names {
    char table[MQ_NAME_MAX + 1];
    char body[MQ_NAME_MAX + 8];
    char spent[MQ_NAME_MAX + 8];
    char config[MQ_NAME_MAX + 1];
    char reference[MQ_NAME_MAX + 1];
    char orphan_table[MQ_NAME_MAX + 1]; /* "": no orphan check */
    char orphan_column[MQ_NAME_MAX + 1];
    char version_key[MQ_NAME_MAX + 24];
};

struct mq_queue {
    struct mq_db *db;
    const struct mq_spelling *spelling;
    struct mq_names names;
    struct mq_backoff backoff;
    struct mq_clock clock;  /* mq_queue_clock() */
    struct mq_clock host;   /* the clock of the options */
    int64_t server_time_us; /* a server's time, at its latest, … */
    int64_t told_ms;        /* … at this moment of host.boot_ms */
    char *identity;         /* NULL: not asked yet */
    struct mq_random random;
    int64_t streak;          /* jobs claimed since a claim found no more */
    bool ready;              /* the tables' version was read and is ours */
    char *sql[MQ_SQL_COUNT]; /* expanded when first used: a request needs three of them */
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

/* Replaces {t} (the job table, quoted), {b} (bodies), {s} (ledger), {c} (config), {r} (reference
 * column), {o} and {k} (orphan check's table and column), {T} (the job table's bare name), {q} (the
 * quote) and what struct mq_spelling says. malloc'ed; NULL without memory. */
char *mq_sql_expand(const struct mq_spelling *spelling, const struct mq_names *names,
                    const char *text);
/* Whether the dialect has that statement. */
bool mq_sql_has(const struct mq_queue *queue, enum mq_sql slot);
/* The statement's text; NULL without memory. Owned by the queue. */
const char *mq_sql_text(struct mq_queue *queue, enum mq_sql slot);
enum mq_status mq_sql_exec(struct mq_queue *queue, enum mq_sql slot, struct mq_args args,
                           struct mq_error *err);
/* Starts a query; mq_sql_next() steps it and has finished it when *row is false or it fails. */
enum mq_status mq_sql_query(struct mq_queue *queue, enum mq_sql slot, struct mq_args args,
                            struct mq_error *err);
enum mq_status mq_sql_next(struct mq_queue *queue, bool *row, struct mq_error *err);
void mq_sql_finish(struct mq_queue *queue);
/* The first column of the first row as an integer; *value stays where there is no row or a NULL. */
enum mq_status mq_sql_int(struct mq_queue *queue, enum mq_sql slot, struct mq_args args,
                          int64_t *value, struct mq_error *err);
int64_t mq_sql_column_int(struct mq_queue *queue, int index); /* 0 for NULL */
struct mq_str mq_sql_column_str(struct mq_queue *queue, int index);
int64_t mq_sql_changes(struct mq_queue *queue);
static inline struct mq_value mq_int_or_null(int64_t i)
{
    return i ? mq_int(i) : mq_null();
}
static inline struct mq_value mq_cstr(const char *s) /* NULL is NULL */
{
    return mq_text(mq_str_of(s));
}

/* ---- schema.c ---- */

#define MQ_SCHEMA_VERSION 1

/* Whether the job table has a column of that name, in whatever case, beside the reference's. */
bool mq_schema_has_column(const char *name);
/* Reads the version, outside of a transaction, unless that was done; migrates when it is not this
 * one. */
enum mq_status mq_schema_ready(struct mq_queue *queue, struct mq_error *err);
/* The same at opening, where tables or columns of this version are missing. Newer ones are no
 * matter yet: storing mail does not read the version (mq_tx_store()). */
enum mq_status mq_schema_open(struct mq_queue *queue, struct mq_error *err);
/* Whether the version is this one; within a transaction. */
bool mq_schema_current(struct mq_queue *queue);

/* ---- columns.c: rows and states ---- */

/* Of a transaction, at most: */
#define MQ_ROWS_A_CYCLE  1000               /* expired, orphaned, recovered, deleted rows */
#define MQ_DROPPED_BYTES (INT64_C(4) << 20) /* of the messages that it deletes, or one message */

/* Reads the row that the statement stands on (all columns, in the order of {cols}). *readable is
 * false where another program wrote recipients, sender or claim token that cannot be used. The job
 * is initialised here; the caller clears it, also on failure. */
enum mq_status mq_job_read(struct mq_queue *queue, struct mq_job *job, bool *readable,
                           struct mq_error *err);
/* Whether that row's status is one of ours. */
bool mq_job_has_state(struct mq_queue *queue);
/* Loads the body by the job's id; it stays NULL where there is none. */
enum mq_status mq_job_load_body(struct mq_queue *queue, struct mq_job *job, struct mq_error *err);
/* A change of status: `slot` is an UPDATE whose ?1 is the new status; values[0] is filled in. */
struct mq_move {
    enum mq_state from;
    enum mq_state to;
    enum mq_sql slot;
    struct mq_value *values;
    int count;
};
/* Changes a job's status: the only function that does. */
enum mq_status mq_job_transition(struct mq_queue *queue, const struct mq_move *move,
                                 struct mq_error *err);
/* Whether nothing is there any more that the job refers to, by the orphan check. */
enum mq_status mq_job_orphaned(struct mq_queue *queue, const char *reference, bool *orphaned,
                               struct mq_error *err);
/* Deletes a job that nobody is sending, with its body. */
enum mq_status mq_job_delete(struct mq_queue *queue, int64_t id, struct mq_error *err);
/* What a transaction has deleted: large messages keep the write lock for long. */
struct mq_dropped {
    int64_t rows;
    int64_t bytes; /* of their messages */
};
static inline bool mq_dropped_enough(const struct mq_dropped *sum)
{
    return sum->rows >= MQ_ROWS_A_CYCLE || sum->bytes >= MQ_DROPPED_BYTES;
}
/* Deletes as mq_job_delete() does, and counts. */
enum mq_status mq_job_drop(struct mq_queue *queue, int64_t id, struct mq_dropped *sum,
                           struct mq_error *err);
/* The maximum that holds for this job. */
int mq_job_max_attempts(const struct mq_queue *queue, const struct mq_job *job);

/* ---- server_time.c ---- */

/* Makes queue->clock of the clock of the options. */
void mq_queue_set_clock(struct mq_queue *queue, const struct mq_clock *host);
/* The time that leases and tokens go by: the database's where machines share it. */
enum mq_status mq_queue_now(struct mq_queue *queue, int64_t *now_s, struct mq_error *err);

/* ---- transaction.c ---- */

/* One write transaction: its time, what happened, the settings and the bucket as it found them. */
struct mq_tx {
    struct mq_queue *queue;
    int64_t now_s;
    struct mq_events *sink; /* told after the commit; NULL: nobody listens */
    struct mq_events events;
    struct mq_settings settings; /* after mq_tx_settings() */
    char *pauses;                /* mailRelayPause, NULL when unset */
    enum mq_status config;       /* of reading the settings; then settings is all off */
    struct mq_error config_error;
    bool joined;    /* within the application's transaction */
    int64_t flying; /* strict mode, after mq_limit_allowance(): paid for leases under way */
    int64_t spent;  /* and the ledger's last hour */
};

/* What one transaction does. The body may run more than once: it sets its results each time. Its
 * failure undoes the transaction. */
struct mq_tx_work {
    enum mq_status (*body)(struct mq_tx *tx, void *context, struct mq_error *err);
    void *context;
    struct mq_events *events; /* where the events of the commit go; NULL: nobody listens */
};
/* Begins, runs the body and commits. Where the database undid it, as the victim of a deadlock, up
 * to five times; not within the application's transaction, which was undone with it. */
enum mq_status mq_tx_run(struct mq_queue *queue, const struct mq_tx_work *work,
                         struct mq_error *err);
/* The same for new mail, without a look at the version: it would cost a request a tenth of its
 * time, and an older producer goes on beside newer tables. A migration after which it must not
 * makes its INSERT fail, by the name of a column. */
enum mq_status mq_tx_store(struct mq_queue *queue, const struct mq_tx_work *work,
                           struct mq_error *err);
/* Reads the settings; a value that cannot be read is noted in tx->config and is no failure here.
 * Refills the bucket up to now. */
enum mq_status mq_tx_settings(struct mq_tx *tx, struct mq_error *err);
/* Waits as long as the write lock was had, since `since_ms` of host.boot_ms: others get it then. */
void mq_tx_leave_free(const struct mq_queue *queue, int64_t since_ms);
/* Notes an event about a job. `extra` gives what the job does not say: type, recipients, relay,
 * reply, ms, next_attempt_at. */
void mq_tx_event(struct mq_tx *tx, const struct mq_job *job, const struct mq_event *extra);
/* An event with nothing but its type. */
void mq_tx_happened(struct mq_tx *tx, const struct mq_job *job, enum mq_event_type type);

/* ---- settings.c, store.c, keys.c ---- */

enum mq_status mq_settings_load(struct mq_queue *queue, int64_t now_s, struct mq_settings *out,
                                char **pauses, struct mq_error *err);
void mq_settings_clear(struct mq_settings *settings);
/* Writes a key without checks. value NULL unsets. */
enum mq_status mq_config_put(struct mq_queue *queue, const char *key, const char *value,
                             struct mq_error *err);
/* Whether `value` (trimmed, not empty) can be read as what the key holds. */
bool mq_config_value_ok(const struct mq_config_key *key, struct mq_str value);
bool mq_config_parse_bool(struct mq_str text, bool *value);
bool mq_config_parse_int(struct mq_str text, int64_t *value);
bool mq_config_parse_types(struct mq_str text, struct mq_strings *out);
/* Seconds since 1970, or ISO 8601 with "T" or a space, without an offset as UTC. */
bool mq_config_parse_time(struct mq_str text, int64_t *at_s);

/* ---- relay_texts.c ---- */

/* A config key whose value is an object from relays' names to texts, as parallel lists. */
struct mq_relay_texts {
    const char *key;
    struct mq_strings relays;
    struct mq_strings texts;
};
void mq_relay_texts_clear(struct mq_relay_texts *texts);
/* MQ_CONFIG, field `key`, where the text is no such object; then empty. */
enum mq_status mq_relay_texts_parse(const char *key, const char *text, struct mq_relay_texts *out,
                                    struct mq_error *err);
/* The same of the key's current value; one that cannot be read counts as empty with `heal`. */
enum mq_status mq_relay_texts_read(struct mq_queue *queue, const char *key, bool heal,
                                   struct mq_relay_texts *out, struct mq_error *err);
const char *mq_relay_texts_find(const struct mq_relay_texts *texts, const char *relay);
/* Writes them to their key with `relay` set to `text`, or without it where that is NULL; in a
 * transaction. */
enum mq_status mq_relay_texts_store(struct mq_queue *queue, const struct mq_relay_texts *texts,
                                    const char *relay, const char *text, struct mq_error *err);

/* ---- pause.c ---- */

/* One relay's entry of mailRelayPause. */
struct mq_pause {
    int64_t until_s;
    int64_t count;
    char reason[256];
};
/* *found is false where the relay has none. MQ_CONFIG where the text cannot be read. */
enum mq_status mq_pause_find(const char *pauses, const char *relay, struct mq_pause *out,
                             bool *found, struct mq_error *err);
/* The pause that ends last; until_s 0: none, or unreadable. *relay: whose, malloc'ed; NULL where
 * there is none, or no memory for its name. */
struct mq_pause mq_pause_latest(const char *pauses, char **relay);

/* ---- move_record.c ---- */

enum mq_move_side { MQ_MOVED_TO, MQ_MOVED_FROM }; /* in the source's config, in the target's */

/* Whether nobody may claim from this table, by the key's value. */
bool mq_move_blocks(const char *text, enum mq_move_side side, const char *table);
/* The same, as it is now, to a transaction that has locked rows of the table: where nothing blocks
 * yet, a move waits for it. Only where writers run at the same time. */
enum mq_status mq_move_look(struct mq_queue *queue, bool *blocks, struct mq_error *err);

/* ---- limit.c: tokens ---- */

#define MQ_LIMIT_NONE    INT64_MAX
#define MQ_LIMIT_HOUR_S  3601 /* an hour, and one second because times are cut to seconds */
#define MQ_LIMIT_PURGE_S 7200

/* How many recipients may be paid now; MQ_LIMIT_NONE without a limit. */
/* When what a settlement handed over may have been taken, at the latest: as far as the ledger is
 * concerned. */
static inline int64_t mq_limit_taken_s(const struct mq_tx *tx, const struct mq_settlement *s)
{
    int64_t at_s = s->at_s > 0 && s->at_s < tx->now_s ? s->at_s : tx->now_s;
    return s->taken_by_s > at_s ? s->taken_by_s : at_s;
}
enum mq_status mq_limit_allowance(struct mq_tx *tx, int64_t *allowed, struct mq_error *err);
void mq_limit_take(struct mq_tx *tx, int64_t n);
/* Ends what was paid for: `handed` goes into the ledger at its time, the rest comes back. */
enum mq_status mq_limit_return(struct mq_tx *tx, int64_t paid, int64_t handed, int64_t at_s,
                               struct mq_error *err);
/* When one more may be paid, where nothing may now; after mq_limit_allowance(). */
enum mq_status mq_limit_resume(struct mq_tx *tx, int64_t *resume_s, struct mq_error *err);
/* Writes the bucket back when a limit is set and the settings could be read. */
enum mq_status mq_limit_store(struct mq_tx *tx, struct mq_error *err);

/* ---- redirect.c ---- */

/* Sets job->targets, target_of and original_to from its recipients: at most `tokens` targets. */
enum mq_status mq_job_set_targets(struct mq_job *job, const struct mq_settings *settings,
                                  int64_t tokens, struct mq_error *err);

/* ---- settle.c, recover.c, claim.c ---- */

/* Settles one outcome within a transaction; `back` is the event for a job that goes back as it
 * was. */
enum mq_status mq_settle_one(struct mq_tx *tx, struct mq_settlement *outcome,
                             enum mq_event_type back, struct mq_error *err);
/* Whether that would delete the row, and nothing else. */
bool mq_settle_deletes(const struct mq_settlement *outcome);
/* What is told of one whose row was deleted, or was not `there`. */
void mq_settle_deleted(struct mq_tx *tx, struct mq_settlement *outcome, bool there);

#define MQ_CLAIM_CHUNK 128 /* due rows read at a time */
#define MQ_BODIES_MAX  16  /* ids of one MQ_SQL_BODIES on SQLite */

struct mq_recovered {
    int64_t count;
    bool more; /* there may be more than one transaction takes: MQ_ROWS_A_CYCLE, MQ_DROPPED_BYTES */
};
/* Recovers leases that were over at now_s and those of the request's dead tokens. */
enum mq_status mq_recover(struct mq_tx *tx, const struct mq_claim_request *request, int64_t now_s,
                          struct mq_recovered *recovered, struct mq_error *err);
enum mq_status mq_claim_take(struct mq_tx *tx, const struct mq_claim_request *request,
                             struct mq_claim *claim, struct mq_error *err);
/* Parks a job, claimable or in sending, that was not readable. */
enum mq_status mq_job_park_unreadable(struct mq_tx *tx, const struct mq_job *job,
                                      struct mq_error *err);

/* ---- batch.c ---- */

/* Rows as a JSON array of arrays of numbers, for one parameter. */
void mq_batch_list_add(struct mq_buffer *list, int64_t id, int64_t beside);
struct mq_value mq_batch_list_value(struct mq_buffer *list);
/* Whether mq_batch_take() can be used. */
bool mq_batch_claims(const struct mq_queue *queue);
/* Writes claims under one token and to one time, which are set in the jobs. */
enum mq_status mq_batch_take(struct mq_tx *tx, struct mq_job *jobs, size_t count,
                             struct mq_error *err);
/* Settles the outcomes of a cycle. */
enum mq_status mq_batch_settle(struct mq_tx *tx, struct mq_settlement *outcomes, size_t count,
                               struct mq_error *err);

#endif
