/* Large messages that expire unsent: a transaction deletes only a few of them. */
#include "db/db.h"
#include "queue/body.h"
#include "queue/claim.h"
#include "queue/manage.h"
#include "queue/queue.h"
#include "queue/sql/statements.h"
#include "queue_fixture.h"

#define LARGE (3 << 20)

static void three(struct fixture *fx, int64_t expires_at)
{
    char *body = malloc(LARGE + 1);
    assert_non_null(body);
    memset(body, 'x', LARGE);
    body[LARGE] = '\0';
    for (int i = 0; i < 3; i++) {
        fx_enqueue(fx, &(struct mail){.expires_at = expires_at, .body = body});
    }
    free(body);
}

static void three_expired(struct fixture *fx)
{
    three(fx, START + 5);
    fx->now_s = START + 5;
}

/* The most that a transaction deleted, and the number of such transactions. */
static struct {
    const struct mq_db_driver *file;
    struct mq_db_driver driver;
    int deleted;
    int most;
    int commits;
} spied;

static enum mq_status spy_begin(struct mq_db *db, struct mq_error *err)
{
    spied.deleted = 0;
    return spied.file->begin(db, err);
}

static enum mq_status spy_commit(struct mq_db *db, struct mq_error *err)
{
    spied.commits++;
    return spied.file->commit(db, err);
}

static enum mq_status spy_run(struct mq_db *db, const struct mq_query *query, struct mq_error *err)
{
    spied.deleted += query->slot == MQ_SQL_DELETE_BODY;
    spied.most = spied.deleted > spied.most ? spied.deleted : spied.most;
    return spied.file->run(db, query, err);
}

static void spy(struct fixture *fx)
{
    struct mq_db *db = mq_queue_db(fx->queue);
    memset(&spied, 0, sizeof(spied));
    spied.file = db->driver;
    spied.driver = *db->driver;
    spied.driver.begin = spy_begin;
    spied.driver.commit = spy_commit;
    spied.driver.run = spy_run;
    db->driver = &spied.driver;
}

static void test_claim(void **state)
{
    (void)state;
    struct fixture fx;
    fx_open(&fx);
    three_expired(&fx);
    assert_int_equal(fx_claim(&fx), 0);
    assert_int_equal(fx.claim.end, MQ_CLAIM_MORE);
    assert_int_equal(fx_int(&fx, "SELECT count(*) FROM mail_body"), 1);
    assert_int_equal(fx_claim(&fx), 0);
    assert_int_equal(fx.claim.end, MQ_CLAIM_EMPTY);
    assert_int_equal(fx_int(&fx, "SELECT count(*) FROM mail_body"), 0);
    fx_close(&fx);
}

static void test_sweep(void **state)
{
    (void)state;
    struct fixture fx;
    struct mq_sweep sweep = {.done = true};
    fx_open(&fx);
    three_expired(&fx);
    assert_int_equal(mq_queue_sweep(fx.queue, &sweep, &fx.events, &fx.err), MQ_OK);
    assert_false(sweep.done);
    assert_int_equal(fx_int(&fx, "SELECT count(*) FROM mail_body"), 1);
    assert_int_equal(mq_queue_sweep(fx.queue, &sweep, &fx.events, &fx.err), MQ_OK);
    assert_true(sweep.done);
    assert_int_equal(fx_int(&fx, "SELECT count(*) FROM mail_body"), 0);
    fx_close(&fx);
}

/* Deletion by ids; ids that do not exist are not counted. */
static void test_delete(void **state)
{
    (void)state;
    struct fixture fx;
    int64_t ids[] = {1, 99, 2, 3};
    int64_t changed = 0;
    fx_open(&fx);
    three(&fx, 0);
    spy(&fx);
    assert_int_equal(mq_queue_delete(fx.queue, &(struct mq_ids){ids, 4}, &changed, &fx.err), MQ_OK);
    assert_int_equal(changed, 3);
    assert_int_equal(fx_int(&fx, "SELECT count(*) FROM mail_body"), 0);
    assert_int_equal(spied.most, 2);
    assert_int_equal(spied.commits, 2);
    fx_close(&fx);
}

/* claim() does not return empty while a mail waits among expired ones. */
static void test_claim_behind(void **state)
{
    (void)state;
    struct fixture fx;
    fx_open(&fx);
    three_expired(&fx);
    fx_mail(&fx, "a@example.org");
    spy(&fx);
    assert_int_equal(mq_queue_claim(fx.queue, &fx.request, MQ_BODIES_BYTES, &fx.claim, &fx.err),
                     MQ_OK);
    assert_int_equal(fx.claim.count, 1);
    assert_int_equal(fx.claim.jobs[0].id, 4);
    assert_int_equal(spied.most, 2);
    fx_close(&fx);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_claim),
        cmocka_unit_test(test_sweep),
        cmocka_unit_test(test_delete),
        cmocka_unit_test(test_claim_behind),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
