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

#include "campaign_fixture.h"
#include "mime/wire/message.h"

#define LONG                                                                                       \
    "A paragraph without its end, much longer than a line of a message should be, in which there " \
    "are letters that are not ASCII: Größe, Übersicht, naïve. "

/* The mail for the recipient is what mq_compose() makes of `fields`. */
static void assert_composed(const struct mq_campaign_recipient *recipient,
                            struct mq_compose_fields fields)
{
    struct mq_compose_address to = {recipient->address, recipient->name, "to"};
    struct mq_buffer expected = {0};
    struct mq_envelope expected_envelope = {0};
    fields.to = (struct mq_compose_addresses){&to, 1};
    fields.message_id = recipient->message_id;
    fields.date_s = recipient->date_s;
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
    mq_buffer_clear(&expected);
    mq_envelope_clear(&expected_envelope);
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
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
