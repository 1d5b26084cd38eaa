/* Tables, versions and names, and the plan of every query that runs often. */
#include "db/db.h"
#include "queue/claim.h"
#include "queue/config/keys.h"
#include "queue/handle.h"
#include "queue/manage.h"
#include "queue/queue.h"
#include "queue/sql/statements.h"
#include "queue_fixture.h"

static enum mq_status open_after(struct fixture *fx, const char *script)
{
    struct mq_db *db = fx_memory();
    if (script) {
        assert_int_equal(mq_db_script(db, script, &fx->err), MQ_OK);
    }
    return mq_queue_open(db, &fx->options, &fx->queue, &fx->err);
}

static void test_fresh_file(void **state)
{
    (void)state;
    struct fixture fx;
    int version = 0;
    fx_open(&fx);
    fx_assert_text(&fx, "SELECT value FROM config WHERE key = 'mailSchemaVersion'", "6");
    assert_int_equal(fx_int(&fx, "PRAGMA user_version"), 0);
    assert_int_equal(fx_int(&fx, "SELECT count(*) FROM sqlite_master WHERE name NOT LIKE 'mail_%' "
                                 "AND name NOT LIKE 'sqlite_%' AND name <> 'config'"),
                     0);
    assert_int_equal(mq_queue_migrate(fx.queue, &version, &fx.err), MQ_OK);
    assert_int_equal(version, 6);
    fx_sql(&fx, "DROP TABLE mail_body");
    assert_int_equal(mq_queue_migrate(fx.queue, &version, &fx.err), MQ_OK);
    fx_mail(&fx, "a@example.org");
    fx_close(&fx);
}

/* Braces of JSON in a query are not words, and one at its end must not make us read beyond it. */
static void test_other_braces(void **state)
{
    (void)state;
    struct fixture fx;
    fx_open(&fx);
    char *sql = mq_sql_expand(fx.queue->dialect, &fx.queue->names, "'{}', '{\"a\":1}', {r}, '{'");
    assert_string_equal(sql, "'{}', '{\"a\":1}', `reference`, '{'");
    free(sql);
    fx_close(&fx);
}

static void test_config_table_of_the_application(void **state)
{
    (void)state;
    struct fixture fx;
    fx_init(&fx);
    fx_open_with(&fx, "CREATE TABLE config (id INTEGER PRIMARY KEY, key TEXT, value, note TEXT);"
                      "INSERT INTO config(key, value) VALUES ('mailMaxPerHour', 40)");
    fx_mail(&fx, "a@example.org");
    fx_claim(&fx);
    assert_true(fx.claim.limited); /* a number in an untyped column is read too */
    fx_settle(&fx, 0, "a");
    assert_int_equal(fx_int(&fx, "SELECT count(*) FROM config WHERE key = 'mailTokens'"), 1);
    fx_close(&fx);
}

/* The application's own lookups ignore a key's case, so ours must, too. */
static void test_config_keys_in_another_case(void **state)
{
    (void)state;
    struct fixture fx;
    fx_init(&fx);
    fx_open_with(&fx, "CREATE TABLE config (`Key` VARCHAR(50) COLLATE NOCASE UNIQUE, "
                      "`Value` STRING NOT NULL);"
                      "INSERT INTO config VALUES ('mailqueueenabled', '0')");
    fx_mail(&fx, "a@example.org");
    assert_int_equal(fx_claim(&fx), 0);
    assert_int_equal(fx.claim.end, MQ_CLAIM_DISABLED);
    fx_close(&fx);
}

static void test_versions(void **state)
{
    (void)state;
    struct fixture fx;
    fx_init(&fx);
    static const char config[] = "CREATE TABLE config (key TEXT PRIMARY KEY, value TEXT);";
    char script[200];
    snprintf(script, sizeof(script), "%sINSERT INTO config VALUES ('mailSchemaVersion', '7')",
             config);
    assert_int_equal(open_after(&fx, script), MQ_OK); /* newer ones may take mail */
    struct mq_new_job job = {.mail_type = MQ_STR("mail"), .message_id = "<x@y>"};
    int64_t id;
    assert_int_equal(mq_queue_enqueue(fx.queue, &job, 1, &id, &fx.err), MQ_SCHEMA);
    assert_non_null(strstr(fx.err.text, "upgrade"));
    assert_string_equal(fx.err.field, "mailSchemaVersion");
    fx_close(&fx);
    fx_init(&fx);
    snprintf(script, sizeof(script), "%sINSERT INTO config VALUES ('mailSchemaVersion', 'x')",
             config);
    assert_int_equal(open_after(&fx, script), MQ_SCHEMA);
}

/* An older producer may use newer tables; everything else is refused. */
static void test_newer_tables(void **state)
{
    (void)state;
    struct fixture fx;
    struct mq_stats stats;
    struct mq_job_list list;
    struct mq_job job;
    char *value = NULL;
    bool found;
    fx_init(&fx);
    fx_open(&fx);
    fx_sql(&fx, "UPDATE config SET value = '7' WHERE key = 'mailSchemaVersion'");
    fx.queue->ready = false; /* as a queue opened since then */
    assert_true(fx_mail(&fx, "a@example.org") > 0);
    assert_false(fx.queue->ready);
    assert_int_equal(mq_queue_stats(fx.queue, INT64_MAX, &stats, &fx.err), MQ_SCHEMA);
    assert_non_null(strstr(fx.err.text, "upgrade"));
    struct mq_job_filter filter = {.state = -1, .limit = 10, .after = 0};
    assert_int_equal(mq_queue_jobs(fx.queue, &filter, &list, &fx.err), MQ_SCHEMA);
    assert_int_equal(mq_queue_job(fx.queue, 1, &job, &found, &fx.err), MQ_SCHEMA);
    assert_int_equal(mq_queue_config(fx.queue, "mailBurst", &value, &fx.err), MQ_SCHEMA);
    assert_int_equal(mq_queue_set_config(fx.queue, "mailBurst", "1", &fx.err), MQ_SCHEMA);
    struct mq_cycle cycle = {.request = &fx.request, .claim = &fx.claim};
    assert_int_equal(mq_queue_cycle(fx.queue, &cycle, &fx.err), MQ_SCHEMA);
    struct mq_db *db = mq_queue_db(fx.queue);
    assert_int_equal(db->driver->commit(db, &fx.err), MQ_DATABASE); /* no transaction is open */
    fx_sql(&fx, "UPDATE config SET value = '6' WHERE key = 'mailSchemaVersion'");
    assert_int_equal(mq_queue_stats(fx.queue, INT64_MAX, &stats, &fx.err), MQ_OK);
    assert_int_equal(stats.due, 1);
    mq_stats_clear(&stats);
    fx_close(&fx);
}

/* Tables that lost their version get it back by opening, not by a transaction, which only answers
 * MQ_SCHEMA. */
static void test_no_version(void **state)
{
    (void)state;
    struct fixture fx;
    fx_init(&fx);
    fx_open(&fx);
    fx_mail(&fx, "a@example.org");
    fx_sql(&fx, "DELETE FROM config WHERE key = 'mailSchemaVersion'");
    fx.queue->ready = false;
    struct mq_cycle cycle = {.request = &fx.request, .claim = &fx.claim};
    assert_int_equal(mq_queue_cycle(fx.queue, &cycle, &fx.err), MQ_SCHEMA);
    assert_non_null(strstr(fx.err.text, "open the queue again"));
    assert_int_equal(fx_int(&fx, "SELECT count(*) FROM config WHERE key = 'mailSchemaVersion'"), 0);
    assert_int_equal(mq_queue_prepare(fx.queue, &fx.err), MQ_OK);
    fx_claim(&fx);
    assert_int_equal(fx.claim.count, 1);
    assert_int_equal(fx_int(&fx, "SELECT count(*) FROM config WHERE value = '6'"), 1);
    fx_close(&fx);
}

static void test_foreign_table(void **state)
{
    (void)state;
    struct fixture fx;
    fx_init(&fx);
    assert_int_equal(open_after(&fx, "CREATE TABLE mail_queue (id INTEGER, status TEXT, body)"),
                     MQ_SCHEMA);
    assert_non_null(strstr(fx.err.text, "mail_type"));
    assert_non_null(strstr(fx.err.text, "reference"));
    assert_non_null(strstr(fx.err.text, "id as primary key"));
    assert_non_null(strstr(fx.err.text, "mailqueue adopt"));
    assert_int_equal(open_after(&fx, "CREATE TABLE mail_queue (id INTEGER PRIMARY KEY, status)"),
                     MQ_SCHEMA);
    assert_null(strstr(fx.err.text, "lacks id"));
    assert_int_equal(open_after(&fx, "CREATE TABLE mail_body (mail INTEGER, html TEXT)"),
                     MQ_SCHEMA);
    assert_non_null(strstr(fx.err.text, "content"));
    assert_null(strstr(fx.err.text, "adopt")); /* which renames only the job table */
    /* Found at once, not when a sent mail is settled: that mail would be sent again and again. */
    assert_int_equal(open_after(&fx, "CREATE TABLE mail_spent (at INTEGER, n INTEGER)"), MQ_SCHEMA);
    assert_non_null(strstr(fx.err.text, "at as primary key"));
}

/* Opening another program's table changes nothing in it. */
static void test_foreign_table_is_left(void **state)
{
    (void)state;
    struct fixture fx;
    fx_open(&fx);
    fx_sql(&fx, "DROP TABLE mail_queue; DELETE FROM config;"
                "CREATE TABLE mail_queue (reference, mail_type, status);"
                "INSERT INTO mail_queue VALUES ('A', 'm', 'pending');"
                "CREATE INDEX mine ON mail_queue(status)");
    char *before = fx_text(&fx, "SELECT group_concat(sql) FROM sqlite_master");
    assert_int_equal(mq_queue_migrate(fx.queue, NULL, &fx.err), MQ_SCHEMA);
    fx_assert_text(&fx, "SELECT group_concat(sql) FROM sqlite_master", before);
    assert_int_equal(fx_int(&fx, "SELECT count(*) FROM mail_queue"), 1);
    assert_int_equal(fx_int(&fx, "SELECT count(*) FROM config"), 0);
    free(before);
    fx_close(&fx);
}

/* The queue's own table gets a missing column, as it would get a later version's. */
static void test_column_added(void **state)
{
    (void)state;
    struct fixture fx;
    fx_open(&fx);
    fx_mail(&fx, "a@example.org");
    fx_sql(&fx, "ALTER TABLE mail_queue DROP COLUMN fields;"
                "ALTER TABLE mail_queue DROP COLUMN uncertain");
    assert_int_equal(mq_queue_migrate(fx.queue, NULL, &fx.err), MQ_OK);
    assert_int_equal(fx_int(&fx, "SELECT uncertain FROM mail_queue WHERE fields IS NULL"), 0);
    assert_int_equal(fx_claim(&fx), 1);
    fx_close(&fx);
}

/* An empty column for references would make mail orphaned, so a wrong name changes nothing. */
static void test_reference_column_not_added(void **state)
{
    (void)state;
    struct fixture fx;
    fx_init(&fx);
    fx.options.reference_column = "number";
    fx_open_with(&fx, NULL);
    fx_sql(&fx, "ALTER TABLE mail_queue DROP COLUMN fields;"
                "UPDATE config SET value = '1' WHERE key = 'mailSchemaVersion'");
    char *before = fx_text(&fx, "SELECT group_concat(sql) FROM sqlite_master");
    snprintf(fx.queue->names.reference, MQ_NAME_MAX, "nunber");
    fx.queue->ready = false;
    assert_int_equal(mq_queue_prepare(fx.queue, &fx.err), MQ_SCHEMA);
    assert_string_equal(fx.err.field, "referenceColumn");
    assert_non_null(strstr(fx.err.text, "mail_queue has no column nunber: give"));
    fx_assert_text(&fx, "SELECT group_concat(sql) FROM sqlite_master", before);
    snprintf(fx.queue->names.reference, MQ_NAME_MAX, "number");
    assert_int_equal(mq_queue_prepare(fx.queue, &fx.err), MQ_OK);
    free(before);
    fx_close(&fx);
}

static void test_names(void **state)
{
    (void)state;
    static const char *const bad[] = {"", "a b", "1a", "a;b", "a`b", "sqlite_x", "Mail", NULL};
    struct fixture fx;
    fx_init(&fx);
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        fx.options.table = bad[i];
        assert_int_equal(open_after(&fx, NULL), MQ_INVALID);
        assert_string_equal(fx.err.field, "table");
    }
    fx.options.table = "mail_queue";
    fx.options.reference_column = "status";
    assert_int_equal(open_after(&fx, NULL), MQ_INVALID);
    assert_string_equal(fx.err.field, "referenceColumn");
    fx.options.reference_column = "Status";
    assert_int_equal(open_after(&fx, NULL), MQ_INVALID);
    fx.options.reference_column = "order"; /* a keyword is a valid name */
    fx.options.table = "select";
    fx.options.config_table = "group";
    fx_open_with(&fx, NULL);
    fx_enqueue(&fx, &(struct mail){.reference = "R", .body = "x"});
    assert_int_equal(fx_claim(&fx), 1);
    fx_assert_text(&fx, "SELECT value FROM [group] WHERE key = 'mailSchemaVersion:select'", "6");
    assert_int_equal(fx_int(&fx, "SELECT count(*) FROM select_body"), 1);
    assert_int_equal(fx_int(&fx, "SELECT count(*) FROM sqlite_master WHERE name LIKE 'select\\__%' "
                                 "ESCAPE '\\' AND type = 'index'"),
                     10);
    fx_close(&fx);
}

/* For SQLite, Mail_Queue is mail_queue, so its bodies are in mail_body, too. */
static void test_names_in_another_case(void **state)
{
    (void)state;
    struct fixture fx;
    fx_init(&fx);
    fx.options.table = "Mail_Queue";
    fx_open_with(&fx, NULL);
    fx_mail(&fx, "a@example.org");
    assert_int_equal(fx_int(&fx, "SELECT count(*) FROM mail_body"), 1);
    fx_assert_text(&fx, "SELECT value FROM config WHERE key = 'mailSchemaVersion'", "6");
    fx_close(&fx);
}

/* ---- plans ---- */

/* The plan of a statement: one line a step. */
static void explain(struct fixture *fx, enum mq_sql slot, char *out, size_t size)
{
    char sql[2048];
    struct mq_db *db = mq_queue_db(fx->queue);
    struct mq_query query = {-1, sql, NULL, 0};
    bool row = false;
    size_t len = 0;
    snprintf(sql, sizeof(sql), "EXPLAIN QUERY PLAN %s", mq_sql_text(fx->queue, slot));
    out[0] = '\0';
    assert_int_equal(db->driver->run(db, &query, &fx->err), MQ_OK);
    while (db->driver->next(db, &row, &fx->err) == MQ_OK && row) {
        struct mq_str step = db->driver->column(db, 3).s;
        len += (size_t)snprintf(out + len, size - len, "%.*s\n", (int)step.len, step.data);
    }
    mq_db_finish(db);
}

/* Each query that runs for every claim, settle or recovery, and the index that it must use. */
static const struct {
    enum mq_sql slot;
    const char *by;
} hot[] = {
    {MQ_SQL_CLAIM_PRIORITY, "INDEX mail_queue_due (priority<?)"},
    {MQ_SQL_CLAIM_DUE, "INDEX mail_queue_due (priority=? AND next_attempt_at<?)"},
    {MQ_SQL_CLAIM_DUE_BEHIND, "INDEX mail_queue_due (priority=? AND next_attempt_at=? AND id>?)"},
    {MQ_SQL_CLAIM_DUE_BEHIND,
     "INDEX mail_queue_due (priority=? AND next_attempt_at>? AND next_attempt_at<?)"},
    {MQ_SQL_CLAIM_NEXT, "INDEX mail_queue_due (priority=?)"},
    {MQ_SQL_DUE, "INDEX mail_queue_due (priority=? AND next_attempt_at<?)"},
    {MQ_SQL_DUE, "INDEX mail_queue_due (priority<?)"},
    {MQ_SQL_LOOK, "INDEX mail_queue_due"},
    {MQ_SQL_CLAIM_TAKE, "INTEGER PRIMARY KEY (rowid=?)"},
    {MQ_SQL_LEASE_OVER, "INDEX mail_queue_lease (locked_until<?)"},
    {MQ_SQL_LEASE_DEAD, "INDEX mail_queue_lease (locked_until>?)"},
    {MQ_SQL_PAID, "INDEX mail_queue_lease (locked_until>?)"},
    {MQ_SQL_SETTLE_DELETE, "INTEGER PRIMARY KEY (rowid=?)"},
    {MQ_SQL_SETTLE, "INTEGER PRIMARY KEY (rowid=?)"},
    {MQ_SQL_RENEW, "INTEGER PRIMARY KEY (rowid=?)"},
    {MQ_SQL_ENVELOPE, "INTEGER PRIMARY KEY (rowid=?)"},
    {MQ_SQL_BODY, "INTEGER PRIMARY KEY (rowid=?)"},
    {MQ_SQL_DELETE_BODY, "INTEGER PRIMARY KEY (rowid=?)"},
    {MQ_SQL_DELETE_JOB, "INTEGER PRIMARY KEY (rowid=?)"},
    {MQ_SQL_ORPHAN, "sqlite_autoindex_registrations_1 (number=?)"},
    {MQ_SQL_PARK, "INTEGER PRIMARY KEY (rowid=?)"},
    {MQ_SQL_RETRY, "INTEGER PRIMARY KEY (rowid=?)"},
    {MQ_SQL_JOB, "INTEGER PRIMARY KEY (rowid=?)"},
    {MQ_SQL_PAIR, "INDEX mail_queue_key (reference=? AND mail_type=?)"},
    {MQ_SQL_EXPIRED, "INDEX mail_queue_expiry (expires_at>? AND expires_at<?)"},
    {MQ_SQL_RETRYABLE, "INDEX mail_queue_parked (id>?)"},
    {MQ_SQL_RETRYABLE, "INDEX mail_queue_rest (status=? AND id>?)"},
    {MQ_SQL_JOBS_PARKED, "INDEX mail_queue_parked (id>?)"},
    {MQ_SQL_JOBS_FAILED, "INDEX mail_queue_rest (status=? AND id>?)"},
    {MQ_SQL_WALK_END, "INTEGER PRIMARY KEY (rowid>?)"},
    {MQ_SQL_WALK, "INTEGER PRIMARY KEY (rowid=?)"},
    {MQ_SQL_WALK, "INTEGER PRIMARY KEY (rowid>?)"},
    {MQ_SQL_WALK, "sqlite_autoindex_registrations_1 (number=?)"},
    {MQ_SQL_CONFIG_ALL, "(key=?)"},
    {MQ_SQL_CONFIG_UPDATE, "(key=?)"},
    {MQ_SQL_SPENT_SUM, "INTEGER PRIMARY KEY (rowid>? AND rowid<?)"},
    {MQ_SQL_SPENT_AHEAD, "INTEGER PRIMARY KEY (rowid>?)"},
    {MQ_SQL_SPENT_MARK, "INTEGER PRIMARY KEY (rowid>?)"},
    {MQ_SQL_SPENT_ROWS, "INTEGER PRIMARY KEY (rowid>?)"},
    {MQ_SQL_SPENT_PURGE, "INTEGER PRIMARY KEY (rowid<?)"},
    {MQ_SQL_LOG_OLD, "INDEX mail_log_at (at<?)"},
    {MQ_SQL_LOG_PURGE, "INTEGER PRIMARY KEY (rowid=?)"},
    {MQ_SQL_LOG_PURGE, "INDEX mail_log_at (at<?)"},
    {MQ_SQL_HOLD, "INTEGER PRIMARY KEY (rowid=?)"},
    {MQ_SQL_COUNT_HOURS, "PRIMARY KEY (hour<?)"},
    {MQ_SQL_COUNT_MARK, "PRIMARY KEY (hour>? AND hour<?)"},
    {MQ_SQL_COUNT_MERGED, "PRIMARY KEY (hour>? AND hour<?)"},
    {MQ_SQL_JOBS, "INTEGER PRIMARY KEY (rowid>?)"},
};

/* Whether a table is read from end to end; for what a LIMIT bounds that is intended. */
static bool scans(const char *plan)
{
    static const char *const bounded[] = {"walk\n", "due\n", "CONSTANT ROW\n"};
    for (const char *scan = plan; (scan = strstr(scan, "SCAN ")) != NULL;) {
        bool is_bounded = false;
        scan += strlen("SCAN ");
        for (size_t i = 0; i < sizeof(bounded) / sizeof(bounded[0]); i++) {
            is_bounded = is_bounded || strncmp(scan, bounded[i], strlen(bounded[i])) == 0;
        }
        if (!is_bounded) {
            return true;
        }
    }
    return false;
}

static void check_plans(struct fixture *fx, bool analyzed)
{
    for (size_t i = 0; i < sizeof(hot) / sizeof(hot[0]); i++) {
        char plan[2048];
        if (analyzed && hot[i].slot == MQ_SQL_CONFIG_ALL) {
            continue; /* reading a whole config table of few rows is right */
        }
        explain(fx, hot[i].slot, plan, sizeof(plan));
        if (!strstr(plan, hot[i].by) || scans(plan) || strstr(plan, "TEMP B-TREE")) {
            fail_msg("%s\n%swanted: %s", mq_sql_text(fx->queue, hot[i].slot), plan, hot[i].by);
        }
    }
    char plan[2048];
    explain(fx, MQ_SQL_JOBS_SENDING, plan, sizeof(plan)); /* few: they are sorted */
    assert_non_null(strstr(plan, "INDEX mail_queue_lease (locked_until>?)"));
}

static void fill(struct fixture *fx, int rows, const char *status)
{
    char sql[500];
    snprintf(sql, sizeof(sql),
             "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < %d) "
             "INSERT INTO mail_queue (mail_type, status, priority, next_attempt_at, expires_at, "
             "created_at, message_id, locked_until) SELECT 'mail', '%s', i %% 3, i, i, 0, '<x>', "
             "i FROM n",
             rows, status);
    fx_sql(fx, sql);
}

/* The plans hold with any statistics and without: the application may run ANALYZE. */
static void test_plans(void **state)
{
    (void)state;
    static const char *const states[] = {"pending", "failed", "parked", "sending", "held"};
    struct fixture fx;
    fx_init(&fx);
    fx.options.orphan_table = "registrations";
    fx.options.orphan_column = "number";
    fx_open_with(&fx, "CREATE TABLE registrations (number TEXT PRIMARY KEY)");
    check_plans(&fx, false);
    for (size_t i = 0; i < sizeof(states) / sizeof(states[0]); i++) {
        fill(&fx, 20000, states[i]);
        fx_sql(&fx, "ANALYZE");
        check_plans(&fx, true);
    }
    fx_sql(&fx, "DELETE FROM mail_queue WHERE id > 3");
    fx_sql(&fx, "ANALYZE");
    check_plans(&fx, true);
    fx_close(&fx);
}

/* With the list in another order the due query would scan: the literal must match the index's. */
static void test_literal_matters(void **state)
{
    (void)state;
    struct fixture fx;
    struct mq_value plan;
    fx_open(&fx);
    struct mq_query query = {
        -1,
        "EXPLAIN QUERY PLAN SELECT id FROM mail_queue WHERE status IN ('failed','pending') "
        "AND priority = 1 AND next_attempt_at <= 5 ORDER BY next_attempt_at, id LIMIT 1",
        NULL, 0};
    struct mq_value columns[4];
    struct mq_row row = {columns, 4, false};
    assert_int_equal(mq_db_row(mq_queue_db(fx.queue), &query, &row, &fx.err), MQ_OK);
    plan = columns[3];
    assert_non_null(strstr(plan.s.data, "SCAN"));
    mq_db_finish(mq_queue_db(fx.queue));
    fx_close(&fx);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_fresh_file),
        cmocka_unit_test(test_other_braces),
        cmocka_unit_test(test_config_table_of_the_application),
        cmocka_unit_test(test_config_keys_in_another_case),
        cmocka_unit_test(test_versions),
        cmocka_unit_test(test_newer_tables),
        cmocka_unit_test(test_no_version),
        cmocka_unit_test(test_foreign_table),
        cmocka_unit_test(test_foreign_table_is_left),
        cmocka_unit_test(test_column_added),
        cmocka_unit_test(test_reference_column_not_added),
        cmocka_unit_test(test_names),
        cmocka_unit_test(test_names_in_another_case),
        cmocka_unit_test(test_plans),
        cmocka_unit_test(test_literal_matters),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
