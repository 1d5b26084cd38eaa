/* Campaigns in the queue: feeding, counting, pausing, cancelling, ending, suppression. */
#include "queue/campaign/campaign.h"
#include "queue/campaign/progress.h"
#include "queue_fixture.h"

#include "queue/suppress/suppress.h"

static int64_t new_campaign(struct fixture *fx, const char *name)
{
    int64_t id = 0;
    const struct mq_campaign_setup setup = {.message = MQ_STR("octets"),
                                            .mail_type = MQ_STR("campaign"),
                                            .priority = -10,
                                            .message_id = "<c@example.org>",
                                            .envelope_from = "news@example.org",
                                            .list = MQ_STR("news")};
    assert_int_equal(mq_campaign_open(fx->queue, mq_str_of(name), &id, &fx->err), MQ_OK);
    assert_int_equal(mq_campaign_set(fx->queue, id, &setup, &fx->err), MQ_OK);
    return id;
}

/* Adds recipients 0 … count − 1. */
static int64_t add(struct fixture *fx, int64_t id, int count)
{
    static struct mq_recipient items[MQ_CAMPAIGN_ADD_MAX];
    static char addresses[MQ_CAMPAIGN_ADD_MAX][40];
    struct mq_recipients all = {.items = items, .count = (size_t)count};
    assert_true(count <= MQ_CAMPAIGN_ADD_MAX);
    for (int i = 0; i < count; i++) {
        snprintf(addresses[i], sizeof(addresses[i]), "r%d@example.net", i);
        items[i] = (struct mq_recipient){.address = mq_str_of(addresses[i]),
                                         .name = MQ_STR("Ann"),
                                         .fields = MQ_STR("{\"a\":1}")};
    }
    if (mq_campaign_add(fx->queue, id, &all, &fx->err) != MQ_OK) {
        fail_msg("add: %s", fx->err.text);
    }
    return all.added;
}

static void act(struct fixture *fx, int64_t id, enum mq_campaign_act what)
{
    if (mq_campaign_do(fx->queue, id, what, 0, &fx->err) != MQ_OK) {
        fail_msg("act: %s", fx->err.text);
    }
}

static int64_t running(struct fixture *fx, int count)
{
    int64_t id = new_campaign(fx, "spring");
    assert_int_equal(add(fx, id, count), count);
    act(fx, id, MQ_CAMPAIGN_START);
    return id;
}

static void settle_all(struct fixture *fx, enum mq_outcome outcome)
{
    for (size_t i = 0; i < fx->claim.count; i++) {
        fx_kind(fx, i, outcome, NULL);
    }
}

static void test_names(void **state)
{
    (void)state;
    int64_t id, again;
    struct fixture fx;
    fx_open(&fx);
    assert_int_equal(mq_campaign_open(fx.queue, MQ_STR("spring"), &id, &fx.err), MQ_OK);
    assert_int_equal(mq_campaign_open(fx.queue, MQ_STR("spring"), &again, &fx.err), MQ_OK);
    assert_int_equal(id, again);
    assert_int_equal(mq_campaign_open(fx.queue, MQ_STR("fall"), &again, &fx.err), MQ_OK);
    assert_int_not_equal(id, again);
    assert_int_equal(mq_campaign_open(fx.queue, MQ_STR(""), &again, &fx.err), MQ_INVALID);
    assert_int_equal(mq_campaign_open(fx.queue, MQ_STR("a\nb"), &again, &fx.err), MQ_INVALID);
    fx_assert_text(&fx, "SELECT state FROM mail_campaign WHERE name = 'spring'", "draft");
    fx_close(&fx);
}

static void test_needs_a_message(void **state)
{
    (void)state;
    int64_t id;
    struct fixture fx;
    fx_open(&fx);
    assert_int_equal(mq_campaign_open(fx.queue, MQ_STR("spring"), &id, &fx.err), MQ_OK);
    assert_int_equal(mq_campaign_do(fx.queue, id, MQ_CAMPAIGN_START, 0, &fx.err), MQ_CONFIG);
    assert_string_equal(fx.err.field, "message");
    fx_close(&fx);
}

static void test_recipients_once(void **state)
{
    (void)state;
    struct fixture fx;
    fx_open(&fx);
    int64_t id = new_campaign(&fx, "spring");
    assert_int_equal(add(&fx, id, 10), 10);
    assert_int_equal(add(&fx, id, 15), 5);
    assert_int_equal(add(&fx, new_campaign(&fx, "fall"), 3), 3);
    struct mq_recipient same = {.address = MQ_STR("R1@EXAMPLE.net")};
    struct mq_recipients twin = {.items = &same, .count = 1};
    assert_int_equal(mq_campaign_add(fx.queue, id, &twin, &fx.err), MQ_OK);
    assert_int_equal(twin.added, 0);
    assert_int_equal(fx_int(&fx, "SELECT recipients FROM mail_campaign WHERE name = 'spring'"), 15);
    assert_int_equal(fx_int(&fx, "SELECT count(*) FROM mail_recipient"), 18);
    fx_close(&fx);
}

static void test_runs_to_its_end(void **state)
{
    (void)state;
    struct fixture fx;
    fx_open(&fx);
    running(&fx, 3);
    assert_int_equal(fx_claim(&fx), 0);
    assert_int_equal(fx.claim.end, MQ_CLAIM_MORE);
    assert_int_equal(fx_claim(&fx), 3);
    const struct mq_job *job = &fx.claim.jobs[0];
    assert_int_equal(job->body_state, MQ_BODY_NONE);
    assert_string_equal(job->recipients.items[0], "r0@example.net");
    assert_string_equal(job->envelope_from, "news@example.org");
    assert_string_equal(job->recipient_name, "Ann");
    assert_string_equal(job->recipient_fields, "{\"a\":1}");
    assert_string_equal(job->scope, "list:news");
    assert_int_equal(job->priority, -10);
    char id[60];
    snprintf(id, sizeof(id), "<c.%lld@example.org>", (long long)job->recipient_id);
    assert_string_equal(job->message_id, id);
    settle_all(&fx, MQ_OUTCOME_DELIVERED);
    fx_assert_text(&fx, "SELECT state FROM mail_campaign", "running");
    fx_claim(&fx);
    assert_true(fx.claim.finished);
    fx_assert_text(&fx, "SELECT state FROM mail_campaign", "finished");
    assert_int_equal(fx_int(&fx, "SELECT sent FROM mail_campaign"), 3);
    fx_claim(&fx);
    assert_false(fx.claim.finished);
    fx_assert_text(&fx, "SELECT value FROM config WHERE key = 'mailCampaigns'", "0");
    fx_close(&fx);
}

/* The claim in the transaction of the last settle ends the campaign. */
static void test_the_last_settle_ends_it(void **state)
{
    (void)state;
    struct fixture fx;
    struct mq_claim claim = {0};
    fx_open(&fx);
    running(&fx, 1);
    fx_claim(&fx);
    assert_int_equal(fx_claim(&fx), 1);
    struct mq_settlement outcome = {.job = &fx.claim.jobs[0],
                                    .outcome = MQ_OUTCOME_DELIVERED,
                                    .at_s = fx.now_s,
                                    .retry_after_s = -1,
                                    .ms = -1};
    struct mq_cycle cycle = {
        .outcomes = &outcome, .outcome_count = 1, .request = &fx.request, .claim = &claim};
    assert_int_equal(mq_queue_cycle(fx.queue, &cycle, &fx.err), MQ_OK);
    assert_true(claim.finished);
    mq_claim_clear(&claim);
    fx_close(&fx);
}

/* It is fed up to a thousand, and again when a quarter of them is claimed. */
static void test_feeds_a_thousand(void **state)
{
    (void)state;
    struct fixture fx;
    fx_open(&fx);
    running(&fx, 1500);
    fx_claim(&fx);
    assert_int_equal(fx_int(&fx, "SELECT count(*) FROM mail_queue"), MQ_CAMPAIGN_LIVE);
    for (int i = 1; i <= 2; i++) {
        assert_int_equal(fx_claim(&fx), 100);
        settle_all(&fx, MQ_OUTCOME_DELIVERED);
        assert_int_equal(fx_int(&fx, "SELECT count(*) FROM mail_queue"),
                         MQ_CAMPAIGN_LIVE - i * 100);
    }
    assert_int_equal(fx_claim(&fx), 100);
    assert_int_equal(fx_int(&fx, "SELECT count(*) FROM mail_queue"), MQ_CAMPAIGN_LIVE);
    assert_int_equal(fx_int(&fx, "SELECT fed FROM mail_campaign"), 1200);
    fx_close(&fx);
}

/* Each campaign has the recipients that were added to it, and no others. */
static void test_several(void **state)
{
    (void)state;
    struct fixture fx;
    fx_open(&fx);
    running(&fx, 3);
    int64_t other = new_campaign(&fx, "fall");
    add(&fx, other, 2);
    act(&fx, other, MQ_CAMPAIGN_START);
    fx_claim(&fx);
    assert_int_equal(fx_claim(&fx), 5);
    settle_all(&fx, MQ_OUTCOME_DELIVERED);
    fx_claim(&fx);
    assert_int_equal(fx_int(&fx, "SELECT sent FROM mail_campaign WHERE name = 'spring'"), 3);
    assert_int_equal(fx_int(&fx, "SELECT sent FROM mail_campaign WHERE name = 'fall'"), 2);
    assert_int_equal(fx_int(&fx, "SELECT count(*) FROM mail_campaign WHERE state = 'finished'"), 2);
    fx_close(&fx);
}

/* Mail with a higher priority goes first, whatever a campaign has. */
static void test_goes_behind_other_mail(void **state)
{
    (void)state;
    struct fixture fx;
    fx_open(&fx);
    running(&fx, 200);
    fx_claim(&fx);
    fx_mail(&fx, "a@example.org");
    assert_int_equal(fx_claim(&fx), 100);
    assert_string_equal(fx.claim.jobs[0].recipients.items[0], "a@example.org");
    fx_close(&fx);
}

static void test_starts_later(void **state)
{
    (void)state;
    struct fixture fx;
    fx_open(&fx);
    int64_t id = new_campaign(&fx, "spring");
    add(&fx, id, 2);
    assert_int_equal(mq_campaign_do(fx.queue, id, MQ_CAMPAIGN_START, START + 60, &fx.err), MQ_OK);
    assert_int_equal(fx_claim(&fx), 0);
    assert_int_equal(fx.claim.end, MQ_CLAIM_EMPTY);
    assert_int_equal(fx.claim.resume_s, START + 60);
    fx.now_s += 60;
    fx_claim(&fx);
    assert_int_equal(fx_claim(&fx), 2);
    fx_close(&fx);
}

static void test_pauses(void **state)
{
    (void)state;
    struct fixture fx;
    fx_open(&fx);
    fx.request.limit = 2;
    int64_t id = running(&fx, 5);
    fx_claim(&fx);
    assert_int_equal(fx_claim(&fx), 2);
    act(&fx, id, MQ_CAMPAIGN_PAUSE);
    act(&fx, id, MQ_CAMPAIGN_PAUSE);
    assert_int_equal(fx_int(&fx, "SELECT count(*) FROM mail_queue WHERE status = 'held'"), 3);
    /* What was being sent is settled; what would be tried again waits as well. */
    fx_kind(&fx, 0, MQ_OUTCOME_DELIVERED, NULL);
    fx_kind(&fx, 1, MQ_OUTCOME_DEFERRED, "later");
    assert_int_equal(fx_int(&fx, "SELECT count(*) FROM mail_queue WHERE status = 'held'"), 4);
    fx.now_s += 86400;
    assert_int_equal(fx_claim(&fx), 0);
    act(&fx, id, MQ_CAMPAIGN_RESUME);
    assert_int_equal(fx_int(&fx, "SELECT count(*) FROM mail_queue WHERE status = 'failed'"), 1);
    assert_int_equal(fx_int(&fx, "SELECT count(*) FROM mail_queue WHERE status = 'pending'"), 3);
    fx.request.limit = 100;
    assert_int_equal(fx_claim(&fx), 4);
    settle_all(&fx, MQ_OUTCOME_DELIVERED);
    fx_claim(&fx);
    fx_assert_text(&fx, "SELECT state FROM mail_campaign", "finished");
    fx_close(&fx);
}

static void test_cancels(void **state)
{
    (void)state;
    struct fixture fx;
    fx_open(&fx);
    fx.request.limit = 2;
    int64_t id = running(&fx, 1500);
    fx_claim(&fx);
    assert_int_equal(fx_claim(&fx), 2);
    act(&fx, id, MQ_CAMPAIGN_CANCEL);
    assert_int_equal(fx_int(&fx, "SELECT count(*) FROM mail_queue"), 2);
    fx_kind(&fx, 0, MQ_OUTCOME_DELIVERED, NULL);
    fx_kind(&fx, 1, MQ_OUTCOME_DEFERRED, "later");
    assert_int_equal(fx_int(&fx, "SELECT count(*) FROM mail_queue"), 0);
    assert_int_equal(fx_int(&fx, "SELECT sent FROM mail_campaign"), 1);
    fx.now_s += 86400;
    assert_int_equal(fx_claim(&fx), 0);
    assert_int_equal(mq_campaign_do(fx.queue, id, MQ_CAMPAIGN_RESUME, 0, &fx.err), MQ_CONFIG);
    fx_assert_text(&fx, "SELECT state FROM mail_campaign", "cancelled");
    fx_close(&fx);
}

/* A campaign can end between two transactions of one add(): the rest makes it run again, and that
 * is not told again. */
static void test_added_after_the_end(void **state)
{
    (void)state;
    struct fixture fx;
    int64_t told = 0;
    fx_open(&fx);
    int64_t id = running(&fx, 2);
    fx_claim(&fx);
    fx_claim(&fx);
    settle_all(&fx, MQ_OUTCOME_DELIVERED);
    fx_claim(&fx);
    assert_int_equal(mq_campaign_take_finished(fx.queue, &told, &fx.err), MQ_OK);
    assert_int_equal(add(&fx, id, 2), 0);
    fx_assert_text(&fx, "SELECT state FROM mail_campaign", "finished");
    assert_int_equal(add(&fx, id, 3), 1);
    fx_claim(&fx);
    assert_int_equal(fx_claim(&fx), 1);
    settle_all(&fx, MQ_OUTCOME_DELIVERED);
    fx_claim(&fx);
    fx_assert_text(&fx, "SELECT state FROM mail_campaign", "finished");
    assert_int_equal(fx_int(&fx, "SELECT sent FROM mail_campaign"), 3);
    assert_int_equal(mq_campaign_take_finished(fx.queue, &told, &fx.err), MQ_OK);
    assert_int_equal(told, 0);
    fx_close(&fx);
}

/* A parked mail that is tried again waits while the campaign is paused, and is not sent for one
 * that is cancelled. */
static void test_retried_while_stopped(void **state)
{
    (void)state;
    struct fixture fx;
    int64_t changed = 0;
    fx_open(&fx);
    int64_t id = running(&fx, 2);
    fx_claim(&fx);
    assert_int_equal(fx_claim(&fx), 2);
    fx_settle(&fx, 0, "r");
    fx_settle(&fx, 1, "r");
    act(&fx, id, MQ_CAMPAIGN_PAUSE);
    int64_t first = fx_int(&fx, "SELECT min(id) FROM mail_queue");
    assert_int_equal(mq_queue_retry(fx.queue, &(struct mq_ids){&first, 1}, true, &changed, &fx.err),
                     MQ_OK);
    fx_assert_text(&fx, "SELECT status FROM mail_queue ORDER BY id LIMIT 1", "held");
    act(&fx, id, MQ_CAMPAIGN_CANCEL);
    assert_int_equal(mq_queue_retry(fx.queue, NULL, true, &changed, &fx.err), MQ_OK);
    assert_int_equal(fx_claim(&fx), 0);
    assert_int_equal(fx_int(&fx, "SELECT count(*) FROM mail_queue"), 0);
    fx_close(&fx);
}

static void suppress(struct fixture *fx, const char *address, const char *scope)
{
    int64_t added = -1;
    const struct mq_suppression one = {
        .address = mq_str_of(address), .scope = mq_str_of(scope), .reason = MQ_STR("unsubscribe")};
    assert_int_equal(mq_queue_suppress(fx->queue, &one, 1, &added, &fx->err), MQ_OK);
}

/* Before the recipients were added, while they wait, and when they have jobs already. */
static void test_suppressed(void **state)
{
    (void)state;
    struct fixture fx;
    fx_open(&fx);
    suppress(&fx, "r0@example.net", "list:news");
    suppress(&fx, "r5@example.net", "list:shop");
    running(&fx, 6);
    suppress(&fx, "r1@example.net", NULL);
    fx_claim(&fx);
    suppress(&fx, "R2@example.net", "list:news");
    assert_int_equal(fx_claim(&fx), 3);
    assert_string_equal(fx.claim.jobs[0].recipients.items[0], "r3@example.net");
    settle_all(&fx, MQ_OUTCOME_DELIVERED);
    fx_claim(&fx);
    assert_int_equal(fx_int(&fx, "SELECT suppressed FROM mail_campaign"), 3);
    assert_int_equal(fx_int(&fx, "SELECT sent FROM mail_campaign"), 3);
    fx_assert_text(&fx, "SELECT state FROM mail_campaign", "finished");
    fx_close(&fx);
}

static void test_failures(void **state)
{
    (void)state;
    struct fixture fx;
    struct mq_campaign_progress progress;
    struct mq_job_list list;
    int64_t changed = 0;
    fx_open(&fx);
    int64_t id = running(&fx, 4);
    fx_claim(&fx);
    assert_int_equal(fx_claim(&fx), 4);
    fx_settle(&fx, 0, "r");
    fx_settle(&fx, 1, "u");
    fx_settle(&fx, 2, "a");
    assert_int_equal(mq_campaign_look(fx.queue, id, &progress, &fx.err), MQ_OK);
    assert_int_equal(progress.refused, 1);
    assert_int_equal(progress.jobs[MQ_PARKED], 1);
    assert_int_equal(progress.jobs[MQ_FAILED], 1);
    assert_int_equal(progress.jobs[MQ_SENDING], 1);
    assert_int_equal(progress.campaign.sent, 1);
    assert_int_equal(progress.campaign.uncertain, 1);
    mq_campaign_clear(&progress.campaign);
    assert_int_equal(
        mq_campaign_failures(fx.queue, &(struct mq_campaign_page){id, 0, 10}, &list, &fx.err),
        MQ_OK);
    assert_int_equal(list.count, 1);
    assert_non_null(strstr(list.jobs[0].last_error, "no such user"));
    mq_job_list_clear(&list);
    fx_settle(&fx, 3, "a");
    fx.now_s += 86400;
    assert_int_equal(fx_claim(&fx), 1);
    fx_settle(&fx, 0, "a");
    fx_claim(&fx);
    fx_assert_text(&fx, "SELECT state FROM mail_campaign", "finished");
    /* A second try ends it again, which is not told again. */
    int64_t told = 0;
    assert_int_equal(mq_campaign_take_finished(fx.queue, &told, &fx.err), MQ_OK);
    assert_int_equal(told, id);
    assert_int_equal(mq_campaign_take_finished(fx.queue, &told, &fx.err), MQ_OK);
    assert_int_equal(told, 0);
    fx_assert_text(&fx, "SELECT on_finished FROM mail_campaign", "begun");
    assert_int_equal(mq_campaign_told(fx.queue, id, &fx.err), MQ_OK);
    assert_int_equal(mq_campaign_retry(fx.queue, id, &changed, &fx.err), MQ_OK);
    assert_int_equal(changed, 1);
    assert_int_equal(fx_claim(&fx), 1);
    fx_settle(&fx, 0, "a");
    fx_claim(&fx);
    assert_int_equal(fx_int(&fx, "SELECT sent FROM mail_campaign"), 4);
    fx_assert_text(&fx, "SELECT state || ' ' || on_finished FROM mail_campaign", "finished called");
    assert_int_equal(mq_campaign_take_finished(fx.queue, &told, &fx.err), MQ_OK);
    assert_int_equal(told, 0);
    fx_close(&fx);
}

/* Without a campaign, a claim asks for none. */
static void test_costs_nothing_without(void **state)
{
    (void)state;
    struct fixture fx;
    fx_open(&fx);
    fx_sql(&fx, "DROP TABLE mail_campaign; DROP TABLE mail_recipient");
    fx_mail(&fx, "a@example.org");
    assert_int_equal(fx_claim(&fx), 1);
    fx_kind(&fx, 0, MQ_OUTCOME_DELIVERED, NULL);
    fx_close(&fx);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_names),
        cmocka_unit_test(test_needs_a_message),
        cmocka_unit_test(test_recipients_once),
        cmocka_unit_test(test_runs_to_its_end),
        cmocka_unit_test(test_the_last_settle_ends_it),
        cmocka_unit_test(test_feeds_a_thousand),
        cmocka_unit_test(test_several),
        cmocka_unit_test(test_goes_behind_other_mail),
        cmocka_unit_test(test_starts_later),
        cmocka_unit_test(test_pauses),
        cmocka_unit_test(test_cancels),
        cmocka_unit_test(test_added_after_the_end),
        cmocka_unit_test(test_retried_while_stopped),
        cmocka_unit_test(test_suppressed),
        cmocka_unit_test(test_failures),
        cmocka_unit_test(test_costs_nothing_without),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
