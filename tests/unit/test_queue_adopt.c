/* Another program's mail_queue becomes the queue's: one fixture for each thing that calls for a
 * rebuild, with rows in each status. */
#include "queue_fixture.h"

#include "queue/internal.h"

/* START is 2027-01-15 08:00:00 UTC. */
#define PAST      "2027-01-15 07:00:00"
#define LEASE     "2027-01-15 08:10:00"
#define NEXT_WEEK "2027-01-22 08:00:00"
#define NEXT_YEAR "2028-01-15 08:00:00"

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

/* Rows in each status as a program with times as numbers, or as text, would have them. */
#define INSERT                                                                   \
    "INSERT INTO mail_queue (registration_number, mail_type, status, attempts, " \
    "next_attempt_at, locked_until, last_error) VALUES "
#define ROWS_INT                                                         \
    INSERT "('R1', 'user', 'pending', 0, 1799996400, NULL, NULL),"       \
           "('R1', 'organizer', 'pending', 0, 1800604800, NULL, NULL),"  \
           "('R2', 'user', 'sending', 1, 1799996400, 1800000600, NULL)," \
           "('R3', 'user', 'failed', 2, 1799996400, NULL, '451 later')," \
           "('R4', 'user', 'failed', 5, 1831536000, NULL, '550 no'),"    \
           "('R5', 'user', 'parked', 5, 1799996400, NULL, '550 no'),"    \
           "('R6', 'user', 'held', 0, 1799996400, NULL, NULL);"
#define ROWS_TEXT                                                            \
    INSERT "('R1', 'user', 'pending', 0, '" PAST "', NULL, NULL),"           \
           "('R1', 'organizer', 'pending', 0, '" NEXT_WEEK "', NULL, NULL)," \
           "('R2', 'user', 'sending', 1, '" PAST "', '" LEASE "', NULL),"    \
           "('R3', 'user', 'failed', 2, '" PAST "', NULL, '451 later'),"     \
           "('R4', 'user', 'failed', 5, '" NEXT_YEAR "', NULL, '550 no'),"   \
           "('R5', 'user', 'parked', 5, '" PAST "', NULL, '550 no'),"        \
           "('R6', 'user', 'held', 0, '" PAST "', NULL, NULL);"

#define DESCRIBED                                                                             \
    "SELECT group_concat(registration_number || ' ' || mail_type || ' ' || status || ' ' || " \
    "attempts || ' ' || next_attempt_at || ' ' || COALESCE(locked_until, '-') || ' ' || "     \
    "COALESCE(last_error, '-') || ' ' || COALESCE(parked_for, '-'), char(10)) "               \
    "FROM (SELECT * FROM mail_queue ORDER BY registration_number, mail_type)"

/* What every fixture must be afterwards, and that the queue works with it. */
static void check_rows(struct fixture *fx)
{
    fx_assert_text(fx, DESCRIBED,
                   "R1 organizer pending 0 1800604800 - - -\n"
                   "R1 user pending 0 1799996400 - - -\n"
                   "R2 user sending 1 1799996400 1800000600 - -\n"
                   "R3 user failed 2 1799996400 - 451 later -\n"
                   "R4 user parked 5 1831536000 - 550 no exhausted\n"
                   "R5 user parked 5 1799996400 - 550 no hold\n"
                   "R6 user held 0 1799996400 - - -");
    assert_int_equal(fx_int(fx, "SELECT count(*) FROM mail_queue WHERE message_id "
                                "GLOB '<????????????????????????????????@localhost>'"),
                     7);
    assert_int_equal(fx_int(fx, "SELECT count(DISTINCT message_id) FROM mail_queue"), 7);
    assert_int_equal(fx_int(fx, "SELECT count(*) FROM mail_queue WHERE created_at IN "
                                "(1799996400, 1800000000)"),
                     7);
    assert_int_equal(fx_int(fx, "SELECT count(*) FROM mail_queue WHERE locked_by IS NOT NULL"), 1);
    assert_int_equal(fx_int(fx, "SELECT length(locked_by) FROM mail_queue WHERE status='sending'"),
                     32);
    fx_assert_text(fx, "PRAGMA integrity_check", "ok");
    fx_assert_text(fx, "SELECT value FROM config WHERE key = 'mailSchemaVersion'", "1");
    assert_int_equal(fx_int(fx, "SELECT count(*) FROM sqlite_master WHERE name LIKE '%adopted%'"),
                     0);
    assert_true(fx_int(fx, "SELECT seq FROM sqlite_sequence WHERE name LIKE 'mail_queue'") >= 7);
}

static void check_works(struct fixture *fx)
{
    /* A pair that is queued is not queued again; one that is parked is replaced; null is allowed.
     */
    assert_int_equal(fx_enqueue(fx, &(struct mail){.reference = "R3", .type = "user"}), 0);
    assert_true(fx_enqueue(fx, &(struct mail){.reference = "R5", .type = "user"}) > 7);
    assert_true(fx_mail(fx, "a@example.org") > 7);
    assert_int_equal(fx_claim(fx), 4);
    fx->now_s = START + 601; /* the old program's lease is over: it may have arrived */
    assert_int_equal(fx_claim(fx), 0);
    assert_string_equal(fx_events(fx), "uncertain");
    fx_assert_text(fx,
                   "SELECT status || attempts || uncertain FROM mail_queue "
                   "WHERE registration_number = 'R2'",
                   "failed11");
}

#define COLUMNS                                                               \
    "mail_type TEXT NOT NULL, status TEXT NOT NULL DEFAULT 'pending', "       \
    "attempts INTEGER NOT NULL DEFAULT 0, next_attempt_at INTEGER NOT NULL, " \
    "locked_until INTEGER, last_error TEXT"
#define TEXT_COLUMNS                                                             \
    "mail_type TEXT NOT NULL, status TEXT NOT NULL, attempts INTEGER NOT NULL, " \
    "next_attempt_at DATETIME NOT NULL, locked_until DATETIME, last_error TEXT"

static const struct {
    const char *name;
    const char *script;
} fixtures[] = {
    {"columns missing", "CREATE TABLE mail_queue (id INTEGER PRIMARY KEY AUTOINCREMENT, "
                        "registration_number TEXT, " COLUMNS ");" ROWS_INT},
    {"no AUTOINCREMENT", "CREATE TABLE mail_queue (id INTEGER PRIMARY KEY, "
                         "registration_number TEXT, " COLUMNS ");" ROWS_INT},
    {"no id", "CREATE TABLE mail_queue (registration_number TEXT, " COLUMNS ");" ROWS_INT},
    {"a pair as primary key", "CREATE TABLE mail_queue (registration_number TEXT, " COLUMNS
                              ", PRIMARY KEY (registration_number, mail_type));" ROWS_INT},
    {"no rowid", "CREATE TABLE mail_queue (registration_number TEXT, " COLUMNS
                 ", PRIMARY KEY (registration_number, mail_type)) WITHOUT ROWID;" ROWS_INT},
    {"a NOT NULL reference",
     "CREATE TABLE mail_queue (id INTEGER PRIMARY KEY AUTOINCREMENT, registration_number "
     "VARCHAR(20) NOT NULL, " COLUMNS ", UNIQUE (registration_number, mail_type));" ROWS_INT},
    {"CHECK on status and type",
     "CREATE TABLE mail_queue (id INTEGER PRIMARY KEY AUTOINCREMENT, registration_number TEXT, "
     "mail_type TEXT NOT NULL CHECK (mail_type IN ('user','organizer')), "
     "status TEXT COLLATE NOCASE CONSTRAINT states CHECK (status IN ('pending','sending',"
     "'failed','parked','held')), attempts INTEGER, next_attempt_at INTEGER, "
     "locked_until INTEGER, last_error TEXT, CHECK (attempts < 6 AND `status` <> ''), "
     "CONSTRAINT t CHECK (mail_type <> ''));" ROWS_INT},
    {"times as text", "CREATE TABLE mail_queue (id INTEGER PRIMARY KEY AUTOINCREMENT, "
                      "registration_number TEXT, " TEXT_COLUMNS ");" ROWS_TEXT},
    {"all of it", "CREATE TABLE \"Mail_Queue\" ( -- ours, since 2019 (see wiki)\n"
                  " registration_number VARCHAR(20) NOT NULL, /* a, b */ "
                  "mail_type TEXT NOT NULL CHECK(mail_type IN ('user','organizer')),\n"
                  " [status] TEXT NOT NULL DEFAULT 'pending' CHECK (\"status\" <> 'x,('), "
                  "attempts INT DEFAULT 0, next_attempt_at TEXT, locked_until TEXT, "
                  "last_error TEXT -- of the relay\n"
                  ", PRIMARY KEY (registration_number, mail_type) ON CONFLICT REPLACE);" ROWS_TEXT},
};

static void test_each_case(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof(fixtures) / sizeof(fixtures[0]); i++) {
        struct fixture fx;
        print_message("%s\n", fixtures[i].name);
        adopt(&fx, fixtures[i].script);
        check_rows(&fx);
        check_works(&fx);
        fx_close(&fx);
    }
}

/* The rebuilt table is the one that a new file gets: same columns, same declarations. */
static void test_same_as_new(void **state)
{
    (void)state;
    static const char columns[] =
        "SELECT group_concat(name || type || `notnull` || COALESCE(dflt_value, '-') || pk) "
        "FROM (SELECT * FROM pragma_table_info('mail_queue') ORDER BY name)";
    for (size_t i = 0; i < sizeof(fixtures) / sizeof(fixtures[0]); i++) {
        struct fixture fx;
        adopt(&fx, "");
        char *wanted = fx_text(&fx, columns);
        fx_close(&fx);
        adopt(&fx, fixtures[i].script);
        fx_assert_text(&fx, columns, wanted);
        fx_assert_text(&fx,
                       "SELECT group_concat(name) FROM (SELECT name FROM sqlite_master WHERE "
                       "type = 'index' AND name LIKE 'mail%' ORDER BY name)",
                       "mail_queue_due,mail_queue_expiry,mail_queue_key,mail_queue_lease,"
                       "mail_queue_parked,mail_queue_rest");
        free(wanted);
        fx_close(&fx);
    }
}

/* Opened a second time nothing is done again. */
static void test_once(void **state)
{
    (void)state;
    struct fixture fx;
    int version;
    adopt(&fx, fixtures[2].script);
    char *before = fx_text(&fx, "SELECT group_concat(message_id) FROM mail_queue");
    int64_t root = fx_int(&fx, "SELECT rootpage FROM sqlite_master WHERE name = 'mail_queue'");
    fx_sql(&fx, "DELETE FROM config");
    assert_int_equal(mq_queue_migrate(fx.queue, &version, &fx.err), MQ_OK);
    fx_assert_text(&fx, "SELECT group_concat(message_id) FROM mail_queue", before);
    assert_int_equal(fx_int(&fx, "SELECT rootpage FROM sqlite_master WHERE name = 'mail_queue'"),
                     root);
    free(before);
    fx_close(&fx);
}

/* ---- what else the application has ---- */

static const char application[] =
    "CREATE TABLE registrations (number TEXT PRIMARY KEY, name TEXT);"
    "INSERT INTO registrations VALUES ('R1', 'Ann'), ('R2', 'Ben');"
    "CREATE TABLE mail_queue (job INTEGER PRIMARY KEY AUTOINCREMENT, "
    " registration_number TEXT COLLATE NOCASE NOT NULL "
    "  REFERENCES registrations(number) ON DELETE CASCADE DEFERRABLE INITIALLY DEFERRED, "
    " mail_type TEXT NOT NULL, status TEXT NOT NULL CHECK (status <> ''), attempts INTEGER, "
    " next_attempt_at TEXT, locked_until TEXT, last_error TEXT, "
    " note TEXT DEFAULT 'it''s, (so)' CHECK (length(note) < 20), "
    " subject TEXT NOT NULL, lang TEXT NOT NULL DEFAULT 'de', "
    " `odd ``name` BLOB, size INTEGER GENERATED ALWAYS AS (length(subject)) VIRTUAL, "
    " parent INTEGER REFERENCES mail_queue(job), "
    " CONSTRAINT langs CHECK (lang IN ('de','en')), "
    " FOREIGN KEY (registration_number) REFERENCES registrations ON UPDATE CASCADE);"
    "INSERT INTO mail_queue (job, registration_number, mail_type, status, attempts, "
    " next_attempt_at, note, subject, `odd ``name`, parent) VALUES "
    " (7, 'R1', 'user', 'pending', 0, '2027-01-15T07:00:00Z', 'n', 'Hello', x'00ff', NULL),"
    " (9, 'R2', 'user', 'failed', 1, '2027-01-15 09:00:00+02:00', 'm', 'Hi', NULL, 7);"
    "INSERT INTO mail_queue (job, registration_number, mail_type, status, subject) "
    " VALUES (40, 'R1', 'gone', 'pending', '');"
    "DELETE FROM mail_queue WHERE job = 40;"
    "CREATE TABLE audit (job INTEGER REFERENCES mail_queue(job) ON DELETE CASCADE, what TEXT);"
    "INSERT INTO audit VALUES (7, 'queued');"
    "CREATE INDEX by_subject ON mail_queue(subject);"
    "CREATE UNIQUE INDEX \"the pair\" ON mail_queue(registration_number, mail_type);"
    "CREATE INDEX mail_queue_due ON mail_queue(status, next_attempt_at);"
    "CREATE VIEW waiting AS SELECT job, subject FROM mail_queue WHERE status = 'pending';";

/* A trigger has semicolons of its own. */
static void statement(struct fixture *fx, struct mq_db *db, const char *sql)
{
    struct mq_query query = {-1, sql, NULL, 0};
    if (mq_db_exec(db, &query, &fx->err) != MQ_OK) {
        fail_msg("%s: %s", sql, fx->err.text);
    }
}

static void open_application(struct fixture *fx, bool enforced)
{
    fx_init(fx);
    fx->options.reference_column = "registration_number";
    struct mq_db *db = fx_memory();
    assert_int_equal(mq_db_script(db, application, &fx->err), MQ_OK);
    statement(fx, db,
              "CREATE TRIGGER noted AFTER UPDATE OF status ON mail_queue BEGIN "
              "INSERT INTO audit VALUES (NEW.job, 'now ' || NEW.status || '?'); END");
    statement(fx, db,
              "CREATE TRIGGER left_out AFTER INSERT ON registrations BEGIN "
              "UPDATE mail_queue SET note = 'new' WHERE registration_number = NEW.number; END");
    if (enforced) {
        statement(fx, db, "PRAGMA foreign_keys = ON");
    }
    if (mq_queue_open(db, &fx->options, &fx->queue, &fx->err) != MQ_OK) {
        fail_msg("%s", fx->err.text);
    }
}

static void test_all_is_kept(void **state)
{
    (void)state;
    struct fixture fx;
    open_application(&fx, true);
    fx_assert_text(&fx,
                   "SELECT group_concat(id || ' ' || job || ' ' || next_attempt_at || ' ' || note "
                   "|| ' ' || subject || ' ' || lang || ' ' || size || ' ' || "
                   "COALESCE(hex(`odd ``name`), '-') || ' ' || COALESCE(parent, '-')) "
                   "FROM mail_queue",
                   "7 7 1799996400 n Hello de 5 00FF -,9 9 1799996400 m Hi de 2  7");
    /* Foreign keys are on as before, none is broken, and their actions are the same. */
    assert_int_equal(fx_int(&fx, "PRAGMA foreign_keys"), 1);
    assert_int_equal(fx_int(&fx, "PRAGMA legacy_alter_table"), 0);
    assert_int_equal(fx_int(&fx, "SELECT count(*) FROM pragma_foreign_key_check"), 0);
    fx_assert_text(&fx,
                   "SELECT group_concat(`from` || '>' || `table` || '.' || COALESCE(`to`, '-') || "
                   "' ' || on_update || ' ' || on_delete, '; ') FROM "
                   "(SELECT * FROM pragma_foreign_key_list('mail_queue') ORDER BY id)",
                   "registration_number>registrations.- CASCADE NO ACTION; "
                   "parent>mail_queue.job NO ACTION NO ACTION; "
                   "registration_number>registrations.number NO ACTION CASCADE");
    assert_int_equal(fx_int(&fx, "SELECT count(*) FROM sqlite_master WHERE name = 'mail_queue' "
                                 "AND sql LIKE '%DEFERRABLE INITIALLY DEFERRED%'"),
                     1);
    assert_int_equal(fx_int(&fx, "SELECT count(*) FROM audit"), 1); /* no cascade, no trigger */
    /* Ids go on behind the last that was ever given. */
    assert_true(fx_int(&fx, "SELECT seq FROM sqlite_sequence WHERE name = 'mail_queue'") == 40);
    /* Indexes, views, triggers. */
    fx_assert_text(&fx,
                   "SELECT group_concat(name) FROM (SELECT name FROM sqlite_master WHERE type IN "
                   "('index','trigger','view') AND sql NOT NULL ORDER BY name)",
                   "by_subject,left_out,mail_queue_due,mail_queue_due_old,mail_queue_expiry,"
                   "mail_queue_key,mail_queue_lease,mail_queue_parked,mail_queue_rest,noted,"
                   "the pair,waiting");
    assert_int_equal(fx_int(&fx, "SELECT count(*) FROM sqlite_master WHERE name = 'mail_queue_due'"
                                 " AND sql LIKE '%priority%'"),
                     1);
    assert_int_equal(fx_int(&fx, "SELECT count(*) FROM waiting"), 1);
    fx_sql(&fx, "UPDATE mail_queue SET status = 'parked' WHERE id = 9");
    fx_assert_text(&fx, "SELECT what FROM audit WHERE job = 9", "now parked?");
    fx_sql(&fx, "INSERT INTO registrations VALUES ('R3', 'Cyd')");
    /* What the application's columns forbade; what the queue's rows cannot have is allowed. */
    struct mq_query bad = {-1, "UPDATE mail_queue SET lang = 'fr'", NULL, 0};
    assert_int_not_equal(mq_db_exec(mq_queue_db(fx.queue), &bad, &fx.err), MQ_OK);
    assert_true(fx_enqueue(&fx, &(struct mail){.reference = "R3", .body = "x"}) > 40);
    assert_int_equal(fx_enqueue(&fx, &(struct mail){.reference = "R3", .body = "x"}), 0);
    /* COLLATE NOCASE of the reference holds. */
    assert_int_equal(fx_enqueue(&fx, &(struct mail){.reference = "r3", .body = "x"}), 0);
    fx_sql(&fx, "UPDATE mail_queue SET parent = NULL;"
                "DELETE FROM registrations WHERE number = 'R1'");
    assert_int_equal(fx_int(&fx, "SELECT count(*) FROM mail_queue WHERE id = 7"), 0);
    assert_int_equal(fx_int(&fx, "SELECT count(*) FROM audit WHERE job = 7"), 0);
    fx_close(&fx);
}

static void test_foreign_keys_off(void **state)
{
    (void)state;
    struct fixture fx;
    open_application(&fx, false);
    assert_int_equal(fx_int(&fx, "PRAGMA foreign_keys"), 0);
    fx_close(&fx);
}

static void test_strict(void **state)
{
    (void)state;
    struct fixture fx;
    adopt(&fx, "CREATE TABLE mail_queue (registration_number INTEGER, mail_type TEXT, status TEXT, "
               "next_attempt_at REAL, extra ANY) STRICT;"
               "INSERT INTO mail_queue VALUES (4711, 'user', 'pending', 1799996400.75, '007')");
    fx_assert_text(&fx,
                   "SELECT registration_number || ' ' || next_attempt_at || ' ' || extra "
                   "FROM mail_queue",
                   "4711 1799996400 007");
    assert_int_equal(fx_enqueue(&fx, &(struct mail){.reference = "4711", .type = "user"}), 0);
    assert_int_equal(fx_claim(&fx), 1);
    assert_string_equal(fx.claim.jobs[0].reference, "4711");
    fx_close(&fx);
}

/* An id that is whole numbers, whatever it was declared, stays; a key that is referred to, too. */
static void test_other_keys(void **state)
{
    (void)state;
    struct fixture fx;
    adopt(&fx, "CREATE TABLE mail_queue (id INT PRIMARY KEY, registration_number, mail_type, "
               "status); INSERT INTO mail_queue VALUES (12, 'A', 'm', 'pending')");
    assert_int_equal(fx_int(&fx, "SELECT id FROM mail_queue"), 12);
    fx_close(&fx);
    adopt(&fx, "CREATE TABLE mail_queue (registration_number, mail_type, status, rowid TEXT);"
               "INSERT INTO mail_queue VALUES ('A', 'm', 'pending', 'mine')");
    assert_int_equal(fx_int(&fx, "SELECT id FROM mail_queue WHERE rowid = 'mine'"), 1);
    fx_close(&fx);
    adopt(&fx, "CREATE TABLE mail_queue (registration_number TEXT PRIMARY KEY, mail_type, status);"
               "CREATE TABLE child (n TEXT REFERENCES mail_queue(registration_number));"
               "INSERT INTO mail_queue VALUES ('A', 'm', 'pending');"
               "INSERT INTO child VALUES ('A'), ('Z')"); /* one is broken, as before */
    assert_int_equal(fx_int(&fx, "SELECT count(*) FROM pragma_foreign_key_check"), 1);
    fx_close(&fx);
    adopt(&fx, "CREATE TABLE mail_queue (registration_number TEXT PRIMARY KEY, mail_type, status);"
               "INSERT INTO mail_queue VALUES ('A', 'm', 'pending');");
    assert_true(fx_enqueue(&fx, &(struct mail){.reference = "A", .type = "other"}) > 1);
    fx_close(&fx);
}

#define TABLE "CREATE TABLE mail_queue (registration_number, mail_type, status, attempts, id2);"

/* A failure on the way leaves all as it was. */
static void test_rolled_back(void **state)
{
    (void)state;
    struct fixture fx;
    fx_init(&fx);
    fx_open(&fx); /* a queue to have a connection; its tables go */
    fx_sql(&fx, "DROP TABLE mail_queue; DELETE FROM config;" TABLE
                "INSERT INTO mail_queue VALUES ('A', 'm', 'pending', 0, 0), ('A', 'm', 'pending', "
                "0, 0); CREATE INDEX mine ON mail_queue(id2)");
    strcpy(fx.queue->names.reference, "registration_number");
    char *before = fx_text(&fx, "SELECT group_concat(sql) FROM sqlite_master");
    assert_int_equal(mq_queue_migrate(fx.queue, NULL, &fx.err), MQ_SCHEMA);
    fx_assert_text(&fx, "SELECT group_concat(sql) FROM sqlite_master", before);
    assert_int_equal(fx_int(&fx, "SELECT count(*) FROM mail_queue"), 2);
    assert_int_equal(fx_int(&fx, "SELECT count(*) FROM config"), 0);
    fx_sql(&fx, "DELETE FROM mail_queue WHERE rowid = 2");
    assert_int_equal(mq_queue_migrate(fx.queue, NULL, &fx.err), MQ_OK);
    assert_int_equal(fx_int(&fx, "SELECT count(*) FROM mail_queue"), 1);
    free(before);
    fx_close(&fx);
}

/* The queue's own table gets what it lacks, as a later version's column would be. */
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

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_each_case),
        cmocka_unit_test(test_same_as_new),
        cmocka_unit_test(test_once),
        cmocka_unit_test(test_all_is_kept),
        cmocka_unit_test(test_foreign_keys_off),
        cmocka_unit_test(test_strict),
        cmocka_unit_test(test_other_keys),
        cmocka_unit_test(test_rolled_back),
        cmocka_unit_test(test_column_added),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
