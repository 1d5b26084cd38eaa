/* Templates and the message of a campaign. An input is parts with 0xFF between them: the fields of
 * a recipient as JSON, a subject, a text, an HTML, a header's value, a URI.
 *
 * What can be made gives mails in wire form, the same each time, whatever the fields are. A
 * template that has no tags of its own in the values writes no value unescaped in HTML. */
#include "fuzz.h"

#include <string.h>

#include "core/json_tree.h"
#include "mime/compose/composer.h"
#include "mime/template/campaign_message.h"
#include "mime/template/template.h"
#include "mime/wire/envelope.h"
#include "mime/wire/message.h"

enum { JSON, SUBJECT, TEXT, HTML, HEADER, URI, PARTS };

static const struct mq_compose_address from = {.address = MQ_STR("from@fuzz.example"),
                                               .field = "from"};

static void require_error(const struct mq_error *err, enum mq_status status)
{
    REQUIRE(status == MQ_MESSAGE && err->status == status && err->field[0] != '\0');
    REQUIRE(mq_utf8_valid(mq_str_of(err->text)));
}

static void require_mail(struct mq_campaign_message *message,
                         const struct mq_campaign_recipient *recipient)
{
    struct mq_buffer mail = {0};
    struct mq_buffer again = {0};
    struct mq_envelope envelope = {0};
    struct mq_error err;
    enum mq_status checked = mq_campaign_message_check(message, recipient, &err);
    enum mq_status status = mq_campaign_message_render(message, recipient, &mail, &envelope, &err);
    REQUIRE(checked == status ||
            (checked == MQ_OK && strstr(err.text, "bytes or more, at most") != NULL));
    if (status == MQ_OK) {
        fuzz_require_message(mq_buffer_view(&mail));
        REQUIRE(envelope.recipients.count == 1);
        REQUIRE(strcmp(envelope.recipients.items[0], "to@fuzz.example") == 0);
        REQUIRE(mq_campaign_message_render(message, recipient, &again, &envelope, &err) == MQ_OK);
        REQUIRE(mq_str_equal(mq_buffer_view(&mail), mq_buffer_view(&again)));
    } else {
        require_error(&err, status);
        REQUIRE(mail.len == 0 && envelope.recipients.count == 0);
    }
    mq_envelope_clear(&envelope);
    mq_buffer_clear(&mail);
    mq_buffer_clear(&again);
}

/* A damaged message is refused, or gives mails without bare line ends. */
static void try_damaged(struct mq_buffer *octets, struct mq_str change,
                        const struct mq_campaign_recipient *recipient)
{
    struct mq_campaign_message *message = NULL;
    struct mq_buffer mail = {0};
    struct mq_envelope envelope = {0};
    struct mq_error err;
    for (size_t i = 0; i + 2 < change.len; i += 3) {
        size_t at = (unsigned char)change.data[i] * 256u + (unsigned char)change.data[i + 1];
        octets->data[at % octets->len] = change.data[i + 2];
    }
    if (mq_campaign_message_open(mq_buffer_view(octets), &message, &err) == MQ_OK &&
        mq_campaign_message_render(message, recipient, &mail, &envelope, &err) == MQ_OK) {
        REQUIRE(mq_message_check_wire(mq_buffer_view(&mail), NULL) == MQ_OK);
    }
    mq_campaign_message_free(message);
    mq_envelope_clear(&envelope);
    mq_buffer_clear(&mail);
}

/* Rendered with the values alone, HTML has none of the characters that begin markup. */
static void try_value(struct mq_str json)
{
    struct mq_json_tree tree = {.root = {.kind = MQ_JSON_NULL}};
    struct mq_template_values values = {.fields = &tree};
    struct mq_template *template = NULL;
    struct mq_buffer out = {0};
    struct mq_str text;
    struct mq_error err;
    REQUIRE(mq_template_new(MQ_STR("{{a|default(\"<\")}}{{#each l}}{{this}}{{else}}{{/each}}"),
                            MQ_TEMPLATE_HTML, "html", &template, &err) == MQ_OK);
    enum mq_status status = mq_json_tree_read(&tree, json, "fields", &err);
    if (status == MQ_OK) {
        status = mq_template_render(template, &values, &out, &text, &err);
    }
    if (status == MQ_OK) {
        REQUIRE(mq_utf8_valid(text) && memchr(text.data, '\0', text.len) == NULL);
        for (size_t i = 0; i < text.len; i++) {
            REQUIRE(strchr("<>\"'", text.data[i]) == NULL);
        }
    } else {
        require_error(&err, status);
    }
    mq_template_free(template);
    mq_json_tree_clear(&tree);
    mq_buffer_clear(&out);
}

/* The kind of header for which the value may be good. */
static struct mq_str header_name(struct mq_str value)
{
    return value.len == 0 || memchr(value.data, '@', value.len) == NULL ? MQ_STR("X-Fuzz")
           : value.data[0] == '<'                                       ? MQ_STR("References")
                                                                        : MQ_STR("Errors-To");
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct mq_str bytes = {(const char *)data, size};
    struct mq_str parts[PARTS];
    struct mq_compose_part attached = {
        .name = MQ_STR("a"), .data = MQ_STR("data"), .fd = -1, .field = "attachments[0]"};
    struct mq_buffer octets = {0};
    struct mq_campaign_message *message = NULL;
    struct mq_error err;
    for (size_t i = 0; i < PARTS; i++) {
        parts[i] = fuzz_cut(&bytes, '\xFF');
    }
    struct mq_compose_header header = {header_name(parts[HEADER]), parts[HEADER]};
    struct mq_compose_fields fields = {.from = {&from, 1},
                                       .subject = parts[SUBJECT],
                                       .text = parts[TEXT].len > 0 ? parts[TEXT] : MQ_STR("{{a}}"),
                                       .html = parts[HTML].len > 0 ? parts[HTML] : MQ_STR("{{a}}"),
                                       .headers = &header,
                                       .header_count = 1,
                                       .parts = &attached,
                                       .part_count = 1,
                                       .unsubscribe = &parts[URI],
                                       .unsubscribe_count = parts[URI].len > 0,
                                       .max_size = 1 << 20};
    struct mq_campaign_recipient recipient = {.address = MQ_STR("to@fuzz.example"),
                                              .name = MQ_STR("To"),
                                              .fields = parts[JSON],
                                              .message_id = "<id@fuzz.example>",
                                              .date_s = 1795253700};
    try_value(parts[JSON]);
    enum mq_status status = mq_campaign_message_make(&fields, &octets, &err);
    if (status == MQ_OK) {
        REQUIRE(mq_campaign_message_open(mq_buffer_view(&octets), &message, &err) == MQ_OK);
        require_mail(message, &recipient);
        try_damaged(&octets, bytes, &recipient);
    } else {
        require_error(&err, status);
        REQUIRE(octets.len == 0);
    }
    mq_campaign_message_free(message);
    mq_buffer_clear(&octets);
    return 0;
}
