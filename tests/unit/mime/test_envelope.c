/* Which sender and recipients a message names. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <time.h>

#include "bad_addresses.h"
#include "envelope_of.h"

static struct mq_error err;
static struct mq_envelope envelope;

static int teardown(void **state)
{
    (void)state;
    mq_envelope_clear(&envelope);
    assert_null(envelope.from);
    assert_int_equal(envelope.recipients.count, 0);
    return 0;
}

/* The message's sender and recipients, as "from>one two", with every line end. */
static void assert_envelope(const char *message, const char *expected)
{
    static const char *const ends[] = {"\n", "\r\n", "\r"};
    for (size_t i = 0; i < 3; i++) {
        struct mq_buffer raw = {0};
        struct mq_buffer found = {0};
        for (const char *c = message; *c != '\0'; c++) {
            mq_buffer_append(&raw, *c == '\n' ? ends[i] : c, *c == '\n' ? strlen(ends[i]) : 1);
        }
        if (envelope_of(mq_buffer_view(&raw), &envelope, &err) != MQ_OK) {
            fail_msg("%s: %s", message, err.text);
        }
        mq_buffer_printf(&found, "%s>", envelope.from ? envelope.from : "");
        for (size_t k = 0; k < envelope.recipients.count; k++) {
            mq_buffer_printf(&found, "%s%s", k > 0 ? " " : "", envelope.recipients.items[k]);
        }
        assert_string_equal(found.data, expected);
        mq_buffer_clear(&found);
        mq_buffer_clear(&raw);
    }
}

static void test_plain(void **state)
{
    (void)state;
    assert_envelope("From: Ann <a@b>\nTo: c@d\n\nTo: body@x\n", "a@b>c@d");
    assert_envelope("to: c@d, E <e@f>\nCC: g@h\nbcc: i@j\nFROM: a@b", "a@b>c@d e@f g@h i@j");
    assert_envelope("From: a@b\nTo: c@d,\n \"x, y\"\n\t<e@f>\nTo: g@h\n", "a@b>c@d e@f g@h");
    assert_envelope("Sender: s@t\nFrom: a@b, c@d\nTo: e@f\n", "s@t>e@f");
    assert_envelope("From: a@b, c@d\nSender: s@t\nTo: e@f\n", "s@t>e@f");
    assert_envelope("From: a@b, c@d\nTo: e@f\n", "a@b>e@f");
    assert_envelope("Sender:\nFrom: a@b\nTo:\nBcc: c@d\nCc: ,\n", "a@b>c@d");
    assert_envelope("From: a@b\nTo: undisclosed-recipients:;\nBcc: c@d\n", "a@b>c@d");
    assert_envelope("From: a@b\nTo: g: c@d, e@f;\nReply-To: r@s\nX-To: x@y\n", "a@b>c@d e@f");
    assert_envelope("Subject: x\n\n", ">");
    assert_envelope("Return-Path: <x@y>\nErrors-To: e@f\nApparently-To: g@h\nX: y\n", ">");
    assert_envelope("", ">");
    assert_envelope("\nTo: a@b\n", ">");
}

static void test_once_each(void **state)
{
    (void)state;
    assert_envelope("To: z@y, a@b, c@D\nCc: a@b, C@d, c@d, Z@y\nBcc: a@B, z@y\n",
                    ">z@y a@b c@D C@d Z@y");
}

static void test_resent(void **state)
{
    (void)state;
    assert_envelope("Resent-From: r@s\nResent-To: t@u\nFrom: a@b\nTo: c@d\nBcc: e@f\n", "r@s>t@u");
    assert_envelope("Resent-From: r@s\nResent-Sender: v@w\nResent-Bcc: t@u\nTo: c@d\n", "v@w>t@u");
    assert_envelope("Resent-Cc: t@u\nFrom: a@b\nTo: c@d\n", "a@b>t@u");
    assert_envelope("Resent-From: r@s\nSender: x@y\nFrom: a@b\nTo: c@d\n", "r@s>c@d");
    assert_envelope("Resent-Date: x\nFrom: a@b\nTo: c@d\n", "a@b>c@d");
    /* An empty Resent field counts: To is not used then. */
    assert_envelope("Resent-To:\nFrom: a@b\nTo: c@d\n", "a@b>");
    assert_envelope("RESENT-TO: t@u\nresent-cc: t@u, v@w\nTo: c@d\nFrom: a@b\n", "a@b>t@u v@w");
}

/* The topmost block is the latest. */
static void test_blocks(void **state)
{
    (void)state;
    assert_envelope("Resent-From: 2@x\nResent-Date: y\nResent-To: to2@x\n"
                    "Resent-From: 1@x\nResent-Date: x\nResent-To: to1@x\nResent-Cc: cc1@x\n"
                    "From: a@b\nTo: c@d\n",
                    "2@x>to2@x");
    assert_envelope("Resent-Date: y\nResent-From: 2@x\nResent-To: to2@x\n"
                    "Resent-To: to1@x\nResent-From: 1@x\nResent-Date: x\nTo: c@d\n",
                    "2@x>to2@x");
    assert_envelope("Received: 3\nResent-From: 2@x\nResent-To: to2@x\nReceived: 2\n"
                    "Resent-Sender: 1@x\nResent-Bcc: bcc1@x\nReceived: 1\nTo: c@d\n",
                    "2@x>to2@x");
    assert_envelope("Resent-From: 2@x\nResent-To: to2@x\nReturn-Path: <q@x>\n"
                    "Resent-Cc: cc1@x\nTo: c@d\n",
                    "2@x>to2@x");
    /* One block, even with other fields between, and with a field twice. */
    assert_envelope("Resent-From: 2@x\nSubject: s\nResent-To: a@x\nX: y\nResent-To: b@x\n"
                    "Resent-Bcc: c@x\nTo: c@d\n",
                    "2@x>a@x b@x c@x");
    /* A trace field ends the block, whatever follows. */
    assert_envelope("Resent-From: n@x.yy\nResent-To: one@x.yy\nResent-To: two@x.yy\nReceived: x\n"
                    "Resent-From: o@x.yy\nResent-To: old@x.yy\nTo: b@c.de\n\n",
                    "n@x.yy>one@x.yy two@x.yy");
    assert_envelope("Resent-From: n@x\nResent-Cc: a@x\nResent-Cc: b@x\nResent-Bcc: c@x\n"
                    "Resent-Bcc: d@x\nReturn-Path: <q@x>\nResent-From: m@x\nResent-Cc: y@x\n"
                    "Resent-From: o@x\nResent-Cc: z@x\n",
                    "n@x>a@x b@x c@x d@x");
    /* A field that occurs a second time after a trace field. */
    assert_envelope("Resent-From: 2@x\nResent-To: to2@x\nResent-To: to1@x\nResent-From: 1@x\n"
                    "Received: x\nResent-From: 0@x\nResent-To: to0@x\nTo: c@d\n",
                    "2@x>to2@x");
    /* Fields that do not count need not be valid. */
    assert_envelope("Resent-From: 2@x\nResent-To: a@x\nReceived: y\nResent-To: bad\nTo: root\n"
                    "From: root (Cron Daemon)\n",
                    "2@x>a@x");
}

static void test_halves(void **state)
{
    struct mq_str cron = MQ_STR("From: root (Cron Daemon)\nTo: c@d\n\n");
    struct mq_str local = MQ_STR("From: a@b\nTo: root\n\n");
    char *from = NULL;
    (void)state;
    assert_int_equal(envelope_of(cron, &envelope, &err), MQ_MESSAGE);
    assert_string_equal(err.field, "From");
    assert_int_equal(mq_envelope_recipients(cron, &envelope.recipients, &err), MQ_OK);
    assert_int_equal(envelope.recipients.count, 1);
    assert_int_equal(mq_envelope_recipients(local, &envelope.recipients, &err), MQ_MESSAGE);
    assert_string_equal(err.field, "To");
    assert_int_equal(envelope.recipients.count, 1);
    assert_int_equal(mq_envelope_sender(cron, &from, &err), MQ_MESSAGE);
    assert_null(from);
    assert_int_equal(mq_envelope_sender(local, &from, &err), MQ_OK);
    assert_string_equal(from, "a@b");
    free(from);
}

static void assert_refused(struct mq_str raw, const char *field)
{
    size_t before = envelope.recipients.count;
    err = (struct mq_error){0};
    if (envelope_of(raw, &envelope, &err) != MQ_MESSAGE) {
        fail_msg("%.*s was taken", (int)raw.len, raw.data);
    }
    assert_string_equal(err.field, field);
    assert_int_equal(strncmp(err.text, field, strlen(field)), 0);
    assert_int_equal(envelope.recipients.count, before);
    assert_string_equal(envelope.from, "from@before");
}

static void test_bad(void **state)
{
    static const char *const bad[] = {BAD_OPTIONS, BAD_FORMS, BAD_LENGTHS};
    static const char *const fields[] = {
        "To", "Cc", "Bcc", "From", "Sender", "Resent-To", "Resent-Bcc", "Resent-Cc", "Resent-From"};
    char text[800];
    (void)state;
    assert_int_equal(envelope_of(MQ_STR("From: from@before\nTo: to@before"), &envelope, &err),
                     MQ_OK);
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        for (size_t k = 0; k < sizeof fields / sizeof *fields; k++) {
            snprintf(text, sizeof text, "%s: %s\r\n\r\n", fields[k], bad[i]);
            assert_refused(mq_str_of(text), fields[k]);
            snprintf(text, sizeof text, "%s: o@k.org,\r\n Ann <%s>\r\n\r\n", fields[k], bad[i]);
            assert_refused(mq_str_of(text), fields[k]);
        }
    }
    assert_refused(MQ_STR("To: a@b\nno field\n\n"), "message");
    assert_non_null(strstr(err.text, "line 2"));
    assert_refused(MQ_STR("To: a@b\n c@d\n\n"), "To");
    assert_refused(MQ_STR(" To: a@b\n\n"), "message");
    assert_refused(MQ_STR("To : a@b\n\n"), "message");
    assert_refused(MQ_STR("To: a@b,\rc@d\n\n"), "To");
    assert_refused((struct mq_str){"To: a@b\0,c@d\n\n", 14}, "To");
    assert_refused(MQ_STR("Bcc: (\n\n"), "Bcc");
}

static void test_linear(void **state)
{
    static const char *const shapes[] = {"To: a@b\n",          "To: ,\n", "X: y\n",    " z\n",
                                         "Resent-To: a@b\n",   "To: (",   "Sender:\n", "\n",
                                         "Resent-From: a@b\n", "x",       "a@b, "};
    static const char *const heads[] = {"", "To: ", "To: \"", "From: a@b\nCc: <"};
    clock_t start = clock();
    (void)state;
    for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++) {
        for (size_t k = 0; k < sizeof heads / sizeof *heads; k++) {
            struct mq_buffer raw = {0};
            mq_buffer_cstr(&raw, heads[k]);
            while (raw.len < 1000000) {
                mq_buffer_cstr(&raw, shapes[i]);
            }
            envelope_of(mq_buffer_view(&raw), &envelope, &err);
            mq_buffer_clear(&raw);
        }
    }
    assert_true(clock() - start < 30 * CLOCKS_PER_SEC);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(test_plain, teardown),
        cmocka_unit_test_teardown(test_once_each, teardown),
        cmocka_unit_test_teardown(test_resent, teardown),
        cmocka_unit_test_teardown(test_blocks, teardown),
        cmocka_unit_test_teardown(test_halves, teardown),
        cmocka_unit_test_teardown(test_bad, teardown),
        cmocka_unit_test_teardown(test_linear, teardown),
    };
    return cmocka_run_group_tests_name("envelope", tests, NULL, NULL);
}
