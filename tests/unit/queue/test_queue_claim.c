/* Enqueue and claim. */
#include "policy/types.h"
#include "queue/config/relays.h"
#include "queue_fixture.h"

static struct mq_strings no_strings;

static void test_enqueue_claim_send(void **state)
{
    (void)state;
    struct fixture fx;
    fx_open(&fx);
    int64_t id = fx_mail(&fx, "a@example.org b@example.org");
    assert_int_equal(id, 1);
    assert_int_equal(fx_claim(&fx), 1);
    struct mq_job *job = &fx.claim.jobs[0];
    assert_int_equal(job->id, id);
    assert_int_equal(job->state, MQ_SENDING);
    assert_int_equal(job->attempts, 1);
    assert_int_equal(job->locked_until, START + 900);
    assert_string_equal(job->locked_by, TOKEN_A);
    assert_int_equal(job->targets.count, 2);
    assert_int_equal(job->target_of[1], 1);
    assert_null(job->original_to);
    assert_int_equal(job->paid, 0);
    assert_false(fx.claim.limited);
    assert_string_equal(job->body, "Subject: x\r\n\r\nx\r\n");
    assert_string_equal(fx_events(&fx), "claimed");
    assert_int_equal(fx.claim.end, MQ_CLAIM_EMPTY);
    assert_int_equal(fx.claim.resume_s, 0);
    assert_false(fx_settle(&fx, 0, "aa"));
    assert_string_equal(fx_events(&fx), "sent");
    assert_int_equal(fx.events.items[0].recipients, 2);
    assert_int_equal(fx_int(&fx, "SELECT count(*) FROM mail_queue"), 0);
    assert_int_equal(fx_int(&fx, "SELECT count(*) FROM mail_body"), 0);
    fx_close(&fx);
}

static void test_row_as_enqueued(void **state)
{
    (void)state;
    struct fixture fx;
    struct mq_job job;
    bool found = false;
    fx_open(&fx);
    int64_t id = fx_enqueue(&fx, &(struct mail){.reference = "R1",
                                                .type = "user",
                                                .recipients = "ä@example.org",
                                                .body = "x",
                                                .priority = -100,
                                                .send_at = START + 10,
                                                .expires_at = START + 20,
                                                .max_attempts = 3});
    assert_int_equal(mq_queue_job(fx.queue, id, &job, &found, &fx.err), MQ_OK);
    assert_true(found);
    assert_string_equal(job.reference, "R1");
    assert_string_equal(job.mail_type, "user");
    assert_int_equal(job.state, MQ_PENDING);
    assert_int_equal(job.priority, -100);
    assert_int_equal(job.next_attempt_at, START + 10);
    assert_int_equal(job.expires_at, START + 20);
    assert_int_equal(job.created_at, START);
    assert_int_equal(job.max_attempts, 3);
    assert_string_equal(job.recipients.items[0], "ä@example.org");
    assert_string_equal(job.message_id, "<x@example.org>");
    assert_string_equal(job.body, "x");
    mq_job_clear(&job);
    found = true;
    assert_int_equal(mq_queue_job(fx.queue, id + 1, &job, &found, &fx.err), MQ_OK);
    assert_false(found);
    fx_close(&fx);
}

static void test_duplicate_pair(void **state)
{
    (void)state;
    struct fixture fx;
    fx_open(&fx);
    struct mail mail = {.reference = "R1", .recipients = "a@example.org", .body = "one"};
    struct mail other = {.reference = "R1", .type = "organizer", .body = "x"};
    int64_t id = fx_enqueue(&fx, &mail);
    assert_true(id > 0);
    assert_int_equal(fx_enqueue(&fx, &mail), 0);
    assert_true(fx_enqueue(&fx, &other) > id);
    assert_int_equal(fx_int(&fx, "SELECT count(*) FROM mail_body"), 2);
    fx.request.limit = 1;
    fx_claim(&fx); /* a job in sending counts as queued */
    assert_int_equal(fx_enqueue(&fx, &mail), 0);
    fx_settle(&fx, 0, "l"); /* so does a failed one */
    assert_int_equal(fx_enqueue(&fx, &mail), 0);
    fx.now_s += 60;
    fx.request.limit = 2;
    fx_claim(&fx);
    size_t mine = fx.claim.jobs[0].id == id ? 0 : 1;
    fx_settle(&fx, mine, "a"); /* it is gone, so the pair is free */
    assert_true(fx_enqueue(&fx, &mail) > id);
    fx_close(&fx);
}

static void test_expired_pair_is_replaced(void **state)
{
    (void)state;
    struct fixture fx;
    fx_open(&fx);
    struct mail old = {.reference = "R-1", .body = "old", .expires_at = START + 60};
    int64_t first = fx_enqueue(&fx, &old);
    struct mail new = {.reference = "R-1", .body = "new"};
    fx.now_s = START + 59;
    assert_int_equal(fx_enqueue(&fx, &new), 0);
    assert_int_equal(fx_claim(&fx), 1);
    fx.now_s = START + 60;
    assert_int_equal(fx_enqueue(&fx, &new), 0); /* a job in sending is not deleted */
    fx_kind(&fx, 0, MQ_OUTCOME_RELEASED, NULL);
    int64_t second = fx_enqueue(&fx, &new);
    assert_true(second > first);
    assert_int_equal(fx_int(&fx, "SELECT count(*) FROM mail_queue"), 1);
    assert_int_equal(fx_int(&fx, "SELECT count(*) FROM mail_body"), 1);
    fx_close(&fx);
}

static void test_parked_pair_is_replaced(void **state)
{
    (void)state;
    struct fixture fx;
    fx_open(&fx);
    struct mail mail = {.reference = "R1", .recipients = "a@example.org", .body = "one"};
    int64_t id = fx_enqueue(&fx, &mail);
    fx_claim(&fx);
    fx_settle(&fx, 0, "r");
    fx_assert_text(&fx, "SELECT status FROM mail_queue", "parked");
    mail.body = "two";
    int64_t second = fx_enqueue(&fx, &mail);
    assert_true(second > id);
    assert_int_equal(fx_int(&fx, "SELECT count(*) FROM mail_queue"), 1);
    assert_int_equal(fx_int(&fx, "SELECT attempts FROM mail_queue"), 0);
    assert_int_equal(fx_int(&fx, "SELECT count(*) FROM mail_body"), 1);
    fx_assert_text(&fx, "SELECT CAST(content AS TEXT) FROM mail_body JOIN mail_queue USING (id)",
                   "two");
    fx_close(&fx);
}

static void test_enqueue_many(void **state)
{
    (void)state;
    struct fixture fx;
    int64_t ids[3] = {0};
    fx_open(&fx);
    struct mq_new_job jobs[3];
    for (int i = 0; i < 3; i++) {
        jobs[i] = (struct mq_new_job){.reference = MQ_STR("R"),
                                      .mail_type = MQ_STR("a"),
                                      .message_id = "<x@y>",
                                      .recipients = &no_strings};
    }
    jobs[1].mail_type = MQ_STR("b");
    assert_int_equal(mq_queue_enqueue(fx.queue, jobs, 3, ids, &fx.err), MQ_OK);
    assert_true(ids[0] > 0 && ids[1] > ids[0] && ids[2] == 0);
    jobs[2].priority = 101;
    assert_int_equal(mq_new_job_check(&jobs[2], &fx.err), MQ_INVALID);
    assert_string_equal(fx.err.field, "priority");
    assert_int_equal(fx_int(&fx, "SELECT count(*) FROM mail_queue"), 2);
    fx_close(&fx);
}

static void check_refused(const struct mq_new_job *job, const char *field)
{
    struct mq_error err;
    enum mq_status status = mq_new_job_check(job, &err);
    if (status != MQ_INVALID && status != MQ_MESSAGE) {
        fail_msg("%s was taken", field);
    }
    assert_string_equal(err.field, field);
    assert_true(strlen(err.text) > 10);
}

static void test_arguments(void **state)
{
    (void)state;
    char longest[MQ_REFERENCE_MAX + 2];
    memset(longest, 'x', sizeof(longest));
    struct mq_error err;
    const struct mq_new_job good = {.mail_type = MQ_STR("mail"), .message_id = "<x@y>"};
    struct mq_new_job job = good;
    assert_int_equal(mq_new_job_check(&job, &err), MQ_OK);
    job.reference = (struct mq_str){longest, MQ_REFERENCE_MAX};
    assert_int_equal(mq_new_job_check(&job, &err), MQ_OK);
    job.reference.len++;
    check_refused(&job, "reference");
    job.reference = MQ_STR("");
    check_refused(&job, "reference");
    job.reference = MQ_STR("a\nb");
    check_refused(&job, "reference");
    job.reference = MQ_STR("\xc3");
    check_refused(&job, "reference");
    job = good;
    job.mail_type = MQ_STR("");
    check_refused(&job, "type");
    job.mail_type = (struct mq_str){longest, MQ_TYPE_MAX + 1};
    check_refused(&job, "type");
    job = good;
    job.priority = -101;
    check_refused(&job, "priority");
    job = good;
    job.send_at = 20;
    job.expires_at = 20;
    check_refused(&job, "expiresAt");
    job = good;
    job.max_attempts = -1;
    check_refused(&job, "maxAttempts");
    job = good;
    job.message_id = NULL;
    check_refused(&job, "messageId");
    job = good;
    job.envelope_from = "a b@example.org";
    check_refused(&job, "envelopeFrom");
    job.envelope_from = "";
    assert_int_equal(mq_new_job_check(&job, &err), MQ_OK);
    char *bad = (char[]){"-X/x"};
    struct mq_strings recipients = {&bad, 1, 1};
    job.recipients = &recipients;
    check_refused(&job, "recipients");
}

static void test_order(void **state)
{
    (void)state;
    static const int64_t expected[] = {4, 3, 2, 5, 1, 6};
    struct fixture fx;
    fx_open(&fx);
    fx_enqueue(&fx, &(struct mail){.priority = -5});
    fx_enqueue(&fx, &(struct mail){.send_at = START - 5});
    fx_enqueue(&fx, &(struct mail){.priority = 7});
    fx_enqueue(&fx, &(struct mail){.priority = 7, .send_at = START - 1});
    fx_enqueue(&fx, &(struct mail){.priority = 0});
    fx_enqueue(&fx, &(struct mail){.priority = -5});
    fx_enqueue(&fx, &(struct mail){.priority = 9, .send_at = START + 30});
    fx_enqueue(&fx, &(struct mail){.priority = -9, .send_at = START + 20});
    fx.request.limit = 4;
    assert_int_equal(fx_claim(&fx), 4);
    assert_int_equal(fx.claim.end, MQ_CLAIM_LIMIT);
    for (size_t i = 0; i < 4; i++) {
        assert_int_equal(fx.claim.jobs[i].id, expected[i]);
    }
    assert_int_equal(fx_claim(&fx), 2);
    assert_int_equal(fx.claim.jobs[0].id, expected[4]);
    assert_int_equal(fx.claim.end, MQ_CLAIM_EMPTY);
    assert_int_equal(fx.claim.resume_s, START + 20);
    fx.now_s = START + 20;
    assert_int_equal(fx_claim(&fx), 1);
    assert_int_equal(fx.claim.jobs[0].id, 8);
    assert_int_equal(fx.claim.resume_s, START + 30);
    fx_close(&fx);
}

static void test_many_in_chunks(void **state)
{
    (void)state;
    struct fixture fx;
    fx_open(&fx);
    for (int i = 0; i < 300; i++) {
        fx_enqueue(&fx, &(struct mail){.priority = i % 2});
    }
    fx.request.limit = 290;
    assert_int_equal(fx_claim(&fx), 290);
    assert_int_equal(fx.claim.end, MQ_CLAIM_LIMIT);
    fx.request.limit = 0;
    assert_int_equal(fx_claim(&fx), 0);
    assert_int_equal(fx.claim.end, MQ_CLAIM_LIMIT);
    fx.request.limit = 290;
    assert_int_equal(fx_claim(&fx), 10);
    assert_int_equal(fx.claim.end, MQ_CLAIM_EMPTY);
    fx_close(&fx);
}

static void test_expiry(void **state)
{
    (void)state;
    struct fixture fx;
    fx_open(&fx);
    fx_enqueue(&fx, &(struct mail){.expires_at = START + 5, .reference = "gone", .body = "x"});
    fx_enqueue(&fx, &(struct mail){.expires_at = START + 6, .body = "x"});
    fx.now_s = START + 5;
    assert_int_equal(fx_claim(&fx), 1);
    assert_int_equal(fx.claim.jobs[0].id, 2);
    assert_string_equal(fx_events(&fx), "expired claimed");
    assert_string_equal(fx.events.items[0].reference, "gone");
    assert_int_equal(fx_int(&fx, "SELECT count(*) FROM mail_body"), 1);
    fx_close(&fx);
}

static void test_a_thousand_expired(void **state)
{
    (void)state;
    struct fixture fx;
    fx_open(&fx);
    for (int i = 0; i < 1005; i++) {
        fx_enqueue(&fx, &(struct mail){.expires_at = START + 5});
    }
    int64_t last = fx_enqueue(&fx, &(struct mail){0});
    fx.now_s = START + 5;
    fx.request.limit = 5;
    assert_int_equal(fx_claim(&fx), 0);
    assert_int_equal(fx.claim.end, MQ_CLAIM_MORE);
    assert_int_equal(fx.events.count, 1000);
    assert_int_equal(fx_int(&fx, "SELECT count(*) FROM mail_queue"), 6);
    assert_int_equal(fx_claim(&fx), 1);
    assert_int_equal(fx.claim.jobs[0].id, last);
    assert_int_equal(fx.claim.end, MQ_CLAIM_EMPTY);
    fx_close(&fx);
}

static void test_orphans(void **state)
{
    (void)state;
    struct fixture fx;
    fx_init(&fx);
    fx.options.orphan_table = "registrations";
    fx.options.orphan_column = "number";
    fx_open_with(&fx, "CREATE TABLE registrations (number INTEGER PRIMARY KEY);"
                      "INSERT INTO registrations VALUES (7)");
    fx_enqueue(&fx, &(struct mail){.reference = "6", .body = "x"});
    fx_enqueue(&fx, &(struct mail){.reference = "7", .body = "x"});
    fx_enqueue(&fx, &(struct mail){.body = "x"}); /* its reference has no row */
    assert_int_equal(fx_claim(&fx), 2);
    assert_string_equal(fx_events(&fx), "orphan claimed claimed");
    assert_int_equal(fx_int(&fx, "SELECT count(*) FROM mail_body"), 2);
    fx_close(&fx);
}

/* A view's computed column has no type: references still match its numbers as text. */
static void test_orphan_check_of_untyped_column(void **state)
{
    (void)state;
    struct fixture fx;
    struct mq_sweep sweep = {0};
    fx_init(&fx);
    fx.options.orphan_table = "registrations";
    fx.options.orphan_column = "number";
    fx_open_with(&fx, "CREATE TABLE r (n INTEGER); INSERT INTO r VALUES (7), (70);"
                      "CREATE VIEW registrations AS SELECT n / 10 AS number FROM r");
    fx_enqueue(&fx, &(struct mail){.reference = "6", .body = "x"});
    fx_enqueue(&fx, &(struct mail){.reference = "7", .body = "x"});
    fx_enqueue(&fx, &(struct mail){.reference = "07", .body = "x"});
    assert_int_equal(fx_claim(&fx), 1);
    assert_string_equal(fx_events(&fx), "orphan claimed orphan");
    fx_kind(&fx, 0, MQ_OUTCOME_RELEASED, NULL);
    assert_int_equal(mq_queue_sweep(fx.queue, &sweep, NULL, &fx.err), MQ_OK);
    assert_int_equal(fx_int(&fx, "SELECT count(*) FROM mail_queue"), 1);
    fx_close(&fx);
}

static void test_disabled_and_paused(void **state)
{
    (void)state;
    struct fixture fx;
    fx_open(&fx);
    struct mq_relay_pause pause = {.relay = "smtp://relay", .reason = "535 bad\nlogin of a@b"};
    fx_mail(&fx, "a@example.org");
    assert_int_equal(mq_queue_pause_relay(fx.queue, &pause, &fx.err), MQ_OK);
    assert_int_equal(pause.until_s, START + 60);
    struct mq_relay_state relays[] = {{.name = "smtp://relay"}, {.name = "smtp://other"}};
    fx.request.relays = relays;
    fx.request.relay_count = 1;
    assert_int_equal(fx_claim(&fx), 0);
    assert_int_equal(fx.claim.end, MQ_CLAIM_PAUSED);
    assert_int_equal(fx.claim.resume_s, START + 60);
    assert_string_equal(relays[0].reason, "535 bad?login of *@b");
    fx.request.relay_count = 2; /* the other one can be used */
    fx.request.limit = 0;
    assert_int_equal(fx_claim(&fx), 0);
    assert_int_equal(fx.claim.end, MQ_CLAIM_LIMIT);
    assert_int_equal(relays[0].until_s, START + 60);
    assert_int_equal(relays[1].until_s, 0);
    fx.request.limit = 100;
    fx_set(&fx, "mailQueueEnabled", "0");
    fx.now_s += 60;
    assert_int_equal(fx_claim(&fx), 0);
    assert_int_equal(fx.claim.end, MQ_CLAIM_DISABLED);
    fx_mail(&fx, "b@example.org"); /* claims fail, enqueues do not */
    fx_set(&fx, "mailQueueEnabled", "1");
    assert_int_equal(fx_claim(&fx), 2);
    fx_close(&fx);
}

/* A run whose clock was years ahead has paused the relay: the pause ends with that clock. */
static void test_clock_was_ahead(void **state)
{
    (void)state;
    static const int64_t year_s = 365 * 86400;
    struct fixture fx;
    fx_open(&fx);
    struct mq_relay_pause pause = {.relay = "r", .reason = "down", .retry_after_s = 86400};
    struct mq_relay_state relays[] = {{.name = "r"}};
    fx.request.relays = relays;
    fx.request.relay_count = 1;
    fx_mail(&fx, "a@example.org");
    assert_int_equal(mq_queue_pause_relay(fx.queue, &pause, &fx.err), MQ_OK);
    assert_int_equal(fx_claim(&fx), 0); /* a whole day is a pause */
    fx.now_s += 10 * year_s;
    assert_int_equal(mq_queue_pause_relay(fx.queue, &pause, &fx.err), MQ_OK);
    fx.now_s -= 10 * year_s;
    assert_int_equal(fx_stats(&fx).paused_until_s, 0);
    assert_int_equal(fx_claim(&fx), 1);
    pause.retry_after_s = 0;
    assert_int_equal(mq_queue_pause_relay(fx.queue, &pause, &fx.err), MQ_OK);
    assert_in_range(pause.until_s - fx.now_s, 60, 3600);
    fx_close(&fx);
}

static void test_pause_doubles(void **state)
{
    (void)state;
    static const int64_t lengths[] = {60, 120, 240, 480, 960, 1920, 3600, 3600};
    struct fixture fx;
    fx_open(&fx);
    struct mq_relay_pause pause = {.relay = "r", .reason = "down"};
    struct mq_relay_pause other = {.relay = "q", .reason = "down", .retry_after_s = 7};
    for (size_t i = 0; i < sizeof(lengths) / sizeof(lengths[0]); i++) {
        assert_int_equal(mq_queue_pause_relay(fx.queue, &pause, &fx.err), MQ_OK);
        assert_int_equal(pause.until_s - fx.now_s, lengths[i]);
        /* A second worker's report of the same trouble changes nothing. */
        assert_int_equal(mq_queue_pause_relay(fx.queue, &pause, &fx.err), MQ_OK);
        assert_int_equal(pause.until_s - fx.now_s, lengths[i]);
        fx.now_s = pause.until_s;
    }
    assert_int_equal(mq_queue_pause_relay(fx.queue, &other, &fx.err), MQ_OK);
    assert_int_equal(other.until_s, fx.now_s + 7);
    assert_int_equal(fx_stats(&fx).paused_until_s, fx.now_s + 7);
    assert_int_equal(mq_queue_clear_pause(fx.queue, "r", &fx.err), MQ_OK);
    assert_int_equal(mq_queue_clear_pause(fx.queue, "unheard of", &fx.err), MQ_OK);
    assert_int_equal(mq_queue_pause_relay(fx.queue, &pause, &fx.err), MQ_OK);
    assert_int_equal(pause.until_s - fx.now_s, 60);
    assert_int_equal(mq_queue_clear_pause(fx.queue, "r", &fx.err), MQ_OK);
    assert_int_equal(mq_queue_clear_pause(fx.queue, "q", &fx.err), MQ_OK);
    fx_assert_text(&fx, "SELECT value FROM config WHERE key = 'mailRelayPause'", NULL);
    fx_close(&fx);
}

static void test_unreadable_recipients(void **state)
{
    (void)state;
    struct fixture fx;
    int64_t changed = 0;
    fx_open(&fx);
    int64_t id = fx_mail(&fx, "a@example.org");
    fx_mail(&fx, "b@example.org");
    fx_sql(&fx, "UPDATE mail_queue SET recipients = '[\"a@' WHERE id = 1");
    assert_int_equal(fx_claim(&fx), 1); /* the other job; a bad row does not stop it */
    assert_string_equal(fx_events(&fx), "parked claimed");
    fx_assert_text(&fx, "SELECT status FROM mail_queue WHERE id = 1", "parked");
    assert_int_equal(mq_queue_retry(fx.queue, &(struct mq_ids){&id, 1}, true, &changed, &fx.err),
                     MQ_OK);
    assert_int_equal(changed, 0);
    fx_sql(&fx, "UPDATE mail_queue SET recipients = '[\"a@x.org\"]' WHERE id = 1");
    assert_int_equal(mq_queue_retry(fx.queue, &(struct mq_ids){&id, 1}, true, &changed, &fx.err),
                     MQ_OK);
    assert_int_equal(changed, 1);
    assert_int_equal(fx_claim(&fx), 1);
    fx_close(&fx);
}

/* It cannot be claimed, but no job waits for it. */
static void test_priority_of_others(void **state)
{
    (void)state;
    struct fixture fx;
    fx_open(&fx);
    fx_mail(&fx, "a@example.org");
    fx_mail(&fx, "b@example.org");
    fx_mail(&fx, "c@example.org");
    fx_sql(&fx, "UPDATE mail_queue SET priority = 0.5 WHERE id = 1");
    fx_sql(&fx, "UPDATE mail_queue SET priority = -3 WHERE id = 2");
    assert_int_equal(fx_claim(&fx), 2);
    assert_int_equal(fx.claim.end, MQ_CLAIM_EMPTY);
    fx_close(&fx);
}

/* Text written into the row would become SMTP commands. */
static void test_addresses_of_others_are_checked(void **state)
{
    (void)state;
    static const char *const bad[] = {
        "recipients = '[\"a@x.org>\\r\\nRCPT TO:<b@x.org\"]'",
        "recipients = '[\"\"]'",
        "recipients = '[\"a@x.org\", \"a b@x.org\"]'",
        "envelope_from = 'a@x.org>' || char(13, 10) || 'RSET'",
        "envelope_from = 'a', recipients = NULL",
    };
    struct fixture fx;
    fx_open(&fx);
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        char sql[200];
        fx_mail(&fx, "a@example.org");
        snprintf(sql, sizeof(sql), "UPDATE mail_queue SET %s WHERE status = 'pending'", bad[i]);
        fx_sql(&fx, sql);
        assert_int_equal(fx_claim(&fx), 0);
        assert_string_equal(fx_events(&fx), "parked");
    }
    fx_close(&fx);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_enqueue_claim_send),
        cmocka_unit_test(test_row_as_enqueued),
        cmocka_unit_test(test_duplicate_pair),
        cmocka_unit_test(test_parked_pair_is_replaced),
        cmocka_unit_test(test_expired_pair_is_replaced),
        cmocka_unit_test(test_enqueue_many),
        cmocka_unit_test(test_arguments),
        cmocka_unit_test(test_order),
        cmocka_unit_test(test_many_in_chunks),
        cmocka_unit_test(test_expiry),
        cmocka_unit_test(test_a_thousand_expired),
        cmocka_unit_test(test_orphans),
        cmocka_unit_test(test_orphan_check_of_untyped_column),
        cmocka_unit_test(test_disabled_and_paused),
        cmocka_unit_test(test_clock_was_ahead),
        cmocka_unit_test(test_pause_doubles),
        cmocka_unit_test(test_unreadable_recipients),
        cmocka_unit_test(test_priority_of_others),
        cmocka_unit_test(test_addresses_of_others_are_checked),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
