/* Limits in windows within claims: what goes, what waits and until when, and what counts after a
 * worker's death. */
#include "windows_fixture.h"

/* Each window fills and frees at its time. */
static void test_strict(void **state)
{
    (void)state;
    struct fixture fx;
    begin(&fx, "3/1h, 5/4h", "strict");
    from(&fx, "f@a.x", 20);
    assert_int_equal(fx_claim(&fx), 3);
    assert_true(fx.claim.limited);
    assert_int_equal(fx.claim.end, MQ_CLAIM_TOKENS);
    assert_string_equal(fx.claim.reason, "3/1h");
    settle_all(&fx);
    assert_int_equal(fx_claim(&fx), 0);
    int64_t first_s = fx.claim.resume_s;
    assert_in_range(first_s, START + 3601, START + 3604); /* rounded to 3 s */
    fx.now_s = first_s - 1;
    assert_int_equal(fx_claim(&fx), 0);
    fx.now_s = first_s;
    assert_int_equal(fx_claim(&fx), 2);
    assert_string_equal(fx.claim.reason, "5/4h");
    settle_all(&fx);
    assert_int_equal(fx_claim(&fx), 0);
    assert_in_range(fx.claim.resume_s, START + 14401, START + 14401 + 14);
    fx.now_s = fx.claim.resume_s;
    assert_int_equal(fx_claim(&fx), 3);
    fx_close(&fx);
}

/* A limit of mails is paid once: a mail goes to all its recipients, who are known later. */
static void test_mails_when_composed(void **state)
{
    static const char *const modes[] = {"strict", "average"};
    (void)state;
    for (size_t i = 0; i < 2; i++) {
        struct fixture fx;
        bool lost;
        begin(&fx, "3/1h mails", modes[i]);
        fx_set(&fx, "mailBurst", "3");
        for (int k = 0; k < 3; k++) {
            fx_enqueue(&fx, &(struct mail){.reference = (char[]){(char)('a' + k), 0}});
        }
        assert_int_equal(fx_claim(&fx), 3);
        for (int k = 0; k < 3; k++) {
            struct mq_job *job = &fx.claim.jobs[k];
            job->envelope_from = strdup("f@a.x");
            assert_true(mq_strings_add(&job->recipients, MQ_STR("a@b.c")));
            assert_true(mq_strings_add(&job->recipients, MQ_STR("b@b.c")));
            assert_int_equal(mq_queue_set_envelope(fx.queue, job, NULL, &lost, &fx.err), MQ_OK);
            assert_int_equal(job->targets.count, 2);
        }
        fx_close(&fx);
    }
}

/* Without a setting nothing is written; what is under way counts, and what came back does not. */
static void test_under_way(void **state)
{
    (void)state;
    struct fixture fx;
    fx_open(&fx);
    from(&fx, "f@a.x", 20);
    fx_claim(&fx);
    settle_all(&fx);
    assert_int_equal(fx_int(&fx, "SELECT count(*) FROM mail_window"), 0);
    fx_set(&fx, "mailLimits", "3/1h");
    fx_set(&fx, "mailRateMode", "strict");
    from(&fx, "f@a.x", 20);
    assert_int_equal(fx_claim(&fx), 3);
    assert_int_equal(fx_int(&fx, "SELECT sum(paid) FROM mail_queue"), 3);
    fx.now_s += 800;
    struct mq_claim held = fx.claim;
    fx.claim = (struct mq_claim){0};
    assert_int_equal(fx_claim(&fx), 0);
    assert_int_equal(fx.claim.resume_s, fx.now_s + 1); /* leases can end at any time */
    mq_claim_clear(&fx.claim);
    fx.claim = held;
    fx_kind(&fx, 0, MQ_OUTCOME_RELEASED, NULL);
    assert_int_equal(fx_int(&fx, "SELECT count(*) FROM mail_window"), 0);
    fx_settle(&fx, 1, "a");
    assert_int_equal(fx_claim(&fx), 1);
    /* The third lease ends without a record: it may have reached the relay up to ten minutes on. */
    fx.now_s += 200;
    fx.request.final_timeout_s = 600;
    assert_int_equal(fx_claim(&fx), 0);
    assert_int_equal(fx_int(&fx, "SELECT sum(n) FROM mail_window"), 2);
    assert_in_range(fx_int(&fx, "SELECT max(at) FROM mail_window"), START + 1000 + 600 + 3601,
                    START + 1000 + 600 + 3604);
    fx_close(&fx);
}

/* The average mode has a bucket for each limit, in any window at most N + its capacity. */
static void test_average(void **state)
{
    (void)state;
    struct fixture fx;
    begin(&fx, "6/1h, 4/1d mails", "average");
    for (int i = 0; i < 20; i++) {
        fx_mail(&fx, "a@b.c b@b.c");
    }
    assert_int_equal(fx_claim(&fx), 3); /* 5 tokens of the first limit: the third is one short */
    assert_int_equal(fx.claim.jobs[2].targets.count, 1);
    assert_string_equal(fx.claim.reason, "6/1h");
    assert_int_equal(fx.claim.resume_s, START + 600);
    fx_kind(&fx, 0, MQ_OUTCOME_RELEASED, NULL);
    fx_settle(&fx, 1, "aa");
    fx_settle(&fx, 2, "a.");
    fx.now_s += 1200; /* two tokens, and two that came back */
    assert_int_equal(fx_claim(&fx), 2);
    assert_int_equal(fx.claim.jobs[1].targets.count, 1); /* the rest of the third */
    fx.now_s += 600;
    assert_int_equal(fx_claim(&fx), 0);
    assert_string_equal(fx.claim.reason, "4/1d mails");
    assert_in_range(fx.claim.resume_s, START + 21600, START + 21601); /* 86400 / 4 */
    fx_close(&fx);
}

/* mailBurst is the capacity, but no more than N. */
static void test_burst(void **state)
{
    (void)state;
    struct fixture fx;
    begin(&fx, "6/1h", "average");
    from(&fx, "f@a.x", 20);
    fx_set(&fx, "mailBurst", "2");
    assert_int_equal(fx_claim(&fx), 2);
    fx.now_s += 86400;
    fx_set(&fx, "mailBurst", "100");
    assert_int_equal(fx_claim(&fx), 6);
    fx_close(&fx);
}

/* The hourly limit and those in windows hold together. */
static void test_beside_the_hour(void **state)
{
    (void)state;
    struct fixture fx;
    begin(&fx, "3/4h", "average");
    fx_set(&fx, "mailMaxPerHour", "60");
    from(&fx, "f@a.x", 20);
    assert_int_equal(fx_claim(&fx), 3);
    fx_assert_text(&fx, "SELECT value FROM config WHERE key = 'mailTokens'", "2");
    assert_string_equal(fx.claim.reason, "3/4h");
    fx_set(&fx, "mailMaxPerHour", "1");
    fx_sql(&fx, "UPDATE config SET value = '0' WHERE key = 'mailTokens'");
    fx_set(&fx, "mailLimits", "300/4h");
    assert_int_equal(fx_claim(&fx), 0);
    assert_string_equal(fx.claim.reason, "");
    assert_int_equal(fx.claim.resume_s, START + 3600);
    fx_close(&fx);
}

/* A relay's limits count what is for it, in other runs as well. */
static void test_relays(void **state)
{
    (void)state;
    struct fixture fx;
    struct mq_relay_state relay = {0};
    begin(&fx, "2/1h per relay, 3/1d per relay two.example", "strict");
    fx.request.relays = &relay;
    fx.request.relay_count = 1;
    from(&fx, "f@a.x", 20);
    relay.name = "smtp://one.example:25";
    assert_int_equal(fx_claim(&fx), 2);
    fx_assert_text(&fx, "SELECT max(paid_to) FROM mail_queue", "smtp://one.example:25");
    relay.name = "smtp://u:***@two.example";
    assert_int_equal(fx_claim(&fx), 2);
    settle_all(&fx);
    fx.now_s += 3604;
    assert_int_equal(fx_claim(&fx), 1);
    assert_string_equal(fx.claim.reason, "3/1d per relay two.example");
    relay.name = "smtp://one.example:25";
    assert_int_equal(fx_claim(&fx), 0); /* its leases were over: recovered, which counts them */
    assert_string_equal(fx.claim.reason, "2/1h per relay");
    assert_in_range(fx.claim.resume_s, fx.now_s + 3601, fx.now_s + 3604);
    fx_close(&fx);
}

/* The mail of a full mailbox is put back, each with a time of its own; others' goes. */
static void test_senders(void **state)
{
    (void)state;
    struct fixture fx;
    begin(&fx, "2/1h per sender", "strict");
    from(&fx, "full@a.x", 10);
    from(&fx, "Full@A.x", 1); /* the same mailbox */
    from(&fx, "other@a.x", 1);
    assert_int_equal(fx_claim(&fx), 3);
    assert_int_equal(fx.claim.end, MQ_CLAIM_EMPTY);
    assert_string_equal(fx.claim.jobs[2].envelope_from, "other@a.x");
    settle_all(&fx);
    assert_int_equal(fx_int(&fx, "SELECT count(*) FROM mail_queue WHERE attempts = 0 AND "
                                 "status = 'pending' AND waits_for = '2/1h per sender'"),
                     9);
    assert_int_equal(fx_int(&fx, "SELECT count(DISTINCT next_attempt_at) FROM mail_queue"), 9);
    assert_int_equal(fx_int(&fx, "SELECT max(next_attempt_at) - min(next_attempt_at) "
                                 "FROM mail_queue"),
                     8 * 1800);
    from(&fx, "full@a.x", 1); /* behind the others */
    assert_int_equal(fx_claim(&fx), 0);
    assert_int_equal(fx_int(&fx, "SELECT max(next_attempt_at) - min(next_attempt_at) "
                                 "FROM mail_queue"),
                     9 * 1800);
    /* At its time each goes, without being put back again. */
    fx_sql(&fx, "UPDATE mail_queue SET next_attempt_at = next_attempt_at + 3600");
    for (int sent = 0; sent < 10; fx.now_s += 60) {
        sent += (int)fx_claim(&fx);
        settle_all(&fx);
        assert_true(fx.now_s < START + 9 * 1800 + 3700 + 3600);
    }
    fx_close(&fx);
}

/* An urgent mail does not wait behind the others, and a line ends with its last mail. */
static void test_lines(void **state)
{
    (void)state;
    struct fixture fx;
    begin(&fx, "1/1h per sender domain", "average");
    from(&fx, "a@a.x", 4);
    fx_claim(&fx);
    int64_t last_s = fx_int(&fx, "SELECT max(next_attempt_at) FROM mail_queue");
    assert_int_equal(last_s, START + 3 * 3600);
    fx_sql(&fx, "UPDATE mail_queue SET priority = 9 WHERE id = 4");
    fx_sql(&fx, "UPDATE mail_queue SET next_attempt_at = 0, waits_for = NULL WHERE id = 4");
    fx_claim(&fx);
    assert_int_equal(fx_int(&fx, "SELECT next_attempt_at FROM mail_queue WHERE id = 4"),
                     START + 3600);
    /* The urgent one takes the room; the one that waited for it gets the next. */
    fx.now_s = START + 3600;
    assert_int_equal(fx_claim(&fx), 1);
    assert_int_equal(fx.claim.jobs[0].id, 4);
    assert_int_equal(fx_int(&fx, "SELECT next_attempt_at FROM mail_queue WHERE id = 2"),
                     START + 2 * 3600);
    fx_sql(&fx, "DELETE FROM mail_queue");
    from(&fx, "b@a.x", 1);
    fx_claim(&fx);
    assert_int_equal(fx_int(&fx, "SELECT next_attempt_at FROM mail_queue"), START + 2 * 3600);
    /* Another limit, and the mail is tried by that. */
    fx_set(&fx, "mailLimits", "1/1h per sender");
    assert_int_equal(fx_claim(&fx), 1);
    fx_close(&fx);
}

/* A mail whose sender is not known before it is composed pays for it then. */
static void test_composed(void **state)
{
    (void)state;
    static const char *const modes[] = {"strict", "average"};
    for (int m = 0; m < 2; m++) {
        struct fixture fx;
        begin(&fx, "2/1h per sender, 9/1h", modes[m]);
        fx_set(&fx, "mailBurst", "9");
        pay_when_composed(&fx);
        fx_close(&fx);
    }
}

/* A value that cannot be read stops claims, and says which part is wrong. */
static void test_unreadable(void **state)
{
    (void)state;
    struct fixture fx;
    fx_open(&fx);
    from(&fx, "f@a.x", 1);
    assert_int_equal(mq_queue_set_config(fx.queue, "mailLimits", "60/0h", &fx.err), MQ_INVALID);
    assert_string_equal(fx.err.field, "mailLimits");
    assert_non_null(strstr(fx.err.text, "\"60/0h\": the window's length"));
    fx_set_raw(&fx, "mailLimits", "60/1h, 50/60m");
    struct mq_cycle cycle = {.request = &fx.request, .claim = &fx.claim};
    assert_int_equal(mq_queue_cycle(fx.queue, &cycle, &fx.err), MQ_OK);
    assert_int_equal(fx.claim.status, MQ_CONFIG);
    assert_non_null(
        strstr(fx.claim.error.text, "\"50/60m\": another limit is for the same window"));
    assert_non_null(strstr(fx.claim.error.text, "Nothing is sent"));
    fx_close(&fx);
}

/* What is handed over counts although a setting cannot be read at that time. */
static void test_unreadable_meanwhile(void **state)
{
    (void)state;
    struct fixture fx;
    begin(&fx, "3/1h, 9/1d per sender", "strict");
    from(&fx, "f@a.x", 20);
    assert_int_equal(fx_claim(&fx), 3);
    fx_set_raw(&fx, "mailHistoryDays", "many");
    settle_all(&fx);
    assert_int_equal(fx_int(&fx, "SELECT sum(n) FROM mail_window"), 6);
    fx_set_raw(&fx, "mailHistoryDays", "");
    assert_int_equal(fx_claim(&fx), 0);
    assert_string_equal(fx.claim.reason, "3/1h");
    fx_close(&fx);
}

/* Entries of a clock that was ahead count as of now, and again when their time has come. */
static void test_clocks(void **state)
{
    (void)state;
    struct fixture fx;
    begin(&fx, "2/1h", "strict");
    from(&fx, "f@a.x", 20);
    fx.now_s = START + 10 * 365 * 86400LL;
    assert_int_equal(fx_claim(&fx), 2);
    settle_all(&fx);
    fx.now_s = START;
    assert_int_equal(fx_claim(&fx), 0);
    assert_in_range(fx.claim.resume_s, START + 3601, START + 3604);
    fx.now_s = START + 3604;
    assert_int_equal(fx_claim(&fx), 2);
    settle_all(&fx);
    fx.now_s = START + 10 * 365 * 86400LL + 60;
    assert_int_equal(fx_claim(&fx), 0); /* they count, by the clock that wrote them */
    fx_close(&fx);
}

static struct mq_job expected(struct fixture *fx, int64_t id)
{
    struct mq_job job;
    bool found;
    assert_int_equal(mq_queue_job(fx->queue, id, &job, &found, &fx->err), MQ_OK);
    assert_int_equal(mq_queue_expect(fx->queue, &job, 1, &fx->err), MQ_OK);
    return job;
}

static void assert_expected(struct fixture *fx, int64_t id, int64_t from_s, int64_t to_s,
                            const char *limit)
{
    struct mq_job job = expected(fx, id);
    assert_in_range(job.expected_at, from_s, to_s);
    if (limit) {
        assert_string_equal(job.put_back, limit);
    } else {
        assert_null(job.put_back);
    }
    mq_job_clear(&job);
}

/* What people see: the room of each limit, which one a mail waits for, and until when. */
static void test_expected(void **state)
{
    (void)state;
    struct fixture fx;
    begin(&fx, "3/1h, 5/4h, 9/1d per sender", "strict");
    from(&fx, "f@a.x", 14);
    assert_expected(&fx, 3, START, START, NULL);
    assert_expected(&fx, 4, START + 3601, START + 3601, "3/1h");
    assert_expected(&fx, 6, START + 14401, START + 14401, "5/4h");
    assert_expected(&fx, 14, START + 2 * 14401, START + 2 * 14401, "5/4h");
    struct mq_stats stats = fx_stats(&fx);
    assert_int_equal(stats.limit_count, 3);
    assert_int_equal(stats.limits[0].left, 3);
    assert_int_equal(stats.limits[1].left, 5);
    assert_int_equal(stats.limits[2].left, -1);
    assert_string_equal(stats.limits[2].text, "9/1d per sender");
    assert_int_equal(stats.empty_in_s, 2 * 14401);
    fx_claim(&fx);
    fx.now_s += 100;
    settle_all(&fx);
    stats = fx_stats(&fx);
    assert_int_equal(stats.limits[0].left, 0);
    assert_in_range(stats.limits[0].full_until_s, START + 3701, START + 3704);
    assert_int_equal(stats.limits[1].left, 2);
    assert_int_equal(stats.limits[1].full_until_s, 0);
    assert_expected(&fx, 4, START + 3701, START + 3704, "3/1h");
    /* An average limit counts steadily. */
    fx_set(&fx, "mailRateMode", "average");
    fx_set(&fx, "mailLimits", "6/1h mails");
    assert_expected(&fx, 8, fx.now_s, fx.now_s, NULL); /* the fifth of a full bucket */
    assert_expected(&fx, 10, fx.now_s + 1200, fx.now_s + 1200, "6/1h mails");
    fx_set(&fx, "mailMaxPerHour", "1");
    assert_expected(&fx, 10, fx.now_s + 6 * 3600, fx.now_s + 6 * 3600, "mailMaxPerHour");
    fx_close(&fx);
}

/* A mail that was put back says so, and goes at its time. */
static void test_expected_in_line(void **state)
{
    (void)state;
    struct fixture fx;
    begin(&fx, "1/1h per sender", "average");
    from(&fx, "f@a.x", 3);
    fx_claim(&fx);
    settle_all(&fx);
    assert_expected(&fx, 3, START + 7200, START + 7200, "1/1h per sender");
    assert_int_equal(fx_stats(&fx).empty_in_s, -1);
    fx_close(&fx);
}

/* Old rows go: those of a window when it is written, all others after 32 days. */
static void test_purge(void **state)
{
    (void)state;
    struct fixture fx;
    begin(&fx, "2/1h per sender", "strict");
    for (int i = 0; i < 5; i++) {
        from(&fx, "f@a.x", 1);
        fx_claim(&fx);
        settle_all(&fx);
        fx.now_s += 5000;
    }
    assert_int_equal(fx_int(&fx, "SELECT count(*) FROM mail_window"), 2);
    fx.now_s += 33 * 86400;
    fx.chance = 0;
    from(&fx, "g@a.x", 1);
    fx_claim(&fx);
    settle_all(&fx);
    assert_int_equal(fx_int(&fx, "SELECT count(*) FROM mail_window WHERE scope LIKE '%g@a.x'"), 1);
    assert_int_equal(fx_int(&fx, "SELECT count(*) FROM mail_window"), 1);
    fx_close(&fx);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_strict),
        cmocka_unit_test(test_mails_when_composed),
        cmocka_unit_test(test_under_way),
        cmocka_unit_test(test_average),
        cmocka_unit_test(test_burst),
        cmocka_unit_test(test_beside_the_hour),
        cmocka_unit_test(test_relays),
        cmocka_unit_test(test_senders),
        cmocka_unit_test(test_lines),
        cmocka_unit_test(test_composed),
        cmocka_unit_test(test_unreadable),
        cmocka_unit_test(test_clocks),
        cmocka_unit_test(test_purge),
        cmocka_unit_test(test_expected),
        cmocka_unit_test(test_expected_in_line),
        cmocka_unit_test(test_unreadable_meanwhile),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
