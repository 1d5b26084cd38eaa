/* Messages with long lines and raw bytes in their headers: once repaired, any relay takes them, a
 * second repair changes nothing, and they name the same envelope. (fuzz_repeat: 0x01) */
#include "fuzz.h"

#include <string.h>

#include "../unit/envelope_of.h"
#include "mime/wire/repair.h"

static struct mq_str headers_of(struct mq_str message)
{
    struct mq_str rest = message;
    while (rest.len > 0 && fuzz_cut(&rest, '\n').len > 1) {
    }
    return (struct mq_str){message.data, message.len - rest.len};
}

/* Every byte over 127 is gone, or the headers are unchanged UTF-8. */
static void require_headers(struct mq_str headers, struct mq_str before)
{
    REQUIRE(mq_utf8_valid(headers));
    REQUIRE(mq_str_ascii(headers) || !mq_str_ascii(before));
    struct mq_str first = fuzz_cut(&headers, '\n');
    REQUIRE(first.len > 0 && first.data[0] != ' ' && first.data[0] != '\t');
}

/* The headers name the same addresses. */
static void require_envelope(struct mq_str before, struct mq_str after)
{
    struct mq_envelope a = {0};
    struct mq_envelope b = {0};
    if (envelope_of(before, &a, NULL) == MQ_OK) {
        REQUIRE(envelope_of(after, &b, NULL) == MQ_OK);
        REQUIRE((a.from == NULL) == (b.from == NULL));
        REQUIRE(a.from == NULL || strcmp(a.from, b.from) == 0);
        REQUIRE(a.recipients.count == b.recipients.count);
        for (size_t i = 0; i < a.recipients.count; i++) {
            REQUIRE(strcmp(a.recipients.items[i], b.recipients.items[i]) == 0);
        }
    }
    mq_envelope_clear(&a);
    mq_envelope_clear(&b);
}

/* Whether a header line is so long that it may have been broken inside an address. */
static bool has_long_header(struct mq_str headers)
{
    while (headers.len > 0) {
        if (fuzz_cut(&headers, '\n').len > 999) {
            return true;
        }
    }
    return false;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const struct mq_message_options options = {.message_id = "<id@fuzz.example>",
                                               .date_s = 1795253700};
    struct mq_message_info info = {0};
    struct mq_message_info normal_info = {0};
    struct mq_buffer raw;
    struct mq_buffer normal;
    struct mq_buffer out;
    struct mq_error err;
    raw = (struct mq_buffer){0};
    normal = (struct mq_buffer){0};
    out = (struct mq_buffer){0};
    fuzz_repeat((struct mq_str){(const char *)data, size}, &raw);
    enum mq_status normalized =
        mq_message_normalize(mq_buffer_view(&raw), &options, &normal, &normal_info, NULL);
    enum mq_status status = mq_repair_accept(mq_buffer_view(&raw), &options, &out, &info, &err);
    bool sealed = fuzz_contains(mq_buffer_view(&raw), "multipart/signed") ||
                  fuzz_contains(mq_buffer_view(&raw), "multipart/encrypted") ||
                  fuzz_contains(mq_buffer_view(&raw), "pkcs7-mime");
    REQUIRE(status == normalized || (status == MQ_MESSAGE && sealed));
    if (status == MQ_OK) {
        struct mq_str before = mq_buffer_view(&normal);
        struct mq_str after = mq_buffer_view(&out);
        unsigned ills = MQ_MESSAGE_LONG_LINES | MQ_MESSAGE_RAW_HEADERS;
        struct mq_str old;
        REQUIRE(info.flags == mq_message_flags(after));
        REQUIRE((info.flags & MQ_MESSAGE_8BIT) == 0 || (normal_info.flags & MQ_MESSAGE_8BIT) != 0);
        REQUIRE((normal_info.flags & ills) != 0 || mq_str_equal(before, after));
        REQUIRE(info.message_id.data > out.data && info.message_id.data < out.data + out.len);
        fuzz_require_message(after);
        if (!mq_message_header(before, "DKIM-Signature", &old)) {
            require_headers(headers_of(after), headers_of(before));
        }
        if (!has_long_header(headers_of(before))) {
            require_envelope(before, after);
        }
    } else {
        REQUIRE(err.status == MQ_MESSAGE && strcmp(err.field, "message") == 0 && out.len == 0);
    }
    mq_buffer_clear(&raw);
    mq_buffer_clear(&normal);
    mq_buffer_clear(&out);
    return 0;
}
