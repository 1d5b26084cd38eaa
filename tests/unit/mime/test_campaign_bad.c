/* What a campaign's message refuses: when it is made, for a recipient, and when it was damaged. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "campaign_fixture.h"

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
    fields.headers = sender; /* not an address */
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
    part.cid = MQ_STR("logo");
    assert_not_made(&fields, "attachments[0]", "no HTML");
    part.cid = MQ_STR("");
    part.data = MQ_STR("12345678901234567890");
    fields.max_size = 10;
    assert_not_made(&fields, "message", "10");
    fields.from.count = 0;
    fields.max_size = 0;
    assert_not_made(&fields, "from", "give one");
}

/* Errors name the fields as they were given. A default is tried, too. */
static void test_names_of_errors(void **state)
{
    static const struct mq_compose_address bad[] = {{MQ_STR("x"), MQ_STR("X"), "reply_to[1]"}};
    static const struct mq_compose_header errors_to[] = {
        {MQ_STR("Errors-To"), MQ_STR("{{to|default('no address')}}")}};
    struct mq_compose_part twice[] = {
        {.cid = MQ_STR("logo"), .fd = -1, .field = "inline[logo.png]"},
        {.cid = MQ_STR("logo"), .fd = -1, .field = "inline[logo.jpg]"}};
    struct mq_compose_fields fields = fields_of("{{a|default(\"x\ny\")}}", "x", "y");
    (void)state;
    assert_not_made(&fields, "subject", "U+000A at byte 2");
    fields = fields_of("{{\"x\ny\"}}", "x", "y");
    assert_not_made(&fields, "subject", "U+000A at byte 2");
    fields = fields_of("S", "x", "y");
    fields.headers = errors_to;
    fields.header_count = 1;
    assert_not_made(&fields, "headers[Errors-To]", "no address");
    fields.header_count = 0;
    fields.parts = twice;
    fields.part_count = 2;
    assert_not_made(&fields, "inline[logo.jpg]", "the same cid");
    fields.part_count = 0;
    fields.reply_to = (struct mq_compose_addresses){bad, 1};
    assert_not_made(&fields, "reply_to[1]", "\"x\"");
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

static void assert_not_checked(const char *json, const char *field, const char *part)
{
    struct mq_campaign_recipient recipient = recipient_of(json);
    assert_int_equal(mq_campaign_message_check(message, &recipient, &err), MQ_MESSAGE);
    assert_string_equal(err.field, field);
    assert_non_null(strstr(err.text, part));
    assert_not_rendered(&recipient, field, part);
}

/* A recipient whose values do not fit in a header is refused before it is stored. */
static void test_checked(void **state)
{
    static const struct mq_compose_header headers[] = {
        {MQ_STR("References"), MQ_STR("{{ref|default(\"<1@example.org>\")}}")},
        {MQ_STR("Errors-To"), MQ_STR("bounce-{{id}}@example.org")}};
    static const struct mq_str uri[] = {MQ_STR("https://example.org/{{t|default(\"\")}}")};
    static const struct mq_str own[] = {MQ_STR("ftp://example.org/")};
    struct mq_compose_fields fields = fields_of("S", "x", "y");
    struct mq_campaign_recipient recipient = recipient_of("{\"id\":7}");
    struct mq_buffer json = {0};
    (void)state;
    fields.headers = headers;
    fields.header_count = 2;
    fields.unsubscribe = uri;
    fields.unsubscribe_count = 1;
    open_message(&fields);
    assert_int_equal(mq_campaign_message_check(message, &recipient, &err), MQ_OK);
    assert_int_equal(try_render(&recipient), MQ_OK);
    assert_non_null(strstr(made.data, "Errors-To: bounce-7@example.org\r\n"));
    assert_not_checked("{\"id\":\"7, x\"}", "headers[Errors-To]", "bounce-7");
    assert_not_checked("{\"id\":7,\"ref\":\"<ä@example.org>\"}", "headers[References]", "ASCII");
    mq_buffer_cstr(&json, "{\"id\":7,\"t\":\"");
    for (int i = 0; i < 300; i++) {
        mq_buffer_cstr(&json, "&"); /* three characters in the URI */
    }
    mq_buffer_cstr(&json, "\"}");
    assert_not_checked(json.data, "unsubscribe", "900 octets");
    mq_buffer_clear(&json);
    recipient.unsubscribe = own;
    recipient.unsubscribe_count = 1;
    assert_int_equal(mq_campaign_message_check(message, &recipient, &err), MQ_MESSAGE);
    assert_not_rendered(&recipient, "unsubscribe", "neither https");
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
        cmocka_unit_test_teardown(test_not_made, teardown),
        cmocka_unit_test_teardown(test_names_of_errors, teardown),
        cmocka_unit_test_teardown(test_not_rendered, teardown),
        cmocka_unit_test_teardown(test_checked, teardown),
        cmocka_unit_test_teardown(test_damaged, teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
