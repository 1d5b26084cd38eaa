/* Finds sender and recipients in a complete message's headers, as sendmail -t does. */
#include "mime/wire/envelope.h"

#include <stdlib.h>

#include "mime/address.h"
#include "mime/mailbox.h"
#include "mime/wire/message.h"

/* What a field means for the envelope. */
enum role {
    RECEIVED, /* this and Return-Path stand above each older block of Resent- fields */
    RETURN_PATH,
    TO,
    CC,
    BCC,
    SENDER,
    FROM,
    RESENT_TO,
    RESENT_CC,
    RESENT_BCC,
    RESENT_SENDER,
    RESENT_FROM,
    RESENT_DATE,
    RESENT_ID,
    NONE
};

static const char *const names[NONE] = {
    [RECEIVED] = "Received",
    [RETURN_PATH] = "Return-Path",
    [TO] = "To",
    [CC] = "Cc",
    [BCC] = "Bcc",
    [SENDER] = "Sender",
    [FROM] = "From",
    [RESENT_TO] = "Resent-To",
    [RESENT_CC] = "Resent-Cc",
    [RESENT_BCC] = "Resent-Bcc",
    [RESENT_SENDER] = "Resent-Sender",
    [RESENT_FROM] = "Resent-From",
    [RESENT_DATE] = "Resent-Date",
    [RESENT_ID] = "Resent-Message-ID",
};

#define BIT(role)         (1u << (role))
#define TRACE             (BIT(RECEIVED) | BIT(RETURN_PATH))
#define RECIPIENTS        (BIT(TO) | BIT(CC) | BIT(BCC))
#define RESENT_RECIPIENTS (BIT(RESENT_TO) | BIT(RESENT_CC) | BIT(RESENT_BCC))
/* A block has each of these once. Some programs repeat the other Resent- fields within a block. */
#define RESENT_MARKS (BIT(RESENT_SENDER) | BIT(RESENT_FROM) | BIT(RESENT_DATE) | BIT(RESENT_ID))
#define RESENT       (RESENT_RECIPIENTS | RESENT_MARKS)

static enum role role_of(struct mq_str name)
{
    enum role role = 0;
    while (role < NONE && !mq_str_equal_nocase(name, mq_str_of(names[role]))) {
        role++;
    }
    return role;
}

/* The topmost block of Resent- fields. */
struct block {
    unsigned roles; /* BIT() of the role of each of its fields */
    size_t end;     /* Resent- fields from this line on belong to other blocks */
};

static enum mq_status find_block(struct mq_str raw, struct block *out, struct mq_error *err)
{
    struct block block = {.end = SIZE_MAX};
    size_t again = SIZE_MAX; /* first line that repeats a recipients' field of the block */
    struct mq_message_fields fields;
    mq_message_fields_init(&fields, raw);
    while (mq_message_fields_next(&fields)) {
        unsigned bit = BIT(role_of(fields.name));
        if (fields.name.len == 0) {
            return mq_error_set(err, MQ_MESSAGE, "message",
                                "message: line %zu: no header and no continuation; write \"Name: "
                                "value\", and an empty line before the text",
                                fields.line);
        }
        if (block.end != SIZE_MAX) {
            continue;
        }
        if ((bit & TRACE) != 0 && block.roles != 0) {
            block.end = fields.line;
        } else if ((bit & RESENT_MARKS & block.roles) != 0) {
            /* The next block begins here without a trace field before it, or began above at the
             * first recipients' field that was repeated. */
            block.end = again < fields.line ? again : fields.line;
        } else if ((bit & RESENT_RECIPIENTS & block.roles) != 0 && again == SIZE_MAX) {
            again = fields.line;
        }
        block.roles |= block.end == SIZE_MAX ? bit & RESENT : 0;
    }
    *out = block;
    return MQ_OK;
}

/* ---- the envelope ---- */

void mq_envelope_clear(struct mq_envelope *envelope)
{
    free(envelope->from);
    mq_strings_clear(&envelope->recipients);
    *envelope = (struct mq_envelope){0};
}

/* Appends the addresses of all fields that have one of the roles. */
static enum mq_status addresses_of(struct mq_str raw, const struct block *block, unsigned roles,
                                   struct mq_strings *list, struct mq_error *err)
{
    enum mq_status status = MQ_OK;
    struct mq_message_fields fields;
    mq_message_fields_init(&fields, raw);
    while (status == MQ_OK && mq_message_fields_next(&fields)) {
        enum role role = role_of(fields.name);
        bool counts = (BIT(role) & RESENT) == 0 || fields.line < block->end;
        if (counts && (BIT(role) & roles) != 0) {
            status = mq_addresses_of_header(fields.value, names[role], list, err);
        }
    }
    return status;
}

enum mq_status mq_envelope_sender(struct mq_str raw, char **from, struct mq_error *err)
{
    static const enum role order[] = {RESENT_SENDER, RESENT_FROM, SENDER, FROM};
    struct mq_strings list = {0};
    struct block block;
    enum mq_status status = find_block(raw, &block, err);
    for (size_t i = 0; i < sizeof order / sizeof *order; i++) {
        if (status != MQ_OK || list.count > 0) {
            break;
        }
        status = addresses_of(raw, &block, BIT(order[i]), &list, err);
    }
    if (status == MQ_OK) {
        *from = list.count > 0 ? list.items[0] : NULL;
        if (list.count > 0) {
            list.items[0] = NULL;
        }
    }
    mq_strings_clear(&list);
    return status;
}

enum mq_status mq_envelope_recipients(struct mq_str raw, struct mq_strings *recipients,
                                      struct mq_error *err)
{
    struct mq_strings list = {0};
    struct block block;
    enum mq_status status = find_block(raw, &block, err);
    if (status == MQ_OK) {
        bool resent = (block.roles & RESENT_RECIPIENTS) != 0;
        status = addresses_of(raw, &block, resent ? RESENT_RECIPIENTS : RECIPIENTS, &list, err);
    }
    if (status == MQ_OK && !mq_addresses_once(&list)) {
        status = mq_error_nomem(err);
    }
    if (status == MQ_OK) {
        mq_strings_clear(recipients);
        *recipients = list;
        return MQ_OK;
    }
    mq_strings_clear(&list);
    return status;
}
