/* PostgreSQL's dialect where it differs (9.5 and later). */
#include "policy/job_state.h"
#include "queue/sql/dialect.h"

/* The condition for the advisory locks of queue ?1. Each lock belongs to a database and has two
 * numbers (objsubid 2), of which the first is the queue's. */
#define SLOT                                                                              \
    "locktype = 'advisory' AND objsubid = 2 AND granted AND database = (SELECT oid FROM " \
    "pg_catalog.pg_database WHERE datname = current_database()) "                         \
    "AND CAST(classid AS BIGINT) = CAST(?1 AS BIGINT)"
/* A list of rows as a table. With only a join, PostgreSQL would read the whole job table if it was
 * never analyzed. An array of ids always uses the index. */
#define LIST(rows)                                                                    \
    "SELECT CAST(pair ->> 0 AS BIGINT) AS id, CAST(pair ->> 1 AS INTEGER) AS beside " \
    "FROM json_array_elements(CAST(" rows " AS JSON)) AS pair"
#define LIST_1    LIST("?1")
#define LIST_4    LIST("?4")
#define IN_LIST   "{t}.id = ANY(ARRAY(SELECT id FROM list)) AND {t}.id = list.id"
#define IDS(rows) "ANY(ARRAY(SELECT id FROM (" LIST(rows) ") AS list))"

/* The columns of a list of rows, each as an array. */
#define BIG(number)      "CAST(?" #number " AS BIGINT[])"
#define INT(number)      "CAST(?" #number " AS INTEGER[])"
#define TEXT(number)     "CAST(?" #number " AS TEXT[])"
#define ARRAYS_OF_COUNTS BIG(1) ", " TEXT(2) ", " TEXT(3) ", " INT(4) ", " BIG(5) ", " BIG(6)
#define ARRAYS_OF_RECIPIENTS \
    BIG(1) ", " BIG(2) ", " BIG(3) ", " BIG(4) ", " TEXT(5) ", " TEXT(6) ", " TEXT(7)
#define ARRAYS_OF_LOG                                                                       \
    BIG(1)                                                                                  \
    ", " BIG(2) ", " TEXT(3) ", " TEXT(4) ", " TEXT(5) ", " TEXT(6) ", " TEXT(7) ", " TEXT( \
        8) ", " INT(9) ", " INT(10) ", " INT(11) ", " TEXT(12) ", " BIG(13) ", " BIG(14)

/* Commits that notify wait for each other, so mail is notified only while a worker listens. A
 * listening worker holds this lock alone ("mailqueu" in ASCII, and 1). A transaction that stores
 * mail shares it with others to its end, or notifies if it cannot. Neither ever waits for the lock.
 * So a claim of the worker, made after it got the lock, sees all that was not notified. */
#define LISTENING "7881696737355982198"
#define NOTIFY                                                              \
    ", CASE WHEN NOT pg_try_advisory_xact_lock_shared(" LISTENING ") THEN " \
    "pg_notify('mailqueue', '') END"

/* PostgreSQL gives a parameter the type of the operand beside it. So a number beside a smaller
 * type, and text beside a number, must be cast. */
static const char *const overrides[MQ_SQL_COUNT] = {
    /* The server's clock, because machines whose clocks differ share leases and the bucket. Not
     * now(), the time when the transaction began: it can have waited for locks since, or be an old
     * one of the application's. */
    [MQ_SQL_NOW] = "SELECT CAST(floor(extract(epoch FROM clock_timestamp())) AS BIGINT)",
    /* A single statement needs no transaction around it: one round trip. The body is named only
     * once, because each use of a parameter sends it again. */
    [MQ_SQL_STORE] =
        "WITH job AS (" MQ_INSERT_JOB " ON CONFLICT ({r}, mail_type) WHERE {r} IS NOT NULL "
        "DO NOTHING RETURNING id), body AS (INSERT INTO {b}(id, content) SELECT id, content FROM "
        "job CROSS JOIN (SELECT CAST(?2 AS BYTEA) AS content) AS message "
        "WHERE content IS NOT NULL) SELECT id" NOTIFY " FROM job",
    /* One lock for all queues of a database: the number is "mailqueu" in ASCII. */
    [MQ_SQL_LOCK_SCHEMA] = "SELECT pg_advisory_xact_lock(7881696737355982197)",
    /* Locks the rows that exist whenever there is a limit, or a domain is slowed down, in one
     * order: ?4, which is written later in a transaction, comes last. */
    [MQ_SQL_LOCK_BUCKET] = "SELECT 1 FROM {c} WHERE key IN (?1, ?2, ?3, ?4) "
                           "AND CAST(value AS TEXT) ~ CASE WHEN key = ?4 THEN '" MQ_SLOW_PATTERN
                           "' ELSE '[1-9]' END ORDER BY key = ?4, key FOR UPDATE",
    /* If another process inserted first, this inserts nothing, and the caller updates. */
    [MQ_SQL_CONFIG_INSERT] = "INSERT INTO {c}(key, value) VALUES (?1, ?2) ON CONFLICT DO NOTHING",

    /* If LIMIT is a parameter, the planner assumes a tenth of the table. It would then make a new
     * plan for each claim, which takes 0.1 ms. So the inner LIMIT is a constant, the most that is
     * ever asked for. Only the rows that pass the outer LIMIT are locked. */
    [MQ_SQL_CLAIM_DUE] =
        "SELECT * FROM (SELECT " MQ_COLS " FROM {t} WHERE " MQ_CLAIMABLE_SQL
        " AND priority = ?1 AND next_attempt_at <= ?2 ORDER BY next_attempt_at, id "
        "LIMIT " MQ_DIGITS(MQ_CLAIM_CHUNK) " FOR UPDATE SKIP LOCKED) AS due LIMIT ?3",
    [MQ_SQL_CLAIM_DUE_BEHIND] =
        "SELECT * FROM (SELECT " MQ_COLS " FROM {t} WHERE " MQ_CLAIMABLE_SQL
        " AND priority = ?1 AND next_attempt_at <= ?2 AND (next_attempt_at, id) > (?4, ?5) "
        "ORDER BY next_attempt_at, id LIMIT " MQ_DIGITS(
            MQ_CLAIM_CHUNK) " FOR UPDATE SKIP LOCKED) AS due LIMIT ?3",
    /* Plans that were made for an almost empty table read all of it. They would be used until the
     * table is analyzed, which can take minutes. */
    [MQ_SQL_CLAIM_REPLAN] = "DISCARD PLANS",
    [MQ_SQL_ORPHAN] = "SELECT 1 FROM {o} WHERE CAST({o}.{k} AS TEXT) = CAST(?1 AS TEXT) LIMIT 1",
    [MQ_SQL_WALK] = "SELECT " MQ_COLS " FROM {t} WHERE id > ?1 AND id <= (SELECT max(walk.id) FROM "
                    "(SELECT id FROM {t} WHERE id > ?1 ORDER BY id LIMIT ?2) AS walk) "
                    "AND " MQ_CLAIMABLE_SQL " AND (" MQ_EXPIRED_BY "?3 OR ({r} IS NOT NULL "
                    "AND NOT EXISTS (SELECT 1 FROM {o} WHERE CAST({o}.{k} AS TEXT) = {t}.{r}))) "
                    "FOR UPDATE SKIP LOCKED",
    /* For min() and max() the planner makes two plans each, which takes longer than to run them. */
    [MQ_SQL_LOOK] = "SELECT (SELECT id FROM {t} ORDER BY id LIMIT 1), "
                    "(SELECT id FROM {t} ORDER BY id DESC LIMIT 1), (SELECT priority FROM {t} "
                    "WHERE " MQ_CLAIMABLE_SQL " ORDER BY priority DESC LIMIT 1), {y}, "
                    "(SELECT {V} FROM {c} WHERE key = ?2 LIMIT 1), "
                    "(SELECT {V} FROM {c} WHERE key = ?3 LIMIT 1)",
    [MQ_SQL_DUE] =
        "WITH RECURSIVE waits(priority) AS (SELECT CAST(?1 AS BIGINT) UNION ALL "
        "SELECT (SELECT {t}.priority FROM {t} WHERE " MQ_CLAIMABLE_SQL
        " AND {t}.priority < waits.priority ORDER BY {t}.priority DESC LIMIT 1) FROM waits "
        "WHERE priority IS NOT NULL) SELECT min(first), CAST(sum(due) AS BIGINT), NULL, "
        "min(priority) FROM (SELECT priority, (SELECT next_attempt_at FROM {t} "
        "WHERE " MQ_CLAIMABLE_SQL " AND {t}.priority = waits.priority "
        "ORDER BY next_attempt_at LIMIT 1) AS first, (SELECT count(*) FROM (SELECT 1 FROM {t} "
        "WHERE " MQ_CLAIMABLE_SQL " AND {t}.priority = waits.priority AND next_attempt_at <= ?2 "
        "ORDER BY next_attempt_at, id LIMIT ?3) AS one) AS due FROM waits "
        "WHERE priority IS NOT NULL) AS each",
    [MQ_SQL_COUNT_ADD] = "INSERT INTO {C}(hour, mail_type, event, part, mails, recipients) "
                         "SELECT * FROM unnest(" ARRAYS_OF_COUNTS "){U}",
    [MQ_SQL_LOG_ADD] = "INSERT INTO {H}(at, job_id, reference, mail_type, subject, relay, "
                       "event, phase, attempt, recipients, uncertain, reply, ms, waited) "
                       "SELECT * FROM unnest(" ARRAYS_OF_LOG ")",
    [MQ_SQL_RECIPIENT_ADD] =
        "INSERT INTO {p}(id, campaign_id, hash, cleared, address, name, fields) "
        "SELECT * FROM unnest(" ARRAYS_OF_RECIPIENTS "){Q}",
    [MQ_SQL_COLUMNS_OF] =
        "SELECT a.attname, CASE WHEN i.indkey[0] = a.attnum THEN 1 ELSE 0 END "
        "FROM pg_catalog.pg_class c JOIN pg_catalog.pg_attribute a ON a.attrelid = c.oid "
        "LEFT JOIN pg_catalog.pg_index i ON i.indrelid = c.oid AND i.indisprimary "
        "WHERE c.relname = ?1 AND c.relkind IN ('r','p','v','f') "
        "AND pg_catalog.pg_table_is_visible(c.oid) AND a.attnum > 0 AND NOT a.attisdropped",
    /* Suppresses notices that tables exist already, until the transaction ends. */
    [MQ_SQL_QUIET] = "SET LOCAL client_min_messages = warning",

    /* The cluster keeps its identifier through restarts, moves and promotions. */
    [MQ_SQL_IDENTITY] =
        "SELECT concat_ws('/', (SELECT system_identifier FROM pg_catalog.pg_control_system()), "
        "current_database(), n.nspname, c.relname, c.oid) FROM pg_catalog.pg_class c "
        "JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace "
        "WHERE c.oid = CAST('{t}' AS regclass)",
    /* A session could take its own lock again, and would have to release it twice. */
    [MQ_SQL_SLOT_TAKE] =
        "SELECT CASE WHEN EXISTS (SELECT 1 FROM pg_catalog.pg_locks WHERE " SLOT
        " AND pid = pg_backend_pid() AND CAST(objid AS BIGINT) = CAST(?2 AS BIGINT)) THEN 0 "
        "WHEN pg_try_advisory_lock(CAST(?1 AS INTEGER), CAST(?2 AS INTEGER)) THEN 1 ELSE 0 END",
    [MQ_SQL_SLOT_FREE] = "SELECT pg_advisory_unlock(CAST(?1 AS INTEGER), CAST(?2 AS INTEGER))",
    [MQ_SQL_SLOTS_HELD] = "SELECT count(*) FROM pg_catalog.pg_locks WHERE " SLOT
                          " AND CAST(objid AS BIGINT) < CAST(?2 AS BIGINT)",
    [MQ_SQL_LISTEN] = "LISTEN mailqueue",
    [MQ_SQL_LISTEN_LOCK] = "SELECT CASE WHEN pg_try_advisory_lock(" LISTENING ") THEN 1 ELSE 0 END",
    [MQ_SQL_UNLISTEN] = "SELECT pg_advisory_unlock(" LISTENING ");UNLISTEN mailqueue",
    [MQ_SQL_CLAIM_TAKE_MANY] =
        "WITH list AS (" LIST_4 ") UPDATE {t} SET status = ?1, attempts = attempts + 1, "
        "locked_until = ?2, locked_by = ?3, paid = list.beside, "
        "paid_to = ?5, waits_for = NULL FROM list WHERE " IN_LIST,
    /* PostgreSQL knows the length of a large body without reading it. OFFSET 0 keeps the planner
     * from reading the whole table of bodies. */
    [MQ_SQL_BODIES] =
        "SELECT {t}.id, octets, CASE WHEN octets <= CAST(?1 AS BIGINT) THEN content END FROM {t} "
        "LEFT JOIN LATERAL (SELECT octet_length(content) AS octets, content FROM {b} "
        "WHERE {b}.id = {t}.id OFFSET 0) AS body ON true WHERE {t}.id = " IDS(
            "?3") " "
                  "AND locked_by = ?2",
    [MQ_SQL_SETTLE_DELETE_MANY] =
        "WITH list AS (" LIST_1 ") DELETE FROM {t} USING list WHERE " IN_LIST
        " AND locked_by = ?2 AND attempts = list.beside RETURNING {t}.id, attempts",
    [MQ_SQL_DELETE_BODIES] = "DELETE FROM {b} WHERE id = " IDS("?1"),
};

const struct mq_sql_dialect mq_pgsql_dialect = {
    .overrides = overrides,
    .words =
        {
            ['q'] = "\"",
            ['i'] = "BIGSERIAL PRIMARY KEY",
            ['I'] = "BIGSERIAL PRIMARY KEY",
            ['U'] = MQ_COUNT_UPSERT,
            ['P'] = "CREATE INDEX IF NOT EXISTS {m}{q}{G}_p{q} ON {C}(hour) WHERE part > 0;",
            ['n'] = "BIGINT",
            ['x'] = "BYTEA",
            ['z'] = "TEXT",
            ['v'] = "TEXT",
            ['h'] = "TEXT",
            ['l'] = MQ_CLAIMABLE_STATES,
            /* Every mail leaves three dead rows. With the default of 20 %, a queue of a million
             * would be vacuumed too late for quick claims. */
            ['a'] = " WITH (autovacuum_vacuum_scale_factor = 0.01)",
            ['e'] = " WITH (autovacuum_vacuum_scale_factor = 0.01,"
                    " toast.autovacuum_vacuum_scale_factor = 0.01)",
            ['d'] = " RETURNING id" NOTIFY,
            ['R'] = " ON CONFLICT ({r}, mail_type) WHERE {r} IS NOT NULL DO NOTHING "
                    "RETURNING id, {r}, mail_type, message_id" NOTIFY,
            /* The time when the statement arrived: the same throughout the statement. */
            ['y'] = "CAST(floor(extract(epoch FROM statement_timestamp())) AS BIGINT)",
            ['<'] = "CAST(?1 AS BIGINT)",
            ['u'] = " FOR UPDATE",
            ['w'] = " FOR UPDATE SKIP LOCKED",
            ['A'] = "TEXT",
            ['F'] = "strpos",
            ['V'] = "CAST(value AS TEXT)",
            ['Y'] = "status <> 'parked' AND campaign_id",
            ['B'] = "CAST(?1 AS TEXT) || id || CAST(?2 AS TEXT), CAST(?3 AS TEXT), "
                    "CAST(?4 AS TEXT), CAST(?5 AS TEXT), CAST(?6 AS TEXT)",
            ['Q'] = " ON CONFLICT DO NOTHING",
            ['&'] = " ON CONFLICT DO NOTHING",
            ['N'] = "?2",
        },
    .table_max = MQ_NAME_MAX - 7, /* names are cut at 63 octets, also those with "_parked" */
    .shared = true,
    .takes_arrays = true,
};
