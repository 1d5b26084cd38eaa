/* Limits of relays in a run with two: what goes where, what waits, and what that costs. The clock
 * moves only when the worker waits. */
#include "worker_fake.h"

#define HOUR_MS  INT64_C(3601000)
#define ONE      "smtp://relay.example:25"
#define EACH     "5/1h per relay"
#define WAITING  "SELECT count(*) FROM mail_queue WHERE waits_for IS NOT NULL"
#define ATTEMPTS "SELECT coalesce(max(attempts), 0) FROM mail_queue"

static void set_limits(struct scene_worker *scene, const char *limits, const char *mode)
{
    fx_set(&scene->fx, "mailRateMode", mode);
    fx_set(&scene->fx, "mailLimits", limits);
}

static void limit_relays(struct scene_worker *scene, const char *dsn, const char *limits)
{
    scene->dsn = dsn;
    set_limits(scene, limits, "strict");
}

/* How many the relays have taken until now. */
static void check_taken(const struct scene_worker *scene, size_t one, size_t other)
{
    assert_int_equal(scene->relay.accepted_count, one);
    assert_int_equal(scene->other.accepted_count, other);
}

/* What waits has no attempt, knows its limit, and is due after now. */
static void check_waiting(struct scene_worker *scene, int64_t count)
{
    char sql[160];
    snprintf(sql, sizeof(sql), WAITING " AND status = 'pending' AND next_attempt_at > %lld",
             (long long)(START + scene->boot_ms / 1000));
    assert_int_equal(count_jobs(scene, NULL), count);
    assert_int_equal(fx_int(&scene->fx, sql), count);
    assert_int_equal(fx_int(&scene->fx, ATTEMPTS), 0);
}

static void test_failover(void **state)
{
    struct scene_worker *scene = *state;
    limit_relays(scene, "failover(a b)", EACH);
    enqueue_mails(scene, 12);
    run_until(scene, MQ_RUN_EMPTY);
    check_taken(scene, 5, 5);
    check_waiting(scene, 2);
    /* Nothing else was looked at: the two wait for the one relay and the other. */
    fx_assert_text(&scene->fx,
                   "SELECT group_concat(waits_for, ', ') FROM "
                   "(SELECT waits_for FROM mail_queue ORDER BY waits_for)",
                   EACH " smtp://other.example:25, " EACH " " ONE);
    struct mq_job job;
    int64_t id = fx_int(&scene->fx, "SELECT max(id) FROM mail_queue");
    bool found = false;
    assert_int_equal(mq_queue_job(scene->fx.queue, id, &job, &found, &scene->err), MQ_OK);
    assert_int_equal(mq_queue_expect(scene->fx.queue, &job, 1, &scene->err), MQ_OK);
    assert_in_range(job.expected_at, START + scene->boot_ms / 1000 + 3590,
                    START + scene->boot_ms / 1000 + 3605 + 720);
    mq_job_clear(&job);
    scene->boot_ms += HOUR_MS + 1440000;
    run_until(scene, MQ_RUN_EMPTY);
    assert_int_equal(count_jobs(scene, NULL), 0);
}

/* A mail that moves pays at the other relay, and the first one has its room again. */
static void test_moves(void **state)
{
    struct scene_worker *scene = *state;
    limit_relays(scene, "failover(a b)", EACH);
    scene->relay.down = true;
    enqueue_mails(scene, 4);
    run_until(scene, MQ_RUN_EMPTY);
    check_taken(scene, 0, 4);
    assert_true(scene->relay.submits > 0);
    scene->relay.down = false;
    scene->boot_ms += 61000;
    enqueue_mails(scene, 8);
    run_until(scene, MQ_RUN_EMPTY);
    check_taken(scene, 5, 5);
    check_waiting(scene, 2);
}

/* The same in average mode, where tokens must come back: 2 at first, for each relay. */
static void test_moves_in_average(void **state)
{
    struct scene_worker *scene = *state;
    scene->dsn = "failover(a b)";
    set_limits(scene, "2/31d per relay", "average");
    scene->relay.down = true;
    enqueue_mails(scene, 1);
    run_until(scene, MQ_RUN_EMPTY);
    check_taken(scene, 0, 1);
    scene->relay.down = false;
    scene->boot_ms += 61000;
    enqueue_mails(scene, 8);
    run_until(scene, MQ_RUN_EMPTY);
    check_taken(scene, 2, 2);
    assert_int_equal(fx_int(&scene->fx, WAITING), 5);
}

/* Two DSNs of one login differ in options only: the relay counts their mail together. */
static void check_one_relay(struct scene_worker *scene, const char *limits, const char *waits_for)
{
    static char same[] = ONE;
    scene->other.transport.name = same;
    limit_relays(scene, "roundrobin(a b)", limits);
    enqueue_mails(scene, 20);
    run_until(scene, MQ_RUN_EMPTY);
    assert_int_equal(scene->relay.accepted_count + scene->other.accepted_count, 6);
    assert_in_range(scene->relay.accepted_count, 1, 5);
    check_waiting(scene, 14);
    fx_assert_text(&scene->fx, "SELECT group_concat(DISTINCT waits_for) FROM mail_queue",
                   waits_for);
}

static void test_one_relay(void **state)
{
    check_one_relay(*state, "6/1h per relay", "6/1h per relay " ONE);
}

static void test_one_relay_by_name(void **state)
{
    check_one_relay(*state, "6/1h per relay relay.example:25", "6/1h per relay relay.example:25");
}

/* Round robin goes on where there is room, also if only one relay has a limit. */
static void test_round_robin(void **state)
{
    struct scene_worker *scene = *state;
    limit_relays(scene, "roundrobin(a b)", "4/1h per relay relay.example");
    enqueue_mails(scene, 30);
    run_until(scene, MQ_RUN_EMPTY);
    check_taken(scene, 4, 26);
    assert_int_equal(count_jobs(scene, NULL), 0);
}

/* A relay whose limit is full is not a relay that is busy. */
static void test_slow_relay(void **state)
{
    struct scene_worker *scene = *state;
    limit_relays(scene, "roundrobin(a b)", "100/1h per relay");
    scene->other.latency_ms = 1000; /* does not hold the other up */
    enqueue_mails(scene, 100);
    int64_t begun_ms = scene->boot_ms;
    run_until(scene, MQ_RUN_EMPTY);
    assert_in_range(scene->relay.accepted_count, 80, 98);
    assert_in_range(scene->boot_ms - begun_ms, 1000, 2100);
}

static void test_warmup(void **state)
{
    struct scene_worker *scene = *state;
    scene->dsn = "failover(a b)";
    fx_set(&scene->fx, "mailRateMode", "strict");
    fx_set(&scene->fx, "mailWarmup", "2027-01-15: 3, 6, 12 per relay relay.example");
    enqueue_mails(scene, 10); /* START is in the first of these days */
    run_until(scene, MQ_RUN_EMPTY);
    check_taken(scene, 3, 7);
}

/* A mail to more recipients than the relay has room for reaches some of them now. */
static void test_recipients(void **state)
{
    struct scene_worker *scene = *state;
    limit_relays(scene, "failover(a b)", EACH ", 100/1h");
    fx_mail(&scene->fx, "1@a.x 2@a.x 3@a.x 4@a.x 5@a.x 6@a.x 7@a.x 8@a.x 9@a.x 10@a.x 11@a.x");
    run_until(scene, MQ_RUN_EMPTY);
    assert_int_equal(scene->report.recipients, 10);
    fx_assert_text(&scene->fx, "SELECT recipients FROM mail_queue", "[\"11@a.x\"]");
    assert_int_equal(fx_int(&scene->fx, "SELECT sum(n) FROM mail_window WHERE scope = "
                                        "'3600 recipients'"),
                     10);
}

/* ---- a database that is put back ---- */

#define BUCKET "SELECT n FROM mail_window WHERE scope LIKE 'bucket %'"

/* When the first relay has failed: what its mail has paid there was never stored. */
static enum mq_status put_database_back(struct fake_relay *relay, struct mq_error *err)
{
    struct scene_worker *scene = relay->scene;
    char sql[120];
    (void)err;
    if (scene->relay.down && scene->relay.submits == 2) {
        scene->relay.down = false;
        fx_sql(&scene->fx, "UPDATE mail_queue SET status = 'pending', paid = 0, paid_to = NULL, "
                           "locked_by = NULL, locked_until = NULL "
                           "WHERE paid_to LIKE '%relay.example%'");
        snprintf(sql, sizeof(sql), "UPDATE mail_window SET n = %d WHERE scope LIKE 'bucket %%'",
                 scene->counter);
        fx_sql(&scene->fx, sql);
    }
    return MQ_OK;
}

/* Mail that waits for the other relay then, and is claimed again, gives nothing back to the first
 * one. */
static void test_claimed_again(void **state)
{
    struct scene_worker *scene = *state;
    scene->dsn = "roundrobin(a b)?retry_period=5";
    set_limits(scene, "2/31d per relay relay.example", "average");
    enqueue_mails(scene, 1);
    run_until(scene, MQ_RUN_EMPTY);
    check_taken(scene, 1, 0);
    scene->counter = (int)fx_int(&scene->fx, BUCKET);
    scene->relay.down = true;
    scene->other.sessions = 1;
    scene->other.latency_ms = 20000;
    scene->other.on_step = put_database_back;
    enqueue_mails(scene, 2);
    run_until(scene, MQ_RUN_EMPTY);
    check_taken(scene, 1, 2);
    assert_false(scene->relay.down);
    assert_int_equal(fx_int(&scene->fx, BUCKET), scene->counter);
}

/* ---- a relay that sends a mail to all its recipients at once ---- */

/* A run that asks again and again without waiting fails the test instead of hanging. */
static enum mq_status check_steps(struct fake_relay *relay, struct mq_error *err)
{
    (void)err;
    assert_in_range(relay->steps, 0, 10000);
    return MQ_OK;
}

/* Its limit has room for a part of a mail, and the other relay is busy for ten seconds: the mail
 * waits for that one, while smaller mail goes. */
static void test_part(void **state)
{
    struct scene_worker *scene = *state;
    limit_relays(scene, "roundrobin(a b)", "4/1h per relay relay.example");
    scene->relay.transport.whole = true;
    scene->relay.on_step = check_steps;
    scene->other.sessions = 1;
    scene->other.latency_ms = 10000;
    fx_mail(&scene->fx, "1@a.x 2@a.x");
    fx_mail(&scene->fx, "3@a.x");
    int64_t big = fx_mail(&scene->fx, "4@a.x 5@a.x 6@a.x");
    int64_t small = fx_mail(&scene->fx, "7@a.x");
    int64_t begun_ms = scene->boot_ms;
    run_until(scene, MQ_RUN_EMPTY);
    assert_int_equal(count_jobs(scene, NULL), 0);
    check_taken(scene, 2, 2);
    assert_int_equal(scene->relay.accepted[1], small);
    assert_int_equal(scene->other.accepted[1], big);
    assert_in_range(scene->boot_ms - begun_ms, 20000, 20500);
}

/* ---- many mails for a full relay ---- */

static int64_t writes(struct scene_worker *scene)
{
    return fx_int(&scene->fx, "SELECT total_changes()");
}

/* For `minutes` of a daemon: how many rows it writes. */
static int64_t written_in(struct scene_worker *scene, int64_t minutes)
{
    int64_t before = writes(scene);
    scene->options.daemon = true;
    scene->options.time_limit_s = minutes * 60;
    run_until(scene, MQ_RUN_TIME);
    return writes(scene) - before;
}

static void map_senders(struct scene_worker *scene)
{
    assert_int_equal(mq_relays_map(&scene->relays, MQ_STR("@other.x"), MQ_STR("b"), &scene->err),
                     MQ_OK);
}

static void enqueue_from(struct scene_worker *scene, int count, const char *from)
{
    char sql[160];
    snprintf(sql, sizeof(sql),
             "UPDATE mail_queue SET envelope_from = '%s' WHERE envelope_from = 'from@example.org'",
             from);
    enqueue_mails(scene, count);
    fx_sql(&scene->fx, sql);
}

/* Mail for a full relay is put back once, does not hold up other mail, and is left alone then. */
static void check_full_relay(struct scene_worker *scene, int claims)
{
    limit_relays(scene, "a", "3/1h per relay relay.example");
    enqueue_from(scene, 3000, "f@one.x");
    enqueue_from(scene, 10, "f@other.x");
    int64_t begun_ms = scene->boot_ms;
    scene->relay.latency_ms = scene->other.latency_ms = 0;
    run_until(scene, MQ_RUN_EMPTY);
    check_taken(scene, 3, 10);
    assert_in_range(scene->boot_ms - begun_ms, 0, 5000);
    check_waiting(scene, 2997);
    int claimed = count_events(scene, MQ_EVENT_CLAIMED);
    assert_in_range(claimed, 13, claims);
    int64_t rows = written_in(scene, 10);
    print_message("%d claims, then %lld rows in ten minutes\n", claimed, (long long)rows);
    assert_in_range(rows, 0, 60);
    check_taken(scene, 3, 10);
    /* Another limit counts at once. */
    set_limits(scene, "4000/1h per relay relay.example", "strict");
    scene->options.daemon = false;
    scene->options.time_limit_s = -1;
    run_until(scene, MQ_RUN_EMPTY);
    check_taken(scene, 3000, 10);
}

static void test_map(void **state)
{
    struct scene_worker *scene = *state;
    scene->on_relays = map_senders;
    check_full_relay(scene, 13);
}

static enum mq_status choose(void *context, const struct mq_job *job, char **dsn,
                             struct mq_error *err)
{
    (void)context;
    (void)err;
    *dsn = mq_str_dup(mq_str_of(strcmp(job->envelope_from, "f@other.x") == 0 ? "b" : "a"));
    return MQ_OK;
}

static void choose_by_sender(struct scene_worker *scene)
{
    scene->relays.choose = choose;
}

/* The function that chooses is not called within the claim: each mail is claimed once. */
static void test_closure(void **state)
{
    struct scene_worker *scene = *state;
    scene->on_relays = choose_by_sender;
    check_full_relay(scene, 3010);
}

/* ---- mail that is composed when sent ---- */

static enum mq_compose_end compose(struct scene_worker *scene, const struct mq_job *job,
                                   struct mq_composed *out, struct mq_error *err)
{
    (void)err;
    (void)job;
    const char *from = scene->counter++ % 2 ? "f@other.x" : "f@one.x";
    out->message = mq_str_dup(MQ_STR("Subject: x\r\n\r\nx\r\n"));
    out->message_len = strlen(out->message);
    out->envelope_from = mq_str_dup(mq_str_of(from));
    mq_strings_add(&out->recipients, MQ_STR("a@a.x"));
    return MQ_COMPOSED;
}

/* It pays where it was to go before its sender was known, and again where it goes. */
static void test_composed(void **state)
{
    struct scene_worker *scene = *state;
    scene->on_relays = map_senders;
    scene->on_compose = compose;
    limit_relays(scene, "a", EACH);
    for (int i = 0; i < 20; i++) {
        fx_enqueue(&scene->fx, &(struct mail){.reference = NULL});
    }
    run_until(scene, MQ_RUN_EMPTY);
    assert_int_equal(scene->relay.accepted_count, 5);
    assert_in_range(scene->other.accepted_count, 4, 5);
    assert_int_equal(fx_int(&scene->fx, "SELECT sum(n) FROM mail_window WHERE scope LIKE "
                                        "'3600 recipients relay%'"),
                     5 + scene->other.accepted_count);
    assert_int_equal(fx_int(&scene->fx, WAITING), 15 - scene->other.accepted_count);
}

int main(void)
{
#define T(f) cmocka_unit_test_setup_teardown(f, scene_worker_setup, scene_worker_teardown)
    const struct CMUnitTest tests[] = {
        T(test_failover),
        T(test_moves),
        T(test_moves_in_average),
        T(test_one_relay),
        T(test_one_relay_by_name),
        T(test_round_robin),
        T(test_slow_relay),
        T(test_warmup),
        T(test_recipients),
        T(test_claimed_again),
        T(test_part),
        T(test_map),
        T(test_closure),
        T(test_composed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
