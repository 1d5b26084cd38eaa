/* Repairs complete messages that no relay would take. They come from applications that call mail(),
 * sendmail or an old library, and write raw UTF-8 headers or HTML in one long line. */
#include "mime/wire/repair.h"

#include "mime/wire/internal.h"

/* Replaces the normalised message in `out` by its repaired form. */
static enum mq_status repair(struct mq_buffer *out, size_t max_size, struct mq_message_info *info,
                             struct mq_error *err)
{
    struct mq_buffer repaired = {0};
    mq_buffer_reserve(&repaired, out->len + out->len / 8 + 256);
    const char *why = mq_repair_entity(&repaired, mq_buffer_view(out), false);
    enum mq_status status = repaired.failed
                                ? mq_error_nomem(err)
                                : mq_message_check_size(why ? 0 : repaired.len, max_size, err);
    if (status == MQ_OK && why != NULL) {
        status = mq_error_set(err, MQ_MESSAGE, "message",
                              "message: %s and has a line over 998 octets, which SMTP does not "
                              "carry; encode it (quoted-printable or base64) before you sign or "
                              "send it",
                              why);
    }
    if (status != MQ_OK) {
        mq_buffer_clear(&repaired);
        return status;
    }
    mq_buffer_clear(out);
    *out = repaired;
    info->flags = mq_message_flags(mq_buffer_view(out));
    info->message_id = mq_message_id(mq_buffer_view(out));
    return MQ_OK;
}

enum mq_status mq_repair_7bit(struct mq_str wire, struct mq_buffer *out, struct mq_error *err)
{
    struct mq_str value;
    const char *why = "its DKIM-Signature forbids changing it";
    if (!mq_message_header(wire, "DKIM-Signature", &value)) {
        mq_buffer_reserve(out, wire.len + wire.len / 2 + 256);
        why = mq_repair_entity(out, wire, true);
        if (why == NULL && (mq_message_flags(mq_buffer_view(out)) & MQ_MESSAGE_8BIT) != 0) {
            why = "a header of a part cannot be encoded";
        }
    }
    bool failed = out->failed;
    if (failed || why != NULL) {
        mq_buffer_reset(out);
        return failed ? mq_error_nomem(err) : mq_error_set(err, MQ_MESSAGE, "message", "%s", why);
    }
    return MQ_OK;
}

enum mq_status mq_repair_accept(struct mq_str raw, const struct mq_message_options *options,
                                struct mq_buffer *out, struct mq_message_info *info,
                                struct mq_error *err)
{
    struct mq_message_info found = {0};
    enum mq_status status = mq_message_normalize(raw, options, out, &found, err);
    if (status == MQ_OK && (found.flags & (MQ_MESSAGE_LONG_LINES | MQ_MESSAGE_RAW_HEADERS)) != 0) {
        status = repair(out, options->max_size, &found, err);
    }
    if (status != MQ_OK) {
        mq_buffer_reset(out);
        return status;
    }
    *info = found;
    return MQ_OK;
}
