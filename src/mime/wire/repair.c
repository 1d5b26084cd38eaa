/* Repairs complete messages that no relay would take. Its users are applications that call mail(),
 * sendmail or an old library, and write raw UTF-8 headers or HTML in one long line. */
#include "mime/wire/repair.h"

#include "mime/wire/internal.h"

/* Where the header section ends, before its empty line. */
static size_t head_length(struct mq_str wire)
{
    struct mq_message_fields fields = {.rest = wire, .end = '\n'};
    while (mq_message_fields_next(&fields)) {
    }
    return wire.len - fields.rest.len;
}

/* Appends a repaired message to `out`, which is initialised and empty. */
static enum mq_status repair_wire(struct mq_str wire, struct mq_buffer *out, struct mq_error *err)
{
    struct mq_buffer head;
    struct mq_buffer charset;
    mq_buffer_init(&head);
    mq_buffer_init(&charset);
    size_t length = head_length(wire);
    struct mq_str fields = {wire.data, length};
    struct mq_str body = {wire.data + length, wire.len - length};
    mq_repair_take_line(&body);
    if (!mq_str_ascii(fields)) {
        mq_repair_fields(&head, fields, mq_repair_charset(fields, &charset));
        fields = mq_buffer_view(&head);
    }
    mq_buffer_reserve(out, wire.len + wire.len / 8 + 256);
    const char *why = mq_repair_entity(out, fields, body, false);
    bool failed = head.failed || charset.failed || out->failed;
    mq_buffer_clear(&head);
    mq_buffer_clear(&charset);
    if (failed) {
        mq_buffer_reset(out);
        return mq_error_nomem(err);
    }
    if (why == mq_repair_too_deep) {
        mq_buffer_reset(out);
        return mq_error_set(err, MQ_MESSAGE, "message",
                            "message: %s and has a line over 998 octets, which SMTP does not "
                            "carry; encode it (quoted-printable or base64)",
                            why);
    }
    if (why) {
        mq_buffer_reset(out);
        return mq_error_set(err, MQ_MESSAGE, "message",
                            "message: a part that is signed or encrypted (S/MIME, PGP) has a line "
                            "over 998 octets, which SMTP does not carry; encode it "
                            "(quoted-printable or base64) before signing");
    }
    return MQ_OK;
}

/* Replaces what was normalised by what it becomes. */
static enum mq_status repair(struct mq_buffer *out, size_t max_size, struct mq_message_info *info,
                             struct mq_error *err)
{
    struct mq_buffer repaired;
    mq_buffer_init(&repaired);
    enum mq_status status = repair_wire(mq_buffer_view(out), &repaired, err);
    if (status == MQ_OK) {
        status = mq_message_check_size(repaired.len, max_size, err);
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
    size_t length = head_length(wire);
    struct mq_str body = {wire.data + length, wire.len - length};
    struct mq_str value;
    const char *why = "a DKIM-Signature forbids to change it";
    mq_repair_take_line(&body);
    if (!mq_message_header(wire, "DKIM-Signature", &value)) {
        mq_buffer_reserve(out, wire.len + wire.len / 2 + 256);
        why = mq_repair_entity(out, (struct mq_str){wire.data, length}, body, true);
        if (why == NULL && (mq_message_flags(mq_buffer_view(out)) & MQ_MESSAGE_8BIT) != 0) {
            why = "a header of a part cannot be encoded";
        }
    }
    if (out->failed) {
        mq_buffer_reset(out);
        return mq_error_nomem(err);
    }
    if (why != NULL) {
        mq_buffer_reset(out);
        return mq_error_set(err, MQ_MESSAGE, "message", "%s", why);
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
