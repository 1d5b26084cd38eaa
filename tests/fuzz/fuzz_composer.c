/* The composer: any fields give a message in wire form, the same each time, and Bcc does not change
 * it. An input is a list of fields with 0xFF between them; the first byte of each says which field
 * it is, see add_field(). */
#include "fuzz.h"

#include <stdlib.h>
#include <string.h>

#include "mime/compose/composer.h"
#include "mime/wire/envelope.h"
#include "mime/wire/message.h"

#define ITEMS_MAX 16
#define BLIND     "blind@secret.example"

/* The fields of one message. */
struct input {
    struct mq_compose_fields fields;
    struct mq_compose_address from[ITEMS_MAX], to[ITEMS_MAX], cc[ITEMS_MAX], bcc[ITEMS_MAX + 1];
    struct mq_compose_address reply_to[ITEMS_MAX];
    struct mq_compose_header headers[ITEMS_MAX];
    struct mq_compose_part parts[ITEMS_MAX];
    struct mq_str unsubscribe[ITEMS_MAX];
};

/* "address", or "name\naddress" if the parts are given separately. */
static void add_address(struct mq_compose_address *items, struct mq_compose_addresses *list,
                        struct mq_str text)
{
    bool apart = text.len > 0 && memchr(text.data, '\n', text.len) != NULL;
    struct mq_compose_address item = {.field = "address"};
    if (list->count == ITEMS_MAX) {
        return;
    }
    if (apart) {
        item.name = fuzz_cut(&text, '\n');
    }
    item.address = text;
    items[list->count++] = item;
    list->items = items;
}

/* "name\ntype\ncid\ndata" */
static void add_part(struct input *input, struct mq_str text)
{
    struct mq_compose_part part = {.fd = -1, .field = "part"};
    if (input->fields.part_count == ITEMS_MAX) {
        return;
    }
    part.name = fuzz_cut(&text, '\n');
    part.type = fuzz_cut(&text, '\n');
    part.cid = fuzz_cut(&text, '\n');
    part.data = text;
    input->parts[input->fields.part_count++] = part;
}

static void add_header(struct input *input, struct mq_str text)
{
    if (input->fields.header_count < ITEMS_MAX) {
        struct mq_str name = fuzz_cut(&text, ':');
        input->headers[input->fields.header_count++] = (struct mq_compose_header){name, text};
    }
}

static void add_field(struct input *input, char kind, struct mq_str text)
{
    struct mq_compose_fields *fields = &input->fields;
    switch (kind) {
    case 'f':
        add_address(input->from, &fields->from, text);
        break;
    case 't':
        add_address(input->to, &fields->to, text);
        break;
    case 'c':
        add_address(input->cc, &fields->cc, text);
        break;
    case 'b':
        add_address(input->bcc, &fields->bcc, text);
        break;
    case 'r':
        add_address(input->reply_to, &fields->reply_to, text);
        break;
    case 's':
        fields->subject = text;
        break;
    case 'x':
        fields->text = text;
        break;
    case 'h':
        fields->html = text;
        break;
    case 'k':
        fields->calendar = text;
        break;
    case 'H':
        add_header(input, text);
        break;
    case 'a':
        add_part(input, text);
        break;
    case 'u':
        if (fields->unsubscribe_count < ITEMS_MAX) {
            input->unsubscribe[fields->unsubscribe_count++] = text;
        }
        break;
    case 'm':
        fields->max_size = text.len * 16;
        break;
    default:
        break;
    }
}

static void read_input(struct input *input, struct mq_str data)
{
    struct mq_compose_fields *fields = &input->fields;
    while (data.len > 0) {
        struct mq_str field = fuzz_cut(&data, '\xFF');
        if (field.len > 0) {
            add_field(input, field.data[0], (struct mq_str){field.data + 1, field.len - 1});
        }
    }
    if (fields->from.count == 0) {
        add_address(input->from, &fields->from, MQ_STR("F <from@fuzz.example>"));
    }
    input->bcc[fields->bcc.count++] =
        (struct mq_compose_address){.address = MQ_STR(BLIND), .field = "bcc"};
    fields->bcc.items = input->bcc;
    if (fields->text.data == NULL && fields->html.data == NULL) {
        fields->text = MQ_STR("");
    }
    fields->headers = input->headers;
    fields->parts = input->parts;
    fields->unsubscribe = input->unsubscribe;
    fields->message_id = "<id@fuzz.example>";
    fields->date_s = 1795253700;
}

static bool contains(const struct mq_strings *list, const char *address)
{
    for (size_t i = 0; i < list->count; i++) {
        if (mq_str_equal_nocase(mq_str_of(list->items[i]), mq_str_of(address))) {
            return true;
        }
    }
    return false;
}

/* The message has the fields that were asked for. */
static void require_envelope(const struct mq_envelope *envelope, struct mq_str message)
{
    struct mq_envelope said = {0};
    REQUIRE(mq_envelope_recipients(message, &said.recipients, NULL) == MQ_OK);
    for (size_t i = 0; i < said.recipients.count; i++) {
        REQUIRE(contains(&envelope->recipients, said.recipients.items[i]));
    }
    REQUIRE(mq_envelope_sender(message, &said.from, NULL) == MQ_OK && said.from != NULL);
    mq_envelope_clear(&said);
}

/* Pasted separators become spaces. */
static void require_subject(struct mq_str message, struct mq_str subject)
{
    static const char *const separators[] = {"\t",       "\v",           "\f",
                                             "\xC2\x85", "\xE2\x80\xA8", "\xE2\x80\xA9"};
    struct mq_str value;
    struct mq_buffer text = {0};
    struct mq_buffer wanted = {0};
    for (size_t i = 0, len; i < subject.len; i += len) {
        len = 1;
        char c = subject.data[i];
        for (size_t k = 0; k < sizeof separators / sizeof *separators; k++) {
            size_t n = strlen(separators[k]);
            if (subject.len - i >= n && memcmp(subject.data + i, separators[k], n) == 0) {
                c = ' ';
                len = n;
            }
        }
        mq_buffer_char(&wanted, c);
    }
    REQUIRE(mq_message_header(message, "Subject", &value));
    fuzz_decode_header(value, &text);
    REQUIRE(mq_str_equal(mq_buffer_view(&text), mq_buffer_view(&wanted)));
    mq_buffer_clear(&text);
    mq_buffer_clear(&wanted);
}

static void require_result(const struct input *input, const struct mq_envelope *envelope,
                           struct mq_str message)
{
    size_t max = input->fields.max_size;
    REQUIRE(max == 0 || message.len <= max);
    fuzz_require_message(message);
    fuzz_require_address(envelope->from);
    fuzz_require_recipients(&envelope->recipients);
    REQUIRE(contains(&envelope->recipients, BLIND));
    require_envelope(envelope, message);
    require_subject(message, input->fields.subject);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static struct input input;
    struct mq_str bytes = {(const char *)data, size};
    struct mq_envelope envelope = {0};
    struct mq_buffer out = {0};
    struct mq_buffer again = {0};
    struct mq_error err;
    memset(&input, 0, sizeof input);
    read_input(&input, bytes);
    if (mq_compose(&input.fields, &out, &envelope, &err) == MQ_OK) {
        require_result(&input, &envelope, mq_buffer_view(&out));
        /* Another recipient in Bcc gives the same bytes. */
        input.bcc[input.fields.bcc.count - 1].address = MQ_STR("x@y.example");
        REQUIRE(mq_compose(&input.fields, &again, &envelope, &err) == MQ_OK);
        REQUIRE(mq_str_equal(mq_buffer_view(&out), mq_buffer_view(&again)));
    } else {
        REQUIRE(err.status == MQ_MESSAGE && err.field[0] != '\0' && out.len == 0);
        REQUIRE(envelope.from == NULL && envelope.recipients.count == 0);
        REQUIRE(mq_utf8_valid(mq_str_of(err.text)));
    }
    mq_envelope_clear(&envelope);
    mq_buffer_clear(&out);
    mq_buffer_clear(&again);
    return 0;
}
