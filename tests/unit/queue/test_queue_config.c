/* Config keys as a claim sees them: tokens, the test redirect, values that cannot be read. */
#include "queue/config/keys.h"
#include "queue_fixture.h"

static void assert_target(struct fixture *fx, size_t i, const char *expected)
{
    struct mq_job *job = &fx->claim.jobs[0];
    assert_true(i < job->targets.count);
    assert_string_equal(job->targets.items[i], expected);
}

static void test_forty_an_hour(void **state)
{
    (void)state;
    struct fixture fx;
    fx_open(&fx);
    fx_set(&fx, "mailMaxPerHour", "40"); /* one mail in 90 s, to the second */
    for (int i = 0; i < 60; i++) {
        fx_mail(&fx, "a@example.org");
    }
    assert_int_equal(fx_claim(&fx), 5); /* the burst: max(min(40, 5), ceil(40 / 60)) */
    assert_true(fx.claim.limited);
    assert_int_equal(fx.claim.end, MQ_CLAIM_TOKENS);
    for (int i = 0; i < 40; i++) {
        assert_int_equal(fx.claim.resume_s, fx.now_s + 90);
        fx.now_s += 89;
        assert_int_equal(fx_claim(&fx), 0);
        assert_int_equal(fx.claim.end, MQ_CLAIM_TOKENS);
        assert_int_equal(fx.claim.resume_s, fx.now_s + 1);
        fx.now_s += 1;
        assert_int_equal(fx_claim(&fx), 1);
        assert_int_equal(fx.claim.jobs[0].paid, 1);
    }
    fx_close(&fx);
}

static void test_tokens_come_back(void **state)
{
    (void)state;
    struct fixture fx;
    fx_open(&fx);
    fx_set(&fx, "mailMaxPerHour", "36");
    fx_mail(&fx, "a@example.org b@example.org c@example.org");
    fx_claim(&fx);
    assert_int_equal(fx.claim.jobs[0].paid, 3);
    fx_assert_text(&fx, "SELECT value FROM config WHERE key = 'mailTokens'", "2");
    assert_int_equal(fx_int(&fx, "SELECT paid FROM mail_queue"), 3);
    fx.now_s += 50; /* half a token */
    fx_settle(&fx, 0, "arl");
    fx_assert_text(&fx, "SELECT value FROM config WHERE key = 'mailTokens'", "4.5");
    fx.now_s += 60;
    assert_int_equal(fx_claim(&fx), 1);
    fx.now_s += 1000;
    fx_kind(&fx, 0, MQ_OUTCOME_RELEASED, NULL);
    fx_assert_text(&fx, "SELECT value FROM config WHERE key = 'mailTokens'", "5"); /* the cap */
    fx_close(&fx);
}

static void test_clock_jumps(void **state)
{
    (void)state;
    struct fixture fx;
    fx_open(&fx);
    fx_set(&fx, "mailMaxPerHour", "60");
    for (int i = 0; i < 30; i++) {
        fx_mail(&fx, "a@example.org");
    }
    assert_int_equal(fx_claim(&fx), 5);
    fx.now_s -= 5000;
    fx.request.lease_s = 100000;
    assert_int_equal(fx_claim(&fx), 0);
    fx.now_s += 10000000; /* gains at most the capacity */
    fx_sql(&fx, "UPDATE mail_queue SET locked_until = 1 << 40 WHERE status = 'sending'");
    assert_int_equal(fx_claim(&fx), 5);
    fx_close(&fx);
}

static void test_composed_pays_in_two_steps(void **state)
{
    (void)state;
    struct fixture fx;
    bool lost;
    fx_open(&fx);
    fx_set(&fx, "mailMaxPerHour", "36");
    fx_set(&fx, "mailBurst", "3");
    fx_enqueue(&fx, &(struct mail){.reference = "R"});
    fx_claim(&fx);
    struct mq_job *job = &fx.claim.jobs[0];
    assert_int_equal(job->paid, 1);
    job->envelope_from = strdup("f@example.org");
    for (int i = 0; i < 5; i++) {
        char address[32];
        snprintf(address, sizeof(address), "%d@example.org", i);
        mq_strings_add(&job->recipients, mq_str_of(address));
    }
    assert_int_equal(mq_queue_set_envelope(fx.queue, job, NULL, &lost, &fx.err), MQ_OK);
    assert_false(lost);
    assert_int_equal(job->paid, 3);
    assert_int_equal(job->targets.count, 3);
    assert_int_equal(job->target_of[3], -1);
    assert_int_equal(fx_int(&fx, "SELECT paid FROM mail_queue"), 3);
    fx_settle(&fx, 0, "aaa..");
    fx_assert_text(&fx, "SELECT status FROM mail_queue", "pending");
    assert_int_equal(fx_claim(&fx), 0);
    fx.now_s += 200;
    fx_claim(&fx);
    assert_int_equal(fx.claim.jobs[0].paid, 2);
    fx_settle(&fx, 0, "aa");
    assert_int_equal(fx_int(&fx, "SELECT count(*) FROM mail_queue"), 0);
    fx_close(&fx);
}

/* A job with more recipients than the bucket can hold: over time each is served once, and no
 * attempt is counted. */
static void test_dearer_than_the_bucket(void **state)
{
    (void)state;
    struct fixture fx;
    struct mq_buffer list;
    int served[23] = {0};
    int left = 23;
    fx_open(&fx);
    fx_set(&fx, "mailMaxPerHour", "36");
    list = (struct mq_buffer){0};
    for (int i = 0; i < 23; i++) {
        mq_buffer_printf(&list, "%s%d@example.org", i ? " " : "", i);
    }
    fx_mail(&fx, list.data);
    mq_buffer_clear(&list);
    while (left > 0) {
        char letters[32];
        if (fx_claim(&fx) == 0) {
            assert_int_equal(fx.claim.end, MQ_CLAIM_TOKENS);
            fx.now_s = fx.claim.resume_s;
            continue;
        }
        struct mq_job *job = &fx.claim.jobs[0];
        assert_int_equal(job->attempts, 1);
        assert_int_equal(job->recipients.count, left);
        assert_true(job->targets.count <= 5);
        for (int i = 0; i < (int)job->recipients.count; i++) {
            letters[i] = job->target_of[i] >= 0 ? 'a' : '.';
            letters[i + 1] = '\0';
            served[atoi(job->recipients.items[i])] += letters[i] == 'a';
        }
        left -= (int)job->targets.count;
        fx_settle(&fx, 0, letters);
    }
    for (int i = 0; i < 23; i++) {
        assert_int_equal(served[i], 1);
    }
    assert_int_equal(fx.now_s, START + 18 * 100); /* 5 at once, then one in 100 s */
    assert_int_equal(fx_int(&fx, "SELECT count(*) FROM mail_queue"), 0);
    fx_close(&fx);
}

/* With one token at a time, and a first recipient that is always deferred, the others still get
 * theirs. */
static void deferred_one(bool as_a_whole)
{
    struct fixture fx;
    int served = 0;
    fx_open(&fx);
    fx_set(&fx, "mailMaxPerHour", "1");
    fx_mail(&fx, "later@example.org b@example.org c@example.org");
    for (int turns = 0; turns < 10; turns++) {
        char letters[4] = "...";
        fx.now_s += 3600;
        assert_int_equal(fx_claim(&fx), 1);
        struct mq_job *job = &fx.claim.jobs[0];
        assert_int_equal(job->targets.count, 1);
        letters[job->recipients.count] = '\0';
        letters[0] = strcmp(job->targets.items[0], "later@example.org") == 0 ? 'l' : 'a';
        served += letters[0] == 'a';
        bool whole = as_a_whole && letters[0] == 'l';
        assert_false(whole ? fx_kind(&fx, 0, MQ_OUTCOME_DEFERRED, "x")
                           : fx_settle(&fx, 0, letters));
    }
    assert_int_equal(served, 2);
    fx_assert_text(&fx, "SELECT recipients FROM mail_queue", "[\"later@example.org\"]");
    fx_close(&fx);
}

static void test_deferred_one_starves_nobody(void **state)
{
    (void)state;
    deferred_one(false);
    deferred_one(true);
}

static void test_strict_ledger(void **state)
{
    (void)state;
    struct fixture fx;
    fx_open(&fx);
    fx_set(&fx, "mailMaxPerHour", "2");
    fx_set(&fx, "mailRateMode", "strict");
    fx_set(&fx, "mailBurst", "10"); /* still never more than the limit */
    for (int i = 0; i < 5; i++) {
        fx_mail(&fx, "a@example.org");
    }
    assert_int_equal(fx_claim(&fx), 2);
    assert_int_equal(fx.claim.resume_s, START + 1); /* only leases under way block */
    fx.now_s += 100;
    fx_settle(&fx, 0, "a");
    fx.now_s += 100;
    fx_settle(&fx, 1, "r");
    assert_int_equal(fx_int(&fx, "SELECT sum(n) FROM mail_spent"), 1);
    assert_int_equal(fx_int(&fx, "SELECT at FROM mail_spent"), START + 100);
    assert_int_equal(fx_claim(&fx), 1); /* the refused recipient's token */
    fx_kind(&fx, 0, MQ_OUTCOME_RELEASED, NULL);
    assert_int_equal(fx_int(&fx, "SELECT sum(n) FROM mail_spent"), 1);
    assert_int_equal(fx_claim(&fx), 1);
    fx_settle(&fx, 0, "a");
    assert_int_equal(fx_claim(&fx), 0);
    assert_int_equal(fx.claim.resume_s, START + 100 + 3601);
    fx.now_s = START + 100 + 3600;
    assert_int_equal(fx_claim(&fx), 0);
    fx.now_s++;
    assert_int_equal(fx_claim(&fx), 1);
    assert_int_equal(fx_int(&fx, "SELECT sum(n) FROM mail_spent WHERE at > 1800000100"), 1);
    fx.now_s += 900; /* not settled: counts as handed over when it is recovered */
    fx_set(&fx, "mailMaxPerHour", "1");
    assert_int_equal(fx_claim(&fx), 0);
    assert_int_equal(fx.claim.end, MQ_CLAIM_TOKENS);
    assert_int_equal(fx.claim.resume_s, fx.now_s + 3601);
    fx_close(&fx);
}

static void test_take_tokens(void **state)
{
    (void)state;
    struct fixture fx;
    int64_t taken = -1;
    fx_open(&fx);
    assert_int_equal(mq_queue_take_tokens(fx.queue, 7, &taken, &fx.err), MQ_OK);
    assert_int_equal(taken, 7);
    fx_set(&fx, "mailMaxPerHour", "40");
    assert_int_equal(mq_queue_take_tokens(fx.queue, 7, &taken, &fx.err), MQ_OK);
    assert_int_equal(taken, 5);
    fx_set(&fx, "mailRateMode", "strict");
    fx.now_s += 90;
    assert_int_equal(mq_queue_take_tokens(fx.queue, 7, &taken, &fx.err), MQ_OK);
    assert_int_equal(taken, 1);
    /* Mail sent in average mode counts as well. */
    assert_int_equal(fx_int(&fx, "SELECT sum(n) FROM mail_spent"), 6);
    fx_set(&fx, "mailMaxPerHour", "7");
    fx.now_s += 1800;
    assert_int_equal(mq_queue_take_tokens(fx.queue, 7, &taken, &fx.err), MQ_OK);
    assert_int_equal(taken, 1);
    fx_close(&fx);
}

/* ---- the test redirect ---- */

static void claim_one(struct fixture *fx, const char *type)
{
    fx_sql(fx, "DELETE FROM mail_queue");
    fx_enqueue(fx, &(struct mail){.type = type,
                                  .recipients = "Anna@example.org b@x.example Anna@EXAMPLE.org",
                                  .body = "x"});
    assert_int_equal(fx_claim(fx), 1);
}

static void test_redirect(void **state)
{
    (void)state;
    struct fixture fx;
    fx_open(&fx);
    claim_one(&fx, "user");
    assert_int_equal(fx.claim.jobs[0].targets.count, 2); /* equal addresses are one */
    assert_int_equal(fx.claim.jobs[0].target_of[2], 0);
    fx_set(&fx, "mailRedirectTo", "test@example.net");
    claim_one(&fx, "user");
    assert_int_equal(fx.claim.jobs[0].targets.count, 1);
    assert_target(&fx, 0, "test@example.net");
    assert_int_equal(fx.claim.jobs[0].target_of[2], 0);
    assert_string_equal(fx.claim.jobs[0].original_to,
                        "Anna@example.org, b@x.example, Anna@EXAMPLE.org");
    claim_one(&fx, "organizer"); /* every type but this */
    assert_target(&fx, 0, "Anna@example.org");
    assert_null(fx.claim.jobs[0].original_to);
    fx_set(&fx, "mailRedirectTypes", "organizer , report");
    claim_one(&fx, "organizer");
    assert_target(&fx, 0, "test@example.net");
    claim_one(&fx, "user");
    assert_target(&fx, 0, "Anna@example.org");
    fx_set(&fx, "mailRedirectTypes", "every type but report, user");
    claim_one(&fx, "user");
    assert_target(&fx, 0, "Anna@example.org");
    claim_one(&fx, "organizer");
    assert_target(&fx, 0, "test@example.net");
    fx_set(&fx, "mailRedirectTypes", "");
    fx_set(&fx, "mailRedirectTo", "@example.net");
    claim_one(&fx, "user");
    assert_target(&fx, 0, "Anna@example.net");
    assert_target(&fx, 1, "b@example.net");
    fx_set(&fx, "mailRedirectToSchumbi", "1");
    claim_one(&fx, "user");
    assert_target(&fx, 0, "Anna@example.net");
    fx_set(&fx, "mailRedirectTo", NULL);
    claim_one(&fx, "user");
    assert_target(&fx, 0, "Anna@schumbi.de");
    fx_close(&fx);
}

static void test_redirect_costs_its_targets(void **state)
{
    (void)state;
    struct fixture fx;
    fx_open(&fx);
    fx_set(&fx, "mailMaxPerHour", "2");
    fx_set(&fx, "mailRedirectTo", "test@example.net");
    claim_one(&fx, "user");
    assert_int_equal(fx.claim.jobs[0].paid, 1);
    fx_close(&fx);
}

static void test_live_period(void **state)
{
    (void)state;
    struct fixture fx;
    fx_open(&fx);
    fx_set(&fx, "mailRedirectTo", "test@example.net");
    fx_set(&fx, "mailLiveFrom", "2027-01-15T08:00:00Z"); /* START is 08:00:00 that day */
    fx_set(&fx, "mailLiveUntil", "2027-01-15 10:00:10+02:00");
    fx.now_s = START - 1;
    claim_one(&fx, "user");
    assert_target(&fx, 0, "test@example.net");
    fx.now_s = START;
    claim_one(&fx, "user");
    assert_target(&fx, 0, "Anna@example.org");
    fx.now_s = START + 9;
    claim_one(&fx, "user");
    assert_target(&fx, 0, "Anna@example.org");
    fx.now_s = START + 10;
    claim_one(&fx, "user");
    assert_target(&fx, 0, "test@example.net");
    fx_set(&fx, "mailLiveUntil", NULL);
    claim_one(&fx, "user");
    assert_target(&fx, 0, "Anna@example.org");
    fx_set(&fx, "mailLiveFrom", NULL);
    fx_set(&fx, "mailLiveUntil", "1800000011");
    claim_one(&fx, "user");
    assert_target(&fx, 0, "Anna@example.org");
    fx.now_s = START + 11;
    claim_one(&fx, "user");
    assert_target(&fx, 0, "test@example.net");
    fx_close(&fx);
}

/* ---- values that cannot be read ---- */

static void test_poison_stops_the_claim(void **state)
{
    (void)state;
    static const char *const bad[][2] = {
        {"mailQueueEnabled", "maybe"},    {"mailMaxPerHour", "60.5"},
        {"mailMaxPerHour", "-1"},         {"mailBurst", "0"},
        {"mailRateMode", "Strict!"},      {"mailTokens", "many"},
        {"mailLastRefill", "yesterday"},  {"mailRelayPause", "[1]"},
        {"mailRedirectTo", "nobody"},     {"mailRedirectTo", "a@x.org, b@x.org"},
        {"mailRedirectTo", "@"},          {"mailRedirectToSchumbi", "2"},
        {"mailRedirectTypes", "user,,x"}, {"mailRedirectTypes", "every type but"},
        {"mailLiveFrom", "2026-02-30"},   {"mailLiveUntil", "tomorrow"}};
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        struct fixture fx;
        fx_open(&fx);
        fx_mail(&fx, "a@example.org");
        fx_mail(&fx, "b@example.org");
        fx.request.limit = 1;
        fx_claim(&fx);
        fx_set_raw(&fx, bad[i][0], bad[i][1]);
        unsigned char sent = MQ_OUTCOME_DELIVERED;
        struct mq_settlement outcome = {
            .job = &fx.claim.jobs[0], .results = &sent, .retry_after_s = -1, .ms = -1};
        struct mq_claim next = {0};
        struct mq_cycle cycle = {
            .outcomes = &outcome, .outcome_count = 1, .request = &fx.request, .claim = &next};
        struct mq_relay_state relay = {.name = "r"};
        fx.request.relays = &relay;
        fx.request.relay_count = 1;
        assert_int_equal(mq_queue_cycle(fx.queue, &cycle, &fx.err), MQ_OK);
        assert_int_equal(next.count, 0);
        assert_int_equal(next.status, MQ_CONFIG);
        assert_string_equal(next.error.field, bad[i][0]);
        assert_non_null(strstr(next.error.text, bad[i][1]));
        assert_int_equal(fx_int(&fx, "SELECT count(*) FROM mail_queue"), 1); /* settled */
        assert_int_equal(mq_queue_set_config(fx.queue, bad[i][0], bad[i][1], &fx.err), MQ_INVALID);
        assert_string_equal(fx.err.field, bad[i][0]);
        fx_set_raw(&fx, bad[i][0], ""); /* an empty value, as from a form, counts as unset */
        assert_int_equal(fx_claim(&fx), 1);
        fx_close(&fx);
    }
}

static void test_times(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        int64_t at_s; /* -1: not a time */
    } times[] = {
        {"0", 0},
        {"1800000000", 1800000000},
        {"1970-01-01", 0},
        {"2024-02-29", 1709164800},
        {"2027-01-15T08:00:00Z", 1800000000},
        {"2027-01-15 08:00", 1800000000},
        {"2027-01-15 10:00:00+02:00", 1800000000},
        {"2027-01-15T03:30:00-0430", 1800000000},
        {"2027-01-15T09:00+01", 1800000000},
        {"9999-12-31T23:59:59Z", 253402300799},
        {"", -1},
        {"tomorrow", -1},
        {"2025-02-29", -1},
        {"2027-13-01", -1},
        {"2027-01-00", -1},
        {"1969-12-31", -1},
        {"2027-01-15T", -1},
        {"2027-01-15T08", -1},
        {"2027-01-15T24:00", -1},
        {"2027-01-15T08:60", -1},
        {"2027-01-15T08:00:60", -1},
        {"2027-01-15T08:00:00Zulu", -1},
        {"2027-01-15T08:00:00+24:00", -1},
        {"2027-01-15T08:00:00+", -1},
        {"2027-01-15T08:00:00+02:", -1},
        {"2027-01-15T08:00:00+02:60", -1},
        {"2027-01-15 tea time", -1},
        {"253402300800", -1},
        {"-1", -1},
        {"10000-01-01", -1},
    };
    for (size_t i = 0; i < sizeof(times) / sizeof(times[0]); i++) {
        int64_t at_s = -1;
        bool is_time =
            mq_config_parse(mq_config_keys[MQ_KEY_LIVE_FROM].kind, mq_str_of(times[i].text), &at_s);
        if (is_time != (times[i].at_s >= 0) || (is_time && at_s != times[i].at_s)) {
            fail_msg("%s: %d, %lld", times[i].text, is_time, (long long)at_s);
        }
    }
}

static void test_table_of_keys(void **state)
{
    (void)state;
    struct fixture fx;
    assert_int_equal(MQ_KEY_COUNT, 33);
    for (size_t i = 0; i < MQ_KEY_COUNT; i++) {
        const struct mq_config_key *key = &mq_config_keys[i];
        assert_non_null(key->kind->range);
        assert_non_null(key->standard);
        assert_true(strlen(key->meaning) > 20);
        assert_ptr_equal(mq_config_key(key->name), key);
        int64_t value = 0;
        bool has_value = key->standard[0] != '\0' && !key->computed;
        bool is_value = key->standard[0] != '\0' &&
                        mq_config_parse(key->kind, mq_str_of(key->standard), &value);
        assert_int_equal(has_value, is_value);
        if (key->alias) { /* its value is one that the other key can have, and both are read */
            const struct mq_config_key *other = &mq_config_keys[key->alias_of];
            assert_true(mq_config_parse(other->kind, mq_str_of(key->alias), &value));
            assert_true(key->in_claims && other->in_claims);
        }
    }
    assert_null(mq_config_key("siteName"));
    fx_open(&fx);
    char *value = NULL;
    assert_int_equal(mq_queue_set_config(fx.queue, "mailSchemaVersion", "4", &fx.err), MQ_INVALID);
    fx_set(&fx, "siteName", "anything"); /* the application's own */
    assert_int_equal(mq_queue_config(fx.queue, "siteName", &value, &fx.err), MQ_OK);
    assert_string_equal(value, "anything");
    free(value);
    fx_set(&fx, "siteName", NULL);
    assert_int_equal(mq_queue_config(fx.queue, "siteName", &value, &fx.err), MQ_OK);
    assert_null(value);
    fx_close(&fx);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_forty_an_hour),
        cmocka_unit_test(test_tokens_come_back),
        cmocka_unit_test(test_clock_jumps),
        cmocka_unit_test(test_composed_pays_in_two_steps),
        cmocka_unit_test(test_dearer_than_the_bucket),
        cmocka_unit_test(test_deferred_one_starves_nobody),
        cmocka_unit_test(test_strict_ledger),
        cmocka_unit_test(test_take_tokens),
        cmocka_unit_test(test_redirect),
        cmocka_unit_test(test_redirect_costs_its_targets),
        cmocka_unit_test(test_live_period),
        cmocka_unit_test(test_poison_stops_the_claim),
        cmocka_unit_test(test_times),
        cmocka_unit_test(test_table_of_keys),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
