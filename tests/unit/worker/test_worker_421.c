/* Single mails that cause the relay's trouble or make it hang up, and relays that do so for every
 * mail: the former must not stop the queue, the latter must not cost attempts. Runs start each
 * minute. */
#include "worker_fake.h"

static int64_t most_attempts(struct scene_worker *scene)
{
    return fx_int(&scene->fx, "SELECT max(attempts) FROM mail_queue");
}

static bool is_bad(const struct mq_transfer *transfer)
{
    return strncmp(transfer->targets[0].address, "bad", 3) == 0;
}

static bool turns_all(const struct mq_transfer *transfer)
{
    (void)transfer;
    return true;
}

static void one_a_minute(struct scene_worker *scene)
{
    fx_set(&scene->fx, "mailMaxPerHour", "60");
    fx_set(&scene->fx, "mailBurst", "1");
    scene->options.time_limit_s = 55;
}

/* ---- 421 to one mail ---- */

static void test_turned_mail_is_first_under_a_limit(void **state)
{
    struct scene_worker *scene = *state;
    one_a_minute(scene);
    scene->relay.turns_away = is_bad;
    fx_mail(&scene->fx, "bad@example.org");
    enqueue_mails(scene, 8);
    cron_for(scene, 20 * 60);
    assert_int_equal(scene->relay.accepted_count, 8);
    assert_int_equal(count_jobs(scene, "pending"), 1);
    assert_int_equal(most_attempts(scene), 0);
    fx_assert_text(&scene->fx, "SELECT last_error FROM mail_queue", "421 4.7.0 try later");
}

/* A single such mail is tried again after the pause, and a mail that arrives meanwhile gets
 * through. */
static void test_turned_mail_alone(void **state)
{
    struct scene_worker *scene = *state;
    scene->relay.turns_away = is_bad;
    fx_mail(&scene->fx, "bad@example.org");
    run_until(scene, MQ_RUN_RELAY);
    assert_string_equal(scene->report.reason, "the relay took no mail of this run: "
                                              "421 4.7.0 try later");
    int submits = scene->relay.submits;
    scene->boot_ms += 301000;
    run_until(scene, MQ_RUN_RELAY);
    assert_int_equal(scene->relay.submits, submits + 1);
    scene->relay.turns_away = NULL;
    scene->boot_ms += 301000;
    run_until(scene, MQ_RUN_EMPTY);
    assert_int_equal(scene->report.sent, 1);
}

static void test_turned_mail_among_others_pauses_nothing(void **state)
{
    struct scene_worker *scene = *state;
    scene->relay.turns_away = is_bad;
    fx_mail(&scene->fx, "bad@example.org");
    enqueue_mails(scene, 3);
    run_until(scene, MQ_RUN_EMPTY);
    assert_int_equal(scene->report.sent, 3);
    assert_int_equal(count_events(scene, MQ_EVENT_RELAY_TROUBLE), 0);
}

/* One mail causes trouble with the relay: the run ends, and the others go first in the next run. */
static void breaks_for_bad(struct fake_relay *relay, struct mq_transfer *transfer)
{
    if (is_bad(transfer)) {
        fake_trouble(relay);
    }
}

static void test_mail_that_draws_relay_trouble(void **state)
{
    struct scene_worker *scene = *state;
    one_a_minute(scene);
    scene->relay.turns_away = is_bad;
    scene->relay.on_body = breaks_for_bad;
    fx_mail(&scene->fx, "bad@example.org");
    enqueue_mails(scene, 8);
    cron_for(scene, 20 * 60);
    assert_int_equal(scene->relay.accepted_count, 8);
    assert_int_equal(most_attempts(scene), 0);
}

/* 421 to every mail: the relay is paused, and no attempt is counted. */
static void test_turns_all(void **state)
{
    struct scene_worker *scene = *state;
    for (int mails = 1; mails <= 8; mails += 7) {
        scene->relay.turns_away = turns_all;
        enqueue_mails(scene, mails);
        cron_for(scene, 86400);
        assert_string_equal(mq_run_end_name(scene->report.end), "relay");
        assert_int_equal(most_attempts(scene), 0);
        assert_int_equal(count_jobs(scene, "pending"), mails);
        scene->relay.turns_away = NULL;
        cron_for(scene, 7200);
        assert_int_equal(count_jobs(scene, NULL), 0);
    }
}

/* ---- a relay that hangs up ---- */

static void hangs_up(struct fake_relay *relay, struct mq_transfer *transfer,
                     struct mq_target *target)
{
    relay->scene->counter++;
    target->result = MQ_OUTCOME_DENIED;
    snprintf(transfer->error, sizeof(transfer->error), "the relay closed the connection");
}

static void hangs_up_on_bad(struct fake_relay *relay, struct mq_transfer *transfer,
                            struct mq_target *target)
{
    if (is_bad(transfer)) {
        hangs_up(relay, transfer, target);
    } else {
        set_result(target, MQ_OUTCOME_DELIVERED, "250 Ok");
    }
}

/* A single mail counts one attempt, the first: until another mail is accepted, it is unknown whose
 * fault it is. */
static void test_hangs_up_on_all(void **state)
{
    struct scene_worker *scene = *state;
    for (int mails = 1; mails <= 12; mails += mails == 1 ? 2 : 9) {
        scene->relay.answer = hangs_up;
        enqueue_mails(scene, mails);
        cron_for(scene, 2 * 86400);
        assert_int_equal(count_jobs(scene, "parked"), 0);
        assert_true(most_attempts(scene) <= 1);
        assert_string_equal(mq_run_end_name(scene->report.end), "relay");
        assert_non_null(strstr(scene->report.reason,
                               "the relay took no mail of this run: the relay closed the "
                               "connection"));
        scene->relay.answer = NULL;
        cron_for(scene, 7200);
        assert_int_equal(count_jobs(scene, NULL), 0);
    }
}

static void test_mail_that_makes_the_relay_hang_up(void **state)
{
    struct scene_worker *scene = *state;
    one_a_minute(scene);
    scene->relay.answer = hangs_up_on_bad;
    fx_mail(&scene->fx, "bad@example.org");
    for (int i = 0; i < 24; i++) {
        enqueue_mails(scene, 1);
        cron_for(scene, 7200);
        assert_int_equal(scene->relay.accepted_count, i + 1);
    }
    assert_int_equal(count_jobs(scene, "parked"), 1);
}

static enum mq_status throws_after_one(struct fake_relay *relay, struct mq_error *err)
{
    return relay->scene->counter == 0 ? MQ_OK
                                      : mq_error_set(err, MQ_THROWN, "", "the listener threw");
}

/* When we end a run ourselves, unfinished mails are nobody's fault. */
static void test_cut_off_by_us(void **state)
{
    struct scene_worker *scene = *state;
    scene->relay.sessions = 1;
    scene->options.connections = 1;
    scene->relay.answer = hangs_up;
    scene->relay.on_step = throws_after_one;
    enqueue_mails(scene, 3);
    assert_int_equal(run_worker(scene), MQ_THROWN);
    /* The first mail got its reply; another may have had its body out. */
    assert_int_equal(fx_int(&scene->fx, "SELECT attempts FROM mail_queue ORDER BY id"), 0);
    assert_int_equal(count_events(scene, MQ_EVENT_RELAY_TROUBLE), 0);
}

int main(void)
{
#define T(f) cmocka_unit_test_setup_teardown(f, scene_worker_setup, scene_worker_teardown)
    const struct CMUnitTest tests[] = {
        T(test_turned_mail_is_first_under_a_limit),
        T(test_turned_mail_alone),
        T(test_turned_mail_among_others_pauses_nothing),
        T(test_mail_that_draws_relay_trouble),
        T(test_turns_all),
        T(test_hangs_up_on_all),
        T(test_mail_that_makes_the_relay_hang_up),
        T(test_cut_off_by_us),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
