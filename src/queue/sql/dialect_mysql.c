/* The dialect of MySQL (8.0.4 and later) and MariaDB (10.6 and later) where it differs.
 *
 * Texts are stored as bytes. So they are read as they were written, whatever character set a
 * connection has, and "a", "A" and "a " are three references. */
#include "policy/job_state.h"
#include "queue/enqueue.h"
#include "queue/sql/dialect.h"
#include "queue/sql/schema.h"
#include "queue/sql/tables.h"

#define LOCK_NAME \
    "CONCAT('mailqueue.', SHA1(DATABASE()))" /* server-wide; names have at most 64 characters */
#define NOT_ASCII "LENGTH(?1) <> CHAR_LENGTH(CONVERT(CAST(?1 AS BINARY) USING utf8mb4))"

/* The name of a slot's lock, also server-wide: ?1 is the queue's number. */
#define SLOT_NAME(slot) "CONCAT('mailqueue.', ?1, '.', " slot ")"

/* A list of rows as a table, which STRAIGHT_JOIN makes the server read first. */
#define LIST(rows)                                                                        \
    "JSON_TABLE(CONVERT(" rows " USING utf8mb4), '$[*]' COLUMNS (id BIGINT PATH '$[0]', " \
    "beside BIGINT PATH '$[1]')) AS list"
#define JOBS_OF_LIST   " STRAIGHT_JOIN {t} FORCE INDEX (PRIMARY) ON {t}.id = list.id"
#define BODIES_OF_LIST " STRAIGHT_JOIN {b} FORCE INDEX (PRIMARY) ON {b}.id = list.id"

/* The campaign of a job that is not parked. */
#define LIVE_OF "live_of BIGINT AS (CASE WHEN status <> 'parked' THEN campaign_id END) STORED"

/* Locks the row of a config key if its value matches. */
#define LOCKED(name, pattern)                                                                      \
    "(SELECT 1 FROM {c} WHERE `key` = (SELECT `key` FROM {c} AS set_to WHERE set_to.`key` = " name \
    " AND CAST(set_to.value AS CHAR) REGEXP '" pattern "' LIMIT 1) FOR UPDATE)"
#define LOCKED_LIMIT(name) LOCKED(name, "[1-9]") " UNION ALL "

/* MQ_COUNT_OF() writes the rows to a temporary table. So this looks for row ?6, the last that is
 * counted exactly, first: the index has it without one. */
#define COUNT_OF(most, rows)                                                                  \
    "COALESCE((SELECT " most " FROM {t} WHERE " most " > 0 AND " rows " LIMIT 1 OFFSET ?6), " \
    "(SELECT count(*) FROM (SELECT 1 AS one FROM {t} WHERE " rows " LIMIT " most              \
    ") AS counted)), "

static const char *const overrides[MQ_SQL_COUNT] = {
    [MQ_SQL_CONFIG_TABLE] = "CREATE TABLE IF NOT EXISTS {c} "
                            "(`key` VARCHAR(190) NOT NULL PRIMARY KEY, value LONGTEXT){a}",
    /* One statement makes a table with its indexes, and can be run again. MySQL has no partial
     * indexes. So the column `claimable` leads the index that claims read: it is 0 in rows that
     * a claim may take, or NULL. Only rows in sending have a locked_until. */
    [MQ_SQL_TABLES] =
        "CREATE TABLE IF NOT EXISTS {t} ({*}, "
        "claimable TINYINT AS (CASE WHEN " MQ_CLAIMABLE_STATES " THEN 0 END) STORED, " LIVE_OF ", "
        "UNIQUE KEY {q}{T}_key{q} ({r}, mail_type), "
        "KEY {q}{T}_due{q} (claimable, priority, next_attempt_at, id), "
        "KEY {q}{T}_lease{q} (locked_until), "
        "KEY {q}{T}_state{q} (status, id), "
        "KEY {q}{T}_expiry{q} (expires_at), "
        "KEY {q}{T}_live{q} (live_of, next_attempt_at)){a};"
        "CREATE TABLE IF NOT EXISTS {b} (id {n} PRIMARY KEY, content {x} NOT NULL){e};"
        "CREATE TABLE IF NOT EXISTS {s} (at {n} PRIMARY KEY, n {n} NOT NULL){e};"
        "CREATE TABLE IF NOT EXISTS {S} (" MQ_WINDOW_COLUMNS ", KEY {q}{T}_w{q} (at)){e};"
        "CREATE TABLE IF NOT EXISTS {C} (" MQ_COUNT_COLUMNS ", KEY {q}{G}_p{q} (part)){e};"
        "CREATE TABLE IF NOT EXISTS {H} (" MQ_LOG_COLUMNS ", KEY {q}{E}_id{q} (job_id), "
        "KEY {q}{E}_at{q} (at)){e};"
        "CREATE TABLE IF NOT EXISTS {Z} (" MQ_SUPPRESSION_COLUMNS
        ", UNIQUE KEY {q}{T}_z{q} (seq)){e};"
        "CREATE TABLE IF NOT EXISTS {M} (" MQ_CAMPAIGN_COLUMNS
        ", UNIQUE KEY {q}{T}_n{q} (name)){e};"
        "CREATE TABLE IF NOT EXISTS {p} (" MQ_RECIPIENT_COLUMNS
        ", UNIQUE KEY {q}{T}_r{q} (campaign_id, hash)){e};"
        "CREATE TABLE IF NOT EXISTS {!} (" MQ_BOUNCE_COLUMNS ", KEY {q}{T}_b{q} (at)){e};",
    /* Runs after an UPDATE that counted no row. MySQL does not count a row whose value stays
     * the same, so the key can exist. NOT EXISTS, because the table may have no unique key. */
    [MQ_SQL_CONFIG_INSERT] =
        "INSERT INTO {c}(`key`, value) SELECT ?1, {N} FROM DUAL WHERE NOT EXISTS "
        "(SELECT 1 FROM {c} AS there WHERE there.`key` = ?1) "
        "ON DUPLICATE KEY UPDATE value = {N}",
    [MQ_SQL_CONFIG_SAME] =
        "SELECT 1 FROM {c} WHERE `key` = ?1 AND {V} = CAST(?2 AS BINARY) LIMIT 1",

    /* Not INSERT IGNORE, which would also store values that are cut. */
    [MQ_SQL_INSERT_JOB] = MQ_INSERT_JOB "{d}",
    /* Reads the row as it is now, not as at the first read of the application's transaction. */
    [MQ_SQL_PAIR] = "SELECT id, " MQ_REPLACED_SQL " FROM {t} WHERE {r} = ?2 AND mail_type = ?3 "
                    "LOCK IN SHARE MODE",

    /* It reads the whole index for a comparison of rows. */
    [MQ_SQL_CLAIM_DUE_BEHIND] = "SELECT " MQ_COLS " FROM {t}{D} WHERE " MQ_CLAIMABLE_SQL
                                " AND priority = ?1 AND next_attempt_at <= ?2 "
                                "AND (next_attempt_at > ?4 OR (next_attempt_at = ?4 AND id > ?5)) "
                                "ORDER BY next_attempt_at, id LIMIT ?3{w}",

    /* RENEW and ENVELOPE must change the row, because an unchanged one is not counted. A lease
     * that is a second longer than its worker knows does no harm. */
    [MQ_SQL_RENEW] = "UPDATE {t} SET locked_until = ?1 + (locked_until = ?1) "
                     "WHERE id = ?2 AND locked_by = ?3 AND attempts = ?4",
    [MQ_SQL_ENVELOPE] =
        "UPDATE {t} SET envelope_from = ?1, recipients = ?2, paid = ?3, "
        "locked_until = locked_until + 1 WHERE id = ?4 AND locked_by = ?5 AND attempts = ?6",

    [MQ_SQL_SPENT_ADD] =
        "INSERT INTO {s}(at, n) VALUES (?1, ?2) ON DUPLICATE KEY UPDATE n = ABS(n) + ?2",

    [MQ_SQL_WINDOW_ADD] = "INSERT INTO {S}(scope, at, n) VALUES (?1, ?2, ?3) "
                          "ON DUPLICATE KEY UPDATE n = ABS(n) + ?3",

    /* Compares by the column's collation, because its index can be used then. If the reference
     * is not ASCII, also compares bytes: the connection's character set may have misread it. */
    [MQ_SQL_ORPHAN] = "SELECT EXISTS (SELECT 1 FROM {o} WHERE {o}.{k} = ?1) OR (" NOT_ASCII
                      " AND EXISTS (SELECT 1 FROM {o} WHERE CAST(CONVERT({o}.{k} USING utf8mb4) "
                      "AS BINARY) = CAST(?1 AS BINARY)))",
    [MQ_SQL_WALK] =
        "SELECT " MQ_COLS " FROM (SELECT id AS walked FROM {t} WHERE id > ?1 "
        "ORDER BY id LIMIT ?2) AS walk STRAIGHT_JOIN {t} FORCE INDEX (PRIMARY) ON id = walked "
        "WHERE " MQ_CLAIMABLE_SQL " AND (" MQ_EXPIRED_BY "?3 OR {r} IS NOT NULL){w}",

    /* Without a LIMIT of its own each part would be read to its end. */
    [MQ_SQL_RETRYABLE] =
        "SELECT id FROM (SELECT id FROM {t} WHERE status = 'parked' "
        "AND " MQ_FAILED_SQL " AND id > ?1 ORDER BY id LIMIT ?2) AS parked "
        "UNION ALL SELECT id FROM (SELECT id FROM {t} WHERE status = 'failed' AND id > ?1 "
        "ORDER BY id LIMIT ?2) AS failed ORDER BY id LIMIT ?2",

    /* A derived table with a LIMIT is read to its end; the index of states has the least ids.
     */
    [MQ_SQL_STATS] = MQ_STATS_OF(
        COUNT_OF, "status = 'sending' AND locked_until > 0", "status = 'failed'", "status = 'held'",
        "SELECT created_at FROM {t} WHERE id = (SELECT min(id) FROM "
        "(SELECT min(id) AS id FROM {t} WHERE status = 'pending' "
        "UNION ALL SELECT min(id) FROM {t} WHERE status = 'failed') AS least)"),

    /* By the primary key an UPDATE does not wait for rows that are not committed yet. */
    [MQ_SQL_COUNT_MARK] = "UPDATE {C} FORCE INDEX (PRIMARY) SET hour = -hour " MQ_COUNTS_IN_PARTS,
    [MQ_SQL_LOG_PURGE] = "DELETE FROM {H} WHERE at < ?1 ORDER BY at LIMIT ?2",

    [MQ_SQL_COLUMNS_OF] = "SELECT c.column_name, COALESCE((SELECT s.seq_in_index FROM "
                          "information_schema.statistics s "
                          "WHERE s.table_schema = c.table_schema AND s.table_name = c.table_name "
                          "AND s.index_name = 'PRIMARY' AND s.column_name = c.column_name), 0) "
                          "FROM information_schema.columns c "
                          "WHERE c.table_schema = DATABASE() AND c.table_name = ?1",

    /* The server's clock, because machines whose clocks differ share leases and the bucket. Not
     * SYSDATE(), which is in a time zone and has one hour a year twice. */
    [MQ_SQL_NOW] = "SELECT UNIX_TIMESTAMP()",
    /* In MySQL, CREATE TABLE ends the transaction. So this lock belongs to the session. */
    [MQ_SQL_LOCK_SCHEMA] = "SELECT COALESCE(GET_LOCK(" LOCK_NAME ", 60), 0)",
    [MQ_SQL_UNLOCK_SCHEMA] = "SELECT RELEASE_LOCK(" LOCK_NAME ")",
    /* FOR UPDATE locks a row that it finds by key even if the value does not match. So a
     * subquery checks the value first, without a lock (if the transaction is ours, at READ
     * COMMITTED). */
    [MQ_SQL_LOCK_BUCKET] =
        LOCKED_LIMIT("?1") LOCKED_LIMIT("?2") LOCKED_LIMIT("?3") LOCKED("?4", MQ_SLOW_PATTERN),

    /* Several servers on one host can differ in nothing but their directories. */
    [MQ_SQL_IDENTITY] = "SELECT CONCAT_WS('/', @@hostname, @@port, @@datadir, DATABASE(), '{T}')",
    /* A session could take its own lock again, and would have to release it twice. */
    [MQ_SQL_SLOT_TAKE] = "SELECT CASE WHEN IS_USED_LOCK(" SLOT_NAME(
        "?2") ") IS NULL THEN COALESCE(GET_LOCK(" SLOT_NAME("?2") ", 0), 0) ELSE 0 END",
    [MQ_SQL_SLOT_FREE] = "SELECT RELEASE_LOCK(" SLOT_NAME("?2") ")",
    [MQ_SQL_SLOTS_HELD] =
        "WITH RECURSIVE slots (slot) AS (SELECT 0 UNION ALL SELECT slot + 1 FROM slots "
        "WHERE slot + 1 < ?2) SELECT count(IS_USED_LOCK(" SLOT_NAME("slot") ")) FROM slots",

    [MQ_SQL_CLAIM_TAKE_MANY] =
        "UPDATE " LIST("?4") JOBS_OF_LIST " SET status = ?1, attempts = attempts + 1, "
                                          "locked_until = ?2, locked_by = ?3, paid = list.beside, "
                                          "paid_to = ?5, waits_for = NULL",
    /* The server reads each body to know its length, but does not send a large one. */
    [MQ_SQL_BODIES] =
        "SELECT {t}.id, LENGTH(content), CASE WHEN LENGTH(content) <= ?1 THEN content END "
        "FROM " LIST("?3") JOBS_OF_LIST " LEFT JOIN {b} FORCE INDEX (PRIMARY) ON {b}.id = {t}.id "
                                        "WHERE {t}.locked_by = ?2",
    [MQ_SQL_SETTLE_DELETE_MANY] = "SELECT {t}.id, {t}.attempts FROM " LIST("?1") JOBS_OF_LIST
    " WHERE {t}.locked_by = ?2 AND {t}.attempts = list.beside FOR UPDATE",
    [MQ_SQL_DELETE_JOBS] = "DELETE {t} FROM " LIST("?1") JOBS_OF_LIST,
    [MQ_SQL_DELETE_BODIES] = "DELETE {b} FROM " LIST("?1") BODIES_OF_LIST,
};

#define TABLE " ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_bin"

const struct mq_sql_dialect mq_mysql_dialect = {
    .overrides = overrides,
    .words =
        {
            ['q'] = "`",
            ['i'] = "BIGINT AUTO_INCREMENT PRIMARY KEY",
            ['I'] = "BIGINT AUTO_INCREMENT PRIMARY KEY",
            ['U'] = " ON DUPLICATE KEY UPDATE mails = mails + VALUES(mails), "
                    "recipients = recipients + VALUES(recipients)",
            ['n'] = "BIGINT",
            ['x'] = "LONGBLOB",
            ['z'] = "LONGBLOB",
            ['v'] = "VARBINARY(" MQ_DIGITS(MQ_REFERENCE_MAX) ")",
            ['h'] = "VARCHAR(" MQ_DIGITS(MQ_TOKEN_HEX) ") CHARACTER SET ascii COLLATE ascii_bin",
            ['l'] = "claimable = 0",
            ['a'] = TABLE,
            ['e'] = TABLE,
            ['d'] = " /*M! RETURNING id */", /* only MariaDB executes it */
            ['R'] = " /*M! RETURNING id, {r}, mail_type, message_id */",
            ['y'] = "UNIX_TIMESTAMP()",
            ['<'] = "?1",
            ['u'] = " FOR UPDATE",
            ['w'] = " FOR UPDATE SKIP LOCKED",
            ['+'] = "0 + ",
            /* Without the index, a sort would lock every due row, and other workers find none. */
            ['D'] = " FORCE INDEX ({q}{T}_due{q})",
            ['L'] = " FORCE INDEX ({q}{T}_lease{q})",
            ['X'] = " FORCE INDEX ({q}{T}_expiry{q})",
            ['A'] = "CHAR CHARACTER SET utf8mb4",
            ['F'] = "instr",
            /* The application's table may have another character set than the connection. */
            ['V'] = "CAST(CONVERT(value USING utf8mb4) AS BINARY)",
            ['Y'] = "live_of",
            ['J'] = ", ADD COLUMN " LIVE_OF ", ADD KEY {q}{T}_live{q} (live_of, next_attempt_at)",
            ['B'] = "CONCAT(?1, id, ?2), ?3, ?4, ?5, ?6",
            ['Q'] = " ON DUPLICATE KEY UPDATE id = id",
            ['&'] = " ON DUPLICATE KEY UPDATE value = value",
            ['N'] = "CONVERT(CAST(?2 AS BINARY) USING utf8mb4)",
        },
    .table_max = MQ_NAME_MAX - 7, /* names made from it have at most 64 characters */
    .shared = true,
    .walks_all = true,
};
