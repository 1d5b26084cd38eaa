/* The worker's loop: claiming, sending, settling, and how a run ends. */
#include "worker_fake.h"

#include <signal.h>
#include <unistd.h>

#include "mime/wire/message.h"
#include "worker/files.h"
#include "worker/lock.h"

static void test_sends_all(void **state)
{
    struct scene_worker *scene = *state;
    enqueue_mails(scene, 250);
    run_until(scene, MQ_RUN_EMPTY);
    assert_int_equal(scene->report.claimed, 250);
    assert_int_equal(scene->report.sent, 250);
    assert_int_equal(scene->report.recipients, 250);
    assert_int_equal(fx_int(&scene->fx, "SELECT count(*) FROM mail_queue"), 0);
    assert_int_equal(fx_int(&scene->fx, "SELECT count(*) FROM mail_body"), 0);
    assert_int_equal(scene->relay.quits, 1);
    /* Never waits longer than for the relay: 250 mails, 8 under way, 10 ms each. */
    assert_in_range(scene->report.ms, 250 / 8 * 10, 250 / 4 * 10 + 200);
    const struct mq_event *end = last_event(scene, MQ_EVENT_RUN);
    assert_string_equal(end->reply, "end=empty claimed=250 sent=250 recipients=250");
    assert_true(fx_int(&scene->fx, "SELECT count(*) FROM config WHERE key = 'mailLastRun'") == 1);
}

/* More jobs than the intent file has slots: slots are used again. */
static void test_many(void **state)
{
    struct scene_worker *scene = *state;
    scene->options.time_limit_s = 600;
    enqueue_mails(scene, 3000);
    run_until(scene, MQ_RUN_EMPTY);
    assert_int_equal(scene->report.sent, 3000);
}

/* With many sessions, a small batch must not leave them idle. */
static void test_batch_does_not_starve(void **state)
{
    struct scene_worker *scene = *state;
    scene->options.batch = 2;
    scene->relay.sessions = 30;
    enqueue_mails(scene, 400);
    run_until(scene, MQ_RUN_EMPTY);
    assert_int_equal(scene->relay.most_under_way, 60);
}

static void test_events_carry_the_reply(void **state)
{
    struct scene_worker *scene = *state;
    enqueue_mails(scene, 1);
    run_until(scene, MQ_RUN_EMPTY);
    const struct mq_event *sent = last_event(scene, MQ_EVENT_SENT);
    assert_string_equal(sent->reply, "250 2.0.0 Ok");
    assert_string_equal(sent->relay, "smtp://relay.example:25");
    assert_int_equal(sent->ms, 10);
    assert_int_equal(sent->attempt, 1);
}

static void answer_by_name(struct fake_relay *relay, struct mq_transfer *transfer,
                           struct mq_target *target)
{
    (void)relay;
    (void)transfer;
    if (strncmp(target->address, "later", 5) == 0) {
        set_result(target, MQ_OUTCOME_DEFERRED, "450 4.2.0 later");
    } else if (strncmp(target->address, "dead", 4) == 0) {
        set_result(target, MQ_OUTCOME_REFUSED, "550 5.1.1 unknown");
    } else if (strncmp(target->address, "full", 4) == 0) {
        target->result = MQ_OUTCOME_RELEASED;
    } else {
        set_result(target, MQ_OUTCOME_DELIVERED, "250 Ok");
    }
}

/* 250, 450, 550: three outcomes, and each recipient is asked once. */
static void test_partial_recipients(void **state)
{
    struct scene_worker *scene = *state;
    scene->relay.answer = answer_by_name;
    fx_mail(&scene->fx, "good@example.org later@example.org dead@example.org");
    run_until(scene, MQ_RUN_EMPTY);
    assert_int_equal(scene->report.recipients, 1);
    fx_assert_text(&scene->fx, "SELECT recipients FROM mail_queue", "[\"later@example.org\"]");
    fx_assert_text(&scene->fx, "SELECT refused FROM mail_queue",
                   "{\"dead@example.org\":\"550 5.1.1 unknown\"}");
    fx_assert_text(&scene->fx, "SELECT status FROM mail_queue", "failed");
    fx_assert_text(&scene->fx, "SELECT last_error FROM mail_queue",
                   "dead@example.org: 550 5.1.1 unknown");
    assert_int_equal(fx_int(&scene->fx, "SELECT attempts FROM mail_queue"), 1);
    scene->relay.answer = NULL;
    scene->boot_ms += 60000;
    run_until(scene, MQ_RUN_EMPTY);
    assert_int_equal(scene->report.recipients, 1);
    fx_assert_text(&scene->fx, "SELECT status FROM mail_queue", "parked");
}

/* Recipients that did not fit into the transaction are sent at once, without another attempt. */
static void test_rest_goes_in_the_next(void **state)
{
    struct scene_worker *scene = *state;
    scene->relay.answer = answer_by_name;
    scene->options.message_limit = 1;
    fx_mail(&scene->fx, "good@example.org full@example.org");
    run_until(scene, MQ_RUN_MESSAGES);
    fx_assert_text(&scene->fx, "SELECT recipients FROM mail_queue", "[\"full@example.org\"]");
    assert_int_equal(fx_int(&scene->fx, "SELECT attempts FROM mail_queue"), 0);
}

static void see_prefix(struct fake_relay *relay, struct mq_transfer *transfer)
{
    relay->scene->counter++;
    assert_int_equal(transfer->target_count, 1);
    assert_string_equal(transfer->targets[0].address, "test@example.net");
    char *prefix = mq_str_dup(transfer->prefix);
    assert_string_equal(prefix, "X-Original-To: aaaaaaaaaaaaaaaaaaaaaaaaaaaaaa@example.org,"
                                "\r\n bbbbbbbbbbbbbbbbbbbbbbbbbbbbbb@example.org\r\n");
    free(prefix);
}

/* Both recipients become one target; its result applies to both. */
static void test_redirect(void **state)
{
    struct scene_worker *scene = *state;
    scene->relay.on_body = see_prefix;
    fx_set(&scene->fx, "mailRedirectTo", "test@example.net");
    fx_mail(&scene->fx, "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaa@example.org "
                        "bbbbbbbbbbbbbbbbbbbbbbbbbbbbbb@example.org");
    run_until(scene, MQ_RUN_EMPTY);
    assert_int_equal(scene->counter, 1);
    assert_int_equal(scene->report.recipients, 2);
    assert_int_equal(count_jobs(scene, NULL), 0);
}

static void see_flags(struct fake_relay *relay, struct mq_transfer *transfer)
{
    relay->scene->counter++;
    assert_int_equal(transfer->flags, MQ_MESSAGE_8BIT);
    assert_true(transfer->utf8_address);
}

static void test_flags(void **state)
{
    struct scene_worker *scene = *state;
    scene->relay.on_body = see_flags;
    fx_enqueue(&scene->fx, &(struct mail){.recipients = "j\xc3\xbcrgen@example.org",
                                          .body = "Subject: x\r\n\r\n\xc3\xbc\r\n"});
    run_until(scene, MQ_RUN_EMPTY);
    assert_int_equal(scene->counter, 1);
}

/* ---- composing ---- */

static enum mq_compose_end compose(struct scene_worker *scene, const struct mq_job *job,
                                   struct mq_composed *out, struct mq_error *err)
{
    scene->counter++;
    if (strcmp(job->mail_type, "gone") == 0) {
        return MQ_COMPOSE_GONE;
    }
    if (strcmp(job->mail_type, "throws") == 0) {
        mq_error_set(err, MQ_MESSAGE, "", "the template is broken");
        return MQ_COMPOSE_FAILED;
    }
    out->message = strdup("Subject: composed\r\n\r\nx\r\n");
    out->message_len = strlen(out->message);
    out->envelope_from = strdup("from@example.org");
    if (strcmp(job->mail_type, "nobody") != 0) {
        mq_strings_add(&out->recipients, MQ_STR("one@example.org"));
        mq_strings_add(&out->recipients, MQ_STR("two@example.org"));
    }
    return MQ_COMPOSED;
}

static void test_compose_outcomes(void **state)
{
    struct scene_worker *scene = *state;
    static const char *const types[] = {"gone", "throws", "nobody", "mail"};
    scene->on_compose = compose;
    for (size_t i = 0; i < 4; i++) {
        fx_enqueue(&scene->fx, &(struct mail){.type = types[i]});
    }
    run_until(scene, MQ_RUN_EMPTY);
    assert_int_equal(scene->counter, 4);
    assert_int_equal(scene->report.orphans, 1);
    assert_int_equal(scene->report.try_later, 2);
    assert_int_equal(scene->report.recipients, 2);
    fx_assert_text(&scene->fx, "SELECT last_error FROM mail_queue WHERE mail_type = 'throws'",
                   "the template is broken");
    assert_int_equal(count_jobs(scene, NULL), 2);
}

/* The recipients of the first attempt are written to the row and override later ones. */
static void test_composed_envelope_stays(void **state)
{
    struct scene_worker *scene = *state;
    scene->on_compose = compose;
    scene->relay.answer = answer_by_name;
    fx_enqueue(&scene->fx, &(struct mail){.type = "mail"});
    fx_sql(&scene->fx, "UPDATE mail_queue SET recipients = '[\"other@example.org\"]'");
    run_until(scene, MQ_RUN_EMPTY);
    assert_int_equal(scene->report.recipients, 1);
    assert_int_equal(count_jobs(scene, NULL), 0);
}

/* A half-filled result of a hook is freed completely, and is empty for the next mail. */
static void test_composed_is_cleared(void **state)
{
    struct mq_composed composed = {0};
    (void)state;
    composed.message = strdup("x");
    mq_strings_add(&composed.recipients, MQ_STR("a@example.org"));
    mq_composed_clear(&composed);
    assert_null(composed.message);
    assert_null(composed.envelope_from);
    assert_int_equal(composed.recipients.count, 0);
    mq_composed_clear(&composed);
}

static void test_without_compose(void **state)
{
    struct scene_worker *scene = *state;
    fx_enqueue(&scene->fx, &(struct mail){.type = "mail"});
    run_until(scene, MQ_RUN_EMPTY);
    assert_int_equal(scene->report.try_later, 0);
    fx_assert_text(&scene->fx, "SELECT attempts || ' ' || status FROM mail_queue", "0 pending");
    int64_t back_s = fx_int(&scene->fx, "SELECT next_attempt_at FROM mail_queue") - START;
    assert_in_range(back_s - scene->boot_ms / 1000, 3590, 3600);
}

static enum mq_compose_end lose_lease(struct scene_worker *scene, const struct mq_job *job,
                                      struct mq_composed *out, struct mq_error *err)
{
    fx_sql(&scene->fx, "UPDATE mail_queue SET locked_by = 'another'");
    return compose(scene, job, out, err);
}

static void test_lease_lost_while_composing(void **state)
{
    struct scene_worker *scene = *state;
    scene->on_compose = lose_lease;
    fx_enqueue(&scene->fx, &(struct mail){.type = "mail"});
    run_until(scene, MQ_RUN_EMPTY);
    assert_int_equal(scene->relay.submits, 0);
    assert_int_equal(scene->report.stale, 1);
    assert_int_equal(count_jobs(scene, "sending"), 1);
}

/* ---- the limit ---- */

/* 60 an hour and one token to begin with: three mails take two minutes; the time limit allows
 * that. */
static void test_waits_for_tokens(void **state)
{
    struct scene_worker *scene = *state;
    fx_set(&scene->fx, "mailMaxPerHour", "60");
    fx_set(&scene->fx, "mailBurst", "1");
    scene->options.time_limit_s = 600;
    enqueue_mails(scene, 3);
    run_until(scene, MQ_RUN_EMPTY);
    assert_int_equal(scene->report.sent, 3);
    assert_in_range(scene->report.ms, 120000, 122000);
}

static void test_ends_when_tokens_are_out(void **state)
{
    struct scene_worker *scene = *state;
    fx_set(&scene->fx, "mailMaxPerHour", "60");
    fx_set(&scene->fx, "mailBurst", "2");
    enqueue_mails(scene, 5);
    run_until(scene, MQ_RUN_TOKENS);
    assert_int_equal(scene->report.sent, 2);
    assert_in_range(scene->report.resume_s, START + 1055, START + 1065);
    assert_int_equal(scene->waited_ms, 0);
    /* The next token comes after the time limit, so the run does not wait for it. */
    scene->options.time_limit_s = 30;
    run_until(scene, MQ_RUN_TOKENS);
    assert_int_equal(scene->waited_ms, 0);
}

/* Claims only as many jobs as sessions are free: another run can take the others, and their tokens
 * are not tied up. */
static void at_most_four_sending(struct fake_relay *relay, struct mq_transfer *transfer)
{
    (void)transfer;
    struct scene_worker *scene = relay->scene;
    int64_t sending = count_jobs(scene, "sending");
    if (sending > scene->counter) {
        scene->counter = (int)sending;
    }
}

static void test_just_in_time(void **state)
{
    struct scene_worker *scene = *state;
    fx_set(&scene->fx, "mailMaxPerHour", "3600");
    fx_set(&scene->fx, "mailBurst", "100");
    scene->relay.on_body = at_most_four_sending;
    scene->relay.latency_ms = 1000;
    enqueue_mails(scene, 40);
    run_until(scene, MQ_RUN_EMPTY);
    assert_int_equal(scene->report.sent, 40);
    assert_int_equal(scene->counter, 4);
}

/* ---- ends ---- */

static void test_message_limit(void **state)
{
    struct scene_worker *scene = *state;
    scene->options.message_limit = 7;
    enqueue_mails(scene, 20);
    run_until(scene, MQ_RUN_MESSAGES);
    assert_int_equal(scene->report.sent, 7);
    assert_int_equal(count_jobs(scene, "pending"), 13);
}

/* Stops claiming, finishes deliveries under way, releases the others without counting an
 * attempt. */
static void test_time_limit(void **state)
{
    struct scene_worker *scene = *state;
    scene->options.time_limit_s = 5;
    scene->relay.latency_ms = 2000;
    enqueue_mails(scene, 100);
    run_until(scene, MQ_RUN_TIME);
    assert_in_range(scene->report.ms, 5000, 7500);
    assert_int_equal(scene->report.sent + count_jobs(scene, "pending"), 100);
    assert_int_equal(scene->report.sent, 24); /* 8 under way from 0, 2 and 4 s on */
    assert_int_equal(fx_int(&scene->fx, "SELECT max(attempts) FROM mail_queue"), 0);
    assert_int_equal(scene->relay.aborts, 0);
}

static void test_locked(void **state)
{
    struct scene_worker *scene = *state;
    int fd = -1;
    assert_int_equal(mq_run_dir_prepare(scene->run_dir, &scene->err), MQ_OK);
    assert_int_equal(mq_worker_lock(scene->run_dir, 1, &fd, &scene->err), MQ_OK);
    enqueue_mails(scene, 1);
    run_until(scene, MQ_RUN_LOCKED);
    assert_int_equal(count_jobs(scene, "pending"), 1);
    assert_string_equal(last_event(scene, MQ_EVENT_RUN)->reply, "end=locked");
    scene->options.max_workers = 2;
    run_until(scene, MQ_RUN_EMPTY);
    close(fd);
}

static void test_disabled(void **state)
{
    struct scene_worker *scene = *state;
    fx_set(&scene->fx, "mailQueueEnabled", "0");
    enqueue_mails(scene, 1);
    run_until(scene, MQ_RUN_DISABLED);
    assert_int_equal(count_jobs(scene, "pending"), 1);
}

static void switch_off(struct fake_relay *relay, struct mq_transfer *transfer)
{
    (void)transfer;
    fx_set(&relay->scene->fx, "mailQueueEnabled", "0");
}

/* When sending is switched off during a run, jobs that were claimed but not begun are released. */
static void test_disabled_meanwhile(void **state)
{
    struct scene_worker *scene = *state;
    scene->relay.on_body = switch_off;
    enqueue_mails(scene, 100);
    run_until(scene, MQ_RUN_DISABLED);
    assert_in_range(scene->report.sent, 4, 64);
    assert_int_equal(scene->report.sent + count_jobs(scene, "pending"), 100);
}

static void test_unreadable_setting(void **state)
{
    struct scene_worker *scene = *state;
    fx_set_raw(&scene->fx, "mailRedirectTo", "no address");
    enqueue_mails(scene, 1);
    assert_int_equal(run_worker(scene), MQ_CONFIG);
    assert_string_equal(scene->err.field, "mailRedirectTo");
    assert_int_equal(count_jobs(scene, "pending"), 1);
}

static void one_more_mail(struct scene_worker *scene)
{
    if (++scene->counter == 3) {
        enqueue_mails(scene, 1);
    } else if (scene->waited_ms > 6000) {
        raise(SIGTERM);
    }
}

static void test_daemon(void **state)
{
    struct scene_worker *scene = *state;
    scene->options.daemon = true;
    scene->on_wait = one_more_mail;
    run_until(scene, MQ_RUN_SIGNAL);
    assert_int_equal(scene->report.sent, 1);
}

static void switch_on_later(struct scene_worker *scene)
{
    if (++scene->counter == 3) {
        fx_set(&scene->fx, "mailQueueEnabled", "1");
    } else if (scene->counter == 6) {
        raise(SIGTERM);
    }
}

static void test_daemon_waits_while_disabled(void **state)
{
    struct scene_worker *scene = *state;
    scene->options.daemon = true;
    scene->on_wait = switch_on_later;
    fx_set(&scene->fx, "mailQueueEnabled", "0");
    enqueue_mails(scene, 2);
    run_until(scene, MQ_RUN_SIGNAL);
    assert_int_equal(scene->report.sent, 2);
}

/* Orphans and expired jobs that wait for later are deleted once a run. */
static void test_sweep(void **state)
{
    struct scene_worker *scene = *state;
    fx_enqueue(&scene->fx, &(struct mail){.recipients = "a@example.org",
                                          .body = "Subject: x\r\n\r\nx\r\n",
                                          .expires_at = START + 1100});
    fx_sql(&scene->fx, "UPDATE mail_queue SET next_attempt_at = 1900000000");
    scene->boot_ms += 200000;
    run_until(scene, MQ_RUN_EMPTY);
    assert_int_equal(scene->report.expired, 1);
    assert_int_equal(count_jobs(scene, NULL), 0);
}

static void expires_meanwhile(struct scene_worker *scene)
{
    scene->counter++;
    if (scene->counter == 2) {
        fx_enqueue(&scene->fx, &(struct mail){.recipients = "a@example.org",
                                              .body = "Subject: x\r\n\r\nx\r\n",
                                              .expires_at = START + 20});
        fx_sql(&scene->fx, "UPDATE mail_queue SET next_attempt_at = 1900000000");
    } else if (scene->waited_ms > 90000) {
        int64_t noted = fx_int(&scene->fx, "SELECT count(*) FROM config WHERE key = 'mailLastRun'");
        assert_int_equal(noted, 1);
        raise(SIGTERM);
    }
}

/* A run without a time limit looks again, and notes that it runs. */
static void test_daemon_sweeps_again(void **state)
{
    struct scene_worker *scene = *state;
    scene->options.daemon = true;
    scene->on_wait = expires_meanwhile;
    run_until(scene, MQ_RUN_SIGNAL);
    assert_int_equal(scene->report.expired, 1);
}

int main(void)
{
#define T(f) cmocka_unit_test_setup_teardown(f, scene_worker_setup, scene_worker_teardown)
    const struct CMUnitTest tests[] = {
        T(test_sends_all),
        T(test_many),
        T(test_batch_does_not_starve),
        T(test_events_carry_the_reply),
        T(test_partial_recipients),
        T(test_rest_goes_in_the_next),
        T(test_redirect),
        T(test_flags),
        T(test_compose_outcomes),
        T(test_composed_envelope_stays),
        T(test_composed_is_cleared),
        T(test_without_compose),
        T(test_lease_lost_while_composing),
        T(test_waits_for_tokens),
        T(test_ends_when_tokens_are_out),
        T(test_just_in_time),
        T(test_message_limit),
        T(test_time_limit),
        T(test_locked),
        T(test_disabled),
        T(test_disabled_meanwhile),
        T(test_unreadable_setting),
        T(test_daemon),
        T(test_daemon_waits_while_disabled),
        T(test_sweep),
        T(test_daemon_sweeps_again),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
