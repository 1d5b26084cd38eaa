/* Failures that may be the relay's or the mail's: 4xx to everything, refusals without a reason, one
 * failing domain among others that work, greylisting. Runs start each minute. */
#include "worker_fake.h"

#define WEEK_S (7 * 86400)

static const char *reply; /* to the recipients that fail */

static enum mq_outcome result_of_reply(void)
{
    if (reply[0] == '4') {
        return MQ_OUTCOME_DEFERRED;
    }
    return strstr(reply, "5.7.1") ? MQ_OUTCOME_DENIED : MQ_OUTCOME_UNEXPLAINED;
}

static void fail_all(struct fake_relay *relay, struct mq_transfer *transfer,
                     struct mq_target *target)
{
    (void)relay;
    (void)transfer;
    set_result(target, result_of_reply(), reply);
}

static void fail_bad(struct fake_relay *relay, struct mq_transfer *transfer,
                     struct mq_target *target)
{
    if (strstr(target->address, "@bad.example")) {
        fail_all(relay, transfer, target);
    } else {
        set_result(target, MQ_OUTCOME_DELIVERED, "250 Ok");
    }
}

static void enqueue_domains(struct scene_worker *scene, int mails)
{
    for (int i = 0; i < mails; i++) {
        char address[64];
        snprintf(address, sizeof(address), "to@d%d.example", i);
        fx_mail(&scene->fx, address);
    }
}

static void enqueue_later(struct scene_worker *scene, int mails, int64_t seconds)
{
    int64_t at_s = START + scene->boot_ms / 1000 + seconds;
    char sql[128];
    enqueue_domains(scene, mails);
    snprintf(sql, sizeof(sql),
             "UPDATE mail_queue SET next_attempt_at = %lld WHERE id IN (SELECT id FROM mail_queue "
             "ORDER BY id DESC LIMIT %d)",
             (long long)at_s, mails);
    fx_sql(&scene->fx, sql);
}

static int64_t most_attempts(struct scene_worker *scene)
{
    return fx_int(&scene->fx, "SELECT coalesce(max(attempts), 0) FROM mail_queue");
}

/* ---- a relay that takes nothing ---- */

static void fails_for_a_week(struct scene_worker *scene, int mails, int64_t attempts)
{
    size_t before = scene->relay.accepted_count;
    scene->relay.answer = fail_all;
    scene->relay.submits = 0;
    scene->options.time_limit_s = 55;
    enqueue_domains(scene, mails);
    cron_for(scene, WEEK_S);
    assert_int_equal(count_jobs(scene, "parked"), 0);
    assert_int_equal(count_jobs(scene, NULL), mails);
    assert_true(most_attempts(scene) <= attempts);
    /* The pause grows: about one run an hour, each of a few mails. A few mails alone also wait
     * longer than a minute. */
    assert_in_range(scene->relay.submits, 100, mails < 3 ? mails * (WEEK_S / 300 + 2) : 200 * 12);
    scene->relay.answer = NULL;
    cron_for(scene, 7200);
    assert_int_equal(count_jobs(scene, NULL), 0);
    assert_int_equal(scene->relay.accepted_count - before, mails);
}

static void test_fails_for_a_week(void **state)
{
    static const char *const replies[] = {"451 4.3.0 Temporary lookup failure",
                                          "451 Temporary local problem", "550 rejected"};
    for (size_t i = 0; i < sizeof(replies) / sizeof(replies[0]); i++) {
        reply = replies[i];
        fails_for_a_week(*state, 1000, 0);
        fails_for_a_week(*state, 2, 1);
        fails_for_a_week(*state, 1, 1);
    }
}

/* One mail a run: each run sees only one failure, and the stored record decides. */
static void test_fails_under_a_limit(void **state)
{
    struct scene_worker *scene = *state;
    reply = "451 4.3.0 no";
    fx_set(&scene->fx, "mailMaxPerHour", "40");
    fx_set(&scene->fx, "mailBurst", "1");
    scene->relay.answer = fail_all;
    scene->options.time_limit_s = 55;
    enqueue_domains(scene, 100);
    cron_for(scene, WEEK_S);
    assert_int_equal(count_jobs(scene, "parked"), 0);
    assert_true(fx_int(&scene->fx, "SELECT sum(attempts) FROM mail_queue") <= 1);
}

static void test_many_stop_the_run(void **state)
{
    struct scene_worker *scene = *state;
    reply = "451 4.3.0 no to a@b";
    scene->relay.answer = fail_all;
    enqueue_domains(scene, 50);
    run_until(scene, MQ_RUN_RELAY);
    assert_in_range(scene->relay.submits, 3, 11); /* eight are under way at once */
    assert_int_equal(most_attempts(scene), 0);
    assert_string_equal(scene->report.reason,
                        "the relay took no mail of this run: 451 4.3.0 no to a@b");
    fx_assert_text(&scene->fx, "SELECT substr(value, -15) FROM config WHERE key = 'mailRelayPause'",
                   "3.0 no to *@b\"}");
}

/* ---- a run without an end ---- */

static int64_t works_until_ms;

static void fails_later(struct fake_relay *relay, struct mq_transfer *transfer,
                        struct mq_target *target)
{
    if (relay->scene->boot_ms >= works_until_ms) {
        fail_all(relay, transfer, target);
    } else {
        set_result(target, MQ_OUTCOME_DELIVERED, "250 Ok");
    }
}

/* Mail accepted in the morning proves nothing about the night. */
static void test_fails_after_hours(void **state)
{
    static const char *const replies[] = {"451 4.3.0 no", "554 5.7.1 no"};
    struct scene_worker *scene = *state;
    for (size_t i = 0; i < sizeof(replies) / sizeof(replies[0]); i++) {
        reply = replies[i];
        works_until_ms = scene->boot_ms + 3600000;
        scene->relay.answer = fails_later;
        scene->options.daemon = true;
        scene->options.time_limit_s = 86400;
        enqueue_domains(scene, 10);
        enqueue_later(scene, 50, 7200);
        cron_for(scene, 86400);
        assert_int_equal(count_jobs(scene, "parked"), 0);
        assert_int_equal(count_jobs(scene, NULL), 50);
        assert_true(most_attempts(scene) <= 1);
        scene->relay.answer = NULL;
        cron_for(scene, 86400);
        assert_int_equal(count_jobs(scene, NULL), 0);
    }
}

/* ---- one domain among others ---- */

/* 200 mails to a failing domain come before the others: the others get through within hours, and in
 * the end the 200 are parked. */
static void test_one_domain_fails(void **state)
{
    static const char *const replies[] = {"451 4.3.0 no", "550 rejected", "554 5.7.1 no"};
    struct scene_worker *scene = *state;
    for (size_t i = 0; i < sizeof(replies) / sizeof(replies[0]); i++) {
        size_t before = scene->relay.accepted_count;
        reply = replies[i];
        scene->relay.answer = fail_bad;
        scene->options.time_limit_s = 55;
        for (int k = 0; k < 200; k++) {
            fx_mail(&scene->fx, "to@bad.example");
        }
        enqueue_domains(scene, 100);
        cron_for(scene, 3 * 3600);
        assert_int_equal(scene->relay.accepted_count - before, 100);
        for (int hour = 0; hour < 60; hour++) {
            enqueue_domains(scene, 5);
            cron_for(scene, 3600);
        }
        assert_int_equal(scene->relay.accepted_count - before, 400);
        assert_int_equal(count_jobs(scene, "parked"), 200);
        fx_sql(&scene->fx, "DELETE FROM mail_queue");
        fx_sql(&scene->fx, "DELETE FROM config WHERE key = 'mailRelayPause'");
    }
}

/* One mail that is always deferred, alone in the queue: it does not delay others, and counts an
 * attempt for each mail accepted in between, until it is parked. */
static void test_deferred_alone(void **state)
{
    struct scene_worker *scene = *state;
    reply = "452 4.2.2 mailbox full";
    scene->relay.answer = fail_bad;
    scene->options.time_limit_s = 55;
    fx_mail(&scene->fx, "to@bad.example");
    cron_for(scene, 86400);
    assert_int_equal(most_attempts(scene), 1);
    assert_int_equal(count_events(scene, MQ_EVENT_RELAY_TROUBLE), 0);
    for (int i = 0; i < 24; i++) {
        enqueue_domains(scene, 1);
        run_worker(scene);
        assert_int_equal(scene->relay.accepted_count, i + 1);
        cron_for(scene, 7200);
    }
    assert_int_equal(count_jobs(scene, "parked"), 1);
    fx_assert_text(&scene->fx, "SELECT parked_for FROM mail_queue", "exhausted");
}

/* ---- refusals without a reason ---- */

/* A single refusal proves nothing; the mail is refused once the relay accepts another. */
static void test_unexplained_alone(void **state)
{
    struct scene_worker *scene = *state;
    reply = "550 rejected";
    scene->relay.answer = fail_bad;
    fx_mail(&scene->fx, "to@bad.example");
    run_until(scene, MQ_RUN_EMPTY);
    assert_int_equal(count_jobs(scene, "failed"), 1);
    assert_int_equal(most_attempts(scene), 1);
    scene->boot_ms += 3600000;
    run_until(scene, MQ_RUN_EMPTY);
    assert_int_equal(most_attempts(scene), 1);
    scene->boot_ms += 3600000;
    enqueue_domains(scene, 1);
    run_until(scene, MQ_RUN_EMPTY);
    assert_int_equal(count_jobs(scene, "parked"), 1);
    fx_assert_text(&scene->fx, "SELECT parked_for FROM mail_queue", "refused");
    fx_assert_text(&scene->fx, "SELECT refused FROM mail_queue",
                   "{\"to@bad.example\":\"550 rejected\"}");
}

static void fails_after_100(struct fake_relay *relay, struct mq_transfer *transfer,
                            struct mq_target *target)
{
    if (relay->accepted_count >= 100) {
        fail_all(relay, transfer, target);
    } else {
        set_result(target, MQ_OUTCOME_DELIVERED, "250 Ok");
    }
}

/* The relay begins to refuse everything in the middle of a run. */
static void test_unexplained_after_acceptances(void **state)
{
    struct scene_worker *scene = *state;
    reply = "550 rejected";
    scene->relay.answer = fails_after_100;
    enqueue_domains(scene, 1000);
    run_until(scene, MQ_RUN_RELAY);
    assert_string_equal(scene->report.reason, "the relay took no mail of this run since the last "
                                              "it took: 550 rejected");
    assert_int_equal(scene->report.sent, 100);
    assert_int_equal(count_jobs(scene, NULL), 900);
    assert_in_range(count_jobs(scene, "pending"), 888, 897); /* a few count an attempt */
}

static void fail_two_of_bad(struct fake_relay *relay, struct mq_transfer *transfer,
                            struct mq_target *target)
{
    fail_bad(relay, transfer, target);
    if (strstr(target->address, "to@d1.example")) {
        fail_all(relay, transfer, target);
    }
}

/* Refusals at the end of a run that accepted others: too few to be the sender's fault. */
static void test_unexplained_at_the_end(void **state)
{
    struct scene_worker *scene = *state;
    reply = "550 rejected";
    scene->relay.sessions = 1;
    scene->relay.answer = fail_two_of_bad;
    enqueue_domains(scene, 1);
    fx_mail(&scene->fx, "to@bad.example");
    fx_mail(&scene->fx, "to@d1.example");
    run_until(scene, MQ_RUN_EMPTY);
    assert_int_equal(scene->report.sent, 1);
    assert_int_equal(count_jobs(scene, "parked"), 2);
}

static void fails_dead(struct fake_relay *relay, struct mq_transfer *transfer,
                       struct mq_target *target)
{
    if (strncmp(target->address, "dead@", 5) == 0) {
        fail_all(relay, transfer, target);
    } else {
        set_result(target, MQ_OUTCOME_DELIVERED, "250 Ok");
    }
}

/* More dead addresses than sessions at the end of each run: an earlier acceptance shows that the
 * relay works, and in the end they are parked. */
static void test_many_unexplained_at_the_end(void **state)
{
    struct scene_worker *scene = *state;
    reply = "550 rejected";
    scene->relay.sessions = scene->options.connections = 1;
    scene->relay.answer = fails_dead;
    scene->options.time_limit_s = 55;
    for (int i = 0; i < 5; i++) {
        char address[64];
        snprintf(address, sizeof(address), "dead@d%d.example", i);
        fx_mail(&scene->fx, address);
    }
    for (int hour = 0; hour < 48; hour++) {
        enqueue_domains(scene, 1);
        cron_for(scene, 3600);
    }
    assert_int_equal(scene->relay.accepted_count, 48);
    assert_int_equal(count_jobs(scene, "parked"), 5);
}

/* ---- greylisting ---- */

#define GREY_MAILS 1000
static int64_t first_seen_ms[3 * GREY_MAILS];

static void greylists(struct fake_relay *relay, struct mq_transfer *transfer,
                      struct mq_target *target)
{
    int64_t now_ms = relay->scene->boot_ms;
    int64_t *first_ms = &first_seen_ms[transfer->job_id];
    *first_ms = *first_ms ? *first_ms : now_ms;
    if (now_ms - *first_ms >= 300000) {
        set_result(target, MQ_OUTCOME_DELIVERED, "250 Ok");
    } else {
        set_result(target, MQ_OUTCOME_DEFERRED, "450 4.2.0 greylisted");
    }
}

/* A relay that defers the first tries of each mail accepts all of them within two hours. */
static void test_greylisting(void **state)
{
    struct scene_worker *scene = *state;
    scene->options.time_limit_s = 55;
    scene->relay.answer = greylists;
    enqueue_domains(scene, GREY_MAILS);
    cron_for(scene, 7200);
    assert_int_equal(count_jobs(scene, NULL), 0);
    enqueue_domains(scene, 1);
    cron_for(scene, 600);
    assert_int_equal(count_jobs(scene, NULL), 0);
}

/* ---- a daemon that has nothing to judge by ---- */

static int64_t begun_ms, settled_ms;

static void note_settled(struct scene_worker *scene)
{
    if (settled_ms == 0 && scene->relay.submits > 0 && count_jobs(scene, "sending") == 0) {
        settled_ms = scene->boot_ms - begun_ms;
    }
}

static void run_daemon(struct scene_worker *scene, int64_t seconds, enum mq_run_end end)
{
    begun_ms = scene->boot_ms;
    settled_ms = 0;
    scene->on_wait = note_settled;
    scene->relay.submits = 0;
    scene->relay.sessions = 1;
    scene->options.daemon = true;
    scene->options.time_limit_s = seconds;
    run_until(scene, end);
}

static void switches_off(struct fake_relay *relay, struct mq_transfer *transfer)
{
    if (strstr(transfer->targets[0].address, "@bad.example")) {
        fx_set(&relay->scene->fx, "mailQueueEnabled", "0");
    }
}

/* The queue is switched off, as a move to another database does, while the last mail is under way:
 * that mail does not stay in sending. */
static void test_switched_off(void **state)
{
    static const char *const replies[][2] = {{"451 4.3.0 no", "failed"},
                                             {"550 rejected", "parked"}};
    struct scene_worker *scene = *state;
    scene->relay.answer = fail_bad;
    scene->relay.on_body = switches_off;
    scene->relay.latency_ms = 4000; /* a claim sees that the queue is off before the reply comes */
    for (int i = 0; i < 2; i++) {
        reply = replies[i][0];
        enqueue_domains(scene, i); /* the second run's relay takes one before */
        fx_mail(&scene->fx, "to@bad.example");
        run_daemon(scene, 60, MQ_RUN_TIME);
        assert_in_range(settled_ms, 9000, 11000);
        assert_int_equal(count_jobs(scene, replies[i][1]), 1);
        assert_int_equal(most_attempts(scene), 1);
        fx_set(&scene->fx, "mailQueueEnabled", "1");
        fx_sql(&scene->fx, "DELETE FROM mail_queue");
    }
}

/* The second of a day's two tokens is free again for the other mail. */
static void test_unexplained_has_the_last_token(void **state)
{
    struct scene_worker *scene = *state;
    reply = "550 rejected";
    scene->relay.answer = fail_bad;
    fx_set(&scene->fx, "mailRateMode", "strict");
    fx_set(&scene->fx, "mailLimits", "2/1d");
    enqueue_domains(scene, 1);
    fx_mail(&scene->fx, "to@bad.example");
    enqueue_domains(scene, 2);
    run_daemon(scene, 60, MQ_RUN_TIME);
    assert_int_equal(scene->relay.accepted_count, 2);
    assert_in_range(settled_ms, 1, 1000);
    assert_int_equal(count_jobs(scene, "failed"), 1);
    assert_int_equal(count_jobs(scene, "pending"), 1);
    assert_int_equal(most_attempts(scene), 1);
}

static void fails_after_one(struct fake_relay *relay, struct mq_transfer *transfer,
                            struct mq_target *target)
{
    if (relay->accepted_count > 0) {
        fail_all(relay, transfer, target);
    } else {
        set_result(target, MQ_OUTCOME_DELIVERED, "250 Ok");
    }
}

/* The relay begins to refuse everything while a limit lets one mail go at a time: it is paused, and
 * no mail is parked. */
static void test_unexplained_one_by_one(void **state)
{
    static const char *const limits[] = {"2/1d", "2/10s"}; /* the next token is far, and near */
    struct scene_worker *scene = *state;
    reply = "550 rejected";
    scene->relay.answer = fails_after_one;
    fx_set(&scene->fx, "mailRateMode", "strict");
    for (int i = 0; i < 2; i++) {
        fx_set(&scene->fx, "mailLimits", limits[i]);
        scene->relay.accepted_count = 0;
        enqueue_domains(scene, 10);
        run_daemon(scene, 3600, MQ_RUN_RELAY);
        assert_int_equal(scene->relay.accepted_count, 1);
        assert_in_range(count_jobs(scene, "failed"), 3, 4);
        assert_int_equal(count_jobs(scene, "failed") + count_jobs(scene, "pending"), 9);
        fx_sql(&scene->fx, "DELETE FROM mail_queue; DELETE FROM mail_window;"
                           "DELETE FROM config WHERE key = 'mailRelayPause'");
    }
}

int main(void)
{
#define T(f) cmocka_unit_test_setup_teardown(f, scene_worker_setup, scene_worker_teardown)
    const struct CMUnitTest tests[] = {
        T(test_fails_for_a_week),
        T(test_fails_under_a_limit),
        T(test_many_stop_the_run),
        T(test_fails_after_hours),
        T(test_one_domain_fails),
        T(test_deferred_alone),
        T(test_unexplained_alone),
        T(test_unexplained_after_acceptances),
        T(test_unexplained_at_the_end),
        T(test_many_unexplained_at_the_end),
        T(test_greylisting),
        T(test_switched_off),
        T(test_unexplained_has_the_last_token),
        T(test_unexplained_one_by_one),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
