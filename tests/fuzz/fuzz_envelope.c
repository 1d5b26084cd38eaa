/* The reader behind `sendmail -t`: the envelope that a raw message names, and the stored bytes. */
#include "fuzz.h"

#include <string.h>

#include "../unit/envelope_of.h"
#include "mime/wire/repair.h"

/* Both readers of the header section see the same fields in it, with line ends of any kind. */
static void require_same(const struct mq_envelope *envelope, struct mq_str message)
{
    struct mq_envelope again = {0};
    REQUIRE(envelope_of(message, &again, NULL) == MQ_OK);
    REQUIRE((again.from == NULL) == (envelope->from == NULL));
    REQUIRE(again.from == NULL || strcmp(again.from, envelope->from) == 0);
    REQUIRE(again.recipients.count == envelope->recipients.count);
    for (size_t i = 0; i < again.recipients.count; i++) {
        REQUIRE(strcmp(again.recipients.items[i], envelope->recipients.items[i]) == 0);
    }
    mq_envelope_clear(&again);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const struct mq_message_options options = {
        .message_id = "<id@fuzz.example>", .date_s = 1795253700, .max_size = 100000};
    struct mq_str raw = {(const char *)data, size};
    struct mq_message_info info;
    struct mq_envelope envelope = {0};
    struct mq_buffer out;
    struct mq_error err;
    out = (struct mq_buffer){0};
    enum mq_status read = envelope_of(raw, &envelope, &err);
    REQUIRE(read == MQ_OK || (err.status == MQ_MESSAGE && err.field[0] != '\0'));
    REQUIRE(read == MQ_OK || (envelope.from == NULL && envelope.recipients.count == 0));
    if (envelope.from != NULL) {
        fuzz_require_address(envelope.from);
    }
    fuzz_require_recipients(&envelope.recipients);
    if (mq_repair_accept(raw, &options, &out, &info, &err) == MQ_OK) {
        REQUIRE(info.flags == mq_message_flags(mq_buffer_view(&out)));
        REQUIRE(info.message_id.data > out.data && info.message_id.data < out.data + out.len);
        fuzz_require_message(mq_buffer_view(&out));
        if (read == MQ_OK && !fuzz_contains(raw, "Bcc")) {
            require_same(&envelope, mq_buffer_view(&out));
        }
    } else {
        REQUIRE(err.status == MQ_MESSAGE && strcmp(err.field, "message") == 0 && out.len == 0);
    }
    mq_envelope_clear(&envelope);
    mq_buffer_clear(&out);
    return 0;
}
