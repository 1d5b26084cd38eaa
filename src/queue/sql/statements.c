/* The SQL of the queue: a table of templates, which a dialect can override, and the functions that
 * run them. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "db/db.h"
#include "queue/handle.h"
#include "queue/sql/list.h"
#include "queue/sql/tables.h"

#define ROWS_MAX    200 /* of one INSERT with a list of rows */
#define COLUMNS_MAX 14

#define JOBS_BY(condition, order) \
    "SELECT " MQ_COLS " FROM {t} WHERE " condition " AND id > ?1 ORDER BY " order " LIMIT ?2"
#define JOBS_OF(condition) JOBS_BY(condition, "id")

#define PRIORITY       "SELECT max(priority) FROM {t} WHERE " MQ_CLAIMABLE_SQL "{#}"
#define PRIORITY_BELOW PRIORITY " AND priority < {<}"
#define FIRST_DUE \
    "SELECT min(next_attempt_at) FROM {t} WHERE " MQ_CLAIMABLE_SQL " AND priority = ?1"
#define CONFIG_OF(name) "(SELECT {V} FROM {c} WHERE {q}key{q} = " name " LIMIT 1)"

/* `locked_until > 0` holds for every claimed row; it lets a query search the index of leases. */
static const char *const common[MQ_SQL_COUNT] = {
    [MQ_SQL_CONFIG_TABLE] = "CREATE TABLE IF NOT EXISTS {c} (key TEXT PRIMARY KEY, value TEXT)",
    /* The body has its own table because an UPDATE writes the whole record again, and every
     * mail is updated when it is claimed. Claims read the index `mail_queue_due`, which holds
     * only waiting rows, however many others are in the table. */
    [MQ_SQL_TABLES] =
        "CREATE TABLE IF NOT EXISTS {t} ({*}){a};"
        "CREATE UNIQUE INDEX IF NOT EXISTS {m}{q}{T}_key{q} ON {q}{T}{q}({r}, mail_type) "
        "WHERE {r} IS NOT NULL;"
        "CREATE INDEX IF NOT EXISTS {m}{q}{T}_due{q} ON {q}{T}{q}(priority, next_attempt_at, id) "
        "WHERE " MQ_CLAIMABLE_SQL ";"
        "CREATE INDEX IF NOT EXISTS {m}{q}{T}_lease{q} ON {q}{T}{q}(locked_until) "
        "WHERE status = 'sending';"
        "CREATE INDEX IF NOT EXISTS {m}{q}{T}_parked{q} ON {q}{T}{q}(id) "
        "WHERE status = 'parked';"
        "CREATE INDEX IF NOT EXISTS {m}{q}{T}_rest{q} ON {q}{T}{q}(status, id)"
        " WHERE status IN ('failed','held');"
        "CREATE INDEX IF NOT EXISTS {m}{q}{T}_expiry{q} ON {q}{T}{q}(expires_at) "
        "WHERE expires_at IS NOT NULL;"
        "CREATE TABLE IF NOT EXISTS {b} (id {n} PRIMARY KEY, content {x} NOT NULL){e};"
        "CREATE TABLE IF NOT EXISTS {s} (at {n} PRIMARY KEY, n {n} NOT NULL);"
        "CREATE TABLE IF NOT EXISTS {S} (" MQ_WINDOW_COLUMNS "){W};"
        "CREATE TABLE IF NOT EXISTS {C} (" MQ_COUNT_COLUMNS "){W};{P}"
        "CREATE TABLE IF NOT EXISTS {H} (" MQ_LOG_COLUMNS ");"
        "CREATE TABLE IF NOT EXISTS {Z} (" MQ_SUPPRESSION_COLUMNS ", UNIQUE (seq)){W};"
        "CREATE TABLE IF NOT EXISTS {M} (" MQ_CAMPAIGN_COLUMNS ", UNIQUE (name));"
        "CREATE TABLE IF NOT EXISTS {p} (" MQ_RECIPIENT_COLUMNS ", UNIQUE (campaign_id, hash));"
        "CREATE TABLE IF NOT EXISTS {!} (" MQ_BOUNCE_COLUMNS ", UNIQUE (at, hash, event)){W};"
        "CREATE INDEX IF NOT EXISTS {m}{q}{T}_live{q} ON {q}{T}{q}(campaign_id, next_attempt_at) "
        "WHERE campaign_id IS NOT NULL AND status <> 'parked';"
        "CREATE INDEX IF NOT EXISTS {m}{q}{T}_w{q} ON {q}{O}{q}(at);"
        "CREATE INDEX IF NOT EXISTS {m}{q}{E}_id{q} ON {q}{E}{q}(job_id);"
        "CREATE INDEX IF NOT EXISTS {m}{q}{E}_at{q} ON {q}{E}{q}(at);",

    [MQ_SQL_CONFIG_GET] = "SELECT {V} FROM {c} WHERE {q}key{q} = ?1",
    [MQ_SQL_CONFIG_ALL] = "SELECT {q}key{q}, {V} FROM {c} WHERE {q}key{q} IN ({K})",
    /* UPDATE, then INSERT, not an upsert: the application's table may lack the unique key. */
    [MQ_SQL_CONFIG_UPDATE] = "UPDATE {c} SET value = {N} WHERE {q}key{q} = ?1",
    [MQ_SQL_CONFIG_INSERT] = "INSERT INTO {c}(key, value) VALUES (?1, ?2)",
    [MQ_SQL_CONFIG_DELETE] = "DELETE FROM {c} WHERE {q}key{q} = ?1",

    [MQ_SQL_INSERT_JOB] =
        MQ_INSERT_JOB " ON CONFLICT ({r}, mail_type) WHERE {r} IS NOT NULL DO NOTHING{d}",
    [MQ_SQL_INSERT_BODY] = "INSERT INTO {b}(id, content) VALUES (?1, ?2)",
    [MQ_SQL_PAIR] = "SELECT id, " MQ_REPLACED_SQL " FROM {t} WHERE {r} = ?2 AND mail_type = ?3",
    [MQ_SQL_DELETE_JOB] = "DELETE FROM {t} WHERE id = ?1 AND status <> 'sending'",
    [MQ_SQL_BODY_OCTETS] = "SELECT length(content) FROM {b} WHERE id = ?1",
    [MQ_SQL_DELETE_BODY] = "DELETE FROM {b} WHERE id = ?1",
    [MQ_SQL_BODIES] =
        "SELECT {t}.id, length(content), CASE WHEN length(content) <= ?1 THEN content END "
        "FROM {t} LEFT JOIN {b} ON {b}.id = {t}.id WHERE {t}.id IN (?3, ?4, ?5, ?6, ?7, ?8, "
        "?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16, ?17, ?18) AND locked_by = ?2",
    [MQ_SQL_BODY] = "SELECT content FROM {b} WHERE id = ?1",
    [MQ_SQL_JOB] = "SELECT " MQ_COLS " FROM {t} WHERE id = ?1",
    [MQ_SQL_JOB_CHANGE] = "SELECT " MQ_COLS " FROM {t} WHERE id = ?1{u}",

    [MQ_SQL_CLAIM_DUE] =
        "SELECT " MQ_COLS " FROM {t}{D} WHERE " MQ_CLAIMABLE_SQL
        " AND priority = ?1 AND next_attempt_at <= ?2 ORDER BY next_attempt_at, id LIMIT ?3{w}",
    [MQ_SQL_CLAIM_PRIORITY] = PRIORITY_BELOW,
    [MQ_SQL_CLAIM_NEXT] = FIRST_DUE,
    [MQ_SQL_CLAIM_TAKE] = "UPDATE {t} SET status = ?1, attempts = attempts + 1, "
                          "locked_until = ?2, locked_by = ?3, paid = ?4, paid_to = ?6, "
                          "waits_for = NULL WHERE id = ?5",
    [MQ_SQL_PAY_RELAY] = "UPDATE {t} SET paid_to = ?1, paid = ?2 "
                         "WHERE id = ?3 AND locked_by = ?4 AND attempts = ?5",
    [MQ_SQL_PUT_BACK] = "UPDATE {t} SET next_attempt_at = ?1, waits_for = ?2 WHERE id = ?3",
    [MQ_SQL_PARK] = "UPDATE {t} SET status = ?1, parked_for = ?2, "
                    "last_error = COALESCE(?3, last_error), paid = 0, locked_until = NULL, "
                    "locked_by = NULL WHERE id = ?4",

    [MQ_SQL_HOLD] = "UPDATE {t} SET status = ?1, parked_for = 'hold' WHERE id = ?2 "
                    "AND " MQ_CLAIMABLE_SQL,

    [MQ_SQL_LEASE_OVER] = "SELECT " MQ_COLS " FROM {t}{L} WHERE status = 'sending' "
                          "AND locked_until <= ?1 ORDER BY locked_until LIMIT ?2{w}",
    /* Waits for locked rows, because the dead runs' intent records are deleted afterwards. */
    [MQ_SQL_LEASE_DEAD] = "SELECT " MQ_COLS " FROM {t}{L} WHERE status = 'sending' "
                          "AND locked_until > ?1 AND locked_by = ?2 "
                          "ORDER BY locked_until LIMIT ?3{u}",
    [MQ_SQL_PAID] = "SELECT SUM(paid) FROM {t} WHERE status = 'sending' AND locked_until > 0",
    /* The fence is the claim token and the attempt, because a worker that lost a lease can have
     * claimed the same job again. */
    [MQ_SQL_SETTLE_DELETE] = "DELETE FROM {t} WHERE id = ?1 AND locked_by = ?2 AND attempts = ?3",
    [MQ_SQL_SETTLE] =
        "UPDATE {t} SET status = ?1, attempts = ?5, uncertain = ?6, next_attempt_at = ?7, "
        "last_attempt_at = ?8, last_error = COALESCE(?9, last_error), parked_for = ?10, "
        "recipients = COALESCE(?11, recipients), refused = COALESCE(?12, refused), "
        "uncertain_to = ?13, waits_for = ?14, paid = 0, "
        "locked_until = NULL, locked_by = NULL "
        "WHERE id = ?2 AND locked_by = ?3 AND attempts = ?4",
    [MQ_SQL_RENEW] =
        "UPDATE {t} SET locked_until = ?1 WHERE id = ?2 AND locked_by = ?3 AND attempts = ?4",
    [MQ_SQL_ENVELOPE] = "UPDATE {t} SET envelope_from = ?1, recipients = ?2, paid = ?3 "
                        "WHERE id = ?4 AND locked_by = ?5 AND attempts = ?6",

    [MQ_SQL_SPENT_ADD] = "INSERT INTO {s}(at, n) VALUES (?1, ?2) "
                         "ON CONFLICT (at) DO UPDATE SET n = ABS({s}.n) + excluded.n",
    [MQ_SQL_SPENT_SUM] = "SELECT SUM(ABS(n)) FROM {s} WHERE at > ?1 AND at <= ?2",
    [MQ_SQL_SPENT_AHEAD] = "SELECT SUM(n) FROM {s} WHERE at > ?1 AND n > 0",
    [MQ_SQL_SPENT_ROWS] = "SELECT at, ABS(n) FROM {s} WHERE at > ?1 ORDER BY at",
    [MQ_SQL_SPENT_PURGE] = "DELETE FROM {s} WHERE at < ?1",
    [MQ_SQL_SPENT_MARK] = "UPDATE {s} SET n = -n WHERE at > ?1 AND n > 0",

    [MQ_SQL_UNDER_WAY] = "SELECT paid_to, envelope_from, paid, recipients FROM {t} "
                         "WHERE status = 'sending' AND locked_until > 0 AND paid > 0",
    [MQ_SQL_WINDOW_SUM] =
        "SELECT SUM(CASE WHEN at <= ?3 THEN ABS(n) ELSE 0 END), "
        "SUM(CASE WHEN at > ?3 AND n > 0 THEN n ELSE 0 END) FROM {S} WHERE scope = ?1 AND at > ?2",
    [MQ_SQL_WINDOW_ROWS] = "SELECT at, ABS(n) FROM {S} WHERE scope = ?1 AND at > ?2 ORDER BY at",
    [MQ_SQL_WINDOW_ADD] = "INSERT INTO {S}(scope, at, n) VALUES (?1, ?2, ?3) "
                          "ON CONFLICT (scope, at) DO UPDATE SET n = ABS({S}.n) + excluded.n",
    [MQ_SQL_WINDOW_MARK] = "UPDATE {S} SET n = -n WHERE scope = ?1 AND at > ?2 AND n > 0",
    [MQ_SQL_WINDOW_DROP] = "DELETE FROM {S} WHERE scope = ?1 AND at < ?2",
    [MQ_SQL_WINDOW_PURGE] = "DELETE FROM {S} WHERE at < ?1",
    [MQ_SQL_LINE_END] = "SELECT 1 FROM {t} WHERE id = ?1 AND waits_for IS NOT NULL "
                        "AND {+}" MQ_CLAIMABLE_SQL,

    [MQ_SQL_COUNT_ADD] = "INSERT INTO {C}(hour, mail_type, event, part, mails, recipients) "
                         "VALUES (?1, ?2, ?3, ?4, ?5, ?6){U}",
    [MQ_SQL_COUNT_PARTS] = "SELECT min(hour) FROM {C} WHERE part > 0 AND hour < ?1",
    /* Days are added up in their order, so the last one shows whether there are any. */
    [MQ_SQL_COUNT_HOURS] = "SELECT min(hour) FROM {C} WHERE hour < ?1 AND hour % ?2 <> 0 AND "
                           "(SELECT max(hour) FROM {C} WHERE hour < ?1) % ?2 <> 0",
    /* What is added up and deleted are the rows that this UPDATE found: a transaction that began
     * long ago can still commit another one for the hour. No row with a negative hour is ever
     * committed. */
    [MQ_SQL_COUNT_MARK] = "UPDATE {C} SET hour = -hour " MQ_COUNTS_IN_PARTS,
    /* PostgreSQL takes the type of ?1 from what stands beside it. */
    [MQ_SQL_COUNT_MERGE] = "INSERT INTO {C}(hour, mail_type, event, part, mails, recipients) "
                           "SELECT min(hour) * 0 - ?1, mail_type, event, 0, SUM(mails), "
                           "SUM(recipients) FROM {C} WHERE hour <= ?1 AND hour > ?2 "
                           "GROUP BY mail_type, event{U}",
    [MQ_SQL_COUNT_MERGED] = "DELETE FROM {C} WHERE hour <= ?1 AND hour > ?2",
    [MQ_SQL_LOG_ADD] = "INSERT INTO {H}(at, job_id, reference, mail_type, subject, relay, "
                       "event, phase, attempt, recipients, uncertain, reply, ms, waited) "
                       "VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14)",
    [MQ_SQL_LOG_OLD] = "SELECT 1 FROM {H} WHERE at < ?1 LIMIT 1",
    [MQ_SQL_LOG_PURGE] = "DELETE FROM {H} WHERE id IN "
                         "(SELECT id FROM {H} WHERE at < ?1 ORDER BY at LIMIT ?2{w})",
    [MQ_SQL_RECIPIENT_ADD] =
        "INSERT INTO {p}(id, campaign_id, hash, cleared, address, name, fields) "
        "VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7){Q}",

    [MQ_SQL_RETRY] = "UPDATE {t} SET status = ?1, attempts = ?2, next_attempt_at = ?3, "
                     "recipients = ?4, refused = NULL, parked_for = NULL, waits_for = NULL "
                     "WHERE id = ?5",
    [MQ_SQL_RETRYABLE] = "SELECT id FROM {t} WHERE status = 'parked' "
                         "AND " MQ_FAILED_SQL " AND id > ?1 "
                         "UNION ALL SELECT id FROM {t} WHERE status = 'failed' "
                         "AND status IN ('failed','held') AND id > ?1 "
                         "ORDER BY id LIMIT ?2",
    [MQ_SQL_ARRIVED] = "UPDATE {t} SET status = ?1, parked_for = ?2, recipients = ?3, "
                       "uncertain_to = NULL, uncertain = 0 WHERE id = ?4",
    /* The + keeps SQLite's planner from reading all waiting rows by the index of due jobs. */
    [MQ_SQL_EXPIRED] = "SELECT " MQ_COLS " FROM {t}{X} WHERE " MQ_EXPIRED_BY "?1 "
                       "AND {+}" MQ_CLAIMABLE_SQL " ORDER BY expires_at LIMIT ?2{w}",
    [MQ_SQL_WALK_END] = "SELECT max(id) FROM "
                        "(SELECT id FROM {t} WHERE id > ?1 ORDER BY id LIMIT ?2) AS walk",

    [MQ_SQL_STRAYS] =
        "SELECT id, status FROM {t} WHERE status NOT IN ('pending','sending','failed','parked',"
        "'held') OR (status = 'sending' AND (locked_until IS NULL OR locked_until <= 0)) "
        "ORDER BY id LIMIT ?1",
    /* Leaves out rows with an unknown status: MQ_SQL_STRAYS lists them. The CASE makes planners
     * expect most rows, and so read them by id, also where the table was never analyzed. */
    [MQ_SQL_JOBS] = JOBS_OF("CASE WHEN status IN ('pending','sending','failed','parked','held') "
                            "THEN 1 ELSE 0 END <> 0"),
    [MQ_SQL_JOBS_PENDING] = JOBS_OF("status = 'pending'"),
    /* The + makes SQLite sort the few that are under way, rather than read all by id. */
    [MQ_SQL_JOBS_SENDING] = JOBS_BY("status = 'sending' AND locked_until > 0", "{+}id"),
    [MQ_SQL_JOBS_FAILED] = JOBS_OF("status = 'failed' AND status IN ('failed','held')"),
    [MQ_SQL_JOBS_PARKED] = JOBS_OF("status = 'parked'"),
    [MQ_SQL_JOBS_HELD] = JOBS_OF("status = 'held' AND status IN ('failed','held')"),

    /* Each part reads entries of one partial index; the last one reads up to ?6 rows by their ids
     * until one waits. */
    [MQ_SQL_STATS] =
        MQ_STATS_OF(MQ_COUNT_OF, "status = 'sending' AND locked_until > 0 ORDER BY locked_until",
                    "status = 'failed' AND status IN ('failed','held')",
                    "status = 'held' AND status IN ('failed','held')",
                    "SELECT created_at FROM (SELECT status, created_at FROM {t} ORDER BY id "
                    "LIMIT ?6) AS walk WHERE status IN ('pending','failed') LIMIT 1"),
    [MQ_SQL_LOOK] = "SELECT (SELECT min(id) FROM {t}), (SELECT max(id) FROM {t}), (" PRIORITY "), "
                    "{y}, " CONFIG_OF("?2") ", " CONFIG_OF("?3"),
    /* Of priority ?1, in PostgreSQL of all below it, too: when the first job is due, how many are
     * by ?2 (up to ?3 of each priority), the next priority, the lowest that was read. */
    [MQ_SQL_DUE] = "SELECT (" FIRST_DUE "), (SELECT count(*) FROM (SELECT 1 AS one FROM {t}{D} "
                   "WHERE " MQ_CLAIMABLE_SQL " AND priority = ?1 AND next_attempt_at <= ?2 "
                   "ORDER BY next_attempt_at, id LIMIT ?3) AS due), (" PRIORITY_BELOW "), ?1",
    [MQ_SQL_DUE_BEFORE] =
        "SELECT count(*) FROM (SELECT 1 AS one FROM {t}{D} WHERE " MQ_CLAIMABLE_SQL
        " AND priority = ?1 AND next_attempt_at <= ?2 AND (next_attempt_at < ?2 OR id < ?4) "
        "ORDER BY next_attempt_at, id LIMIT ?3) AS due",
};

_Static_assert(MQ_SQL_COUNT <= MQ_DB_SLOTS, "more statements than slots");
_Static_assert(MQ_BODIES_MAX == 18 - 3 + 1, "MQ_SQL_BODIES takes the ids as ?3 to ?18");

static const char *template_of(const struct mq_queue *queue, enum mq_sql slot)
{
    const char *own = queue->dialect->overrides[slot];
    return own ? own : common[slot];
}

bool mq_sql_has(const struct mq_queue *queue, enum mq_sql slot)
{
    return template_of(queue, slot) != NULL;
}

const char *mq_sql_text(struct mq_queue *queue, enum mq_sql slot)
{
    if (!queue->sql[slot]) {
        queue->sql[slot] = mq_sql_expand(queue->dialect, &queue->names, template_of(queue, slot));
    }
    return queue->sql[slot];
}

enum mq_status mq_sql_query(struct mq_queue *queue, enum mq_sql slot, struct mq_args args,
                            struct mq_error *err)
{
    const char *text = mq_sql_text(queue, slot);
    struct mq_query query = {(int)slot, text, args.values, args.count};
    return text ? queue->db->driver->run(queue->db, &query, err) : mq_error_nomem(err);
}

enum mq_status mq_sql_query_text(struct mq_queue *queue, const char *sql, struct mq_args args,
                                 struct mq_error *err)
{
    struct mq_query query = {-1, sql, args.values, args.count};
    return queue->db->driver->run(queue->db, &query, err);
}

enum mq_status mq_sql_query_template(struct mq_queue *queue, const char *text, struct mq_args args,
                                     struct mq_error *err)
{
    char *sql = mq_sql_expand(queue->dialect, &queue->names, text);
    enum mq_status status = sql ? mq_sql_query_text(queue, sql, args, err) : mq_error_nomem(err);
    free(sql);
    return status;
}

enum mq_status mq_sql_exec_text(struct mq_queue *queue, const char *text, struct mq_args args,
                                struct mq_error *err)
{
    char *sql = mq_sql_expand(queue->dialect, &queue->names, text);
    struct mq_query query = {-1, sql, args.values, args.count};
    enum mq_status status = sql ? mq_db_exec(queue->db, &query, err) : mq_error_nomem(err);
    free(sql);
    return status;
}

enum mq_status mq_sql_exec(struct mq_queue *queue, enum mq_sql slot, struct mq_args args,
                           struct mq_error *err)
{
    const char *text = mq_sql_text(queue, slot);
    struct mq_query query = {(int)slot, text, args.values, args.count};
    return text ? mq_db_exec(queue->db, &query, err) : mq_error_nomem(err);
}

/* ---- many rows ---- */

/* Writes `text` with its one list of values, "(?1, …)", for each row. Numbers are written as they
 * are, because each parameter takes calls of PDO. `left` gets the other values; says how many. */
static int repeat_values(struct mq_buffer *out, const char *text, struct mq_args args, int columns,
                         struct mq_value *left)
{
    const char *list = strstr(text, "(?1");
    int n = 0;
    mq_buffer_append(out, text, (size_t)(list - text));
    for (int i = 0; i < args.count; i++) {
        const struct mq_value *value = &args.values[i];
        mq_buffer_cstr(out, i % columns ? "," : i ? ",(" : "(");
        if (value->type == MQ_INT) {
            mq_buffer_int(out, value->i);
        } else if (value->type == MQ_NULL) {
            mq_buffer_cstr(out, "NULL");
        } else {
            left[n++] = *value;
            mq_buffer_printf(out, "?%d", n);
        }
        mq_buffer_cstr(out, (i + 1) % columns ? "" : ")");
    }
    mq_buffer_cstr(out, strchr(list, ')') + 1);
    return n;
}

static enum mq_status insert_many(struct mq_queue *queue, enum mq_sql slot, struct mq_args args,
                                  int rows, struct mq_error *err)
{
    struct mq_buffer sql = {0};
    const char *text = mq_sql_text(queue, slot);
    struct mq_value *left = malloc((size_t)args.count * sizeof(*left));
    int n = text && left ? repeat_values(&sql, text, args, args.count / rows, left) : 0;
    enum mq_status status = text && left && !sql.failed
                                ? mq_sql_query_text(queue, sql.data, (struct mq_args){left, n}, err)
                                : mq_error_nomem(err);
    mq_sql_finish(queue);
    mq_buffer_clear(&sql);
    free(left);
    return status;
}

/* Appends a value to an array as PostgreSQL reads it. */
static void add_element(struct mq_buffer *out, const struct mq_value *value)
{
    mq_buffer_char(out, out->len ? ',' : '{');
    if (value->type == MQ_INT) {
        mq_buffer_printf(out, "%" PRId64, value->i);
    } else if (value->type == MQ_NULL) {
        mq_buffer_cstr(out, "NULL");
    } else {
        mq_buffer_char(out, '"');
        for (size_t i = 0; i < value->s.len; i++) {
            mq_buffer_cstr(out, strchr("\"\\", value->s.data[i]) ? "\\" : "");
            mq_buffer_char(out, value->s.data[i]);
        }
        mq_buffer_char(out, '"');
    }
}

/* Each parameter is an array with a column's values, so the server can keep the statement whatever
 * the number of rows. To parse a long list of rows took it longer than to store them. */
static enum mq_status insert_arrays(struct mq_queue *queue, enum mq_sql slot, struct mq_args args,
                                    int rows, struct mq_error *err)
{
    struct mq_buffer arrays[COLUMNS_MAX] = {{0}};
    struct mq_value values[COLUMNS_MAX];
    int columns = args.count / rows;
    bool failed = false;
    for (int i = 0; i < columns; i++) {
        for (int j = i; j < args.count; j += columns) {
            add_element(&arrays[i], &args.values[j]);
        }
        mq_buffer_char(&arrays[i], '}');
        values[i] = mq_text(mq_buffer_view(&arrays[i]));
        values[i].for_people = args.values[i].for_people;
        failed = failed || arrays[i].failed;
    }
    args = (struct mq_args){values, columns};
    enum mq_status status = failed ? mq_error_nomem(err) : mq_sql_exec(queue, slot, args, err);
    for (int i = 0; i < columns; i++) {
        mq_buffer_clear(&arrays[i]);
    }
    return status;
}

enum mq_status mq_sql_insert_rows(struct mq_queue *queue, enum mq_sql slot, struct mq_args args,
                                  int rows, struct mq_error *err)
{
    int columns = rows ? args.count / rows : 0;
    int step = queue->dialect->shared ? ROWS_MAX : 1;
    if (rows && queue->dialect->takes_arrays) {
        return insert_arrays(queue, slot, args, rows, err);
    }
    for (int i = 0; i < rows; i += step) {
        int n = rows - i < step ? rows - i : step;
        struct mq_args some = {args.values + i * columns, n * columns};
        MQ_TRY(n > 1 ? insert_many(queue, slot, some, n, err)
                     : mq_sql_exec(queue, slot, some, err));
    }
    return MQ_OK;
}

/* ---- results ---- */

bool mq_sql_next(struct mq_queue *queue, enum mq_status *status, struct mq_error *err)
{
    bool row = false;
    if (*status == MQ_OK) {
        *status = queue->db->driver->next(queue->db, &row, err);
    }
    if (*status != MQ_OK || !row) {
        queue->db->driver->finish(queue->db);
        return false;
    }
    return true;
}

bool mq_sql_row(struct mq_queue *queue, enum mq_sql slot, struct mq_args args,
                enum mq_status *status, struct mq_error *err)
{
    *status = mq_sql_query(queue, slot, args, err);
    return *status == MQ_OK && mq_sql_next(queue, status, err);
}

void mq_sql_finish(struct mq_queue *queue)
{
    queue->db->driver->finish(queue->db);
}

enum mq_status mq_sql_int(struct mq_queue *queue, enum mq_sql slot, struct mq_args args,
                          int64_t *value, struct mq_error *err)
{
    enum mq_status status;
    if (mq_sql_row(queue, slot, args, &status, err)) {
        mq_value_int(queue->db->driver->column(queue->db, 0), value);
        mq_sql_finish(queue);
    }
    return status;
}

enum mq_status mq_sql_text_of(struct mq_queue *queue, enum mq_sql slot, struct mq_args args,
                              char **text, struct mq_error *err)
{
    enum mq_status status;
    *text = NULL;
    if (mq_sql_row(queue, slot, args, &status, err)) {
        struct mq_str found = mq_sql_column_str(queue, 0);
        *text = found.data ? mq_str_dup(found) : NULL;
        status = found.data && !*text ? mq_error_nomem(err) : MQ_OK;
        mq_sql_finish(queue);
    }
    return status;
}

int64_t mq_sql_column_int(struct mq_queue *queue, int index)
{
    int64_t value = 0;
    mq_value_int(queue->db->driver->column(queue->db, index), &value);
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

void mq_sql_list_add(struct mq_buffer *list, int64_t id, int64_t beside)
{
    mq_buffer_printf(list, "%s%lld,%lld]", list->len ? ",[" : "[[", (long long)id,
                     (long long)beside);
}

struct mq_value mq_sql_list(struct mq_buffer *list)
{
    mq_buffer_cstr(list, list->len ? "]" : "[]");
    return mq_text(mq_buffer_view(list));
}
