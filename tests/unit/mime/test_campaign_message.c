/* A campaign's message: stored, opened, checked and rendered. Each mail has the octets that
 * mq_compose() makes of the fields with the values in them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "core/ascii.h"
#include "mime/template/campaign_message.h"
#include "mime/wire/envelope.h"
#include "mime/wire/message.h"

#define LONG                                                                                       \
    "A paragraph without its end, much longer than a line of a message should be, in which there " \
    "are letters that are not ASCII: Größe, Übersicht, naïve. "

static struct mq_error err;
static struct mq_buffer octets, made, expected;
static struct mq_envelope envelope, expected_envelope;
static struct mq_campaign_message *message;

static const struct mq_compose_address from = {.address = MQ_STR("Jörg <joerg@example.org>"),
                                               .field = "from"};
static const struct mq_compose_address reply_to = {
    .address = MQ_STR("reply@example.org"), .name = MQ_STR("Reply, to"), .field = "reply_to"};

static int teardown(void **state)
{
    (void)state;
    mq_campaign_message_free(message);
    message = NULL;
    mq_buffer_clear(&octets);
    mq_buffer_clear(&made);
    mq_buffer_clear(&expected);
    mq_envelope_clear(&envelope);
    mq_envelope_clear(&expected_envelope);
    return 0;
}

static struct mq_compose_fields fields_of(const char *subject, const char *text, const char *html)
{
    return (struct mq_compose_fields){.from = {&from, 1},
                                      .reply_to = {&reply_to, 1},
                                      .subject = mq_str_of(subject),
                                      .text = mq_str_of(text),
                                      .html = mq_str_of(html)};
}

static struct mq_campaign_recipient recipient_of(const char *json)
{
    return (struct mq_campaign_recipient){.address = MQ_STR("ann@example.net"),
                                          .name = MQ_STR("Ann"),
                                          .fields = mq_str_of(json),
                                          .message_id = "<1@q.example>",
                                          .date_s = 1795253700};
}

static enum mq_status try_open(const struct mq_compose_fields *fields)
{
    teardown(NULL);
    MQ_TRY(mq_campaign_message_make(fields, &octets, &err));
    return mq_campaign_message_open(mq_buffer_view(&octets), &message, &err);
}

static void open_message(const struct mq_compose_fields *fields)
{
    if (try_open(fields) != MQ_OK) {
        fail_msg("%s", err.text);
    }
}

static enum mq_status try_render(const struct mq_campaign_recipient *recipient)
{
    mq_buffer_reset(&made);
    return mq_campaign_message_render(message, recipient, &made, &envelope, &err);
}

/* The mail for the recipient is what mq_compose() makes of `fields`. */
static void assert_composed(const struct mq_campaign_recipient *recipient,
                            struct mq_compose_fields fields)
{
    struct mq_compose_address to = {recipient->address, recipient->name, "to"};
    fields.to = (struct mq_compose_addresses){&to, 1};
    fields.message_id = recipient->message_id;
    fields.date_s = recipient->date_s;
    mq_buffer_reset(&expected);
    if (mq_compose(&fields, &expected, &expected_envelope, &err) != MQ_OK ||
        try_render(recipient) != MQ_OK) {
        fail_msg("%s", err.text);
    }
    assert_string_equal(made.data, expected.data);
    assert_int_equal(made.len, expected.len);
    assert_int_equal(mq_message_check_wire(mq_buffer_view(&made), NULL), MQ_OK);
    assert_string_equal(envelope.from, "joerg@example.org");
    assert_int_equal(envelope.recipients.count, 1);
    assert_string_equal(envelope.recipients.items[0], expected_envelope.recipients.items[0]);
}

static void test_as_composed(void **state)
{
    static const struct mq_str uri[] = {MQ_STR("https://example.org/u?a={{address}}&t={{t}}"),
                                        MQ_STR("mailto:leave@example.org?subject={{t}}")};
    static const struct mq_str ann_uri[] = {
        MQ_STR("https://example.org/u?a=ann%40example.net&t=x%2Fy"),
        MQ_STR("mailto:leave@example.org?subject=x%2Fy")};
    static const struct mq_compose_header headers[] = {
        {MQ_STR("X-Campaign"), MQ_STR("spring")},
        {MQ_STR("X-Shop"), MQ_STR("{{shop.name}} in {{shop.city}}")},
        {MQ_STR("Sender"), MQ_STR("office@example.org")}};
    static const struct mq_compose_header ann_headers[] = {
        {MQ_STR("X-Campaign"), MQ_STR("spring")},
        {MQ_STR("X-Shop"), MQ_STR("Tee & mehr in Köln")},
        {MQ_STR("Sender"), MQ_STR("office@example.org")}};
    struct mq_compose_fields fields =
        fields_of("{{name}}: {{offer|default(\"Übersicht\")}}",
                  "Hello {{name}},\n{{#each items}}\n- {{what}}\n{{/each}}\n" LONG "{{shop.name}}\n"
                  "{{unsubscribe}}",
                  "<p>{{name}}<a href=\"{{unsubscribe}}\">{{shop.name}}</a>" LONG "</p>");
    struct mq_compose_fields ann = fields_of(
        "Ann: Übersicht",
        "Hello Ann,\n- Tea\r\nand cake\n- <b>\n" LONG "Tee & mehr\n"
        "https://example.org/u?a=ann%40example.net&t=x%2Fy",
        "<p>Ann<a href=\"https://example.org/u?a=ann%40example.net&amp;t=x%2Fy\">Tee &amp; mehr"
        "</a>" LONG "</p>");
    struct mq_campaign_recipient recipient =
        recipient_of("{\"t\":\"x/y\",\"shop\":{\"name\":\"Tee & mehr\",\"city\":\"Köln\"},"
                     "\"items\":[{\"what\":\"Tea\\r\\nand cake\"},{\"what\":\"<b>\"}]}");
    (void)state;
    fields.unsubscribe = uri;
    fields.unsubscribe_count = 2;
    fields.headers = headers;
    fields.header_count = 3;
    ann.unsubscribe = ann_uri;
    ann.unsubscribe_count = 2;
    ann.headers = ann_headers;
    ann.header_count = 3;
    open_message(&fields);
    assert_composed(&recipient, ann);
    /* The same again, after another recipient. */
    recipient.fields = MQ_STR("{\"t\":1,\"shop\":{\"name\":\"\",\"city\":\"\"},\"items\":[]}");
    assert_int_equal(try_render(&recipient), MQ_OK);
    assert_null(strstr(made.data, "Tea"));
    recipient = recipient_of("{\"t\":\"x/y\",\"shop\":{\"name\":\"Tee & mehr\",\"city\":\"Köln\"},"
                             "\"items\":[{\"what\":\"Tea\\r\\nand cake\"},{\"what\":\"<b>\"}]}");
    assert_composed(&recipient, ann);
}

/* Which encoding a part gets depends on the values, and so do the folds of the header. */
static void test_encodings(void **state)
{
    static const char *const json[] = {
        "\"plain\"",          "\"ä\"",
        "\"From me\"",        "\"äöüÄÖÜßéèêáàâ…€“”äöüÄÖÜßéèêáàâ…€“”äöüÄÖÜ\"",
        "\"trailing \"",      "\".\"",
        "\"a\\rb\\nc\\r\\n\""};
    static const char *const plain[] = {
        "plain",     "ä", "From me",    "äöüÄÖÜßéèêáàâ…€“”äöüÄÖÜßéèêáàâ…€“”äöüÄÖÜ",
        "trailing ", ".", "a\rb\nc\r\n"};
    (void)state;
    for (size_t i = 0; i < sizeof json / sizeof *json; i++) {
        struct mq_compose_fields fields = fields_of("S", "{{v}}\nend\n", "{{v}}");
        struct mq_buffer text = {0};
        struct mq_buffer values = {0};
        mq_buffer_printf(&values, "{\"v\":%s}", json[i]);
        mq_buffer_printf(&text, "%s\nend\n", plain[i]);
        struct mq_campaign_recipient recipient = recipient_of(values.data);
        open_message(&fields);
        assert_composed(&recipient, fields_of("S", text.data, plain[i]));
        mq_buffer_clear(&text);
        mq_buffer_clear(&values);
    }
}

static void test_long_lines(void **state)
{
    struct mq_buffer values = {0};
    struct mq_campaign_recipient recipient;
    (void)state;
    mq_buffer_cstr(&values, "{\"v\":\"");
    for (int i = 0; i < 5000; i++) {
        mq_buffer_char(&values, 'x');
    }
    mq_buffer_cstr(&values, "\"}");
    struct mq_compose_fields fields = fields_of("{{v}}", "{{v}}", "{{v}}");
    open_message(&fields);
    recipient = recipient_of(values.data);
    assert_int_equal(try_render(&recipient), MQ_OK);
    for (struct mq_str rest = mq_buffer_view(&made); rest.len > 0;) {
        assert_true(mq_str_cut_at(&rest, '\n').len <= 999);
    }
    mq_buffer_clear(&values);
}

/* Parts of each kind: encoded once, the same octets in each mail. */
static void test_parts(void **state)
{
    static char data[5000];
    struct mq_compose_part parts[] = {
        {.name = MQ_STR("Größe.pdf"), .type = MQ_STR("application/pdf"), .data = {data, 5000}},
        {.name = MQ_STR("logo.png"),
         .type = MQ_STR("image/png"),
         .cid = MQ_STR("logo"),
         .data = MQ_STR("PNG")},
        {.type = MQ_STR("message/rfc822"), .data = MQ_STR("Subject: \xC3\xB6\n\n\xC3\xB6\n")},
        {.name = MQ_STR("empty"), .data = MQ_STR("")},
        {.name = MQ_STR("pipe.txt"), .type = MQ_STR("text/plain")}};
    struct mq_compose_fields fields = fields_of("S", "{{v}}", "<img src=\"cid:logo\">{{v}}");
    struct mq_compose_fields plain = fields_of("S", "ö", "<img src=\"cid:logo\">ö");
    struct mq_campaign_recipient recipient = recipient_of("{\"v\":\"ö\"}");
    int ends[2];
    (void)state;
    memset(data, 'd', sizeof data);
    for (int i = 0; i < 5; i++) {
        parts[i].fd = -1;
        parts[i].field = "attachments[0]";
    }
    fields.parts = plain.parts = parts;
    fields.part_count = plain.part_count = 5;
    assert_int_equal(pipe(ends), 0);
    assert_int_equal(write(ends[1], "from a file", 11), 11);
    close(ends[1]);
    parts[4].fd = ends[0];
    parts[4].data.len = 11;
    open_message(&fields);
    close(ends[0]);
    parts[4].fd = -1;
    parts[4].data = MQ_STR("from a file");
    assert_composed(&recipient, plain);
    recipient.message_id = "<2@q.example>"; /* and so other boundaries */
    assert_composed(&recipient, plain);
}

static void test_calendar(void **state)
{
    static const char ics[] = "BEGIN:VCALENDAR\r\nMETHOD:REQUEST\r\nX-A:{{v}}\r\nEND:VCALENDAR\r\n";
    struct mq_compose_fields fields = fields_of("S", "{{v}}", NULL);
    struct mq_compose_fields plain = fields_of("S", "1", NULL);
    struct mq_campaign_recipient recipient = recipient_of("{\"v\":1}");
    (void)state;
    fields.calendar = plain.calendar = MQ_STR(ics);
    open_message(&fields);
    assert_composed(&recipient, plain);
}

/* Without a text, each mail gets the one that is made of its own HTML. */
static void test_text_of_html(void **state)
{
    struct mq_compose_fields fields = fields_of("S", NULL, "<p>Hi {{v}}, <b>you</b></p>");
    struct mq_campaign_recipient recipient = recipient_of("{\"v\":\"A & B\"}");
    (void)state;
    open_message(&fields);
    assert_composed(&recipient, fields_of("S", NULL, "<p>Hi A &amp; B, <b>you</b></p>"));
}

/* The recipient's own URIs replace those of the message. */
static void test_unsubscribe(void **state)
{
    static const struct mq_str common[] = {MQ_STR("https://example.org/{{missing}}")};
    static const struct mq_str own[] = {MQ_STR("https://example.org/u/1"),
                                        MQ_STR("mailto:u@example.org")};
    struct mq_compose_fields fields = fields_of("S", "{{unsubscribe}}", NULL);
    struct mq_compose_fields plain = fields_of("S", "https://example.org/u/1", NULL);
    struct mq_campaign_recipient recipient = recipient_of("");
    (void)state;
    fields.unsubscribe = common;
    fields.unsubscribe_count = 1;
    open_message(&fields);
    assert_int_equal(try_render(&recipient), MQ_MESSAGE);
    assert_string_equal(err.field, "unsubscribe");
    recipient.unsubscribe = plain.unsubscribe = own;
    recipient.unsubscribe_count = plain.unsubscribe_count = 2;
    assert_composed(&recipient, plain);
    recipient.unsubscribe_count = 0;
    fields.unsubscribe_count = 0;
    open_message(&fields);
    assert_int_equal(try_render(&recipient), MQ_MESSAGE);
    assert_non_null(strstr(err.text, "the field \"unsubscribe\" is missing"));
}

static void test_names(void **state)
{
    struct mq_compose_fields fields =
        fields_of("{{name}} {{a}}", "{{a}}{{b|default('')}}", "{{c}}");
    const struct mq_template_fields *names;
    (void)state;
    open_message(&fields);
    names = mq_campaign_message_fields(message);
    assert_int_equal(names->needed.count, 3);
    assert_string_equal(names->needed.items[0], "name");
    assert_string_equal(names->needed.items[1], "a");
    assert_string_equal(names->needed.items[2], "c");
    assert_int_equal(names->optional.count, 1);
    assert_string_equal(names->optional.items[0], "b");
}

static void assert_not_made(const struct mq_compose_fields *fields, const char *field,
                            const char *part)
{
    assert_int_equal(try_open(fields), MQ_MESSAGE);
    assert_int_equal(octets.len, 0);
    assert_string_equal(err.field, field);
    if (strstr(err.text, part) == NULL) {
        fail_msg("\"%s\" is not in \"%s\"", part, err.text);
    }
}

static void test_not_made(void **state)
{
    static const struct mq_compose_header nothing[] = {{MQ_STR("Received"), MQ_STR("x")}};
    static const struct mq_compose_header broken[] = {{MQ_STR("X-A"), MQ_STR("{{#if a}}")}};
    static const struct mq_compose_header sender[] = {{MQ_STR("Sender"), MQ_STR("{{a}}")}};
    static const struct mq_str uri[] = {MQ_STR("ftp://example.org/{{a}}")};
    struct mq_compose_part part = {.name = MQ_STR("a/b"), .fd = -1, .field = "attachments[0]"};
    struct mq_compose_fields fields = fields_of("{{a", "x", NULL);
    (void)state;
    assert_not_made(&fields, "subject", "line 1, column 4");
    fields = fields_of("S", "x\n{{#if a}}", NULL);
    assert_not_made(&fields, "text", "line 2, column 1");
    fields = fields_of("S", "x", "{{/if}}");
    assert_not_made(&fields, "html", "line 1, column 1");
    fields = fields_of("two\nlines", "x", NULL);
    assert_not_made(&fields, "subject", "U+000A");
    fields = fields_of("S", NULL, NULL);
    assert_not_made(&fields, "text", "neither text nor html");
    fields = fields_of("S", "x", NULL);
    fields.to = fields.from;
    assert_not_made(&fields, "to", "added to it");
    fields = fields_of("S", "x", NULL);
    fields.bcc = fields.from;
    assert_not_made(&fields, "bcc", "added to it");
    fields = fields_of("S", "x", NULL);
    fields.header_count = 1;
    fields.headers = nothing;
    assert_not_made(&fields, "headers[Received]", "relays write it");
    fields.headers = broken;
    assert_not_made(&fields, "headers[X-A]", "{{#if}} has no {{/if}}");
    fields.headers = sender; /* a placeholder is no address */
    assert_not_made(&fields, "headers[Sender]", "@");
    fields = fields_of("S", "x", NULL);
    fields.unsubscribe = uri;
    fields.unsubscribe_count = 1;
    assert_not_made(&fields, "unsubscribe", "neither https");
    fields = fields_of("S", "x", NULL);
    fields.parts = &part;
    fields.part_count = 1;
    assert_not_made(&fields, "attachments[0]", "not a file name");
    part.name = MQ_STR("a");
    part.data = MQ_STR("12345678901234567890");
    fields.max_size = 10;
    assert_not_made(&fields, "message", "10");
    fields.from.count = 0;
    fields.max_size = 0;
    assert_not_made(&fields, "from", "give one");
}

static void assert_not_rendered(const struct mq_campaign_recipient *recipient, const char *field,
                                const char *part)
{
    assert_int_equal(try_render(recipient), MQ_MESSAGE);
    assert_int_equal(made.len, 0);
    assert_string_equal(err.field, field);
    if (strstr(err.text, part) == NULL) {
        fail_msg("\"%s\" is not in \"%s\"", part, err.text);
    }
}

static void test_not_rendered(void **state)
{
    struct mq_compose_fields fields =
        fields_of("{{s|default('S')}}", "{{#if t}}{{t}}{{/if}} ", "{{h}}");
    struct mq_campaign_recipient recipient = recipient_of("{\"h\":\"x\"}");
    (void)state;
    fields.max_size = 2000;
    open_message(&fields);
    assert_int_equal(try_render(&recipient), MQ_OK);
    recipient.fields = MQ_STR("{}");
    assert_not_rendered(&recipient, "html", "the field \"h\" is missing");
    recipient.fields = MQ_STR("{\"h\":\" \"}");
    assert_not_rendered(&recipient, "text", "nothing is left");
    assert_int_equal(mq_campaign_message_check(message, &recipient, &err), MQ_MESSAGE);
    recipient.fields = MQ_STR("{\"h\":\"x\",\"t\":\"");
    assert_not_rendered(&recipient, "fields", "byte ");
    recipient.fields = MQ_STR("{\"h\":\"x\",\"s\":\"a\\nBcc: x@example.org\"}");
    assert_not_rendered(&recipient, "subject", "U+000A");
    recipient = recipient_of("{\"h\":\"x\"}");
    recipient.name = MQ_STR("Ann\r\nBcc: x@example.org");
    assert_not_rendered(&recipient, "name", "U+000D");
    recipient = recipient_of("{\"h\":\"x\"}");
    recipient.address = MQ_STR("a@example.org, b@example.org");
    assert_int_equal(mq_campaign_message_check(message, &recipient, &err), MQ_OK);
    assert_not_rendered(&recipient, "to", "a@example.org, b@example.org");
    recipient.name = (struct mq_str){NULL, 0};
    assert_not_rendered(&recipient, "to", "a@example.org, b@example.org");
    recipient = recipient_of("{\"h\":\"x\"}");
    recipient.message_id = "1@example.org";
    assert_not_rendered(&recipient, "message_id", "unique");
    char large[2100];
    memset(large, 'x', sizeof large);
    memcpy(large, "{\"h\":\"", 6);
    memcpy(large + sizeof large - 3, "\"}", 3);
    recipient = recipient_of(large);
    assert_not_rendered(&recipient, "html", "at most 2000");
}

/* What is stored is not trusted. */
static void test_damaged(void **state)
{
    struct mq_compose_part part = {
        .name = MQ_STR("a"), .data = MQ_STR("data"), .fd = -1, .field = "attachments[0]"};
    struct mq_compose_fields fields = fields_of("{{s}}", "x", "y");
    struct mq_campaign_message *broken = NULL;
    (void)state;
    fields.parts = &part;
    fields.part_count = 1;
    open_message(&fields);
    for (size_t len = 0; len < octets.len; len++) {
        struct mq_str cut = {octets.data, len};
        assert_int_equal(mq_campaign_message_open(cut, &broken, &err), MQ_CORRUPT);
    }
    mq_buffer_char(&octets, 'x');
    assert_int_equal(mq_campaign_message_open(mq_buffer_view(&octets), &broken, &err), MQ_CORRUPT);
    assert_string_equal(err.field, "message");
    octets.len--;
    char *data = memmem(octets.data, octets.len, "ZGF0YQ==", 8);
    assert_non_null(data);
    data[2] = '\r';
    assert_int_equal(mq_campaign_message_open(mq_buffer_view(&octets), &broken, &err), MQ_CORRUPT);
    assert_null(broken);
    mq_campaign_message_free(NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(test_as_composed, teardown),
        cmocka_unit_test_teardown(test_encodings, teardown),
        cmocka_unit_test_teardown(test_long_lines, teardown),
        cmocka_unit_test_teardown(test_parts, teardown),
        cmocka_unit_test_teardown(test_calendar, teardown),
        cmocka_unit_test_teardown(test_text_of_html, teardown),
        cmocka_unit_test_teardown(test_unsubscribe, teardown),
        cmocka_unit_test_teardown(test_names, teardown),
        cmocka_unit_test_teardown(test_not_made, teardown),
        cmocka_unit_test_teardown(test_not_rendered, teardown),
        cmocka_unit_test_teardown(test_damaged, teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
