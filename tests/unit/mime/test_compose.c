/* Composed messages: header fields, recipients, bodies and size limits. Parts:
 * test_compose_parts.c. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "mime/compose/composer.h"
#include "mime/text/html.h"
#include "mime/wire/envelope.h"
#include "mime/wire/message.h"

static struct mq_buffer out;
static struct mq_envelope envelope;
static struct mq_error err;

#define AS_WRITTEN(text)                       \
    {                                          \
        .address = MQ_STR(text), .field = "to" \
    }

static const struct mq_compose_address from_ann = {
    .address = MQ_STR("Ann Example <ann@example.org>"), .field = "from"};
static const struct mq_compose_address to_bob = AS_WRITTEN("bob@example.net");

static struct mq_compose_fields some_fields(void)
{
    return (struct mq_compose_fields){.from = {&from_ann, 1},
                                      .to = {&to_bob, 1},
                                      .subject = MQ_STR("Hello ~ all"),
                                      .text = MQ_STR("Text\r\n"),
                                      .message_id = "<1@q.example>",
                                      .date_s = 1795253700};
}

static int reset(void **state)
{
    (void)state;
    mq_buffer_clear(&out);
    mq_envelope_clear(&envelope);
    return 0;
}

static enum mq_status compose(const struct mq_compose_fields *fields)
{
    reset(NULL);
    return mq_compose(fields, &out, &envelope, &err);
}

static void assert_composes(const struct mq_compose_fields *fields)
{
    if (compose(fields) != MQ_OK) {
        fail_msg("%s", err.text);
    }
}

static void assert_field(const char *name, const char *expected)
{
    struct mq_str value;
    assert_true(mq_message_header(mq_buffer_view(&out), name, &value));
    char *text = mq_str_dup(value);
    assert_string_equal(text, expected);
    free(text);
}

static void assert_no_field(const char *name)
{
    struct mq_str value;
    assert_false(mq_message_header(mq_buffer_view(&out), name, &value));
}

static void assert_bad(const struct mq_compose_fields *fields, const char *field,
                       const char *expected)
{
    if (compose(fields) != MQ_MESSAGE) {
        fail_msg("%s was taken", field);
    }
    assert_string_equal(err.field, field);
    if (strstr(err.text, expected) == NULL) {
        fail_msg("\"%s\" is not in \"%s\"", expected, err.text);
    }
    assert_int_equal(strncmp(err.text, field, strlen(field)), 0);
    assert_null(envelope.from);
    assert_int_equal(envelope.recipients.count, 0);
    assert_int_equal(out.len, 0);
}

static void test_simple(void **state)
{
    struct mq_compose_fields fields = some_fields();
    struct mq_buffer again;
    struct mq_message_info info;
    struct mq_message_options options = {.message_id = "<other@x>"};
    (void)state;
    assert_composes(&fields);
    assert_string_equal(out.data, "Date: Sat, 21 Nov 2026 09:35:00 +0000\r\n"
                                  "From: Ann Example <ann@example.org>\r\n"
                                  "To: bob@example.net\r\n"
                                  "Subject: Hello ~ all\r\n"
                                  "Message-ID: <1@q.example>\r\n"
                                  "MIME-Version: 1.0\r\n"
                                  "Content-Type: text/plain; charset=utf-8\r\n"
                                  "Content-Transfer-Encoding: 7bit\r\n"
                                  "\r\n"
                                  "Text\r\n");
    assert_string_equal(envelope.from, "ann@example.org");
    assert_int_equal(envelope.recipients.count, 1);
    assert_string_equal(envelope.recipients.items[0], "bob@example.net");
    /* It is in wire form already. */
    again = (struct mq_buffer){0};
    assert_int_equal(mq_message_normalize(mq_buffer_view(&out), &options, &again, &info, &err),
                     MQ_OK);
    assert_string_equal(again.data, out.data);
    assert_int_equal(info.flags, 0);
    mq_buffer_clear(&again);
}

/* The order of the fields, each in its form. */
static void test_all_fields(void **state)
{
    static const struct mq_compose_address cc = {
        .name = MQ_STR("Doe, J."), .address = MQ_STR("jd@example.net"), .field = "cc"};
    static const struct mq_compose_address reply = {.address = MQ_STR("R <r@example.org>"),
                                                    .field = "reply_to"};
    static const struct mq_compose_header headers[] = {
        {MQ_STR("X-Tag"), MQ_STR("a")},
        {MQ_STR("X-Tag"), MQ_STR("Größe")},
        {MQ_STR("references"), MQ_STR("<a@b> <c@d>")},
        {MQ_STR("sender"), MQ_STR("Jörg <j@example.org>")}};
    static const struct mq_str unsubscribe[] = {MQ_STR("mailto:u@example.org"),
                                                MQ_STR("https://example.org/u?i=1")};
    struct mq_compose_fields fields = some_fields();
    (void)state;
    fields.cc = (struct mq_compose_addresses){&cc, 1};
    fields.reply_to = (struct mq_compose_addresses){&reply, 1};
    fields.headers = headers;
    fields.header_count = 4;
    fields.unsubscribe = unsubscribe;
    fields.unsubscribe_count = 2;
    assert_composes(&fields);
    assert_non_null(
        strstr(out.data, "From: Ann Example <ann@example.org>\r\n"
                         "Reply-To: R <r@example.org>\r\n"
                         "To: bob@example.net\r\n"
                         "Cc: \"Doe, J.\" <jd@example.net>\r\n"
                         "Subject: Hello ~ all\r\n"
                         "Message-ID: <1@q.example>\r\n"
                         "X-Tag: a\r\n"
                         "X-Tag: =?utf-8?B?R3LDtsOfZQ==?=\r\n"
                         "references: <a@b> <c@d>\r\n"
                         "Sender: =?utf-8?B?SsO2cmc=?= <j@example.org>\r\n"
                         "List-Unsubscribe: <mailto:u@example.org>, <https://example.org/u?i=1>\r\n"
                         "List-Unsubscribe-Post: List-Unsubscribe=One-Click\r\n"
                         "MIME-Version: 1.0\r\n"));
    assert_int_equal(envelope.recipients.count, 2);
}

static void test_addresses(void **state)
{
    static const struct mq_compose_address to[] = {
        AS_WRITTEN("\"Bob, jr.\" <bob@example.net>, bob@EXAMPLE.net"),
        AS_WRITTEN("Bob@example.net"),
        AS_WRITTEN("J\xC3\xB6rg <joerg@example.net>"),
        AS_WRITTEN("<a@example.net>"),
        {.name = MQ_STR("bob@example.net"), .address = MQ_STR("bob@example.net"), .field = "to"},
        {.name = MQ_STR(""), .address = MQ_STR("a@example.net"), .field = "to"},
    };
    static const struct mq_compose_address from = {
        .address = MQ_STR("\"=?x?= (not)\" <ann@example.org>"), .field = "from"};
    struct mq_compose_fields fields = some_fields();
    (void)state;
    fields.from.items = &from;
    fields.to = (struct mq_compose_addresses){to, sizeof to / sizeof *to};
    assert_composes(&fields);
    assert_field("From", "=?utf-8?B?PT94Pz0gKG5vdCk=?= <ann@example.org>");
    assert_field("To", "\"Bob, jr.\" <bob@example.net>, bob@EXAMPLE.net, Bob@example.net,\r\n"
                       " =?utf-8?B?SsO2cmc=?= <joerg@example.net>, a@example.net, "
                       "\"bob@example.net\"\r\n <bob@example.net>, a@example.net");
    /* Each once: the case of the domain is ignored, that of the local part is not. */
    assert_int_equal(envelope.recipients.count, 4);
    assert_string_equal(envelope.recipients.items[0], "bob@example.net");
    assert_string_equal(envelope.recipients.items[1], "Bob@example.net");
    assert_string_equal(envelope.recipients.items[2], "joerg@example.net");
    assert_string_equal(envelope.recipients.items[3], "a@example.net");
    assert_true(mq_str_ascii(mq_buffer_view(&out)));
}

/* Only the envelope has the Bcc recipients; a message without any other has an empty group in
 * To. */
static void test_bcc(void **state)
{
    static const struct mq_compose_address bcc[] = {AS_WRITTEN("Secret <secret@example.net>"),
                                                    AS_WRITTEN("bob@example.net")};
    struct mq_compose_fields fields = some_fields();
    (void)state;
    fields.bcc = (struct mq_compose_addresses){bcc, 2};
    assert_composes(&fields);
    assert_null(strstr(out.data, "ecret"));
    assert_no_field("Bcc");
    assert_int_equal(envelope.recipients.count, 2);
    assert_string_equal(envelope.recipients.items[1], "secret@example.net");
    fields.to.count = 0;
    assert_composes(&fields);
    assert_null(strstr(out.data, "ecret"));
    assert_null(strstr(out.data, "bob@"));
    assert_field("To", "undisclosed-recipients:;");
    assert_int_equal(envelope.recipients.count, 2);
    fields.cc = (struct mq_compose_addresses){&to_bob, 1};
    assert_composes(&fields);
    assert_no_field("To");
    assert_field("Cc", "bob@example.net");
}

/* An address that is not ASCII cannot be written in ASCII (RFC 6532). */
static void test_utf8_address(void **state)
{
    static const struct mq_compose_address to = AS_WRITTEN("j\xC3\xB6rg@example.net");
    struct mq_compose_fields fields = some_fields();
    (void)state;
    fields.to.items = &to;
    assert_composes(&fields);
    assert_field("To", "jörg@example.net");
    assert_string_equal(envelope.recipients.items[0], "jörg@example.net");
    assert_int_equal(mq_message_flags(mq_buffer_view(&out)), MQ_MESSAGE_UTF8_HEADERS);
}

static void test_many_recipients(void **state)
{
    enum { COUNT = 2000 };
    static struct mq_compose_address to[COUNT];
    static char texts[COUNT][32];
    struct mq_compose_fields fields = some_fields();
    (void)state;
    for (int i = 0; i < COUNT; i++) {
        snprintf(texts[i], sizeof texts[i], "user%d@example.net", i % (COUNT / 2));
        to[i] = (struct mq_compose_address){.address = mq_str_of(texts[i]), .field = "to"};
    }
    fields.to = (struct mq_compose_addresses){to, COUNT};
    assert_composes(&fields);
    assert_int_equal(envelope.recipients.count, COUNT / 2);
    for (int i = 0; i < COUNT / 2; i++) {
        assert_string_equal(envelope.recipients.items[i], texts[i]);
    }
    const char *line = out.data;
    for (const char *end; (end = strstr(line, "\r\n")) != NULL; line = end + 2) {
        assert_true(end - line <= 78);
    }
}

static void assert_body(struct mq_str text, const char *encoding, const char *expected)
{
    struct mq_compose_fields fields = some_fields();
    fields.text = text;
    assert_composes(&fields);
    assert_field("Content-Transfer-Encoding", encoding);
    assert_string_equal(strstr(out.data, "\r\n\r\n") + 4, expected);
}

static void test_bodies(void **state)
{
    (void)state;
    assert_body(MQ_STR(""), "7bit", "");
    assert_body(MQ_STR("a\nb\rc\r\n\r\rd"), "7bit", "a\r\nb\r\nc\r\n\r\n\r\nd\r\n");
    assert_body(MQ_STR("\n\r"), "7bit", "\r\n\r\n");
    assert_body(MQ_STR("and a tab\t"), "quoted-printable", "and a tab=09\r\n");
    assert_body(MQ_STR("日本\n"), "base64", "5pel5pysDQo=\r\n");
}

static void test_html_only(void **state)
{
    struct mq_compose_fields fields = some_fields();
    (void)state;
    fields.text = (struct mq_str){NULL, 0};
    fields.html = MQ_STR("<p>Some <b>words</b></p>");
    assert_composes(&fields);
    if (mq_html_text_available()) {
        assert_non_null(strstr(out.data, "Content-Type: multipart/alternative; boundary="));
        assert_non_null(strstr(out.data, "Content-Type: text/plain; charset=utf-8\r\n"));
    } else {
        assert_field("Content-Type", "text/html; charset=utf-8");
    }
    assert_non_null(strstr(out.data, "<p>Some <b>words</b></p>\r\n"));
    /* An empty text is kept as it is. */
    fields.text = MQ_STR("");
    assert_composes(&fields);
    assert_non_null(strstr(out.data, "Content-Type: text/plain; charset=utf-8\r\n"
                                     "Content-Transfer-Encoding: 7bit\r\n"
                                     "\r\n"
                                     "\r\n"
                                     "--"));
}

static void test_unsubscribe(void **state)
{
    struct mq_str uris[2] = {MQ_STR("mailto:u@example.org?subject=x%20y")};
    struct mq_compose_fields fields = some_fields();
    (void)state;
    fields.unsubscribe = uris;
    fields.unsubscribe_count = 1;
    assert_composes(&fields);
    assert_field("List-Unsubscribe", "<mailto:u@example.org?subject=x%20y>");
    assert_no_field("List-Unsubscribe-Post");
    uris[0] = MQ_STR("HTTPS://example.org/" /* too long to share a line with another URI */
                     "xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx");
    uris[1] = MQ_STR("mailto:u@example.org");
    fields.unsubscribe_count = 2;
    assert_composes(&fields);
    assert_non_null(strstr(out.data, "xxxx>,\r\n <mailto:u@example.org>\r\n"
                                     "List-Unsubscribe-Post: List-Unsubscribe=One-Click\r\n"));
    static const char *const bad[] = {"",
                                      "http://example.org/u",
                                      "https:example.org",
                                      "https://",
                                      "https:///u",
                                      "mailto:",
                                      "ftp://example.org",
                                      "https://example.org/a b",
                                      "https://example.org/>,<x:y",
                                      "https://b\xC3\xBC"
                                      "cher.example/",
                                      "javascript:x"};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        uris[0] = mq_str_of(bad[i]);
        assert_bad(&fields, "unsubscribe[0]", "the URI");
        fields.unsubscribe_count = 1;
        assert_bad(&fields, "unsubscribe", "the URI");
        fields.unsubscribe_count = 2;
    }
    uris[0] = MQ_STR("https://example.org/1");
    uris[1] = MQ_STR("https://example.org/2");
    assert_bad(&fields, "unsubscribe[1]", "RFC 8058");
}

static void test_size(void **state)
{
    struct mq_compose_fields fields = some_fields();
    (void)state;
    assert_composes(&fields);
    fields.max_size = out.len;
    assert_composes(&fields);
    fields.max_size--;
    assert_bad(&fields, "text", "are allowed");
    fields.html = MQ_STR("<p>It is the larger one");
    assert_bad(&fields, "html", "are allowed");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(test_simple, reset),
        cmocka_unit_test_teardown(test_all_fields, reset),
        cmocka_unit_test_teardown(test_addresses, reset),
        cmocka_unit_test_teardown(test_bcc, reset),
        cmocka_unit_test_teardown(test_utf8_address, reset),
        cmocka_unit_test_teardown(test_many_recipients, reset),
        cmocka_unit_test_teardown(test_bodies, reset),
        cmocka_unit_test_teardown(test_html_only, reset),
        cmocka_unit_test_teardown(test_unsubscribe, reset),
        cmocka_unit_test_teardown(test_size, reset),
    };
    return cmocka_run_group_tests_name("compose", tests, NULL, NULL);
}
