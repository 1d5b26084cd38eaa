/* Values of another program's mail_queue: what is read, what is refused. */
#include "queue_fixture.h"

#include "db/db.h"

static enum mq_status try_open(struct fixture *fx, const char *script)
{
    fx_init(fx);
    fx->options.reference_column = "registration_number";
    struct mq_db *db = fx_memory();
    if (mq_db_script(db, script, &fx->err) != MQ_OK) {
        fail_msg("%s: %s", script, fx->err.text);
    }
    enum mq_status status = mq_queue_open(db, &fx->options, &fx->queue, &fx->err);
    return status;
}

static void adopt(struct fixture *fx, const char *script)
{
    if (try_open(fx, script) != MQ_OK) {
        fail_msg("%s: %s", script, fx->err.text);
    }
}

static void test_times(void **state)
{
    (void)state;
    static const struct {
        const char *value;
        int64_t at_s;
    } times[] = {
        {"'2026-11-21 09:35:00'", 1795253700},
        {"'2026-11-21T09:35:00'", 1795253700},
        {"'2026-11-21T09:35:00Z'", 1795253700},
        {"'2026-11-21t09:35:00z'", 1795253700},
        {"'2026-11-21 09:35'", 1795253700},
        {"' 2026-11-21 09:35:00 '", 1795253700},
        {"'2026-11-21 09:35:00.999'", 1795253700},
        {"'2026-11-21 11:35:00+02:00'", 1795253700},
        {"'2026-11-21T11:35:00+0200'", 1795253700},
        {"'2026-11-21 11:35:00.5+02'", 1795253700},
        {"'2026-11-21 04:05:00-0530'", 1795253700},
        {"'2026-11-21 09:35:00 UTC'", 1795253700},
        {"'2026-11-21'", 1795219200},
        {"'2024-02-29 00:00:00'", 1709164800},
        {"1795253700", 1795253700},
        {"'1795253700'", 1795253700},
        {"1795253700.9", 1795253700},
        {"'1795253700.5'", 1795253700},
        {"1795253700123", 1795253700},
        {"1795253700123456", 1795253700},
        {"julianday('2026-11-21 09:35:00')", 1795253700},
        {"CAST('2026-11-21 09:35:00' AS BLOB)", 1795253700},
        {"0", 0},
        {"NULL", START},
        {"''", START},
        {"'0000-00-00'", START},
        {"'0000-00-00 00:00:00'", START},
        {"'9999-12-31 23:59:59'", 253402300799},
    };
    for (size_t i = 0; i < sizeof(times) / sizeof(times[0]); i++) {
        struct fixture fx;
        char script[400];
        snprintf(script, sizeof(script),
                 "CREATE TABLE mail_queue (registration_number, mail_type, status, "
                 "next_attempt_at); INSERT INTO mail_queue VALUES ('R', 'm', 'pending', %s)",
                 times[i].value);
        adopt(&fx, script);
        int64_t at_s = fx_int(&fx, "SELECT next_attempt_at FROM mail_queue");
        if (at_s != times[i].at_s) {
            fail_msg("%s is %lld, not %lld", times[i].value, (long long)at_s,
                     (long long)times[i].at_s);
        }
        fx_assert_text(&fx, "SELECT typeof(next_attempt_at) FROM mail_queue", "integer");
        fx_close(&fx);
    }
}

static void test_times_unreadable(void **state)
{
    (void)state;
    static const char *const bad[] = {"'soon'",       "'now'",          "'2026-02-31 00:00:00'",
                                      "'21.11.2026'", "'09:35'",        "'2026-11-21 25:00:00'",
                                      "20261121",     "20261121093500", "'2026-11-21 09:35:00 CET'",
                                      "'20261121'",   "x'ff00'"};
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        struct fixture fx;
        char script[400];
        snprintf(script, sizeof(script),
                 "CREATE TABLE mail_queue (id INTEGER PRIMARY KEY, registration_number, mail_type, "
                 "status, next_attempt_at); INSERT INTO mail_queue VALUES "
                 "(3, 'Q', 'm', 'pending', 5), (17, 'R', 'm', 'pending', %s)",
                 bad[i]);
        if (try_open(&fx, script) != MQ_SCHEMA) {
            fail_msg("%s is taken for a time", bad[i]);
        }
        assert_non_null(strstr(fx.err.text, "column next_attempt_at of row 17"));
        assert_string_equal(fx.err.field, "next_attempt_at");
    }
}

static void test_rules(void **state)
{
    (void)state;
    struct fixture fx;
    adopt(&fx, "CREATE TABLE mail_queue (registration_number, mail_type, status, attempts, "
               "next_attempt_at, locked_until, priority, created_at, message_id, locked_by);"
               "INSERT INTO mail_queue VALUES "
               /* Exactly 30 days ahead, a second more; no time at all: given up, too. */
               "('A', 'm', 'failed', 1, 1802592000, NULL, NULL, NULL, NULL, NULL),"
               "('B', 'm', 'failed', 1, 1802592001, NULL, NULL, NULL, NULL, NULL),"
               "('C', 'm', 'failed', '3', NULL, NULL, NULL, NULL, NULL, NULL),"
               /* Only failed ones. */
               "('D', 'm', 'pending', 0, 1802592001, NULL, 5, 1700000000, '<d@x>', NULL),"
               /* In sending without a lease: over. */
               "('E', 'm', 'SENDING ', 0, 5, '', '-3', NULL, '', 'host:123'),"
               /* Marked by the lease alone: not before it is over. */
               "('F', 'm', 'Pending', NULL, 5, 1800000300, NULL, NULL, NULL, NULL),"
               "('', 'm', 'pending', 0, 5, 1799999999, NULL, NULL, NULL, 'me'),"
               "('', 'm', 'pending', 0, 5, NULL, NULL, '2023-11-14 22:13:20', NULL, NULL)");
    fx_assert_text(&fx,
                   "SELECT group_concat(COALESCE(registration_number, '-') || ' ' || status || ' ' "
                   "|| attempts || ' ' || next_attempt_at || ' ' || COALESCE(locked_until, '-') || "
                   "' ' || priority || ' ' || created_at || ' ' || COALESCE(parked_for, '-'), "
                   "char(10)) FROM mail_queue",
                   "A failed 1 1802592000 - 0 1800000000 -\n"
                   "B parked 1 1802592001 - 0 1800000000 exhausted\n"
                   "C parked 3 1800000000 - 0 1800000000 exhausted\n"
                   "D pending 0 1802592001 - 5 1700000000 -\n"
                   "E sending 1 5 1800000000 -3 5 -\n"
                   "F pending 0 1800000300 - 0 5 -\n"
                   "- pending 0 5 - 0 5 -\n"
                   "- pending 0 5 - 0 1700000000 -");
    fx_assert_text(&fx, "SELECT message_id FROM mail_queue WHERE registration_number = 'D'",
                   "<d@x>");
    assert_int_equal(fx_int(&fx, "SELECT count(*) FROM mail_queue WHERE locked_by GLOB "
                                 "'[0-9a-f]*' AND length(locked_by) = 32"),
                     1);
    fx_close(&fx);
}

/* ---- what is refused, with nothing changed ---- */

#define TABLE "CREATE TABLE mail_queue (registration_number, mail_type, status, attempts, id2);"

static void test_refused(void **state)
{
    (void)state;
    static const struct {
        const char *script;
        const char *field;
        const char *text;
    } cases[] = {
        {TABLE "INSERT INTO mail_queue VALUES ('A', 'm', 'sent', 1, 0), ('B', 'm', 'sent', 1, 0), "
               "('C', 'm', NULL, 1, 0), ('D', 'm', 'pending', 0, 0)",
         "status", "\"NULL\" (1), \"sent\" (2)"},
        {TABLE
         "INSERT INTO mail_queue VALUES ('A', 'm', 'pending', 1, 0), ('A', 'm', 'failed', 1, 0)",
         "registration_number", "(\"A\", \"m\") is queued more than once, in the rows 1 and 2"},
        {TABLE "INSERT INTO mail_queue VALUES ('A', NULL, 'pending', 1, 0)", "mail_type",
         "row 1 has no mail_type"},
        {TABLE "INSERT INTO mail_queue VALUES ('A', 'm', 'pending', 'many', 0)", "attempts",
         "column attempts of row 1 holds \"many\""},
        {"CREATE TABLE mail_queue (id TEXT PRIMARY KEY, registration_number, mail_type, status);"
         "INSERT INTO mail_queue VALUES ('f00-ba', 'A', 'm', 'pending')",
         "id", "give the column another name"},
        {"CREATE TABLE mail_queue (registration_number TEXT PRIMARY KEY, mail_type, status);"
         "CREATE TABLE child (n TEXT REFERENCES mail_queue)",
         "mail_queue", "Name the column in REFERENCES"},
        {"CREATE TABLE mail_queue (registration_number, mail_type)", "mail_queue", "lacks id"},
        {"CREATE VIEW mail_queue AS SELECT 1 AS registration_number, 2 AS mail_type, 3 AS status",
         "mail_queue", "lacks id"},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct fixture fx;
        assert_int_equal(try_open(&fx, cases[i].script), MQ_SCHEMA);
        if (!strstr(fx.err.text, cases[i].text)) {
            fail_msg("%s\nwanted: %s", fx.err.text, cases[i].text);
        }
        assert_string_equal(fx.err.field, cases[i].field);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_times),
        cmocka_unit_test(test_times_unreadable),
        cmocka_unit_test(test_rules),
        cmocka_unit_test(test_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
