#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "mime/compose.h"
#include "mime/message.h"

static struct mq_buffer out;
static struct mq_strings recipients;
static char *from;
static struct mq_error err;

static const struct mq_str one[] = {{"bob@example.net", 15}};

static struct mq_compose_fields fields_of(const struct mq_str *to, size_t count)
{
    return (struct mq_compose_fields){.from = MQ_STR("Ann Example <ann@example.org>"),
                                      .to = to,
                                      .to_count = count,
                                      .subject = MQ_STR("Hello ~ all"),
                                      .text = MQ_STR("Text\r\n"),
                                      .message_id = "<1@q.example>",
                                      .date_s = 1795253700};
}

static int reset(void **state)
{
    (void)state;
    mq_buffer_clear(&out);
    mq_strings_clear(&recipients);
    free(from);
    from = NULL;
    return 0;
}

static enum mq_status compose(const struct mq_compose_fields *fields)
{
    reset(NULL);
    return mq_compose_text(fields, &out, &from, &recipients, &err);
}

static void assert_field(const char *name, const char *expected)
{
    struct mq_str value;
    assert_true(mq_message_header(mq_buffer_view(&out), name, &value));
    char *text = mq_str_dup(value);
    assert_string_equal(text, expected);
    free(text);
}

static void test_simple(void **state)
{
    struct mq_compose_fields fields = fields_of(one, 1);
    struct mq_buffer again;
    struct mq_message_info info;
    struct mq_message_options options = {.message_id = "<other@x>"};
    (void)state;
    assert_int_equal(compose(&fields), MQ_OK);
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
    assert_string_equal(from, "ann@example.org");
    assert_int_equal(recipients.count, 1);
    assert_string_equal(recipients.items[0], "bob@example.net");
    /* It is in wire form already. */
    mq_buffer_init(&again);
    assert_int_equal(mq_message_normalize(mq_buffer_view(&out), &options, &again, &info, &err),
                     MQ_OK);
    assert_string_equal(again.data, out.data);
    assert_int_equal(info.flags, 0);
    mq_buffer_clear(&again);
}

static void test_addresses(void **state)
{
    static const struct mq_str to[] = {
        {"\"Bob, jr.\" <bob@example.net>", 28},
        {"bob@EXAMPLE.net", 15},
        {"Bob@example.net", 15},
        {"J\xC3\xB6rg <joerg@example.net>", 25},
        {"<a@example.net>", 15},
        {"bob@example.net", 15},
        {"a@example.net", 13},
    };
    struct mq_compose_fields fields = fields_of(to, sizeof to / sizeof *to);
    (void)state;
    fields.from = MQ_STR("\"=?x?= (not)\" <ann@example.org>");
    assert_int_equal(compose(&fields), MQ_OK);
    assert_field("From", "=?utf-8?B?PT94Pz0gKG5vdCk=?= <ann@example.org>");
    assert_field("To", "\"Bob, jr.\" <bob@example.net>, bob@EXAMPLE.net, Bob@example.net,\r\n"
                       " =?utf-8?B?SsO2cmc=?= <joerg@example.net>, a@example.net, "
                       "bob@example.net,\r\n a@example.net");
    /* Each once: the domain's case does not count, the local part's does. */
    assert_int_equal(recipients.count, 4);
    assert_string_equal(recipients.items[0], "bob@example.net");
    assert_string_equal(recipients.items[1], "Bob@example.net");
    assert_string_equal(recipients.items[2], "joerg@example.net");
    assert_string_equal(recipients.items[3], "a@example.net");
    for (size_t i = 0; i < out.len; i++) {
        assert_true((unsigned char)out.data[i] < 0x80);
    }
}

/* An address that is not ASCII cannot be written in ASCII (RFC 6532). */
static void test_utf8_address(void **state)
{
    static const struct mq_str to[] = {{"j\xC3\xB6rg@example.net", 17}};
    struct mq_compose_fields fields = fields_of(to, 1);
    (void)state;
    assert_int_equal(compose(&fields), MQ_OK);
    assert_field("To", "jörg@example.net");
    assert_string_equal(recipients.items[0], "jörg@example.net");
    assert_int_equal(mq_message_flags(mq_buffer_view(&out)), MQ_MESSAGE_UTF8_HEADERS);
}

static void test_many_recipients(void **state)
{
    enum { COUNT = 2000 };
    static struct mq_str to[COUNT];
    static char texts[COUNT][32];
    struct mq_compose_fields fields = fields_of(to, COUNT);
    (void)state;
    for (int i = 0; i < COUNT; i++) {
        snprintf(texts[i], sizeof texts[i], "user%d@example.net", i % (COUNT / 2));
        to[i] = mq_str_of(texts[i]);
    }
    assert_int_equal(compose(&fields), MQ_OK);
    assert_int_equal(recipients.count, COUNT / 2);
    for (int i = 0; i < COUNT / 2; i++) {
        assert_string_equal(recipients.items[i], texts[i]);
    }
    const char *line = out.data;
    for (const char *end; (end = strstr(line, "\r\n")) != NULL; line = end + 2) {
        assert_true(end - line <= 78);
    }
}

static void assert_body(struct mq_str text, const char *encoding, const char *expected)
{
    struct mq_compose_fields fields = fields_of(one, 1);
    fields.text = text;
    assert_int_equal(compose(&fields), MQ_OK);
    assert_field("Content-Transfer-Encoding", encoding);
    if (expected != NULL) {
        assert_string_equal(strstr(out.data, "\r\n\r\n") + 4, expected);
    }
}

static void test_bodies(void **state)
{
    char line[1002];
    (void)state;
    assert_body(MQ_STR(""), "7bit", "");
    assert_body(MQ_STR("a\nb\rc\r\n\r\rd"), "7bit", "a\r\nb\r\nc\r\n\r\n\r\nd\r\n");
    assert_body(MQ_STR("\n\r"), "7bit", "\r\n\r\n");
    assert_body(MQ_STR(".\n..\n ~\n"), "7bit", ".\r\n..\r\n ~\r\n");
    assert_body(MQ_STR("a\tb\nFromage\n From x\n"), "7bit", "a\tb\r\nFromage\r\n From x\r\n");
    assert_body(MQ_STR("regards\n-- \nAnn"), "quoted-printable", "regards\r\n--=20\r\nAnn\r\n");
    assert_body(MQ_STR("and a tab\t"), "quoted-printable", "and a tab=09\r\n");
    assert_body(MQ_STR("x\nFrom here to there"), "quoted-printable",
                "x\r\n=46rom here to there\r\n");
    assert_body(MQ_STR("a\x1b[0m and more of it"), "quoted-printable",
                "a=1B[0m and more of it\r\n");
    assert_body(MQ_STR("a\x7f and more of it"), "quoted-printable", "a=7F and more of it\r\n");
    assert_body(MQ_STR("Grüße aus dem hohen Norden\r"), "quoted-printable",
                "Gr=C3=BC=C3=9Fe aus dem hohen Norden\r\n");
    assert_body(MQ_STR("日本\n"), "base64", "5pel5pysDQo=\r\n");
    memset(line, 'x', sizeof line);
    assert_body((struct mq_str){line, 998}, "7bit", NULL);
    assert_int_equal(out.len, strstr(out.data, "\r\n\r\n") + 4 + 1000 - out.data);
    assert_body((struct mq_str){line, 999}, "quoted-printable", NULL);
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
    assert_null(from);
    assert_int_equal(recipients.count, 0);
    assert_int_equal(out.len, 0);
}

/* Every control character in every field that reaches a header. */
static void test_controls(void **state)
{
    (void)state;
    for (int c = 0; c < 0xA0; c++) {
        if (c >= 0x20 && c < 0x7F) {
            continue;
        }
        char subject[32];
        char box[64];
        /* C1 as UTF-8, behind it what an injected line would be. */
        int n = c < 0x80 ? snprintf(subject, sizeof subject, "a%cBcc: e@vil", c)
                         : snprintf(subject, sizeof subject, "a\xC2%cBcc: e@vil", c);
        int m = c < 0x80 ? snprintf(box, sizeof box, "\"a%cb\" <a@example.org>", c)
                         : snprintf(box, sizeof box, "\"a\xC2%cb\" <a@example.org>", c);
        struct mq_str to[] = {one[0], {box, (size_t)m}};
        struct mq_compose_fields fields = fields_of(one, 1);
        fields.subject = (struct mq_str){subject, (size_t)n};
        assert_bad(&fields, "subject", "control character U+00");
        fields = fields_of(one, 1);
        fields.from = (struct mq_str){box, (size_t)m};
        assert_bad(&fields, "from", "control character U+00");
        fields = fields_of(to, 2);
        assert_bad(&fields, "to", "control character U+00");
    }
    struct mq_compose_fields fields = fields_of(one, 1);
    fields.subject = MQ_STR("a\xE2\x80\xA8"
                            "Bcc: e@vil");
    assert_bad(&fields, "subject", "U+2028");
}

static void test_bad_fields(void **state)
{
    static const struct mq_str bad_to[] = {{"bob@example.net", 15}, {"bob@example.net, x@y", 20}};
    struct mq_compose_fields fields = fields_of(NULL, 0);
    (void)state;
    assert_bad(&fields, "to", "at least one");
    fields = fields_of(bad_to, 2);
    assert_bad(&fields, "to", "address");
    fields = fields_of(one, 1);
    fields.from = MQ_STR("");
    assert_bad(&fields, "from", "empty");
    fields.from = MQ_STR("ann");
    assert_bad(&fields, "from", "@");
    fields = fields_of(one, 1);
    fields.subject = MQ_STR("ab\xFF");
    assert_bad(&fields, "subject", "byte 3 is not valid UTF-8");
    fields = fields_of(one, 1);
    fields.text = MQ_STR("abc\xE2\x82");
    assert_bad(&fields, "text", "byte 4 is not valid UTF-8");
    fields.text = (struct mq_str){"ab\0c", 4};
    assert_bad(&fields, "text", "NUL at byte 3");
    static const char *const ids[] = {
        NULL, "", "x@y", "<>", "<a@b", "<a @b>", "<a@b>\r\n", "<a@b\r\nBcc: c>", "<\xC3\xA4@b>"};
    for (size_t i = 0; i < sizeof ids / sizeof *ids; i++) {
        fields = fields_of(one, 1);
        fields.message_id = ids[i];
        assert_bad(&fields, "message_id", "<unique@domain>");
    }
}

static void test_size(void **state)
{
    struct mq_compose_fields fields = fields_of(one, 1);
    (void)state;
    assert_int_equal(compose(&fields), MQ_OK);
    fields.max_size = out.len;
    assert_int_equal(compose(&fields), MQ_OK);
    fields.max_size--;
    assert_bad(&fields, "text", "bytes, allowed are");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(test_simple, reset),
        cmocka_unit_test_teardown(test_addresses, reset),
        cmocka_unit_test_teardown(test_utf8_address, reset),
        cmocka_unit_test_teardown(test_many_recipients, reset),
        cmocka_unit_test_teardown(test_bodies, reset),
        cmocka_unit_test_teardown(test_controls, reset),
        cmocka_unit_test_teardown(test_bad_fields, reset),
        cmocka_unit_test_teardown(test_size, reset),
    };
    return cmocka_run_group_tests_name("compose", tests, NULL, NULL);
}
