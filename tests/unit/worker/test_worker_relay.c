/* Trouble with the relay: pauses and denials, and that neither counts as an attempt. Runs start
 * each minute, as from cron. */
#include "worker_fake.h"

#define WEEK_S (7 * 86400)

static int claiming_runs; /* runs that claimed something, of the last count_runs_for() */

/* Starts a run each minute for this long, and counts the runs that claimed something. */
static void count_runs_for(struct scene_worker *scene, int64_t seconds)
{
    int64_t end_ms = scene->boot_ms + seconds * 1000;
    claiming_runs = 0;
    while (scene->boot_ms < end_ms) {
        cron_for(scene, 1);
        claiming_runs += scene->report.claimed > 0;
    }
}

static int64_t most_attempts(struct scene_worker *scene)
{
    return fx_int(&scene->fx, "SELECT max(attempts) FROM mail_queue");
}

/* ---- a relay that is down ---- */

/* For a week, with 10,000 mails waiting in three priorities. */
static void test_down_for_a_week(void **state)
{
    struct scene_worker *scene = *state;
    int64_t low = 0;
    for (int i = 0; i < 10000; i++) {
        struct mail mail = {.recipients = "to@example.org",
                            .body = "Subject: x\r\n\r\nx\r\n",
                            .priority = i % 3 - 1};
        fx_enqueue(&scene->fx, &mail);
    }
    scene->relay.down = true;
    scene->options.time_limit_s = 55;
    count_runs_for(scene, WEEK_S);
    assert_int_equal(count_jobs(scene, "pending"), 10000);
    assert_int_equal(most_attempts(scene), 0);
    /* Pauses double, up to an hour: 6 runs in the first hour, then one an hour. */
    assert_in_range(claiming_runs, 150, 180);
    assert_string_equal(mq_run_end_name(scene->report.end), "relay");
    assert_string_equal(scene->report.reason, "connection refused");

    scene->relay.down = false;
    scene->relay.accepted_count = 0;
    scene->relay.latency_ms = 1;
    scene->relay.sessions = 1; /* one after another, so that their order is the queue's */
    cron_for(scene, 7200);
    assert_int_equal(scene->relay.accepted_count, 10000);
    assert_int_equal(count_jobs(scene, NULL), 0);
    /* In order of priority: (id - 1) % 3 is 2, 1, 0; two mails are under way at once. */
    low = 2;
    int out_of_order = 0;
    for (size_t i = 0; i < scene->relay.accepted_count; i++) {
        int64_t class = (scene->relay.accepted[i] - 1) % 3;
        out_of_order += class > low;
        low = class < low ? class : low;
    }
    assert_in_range(out_of_order, 0, 4);
    assert_int_equal(fx_int(&scene->fx, "SELECT count(*) FROM config WHERE key = 'mailRelayPause'"),
                     0);
}

static void test_trouble_stops_the_run(void **state)
{
    struct scene_worker *scene = *state;
    scene->relay.down = true;
    scene->relay.retry_after_s = 500;
    enqueue_mails(scene, 30);
    run_until(scene, MQ_RUN_RELAY);
    assert_string_equal(scene->report.reason, "connection refused");
    assert_in_range(scene->report.resume_s, START + 1500, START + 1502);
    assert_int_equal(last_event(scene, MQ_EVENT_RELAY_TROUBLE)->next_attempt_at,
                     scene->report.resume_s);
    assert_int_equal(count_jobs(scene, "pending"), 30);
    run_until(scene, MQ_RUN_RELAY); /* within the pause */
    assert_int_equal(scene->report.claimed, 0);
    assert_string_equal(scene->report.reason, "connection refused");
}

static void breaks_down(struct fake_relay *relay, struct mq_transfer *transfer)
{
    (void)transfer;
    if (relay->scene->counter++ == 1) {
        fake_trouble(relay);
    }
}

/* Trouble while mails are under way: waits for those whose body is out, and releases the others. */
static void test_trouble_under_way(void **state)
{
    struct scene_worker *scene = *state;
    scene->relay.on_body = breaks_down;
    enqueue_mails(scene, 30);
    run_until(scene, MQ_RUN_RELAY);
    assert_int_equal(scene->relay.recalls, 1);
    assert_int_equal(scene->report.sent, scene->relay.bodies);
    assert_int_equal(scene->report.sent + count_jobs(scene, "pending"), 30);
    assert_int_equal(most_attempts(scene), 0);
}

/* Sessions always end before a mail is through: no attempt is counted, and the run ends. */
static void test_sessions_end(void **state)
{
    struct scene_worker *scene = *state;
    scene->relay.bounces = true;
    enqueue_mails(scene, 5);
    run_until(scene, MQ_RUN_RELAY);
    assert_int_equal(most_attempts(scene), 0);
    assert_in_range(scene->relay.submits, 22, 40);
    assert_int_equal(count_jobs(scene, "pending"), 5);
}

/* ---- a relay that denies ---- */

/* To recipients in different domains. */
static void enqueue_domains(struct scene_worker *scene, int mails)
{
    for (int i = 0; i < mails; i++) {
        char address[64];
        snprintf(address, sizeof(address), "to@d%d.example", i);
        fx_mail(&scene->fx, address);
    }
}

static void deny_week(struct scene_worker *scene, int mails)
{
    scene->relay.answer = deny_all;
    scene->options.time_limit_s = 55;
    enqueue_domains(scene, mails);
    cron_for(scene, WEEK_S);
    assert_int_equal(count_jobs(scene, "parked"), 0);
    assert_int_equal(count_jobs(scene, NULL), mails);
    assert_true(most_attempts(scene) <= 1);
    scene->relay.answer = NULL;
    cron_for(scene, 7200);
    assert_int_equal(count_jobs(scene, NULL), 0);
    assert_int_equal(scene->relay.accepted_count, mails);
}

static void test_denies_all_for_a_week(void **state)
{
    struct scene_worker *scene = *state;
    deny_week(scene, 1000);
    /* The relay is offered only a few mails an hour. */
    assert_true(scene->relay.submits < 1000 + 200 * 20);
}

static void test_denies_the_only_one_for_a_week(void **state)
{
    struct scene_worker *scene = *state;
    deny_week(scene, 1);
    assert_true(scene->relay.submits < 1 + WEEK_S / 300 + 10);
}

static void test_denies_both_for_a_week(void **state)
{
    deny_week(*state, 2);
}

/* One mail a run: each run sees only one denial. */
static void test_denies_under_a_limit(void **state)
{
    struct scene_worker *scene = *state;
    fx_set(&scene->fx, "mailMaxPerHour", "40");
    fx_set(&scene->fx, "mailBurst", "1");
    scene->relay.answer = deny_all;
    scene->options.time_limit_s = 55;
    enqueue_mails(scene, 100);
    cron_for(scene, WEEK_S);
    assert_int_equal(count_jobs(scene, "parked"), 0);
    assert_true(most_attempts(scene) <= 1);
}

static void deny_bad(struct fake_relay *relay, struct mq_transfer *transfer,
                     struct mq_target *target)
{
    if (strncmp(target->address, "bad", 3) == 0) {
        deny_all(relay, transfer, target);
    } else {
        set_result(target, MQ_OUTCOME_DELIVERED, "250 Ok");
    }
}

/* A mail that is always denied while others are accepted in the same run is parked. */
static void test_denied_among_accepted(void **state)
{
    struct scene_worker *scene = *state;
    scene->relay.answer = deny_bad;
    fx_mail(&scene->fx, "bad@example.org");
    for (int i = 0; i < 10; i++) {
        enqueue_mails(scene, 2);
        run_until(scene, MQ_RUN_EMPTY);
        scene->boot_ms += 3600000;
    }
    assert_int_equal(count_jobs(scene, "parked"), 1);
    fx_assert_text(&scene->fx, "SELECT parked_for FROM mail_queue", "exhausted");
    assert_int_equal(scene->relay.accepted_count, 20);
}

/* The same if it is always alone in its run, and others come now and then. */
static void test_denied_alone_between_accepted(void **state)
{
    struct scene_worker *scene = *state;
    scene->relay.answer = deny_bad;
    scene->options.time_limit_s = 55;
    fx_mail(&scene->fx, "bad@example.org");
    for (int i = 0; i < 24; i++) {
        cron_for(scene, 5400);
        int64_t asked_ms = scene->boot_ms;
        fx_mail(&scene->fx, "good@example.org");
        size_t before = scene->relay.accepted_count;
        while (scene->relay.accepted_count == before) {
            cron_for(scene, 60);
        }
        /* One denied mail does not hold up the others for long. */
        assert_true(scene->boot_ms - asked_ms <= 6 * 60000);
    }
    assert_int_equal(count_jobs(scene, "parked"), 1);
    assert_int_equal(scene->relay.accepted_count, 24);
}

/* One mail a run, and a denied one is first in the queue: the others still get their turn, and it
 * is parked after as many acceptances as it has attempts. */
static void test_denied_first_under_a_limit(void **state)
{
    struct scene_worker *scene = *state;
    fx_set(&scene->fx, "mailMaxPerHour", "60");
    fx_set(&scene->fx, "mailBurst", "1");
    scene->relay.answer = deny_bad;
    scene->options.time_limit_s = 5;
    fx_mail(&scene->fx, "bad@example.org");
    cron_for(scene, 1800);
    for (int i = 0; i < 24; i++) {
        fx_mail(&scene->fx, "good@example.org");
        cron_for(scene, 7200);
        assert_int_equal(scene->relay.accepted_count, i + 1);
    }
    assert_int_equal(count_jobs(scene, "parked"), 1);
}

/* As many denied mails as sessions, before all others. */
static void test_denied_ones_first(void **state)
{
    struct scene_worker *scene = *state;
    scene->relay.answer = deny_bad;
    for (int i = 0; i < 30; i++) {
        fx_mail(&scene->fx, "bad@example.org");
    }
    enqueue_mails(scene, 20);
    cron_for(scene, 20000);
    assert_int_equal(scene->relay.accepted_count, 20);
}

/* More denied mails than would make trouble, and then one that is accepted: the run waits for
 * deliveries under way before it blames the relay. */
static void test_acceptance_under_way_counts(void **state)
{
    struct scene_worker *scene = *state;
    scene->relay.answer = deny_bad;
    for (int i = 0; i < 3; i++) {
        fx_mail(&scene->fx, "bad@example.org");
    }
    fx_mail(&scene->fx, "good@example.org");
    run_until(scene, MQ_RUN_EMPTY);
    assert_int_equal(scene->report.sent, 1);
    assert_int_equal(scene->report.try_later, 3);
    assert_int_equal(most_attempts(scene), 1);
}

static void test_three_denied_stop_the_run(void **state)
{
    struct scene_worker *scene = *state;
    scene->relay.answer = deny_all;
    enqueue_domains(scene, 50);
    run_until(scene, MQ_RUN_RELAY);
    assert_in_range(scene->relay.submits, 3, 11); /* eight are under way at once */
    assert_int_equal(most_attempts(scene), 0);
    assert_non_null(strstr(scene->report.reason, "554 5.7.1 Message denied"));
    assert_int_equal(count_jobs(scene, "pending"), 50);
}

static void refuse_all(struct fake_relay *relay, struct mq_transfer *transfer,
                       struct mq_target *target)
{
    (void)relay;
    (void)transfer;
    set_result(target, MQ_OUTCOME_REFUSED, "550 5.1.1 unknown");
}

/* Dead addresses in a row are refused, and do not stop the queue. */
static void test_dead_addresses(void **state)
{
    struct scene_worker *scene = *state;
    scene->relay.answer = refuse_all;
    enqueue_mails(scene, 5);
    run_until(scene, MQ_RUN_EMPTY);
    assert_int_equal(count_jobs(scene, "parked"), 5);
    assert_int_equal(scene->report.refused, 5);
    assert_int_equal(count_events(scene, MQ_EVENT_RELAY_TROUBLE), 0);
}

static void refuse_or_deny(struct fake_relay *relay, struct mq_transfer *transfer,
                           struct mq_target *target)
{
    if (strncmp(target->address, "dead", 4) == 0) {
        refuse_all(relay, transfer, target);
    } else {
        deny_all(relay, transfer, target);
    }
}

/* A refusal is kept, even if a denial beside it sends the mail back. */
static void test_refusal_beside_denial(void **state)
{
    struct scene_worker *scene = *state;
    scene->relay.answer = refuse_or_deny;
    for (int i = 0; i < 3; i++) {
        fx_mail(&scene->fx, "dead@example.org denied@example.org");
    }
    run_until(scene, MQ_RUN_RELAY);
    assert_int_equal(most_attempts(scene), 0);
    assert_int_equal(
        fx_int(&scene->fx,
               "SELECT count(*) FROM mail_queue WHERE recipients = '[\"denied@example.org\"]'"),
        3);
}

/* ---- a relay that gives a time ---- */

static void later_in(struct fake_relay *relay, struct mq_transfer *transfer,
                     struct mq_target *target)
{
    transfer->retry_after_s = relay->scene->counter;
    set_result(target, MQ_OUTCOME_DEFERRED, "450 4.7.1 try again");
}

/* It may ask for more than the backoff. A shorter time would use up all attempts within minutes. */
static void test_named_time_extends_the_backoff_only(void **state)
{
    struct scene_worker *scene = *state;
    enqueue_mails(scene, 1);
    scene->relay.answer = later_in;
    scene->counter = 300;
    run_until(scene, MQ_RUN_EMPTY);
    int64_t failed_s = fx_int(&scene->fx, "SELECT last_attempt_at FROM mail_queue");
    assert_in_range(fx_int(&scene->fx, "SELECT next_attempt_at FROM mail_queue"), failed_s + 300,
                    failed_s + 301);
    scene->boot_ms += 301000;
    scene->counter = 5;
    fx_sql(&scene->fx, "DELETE FROM config WHERE key = 'mailRelayPause'"); /* it took another */
    run_until(scene, MQ_RUN_EMPTY);
    assert_int_equal(fx_int(&scene->fx, "SELECT attempts FROM mail_queue"), 2);
    failed_s = fx_int(&scene->fx, "SELECT last_attempt_at FROM mail_queue");
    assert_in_range(fx_int(&scene->fx, "SELECT next_attempt_at FROM mail_queue"), failed_s + 300,
                    failed_s + 301); /* the second step of the policy */
}

int main(void)
{
#define T(f) cmocka_unit_test_setup_teardown(f, scene_worker_setup, scene_worker_teardown)
    const struct CMUnitTest tests[] = {
        T(test_down_for_a_week),
        T(test_trouble_stops_the_run),
        T(test_trouble_under_way),
        T(test_sessions_end),
        T(test_denies_all_for_a_week),
        T(test_denies_the_only_one_for_a_week),
        T(test_denies_both_for_a_week),
        T(test_denies_under_a_limit),
        T(test_denied_among_accepted),
        T(test_denied_alone_between_accepted),
        T(test_denied_first_under_a_limit),
        T(test_denied_ones_first),
        T(test_acceptance_under_way_counts),
        T(test_three_denied_stop_the_run),
        T(test_dead_addresses),
        T(test_refusal_beside_denial),
        T(test_named_time_extends_the_backoff_only),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
