/* Suppressed recipients of mail that was just composed, in a transaction that the database undoes
 * and that runs again. */
#include "db/db.h"
#include "queue/suppress/suppress.h"
#include "queue_fixture.h"

static struct {
    const struct mq_db_driver *file;
    int undone; /* how many of the next commits the database undoes */
} server;

static enum mq_status undoing_commit(struct mq_db *db, struct mq_error *err)
{
    if (server.undone == 0) {
        return server.file->commit(db, err);
    }
    server.undone--;
    return mq_error_set(err, MQ_TX_ABORTED, "database", "a deadlock");
}

/* A composed mail to these, of which a@ is suppressed: its envelope is stored after so many
 * commits were undone. */
static enum mq_status set_envelope(struct fixture *fx, const char *scope, int undone)
{
    static struct mq_db_driver driver;
    const struct mq_suppression one = {
        .address = MQ_STR("a@b.example"), .reason = MQ_STR("manual"), .source = MQ_STR("test")};
    struct mq_db *db;
    bool lost = true;
    int64_t added;
    fx_open(fx);
    assert_int_equal(mq_queue_suppress(fx->queue, &one, 1, &added, &fx->err), MQ_OK);
    fx_mail(fx, NULL);
    fx_sql(fx, scope);
    assert_int_equal(fx_claim(fx), 1);
    struct mq_job *job = &fx->claim.jobs[0];
    job->envelope_from = strdup("from@example.org");
    mq_strings_add(&job->recipients, MQ_STR("a@b.example"));
    mq_strings_add(&job->recipients, MQ_STR("b@b.example"));
    mq_events_clear(&fx->events);
    db = mq_queue_db(fx->queue);
    server.file = db->driver;
    server.undone = undone;
    driver = *db->driver;
    driver.commit = undoing_commit;
    db->driver = &driver;
    enum mq_status status = mq_queue_set_envelope(fx->queue, job, &fx->events, &lost, &fx->err);
    db->driver = server.file;
    assert_true(status != MQ_OK || !lost);
    return status;
}

static void test_runs_again(void **state)
{
    (void)state;
    struct fixture fx;
    assert_int_equal(set_envelope(&fx, "", 2), MQ_OK);
    assert_string_equal(fx_events(&fx), "suppressed");
    fx_assert_text(&fx, "SELECT recipients || refused FROM mail_queue",
                   "[\"b@b.example\"]{\"a@b.example\":\"suppressed: manual, 2027-01-15 (test)\"}");
    fx_close(&fx);
}

static void test_list_mail_runs_again(void **state)
{
    (void)state;
    struct fixture fx;
    assert_int_equal(set_envelope(&fx, "UPDATE mail_queue SET scope = 'list:news'", 1), MQ_OK);
    assert_string_equal(fx_events(&fx), "suppressed");
    fx_assert_text(&fx, "SELECT recipients FROM mail_queue WHERE refused IS NULL",
                   "[\"b@b.example\"]");
    fx_close(&fx);
}

/* The mail is as it was composed: the next attempt tells why one gets none. */
static void test_fails(void **state)
{
    (void)state;
    struct fixture fx;
    assert_int_equal(set_envelope(&fx, "", 5), MQ_TX_ABORTED);
    assert_int_equal(fx.events.count, 0);
    assert_int_equal(fx.claim.jobs[0].recipients.count, 2);
    assert_null(fx.claim.jobs[0].refused);
    fx_close(&fx);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_runs_again),
        cmocka_unit_test(test_list_mail_runs_again),
        cmocka_unit_test(test_fails),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
