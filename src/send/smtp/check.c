/* Converts what the EHLO says the relay cannot take, or refuses it before anything is sent. */
#include <stdio.h>

#include "mime/wire/message.h"
#include "send/smtp/internal.h"

/* Longest address that is sent; RFC 5321's limit is 256 octets. */
#define ADDRESS_MAX 320

/* Addresses were checked when they were accepted. This is the last check before the wire: an
 * address must never end a command or add one. */
static bool address_is_safe(const char *address)
{
    size_t len = 0;
    for (; address[len] != '\0'; len++) {
        unsigned char c = (unsigned char)address[len];
        if (c <= ' ' || c == 0x7f || c == '<' || c == '>') {
            return false;
        }
    }
    return len <= ADDRESS_MAX;
}

static void refuse_target(struct mq_target *target, const char *text)
{
    target->result = MQ_OUTCOME_REFUSED;
    target->phase = "check";
    snprintf(target->reply, sizeof target->reply, "%s", text);
}

/* Writes what this relay cannot take (RFC 3463: 5.3.4, 5.6.7, 5.1.7) into text; false: nothing. */
static bool cannot_take(const struct mq_smtp_session *session, const struct mq_transfer *transfer,
                        char *text, size_t size)
{
    const struct mq_smtp_caps *caps = &session->caps;
    size_t bytes = transfer->prefix.len + transfer->message.len;
    if (caps->size && caps->size_max != 0 && bytes > caps->size_max) {
        snprintf(text, size, "5.3.4 the message has %zu bytes, the relay takes %zu; not sent",
                 bytes, caps->size_max);
    } else if (!caps->smtputf8 && (!mq_str_ascii(mq_str_of(transfer->from)) ||
                                   (transfer->flags & MQ_MESSAGE_UTF8_HEADERS) != 0)) {
        snprintf(text, size,
                 "5.6.7 the sender's address or a header is not ASCII, and the relay does not "
                 "offer SMTPUTF8; not sent");
    } else if (!address_is_safe(transfer->from)) {
        snprintf(text, size, "5.1.7 the sender's address cannot be sent");
    } else {
        return false;
    }
    return true;
}

/* Converts the message for a relay without 8BITMIME, or writes into text why it must not be
 * converted. Returns false if memory was missing; the recipients are then deferred. */
static bool convert(const struct mq_smtp_session *session, struct mq_transfer *transfer, char *text,
                    size_t size)
{
    struct mq_error err = {.text = "it cannot be converted"};
    enum mq_status status = MQ_MESSAGE;
    if (session->caps.eightbit || (transfer->flags & MQ_MESSAGE_8BIT) == 0) {
        return true;
    }
    if (transfer->to_7bit != NULL) {
        status = transfer->to_7bit(transfer, &err);
    }
    if (status == MQ_MESSAGE) {
        snprintf(
            text, size,
            "5.6.3 the message has bytes over 127, the relay does not offer 8BITMIME, and %.160s; "
            "not sent",
            err.text);
    } else if (status != MQ_OK) {
        snprintf(transfer->error, sizeof transfer->error, "%.*s", (int)sizeof transfer->error - 1,
                 err.text);
        mq_smtp_mark(transfer, false, MQ_OUTCOME_DEFERRED, NULL);
        return false;
    }
    return true;
}

bool mq_smtp_check(struct mq_smtp_session *session, struct mq_transfer *transfer)
{
    char text[MQ_TARGET_REPLY_MAX] = "";
    transfer->phase = "check";
    if (!convert(session, transfer, text, sizeof text)) {
        return false;
    }
    bool none = text[0] != '\0' || cannot_take(session, transfer, text, sizeof text);
    bool left = false;
    for (size_t i = 0; i < transfer->target_count; i++) {
        struct mq_target *target = &transfer->targets[i];
        if (target->result != MQ_OUTCOME_RELEASED) {
            continue;
        }
        target->code = 0;
        if (none) {
            refuse_target(target, text);
        } else if (target->address[0] == '\0' || !address_is_safe(target->address)) {
            refuse_target(target, "5.1.3 the address cannot be sent");
        } else if (!session->caps.smtputf8 && !mq_str_ascii(mq_str_of(target->address))) {
            refuse_target(target, "5.6.7 the address is not ASCII, and the relay does not offer "
                                  "SMTPUTF8; not sent");
        } else {
            left = true;
        }
    }
    return left;
}
