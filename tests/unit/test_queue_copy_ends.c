/* Moving a queue: what comes late, what is refused, what was not stored as it was sent. */
#include "copy_fixture.h"

#include "db/db.h"

/* What the source took after the end comes by another call, once, whatever the target did. */
static void test_late(void **state)
{
    (void)state;
    struct pair pair;
    pair_open(&pair);
    fx_mail(&pair.from, "a@example.org");
    pair_move_ok(&pair);
    assert_int_equal(fx_claim(&pair.to), 1);
    fx_settle(&pair.to, 0, "a");
    int64_t own = fx_enqueue(&pair.to, &(struct mail){.reference = "twice", .recipients = "a@b.c"});
    fx_enqueue(&pair.from, &(struct mail){.reference = "late", .recipients = "a@b.c"});
    pair_move_ok(&pair);
    assert_true(pair.report.late);
    assert_int_equal(pair.report.copied, 1);
    assert_int_equal(fx_claim(&pair.to), 2);
    assert_int_equal(pair.to.claim.jobs[0].id, 2);
    pair_move_ok(&pair);
    assert_int_equal(pair.report.copied, 0);

    fx_kind(&pair.to, 1, MQ_SETTLE_RELEASE, NULL);
    fx_enqueue(&pair.from, &(struct mail){.reference = "twice", .recipients = "a@b.c"});
    fx_mail(&pair.from, "after@example.org");
    pair_refused(&pair, MQ_MESSAGE, "mail 3 (twice, mail) is queued in the target already");
    fx_sql(&pair.to, "UPDATE mail_queue SET status = 'parked' WHERE reference = 'twice'");
    pair_move_ok(&pair);
    assert_int_equal(pair.report.copied, 2);
    assert_int_equal(fx_int(&pair.to, "SELECT id FROM mail_queue WHERE reference = 'twice'"), 3);
    assert_true(own > 1000000);

    pair.options.remove = true;
    pair_move_ok(&pair);
    assert_int_equal(pair.report.removed, 4);
    assert_int_equal(fx_int(&pair.from, "SELECT count(*) FROM mail_queue"), 0);
    assert_int_equal(fx_int(&pair.from, "SELECT count(*) FROM mail_body"), 0);
    pair_close(&pair);
}

/* The application may store mail in the target from the first step on. */
static void store_there(struct pair *pair)
{
    fx_mail(&pair->to, "there@example.org");
}

static void test_target_in_use(void **state)
{
    (void)state;
    struct pair pair;
    pair_open(&pair);
    pair_fill(&pair.from);
    pair.at = store_there;
    pair_move_ok(&pair);
    assert_int_equal(fx_int(&pair.to, "SELECT count(*) FROM mail_queue WHERE id >= 1000000"),
                     pair.told);
    assert_int_equal(fx_int(&pair.to, "SELECT count(*) FROM mail_queue WHERE id < 1000000"), 699);
    pair_close(&pair);
}

static void test_refused(void **state)
{
    (void)state;
    struct pair pair;
    pair_open(&pair);
    fx_mail(&pair.from, "a@example.org");
    fx_mail(&pair.to, "mine@example.org");
    pair_refused(&pair, MQ_INVALID, "the target has mail of its own already (1 mails");
    assert_int_equal(fx_claim(&pair.from), 1); /* and nothing was touched */
    fx_kind(&pair.from, 0, MQ_SETTLE_RELEASE, NULL);
    fx_sql(&pair.to, "DELETE FROM mail_queue; DELETE FROM mail_body");

    struct mq_queue *own = pair.to.queue;
    pair.to.queue = pair.from.queue;
    fx_sql(&pair.from, "DELETE FROM mail_queue; DELETE FROM mail_body");
    pair_refused(&pair, MQ_INVALID, "the same table of the same database");
    pair.to.queue = own;
    assert_int_equal(fx_int(&pair.from, "SELECT count(*) FROM config WHERE key LIKE '%Moved%'"), 0);

    fx_mail(&pair.from, "a@example.org");
    fx_sql(&pair.from, "UPDATE mail_queue SET priority = 'high'");
    pair_refused(&pair, MQ_MESSAGE, "its column priority holds no integer");
    assert_string_equal(pair.from.err.field, "priority");
    struct fixture third;
    fx_open(&third);
    own = pair.to.queue;
    pair.to.queue = third.queue;
    pair.options.target_name = "three";
    pair_refused(&pair, MQ_INVALID, "the source is being moved to two");
    pair.options.target_name = "two";
    pair.to.queue = own;
    fx_close(&third);
    fx_sql(&pair.from, "UPDATE mail_queue SET priority = 1");
    pair_move_ok(&pair);
    pair_same(&pair);
    pair_close(&pair);
}

/* A target that is unfinished, or moved on, is no source and no target. */
static void test_chains(void **state)
{
    (void)state;
    struct pair pair;
    struct fixture third;
    pair_open(&pair);
    fx_open(&third);
    pair_fill(&pair.from);
    pair.stop = 1;
    assert_int_equal(pair_move(&pair), MQ_IO);
    pair.stop = 0;
    struct mq_error err;
    assert_int_equal(mq_queue_move(pair.to.queue, third.queue, &pair.options, &pair.report, &err),
                     MQ_INVALID);
    assert_non_null(strstr(err.text, "source is the target of an unfinished move from one"));
    assert_int_equal(mq_queue_move(third.queue, pair.to.queue, &pair.options, &pair.report, &err),
                     MQ_INVALID);
    pair_move_ok(&pair);
    struct mq_copy_options on = pair.options;
    on.target_name = "three";
    assert_int_equal(mq_queue_move(pair.to.queue, third.queue, &on, &pair.report, &err), MQ_OK);
    pair_refused(&pair, MQ_INVALID, "the target itself was moved to three");
    fx_close(&third);
    pair_close(&pair);
}

static void test_abort(void **state)
{
    (void)state;
    struct pair pair;
    struct mq_error err;
    pair_open(&pair);
    pair_fill(&pair.from);
    pair.stop = 2;
    assert_int_equal(pair_move(&pair), MQ_IO);
    assert_true(fx_int(&pair.to, "SELECT count(*) FROM mail_queue") > 0);
    assert_int_equal(mq_queue_move_abort(pair.from.queue, pair.to.queue, "two", &err), MQ_OK);
    assert_int_equal(fx_int(&pair.to, "SELECT count(*) FROM mail_queue"), 0);
    assert_int_equal(fx_int(&pair.to, "SELECT count(*) FROM mail_body"), 0);
    assert_true(fx_stats(&pair.from).enabled);
    assert_true(fx_stats(&pair.to).enabled);
    assert_int_equal(mq_queue_move_abort(pair.from.queue, pair.to.queue, "two", &err), MQ_INVALID);
    pair.stop = 0;
    pair_move_ok(&pair);
    pair_same(&pair);
    assert_int_equal(mq_queue_move_abort(pair.from.queue, pair.to.queue, "two", &err), MQ_INVALID);
    assert_non_null(strstr(err.text, "the move is over"));
    pair_close(&pair);
}

static void one_statement(struct fixture *fx, const char *sql)
{
    struct mq_query query = {-1, sql, NULL, 0};
    assert_int_equal(mq_db_exec(mq_queue_db(fx->queue), &query, &fx->err), MQ_OK);
}

/* A trigger stands for a database that cuts what it stores. */
static void test_read_back(void **state)
{
    (void)state;
    struct pair pair;
    pair_open(&pair);
    pair_fill(&pair.from);
    one_statement(&pair.to,
                  "CREATE TRIGGER cut AFTER INSERT ON mail_queue WHEN new.id = 31 BEGIN UPDATE "
                  "mail_queue SET message_id = substr(message_id, 1, 4) WHERE id = 31; END");
    pair_refused(&pair, MQ_MESSAGE,
                 "mail 31 is not read back as it was stored: its column message_id differs");
    fx_sql(&pair.to, "DROP TRIGGER cut");
    one_statement(&pair.to,
                  "CREATE TRIGGER cut AFTER INSERT ON mail_body WHEN new.id = 32 BEGIN UPDATE "
                  "mail_body SET content = x'00' WHERE id = 32; END");
    pair_refused(&pair, MQ_MESSAGE, "mail 32 is not read back");
    fx_sql(&pair.to, "DROP TRIGGER cut");
    pair_move_ok(&pair);
    pair_same(&pair);
    pair_close(&pair);
}

/* What got into the target behind our back is found by the comparison of all. */
static void spoil(struct pair *pair)
{
    if (pair->told == 3) {
        fx_sql(&pair->to, "UPDATE mail_body SET content = x'01' WHERE id = 2;"
                          "DELETE FROM mail_queue WHERE id = 3; DELETE FROM mail_body WHERE id = 3;"
                          "UPDATE mail_queue SET id = 600 WHERE id = 11");
    }
}

static void test_repaired(void **state)
{
    (void)state;
    struct pair pair;
    unsigned char expected[MQ_SHA256_SIZE];
    pair_open(&pair);
    pair_fill(&pair.from);
    pair.at = spoil;
    pair_move_ok(&pair);
    pair_same(&pair);
    memcpy(expected, pair.report.checksum, sizeof(expected));
    pair_close(&pair);
    pair_open(&pair);
    pair_fill(&pair.from);
    pair_move_ok(&pair);
    assert_memory_equal(pair.report.checksum, expected, sizeof(expected));
    pair_close(&pair);
}

static void test_dry_run(void **state)
{
    (void)state;
    struct pair pair;
    pair_open(&pair);
    pair_fill(&pair.from);
    fx_sql(&pair.from, "ALTER TABLE mail_queue ADD COLUMN colour TEXT");
    pair.options.dry_run = true;
    pair_move_ok(&pair);
    assert_int_equal(pair.report.mails, 699);
    assert_int_equal(pair.report.ignored.count, 1);
    assert_string_equal(pair.report.ignored.items[0], "colour");
    assert_true(fx_stats(&pair.from).enabled);
    assert_int_equal(fx_int(&pair.to, "SELECT count(*) FROM mail_queue"), 0);
    pair_close(&pair);
}

/* A note that cannot be read stops claims. */
static void test_spoiled_note(void **state)
{
    (void)state;
    struct pair pair;
    pair_open(&pair);
    fx_mail(&pair.from, "a@example.org");
    fx_set_raw(&pair.from, "mailQueueMovedFrom", "{\"mail_queue\":\"nonsense\"}");
    assert_int_equal(fx_claim(&pair.from), 0);
    assert_int_equal(pair.from.claim.end, MQ_CLAIM_DISABLED);
    pair_refused(&pair, MQ_CONFIG, "mailQueueMovedFrom cannot be read");
    fx_set_raw(&pair.from, "mailQueueMovedFrom", "{\"other\":\"nonsense\"}");
    assert_int_equal(fx_claim(&pair.from), 1);
    pair_close(&pair);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_late),         cmocka_unit_test(test_target_in_use),
        cmocka_unit_test(test_refused),      cmocka_unit_test(test_chains),
        cmocka_unit_test(test_abort),        cmocka_unit_test(test_read_back),
        cmocka_unit_test(test_repaired),     cmocka_unit_test(test_dry_run),
        cmocka_unit_test(test_spoiled_note),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
