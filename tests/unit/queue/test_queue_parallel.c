/* Several connections to one file: each job is claimed exactly once. Seen to fail with a deferred
 * transaction around a claim that reads before it writes, and without any write lock. */
#include <pthread.h>
#include <unistd.h>

#include "queue_fixture.h"

#include "db/sqlite/sqlite.h"

#define THREADS 4
#define JOBS    1500

static char path[64];
static int taken[JOBS + 1]; /* by id */

struct thread {
    pthread_t id;
    int number;
    int claimed;
    bool ok;
    struct mq_error err;
};

static struct mq_queue *open_queue(struct mq_error *err)
{
    struct mq_sqlite_options options = {
        .path = path, .journal = "wal", .synchronous_normal = true, .busy_timeout_ms = 30000};
    struct mq_queue_options defaults;
    struct mq_db *db = NULL;
    struct mq_queue *queue = NULL;
    mq_queue_options_init(&defaults);
    if (mq_sqlite_open(&options, &db, err) != MQ_OK ||
        mq_queue_open(db, &defaults, &queue, err) != MQ_OK) {
        return NULL;
    }
    return queue;
}

static size_t settle_some(struct mq_claim *claim, struct mq_settlement *out)
{
    for (size_t i = 0; i < claim->count; i++) {
        out[i] = (struct mq_settlement){.job = &claim->jobs[i],
                                        .outcome = claim->jobs[i].id % 7 ? MQ_OUTCOME_ORPHAN
                                                                         : MQ_OUTCOME_REFUSED,
                                        .retry_after_s = -1,
                                        .ms = -1};
    }
    return claim->count;
}

static bool turns(struct thread *self, struct mq_queue *queue)
{
    char token[MQ_TOKEN_HEX + 1];
    struct mq_claim claims[2];
    struct mq_settlement outcomes[7];
    claims[0] = (struct mq_claim){0};
    claims[1] = (struct mq_claim){0};
    mq_random_hex(token, MQ_TOKEN_HEX / 2);
    struct mq_claim_request request = {.limit = 7, .lease_s = 900, .token = token};
    bool good = true;
    bool more = true;
    for (int n = 0; good && more; n = !n) {
        struct mq_cycle cycle = {.outcomes = outcomes,
                                 .outcome_count = settle_some(&claims[!n], outcomes),
                                 .request = &request,
                                 .claim = &claims[n]};
        good = mq_queue_cycle(queue, &cycle, &self->err) == MQ_OK && claims[n].status == MQ_OK;
        for (size_t i = 0; good && i < claims[n].count; i++) {
            good = __atomic_add_fetch(&taken[claims[n].jobs[i].id], 1, __ATOMIC_SEQ_CST) == 1;
            self->claimed++;
        }
        for (size_t i = 0; i < cycle.outcome_count; i++) {
            good = good && outcomes[i].row != MQ_ROW_LOST;
        }
        more = claims[n].count > 0 || claims[!n].count > 0;
    }
    mq_claim_clear(&claims[0]);
    mq_claim_clear(&claims[1]);
    return good;
}

static void *run(void *context)
{
    struct thread *self = context;
    struct mq_queue *queue = open_queue(&self->err);
    self->ok = queue && turns(self, queue);
    mq_queue_close(queue);
    return NULL;
}

static void test_parallel_claims(void **state)
{
    (void)state;
    struct thread threads[THREADS] = {0};
    struct mq_error err;
    int64_t stored = 0;
    int64_t sum = 0;
    snprintf(path, sizeof(path), "/tmp/mq_parallel_%ld.sqlite", (long)getpid());
    unlink(path);
    struct mq_queue *queue = open_queue(&err);
    assert_non_null(queue);
    for (int i = 0; i < JOBS; i++) {
        struct mq_new_job job = {.mail_type = MQ_STR("mail"), .message_id = "<x@y>"};
        assert_int_equal(mq_queue_enqueue(queue, &job, 1, &stored, &err), MQ_OK);
    }
    for (int i = 0; i < THREADS; i++) {
        threads[i].number = i;
        assert_int_equal(pthread_create(&threads[i].id, NULL, run, &threads[i]), 0);
    }
    for (int i = 0; i < THREADS; i++) {
        pthread_join(threads[i].id, NULL);
        if (!threads[i].ok) {
            print_message("thread %d: %s\n", i, threads[i].err.text);
        }
        sum += threads[i].claimed;
    }
    for (int i = 0; i < THREADS; i++) {
        assert_true(threads[i].ok);
    }
    assert_int_equal(sum, JOBS);
    struct mq_stats stats;
    assert_int_equal(mq_queue_stats(queue, INT64_MAX, &stats, &err), MQ_OK);
    assert_int_equal(stats.counts[MQ_PARKED], JOBS / 7);
    assert_int_equal(stats.counts[MQ_SENDING] + stats.counts[MQ_PENDING], 0);
    mq_stats_clear(&stats);
    mq_queue_close(queue);
    unlink(path);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_parallel_claims),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
