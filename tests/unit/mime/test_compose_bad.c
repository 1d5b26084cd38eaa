/* What the composer refuses: control characters in each field that reaches a header, and header
 * fields that callers must not set. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "mime/compose/composer.h"
#include "mime/wire/envelope.h"

static struct mq_buffer out;
static struct mq_envelope envelope;
static struct mq_error err;

/* A message with every field, so that a test can spoil one of them. */
static struct mq_compose_address from, to, cc, bcc, reply_to;
static struct mq_compose_header header;
static struct mq_compose_part part;
static struct mq_str unsubscribe;
static struct mq_compose_fields fields;

static struct mq_compose_address address(const char *text, const char *field)
{
    return (struct mq_compose_address){.address = mq_str_of(text), .field = field};
}

static int setup(void **state)
{
    (void)state;
    from = address("Ann <ann@example.org>", "from");
    to = address("bob@example.net", "to[0]");
    cc = address("cc@example.net", "cc");
    bcc = address("bcc@example.net", "bcc");
    reply_to = address("r@example.net", "reply_to");
    header = (struct mq_compose_header){MQ_STR("X-Tag"), MQ_STR("value")};
    part = (struct mq_compose_part){.name = MQ_STR("a.png"),
                                    .type = MQ_STR("image/png"),
                                    .cid = MQ_STR("logo"),
                                    .data = MQ_STR("x"),
                                    .fd = -1,
                                    .field = "inline[0]"};
    unsubscribe = MQ_STR("https://example.org/");
    fields = (struct mq_compose_fields){.from = {&from, 1},
                                        .to = {&to, 1},
                                        .cc = {&cc, 1},
                                        .bcc = {&bcc, 1},
                                        .reply_to = {&reply_to, 1},
                                        .subject = MQ_STR("Hello"),
                                        .text = MQ_STR("Text"),
                                        .html = MQ_STR("<p>"),
                                        .headers = &header,
                                        .header_count = 1,
                                        .parts = &part,
                                        .part_count = 1,
                                        .unsubscribe = &unsubscribe,
                                        .unsubscribe_count = 1,
                                        .message_id = "<1@q.example>",
                                        .date_s = 1795253700};
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    mq_buffer_clear(&out);
    mq_envelope_clear(&envelope);
    return 0;
}

static void assert_bad(const char *field, const char *expected)
{
    if (mq_compose(&fields, &out, &envelope, &err) != MQ_MESSAGE) {
        fail_msg("%s was taken: %s", field, out.data ? out.data : "");
    }
    assert_string_equal(err.field, field);
    if (strstr(err.text, expected) == NULL) {
        fail_msg("\"%s\" is not in \"%s\"", expected, err.text);
    }
    assert_int_equal(strncmp(err.text, field, strlen(field)), 0);
    assert_null(envelope.from);
    assert_int_equal(envelope.recipients.count, 0);
    assert_int_equal(out.len, 0);
    setup(NULL);
}

static void assert_good(void)
{
    if (mq_compose(&fields, &out, &envelope, &err) != MQ_OK) {
        fail_msg("%s", err.text);
    }
    teardown(NULL);
    setup(NULL);
}

/* The fields that a text can be in; each is spoiled in turn. `pasted`: people paste text there. */
static const struct place {
    const char *field, *name;
    struct mq_str *where;
    bool pasted;
} places[] = {
    {"from", "a name", &from.name, true},
    {"to[0]", "a name", &to.name, true},
    {"cc", "a name", &cc.name, true},
    {"bcc", "a name", &bcc.name, true},
    {"reply_to", "a name", &reply_to.name, true},
    {"from", "an address", &from.address, false},
    {"to[0]", "an address", &to.address, false},
    {"cc", "an address", &cc.address, false},
    {"bcc", "an address", &bcc.address, false},
    {"reply_to", "an address", &reply_to.address, false},
    {"subject", "text", &fields.subject, true},
    {"headers", "a name", &header.name, false},
    {"headers[X-Tag]", "text", &header.value, true},
    {"inline[0]", "a name", &part.name, true},
    {"inline[0]", "a type", &part.type, false},
    {"inline[0]", "a cid", &part.cid, false},
    {"unsubscribe", "a URI", &unsubscribe, false},
};

static void put(const struct place *place, struct mq_str text)
{
    size_t i = (size_t)(place - places);
    *place->where = text;
    if (i < 5) {
        /* With a separate name, the address must be plain. */
        struct mq_str *plain =
            &((struct mq_compose_address *[]){&from, &to, &cc, &bcc, &reply_to})[i]->address;
        *plain = MQ_STR("x@example.org");
    }
}

static void assert_refused(const struct place *place, struct mq_str text)
{
    put(place, text);
    assert_bad(place->field, place->field);
}

static void assert_refused_everywhere(struct mq_str text)
{
    for (size_t i = 0; i < sizeof places / sizeof *places; i++) {
        assert_refused(&places[i], text);
    }
}

/* Tabs and line ends in pasted text become spaces in free text; in an address, a type, a URI or a
 * header's name they are an error. */
static void test_separators(void **state)
{
    static const char *const separators[] = {"\t",       "\v",           "\f",
                                             "\xC2\x85", "\xE2\x80\xA8", "\xE2\x80\xA9"};
    struct mq_buffer spaced = {0};
    (void)state;
    for (size_t k = 0; k < sizeof separators / sizeof *separators; k++) {
        char text[32];
        int n = snprintf(text, sizeof text, "ab%s%sc", separators[k], separators[k]);
        for (size_t i = 0; i < sizeof places / sizeof *places; i++) {
            if (!places[i].pasted) {
                assert_refused(&places[i], (struct mq_str){text, (size_t)n});
                continue;
            }
            put(&places[i], MQ_STR("ab  c"));
            assert_int_equal(mq_compose(&fields, &spaced, &envelope, &err), MQ_OK);
            put(&places[i], (struct mq_str){text, (size_t)n});
            assert_int_equal(mq_compose(&fields, &out, &envelope, &err), MQ_OK);
            assert_string_equal(out.data, spaced.data);
            mq_buffer_clear(&spaced);
            teardown(NULL);
            setup(NULL);
        }
    }
    from.address = MQ_STR("An\tn <ann@example.org>,");
    assert_bad("from", "from");
    from.address = MQ_STR("An\tn\xC2\x85 <ann@example.org>\t");
    assert_int_equal(mq_compose(&fields, &out, &envelope, &err), MQ_OK);
    assert_non_null(strstr(out.data, "\r\nFrom: An n <ann@example.org>\r\n"));
    assert_string_equal(envelope.from, "ann@example.org");
}

/* Every control character, followed by a line that would be injected. */
static void test_controls(void **state)
{
    char text[64];
    (void)state;
    for (int c = 0; c < 0xA0; c++) {
        if ((c >= 0x20 && c < 0x7F) || c == '\t' || c == '\v' || c == '\f' || c == 0x85) {
            continue;
        }
        /* C1 as UTF-8. */
        int n = c < 0x80 ? snprintf(text, sizeof text, "a%cBcc: e@vil", c)
                         : snprintf(text, sizeof text, "a\xC2%cBcc: e@vil", c);
        assert_refused_everywhere((struct mq_str){text, (size_t)n});
    }
    static const char *const others[] = {"a\r\nBcc: e@vil",
                                         "\nBcc: e@vil",
                                         "a\n",
                                         "a\r",
                                         "\x1b[0m",
                                         "\xFF",
                                         "a\xE2\x82",
                                         "\xC0\x8A"
                                         "b",
                                         "\xED\xA0\x80",
                                         "a\r\n b",
                                         "a\n\tb",
                                         "x\r\n\r\n<script>"};
    for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
        assert_refused_everywhere(mq_str_of(others[i]));
    }
    assert_refused_everywhere((struct mq_str){"a\0b", 3});
}

static void test_message_id(void **state)
{
    static const char *const ids[] = {
        NULL,        "",      "x@y",     "<>",     "<a@b",      "<a @b>",          "<ab>",
        "<@ab>",     "<ab@>", "<a@b@c>", "<a<@b>", "<a@b>\r\n", "<a@b\r\nBcc: c>", "<\xC3\xA4@b>",
        "<a@b><c@d>"};
    (void)state;
    for (size_t i = 0; i < sizeof ids / sizeof *ids; i++) {
        fields.message_id = ids[i];
        assert_bad("message_id", "<unique@domain>");
    }
}

/* A line has at most 998 octets: RFC 5322, 2.1.1. */
static void test_longest_message_id(void **state)
{
    static char id[998 - sizeof("Message-ID: ") + 2 + 1];
    (void)state;
    memset(id, 'a', sizeof id - 1);
    memcpy(id, "<a@", 3);
    id[sizeof id - 3] = '>';
    id[sizeof id - 2] = '\0';
    fields.message_id = id;
    assert_good();
    memcpy(id + sizeof id - 3, "a>", 3);
    fields.message_id = id;
    assert_bad("message_id", "<unique@domain>");
}

static void test_texts(void **state)
{
    (void)state;
    fields.text = MQ_STR("abc\xE2\x82");
    assert_bad("text", "byte 4 is not valid UTF-8");
    fields.text = (struct mq_str){"ab\0c", 4};
    assert_bad("text", "NUL at byte 3");
    fields.html = MQ_STR("<p>\xFF");
    assert_bad("html", "byte 4 is not valid UTF-8");
    fields.html = (struct mq_str){"\0", 1};
    assert_bad("html", "NUL at byte 1");
    fields.text = fields.html = (struct mq_str){NULL, 0};
    assert_bad("text", "neither text nor html");
}

static void test_addresses(void **state)
{
    (void)state;
    fields.to.count = fields.cc.count = fields.bcc.count = 0;
    assert_bad("to", "at least one");
    fields.from.count = 0;
    assert_bad("from", "give one");
    from.address = MQ_STR("a@example.org, b@example.org");
    assert_bad("from", "2 addresses; give one");
    from.address = MQ_STR("ann");
    assert_bad("from", "@");
    to.address = MQ_STR("\"a@evil x\"@ok.example");
    assert_bad("to[0]", "to[0]");
    fields.to.count = fields.cc.count = 0;
    assert_good();
}

static void test_date(void **state)
{
    (void)state;
    fields.date_s = INT64_C(-2208988801);
    assert_bad("date", "before 1900");
    fields.date_s = INT64_C(253402300800);
    assert_bad("date", "after 9999");
    fields.date_s = INT64_C(-2208988800);
    assert_good();
    fields.date_s = INT64_C(253402300799);
    assert_good();
}

/* Fields that callers must not set, in any case. */
static void test_refused_headers(void **state)
{
    static const struct {
        const char *name, *error;
    } refused[] = {
        {"Bcc", "the field \"bcc\""},
        {"bCC", "the field \"bcc\""},
        {"From", "the field \"from\""},
        {"To", "the field \"to\""},
        {"Cc", "the field \"cc\""},
        {"Reply-To", "the field \"reply_to\""},
        {"Subject", "the field \"subject\""},
        {"Date", "the field \"date\""},
        {"Message-Id", "the field \"message_id\""},
        {"List-Unsubscribe", "the field \"unsubscribe\""},
        {"list-unsubscribe-post", "the field \"unsubscribe\""},
        {"MIME-Version", "leave it out"},
        {"Content-Type", "give their type"},
        {"CONTENT-X", "give their type"},
        {"Resent-To", "leave it out"},
        {"resent-bcc", "leave it out"},
        {"Received", "leave it out"},
        {"Return-Path", "the envelope's sender"},
        {"DKIM-Signature", "signed when they are sent"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof refused / sizeof *refused; i++) {
        char field[64];
        snprintf(field, sizeof field, "headers[%s]", refused[i].name);
        header.name = mq_str_of(refused[i].name);
        assert_bad(field, refused[i].error);
    }
    static const char *const names[] = {"Contents", "X-Content-Type", "Resent", "X-Bcc",
                                        "Sender-X"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        header.name = mq_str_of(names[i]);
        assert_good();
    }
}

static void test_header_names(void **state)
{
    static const char *const bad[] = {"", " ", "X Tag", "X-Tag:", "X-Tag ", "X:", "\xC3\xA4", ":"};
    char name[78];
    (void)state;
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        header.name = mq_str_of(bad[i]);
        assert_bad("headers", "is not a header's name");
    }
    memset(name, 'x', sizeof name);
    header.name = (struct mq_str){name, 77};
    assert_bad("headers", "is not a header's name");
    header.name = (struct mq_str){name, 76};
    header.value = MQ_STR("ä");
    assert_good();
}

/* Fields that hold addresses or ids are not free text. */
static void test_structured_headers(void **state)
{
    struct mq_compose_header twice[2] = {{MQ_STR("References"), MQ_STR("<a@b>")},
                                         {MQ_STR("references"), MQ_STR("<c@d>")}};
    (void)state;
    header = (struct mq_compose_header){MQ_STR("Sender"), MQ_STR("ann")};
    assert_bad("headers[Sender]", "@");
    header = (struct mq_compose_header){MQ_STR("Sender"), MQ_STR("a@example.org, b@example.org")};
    assert_bad("headers[Sender]", "give one");
    header = (struct mq_compose_header){MQ_STR("Errors-To"), MQ_STR("")};
    assert_bad("headers[Errors-To]", "headers[Errors-To]");
    header =
        (struct mq_compose_header){MQ_STR("Mail-Reply-To"), MQ_STR("a@b.example, c@d.example")};
    assert_good();
    header = (struct mq_compose_header){MQ_STR("In-Reply-To"), MQ_STR("<\xC3\xA4@b>")};
    assert_bad("headers[In-Reply-To]", "non-ASCII");
    fields.headers = twice;
    fields.header_count = 2;
    assert_bad("headers[references]", "twice");
}

static void test_parts(void **state)
{
    static const char *const names[] = {".", "..", "a/b", "/etc/passwd", "..\\a", "a/"};
    static const char *const types[] = {"png",   "image/",           "image/png;",
                                        "a b/c", "image/p\xC3\xB6g", "image/png\xC2\xA0"};
    static const char *const cids[] = {"a b", "<a>",   "a@",       "@a",  "a@b@c", "a\"", "(a)",
                                       "a,b", "a%20b", "\xC3\xA4", "a:b", "a;b",   "[a]", "a\\b"};
    (void)state;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        part.name = mq_str_of(names[i]);
        assert_bad("inline[0]", "without directories");
    }
    for (size_t i = 0; i < sizeof types / sizeof *types; i++) {
        part.type = mq_str_of(types[i]);
        assert_bad("inline[0]", "type");
    }
    part.type = MQ_STR("Multipart/mixed; boundary=a");
    assert_bad("inline[0]", "application/octet-stream");
    for (size_t i = 0; i < sizeof cids / sizeof *cids; i++) {
        part.cid = mq_str_of(cids[i]);
        assert_bad("inline[0]", "cannot be a cid");
    }
    char cid[201];
    memset(cid, 'x', sizeof cid);
    part.cid = (struct mq_str){cid, 201};
    assert_bad("inline[0]", "cannot be a cid");
    part.cid = (struct mq_str){cid, 200};
    assert_good();
    fields.html = (struct mq_str){NULL, 0};
    assert_bad("inline[0]", "no HTML to show it");
}

static void test_same_cid(void **state)
{
    struct mq_compose_part parts[40];
    char cids[40][12];
    char names[40][32];
    (void)state;
    for (int i = 0; i < 40; i++) {
        snprintf(cids[i], sizeof cids[i], "%d", i == 27 ? 4 : i);
        snprintf(names[i], sizeof names[i], "inline[%d]", i);
        parts[i] = part;
        parts[i].cid = mq_str_of(cids[i]);
        parts[i].field = names[i];
    }
    fields.parts = parts;
    fields.part_count = 40;
    assert_bad("inline[27]", "another part has the same cid");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_controls, setup, teardown),
        cmocka_unit_test_setup_teardown(test_separators, setup, teardown),
        cmocka_unit_test_setup_teardown(test_message_id, setup, teardown),
        cmocka_unit_test_setup_teardown(test_longest_message_id, setup, teardown),
        cmocka_unit_test_setup_teardown(test_texts, setup, teardown),
        cmocka_unit_test_setup_teardown(test_addresses, setup, teardown),
        cmocka_unit_test_setup_teardown(test_date, setup, teardown),
        cmocka_unit_test_setup_teardown(test_refused_headers, setup, teardown),
        cmocka_unit_test_setup_teardown(test_header_names, setup, teardown),
        cmocka_unit_test_setup_teardown(test_structured_headers, setup, teardown),
        cmocka_unit_test_setup_teardown(test_parts, setup, teardown),
        cmocka_unit_test_setup_teardown(test_same_cid, setup, teardown),
    };
    return cmocka_run_group_tests_name("compose_bad", tests, NULL, NULL);
}
