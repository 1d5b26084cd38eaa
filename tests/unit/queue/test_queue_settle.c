/* How each outcome changes a job. */
#include "queue_fixture.h"

static int64_t row(struct fixture *fx, const char *column)
{
    char sql[128];
    snprintf(sql, sizeof(sql), "SELECT %s FROM mail_queue WHERE id = 1", column);
    return fx_int(fx, sql);
}

static void row_text(struct fixture *fx, const char *column, const char *expected)
{
    char sql[128];
    snprintf(sql, sizeof(sql), "SELECT %s FROM mail_queue WHERE id = 1", column);
    fx_assert_text(fx, sql, expected);
}

/* Checks what holds for every row that is not in sending. */
static void assert_unlocked(struct fixture *fx)
{
    assert_int_equal(fx_int(fx, "SELECT count(*) FROM mail_queue WHERE status <> 'sending' AND "
                                "(paid <> 0 OR locked_by IS NOT NULL OR locked_until IS NOT NULL)"),
                     0);
}

static void test_three_outcomes(void **state)
{
    (void)state;
    struct fixture fx;
    fx_open(&fx);
    fx_mail(&fx, "a@example.org b@example.org c@example.org");
    fx_claim(&fx);
    fx_settle(&fx, 0, "alr");
    assert_string_equal(fx_events(&fx), "sent refused try_later");
    assert_int_equal(fx.events.items[2].next_attempt_at, START + 60);
    row_text(&fx, "status", "failed");
    row_text(&fx, "recipients", "[\"b@example.org\"]");
    row_text(&fx, "refused", "{\"c@example.org\":\"550 5.1.1 no such user\"}");
    assert_int_equal(row(&fx, "attempts"), 1);
    assert_int_equal(row(&fx, "next_attempt_at"), START + 60);
    assert_int_equal(row(&fx, "last_attempt_at"), START);
    assert_unlocked(&fx);
    assert_int_equal(fx_claim(&fx), 0);
    assert_int_equal(fx.claim.resume_s, START + 60);
    fx.now_s += 60;
    assert_int_equal(fx_claim(&fx), 1);
    assert_int_equal(fx.claim.jobs[0].targets.count, 1);
    fx_settle(&fx, 0, "a"); /* no recipient left, one was refused before */
    assert_string_equal(fx_events(&fx), "sent parked");
    row_text(&fx, "status", "parked");
    row_text(&fx, "parked_for", "refused");
    row_text(&fx, "recipients", "[]");
    assert_unlocked(&fx);
    fx_close(&fx);
}

static void test_refused_and_retried(void **state)
{
    (void)state;
    struct fixture fx;
    int64_t changed = 0;
    fx_open(&fx);
    fx_mail(&fx, "a@example.org b@example.org");
    fx_claim(&fx);
    fx_settle(&fx, 0, "ar");
    assert_string_equal(fx_events(&fx), "sent refused parked");
    row_text(&fx, "last_error", "550 5.1.1 no such user");
    assert_int_equal(mq_queue_retry(fx.queue, NULL, true, &changed, &fx.err), MQ_OK);
    assert_int_equal(changed, 1);
    row_text(&fx, "status", "pending");
    row_text(&fx, "recipients", "[\"b@example.org\"]");
    row_text(&fx, "refused", NULL);
    row_text(&fx, "parked_for", NULL);
    row_text(&fx, "last_error", "550 5.1.1 no such user");
    assert_int_equal(row(&fx, "attempts"), 0);
    assert_int_equal(fx_claim(&fx), 1);
    fx_settle(&fx, 0, "a");
    assert_int_equal(fx_int(&fx, "SELECT count(*) FROM mail_queue"), 0);
    fx_close(&fx);
}

static void test_untried_only(void **state)
{
    (void)state;
    struct fixture fx;
    fx_open(&fx);
    fx_mail(&fx, "a@example.org b@example.org");
    fx_claim(&fx);
    fx_settle(&fx, 0, "a.");
    assert_string_equal(fx_events(&fx), "sent");
    row_text(&fx, "status", "pending");
    row_text(&fx, "recipients", "[\"b@example.org\"]");
    assert_int_equal(row(&fx, "attempts"), 0);
    assert_int_equal(row(&fx, "next_attempt_at"), START);
    fx_claim(&fx);
    fx_settle(&fx, 0, "l");
    fx.now_s += 60;
    fx_claim(&fx);
    assert_int_equal(fx.claim.jobs[0].attempts, 2);
    fx_settle(&fx, 0, ".");
    assert_string_equal(fx_events(&fx), "released");
    row_text(&fx, "status", "failed");
    assert_int_equal(row(&fx, "attempts"), 1);
    assert_int_equal(row(&fx, "next_attempt_at"), START + 60);
    assert_int_equal(row(&fx, "last_attempt_at"), START);
    fx_close(&fx);
}

/* Two of six recipients are reached at a time: each gets all its tries before the job is parked. */
static void test_partly_tried(void **state)
{
    (void)state;
    struct fixture fx;
    fx_open(&fx);
    fx_enqueue(&fx, &(struct mail){.recipients = "a@x.example b@x.example c@x.example d@x.example "
                                                 "e@x.example f@x.example",
                                   .max_attempts = 2});
    for (int i = 1; i <= 6; i++) {
        row_text(&fx, "status", i == 1 ? "pending" : "failed");
        fx_claim(&fx);
        fx_settle(&fx, 0, "ll....");
        fx.now_s += 3600;
        assert_int_equal(row(&fx, "attempts"), i);
    }
    row_text(&fx, "status", "parked");
    row_text(&fx, "parked_for", "exhausted");
    row_text(&fx, "recipients",
             "[\"a@x.example\",\"b@x.example\",\"c@x.example\",\"d@x.example\",\"e@x.example\","
             "\"f@x.example\"]");
    fx_close(&fx);
}

/* A cycle that shortens the list does not count as an attempt: the list's allowance would shrink
 * with it. */
static void test_partly_tried_with_progress(void **state)
{
    (void)state;
    struct fixture fx;
    fx_open(&fx);
    fx_enqueue(&fx, &(struct mail){.recipients = "a@x.example b@x.example c@x.example d@x.example",
                                   .max_attempts = 1});
    fx_claim(&fx);
    fx_settle(&fx, 0, "al..");
    assert_string_equal(fx_events(&fx), "sent try_later");
    row_text(&fx, "recipients", "[\"c@x.example\",\"d@x.example\",\"b@x.example\"]");
    assert_int_equal(row(&fx, "attempts"), 0);
    assert_int_equal(row(&fx, "next_attempt_at"), START + 60);
    fx.now_s += 60;
    fx_claim(&fx);
    fx_settle(&fx, 0, "ar.");
    fx_claim(&fx);
    fx_settle(&fx, 0, "l");
    row_text(&fx, "status", "parked");
    row_text(&fx, "recipients", "[\"b@x.example\"]");
    assert_int_equal(row(&fx, "attempts"), 1);
    fx_close(&fx);
}

static void test_release(void **state)
{
    (void)state;
    struct fixture fx;
    fx_open(&fx);
    fx_mail(&fx, "a@example.org");
    fx_claim(&fx);
    fx.now_s += 5;
    fx_kind(&fx, 0, MQ_OUTCOME_RELEASED, NULL);
    assert_string_equal(fx_events(&fx), "released");
    row_text(&fx, "status", "pending");
    assert_int_equal(row(&fx, "attempts"), 0);
    assert_int_equal(row(&fx, "next_attempt_at"), START);
    assert_int_equal(row(&fx, "last_attempt_at IS NULL"), 1);
    row_text(&fx, "last_error", NULL);
    assert_unlocked(&fx);
    fx_close(&fx);
}

static void test_uncertain(void **state)
{
    (void)state;
    struct fixture fx;
    fx_open(&fx);
    fx_mail(&fx, "a@example.org");
    fx_claim(&fx);
    fx_settle(&fx, 0, "u");
    assert_string_equal(fx_events(&fx), "uncertain");
    assert_int_equal(fx.events.items[0].next_attempt_at, START + 60);
    row_text(&fx, "status", "failed");
    assert_int_equal(row(&fx, "uncertain"), 1);
    assert_int_equal(row(&fx, "attempts"), 1);
    fx.now_s += 60;
    fx_claim(&fx);
    fx.request.on_uncertain = MQ_UNCERTAIN_HOLD;
    fx_settle(&fx, 0, "u");
    assert_string_equal(fx_events(&fx), "uncertain parked");
    row_text(&fx, "parked_for", "uncertain");
    assert_int_equal(row(&fx, "uncertain"), 2);
    int64_t changed = -1;
    assert_int_equal(mq_queue_retry(fx.queue, NULL, true, &changed, &fx.err), MQ_OK);
    assert_int_equal(changed, 0); /* each one is refused or exhausted */
    int64_t id = 1;
    assert_int_equal(mq_queue_retry(fx.queue, &(struct mq_ids){&id, 1}, true, &changed, &fx.err),
                     MQ_OK);
    assert_int_equal(changed, 1);
    assert_int_equal(row(&fx, "uncertain"), 2);
    fx_close(&fx);
}

/* The row names those that may have it, until a later attempt is clear about them. */
static void test_uncertain_for_some(void **state)
{
    (void)state;
    struct fixture fx;
    fx_open(&fx);
    fx_mail(&fx, "a@example.org b@example.org c@example.org");
    fx_claim(&fx);
    fx_settle(&fx, 0, "ulr");
    row_text(&fx, "uncertain_to", "[\"a@example.org\"]");
    fx.now_s += 60;
    fx_claim(&fx);
    fx_settle(&fx, 0, ".u");
    row_text(&fx, "uncertain_to", "[\"a@example.org\",\"b@example.org\"]");
    fx.now_s += 300;
    fx_claim(&fx);
    fx_settle(&fx, 0, "al");
    row_text(&fx, "uncertain_to", "[\"b@example.org\"]");
    fx.now_s += 3600;
    fx_claim(&fx);
    fx_settle(&fx, 0, "r");
    row_text(&fx, "uncertain_to", NULL);
    fx_close(&fx);
}

static void test_whole_job(void **state)
{
    (void)state;
    struct fixture fx;
    char error[1200];
    fx_open(&fx);
    fx_mail(&fx, "a@example.org b@example.org");
    memset(error, 'x', 499);
    strcpy(error + 499, "\xc3\xa4 tail\n");
    fx_claim(&fx);
    fx_kind(&fx, 0, MQ_OUTCOME_DEFERRED, error);
    assert_string_equal(fx_events(&fx), "try_later");
    assert_int_equal(row(&fx, "length(CAST(last_error AS BLOB))"), 499);
    fx.now_s += 60;
    fx_claim(&fx);
    fx_kind(&fx, 0, MQ_OUTCOME_DEFERRED, "line\r\nline");
    row_text(&fx, "last_error", "line??line");
    fx.now_s += 300;
    fx_claim(&fx);
    fx_kind(&fx, 0, MQ_OUTCOME_REFUSED, "bad template");
    assert_string_equal(fx_events(&fx), "refused parked");
    row_text(&fx, "parked_for", "refused");
    row_text(&fx, "refused",
             "{\"a@example.org\":\"bad template\",\"b@example.org\":\"bad template\"}");
    fx_close(&fx);
}

static void test_composed(void **state)
{
    (void)state;
    struct fixture fx;
    int64_t changed;
    fx_open(&fx);
    fx_enqueue(&fx, &(struct mail){.reference = "R"});
    fx_claim(&fx);
    assert_null(fx.claim.jobs[0].body);
    assert_int_equal(fx.claim.jobs[0].targets.count, 0);
    fx_kind(&fx, 0, MQ_OUTCOME_DEFERRED, "compose threw");
    row_text(&fx, "status", "failed");
    row_text(&fx, "recipients", NULL);
    fx.now_s += 60;
    fx_claim(&fx);
    fx_kind(&fx, 0, MQ_OUTCOME_REFUSED, "no address");
    row_text(&fx, "status", "parked");
    mq_queue_retry(fx.queue, NULL, true, &changed, &fx.err);
    row_text(&fx, "recipients", NULL); /* composed again */
    fx_claim(&fx);
    fx_kind(&fx, 0, MQ_OUTCOME_ORPHAN, NULL);
    assert_string_equal(fx_events(&fx), "orphan");
    assert_int_equal(fx_int(&fx, "SELECT count(*) FROM mail_queue"), 0);
    fx_enqueue(&fx, &(struct mail){.reference = "R"});
    fx_claim(&fx);
    fx_settle(&fx, 0, "a"); /* results[0] applies to all of them */
    assert_int_equal(fx_int(&fx, "SELECT count(*) FROM mail_queue"), 0);
    fx_close(&fx);
}

static void test_set_envelope(void **state)
{
    (void)state;
    struct fixture fx;
    bool lost = true;
    fx_open(&fx);
    fx_enqueue(&fx, &(struct mail){.reference = "R"});
    fx_claim(&fx);
    struct mq_job *job = &fx.claim.jobs[0];
    job->envelope_from = strdup("from@example.org");
    mq_strings_add(&job->recipients, MQ_STR("a@example.org"));
    mq_strings_add(&job->recipients, MQ_STR("b@example.org"));
    assert_int_equal(mq_queue_set_envelope(fx.queue, job, NULL, &lost, &fx.err), MQ_OK);
    assert_false(lost);
    assert_int_equal(job->targets.count, 2);
    row_text(&fx, "recipients", "[\"a@example.org\",\"b@example.org\"]");
    row_text(&fx, "envelope_from", "from@example.org");
    fx_settle(&fx, 0, "al");
    row_text(&fx, "recipients", "[\"b@example.org\"]");
    fx.now_s += 60;
    fx_claim(&fx);
    job = &fx.claim.jobs[0];
    assert_int_equal(job->recipients.count, 1);
    strcpy(job->locked_by, TOKEN_B);
    assert_int_equal(mq_queue_set_envelope(fx.queue, job, NULL, &lost, &fx.err), MQ_OK);
    assert_true(lost);
    mq_strings_clear(&job->recipients);
    assert_int_equal(mq_queue_set_envelope(fx.queue, job, NULL, &lost, &fx.err), MQ_INVALID);
    fx_close(&fx);
}

static void test_stale(void **state)
{
    (void)state;
    struct fixture fx;
    struct mq_claim first;
    fx_open(&fx);
    fx_mail(&fx, "a@example.org");
    fx_claim(&fx);
    first = fx.claim;
    fx.claim = (struct mq_claim){0};
    fx.now_s += 900; /* the lease is over; another worker takes the job */
    fx.request.token = TOKEN_B;
    fx_claim(&fx);
    assert_string_equal(fx_events(&fx), "uncertain");
    fx.now_s += 60;
    assert_int_equal(fx_claim(&fx), 1);
    struct mq_claim second = fx.claim;
    fx.claim = first;
    assert_true(fx_settle(&fx, 0, "a"));
    assert_string_equal(fx_events(&fx), "stale");
    assert_true(fx_settle(&fx, 0, "l"));
    assert_true(fx_kind(&fx, 0, MQ_OUTCOME_RELEASED, NULL));
    row_text(&fx, "status", "sending");
    row_text(&fx, "locked_by", TOKEN_B);
    mq_claim_clear(&first);
    fx.claim = second;
    assert_false(fx_settle(&fx, 0, "a"));
    fx_close(&fx);
}

static void test_renew(void **state)
{
    (void)state;
    struct fixture fx;
    fx_open(&fx);
    fx_mail(&fx, "a@example.org");
    fx_mail(&fx, "b@example.org");
    fx_claim(&fx);
    struct mq_job *jobs[] = {&fx.claim.jobs[0], &fx.claim.jobs[1]};
    strcpy(jobs[1]->locked_by, TOKEN_B);
    fx.now_s += 300;
    assert_int_equal(mq_queue_renew(fx.queue, jobs, 2, 900, &fx.err), MQ_OK);
    assert_int_equal(jobs[0]->locked_until, START + 1200);
    assert_int_equal(jobs[1]->locked_until, 0);
    assert_int_equal(row(&fx, "locked_until"), START + 1200);
    assert_int_equal(fx_int(&fx, "SELECT locked_until FROM mail_queue WHERE id = 2"), START + 900);
    fx_close(&fx);
}

/* Lets a job fail until it parks, and checks each delay to the second. */
static void fail_until_parked(struct mq_backoff backoff, double chance, const int64_t *delays,
                              int attempts)
{
    struct fixture fx;
    fx_init(&fx);
    fx.options.backoff = backoff;
    fx.chance = chance;
    fx_open_with(&fx, NULL);
    fx_mail(&fx, "a@example.org");
    for (int n = 1; n < attempts; n++) {
        assert_int_equal(fx_claim(&fx), 1);
        fx_settle(&fx, 0, "l");
        assert_string_equal(fx_events(&fx), "try_later");
        int64_t next = row(&fx, "next_attempt_at");
        assert_int_equal(next - fx.now_s, delays[n - 1]);
        fx.now_s = next - 1;
        assert_int_equal(fx_claim(&fx), 0);
        fx.now_s = next;
    }
    fx_claim(&fx);
    fx_settle(&fx, 0, "l");
    assert_string_equal(fx_events(&fx), "parked");
    row_text(&fx, "parked_for", "exhausted");
    assert_int_equal(row(&fx, "attempts"), attempts);
    fx_close(&fx);
}

static void test_backoff(void **state)
{
    (void)state;
    static const int64_t steps[] = {60, 300, 900, 3600, 3600, 3600, 3600, 3600, 3600};
    static const int64_t middle[] = {60, 120, 240, 480};
    static const int64_t least[] = {48, 96, 192, 384};
    int64_t fixed[49];
    for (int i = 0; i < 49; i++) {
        fixed[i] = 15;
    }
    fail_until_parked(mq_backoffs[MQ_BACKOFF_STEPS], 0.3, steps, 10);
    fail_until_parked(mq_backoffs[MQ_BACKOFF_EXPONENTIAL], 0.5, middle, 5);
    fail_until_parked(mq_backoffs[MQ_BACKOFF_EXPONENTIAL], 0.0, least, 5);
    fail_until_parked(mq_backoffs[MQ_BACKOFF_FIXED], 0.3, fixed, 50);
}

static void test_own_maximum_and_retry_after(void **state)
{
    (void)state;
    struct fixture fx;
    fx_open(&fx);
    fx_enqueue(&fx, &(struct mail){.recipients = "a@example.org", .max_attempts = 2});
    fx_claim(&fx);
    struct mq_settlement outcome = {.job = &fx.claim.jobs[0],
                                    .outcome = MQ_OUTCOME_DEFERRED,
                                    .retry_after_s = 7,
                                    .ms = -1,
                                    .relay = "smtp://r",
                                    .error = "450 later"};
    fx_turn(&fx, &outcome, 1);
    assert_int_equal(row(&fx, "next_attempt_at"), START + 7);
    assert_string_equal(fx.events.items[0].relay, "smtp://r");
    assert_string_equal(fx.events.items[0].reply, "450 later");
    fx.now_s += 7;
    fx_claim(&fx);
    outcome.job = &fx.claim.jobs[0];
    fx_turn(&fx, &outcome, 1);
    row_text(&fx, "parked_for", "exhausted");
    fx_close(&fx);
}

static void test_settle_and_claim_in_one(void **state)
{
    (void)state;
    struct fixture fx;
    struct mq_claim next;
    fx_open(&fx);
    fx_mail(&fx, "a@example.org");
    fx_mail(&fx, "b@example.org");
    fx.request.limit = 1;
    fx_claim(&fx);
    unsigned char sent = MQ_OUTCOME_DELIVERED;
    struct mq_settlement outcome = {
        .job = &fx.claim.jobs[0], .results = &sent, .retry_after_s = -1, .ms = -1};
    struct mq_cycle cycle = {.outcomes = &outcome,
                             .outcome_count = 1,
                             .request = &fx.request,
                             .claim = &next,
                             .events = &fx.events};
    next = (struct mq_claim){0};
    mq_events_truncate(&fx.events, 0);
    assert_int_equal(mq_queue_cycle(fx.queue, &cycle, &fx.err), MQ_OK);
    assert_int_equal(next.count, 1);
    assert_int_equal(next.jobs[0].id, 2);
    assert_string_equal(fx_events(&fx), "sent claimed");
    mq_claim_clear(&next);
    fx_close(&fx);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_three_outcomes),
        cmocka_unit_test(test_refused_and_retried),
        cmocka_unit_test(test_untried_only),
        cmocka_unit_test(test_partly_tried),
        cmocka_unit_test(test_partly_tried_with_progress),
        cmocka_unit_test(test_release),
        cmocka_unit_test(test_uncertain),
        cmocka_unit_test(test_uncertain_for_some),
        cmocka_unit_test(test_whole_job),
        cmocka_unit_test(test_composed),
        cmocka_unit_test(test_set_envelope),
        cmocka_unit_test(test_stale),
        cmocka_unit_test(test_renew),
        cmocka_unit_test(test_backoff),
        cmocka_unit_test(test_own_maximum_and_retry_after),
        cmocka_unit_test(test_settle_and_claim_in_one),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
