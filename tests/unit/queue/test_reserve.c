/* The reserve: what mail of a priority below 0 leaves of the limits to other mail. */
#include "windows_fixture.h"

#define CAMPAIGN (-10)

static void begin_hour(struct fixture *fx, const char *mode)
{
    fx_open(fx);
    fx_set(fx, "mailMaxPerHour", "60");
    fx_set(fx, "mailRateMode", mode);
}

static void campaign(struct fixture *fx, const char *recipients, int count)
{
    for (int i = 0; i < count; i++) {
        fx_enqueue(fx, &(struct mail){.recipients = recipients, .body = "x", .priority = CAMPAIGN});
    }
}

/* A claim of so many mails, of which the first ones have priority 0; all are sent. */
static void check_claim(struct fixture *fx, size_t urgent, size_t others)
{
    assert_int_equal(fx_claim(fx), urgent + others);
    for (size_t i = 0; i < urgent + others; i++) {
        assert_int_equal(fx->claim.jobs[i].priority, i < urgent ? 0 : CAMPAIGN);
    }
    settle_all(fx);
}

/* With 60 an hour the burst is 5, and 2 of them are kept. */
static void test_goes_at_once(void **state)
{
    (void)state;
    struct fixture fx;
    begin_hour(&fx, "average");
    campaign(&fx, "a@b.c", 100);
    check_claim(&fx, 0, 3);
    assert_int_equal(fx.claim.end, MQ_CLAIM_TOKENS);
    assert_int_equal(fx.claim.resume_s, START + 60);
    assert_true(fx.claim.spare);
    for (int i = 0; i < 2; i++) {
        fx_mail(&fx, "urgent@b.c");
        check_claim(&fx, 1, 0);
    }
    assert_int_equal(fx.claim.resume_s, START + 180); /* the reserve fills up first */
    fx_mail(&fx, "urgent@b.c");
    check_claim(&fx, 0, 0);
    assert_int_equal(fx.claim.resume_s, START + 60);
    assert_false(fx.claim.spare);
    fx.now_s = START + 60;
    check_claim(&fx, 1, 0); /* on the next token */
    fx.now_s = START + 239;
    check_claim(&fx, 0, 0);
    fx.now_s = START + 240;
    check_claim(&fx, 0, 1);
    fx_close(&fx);
}

/* Whatever is kept, a campaign gets its tokens one by one; other mail takes the next one. */
static void test_burst_of_one(void **state)
{
    (void)state;
    struct fixture fx;
    begin_hour(&fx, "average");
    fx_set(&fx, "mailBurst", "1");
    fx_set(&fx, "mailReserve", "50");
    assert_int_equal(fx_stats(&fx).reserve, 0);
    campaign(&fx, "a@b.c", 10);
    check_claim(&fx, 0, 1);
    assert_int_equal(fx.claim.resume_s, START + 60);
    fx_mail(&fx, "urgent@b.c");
    check_claim(&fx, 0, 0);
    assert_int_equal(fx.claim.resume_s, START + 60);
    fx.now_s = START + 60;
    check_claim(&fx, 1, 0);
    fx.now_s = START + 120;
    check_claim(&fx, 0, 1);
    fx_close(&fx);
}

/* A mail to several goes to as many as the reserve leaves; one of priority 0 to all. */
static void test_recipients(void **state)
{
    (void)state;
    struct fixture fx;
    begin_hour(&fx, "average");
    fx_set(&fx, "mailReserve", "3");
    campaign(&fx, "a@b.c b@b.c c@b.c d@b.c", 1);
    assert_int_equal(fx_claim(&fx), 1);
    assert_int_equal(fx.claim.jobs[0].targets.count, 2);
    assert_int_equal(fx.claim.jobs[0].paid, 2);
    fx_settle(&fx, 0, "aa..");
    fx_mail(&fx, "a@b.c b@b.c c@b.c");
    assert_int_equal(fx_claim(&fx), 1);
    assert_int_equal(fx.claim.jobs[0].targets.count, 3);
    fx_settle(&fx, 0, "aaa");
    fx.now_s += 240;
    assert_int_equal(fx_claim(&fx), 1);
    assert_int_equal(fx.claim.jobs[0].targets.count, 1);
    fx_close(&fx);
}

/* The recipients that composing finds are paid for without the reserve, too. */
static void test_composed(void **state)
{
    (void)state;
    struct fixture fx;
    bool lost;
    begin_hour(&fx, "average");
    fx_enqueue(&fx, &(struct mail){.reference = "R", .priority = CAMPAIGN});
    assert_int_equal(fx_claim(&fx), 1);
    struct mq_job *job = &fx.claim.jobs[0];
    job->envelope_from = strdup("f@a.x");
    for (int i = 0; i < 5; i++) {
        char address[] = {(char)('a' + i), '@', 'b', '.', 'c', 0};
        assert_true(mq_strings_add(&job->recipients, mq_str_of(address)));
    }
    assert_int_equal(mq_queue_set_envelope(fx.queue, job, NULL, &lost, &fx.err), MQ_OK);
    assert_int_equal(job->targets.count, 3);
    fx_close(&fx);
}

/* In strict mode the reserve is free in each hour. */
static void test_strict(void **state)
{
    (void)state;
    struct fixture fx;
    begin_hour(&fx, "strict");
    fx_set(&fx, "mailBurst", "60");
    campaign(&fx, "a@b.c", 300);
    check_claim(&fx, 0, 58);
    fx.now_s += 1800;
    fx_mail(&fx, "urgent@b.c");
    check_claim(&fx, 1, 0);
    assert_int_equal(fx.claim.resume_s, START + 3601);
    assert_true(fx.claim.spare);
    fx.now_s = START + 3601;
    check_claim(&fx, 0, 57); /* the urgent one still counts */
    fx_set(&fx, "mailReserve", "0");
    check_claim(&fx, 0, 2);
    fx_set(&fx, "mailReserve", "1000");
    fx.now_s += 7200;
    check_claim(&fx, 0, 1);
    fx_close(&fx);
}

/* ---- limits in windows ---- */

static void test_windows(void **state)
{
    (void)state;
    struct fixture fx;
    begin(&fx, "20/1h, 500/1d mails", "strict");
    campaign(&fx, "a@b.c b@b.c", 100);
    assert_int_equal(fx_claim(&fx), 9); /* 18 of 20 recipients */
    assert_string_equal(fx.claim.reason, "20/1h");
    for (size_t i = 0; i < 9; i++) {
        fx_settle(&fx, i, "aa");
    }
    fx_mail(&fx, "urgent@b.c");
    check_claim(&fx, 1, 0);
    fx_set(&fx, "mailLimits", "500/1d mails");
    fx_set(&fx, "mailReserve", "480");
    assert_int_equal(fx_claim(&fx), 10);
    assert_string_equal(fx.claim.reason, "500/1d mails");
    fx_close(&fx);
}

/* Mail that a sender's limit keeps is put back until the reserve is free beside it. */
static void test_sender(void **state)
{
    (void)state;
    struct fixture fx;
    begin(&fx, "60/1h per sender", "average");
    campaign(&fx, "a@b.c", 5);
    check_claim(&fx, 0, 3);
    assert_int_equal(fx_int(&fx, "SELECT count(*) FROM mail_queue WHERE waits_for IS NOT NULL"), 2);
    assert_int_equal(fx_int(&fx, "SELECT min(next_attempt_at) FROM mail_queue"), START + 60);
    fx_mail(&fx, "urgent@b.c");
    check_claim(&fx, 1, 0);
    fx_close(&fx);
}

static void test_domain(void **state)
{
    (void)state;
    struct fixture fx;
    begin(&fx, "6/1h per recipient domain", "strict");
    campaign(&fx, "a@b.c", 10);
    campaign(&fx, "a@other.x", 2);
    check_claim(&fx, 0, 6); /* 4 of 6, and 2 to the other domain */
    fx_mail(&fx, "urgent@b.c");
    check_claim(&fx, 1, 0);
    fx_close(&fx);
}

/* ---- what is told ---- */

static int64_t expected_at(struct fixture *fx, int64_t id)
{
    struct mq_job job;
    bool found = false;
    assert_int_equal(mq_queue_job(fx->queue, id, &job, &found, &fx->err), MQ_OK);
    assert_int_equal(mq_queue_expect(fx->queue, &job, 1, &fx->err), MQ_OK);
    int64_t at_s = job.expected_at;
    mq_job_clear(&job);
    return at_s;
}

static void test_told(void **state)
{
    (void)state;
    struct fixture fx;
    begin_hour(&fx, "average");
    campaign(&fx, "a@b.c", 5);
    assert_int_equal(fx_stats(&fx).reserve, 2);
    assert_int_equal(fx_stats(&fx).empty_in_s, 120);
    assert_int_equal(expected_at(&fx, 3), START);
    assert_int_equal(expected_at(&fx, 5), START + 120);
    check_claim(&fx, 0, 3);
    assert_int_equal(expected_at(&fx, 5), START + 120);
    int64_t urgent = fx_mail(&fx, "urgent@b.c");
    assert_int_equal(expected_at(&fx, urgent), START);
    assert_int_equal(expected_at(&fx, 5), START + 180);
    fx_set(&fx, "mailReserve", "0");
    assert_int_equal(fx_stats(&fx).empty_in_s, 60);
    fx_close(&fx);
    begin(&fx, "10/1h", "strict");
    campaign(&fx, "a@b.c", 20);
    assert_int_equal(expected_at(&fx, 8), START);
    assert_int_equal(expected_at(&fx, 16), START + 3601);
    assert_int_equal(expected_at(&fx, 17), START + 2 * 3601);
    fx_close(&fx);
}

/* ---- days ---- */

struct days {
    struct fixture fx;
    int64_t sent, urgent;
    int64_t next_urgent_s; /* 0: there is none */
    uint64_t seed;
};

/* Claims, sends and stocks up. An urgent mail that was just stored must be among what goes. */
static void work(struct days *d, bool stored)
{
    size_t n = fx_claim(&d->fx);
    assert_true(!stored || (n > 0 && d->fx.claim.jobs[0].priority == 0));
    d->sent += (int64_t)n;
    settle_all(&d->fx);
    campaign(&d->fx, "a@b.c", (int)n);
}

static void run_days(struct days *d, int64_t hours)
{
    int64_t end_s = START + hours * 3600;
    campaign(&d->fx, "a@b.c", 200);
    while (d->fx.now_s < end_s) {
        bool stored = d->next_urgent_s > 0 && d->fx.now_s >= d->next_urgent_s;
        if (stored) {
            fx_mail(&d->fx, "urgent@b.c");
            d->urgent++;
            d->seed = d->seed * 6364136223846793005U + 1442695040888963407U;
            d->next_urgent_s = d->fx.now_s + 35 + (int64_t)((d->seed >> 33) % 300);
        }
        work(d, stored);
        int64_t next_s = d->fx.claim.resume_s;
        assert_true(next_s > d->fx.now_s);
        d->fx.now_s = d->next_urgent_s && d->next_urgent_s < next_s ? d->next_urgent_s : next_s;
    }
}

/* Each second of the limit is used, with a campaign alone and beside urgent mail. */
static void test_rate(void **state)
{
    (void)state;
    for (int mixed = 0; mixed < 2; mixed++) {
        struct days d = {.next_urgent_s = mixed ? START + 30 : 0, .seed = 7};
        begin_hour(&d.fx, "average");
        run_days(&d, 100);
        assert_in_range(d.sent, 60 * 100 - 2, 60 * 100 + 5);
        assert_true(mixed ? d.urgent > 1500 : d.urgent == 0);
        fx_close(&d.fx);
    }
}

/* Leases that end can make room, but none beside what the reserve and the ledger have. */
static void test_leases_fill_the_rest(void **state)
{
    (void)state;
    struct fixture fx;
    begin(&fx, "4/1h", "strict");
    fx_set(&fx, "mailReserve", "2");
    for (int i = 0; i < 4; i++) {
        fx_mail(&fx, "urgent@b.c");
    }
    fx.request.limit = 2;
    check_claim(&fx, 2, 0);
    assert_int_equal(fx_claim(&fx), 2); /* under way */
    campaign(&fx, "a@b.c", 1);
    assert_int_equal(fx_claim(&fx), 0);
    assert_int_equal(fx.claim.end, MQ_CLAIM_TOKENS);
    assert_int_equal(fx.claim.resume_s, START + 3603);
    fx_close(&fx);
}

/* In strict mode the reserve is what the hour loses. */
static void test_strict_rate(void **state)
{
    (void)state;
    struct days d = {.next_urgent_s = 0};
    begin_hour(&d.fx, "strict");
    run_days(&d, 50);
    assert_in_range(d.sent, 57 * 50, 58 * 50 + 3);
    fx_close(&d.fx);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_goes_at_once), cmocka_unit_test(test_burst_of_one),
        cmocka_unit_test(test_recipients),   cmocka_unit_test(test_composed),
        cmocka_unit_test(test_strict),       cmocka_unit_test(test_windows),
        cmocka_unit_test(test_sender),       cmocka_unit_test(test_domain),
        cmocka_unit_test(test_told),         cmocka_unit_test(test_rate),
        cmocka_unit_test(test_strict_rate),  cmocka_unit_test(test_leases_fill_the_rest),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
