/* 8-bit messages for relays that take 7 bits only: what they become is accepted by any relay, does
 * not change a second time, and each part decodes to the octets that it had.
 *
 * The first byte: 1 takes the rest for a message as programs write it, with a byte 0x01 for 300
 * times the one after it; else the rest says of which parts a message is made. */
#include "fuzz.h"

#include <string.h>

#include "mime/wire/repair.h"

#define DEPTH_MAX  4
#define LINE_LIMIT 990 /* less than 998 */
#define SIZE_LIMIT 200000
#define MULTIPART  "Content-Type: multipart/mixed; boundary="

/* ---- messages made of parts ---- */

/* Boundaries as programs choose them; some look like a line of quoted-printable. */
static const char *const boundaries[] = {"b", "=_b", "=C3=A9", "=E9=", "--", "b b"};

struct builder {
    const uint8_t *data;
    size_t left;
    struct mq_buffer *out;
    const char *around[DEPTH_MAX];
    size_t depth;
};

static uint8_t take(struct builder *b)
{
    if (b->left == 0) {
        return 0;
    }
    b->left--;
    return *b->data++;
}

/* A line of a body must not be one of the boundaries around it. */
static bool is_delimiter(const struct builder *b, struct mq_str line)
{
    for (size_t i = 0; i < b->depth; i++) {
        size_t len = strlen(b->around[i]);
        if (line.len >= len + 2 && memcmp(line.data, "--", 2) == 0 &&
            memcmp(line.data + 2, b->around[i], len) == 0) {
            return true;
        }
    }
    return false;
}

/* Lines without CR, up to a NUL, of a length that SMTP carries. */
static void put_lines(struct builder *b, bool one)
{
    const uint8_t *end = b->left > 0 ? memchr(b->data, 0, b->left) : NULL;
    struct mq_str text = {(const char *)b->data, end != NULL ? (size_t)(end - b->data) : b->left};
    b->data += text.len + (end != NULL);
    b->left -= text.len + (end != NULL);
    for (bool first = true; text.len > 0; first = false) {
        struct mq_str line = fuzz_cut(&text, '\n');
        line.len = line.len < LINE_LIMIT ? line.len : LINE_LIMIT;
        mq_buffer_cstr(b->out, first ? "" : one ? " " : "\r\n");
        mq_buffer_cstr(b->out, is_delimiter(b, line) ? "x" : "");
        for (size_t i = 0; i < line.len; i++) {
            mq_buffer_char(b->out, line.data[i] == '\r' ? '.' : line.data[i]);
        }
    }
}

static void put_entity(struct builder *b);

static void put_multipart(struct builder *b)
{
    const char *boundary = boundaries[take(b) % (sizeof boundaries / sizeof *boundaries)];
    size_t count = 1 + take(b) % 3;
    b->around[b->depth++] = boundary;
    mq_buffer_printf(b->out, MULTIPART "\"%s\"\r\n\r\n", boundary);
    put_lines(b, false); /* the preamble */
    for (size_t i = 0; i < count; i++) {
        mq_buffer_printf(b->out, "\r\n--%s\r\n", boundary);
        put_entity(b);
    }
    mq_buffer_printf(b->out, "\r\n--%s--", boundary);
    b->depth--;
}

/* A header section, an empty line and a body, without the last line end. */
static void put_entity(struct builder *b)
{
    static const char *const encodings[] = {"", "8bit", "quoted-printable", "base64"};
    uint8_t how = take(b);
    const char *encoding = encodings[how / 4 % 4];
    bool inside = b->depth < DEPTH_MAX && b->out->len < SIZE_LIMIT;
    if (how & 64) {
        mq_buffer_cstr(b->out, "Content-Description: x");
        put_lines(b, true);
        mq_buffer_cstr(b->out, "\r\n");
    }
    if (inside && how % 4 == 2) {
        put_multipart(b);
    } else if (inside && how % 4 == 3) {
        mq_buffer_cstr(b->out, "Content-Type: message/rfc822\r\n\r\n");
        b->around[b->depth++] = "\n"; /* no line equals that */
        put_entity(b);
        b->depth--;
    } else {
        mq_buffer_cstr(b->out, how % 4 == 1 ? "Content-Type: text/plain; charset=utf-8\r\n" : "");
        mq_buffer_cstr(b->out, encoding[0] != '\0' ? "Content-Transfer-Encoding: " : "");
        mq_buffer_printf(b->out, "%s%s\r\n", encoding, encoding[0] != '\0' ? "\r\n" : "");
        put_lines(b, false);
    }
}

/* ---- reading ---- */

enum encoding { IDENTITY, QUOTED_PRINTABLE, BASE64 };

static enum encoding encoding_of(struct mq_str entity)
{
    struct mq_str value;
    if (!mq_message_header(entity, "Content-Transfer-Encoding", &value)) {
        return IDENTITY;
    }
    return mq_str_equal_nocase(value, MQ_STR("base64"))             ? BASE64
           : mq_str_equal_nocase(value, MQ_STR("quoted-printable")) ? QUOTED_PRINTABLE
                                                                    : IDENTITY;
}

static void decode_base64(struct mq_str text, struct mq_buffer *out)
{
    uint32_t bits = 0;
    size_t count = 0;
    for (size_t i = 0; i < text.len; i++) {
        int six = fuzz_base64_digit(text.data[i]);
        if (six >= 0) {
            bits = bits << 6 | (uint32_t)six;
            count += 6;
        }
        if (six >= 0 && count >= 8) {
            count -= 8;
            mq_buffer_char(out, (char)(bits >> count & 0xFF));
        }
    }
}

static int hex_digit(char c)
{
    return c >= '0' && c <= '9' ? c - '0' : c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
}

static void decode_quoted(struct mq_str text, struct mq_buffer *out)
{
    while (text.len > 0) {
        struct mq_str line = fuzz_cut(&text, '\n');
        while (line.len > 0 && memchr(" \t\r", line.data[line.len - 1], 3) != NULL) {
            line.len--; /* white space at the end may be lost on the way */
        }
        bool soft = line.len > 0 && line.data[line.len - 1] == '=';
        line.len -= soft;
        for (size_t i = 0; i < line.len; i++) {
            int high = i + 2 < line.len ? hex_digit(line.data[i + 1]) : -1;
            int low = i + 2 < line.len ? hex_digit(line.data[i + 2]) : -1;
            bool coded = line.data[i] == '=' && high >= 0 && low >= 0;
            mq_buffer_char(out, coded ? (char)(high << 4 | low) : line.data[i]);
            i += coded ? 2 : 0;
        }
        mq_buffer_append(out, "\r\n", soft ? 0 : 2);
    }
}

/* A body as a reader gets it, with the line end after it, which belongs to a boundary (`has_end`)
 * or to the body. */
static void decode(struct mq_str entity, struct mq_str body, bool has_end, struct mq_buffer *out)
{
    switch (encoding_of(entity)) {
    case BASE64:
        decode_base64(body, out);
        mq_buffer_append(out, "\r\n", has_end ? 2 : 0);
        break;
    case QUOTED_PRINTABLE:
        decode_quoted(body, out);
        break;
    default:
        mq_buffer_str(out, body);
    }
}

static struct mq_str body_of(struct mq_str entity)
{
    while (entity.len > 0 && fuzz_cut(&entity, '\n').len > 1) {
    }
    return entity;
}

static void require_same_body(struct mq_str before, struct mq_str after, bool has_end)
{
    struct mq_buffer a = {0};
    struct mq_buffer b = {0};
    decode(before, body_of(before), has_end, &a);
    decode(after, body_of(after), has_end, &b);
    REQUIRE(mq_str_equal(mq_buffer_view(&a), mq_buffer_view(&b)));
    mq_buffer_clear(&a);
    mq_buffer_clear(&b);
}

/* Removes the text before the next boundary from *text; false: no boundary follows. */
static bool take_part(struct mq_str *text, struct mq_str boundary, struct mq_str *part)
{
    *part = (struct mq_str){text->data, 0};
    while (text->len > 0) {
        struct mq_str line = fuzz_cut(text, '\n');
        while (line.len > 0 && memchr(" \t\r", line.data[line.len - 1], 3) != NULL) {
            line.len--; /* white space before "--" makes it text, behind it none (RFC 2046, 5.1.1)
                         */
        }
        if (line.len >= boundary.len + 2 && memcmp(line.data, "--", 2) == 0 &&
            memcmp(line.data + 2, boundary.data, boundary.len) == 0) {
            struct mq_str rest = {line.data + boundary.len + 2, line.len - boundary.len - 2};
            if (rest.len == 0 || mq_str_equal(rest, MQ_STR("--"))) {
                return rest.len == 0;
            }
        }
        part->len = (size_t)(text->data - part->data);
    }
    return false;
}

static void require_same(struct mq_str before, struct mq_str after, bool has_end)
{
    struct mq_str value;
    struct mq_str a = body_of(before);
    struct mq_str b = body_of(after);
    bool has_type = mq_message_header(before, "Content-Type", &value);
    if (has_type && mq_str_equal(value, MQ_STR("message/rfc822"))) {
        require_same(a, b, has_end);
        return;
    }
    if (!has_type || fuzz_cut(&value, '"').len != strlen("multipart/mixed; boundary=")) {
        require_same_body(before, after, has_end);
        return;
    }
    struct mq_str boundary = fuzz_cut(&value, '"');
    for (bool preamble = true, more = true; more; preamble = false) {
        struct mq_str of_a;
        struct mq_str of_b;
        more = take_part(&a, boundary, &of_a);
        REQUIRE(more == take_part(&b, boundary, &of_b));
        if (!preamble) {
            require_same(of_a, of_b, true);
        }
    }
}

/* ---- both ---- */

static void try_wire(struct mq_str wire, bool built)
{
    struct mq_error err;
    struct mq_buffer out = {0};
    struct mq_buffer twice = {0};
    bool parts = fuzz_contains(wire, "multipart") || fuzz_contains(wire, "message/");
    if ((mq_message_flags(wire) & MQ_MESSAGE_8BIT) == 0) {
        return;
    }
    if (mq_repair_7bit(wire, &out, &err) != MQ_OK) {
        REQUIRE(!built && err.status == MQ_MESSAGE && err.text[0] != '\0' && out.len == 0);
    } else {
        struct mq_str after = mq_buffer_view(&out);
        REQUIRE((mq_message_flags(after) & MQ_MESSAGE_8BIT) == 0);
        fuzz_require_message(after);
        REQUIRE(mq_repair_7bit(after, &twice, &err) == MQ_OK);
        REQUIRE(mq_str_equal(after, mq_buffer_view(&twice)));
        if (built) {
            require_same(wire, after, false);
        } else if (!parts) {
            require_same_body(wire, after, false);
        }
    }
    mq_buffer_clear(&out);
    mq_buffer_clear(&twice);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const struct mq_message_options options = {.message_id = "<id@fuzz.example>",
                                               .date_s = 1795253700};
    struct mq_message_info info;
    struct mq_buffer raw = {0};
    struct mq_buffer wire = {0};
    bool built = size > 0 && data[0] != 1;
    struct mq_str rest = {(const char *)data + (size > 0), size - (size > 0)};
    if (built) {
        struct builder builder = {.data = data + 1, .left = size - 1, .out = &raw};
        mq_buffer_cstr(&raw, "MIME-Version: 1.0\r\n");
        put_entity(&builder);
        mq_buffer_cstr(&raw, "\r\n");
    } else {
        fuzz_repeat(rest, &raw);
    }
    if (mq_repair_accept(mq_buffer_view(&raw), &options, &wire, &info, NULL) == MQ_OK) {
        try_wire(mq_buffer_view(&wire), built);
    } else {
        REQUIRE(!built);
    }
    mq_buffer_clear(&raw);
    mq_buffer_clear(&wire);
    return 0;
}
