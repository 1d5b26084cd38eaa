/* The bytes of a message on the wire: dot-stuffing, chunks, any cuts; MAIL's parameters; messages
 * refused before anything is sent. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "mime/wire/message.h"
#include "smtp_fake.h"

#define GO "250 ok\r\n250 ok\r\n354 go\r\n"

static void assert_refused(const struct fake_mail *mail, const char *code)
{
    assert_true(fake_is_back(mail));
    assert_int_equal(mail->transfer.end, MQ_TRANSFER_DONE);
    assert_string_equal(fake_results(mail), "R");
    assert_memory_equal(mail->targets[0].reply, code, strlen(code));
    assert_int_equal(mail->transfer.at_s, 0);
    assert_string_equal(mail->phases, "");
}

/* The expected bytes, one by one, as RFC 5321, section 4.5.2 says. malloc'ed. */
static char *stuffed(const char *text, size_t len, size_t *out_len)
{
    char *out = malloc(2 * len + 8);
    size_t n = 0;
    bool start = true;
    for (size_t i = 0; i < len; i++) {
        if (start && text[i] == '.') {
            out[n++] = '.';
        }
        out[n++] = text[i];
        start = text[i] == '\n';
    }
    const char *end = start ? ".\r\n" : "\r\n.\r\n";
    memcpy(out + n, end, strlen(end));
    *out_len = n + strlen(end);
    return out;
}

/* Sends text whose first `prefix` bytes are the prefix, in writes of at most `cut` bytes, and
 * compares the bytes received. */
static void send_and_compare(const char *text, size_t len, size_t prefix, size_t cut)
{
    struct fake *fake = fake_new(FAKE_PIPELINING);
    struct fake_mail mail;
    size_t expected_len = 0;
    char *expected = stuffed(text, len, &expected_len);
    fake_mail_init(&mail, "", 1);
    mail.transfer.prefix = (struct mq_str){text, prefix};
    mail.transfer.message = (struct mq_str){text + prefix, len - prefix};
    fake_submit(fake, &mail);
    fake_wire(fake);
    fake->out_cut = cut;
    fake_says(fake, GO);
    assert_int_equal(fake->session.state, MQ_SMTP_AWAITING);
    assert_int_equal(fake->out_len, expected_len);
    assert_memory_equal(fake->out, expected, expected_len);
    free(expected);
    fake_free(fake);
}

static void test_dots_and_line_ends(void **state)
{
    (void)state;
    static const char *const texts[] = {
        "",
        ".",
        "..",
        ".\r\n",
        "\r\n.\r\n",
        "a\r\n.\r\nb\r\n",
        "a\r\n..\r\n.b\r\n...",
        ".a\r\n\r\n.",
        "no line end",
        "half\r",
        "a.b.c\r\n",
        "\n.\n",
    };
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        size_t len = strlen(texts[i]);
        for (size_t prefix = 0; prefix <= len; prefix++) {
            send_and_compare(texts[i], len, prefix, 0);
            send_and_compare(texts[i], len, prefix, 1);
        }
    }
}

/* Dots at every position around the end of a chunk. */
static void test_dots_at_every_chunk_border(void **state)
{
    (void)state;
    static char text[3 * MQ_SMTP_CHUNK];
    for (size_t shift = 0; shift < 40; shift++) {
        size_t len = 2 * MQ_SMTP_CHUNK + shift;
        memset(text, 'x', sizeof text);
        for (int chunk = 1; chunk <= 2; chunk++) {
            char *at = text + (size_t)chunk * MQ_SMTP_CHUNK - 45 + shift;
            memcpy(at, "\r\n.\r\n..\r\n.a\r\n.", 15);
        }
        send_and_compare(text, len, 0, 0);
        send_and_compare(text, len, MQ_SMTP_CHUNK - 30 + shift, 4099);
    }
}

/* Only lines of dots: the output is much longer than the input. */
static void test_only_dots(void **state)
{
    (void)state;
    static char text[2 * MQ_SMTP_CHUNK + 1];
    for (size_t i = 0; i + 1 < sizeof text; i += 2) {
        memcpy(text + i, ".\n", 2);
    }
    send_and_compare(text, 2 * MQ_SMTP_CHUNK, 0, 0);
    send_and_compare(text, 2 * MQ_SMTP_CHUNK - 1, 7, 1000);
}

static void test_blocked_write_is_repeated_alike(void **state)
{
    (void)state;
    struct fake *fake = fake_new(FAKE_PIPELINING);
    static char text[5 * MQ_SMTP_CHUNK];
    struct fake_mail mail;
    memset(text, 'x', sizeof text - 1);
    fake_mail_init(&mail, text, 1);
    fake_submit(fake, &mail);
    fake_wire(fake);
    fake->out_blocked = true;
    fake_says(fake, GO);
    for (int i = 0; i < 20 && fake->session.state == MQ_SMTP_BODY; i++) {
        assert_true(fake->session.wants_write);
        fake->out_blocked = false;
        fake->out_cut = 5000;
        fake->now_ms += 179000; /* progress keeps it alive */
        mq_smtp_session_check_timeout(&fake->session, fake->now_ms);
        assert_false(fake_is_back(&mail));
        mq_smtp_session_pump(&fake->session);
        fake->out_blocked = true;
        mq_smtp_session_pump(&fake->session);
    }
    assert_int_equal(fake->session.state, MQ_SMTP_AWAITING);
    assert_int_equal(fake->out_len, sizeof text - 1 + strlen("\r\n.\r\n"));
    fake_free(fake);
}

static void test_dot_waits_for_the_guard_of_a_long_message(void **state)
{
    (void)state;
    struct fake *fake = fake_new(FAKE_PIPELINING);
    static char text[3 * MQ_SMTP_CHUNK];
    struct fake_mail mail;
    memset(text, 'x', sizeof text - 1);
    fake_mail_init(&mail, text, 1);
    mail.refuse = 'B';
    fake_submit(fake, &mail);
    fake_wire(fake);
    fake_says(fake, GO);
    /* The guard was asked only at the end, and the dot did not leave. */
    assert_true(fake->out_len >= 2 * MQ_SMTP_CHUNK - 16);
    assert_null(strchr(fake_wire(fake), '.'));
    assert_string_equal(mail.phases, "EB");
    assert_int_equal(mail.transfer.end, MQ_TRANSFER_LEASE_OVER);
    assert_true(fake->closed);
    fake_free(fake);
}

/* ---- MAIL ---- */

/* Over TLS it is unknown whether a failed write left with its dot. A reply still decides the mail,
 * but the rest must not be written: a relay that has already answered would read it as commands. */
static void test_nothing_of_the_body_follows_its_reply(void **state)
{
    (void)state;
    static const char message[] = "Subject: x\r\n\r\nMAIL FROM:<evil@x>\r\n";
    static const char *const replies[] = {"552 5.3.4 too big\r\n", "250 queued\r\n"};
    for (size_t i = 0; i < sizeof replies / sizeof *replies; i++) {
        struct fake *fake = fake_new(FAKE_PIPELINING);
        struct fake_mail mail;
        fake->channel.opaque = true;
        fake_mail_init(&mail, message, 1);
        fake_submit(fake, &mail);
        fake_says(fake, "250 ok\r\n250 ok\r\n");
        fake_wire(fake);
        fake->out_blocked = true;
        fake_says(fake, "354 go\r\n");
        fake_says(fake, replies[i]);
        assert_string_equal(fake_results(&mail), i == 0 ? "R" : "A");
        fake->out_blocked = false;
        mq_smtp_session_pump(&fake->session);
        assert_string_equal(fake_wire(fake), "");
        assert_true(fake->closed);
        assert_string_equal(fake->why, "");
        fake_free(fake);
    }
}

static void test_parameters_of_mail(void **state)
{
    (void)state;
    static const struct {
        unsigned caps, flags;
        bool utf8_address;
        const char *wire;
    } cases[] = {
        {FAKE_PIPELINING, 0, false, "MAIL FROM:<s@y>\r\n"},
        {FAKE_PIPELINING | FAKE_SIZE, 0, false, "MAIL FROM:<s@y> SIZE=7\r\n"},
        {FAKE_PIPELINING | FAKE_8BIT | FAKE_UTF8, 0, false, "MAIL FROM:<s@y>\r\n"},
        {FAKE_PIPELINING | FAKE_8BIT, MQ_MESSAGE_8BIT, false, "MAIL FROM:<s@y> BODY=8BITMIME\r\n"},
        {FAKE_PIPELINING | FAKE_UTF8, MQ_MESSAGE_UTF8_HEADERS, false,
         "MAIL FROM:<s@y> SMTPUTF8\r\n"},
        {FAKE_PIPELINING | FAKE_UTF8, 0, true, "MAIL FROM:<s@y> SMTPUTF8\r\n"},
        {FAKE_PIPELINING | FAKE_SIZE | FAKE_8BIT | FAKE_UTF8, MQ_MESSAGE_8BIT, true,
         "MAIL FROM:<s@y> SIZE=7 BODY=8BITMIME SMTPUTF8\r\n"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct fake *fake = fake_new(cases[i].caps);
        struct fake_mail mail;
        fake_mail_init(&mail, "a: b\r\n\r", 1);
        mail.transfer.flags = cases[i].flags;
        mail.transfer.utf8_address = cases[i].utf8_address;
        fake_submit(fake, &mail);
        assert_memory_equal(fake_wire(fake), cases[i].wire, strlen(cases[i].wire));
        fake_free(fake);
    }
}

static void test_status_notifications(void **state)
{
    (void)state;
    static const struct {
        unsigned caps;
        const char *wire;
    } cases[] = {
        {FAKE_PIPELINING | FAKE_SIZE | FAKE_DSN,
         "MAIL FROM:<s@y> SIZE=1 RET=HDRS ENVID=q+2B1\r\n"
         "RCPT TO:<a@x> NOTIFY=SUCCESS,FAILURE\r\nRCPT TO:<b@x> NOTIFY=SUCCESS,FAILURE\r\n"
         "DATA\r\n"},
        {FAKE_PIPELINING | FAKE_SIZE,
         "MAIL FROM:<s@y> SIZE=1\r\nRCPT TO:<a@x>\r\nRCPT TO:<b@x>\r\nDATA\r\n"},
    };
    for (size_t i = 0; i < 2; i++) {
        struct fake *fake = fake_new(cases[i].caps);
        struct fake_mail mail;
        fake_mail_init(&mail, "x", 2);
        mail.transfer.notify = (struct mq_notify){.when = MQ_NOTIFY_SUCCESS | MQ_NOTIFY_FAILURE,
                                                  .ret = MQ_NOTIFY_RET_HDRS,
                                                  .envid = "q+1"};
        fake_submit(fake, &mail);
        assert_string_equal(fake_wire(fake), cases[i].wire);
        fake_free(fake);
    }
    /* A relay that offers extensions but rejects them: the mail is sent again without. */
    struct fake *fake = fake_new(FAKE_DSN);
    struct fake_mail mail;
    fake_mail_init(&mail, "x", 1);
    mail.transfer.notify.when = MQ_NOTIFY_NEVER;
    mail.transfer.transport_flags = MQ_SMTP_TRANSFER_PLAIN;
    fake_submit(fake, &mail);
    assert_string_equal(fake_wire(fake), "MAIL FROM:<s@y>\r\n");
    fake_says(fake, "250 ok\r\n");
    assert_string_equal(fake_wire(fake), "RCPT TO:<a@x>\r\n");
    fake_free(fake);
}

static void test_null_sender(void **state)
{
    (void)state;
    struct fake *fake = fake_new(0);
    struct fake_mail mail;
    fake_mail_init(&mail, "", 1);
    mail.transfer.from = "";
    fake_submit(fake, &mail);
    assert_string_equal(fake_wire(fake), "MAIL FROM:<>\r\n");
    fake_free(fake);
}

static void test_what_the_relay_cannot_take_is_refused_here(void **state)
{
    (void)state;
    struct fake *fake = fake_new(FAKE_PIPELINING | FAKE_SIZE);
    struct fake_mail eight, utf8, address, big, good;
    static char text[100001];
    memset(text, 'x', sizeof text - 1);
    fake_mail_init(&eight, "x", 1);
    eight.transfer.flags = MQ_MESSAGE_8BIT;
    fake_mail_init(&utf8, "x", 1);
    utf8.transfer.flags = MQ_MESSAGE_UTF8_HEADERS;
    fake_mail_init(&address, "x", 1);
    address.transfer.utf8_address = true;
    address.transfer.targets[0].address = "j\xC3\xBCrgen@y";
    fake_mail_init(&big, text, 1);
    big.transfer.prefix = MQ_STR("x");
    fake_mail_init(&good, text, 1);
    fake_queue(fake, &eight);
    fake_queue(fake, &utf8);
    fake_queue(fake, &address);
    fake_queue(fake, &big);
    fake_submit(fake, &good);
    assert_refused(&eight, "5.6.3 ");
    assert_refused(&utf8, "5.6.7 ");
    assert_refused(&address, "5.6.7 ");
    assert_refused(&big, "5.3.4 ");
    assert_string_equal(good.phases, "E"); /* the relay accepts 100,000 bytes */
    assert_int_equal(fake->session.mails, 1);
    fake_free(fake);
}

/* No address, from any source, continues or ends a command. */
static void test_addresses_that_would_break_the_command(void **state)
{
    (void)state;
    static const char *const bad[] = {"a@x\r\nDATA", "a@x\n", "a\r@x",   "a@x> SIZE=1", "<a@x",
                                      "a b@x",       "a\t@x", "a\x01@x", "a\x7f@x"};
    static char longest[400];
    memset(longest, 'a', sizeof longest - 1);
    for (size_t i = 0; i <= sizeof bad / sizeof *bad; i++) {
        const char *address = i < sizeof bad / sizeof *bad ? bad[i] : longest;
        struct fake *fake = fake_new(FAKE_PIPELINING);
        struct fake_mail sender, recipient, two;
        fake_mail_init(&sender, "x", 1);
        sender.transfer.from = address;
        fake_mail_init(&recipient, "x", 1);
        recipient.targets[0].address = address;
        fake_mail_init(&two, "x", 2);
        two.targets[0].address = address;
        fake_queue(fake, &sender);
        fake_queue(fake, &recipient);
        fake_submit(fake, &two);
        assert_refused(&sender, "5.1.7 ");
        assert_refused(&recipient, "5.1.3 ");
        assert_string_equal(fake_wire(fake), "MAIL FROM:<s@y>\r\nRCPT TO:<b@x>\r\nDATA\r\n");
        fake_says(fake, GO);
        fake_says(fake, "250 ok\r\n");
        assert_string_equal(fake_results(&two), "RA");
        fake_free(fake);
    }
}

static void test_many_recipients_fill_several_writes(void **state)
{
    (void)state;
    struct fake *fake = fake_new(FAKE_PIPELINING);
    struct fake_mail mail;
    static struct mq_target targets[200];
    static char addresses[200][256];
    fake_mail_init(&mail, "x", 1);
    mail.transfer.targets = targets;
    mail.transfer.target_count = 200;
    for (size_t i = 0; i < 200; i++) {
        memset(addresses[i], 'a', 240);
        snprintf(addresses[i] + 240, 16, "%zu@x", i);
        targets[i] = (struct mq_target){.address = addresses[i]};
    }
    fake_submit(fake, &mail);
    assert_true(fake->writes > 1);
    assert_int_equal(fake->session.expected_count, 202);
    const char *wire = fake_wire(fake);
    assert_non_null(strstr(wire, "aa199@x>\r\nDATA\r\n"));
    fake_says(fake, "250 ok\r\n");
    for (int i = 0; i < 200; i++) {
        fake_says(fake, i % 2 ? "550 5.1.1 nobody\r\n" : "250 ok\r\n");
    }
    fake_says(fake, "354 go\r\n");
    fake_says(fake, "250 queued\r\n");
    assert_true(fake_is_back(&mail));
    for (int i = 0; i < 200; i++) {
        assert_int_equal(targets[i].result, i % 2 ? MQ_OUTCOME_REFUSED : MQ_OUTCOME_DELIVERED);
    }
    fake_free(fake);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_dots_and_line_ends),
        cmocka_unit_test(test_dots_at_every_chunk_border),
        cmocka_unit_test(test_only_dots),
        cmocka_unit_test(test_blocked_write_is_repeated_alike),
        cmocka_unit_test(test_dot_waits_for_the_guard_of_a_long_message),
        cmocka_unit_test(test_nothing_of_the_body_follows_its_reply),
        cmocka_unit_test(test_parameters_of_mail),
        cmocka_unit_test(test_status_notifications),
        cmocka_unit_test(test_null_sender),
        cmocka_unit_test(test_what_the_relay_cannot_take_is_refused_here),
        cmocka_unit_test(test_addresses_that_would_break_the_command),
        cmocka_unit_test(test_many_recipients_fill_several_writes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
