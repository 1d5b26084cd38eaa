/* Header fields: any text is folded and encoded so that readers get it back; and any bytes can be
 * searched for fields. */
#include "fuzz.h"

#include <string.h>

#include "mime/header.h"
#include "mime/mailbox.h"
#include "mime/param.h"
#include "mime/wire/message.h"

/* Only printable ASCII, in lines of at most `max`. */
static void require_folded(struct mq_str text, size_t max)
{
    fuzz_require_lines(text);
    while (text.len > 0) {
        struct mq_str line = fuzz_cut(&text, '\n');
        REQUIRE(line.len - 1 <= max);
        REQUIRE(mq_str_trim(line).len > 0); /* an empty line would end the headers */
        for (size_t i = 0; i + 1 < line.len; i++) {
            REQUIRE(line.data[i] >= 32 && line.data[i] < 127);
        }
    }
}

/* The field "Subject" is the only one, and has the text as its value. */
static void require_value(struct mq_str field, struct mq_str text)
{
    struct mq_str value;
    struct mq_buffer decoded = {0};
    struct mq_message_fields fields;
    REQUIRE(mq_message_header(field, "Subject", &value));
    fuzz_decode_header(value, &decoded);
    REQUIRE(mq_str_equal(mq_buffer_view(&decoded), text));
    mq_buffer_clear(&decoded);
    mq_message_fields_init(&fields, field);
    REQUIRE(mq_message_fields_next(&fields) && !mq_message_fields_next(&fields));
}

static void try_header(struct mq_str text)
{
    struct mq_buffer out = {0};
    mq_encode_header(&out, "Subject", text);
    require_folded(mq_buffer_view(&out), 998);
    require_value(mq_buffer_view(&out), text);
    mq_buffer_clear(&out);
}

/* The content of a quoted string (RFC 5322, 3.2.4). */
static void unquote(struct mq_str quoted, struct mq_buffer *out)
{
    REQUIRE(quoted.len >= 2 && quoted.data[quoted.len - 1] == '"');
    for (size_t i = 1; i < quoted.len - 1; i++) {
        REQUIRE(quoted.data[i] != '"');
        i += quoted.data[i] == '\\';
        REQUIRE(i < quoted.len - 1);
        mq_buffer_char(out, quoted.data[i]);
    }
}

static void try_phrase(struct mq_str name)
{
    static const struct mq_str field = MQ_STR("Reply-To:");
    size_t column = field.len;
    struct mq_buffer out = {0};
    struct mq_buffer decoded = {0};
    struct mq_strings list = {0};
    struct mq_str value;
    mq_buffer_str(&out, field);
    mq_encode_phrase(&out, &column, name);
    value = mq_str_trim((struct mq_str){out.data + field.len, out.len - field.len});
    if (value.len > 0 && value.data[0] == '"') {
        unquote(value, &decoded);
    } else {
        fuzz_decode_header(value, &decoded);
    }
    REQUIRE(mq_str_equal(mq_buffer_view(&decoded), name));
    mq_encode_token(&out, &column, MQ_STR("<a@b.example>"));
    mq_buffer_cstr(&out, "\r\n");
    require_folded(mq_buffer_view(&out), 78);
    REQUIRE(mq_message_header(mq_buffer_view(&out), "reply-to", &value));
    REQUIRE(mq_addresses_of_header(value, "Reply-To", &list, NULL) == MQ_OK);
    REQUIRE(list.count == 1 && strcmp(list.items[0], "a@b.example") == 0);
    mq_strings_clear(&list);
    mq_buffer_clear(&decoded);
    mq_buffer_clear(&out);
}

static void try_filename(struct mq_str name)
{
    static const struct mq_str field = MQ_STR("Content-Disposition: attachment");
    struct mq_buffer out = {0};
    size_t column = field.len;
    mq_buffer_str(&out, field);
    mq_param_filename(&out, &column, "filename", name);
    mq_param_fallback(&out, &column, "name", name);
    mq_buffer_cstr(&out, "\r\n");
    require_folded(mq_buffer_view(&out), 78);
    REQUIRE(mq_str_ascii(mq_buffer_view(&out)));
    mq_buffer_clear(&out);
}

/* Hostile bytes: the fields found lie within them, and end where the header section ends. */
static void try_read(struct mq_str message)
{
    struct mq_message_fields fields;
    struct mq_str value;
    size_t lines = 0;
    mq_message_fields_init(&fields, message);
    while (mq_message_fields_next(&fields)) {
        REQUIRE(fields.line > lines);
        lines = fields.line;
        REQUIRE(fields.value.len == 0 ||
                (fields.value.data >= message.data &&
                 fields.value.data + fields.value.len <= message.data + message.len));
        REQUIRE(fields.name.len == 0 || fields.name.data[fields.name.len] == ':');
    }
    if (mq_message_header(message, "Subject", &value)) {
        REQUIRE(value.len == 0 || (value.data > message.data &&
                                   value.data + value.len <= message.data + message.len));
    }
    mq_message_flags(message);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct mq_str text = {(const char *)data, size};
    try_read(text);
    struct mq_buffer spaced = {0};
    if (mq_header_text(&text, "subject", &spaced, NULL) == MQ_OK) {
        try_header(text);
        try_phrase(text);
        try_filename(text);
    }
    mq_buffer_clear(&spaced);
    return 0;
}
