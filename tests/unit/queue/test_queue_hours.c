/* Mail outside its sending hours: put back, brought forward when the hours change, and told. */
#include "policy/zone.h"
#include "queue/config/keys.h"
#include "queue_fixture.h"

#define HOUR_S 3600
/* START is a Friday, 08:00 UTC. */
#define CLOSED "news: Mo-Fr 09:00-18:00 UTC"

static size_t asked;

/* One zone, always an hour east; and one whose changes are too many to be known. */
static enum mq_status load_zone(void *context, const char *name, int64_t from_s,
                                struct mq_zone *out, struct mq_error *err)
{
    assert_ptr_equal(context, &asked);
    asked++;
    if (strcmp(name, "Test/East") != 0) {
        return mq_error_set(err, MQ_CONFIG, NULL, "there is no time zone \"%s\"", name);
    }
    *out = (struct mq_zone){{{from_s, HOUR_S}}, 1, from_s + MQ_ZONE_AHEAD_S};
    return MQ_OK;
}

static const struct mq_zone_source source = {load_zone, &asked};

static void open_queue(struct fixture *fx, const char *hours)
{
    asked = 0;
    fx_init(fx);
    fx->options.zones = &source;
    fx_open_with(fx, NULL);
    if (hours) {
        fx_set(fx, "mailHours", hours);
    }
}

static int64_t mail_of(struct fixture *fx, const char *type)
{
    return fx_enqueue(fx, &(struct mail){.type = type,
                                         .recipients = "a@example.org",
                                         .body = "Subject: x\r\n\r\nx\r\n"});
}

/* Claims until nothing more is to be done at once, as a worker does. */
static size_t claim_all(struct fixture *fx)
{
    size_t count = fx_claim(fx);
    while (count == 0 && fx->claim.end == MQ_CLAIM_MORE) {
        count = fx_claim(fx);
    }
    return count;
}

static int64_t put_back(struct fixture *fx)
{
    return fx_int(fx, "SELECT count(*) FROM mail_queue WHERE parked_for = 'hours'");
}

static void test_put_back_until_the_opening(void **state)
{
    struct fixture fx;
    (void)state;
    open_queue(&fx, CLOSED);
    mail_of(&fx, "news");
    mail_of(&fx, "login");
    assert_int_equal(claim_all(&fx), 1);
    assert_string_equal(fx.claim.jobs[0].mail_type, "login");
    fx_kind(&fx, 0, MQ_OUTCOME_DELIVERED, NULL);
    assert_int_equal(fx_int(&fx, "SELECT next_attempt_at FROM mail_queue"), START + HOUR_S);
    fx_assert_text(&fx, "SELECT status || ' ' || attempts || ' ' || parked_for FROM mail_queue",
                   "pending 0 hours");
    assert_int_equal(claim_all(&fx), 0);
    assert_int_equal(fx.claim.end, MQ_CLAIM_EMPTY);
    assert_int_equal(fx.claim.resume_s, START + HOUR_S);
    fx.now_s = START + HOUR_S - 1;
    assert_int_equal(claim_all(&fx), 0);
    fx.now_s++;
    assert_int_equal(claim_all(&fx), 1);
    fx_kind(&fx, 0, MQ_OUTCOME_DEFERRED, "451 later");
    assert_int_equal(put_back(&fx), 0);
    fx_close(&fx);
}

/* A failed mail keeps its error and its attempts; its next attempt is within the hours. */
static void test_a_failed_mail(void **state)
{
    struct fixture fx;
    (void)state;
    open_queue(&fx, "*: 07:00-08:01 UTC");
    mail_of(&fx, "news");
    assert_int_equal(claim_all(&fx), 1);
    fx_kind(&fx, 0, MQ_OUTCOME_DEFERRED, "451 later");
    fx.now_s += 600;
    assert_int_equal(claim_all(&fx), 0);
    fx_assert_text(&fx,
                   "SELECT status || ' ' || attempts || ' ' || last_error || ' ' || "
                   "(next_attempt_at - 1800000000) FROM mail_queue",
                   "failed 1 451 later 82800");
    fx_close(&fx);
}

/* However much closed mail is first, other mail behind it is claimed, and no transaction is long.
 */
static void test_many(void **state)
{
    struct fixture fx;
    (void)state;
    open_queue(&fx, CLOSED);
    for (int i = 0; i < 2500; i++) {
        mail_of(&fx, "news");
    }
    mail_of(&fx, "login");
    fx_claim(&fx); /* loads the hours */
    fx.request.limit = 1;
    int64_t before = 0;
    while (fx_claim(&fx) == 0) {
        assert_int_equal(fx.claim.end, MQ_CLAIM_MORE);
        assert_in_range(put_back(&fx) - before, 1, 1000);
        before = put_back(&fx);
    }
    assert_int_equal(put_back(&fx), 2500);
    assert_string_equal(fx.claim.jobs[0].mail_type, "login");
    fx_close(&fx);
}

/* The tokens do not keep closed mail at the head, and are not spent for it. */
static void test_with_a_limit(void **state)
{
    struct fixture fx;
    (void)state;
    open_queue(&fx, CLOSED);
    fx_set(&fx, "mailMaxPerHour", "1");
    mail_of(&fx, "news");
    mail_of(&fx, "login");
    mail_of(&fx, "news");
    mail_of(&fx, "login");
    assert_int_equal(claim_all(&fx), 1);
    assert_string_equal(fx.claim.jobs[0].mail_type, "login");
    assert_int_equal(claim_all(&fx), 0);
    assert_int_equal(fx.claim.end, MQ_CLAIM_TOKENS);
    assert_int_equal(fx.claim.resume_s, START + HOUR_S);
    assert_int_equal(put_back(&fx), 2);
    fx_close(&fx);
}

/* ---- the hours change ---- */

static void test_earlier_hours_count_at_once(void **state)
{
    struct fixture fx;
    (void)state;
    open_queue(&fx, CLOSED);
    for (int i = 0; i < 2100; i++) {
        mail_of(&fx, "news");
    }
    int64_t later = fx_enqueue(&fx, &(struct mail){.type = "news",
                                                   .recipients = "a@example.org",
                                                   .body = "Subject: x\r\n\r\nx\r\n",
                                                   .send_at = START + HOUR_S});
    assert_int_equal(claim_all(&fx), 0);
    assert_int_equal(put_back(&fx), 2100);
    fx_set(&fx, "mailHours", "news: Mo-Fr 08:00-18:00 UTC");
    fx.request.limit = 1000;
    size_t sum = 0;
    for (size_t n = claim_all(&fx); n > 0; n = claim_all(&fx)) {
        for (size_t i = 0; i < n; i++) {
            assert_true(fx.claim.jobs[i].id != later);
        }
        sum += n;
    }
    assert_int_equal(sum, 2100);
    assert_int_equal(put_back(&fx), 0);
    assert_int_equal(fx_int(&fx, "SELECT next_attempt_at FROM mail_queue WHERE status = 'pending'"),
                     START + HOUR_S);
    fx_close(&fx);
}

static void test_no_hours_any_more(void **state)
{
    struct fixture fx;
    (void)state;
    open_queue(&fx, CLOSED);
    mail_of(&fx, "news");
    assert_int_equal(claim_all(&fx), 0);
    assert_int_equal(fx_int(&fx, "SELECT count(*) FROM config WHERE key = 'mailHoursKept'"), 1);
    fx_set(&fx, "mailHours", NULL);
    assert_int_equal(claim_all(&fx), 1);
    claim_all(&fx);
    assert_int_equal(fx_int(&fx, "SELECT count(*) FROM config WHERE key = 'mailHoursKept'"), 0);
    fx_close(&fx);
}

/* Twice in one walk: what was put back by the second rules comes forward by the third. */
static void test_changed_again_meanwhile(void **state)
{
    struct fixture fx;
    (void)state;
    open_queue(&fx, CLOSED);
    for (int i = 0; i < 1500; i++) {
        mail_of(&fx, "news");
    }
    assert_int_equal(claim_all(&fx), 0);
    fx_set(&fx, "mailHours", "news: Mo-Fr 10:00-18:00 UTC");
    fx_claim(&fx); /* loads these hours */
    fx_claim(&fx); /* the first 1,000 come forward, and go back until 10 */
    fx_set(&fx, "mailHours", "news: Mo-Fr 08:00-18:00 UTC");
    fx.request.limit = 1000;
    size_t sum = 0;
    for (size_t n = claim_all(&fx); n > 0; n = claim_all(&fx)) {
        sum += n;
    }
    assert_int_equal(sum, 1500);
    fx_close(&fx);
}

/* Another process goes on where the first one stopped: it begins again. */
static void test_stopped_meanwhile(void **state)
{
    struct fixture fx;
    (void)state;
    open_queue(&fx, CLOSED);
    for (int i = 0; i < 1500; i++) {
        mail_of(&fx, "news");
    }
    assert_int_equal(claim_all(&fx), 0);
    fx_set_raw(&fx, "mailHours", "news: Mo-Fr 09:30-18:00 UTC");
    fx_claim(&fx);
    fx_claim(&fx);
    fx_set_raw(&fx, "mailHours", "news: Mo-Fr 08:00-18:00 UTC");
    fx_claim(&fx);
    fx_claim(&fx);
    fx_sql(&fx, "UPDATE mail_queue SET status = 'pending', locked_by = NULL, locked_until = NULL");
    fx_set_raw(&fx, "mailHours", "news: Mo-Fr 08:00-17:00 UTC");
    while (claim_all(&fx) > 0) {
    }
    assert_int_equal(fx_int(&fx, "SELECT count(*) FROM mail_queue WHERE status = 'sending'"), 1500);
    fx_close(&fx);
}

/* ---- zones ---- */

static void test_a_zone(void **state)
{
    struct fixture fx;
    (void)state;
    open_queue(&fx, "news: 10:00-11:00 Test/East");
    mail_of(&fx, "news");
    assert_int_equal(claim_all(&fx), 0);
    assert_int_equal(fx_int(&fx, "SELECT next_attempt_at FROM mail_queue"), START + HOUR_S);
    size_t before = asked;
    for (int i = 0; i < 10; i++) {
        claim_all(&fx);
    }
    assert_int_equal(asked, before); /* kept */
    fx.now_s += 30 * MQ_DAY_S;       /* long before the end of what is known: renewed */
    claim_all(&fx);
    assert_int_equal(asked, before + 1);
    fx_close(&fx);
}

static void test_an_unknown_zone(void **state)
{
    struct fixture fx;
    (void)state;
    open_queue(&fx, NULL);
    const char *text = "news: 10:00-11:00 Europe/Bonn";
    assert_int_equal(mq_queue_set_config(fx.queue, "mailHours", text, &fx.err), MQ_INVALID);
    assert_string_equal(fx.err.text,
                        "mailHours: there is no time zone \"Europe/Bonn\"; allowed are the names "
                        "that PHP knows (DateTimeZone::listIdentifiers())");
    fx_set_raw(&fx, "mailHours", text);
    mail_of(&fx, "login");
    for (int i = 0; i < 3; i++) {
        assert_int_equal(claim_all(&fx), 0);
    }
    assert_int_equal(fx.claim.status, MQ_CONFIG);
    assert_string_equal(fx.claim.error.field, "mailHours");
    assert_string_equal(fx.claim.error.text,
                        "config key mailHours cannot be used: there is no time zone "
                        "\"Europe/Bonn\". Nothing is sent until it is corrected (`mailqueue config "
                        "mailHours VALUE`, or `mailqueue config --unset mailHours`)");
    struct mq_stats stats;
    assert_int_equal(mq_queue_stats(fx.queue, 100, &stats, &fx.err), MQ_CONFIG);
    fx_set(&fx, "mailHours", "news: 10:00-11:00 Test/East");
    assert_int_equal(claim_all(&fx), 1);
    fx_close(&fx);
}

static void test_unreadable_hours(void **state)
{
    struct fixture fx;
    (void)state;
    open_queue(&fx, NULL);
    assert_int_equal(mq_queue_set_config(fx.queue, "mailHours", "Mo-Fr 08:00-18:00", &fx.err),
                     MQ_INVALID);
    assert_string_equal(
        fx.err.text, "mailHours cannot be \"Mo-Fr 08:00-18:00\"; \"08:00-18:00\" is not followed "
                     "by a time zone: end the rule with one, such as Europe/Berlin or UTC; "
                     "allowed values: [types:] days times zone; …");
    fx_set_raw(&fx, "mailHours", "Mo-Fr 08:00-18:00");
    mail_of(&fx, "login");
    assert_int_equal(claim_all(&fx), 0);
    assert_int_equal(fx.claim.status, MQ_CONFIG);
    assert_non_null(strstr(fx.claim.error.text, "is not followed by a time zone"));
    fx_close(&fx);
}

/* ---- for people ---- */

static void test_expected(void **state)
{
    struct fixture fx;
    (void)state;
    open_queue(&fx, CLOSED "; digest: Mo 10:00-11:00 UTC");
    int64_t ids[] = {mail_of(&fx, "news"), mail_of(&fx, "login"), mail_of(&fx, "digest")};
    int64_t expected[] = {START + HOUR_S, START, START + 3 * MQ_DAY_S + 2 * HOUR_S};
    for (int round = 0; round < 2; round++) { /* before and after a claim */
        struct mq_job_list list = {0};
        struct mq_job_filter filter = {.state = -1, .limit = 10, .expected = true};
        assert_int_equal(mq_queue_jobs(fx.queue, &filter, &list, &fx.err), MQ_OK);
        for (size_t i = 0; i < list.count; i++) {
            const struct mq_job *job = &list.jobs[i];
            assert_int_equal(job->id, ids[i]);
            if (job->state == MQ_PENDING) {
                assert_int_equal(job->expected_at, expected[i]);
                assert_int_equal(job->waits_for != NULL, i != 1);
            }
        }
        mq_job_list_clear(&list);
        assert_int_equal(claim_all(&fx), round == 0);
    }
    /* The next claim brings it forward, so it does not wait for the old opening. */
    fx_set(&fx, "mailHours", "news: Fr 08:30-10:00 UTC");
    struct mq_job job = {0};
    bool found = false;
    assert_int_equal(mq_queue_job(fx.queue, ids[0], &job, &found, &fx.err), MQ_OK);
    assert_int_equal(mq_queue_expect(fx.queue, &job, 1, &fx.err), MQ_OK);
    assert_int_equal(job.expected_at, START + HOUR_S / 2);
    mq_job_clear(&job);
    fx_close(&fx);
}

static void test_closed_rules(void **state)
{
    struct fixture fx;
    struct mq_stats stats;
    (void)state;
    open_queue(&fx, "a, b: 09:00-10:00 UTC; c: 08:00-09:00 UTC; every type but d: Sa Test/East");
    assert_int_equal(mq_queue_stats(fx.queue, 100, &stats, &fx.err), MQ_OK);
    assert_int_equal(stats.closed_count, 2);
    assert_string_equal(stats.closed[0].types, "a, b");
    assert_int_equal(stats.closed[0].open_s, START + HOUR_S);
    assert_string_equal(stats.closed[1].types, "every type but d");
    assert_int_equal(stats.closed[1].open_s, START + 15 * HOUR_S);
    mq_stats_clear(&stats);
    fx_set(&fx, "mailHours", NULL);
    assert_int_equal(mq_queue_stats(fx.queue, 100, &stats, &fx.err), MQ_OK);
    assert_int_equal(stats.closed_count, 0);
    mq_stats_clear(&stats);
    fx_close(&fx);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_put_back_until_the_opening),
        cmocka_unit_test(test_a_failed_mail),
        cmocka_unit_test(test_many),
        cmocka_unit_test(test_with_a_limit),
        cmocka_unit_test(test_earlier_hours_count_at_once),
        cmocka_unit_test(test_no_hours_any_more),
        cmocka_unit_test(test_changed_again_meanwhile),
        cmocka_unit_test(test_stopped_meanwhile),
        cmocka_unit_test(test_a_zone),
        cmocka_unit_test(test_an_unknown_zone),
        cmocka_unit_test(test_unreadable_hours),
        cmocka_unit_test(test_expected),
        cmocka_unit_test(test_closed_rules),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
