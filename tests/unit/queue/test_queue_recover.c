/* Recovery: leases whose worker is gone. */
#include "queue/config/relays.h"
#include "queue_fixture.h"

static const struct mq_recorded nothing = {.outcome = MQ_OUTCOME_UNCERTAIN},
                                never_begun = {.outcome = MQ_OUTCOME_RELEASED},
                                begun = {.outcome = MQ_OUTCOME_DEFERRED},
                                body_out = {.by_recipient = true},
                                replied = {.by_recipient = true, .replied = true};

/* Answers for every job as the dead worker's intent record would. */
struct said {
    struct mq_recorded record;
    int asked;
};

static void find(void *context, const char *token, int64_t job_id, struct mq_recorded *out)
{
    struct said *said = context;
    assert_string_equal(token, TOKEN_A);
    assert_true(job_id > 0);
    said->asked++;
    *out = said->record;
}

struct lost {
    struct fixture fx;
    struct said said;
    struct mq_record_source source;
    const char *dead[1];
};

/* A job with three recipients, claimed by token A under a limit; B knows that A is dead. */
static void lose(struct lost *l, struct mq_recorded record)
{
    memset(l, 0, sizeof(*l));
    fx_open(&l->fx);
    fx_set(&l->fx, "mailMaxPerHour", "36");
    fx_set(&l->fx, "mailRateMode", "strict");
    fx_mail(&l->fx, "a@example.org b@example.org c@example.org");
    assert_int_equal(fx_claim(&l->fx), 1);
    l->said.record = record;
    l->source = (struct mq_record_source){find, &l->said};
    l->dead[0] = TOKEN_A;
    l->fx.request.token = TOKEN_B;
    l->fx.request.records = &l->source;
    l->fx.request.dead_tokens = l->dead;
    l->fx.request.dead_count = 1;
    l->fx.request.limit = 0;
    l->fx.now_s += 10;
}

static void status_is(struct lost *l, const char *status, int attempts)
{
    fx_assert_text(&l->fx, "SELECT status FROM mail_queue", status);
    assert_int_equal(fx_int(&l->fx, "SELECT attempts FROM mail_queue"), attempts);
    assert_int_equal(fx_int(&l->fx, "SELECT paid FROM mail_queue"), 0);
    assert_int_equal(fx_int(&l->fx, "SELECT locked_by IS NULL FROM mail_queue"), 1);
}

static int64_t spent(struct lost *l)
{
    return fx_int(&l->fx, "SELECT coalesce(sum(n), 0) FROM mail_spent");
}

static void test_never_begun(void **state)
{
    (void)state;
    struct lost l;
    lose(&l, never_begun);
    fx_claim(&l.fx);
    assert_string_equal(fx_events(&l.fx), "recovered");
    assert_int_equal(l.said.asked, 1);
    status_is(&l, "pending", 0);
    assert_int_equal(fx_int(&l.fx, "SELECT next_attempt_at FROM mail_queue"), START);
    assert_int_equal(spent(&l), 0);
    assert_true(fx_tokens(&l.fx) > 4.9); /* all given back */
    fx_close(&l.fx);
}

static void test_begun(void **state)
{
    (void)state;
    struct lost l;
    lose(&l, begun);
    fx_claim(&l.fx);
    assert_string_equal(fx_events(&l.fx), "try_later");
    status_is(&l, "failed", 1);
    assert_int_equal(fx_int(&l.fx, "SELECT next_attempt_at FROM mail_queue"), START + 70);
    fx_assert_text(&l.fx, "SELECT last_error FROM mail_queue",
                   "the worker died before the message was sent");
    assert_int_equal(spent(&l), 0);
    fx_close(&l.fx);
}

/* A mail that kills its worker is parked in the end. */
static void test_a_mail_that_kills(void **state)
{
    (void)state;
    struct lost l;
    lose(&l, begun);
    fx_sql(&l.fx, "UPDATE mail_queue SET max_attempts = 1");
    fx_claim(&l.fx);
    assert_string_equal(fx_events(&l.fx), "parked");
    fx_assert_text(&l.fx, "SELECT parked_for FROM mail_queue", "exhausted");
    fx_close(&l.fx);
}

static void test_body(void **state)
{
    (void)state;
    struct lost l;
    lose(&l, body_out);
    l.said.record.results[0] = MQ_OUTCOME_UNCERTAIN;
    l.said.record.results[1] = MQ_OUTCOME_REFUSED;
    l.said.record.handed_over = 1;
    l.said.record.at_s = START + 3;
    fx_claim(&l.fx);
    assert_string_equal(fx_events(&l.fx), "refused uncertain");
    status_is(&l, "failed", 1);
    assert_int_equal(fx_int(&l.fx, "SELECT uncertain FROM mail_queue"), 1);
    fx_assert_text(&l.fx, "SELECT recipients FROM mail_queue",
                   "[\"c@example.org\",\"a@example.org\"]");
    assert_int_equal(spent(&l), 1);
    assert_int_equal(fx_int(&l.fx, "SELECT at FROM mail_spent"), START + 10);
    fx_close(&l.fx);
}

static void test_body_and_hold(void **state)
{
    (void)state;
    struct lost l;
    lose(&l, body_out);
    l.said.record.results[0] = MQ_OUTCOME_UNCERTAIN;
    l.fx.request.on_uncertain = MQ_UNCERTAIN_HOLD;
    fx_claim(&l.fx);
    assert_string_equal(fx_events(&l.fx), "uncertain parked");
    status_is(&l, "parked", 1);
    fx_assert_text(&l.fx, "SELECT parked_for FROM mail_queue", "uncertain");
    fx_close(&l.fx);
}

static void test_no_record(void **state)
{
    (void)state;
    struct lost l;
    lose(&l, nothing);
    l.fx.request.dead_count = 0;
    fx_claim(&l.fx);
    fx_assert_text(&l.fx, "SELECT status FROM mail_queue", "sending"); /* its death is not known */
    l.fx.now_s = START + 899;
    fx_claim(&l.fx);
    fx_assert_text(&l.fx, "SELECT status FROM mail_queue", "sending");
    l.fx.now_s = START + 900;
    l.fx.request.records = NULL;
    fx_claim(&l.fx);
    assert_string_equal(fx_events(&l.fx), "uncertain");
    status_is(&l, "failed", 1);
    assert_int_equal(spent(&l), 3); /* any of them may have got it */
    assert_int_equal(fx_int(&l.fx, "SELECT at FROM mail_spent"), START + 900);
    fx_close(&l.fx);
}

/* Recipients that the claim did not reach are not uncertain: they were neither paid for nor in a
 * transaction. */
static void test_no_record_of_a_part(void **state)
{
    (void)state;
    struct lost l;
    lose(&l, nothing);
    l.fx.now_s = START + 900;
    l.fx.request.records = NULL;
    fx_sql(&l.fx, "UPDATE mail_queue SET paid = 1");
    fx_claim(&l.fx);
    assert_string_equal(fx_events(&l.fx), "uncertain");
    assert_int_equal(l.fx.events.items[0].recipients, 1);
    fx_assert_text(&l.fx, "SELECT recipients FROM mail_queue",
                   "[\"b@example.org\",\"c@example.org\",\"a@example.org\"]");
    assert_int_equal(spent(&l), 1);
    fx_close(&l.fx);

    lose(&l, nothing);
    l.fx.now_s = START + 900;
    l.fx.request.records = NULL;
    fx_set(&l.fx, "mailRedirectTo", "test@example.org"); /* one address for all three */
    fx_sql(&l.fx, "UPDATE mail_queue SET paid = 1");
    fx_claim(&l.fx);
    assert_int_equal(l.fx.events.items[0].recipients, 3);
    fx_close(&l.fx);
}

static void test_done(void **state)
{
    (void)state;
    struct lost l;
    lose(&l, replied);
    memset(l.said.record.results, MQ_OUTCOME_DELIVERED, 3);
    l.said.record.handed_over = 3;
    l.said.record.at_s = START + 5;
    l.said.record.code = 250;
    fx_claim(&l.fx);
    assert_string_equal(fx_events(&l.fx), "sent");
    assert_int_equal(fx_int(&l.fx, "SELECT count(*) FROM mail_queue"), 0);
    assert_int_equal(fx_int(&l.fx, "SELECT count(*) FROM mail_body"), 0);
    assert_int_equal(spent(&l), 3);
    assert_int_equal(fx_int(&l.fx, "SELECT at FROM mail_spent"), START + 5);
    fx_close(&l.fx);

    lose(&l, replied);
    memset(l.said.record.results, MQ_OUTCOME_DEFERRED, 3);
    l.said.record.code = 451;
    fx_claim(&l.fx);
    assert_string_equal(fx_events(&l.fx), "try_later");
    fx_close(&l.fx);
}

/* Recovered and claimed again in the same transaction. */
static void test_recover_then_claim(void **state)
{
    (void)state;
    struct lost l;
    lose(&l, never_begun);
    l.fx.request.limit = 10;
    assert_int_equal(fx_claim(&l.fx), 1);
    assert_string_equal(fx_events(&l.fx), "recovered claimed");
    assert_string_equal(l.fx.claim.jobs[0].locked_by, TOKEN_B);
    assert_int_equal(l.fx.claim.jobs[0].attempts, 1);
    fx_close(&l.fx);
}

static void test_recovery_without_claim(void **state)
{
    (void)state;
    struct fixture fx;
    int64_t count = -1;
    fx_open(&fx);
    for (int i = 0; i < 2100; i++) {
        fx_enqueue(&fx, &(struct mail){.body = "x", .recipients = "a@example.org"});
    }
    fx.request.limit = 2100;
    assert_int_equal(fx_claim(&fx), 2100);
    assert_int_equal(mq_queue_recover(fx.queue, 0, NULL, &count, &fx.err), MQ_OK);
    assert_int_equal(count, 0);
    assert_int_equal(mq_queue_recover(fx.queue, START + 900, NULL, &count, &fx.err), MQ_OK);
    assert_int_equal(count, 2100);
    assert_int_equal(fx_int(&fx, "SELECT count(*) FROM mail_queue WHERE status = 'failed'"), 2100);
    fx_close(&fx);
}

/* Rows that another program set to sending: parked for a person, not recovered again and again. */
static void test_sending_without_token(void **state)
{
    (void)state;
    struct fixture fx;
    int64_t count = 0;
    fx_open(&fx);
    for (int i = 0; i < 1000; i++) {
        fx_mail(&fx, "a@example.org");
    }
    fx_sql(&fx, "UPDATE mail_queue SET status = 'sending', locked_until = 1, "
                "locked_by = CASE WHEN id > 1 THEN printf('%40d', id) END");
    assert_int_equal(mq_queue_recover(fx.queue, 0, NULL, &count, &fx.err), MQ_OK);
    assert_int_equal(count, 1000);
    assert_int_equal(fx_int(&fx, "SELECT count(*) FROM mail_queue WHERE status = 'parked'"), 1000);
    fx_close(&fx);
}

static void test_a_thousand_a_turn(void **state)
{
    (void)state;
    struct fixture fx;
    fx_open(&fx);
    for (int i = 0; i < 1001; i++) {
        fx_mail(&fx, "a@example.org");
    }
    fx.request.limit = 1001;
    fx_claim(&fx);
    fx.now_s += 900;
    fx.request.token = TOKEN_B;
    assert_int_equal(fx_claim(&fx), 0);
    assert_int_equal(fx.claim.end, MQ_CLAIM_MORE);
    assert_int_equal(fx_int(&fx, "SELECT count(*) FROM mail_queue WHERE status = 'sending'"), 1);
    fx_claim(&fx);
    assert_int_equal(fx_int(&fx, "SELECT count(*) FROM mail_queue WHERE status = 'sending'"), 0);
    fx_close(&fx);
}

/* A claim that is switched off says so only when all is recovered. Until then it says which relays
 * are paused. */
static void test_more_while_off(void **state)
{
    (void)state;
    struct fixture fx;
    struct mq_relay_pause pause = {
        .relay = "smtp://relay", .reason = "down", .retry_after_s = 3600};
    struct mq_relay_state relays[] = {{.name = "smtp://relay"}, {.name = "smtp://other"}};
    fx_open(&fx);
    for (int i = 0; i < 1001; i++) {
        fx_mail(&fx, "a@example.org");
    }
    fx.request.limit = 1001;
    fx_claim(&fx);
    assert_int_equal(mq_queue_pause_relay(fx.queue, &pause, &fx.err), MQ_OK);
    fx_set(&fx, "mailQueueEnabled", "0");
    fx.now_s += 900;
    fx.request.relays = relays;
    fx.request.relay_count = 2;
    assert_int_equal(fx_claim(&fx), 0);
    assert_int_equal(fx.claim.end, MQ_CLAIM_MORE);
    assert_int_equal(relays[0].until_s, START + 3600);
    assert_int_equal(fx_claim(&fx), 0);
    assert_int_equal(fx.claim.end, MQ_CLAIM_DISABLED);
    assert_int_equal(fx_int(&fx, "SELECT count(*) FROM mail_queue WHERE status = 'sending'"), 0);
    fx_close(&fx);
}

/* Deleting large messages holds the write lock for a long time, so a cycle deletes only a few. */
static void test_large(void **state)
{
    (void)state;
    struct lost l = {.said = {.record = {.by_recipient = true, .replied = true, .handed_over = 1}}};
    struct fixture *fx = &l.fx;
    size_t len = 3 << 20;
    char *body = malloc(len + 1);
    assert_non_null(body);
    memset(body, 'x', len);
    body[len] = '\0';
    fx_open(fx);
    for (int i = 0; i < 3; i++) {
        fx_enqueue(fx, &(struct mail){.recipients = "a@example.org", .body = body});
    }
    free(body);
    assert_int_equal(fx_claim(fx), 3);
    l.said.record.results[0] = MQ_OUTCOME_DELIVERED;
    l.said.record.at_s = START;
    l.source = (struct mq_record_source){find, &l.said};
    fx->request.records = &l.source;
    fx->request.token = TOKEN_B;
    fx->now_s += 900;
    assert_int_equal(fx_claim(fx), 0);
    assert_int_equal(fx->claim.end, MQ_CLAIM_MORE);
    assert_string_equal(fx_events(fx), "sent sent");
    assert_int_equal(fx_int(fx, "SELECT count(*) FROM mail_body"), 1);
    assert_int_equal(fx_claim(fx), 0);
    assert_int_equal(fx->claim.end, MQ_CLAIM_EMPTY);
    assert_int_equal(fx_int(fx, "SELECT count(*) FROM mail_body"), 0);
    fx_close(fx);
}

/* A failed claim is reported and undoes the recovery before it, but not the settle. */
static void test_claim_fails_settle_stands(void **state)
{
    (void)state;
    struct fixture fx;
    struct mq_claim next;
    fx_init(&fx);
    fx.options.orphan_table = "registrations";
    fx.options.orphan_column = "number";
    fx_open_with(&fx, "CREATE TABLE registrations (number TEXT PRIMARY KEY);"
                      "INSERT INTO registrations VALUES ('R')");
    fx_set(&fx, "mailMaxPerHour", "36");
    fx_mail(&fx, "a@example.org");
    fx_enqueue(&fx, &(struct mail){.reference = "R", .priority = -1});
    fx.request.limit = 1;
    fx_claim(&fx);
    fx_sql(&fx, "DROP TABLE registrations");
    unsigned char refused = MQ_OUTCOME_REFUSED;
    struct mq_settlement outcome = {
        .job = &fx.claim.jobs[0], .results = &refused, .retry_after_s = -1, .ms = -1};
    struct mq_cycle cycle = {.outcomes = &outcome,
                             .outcome_count = 1,
                             .request = &fx.request,
                             .claim = &next,
                             .events = &fx.events};
    next = (struct mq_claim){0};
    fx.request.limit = 5;
    fx_sql(&fx, "INSERT INTO mail_queue (mail_type, status, next_attempt_at, created_at, "
                "message_id, priority) VALUES ('x', 'pending', 0, 0, '<x>', 5)");
    mq_events_truncate(&fx.events, 0);
    assert_int_equal(mq_queue_cycle(fx.queue, &cycle, &fx.err), MQ_OK);
    assert_int_equal(next.status, MQ_DATABASE);
    assert_non_null(strstr(next.error.text, "registrations"));
    assert_int_equal(next.count, 0);
    assert_string_equal(fx_events(&fx), "refused parked"); /* nothing from the claim */
    assert_int_equal(fx_int(&fx, "SELECT count(*) FROM mail_queue WHERE status = 'parked'"), 1);
    assert_int_equal(fx_int(&fx, "SELECT count(*) FROM mail_queue WHERE status = 'sending'"), 0);
    assert_true(fx_tokens(&fx) == 5.0); /* the claim's token too */
    mq_claim_clear(&next);
    fx_close(&fx);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_never_begun),
        cmocka_unit_test(test_begun),
        cmocka_unit_test(test_a_mail_that_kills),
        cmocka_unit_test(test_body),
        cmocka_unit_test(test_body_and_hold),
        cmocka_unit_test(test_no_record),
        cmocka_unit_test(test_no_record_of_a_part),
        cmocka_unit_test(test_done),
        cmocka_unit_test(test_recover_then_claim),
        cmocka_unit_test(test_recovery_without_claim),
        cmocka_unit_test(test_sending_without_token),
        cmocka_unit_test(test_a_thousand_a_turn),
        cmocka_unit_test(test_more_while_off),
        cmocka_unit_test(test_large),
        cmocka_unit_test(test_claim_fails_settle_stands),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
