/* Messages read after the claim from a database that fails in between. */
#include "db/db.h"
#include "queue/body.h"
#include "queue/job.h"
#include "queue/queue.h"
#include "queue_fixture.h"

/* Steps of a result until one fails; 0: none fails. */
static struct {
    const struct mq_db_driver *file;
    struct mq_db_driver driver;
    int steps;
    int queries;
} failing;

static enum mq_status next_or_fail(struct mq_db *db, bool *row, struct mq_error *err)
{
    if (failing.steps > 0 && --failing.steps == 0) {
        return mq_error_set(err, MQ_IO, "database", "the disk does not answer");
    }
    return failing.file->next(db, row, err);
}

static enum mq_status run_and_count(struct mq_db *db, const struct mq_query *query,
                                    struct mq_error *err)
{
    failing.queries++;
    return failing.file->run(db, query, err);
}

static void claim_mails(struct fixture *fx, int count)
{
    fx_open(fx);
    for (int i = 0; i < count; i++) {
        fx_mail(fx, "a@example.org");
    }
    assert_int_equal(fx_claim(fx), count);
    for (int i = 0; i < count; i++) {
        mq_job_drop_body(&fx->claim.jobs[i]);
    }
    struct mq_db *db = mq_queue_db(fx->queue);
    failing.file = db->driver;
    failing.driver = *db->driver;
    failing.driver.next = next_or_fail;
    failing.driver.run = run_and_count;
    db->driver = &failing.driver;
}

/* The row came, but the end of the result did not: nothing is loaded or counted. */
static void test_fails_behind_the_row(void **state)
{
    (void)state;
    struct fixture fx;
    claim_mails(&fx, 1);
    struct mq_job *job = &fx.claim.jobs[0];
    for (int steps = 2; steps >= 1; steps--) {
        failing.steps = steps;
        assert_int_equal(mq_queue_read_body(fx.queue, job, &fx.err), MQ_IO);
        assert_null(job->body);
        assert_int_equal(job->body_state, MQ_BODY_STORED);
    }
    assert_int_equal(mq_queue_read_body(fx.queue, job, &fx.err), MQ_OK);
    assert_int_equal(job->body_state, MQ_BODY_LOADED);
    fx_close(&fx);
}

/* Outside a transaction, each statement on SQLite takes locks and looks for files. */
static void test_sixteen_in_one_statement(void **state)
{
    (void)state;
    struct fixture fx;
    struct mq_job *jobs[40];
    claim_mails(&fx, 40);
    for (int i = 0; i < 40; i++) {
        jobs[i] = &fx.claim.jobs[i];
        jobs[i]->body_state = MQ_BODY_UNKNOWN;
    }
    failing.queries = 0;
    assert_int_equal(mq_queue_read_bodies(fx.queue, jobs, 40, MQ_BODY_SMALL, &fx.err), MQ_OK);
    assert_int_equal(failing.queries, 3);
    for (int i = 0; i < 40; i++) {
        assert_int_equal(jobs[i]->body_state, MQ_BODY_LOADED);
    }
    fx_close(&fx);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_fails_behind_the_row),
                                       cmocka_unit_test(test_sixteen_in_one_statement)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
