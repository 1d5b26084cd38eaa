/* PostgreSQL's spelling, where it is another one (9.5 and later). */
#include "queue/internal.h"

/* Parameters have no type of their own there: each is what stands beside it, so that a number
 * beside a smaller type, or text beside a number, must be cast. */
static const char *const overrides[MQ_SQL_COUNT] = {
    /* Leases and the bucket are shared by machines whose clocks differ. Not now(), which is the
     * transaction's begin: locks may have been waited for, or the application have long begun. */
    [MQ_SQL_NOW] = "SELECT CAST(floor(extract(epoch FROM clock_timestamp())) AS BIGINT)",
    /* One for all queues of a database: "mailqueu" as a number. */
    [MQ_SQL_LOCK_SCHEMA] = "SELECT pg_advisory_xact_lock(7881696737355982197)",
    /* The row that is there whenever there is a limit. */
    [MQ_SQL_LOCK_BUCKET] = "SELECT 1 FROM {c} WHERE key = 'mailMaxPerHour' "
                           "AND CAST(value AS TEXT) ~ '[1-9]' FOR UPDATE",
    /* The caller updates where another one was faster. */
    [MQ_SQL_CONFIG_INSERT] = "INSERT INTO {c}(key, value) VALUES (?1, ?2) ON CONFLICT DO NOTHING",

    [MQ_SQL_CLAIM_PRIORITY] = "SELECT max(priority) FROM {t} WHERE " MQ_CLAIMABLE_SQL
                              " AND priority < CAST(?1 AS BIGINT)",
    [MQ_SQL_ORPHAN] = "SELECT 1 FROM {o} WHERE CAST({o}.{k} AS TEXT) = CAST(?1 AS TEXT) LIMIT 1",
    [MQ_SQL_WALK] = "SELECT " MQ_COLS " FROM {t} WHERE id > ?1 AND id <= (SELECT max(walk.id) FROM "
                    "(SELECT id FROM {t} WHERE id > ?1 ORDER BY id LIMIT ?2) AS walk) "
                    "AND " MQ_CLAIMABLE_SQL " AND (expires_at <= ?3 OR ({r} IS NOT NULL "
                    "AND NOT EXISTS (SELECT 1 FROM {o} WHERE CAST({o}.{k} AS TEXT) = {t}.{r}))) "
                    "FOR UPDATE SKIP LOCKED",
    [MQ_SQL_COLUMNS_OF] =
        "SELECT a.attname, CASE WHEN i.indkey[0] = a.attnum THEN 1 ELSE 0 END "
        "FROM pg_catalog.pg_class c JOIN pg_catalog.pg_attribute a ON a.attrelid = c.oid "
        "LEFT JOIN pg_catalog.pg_index i ON i.indrelid = c.oid AND i.indisprimary "
        "WHERE c.relname = ?1 AND c.relkind IN ('r','p','v','f') "
        "AND pg_catalog.pg_table_is_visible(c.oid) AND a.attnum > 0 AND NOT a.attisdropped",
    /* What is there already is no news; only until the transaction ends. */
    [MQ_SQL_QUIET] = "SET LOCAL client_min_messages = warning",
};

const struct mq_spelling mq_pgsql_spelling = {
    .overrides = overrides,
    .quote = '"',
    .schema = "",
    .table_max = MQ_NAME_MAX - 7, /* longer names are cut at 63, also "…_parked" */
    .id = "BIGSERIAL PRIMARY KEY",
    .integer = "BIGINT",
    .blob = "BYTEA",
    .key_text = "TEXT",
    .word = "TEXT",
    .text = "TEXT",
    .claimable = MQ_CLAIMABLE_STATES,
    /* Every mail leaves three dead rows: with the usual 20 % a queue of a million would be swept
     * too late to keep claims quick. */
    .options = " WITH (autovacuum_vacuum_scale_factor = 0.01)",
    .body_options = " WITH (autovacuum_vacuum_scale_factor = 0.01,"
                    " toast.autovacuum_vacuum_scale_factor = 0.01)",
    .returning = " RETURNING id",
    .lock = " FOR UPDATE",
    .lock_free = " FOR UPDATE SKIP LOCKED",
    .no_index = "",
    .shared = true,
};
