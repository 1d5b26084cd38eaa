/* The hooks that sign: their arguments, what becomes of the mail, and the effect of a failure. */
#include "mime/dkim/sign.h"
#include "mime/wire/message.h"
#include "worker_fake.h"

#define SIGNATURE "Signature: s\r\n"

static struct mq_buffer seen; /* prefix and message of all mails signed, or sent */
static int64_t seen_at_s;
static int seen_steps; /* of the relay, at the last signature */
static enum mq_status answer;
static const char *lines; /* that the hook appends */

static int setup(void **state)
{
    seen = (struct mq_buffer){0};
    answer = MQ_OK;
    lines = SIGNATURE;
    seen_steps = -1;
    return scene_worker_setup(state);
}

static int teardown(void **state)
{
    mq_buffer_clear(&seen);
    return scene_worker_teardown(state);
}

static enum mq_status sign(void *context, const struct mq_dkim_mail *mail, struct mq_buffer *out,
                           struct mq_error *err)
{
    struct scene_worker *scene = context;
    scene->counter++;
    mq_buffer_str(&seen, mail->prefix);
    mq_buffer_str(&seen, mail->message);
    seen_at_s = mail->now_s;
    mq_buffer_cstr(out, lines);
    if (answer == MQ_NOMEM) {
        return mq_error_nomem(err);
    }
    return answer == MQ_OK ? MQ_OK : mq_error_set(err, answer, "dkim", "dkim: the key is gone");
}

static void see_sent(struct fake_relay *relay, struct mq_transfer *transfer)
{
    (void)relay;
    mq_buffer_reset(&seen);
    mq_buffer_str(&seen, transfer->prefix);
    mq_buffer_str(&seen, transfer->message);
}

static void mail(struct scene_worker *scene)
{
    scene->hooks.sign = sign;
    fx_enqueue(&scene->fx,
               &(struct mail){.recipients = "to@example.org", .body = "Subject: x\r\n\r\nx\r\n"});
}

/* The signature covers exactly what is sent, which is in 7 bits. */
static void see_signed(struct fake_relay *relay, struct mq_transfer *transfer)
{
    assert_int_equal(transfer->flags, 0);
    assert_int_equal(seen.len, transfer->message.len);
    assert_memory_equal(seen.data, transfer->message.data, seen.len);
    see_sent(relay, transfer);
}

static void mail_8bit(struct scene_worker *scene, const char *body)
{
    scene->hooks.sign = sign;
    fx_enqueue(&scene->fx, &(struct mail){.recipients = "to@example.org", .body = body});
}

/* Each relay gets what is signed in 7 bits, because a later one may have to convert it. */
static void test_signs_what_was_converted(void **state)
{
    struct scene_worker *scene = *state;
    mail_8bit(scene, "Subject: x\r\n\r\ncaf\xC3\xA9\r\n");
    scene->relay.on_body = see_signed;
    run_until(scene, MQ_RUN_EMPTY);
    assert_int_equal(scene->counter, 1);
    assert_memory_equal(seen.data, SIGNATURE "Subject: x\r\n", sizeof(SIGNATURE) + 11);
    assert_non_null(strstr(seen.data, "caf=C3=A9\r\n"));
    assert_int_equal(scene->report.sent, 1);
}

/* A sealed message must not be changed. */
static void test_signs_as_it_is(void **state)
{
    static const char body[] = "Subject: x\r\nContent-Type: multipart/signed; boundary=b\r\n\r\n--b"
                               "\r\n\r\ncaf\xC3\xA9\r\n--b--\r\n";
    struct scene_worker *scene = *state;
    mail_8bit(scene, body);
    scene->relay.on_body = see_sent;
    run_until(scene, MQ_RUN_EMPTY);
    assert_int_equal(scene->counter, 1);
    assert_memory_equal(seen.data, SIGNATURE, sizeof(SIGNATURE) - 1);
    assert_string_equal(seen.data + sizeof(SIGNATURE) - 1, body);
}

/* A relay without 8BITMIME: the transport asks for a converted message. */
static void convert(struct fake_relay *relay, struct mq_transfer *transfer)
{
    struct mq_error err;
    assert_int_equal(transfer->flags, MQ_MESSAGE_8BIT);
    assert_int_equal(transfer->to_7bit(transfer, &err), MQ_OK);
    assert_int_equal(transfer->flags, 0);
    see_sent(relay, transfer);
}

/* Without a key for its domain, a mail stays as it is until a relay needs it in 7 bits. */
static void test_unsigned_as_it_is(void **state)
{
    struct scene_worker *scene = *state;
    lines = "";
    scene->relay.on_body = see_sent;
    mail_8bit(scene, "Subject: x\r\n\r\ncaf\xC3\xA9\r\n");
    run_until(scene, MQ_RUN_EMPTY);
    assert_string_equal(seen.data, "Subject: x\r\n\r\ncaf\xC3\xA9\r\n");
    scene->relay.on_body = convert;
    mail_8bit(scene, "Subject: x\r\n\r\ncaf\xC3\xA9\r\n");
    run_until(scene, MQ_RUN_EMPTY);
    assert_non_null(strstr(seen.data, "caf=C3=A9\r\n"));
    assert_int_equal(scene->report.sent, 1);
}

static void test_signs_what_is_sent(void **state)
{
    struct scene_worker *scene = *state;
    mail(scene);
    run_until(scene, MQ_RUN_EMPTY);
    assert_int_equal(scene->counter, 1);
    assert_int_equal(seen_at_s, START + scene->boot_ms / 1000);
    assert_string_equal(seen.data, "Subject: x\r\n\r\nx\r\n");
    scene->relay.on_body = see_sent;
    mail(scene);
    run_until(scene, MQ_RUN_EMPTY);
    assert_string_equal(seen.data, SIGNATURE "Subject: x\r\n\r\nx\r\n");
    assert_int_equal(scene->report.sent, 1);
}

/* The worker's own lines are signed too; the signature goes before them. */
static void test_signs_the_prefix(void **state)
{
    struct scene_worker *scene = *state;
    fx_set(&scene->fx, "mailRedirectTo", "test@example.net");
    mail(scene);
    run_until(scene, MQ_RUN_EMPTY);
    assert_string_equal(seen.data, "X-Original-To: to@example.org\r\nSubject: x\r\n\r\nx\r\n");
    scene->relay.on_body = see_sent;
    mail(scene);
    run_until(scene, MQ_RUN_EMPTY);
    assert_string_equal(seen.data,
                        SIGNATURE "X-Original-To: to@example.org\r\nSubject: x\r\n\r\nx\r\n");
}

/* No key for this domain: the mail is sent unsigned. */
static void test_no_signature(void **state)
{
    struct scene_worker *scene = *state;
    lines = "";
    scene->relay.on_body = see_sent;
    mail(scene);
    run_until(scene, MQ_RUN_EMPTY);
    assert_string_equal(seen.data, "Subject: x\r\n\r\nx\r\n");
    fx_set(&scene->fx, "mailRedirectTo", "test@example.net");
    mail(scene);
    run_until(scene, MQ_RUN_EMPTY);
    assert_string_equal(seen.data, "X-Original-To: to@example.org\r\nSubject: x\r\n\r\nx\r\n");
    assert_int_equal(scene->counter, 2);
}

static enum mq_compose_end compose(struct scene_worker *scene, const struct mq_job *job,
                                   struct mq_composed *out, struct mq_error *err)
{
    (void)scene;
    (void)job;
    (void)err;
    out->message = strdup("Subject: composed\r\n\r\nx\r\n");
    out->message_len = strlen(out->message);
    out->envelope_from = strdup("from@example.org");
    mq_strings_add(&out->recipients, MQ_STR("one@example.org"));
    return MQ_COMPOSED;
}

static void test_signs_composed(void **state)
{
    struct scene_worker *scene = *state;
    scene->on_compose = compose;
    scene->hooks.sign = sign;
    fx_enqueue(&scene->fx, &(struct mail){.type = "mail"});
    run_until(scene, MQ_RUN_EMPTY);
    assert_string_equal(seen.data, "Subject: composed\r\n\r\nx\r\n");
    assert_int_equal(scene->report.sent, 1);
}

/* A signature that fails: the mail is never sent unsigned, but fails with the reason. */
static void test_failure(void **state)
{
    struct scene_worker *scene = *state;
    answer = MQ_CONFIG;
    mail(scene);
    run_until(scene, MQ_RUN_EMPTY);
    assert_int_equal(scene->relay.submits, 0);
    assert_int_equal(scene->report.try_later, 1);
    fx_assert_text(&scene->fx, "SELECT last_error FROM mail_queue", "dkim: the key is gone");
    assert_int_equal(fx_int(&scene->fx, "SELECT attempts FROM mail_queue"), 1);
    answer = MQ_OK;
    scene->relay.on_body = see_sent;
    scene->boot_ms += 60000;
    run_until(scene, MQ_RUN_EMPTY);
    assert_int_equal(scene->report.sent, 1);
    assert_string_equal(seen.data, SIGNATURE "Subject: x\r\n\r\nx\r\n");
}

/* A lack of memory is not the mail's fault. */
static void test_failure_of_memory(void **state)
{
    struct scene_worker *scene = *state;
    answer = MQ_NOMEM;
    mail(scene);
    assert_int_equal(run_worker(scene), MQ_NOMEM);
    assert_int_equal(scene->relay.submits, 0);
    assert_int_equal(fx_int(&scene->fx, "SELECT attempts FROM mail_queue"), 0);
    assert_int_equal(count_jobs(scene, "pending"), 1);
}

static void stops_bouncing(struct fake_relay *relay, struct mq_transfer *transfer)
{
    relay->bounces = relay->scene->counter < 2;
    if (!relay->bounces) {
        see_sent(relay, transfer);
    }
}

/* A mail that came back untouched is signed again, with its new time, and only once. */
static void test_begins_again(void **state)
{
    struct scene_worker *scene = *state;
    scene->relay.on_body = stops_bouncing;
    mail(scene);
    run_until(scene, MQ_RUN_EMPTY);
    assert_int_equal(scene->counter, 2);
    assert_string_equal(seen.data, SIGNATURE "Subject: x\r\n\r\nx\r\n");
    assert_int_equal(scene->report.sent, 1);
}

static enum mq_status sign_slowly(void *context, const struct mq_dkim_mail *out_mail,
                                  struct mq_buffer *out, struct mq_error *err)
{
    struct scene_worker *scene = context;
    assert_true(scene->relay.steps > seen_steps);
    seen_steps = scene->relay.steps;
    scene->boot_ms += 10;
    return sign(context, out_mail, out, err);
}

/* Signing takes time: between two signatures the run serves the deliveries under way. */
static void test_others_go_on(void **state)
{
    struct scene_worker *scene = *state;
    for (int i = 0; i < 8; i++) {
        mail(scene);
    }
    scene->hooks.sign = sign_slowly;
    run_until(scene, MQ_RUN_EMPTY);
    assert_int_equal(scene->report.sent, 8);
}

/* ---- seal: the application's own form of the message ---- */

static const char *sealed; /* what the hook makes of the message */

static enum mq_status seal(void *context, const struct mq_job *job, struct mq_str message,
                           struct mq_buffer *out, struct mq_error *err)
{
    struct scene_worker *scene = context;
    scene->counter++;
    assert_string_equal(job->targets.items[0], "to@example.org");
    assert_int_equal(strncmp(message.data, "Subject: x\r\n", 12), 0);
    mq_buffer_cstr(out, sealed);
    return answer == MQ_OK ? MQ_OK : mq_error_set(err, answer, "sign", "sign: no certificate");
}

static void seals(struct scene_worker *scene, const char *as)
{
    scene->hooks.seal = seal;
    sealed = as;
    fx_enqueue(&scene->fx,
               &(struct mail){.recipients = "to@example.org", .body = "Subject: x\r\n\r\nx\r\n"});
}

static void defer(struct fake_relay *relay, struct mq_transfer *transfer, struct mq_target *target)
{
    (void)relay;
    (void)transfer;
    set_result(target, MQ_OUTCOME_DEFERRED, "450 later");
}

/* What it returns is signed and sent; what is stored stays, so that the next attempt begins with
 * the same message. */
static void test_seals(void **state)
{
    struct scene_worker *scene = *state;
    scene->hooks.sign = sign;
    scene->relay.answer = defer;
    seals(scene, "Subject: x\r\n\r\nsealed\r\n");
    run_until(scene, MQ_RUN_EMPTY);
    assert_string_equal(seen.data, "Subject: x\r\n\r\nsealed\r\n");
    assert_int_equal(scene->report.try_later, 1);
    scene->boot_ms += 60000;
    scene->relay.answer = NULL;
    scene->relay.on_body = see_sent;
    run_until(scene, MQ_RUN_EMPTY);
    assert_string_equal(seen.data, SIGNATURE "Subject: x\r\n\r\nsealed\r\n");
    assert_int_equal(scene->counter, 4);
    assert_int_equal(scene->report.sent, 1);
}

static void test_converts_what_was_sealed(void **state)
{
    struct scene_worker *scene = *state;
    scene->hooks.sign = sign;
    scene->relay.on_body = see_signed;
    seals(scene, "Subject: x\r\n\r\nceci: caf\xC3\xA9\r\n");
    run_until(scene, MQ_RUN_EMPTY);
    assert_non_null(strstr(seen.data, "ceci: caf=C3=A9\r\n"));
    assert_int_equal(scene->report.sent, 1);
}

/* A mail that cannot be sealed is never sent as it was. */
static void test_seal_fails(void **state)
{
    struct scene_worker *scene = *state;
    answer = MQ_MESSAGE;
    seals(scene, "Subject: half\r\n");
    run_until(scene, MQ_RUN_EMPTY);
    assert_int_equal(scene->relay.submits, 0);
    fx_assert_text(&scene->fx, "SELECT last_error FROM mail_queue", "sign: no certificate");
    assert_int_equal(fx_int(&scene->fx, "SELECT attempts FROM mail_queue"), 1);
}

static void test_seal_ends_the_run(void **state)
{
    struct scene_worker *scene = *state;
    answer = MQ_THROWN;
    seals(scene, "");
    assert_int_equal(run_worker(scene), MQ_THROWN);
    assert_int_equal(scene->relay.submits, 0);
    assert_int_equal(fx_int(&scene->fx, "SELECT attempts FROM mail_queue"), 0);
    assert_int_equal(count_jobs(scene, "pending"), 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_signs_what_was_converted, setup, teardown),
        cmocka_unit_test_setup_teardown(test_signs_as_it_is, setup, teardown),
        cmocka_unit_test_setup_teardown(test_unsigned_as_it_is, setup, teardown),
        cmocka_unit_test_setup_teardown(test_signs_what_is_sent, setup, teardown),
        cmocka_unit_test_setup_teardown(test_signs_the_prefix, setup, teardown),
        cmocka_unit_test_setup_teardown(test_no_signature, setup, teardown),
        cmocka_unit_test_setup_teardown(test_signs_composed, setup, teardown),
        cmocka_unit_test_setup_teardown(test_failure, setup, teardown),
        cmocka_unit_test_setup_teardown(test_failure_of_memory, setup, teardown),
        cmocka_unit_test_setup_teardown(test_begins_again, setup, teardown),
        cmocka_unit_test_setup_teardown(test_others_go_on, setup, teardown),
        cmocka_unit_test_setup_teardown(test_seals, setup, teardown),
        cmocka_unit_test_setup_teardown(test_converts_what_was_sealed, setup, teardown),
        cmocka_unit_test_setup_teardown(test_seal_fails, setup, teardown),
        cmocka_unit_test_setup_teardown(test_seal_ends_the_run, setup, teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
