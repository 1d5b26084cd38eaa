/* The SQL of the queue, SQLite's spelling: a table of templates, and the way to run them.
 *
 * Identifiers are put between backticks, not double quotes: SQLite reads a double-quoted name that
 * is no column as a string, and a misspelt reference column would then go unnoticed. */
#include "queue/internal.h"

#include <stdlib.h>
#include <string.h>

/* In the order that mq_job_read() expects. */
#define COLS                                                                              \
    "id, {r}, mail_type, status, priority, attempts, max_attempts, uncertain, paid, "     \
    "next_attempt_at, expires_at, locked_until, locked_by, last_attempt_at, created_at, " \
    "last_error, parked_for, message_id, envelope_from, recipients, refused"

#define JOBS_OF(condition) \
    "SELECT " COLS " FROM {t} WHERE " condition " AND id > ?1 ORDER BY id LIMIT ?2"

/* Whether the row of the orphan check's table is what `reference` means. A column without a type,
 * or of a view, may hold 123 where the reference is the text '123'; SQLite compares those as
 * unequal, and a mail would be deleted. */
#define REFERRED(reference)                                     \
    "{o}.{k} IN (" reference ", CASE WHEN CAST(CAST(" reference \
    " AS INTEGER) AS TEXT) = " reference " THEN CAST(" reference " AS INTEGER) END)"

/* `locked_until > 0` is true of every row in sending; it makes the lease index a search. */
static const char *const templates[MQ_SQL_COUNT] = {
    [MQ_SQL_CONFIG_GET] = "SELECT CAST(value AS TEXT) FROM {c} WHERE key = ?1",
    [MQ_SQL_CONFIG_ALL] =
        "SELECT key, CAST(value AS TEXT) FROM {c} WHERE key IN ('mailQueueEnabled',"
        "'mailMaxPerHour','mailBurst','mailRateMode','mailTokens','mailLastRefill',"
        "'mailRelayPause','mailRedirectTo','mailRedirectToSchumbi','mailRedirectTypes',"
        "'mailLiveFrom','mailLiveUntil')",
    /* Two statements, not an upsert: the application's table may lack the unique key. */
    [MQ_SQL_CONFIG_UPDATE] = "UPDATE {c} SET value = ?2 WHERE key = ?1",
    [MQ_SQL_CONFIG_INSERT] = "INSERT INTO {c}(key, value) VALUES (?1, ?2)",
    [MQ_SQL_CONFIG_DELETE] = "DELETE FROM {c} WHERE key = ?1",

    [MQ_SQL_INSERT_JOB] =
        "INSERT INTO {t}({r}, mail_type, status, priority, max_attempts, next_attempt_at, "
        "expires_at, created_at, message_id, envelope_from, recipients) "
        "VALUES (?1, ?2, 'pending', ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10) "
        "ON CONFLICT ({r}, mail_type) WHERE {r} IS NOT NULL DO NOTHING",
    [MQ_SQL_INSERT_BODY] = "INSERT INTO {b}(id, content) VALUES (?1, ?2)",
    [MQ_SQL_PAIR] = "SELECT id, status = 'parked' OR (status <> 'sending' AND expires_at <= ?3) "
                    "FROM {t} WHERE {r} = ?1 AND mail_type = ?2",
    [MQ_SQL_DELETE_JOB] = "DELETE FROM {t} WHERE id = ?1 AND status <> 'sending'",
    [MQ_SQL_DELETE_BODY] = "DELETE FROM {b} WHERE id = ?1",
    [MQ_SQL_BODY] = "SELECT content FROM {b} WHERE id = ?1",
    [MQ_SQL_JOB] = "SELECT " COLS " FROM {t} WHERE id = ?1",

    /* A 0.5 by another program's hand must not be what all others wait behind. */
    [MQ_SQL_CLAIM_PRIORITY] = "SELECT max(priority) FROM {t} WHERE " MQ_CLAIMABLE_SQL
                              " AND priority < ?1 AND typeof(priority) = 'integer'",
    [MQ_SQL_CLAIM_DUE] =
        "SELECT " COLS " FROM {t} WHERE " MQ_CLAIMABLE_SQL
        " AND priority = ?1 AND next_attempt_at <= ?2 ORDER BY next_attempt_at, id LIMIT ?3",
    [MQ_SQL_CLAIM_NEXT] =
        "SELECT min(next_attempt_at) FROM {t} WHERE " MQ_CLAIMABLE_SQL " AND priority = ?1",
    [MQ_SQL_CLAIM_TAKE] = "UPDATE {t} SET status = ?1, attempts = attempts + 1, "
                          "locked_until = ?2, locked_by = ?3, paid = ?4 WHERE id = ?5",
    [MQ_SQL_PARK] = "UPDATE {t} SET status = ?1, parked_for = ?2, "
                    "last_error = COALESCE(?3, last_error), paid = 0, locked_until = NULL, "
                    "locked_by = NULL WHERE id = ?4",
    [MQ_SQL_ORPHAN] = "SELECT 1 FROM {o} WHERE " REFERRED("?1") " LIMIT 1",

    [MQ_SQL_LEASE_OVER] = "SELECT " COLS " FROM {t} WHERE status = 'sending' "
                          "AND locked_until <= ?1 ORDER BY locked_until LIMIT ?2",
    [MQ_SQL_LEASE_DEAD] = "SELECT " COLS " FROM {t} WHERE status = 'sending' "
                          "AND locked_until > ?1 AND locked_by = ?2 "
                          "ORDER BY locked_until LIMIT ?3",
    [MQ_SQL_PAID] = "SELECT SUM(paid) FROM {t} WHERE status = 'sending' AND locked_until > 0",
    /* The fence: the token of the claim, and its attempt, for a worker that lost a lease may have
     * claimed the same job again. */
    [MQ_SQL_SETTLE_DELETE] = "DELETE FROM {t} WHERE id = ?1 AND locked_by = ?2 AND attempts = ?3",
    [MQ_SQL_SETTLE_STATE] =
        "UPDATE {t} SET status = ?1, attempts = ?5, uncertain = ?6, next_attempt_at = ?7, "
        "last_attempt_at = ?8, last_error = COALESCE(?9, last_error), parked_for = ?10, paid = 0, "
        "locked_until = NULL, locked_by = NULL "
        "WHERE id = ?2 AND locked_by = ?3 AND attempts = ?4",
    [MQ_SQL_SETTLE_LISTS] =
        "UPDATE {t} SET status = ?1, attempts = ?5, uncertain = ?6, next_attempt_at = ?7, "
        "last_attempt_at = ?8, last_error = COALESCE(?9, last_error), parked_for = ?10, "
        "recipients = ?11, refused = ?12, paid = 0, locked_until = NULL, locked_by = NULL "
        "WHERE id = ?2 AND locked_by = ?3 AND attempts = ?4",
    [MQ_SQL_RENEW] =
        "UPDATE {t} SET locked_until = ?1 WHERE id = ?2 AND locked_by = ?3 AND attempts = ?4",
    [MQ_SQL_ENVELOPE] = "UPDATE {t} SET envelope_from = ?1, recipients = ?2, paid = ?3 "
                        "WHERE id = ?4 AND locked_by = ?5 AND attempts = ?6",

    [MQ_SQL_SPENT_ADD] = "INSERT INTO {s}(at, n) VALUES (?1, ?2) "
                         "ON CONFLICT (at) DO UPDATE SET n = n + excluded.n",
    [MQ_SQL_SPENT_SUM] = "SELECT SUM(n), MAX(at) FROM {s} WHERE at > ?1",
    [MQ_SQL_SPENT_ROWS] = "SELECT at, n FROM {s} WHERE at > ?1 ORDER BY at",
    [MQ_SQL_SPENT_PURGE] = "DELETE FROM {s} WHERE at < ?1",
    [MQ_SQL_SPENT_FUTURE] = "DELETE FROM {s} WHERE at > ?1",

    [MQ_SQL_RETRY] = "UPDATE {t} SET status = ?1, attempts = ?2, next_attempt_at = ?3, "
                     "recipients = ?4, refused = NULL, parked_for = NULL WHERE id = ?5",
    [MQ_SQL_RETRYABLE] = "SELECT id FROM {t} WHERE status = 'parked' "
                         "AND parked_for IN ('refused','exhausted') AND id > ?1 "
                         "ORDER BY id LIMIT ?2",
    /* The plus keeps the planner from reading all that waits by its own index. */
    [MQ_SQL_EXPIRED] = "SELECT " COLS " FROM {t} WHERE expires_at <= ?1 "
                       "AND +" MQ_CLAIMABLE_SQL " ORDER BY expires_at LIMIT ?2",
    [MQ_SQL_WALK_END] = "SELECT max(id) FROM "
                        "(SELECT id FROM {t} WHERE id > ?1 ORDER BY id LIMIT ?2)",
    /* Bounded by LIMIT and join: `id <= ?` is but a filter to SQLite 3.46, which then reads on to
     * the table's end, where ANALYZE ran while little waited. */
    [MQ_SQL_WALK] =
        "SELECT " COLS " FROM (SELECT id AS walked FROM {t} WHERE id > ?1 ORDER BY id LIMIT ?2) "
        "AS walk CROSS JOIN {t} ON id = walked WHERE +" MQ_CLAIMABLE_SQL
        " AND (expires_at <= ?3 OR ({r} IS NOT NULL "
        "AND NOT EXISTS (SELECT 1 FROM {o} WHERE " REFERRED("{t}.{r}") ")))",

    [MQ_SQL_JOBS] = "SELECT " COLS " FROM {t} WHERE id > ?1 ORDER BY id LIMIT ?2",
    [MQ_SQL_JOBS_PENDING] = JOBS_OF("status = 'pending'"),
    [MQ_SQL_JOBS_SENDING] = JOBS_OF("status = 'sending' AND locked_until > 0"),
    [MQ_SQL_JOBS_FAILED] = JOBS_OF("status = 'failed' AND status IN ('failed','held')"),
    [MQ_SQL_JOBS_PARKED] = JOBS_OF("status = 'parked'"),
    [MQ_SQL_JOBS_HELD] = JOBS_OF("status = 'held' AND status IN ('failed','held')"),

    /* Each reads entries of one partial index, none a row of the table: with a million jobs in that
     * state about 0.1 s for the first, 0.03 s for the others. */
    [MQ_SQL_STATS_DUE] = "SELECT count(*), count(CASE WHEN next_attempt_at <= ?1 THEN 1 END), "
                         "min(id), min(next_attempt_at) FROM {t} WHERE " MQ_CLAIMABLE_SQL,
    [MQ_SQL_STATS_CREATED] = "SELECT created_at FROM {t} WHERE id = ?1",
    [MQ_SQL_STATS_SENDING] =
        "SELECT count(*) FROM {t} WHERE status = 'sending' AND locked_until > 0",
    [MQ_SQL_STATS_FAILED] = "SELECT count(*) FROM {t} WHERE status = 'failed' "
                            "AND status IN ('failed','held')",
    [MQ_SQL_STATS_PARKED] = "SELECT count(*) FROM {t} WHERE status = 'parked'",
    [MQ_SQL_STATS_HELD] = "SELECT count(*) FROM {t} WHERE status = 'held' "
                          "AND status IN ('failed','held')",
    [MQ_SQL_COLUMNS_OF] = "SELECT name, pk FROM pragma_table_info(?1, 'main')",
};

_Static_assert(MQ_SQL_COUNT <= MQ_DB_SLOTS, "more statements than slots");

static void quoted(struct mq_buffer *out, const char *name)
{
    mq_buffer_char(out, '`');
    mq_buffer_cstr(out, name);
    mq_buffer_char(out, '`');
}

/* In the application's file, whatever tables of the same name its connection has attached or
 * temporary. */
static void in_main(struct mq_buffer *out, const char *name)
{
    mq_buffer_cstr(out, "main.");
    quoted(out, name);
}

static void expand_one(struct mq_buffer *out, const struct mq_names *names, char what)
{
    switch (what) {
    case 't':
        in_main(out, names->table);
        break;
    case 'u': /* where a schema was named before */
        quoted(out, names->table);
        break;
    case 'b':
        in_main(out, names->body);
        break;
    case 's':
        in_main(out, names->spent);
        break;
    case 'c':
        in_main(out, names->config);
        break;
    case 'r':
        quoted(out, names->reference);
        break;
    case 'o':
        in_main(out, names->orphan_table);
        break;
    case 'k':
        quoted(out, names->orphan_column);
        break;
    default:
        mq_buffer_cstr(out, names->table);
        break;
    }
}

char *mq_sql_expand(const struct mq_names *names, const char *text)
{
    struct mq_buffer out;
    mq_buffer_init(&out);
    mq_buffer_reserve(&out, strlen(text) + 128);
    for (;;) {
        const char *brace = strchr(text, '{');
        if (!brace) {
            mq_buffer_cstr(&out, text);
            return mq_buffer_take(&out);
        }
        mq_buffer_append(&out, text, (size_t)(brace - text));
        expand_one(&out, names, brace[1]);
        text = brace + 3;
    }
}

const char *mq_sql_text(struct mq_queue *queue, enum mq_sql slot)
{
    if (!queue->sql[slot]) {
        queue->sql[slot] = mq_sql_expand(&queue->names, templates[slot]);
    }
    return queue->sql[slot];
}

enum mq_status mq_sql_query(struct mq_queue *queue, enum mq_sql slot, struct mq_args args,
                            struct mq_error *err)
{
    const char *text = mq_sql_text(queue, slot);
    if (!text) {
        return mq_error_nomem(err);
    }
    struct mq_query query = {(int)slot, text, args.values, args.count};
    return queue->db->driver->run(queue->db, &query, err);
}

enum mq_status mq_sql_exec(struct mq_queue *queue, enum mq_sql slot, struct mq_args args,
                           struct mq_error *err)
{
    const char *text = mq_sql_text(queue, slot);
    if (!text) {
        return mq_error_nomem(err);
    }
    struct mq_query query = {(int)slot, text, args.values, args.count};
    return mq_db_exec(queue->db, &query, err);
}

enum mq_status mq_sql_next(struct mq_queue *queue, bool *row, struct mq_error *err)
{
    bool more = false;
    enum mq_status status = queue->db->driver->next(queue->db, &more, err);
    if (status != MQ_OK || !more) {
        queue->db->driver->finish(queue->db);
    }
    *row = status == MQ_OK && more;
    return status;
}

void mq_sql_finish(struct mq_queue *queue)
{
    queue->db->driver->finish(queue->db);
}

/* Leaves *value where there is no number. A connection may be set to give numbers as text. */
static void to_int(struct mq_value column, int64_t *value)
{
    if (column.type == MQ_INT) {
        *value = column.i;
    } else if (column.type == MQ_TEXT) {
        mq_config_parse_int(column.s, value);
    }
}

enum mq_status mq_sql_int(struct mq_queue *queue, enum mq_sql slot, struct mq_args args,
                          int64_t *value, struct mq_error *err)
{
    enum mq_status status = mq_sql_query(queue, slot, args, err);
    if (status != MQ_OK) {
        return status;
    }
    bool row = false;
    status = mq_sql_next(queue, &row, err);
    if (status == MQ_OK && row) {
        to_int(queue->db->driver->column(queue->db, 0), value);
        mq_sql_finish(queue);
    }
    return status;
}

int64_t mq_sql_column_int(struct mq_queue *queue, int index)
{
    int64_t value = 0;
    to_int(queue->db->driver->column(queue->db, index), &value);
    return value;
}

struct mq_str mq_sql_column_str(struct mq_queue *queue, int index)
{
    struct mq_value v = queue->db->driver->column(queue->db, index);
    return v.type == MQ_TEXT || v.type == MQ_BLOB ? v.s : (struct mq_str){NULL, 0};
}

int64_t mq_sql_changes(struct mq_queue *queue)
{
    return queue->db->driver->changes(queue->db);
}
