/* Finds sender and recipients in a complete message's headers, as sendmail -t does. */
#include "mime/wire/envelope.h"

#include <stdlib.h>
#include <string.h>

#include "mime/address.h"
#include "mime/mailbox.h"
#include "mime/wire/message.h"

/* What a field is for the envelope. */
enum role {
    NONE,
    TRACE, /* stands above each block of Resent- fields but the first */
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
    ROLES
};

static const char *const names[ROLES] = {
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
#define RESENT_RECIPIENTS (BIT(RESENT_TO) | BIT(RESENT_CC) | BIT(RESENT_BCC))
/* Once a block; the others some programs write several times. */
#define RESENT_MARKS (BIT(RESENT_SENDER) | BIT(RESENT_FROM) | BIT(RESENT_DATE) | BIT(RESENT_ID))
#define RECIPIENTS   (BIT(TO) | BIT(CC) | BIT(BCC))

static enum role role_of(struct mq_str name)
{
    for (enum role role = TO; role < ROLES; role++) {
        if (mq_str_equal_nocase(name, mq_str_of(names[role]))) {
            return role;
        }
    }
    bool trace = mq_str_equal_nocase(name, MQ_STR("Received")) ||
                 mq_str_equal_nocase(name, MQ_STR("Return-Path"));
    return trace ? TRACE : NONE;
}

/* The fields that count, one after another. */
struct scan {
    struct mq_message_fields fields;
    enum role role;  /* of the one read last */
    unsigned once;   /* roles that begin another block when they come again */
    unsigned resent; /* roles that the first block has so far */
    bool over;       /* it is */
    bool by_mark;    /* because a role of `once` came again, not for a trace field */
};

static void scan_init(struct scan *scan, struct mq_str raw, unsigned once)
{
    *scan = (struct scan){.once = once};
    mq_message_fields_init(&scan->fields, raw);
}

static bool scan_next(struct scan *scan)
{
    while (mq_message_fields_next(&scan->fields)) {
        scan->role = role_of(scan->fields.name);
        bool again = (scan->resent & scan->once & BIT(scan->role)) != 0;
        scan->by_mark = scan->by_mark || (again && !scan->over);
        scan->over = scan->over || again || (scan->role == TRACE && scan->resent != 0);
        if (scan->role < RESENT_TO) {
            return true;
        }
        if (!scan->over) {
            scan->resent |= BIT(scan->role);
            return true;
        }
    }
    return false;
}

/* Which roles the message has, and what is found once in a block. */
struct survey {
    unsigned roles;
    unsigned once;
};

static enum mq_status survey(struct mq_str raw, struct survey *out, struct mq_error *err)
{
    struct scan scan;
    struct survey found = {0};
    scan_init(&scan, raw, RESENT_MARKS);
    while (scan_next(&scan)) {
        if (scan.fields.name.len == 0) {
            return mq_error_set(err, MQ_MESSAGE, "message",
                                "message: line %zu: no header and no continuation; write \"Name: "
                                "value\", and an empty line before the text",
                                scan.fields.line);
        }
        found.roles |= BIT(scan.role);
    }
    /* Where a block follows that no trace field parts from the first, it may begin with any of its
     * fields. */
    found.once = scan.by_mark ? RESENT_MARKS | RESENT_RECIPIENTS : RESENT_MARKS;
    *out = found;
    return MQ_OK;
}

/* ---- the envelope ---- */

void mq_envelope_init(struct mq_envelope *envelope)
{
    *envelope = (struct mq_envelope){0};
}

void mq_envelope_clear(struct mq_envelope *envelope)
{
    free(envelope->from);
    mq_strings_clear(&envelope->recipients);
    mq_envelope_init(envelope);
}

/* Appends the addresses of all fields that have one of the roles. */
static enum mq_status addresses_of(struct mq_str raw, const struct survey *found, unsigned roles,
                                   struct mq_strings *list, struct mq_error *err)
{
    enum mq_status status = MQ_OK;
    struct scan scan;
    scan_init(&scan, raw, found->once);
    while (status == MQ_OK && scan_next(&scan)) {
        if ((BIT(scan.role) & roles) != 0) {
            status = mq_addresses_of_header(scan.fields.value, names[scan.role], list, err);
        }
    }
    return status;
}

enum mq_status mq_envelope_sender(struct mq_str raw, char **from, struct mq_error *err)
{
    static const enum role order[] = {RESENT_SENDER, RESENT_FROM, SENDER, FROM};
    struct mq_strings list;
    struct survey found;
    mq_strings_init(&list);
    enum mq_status status = survey(raw, &found, err);
    for (size_t i = 0; i < sizeof order / sizeof *order; i++) {
        if (status != MQ_OK || list.count > 0) {
            break;
        }
        status = addresses_of(raw, &found, BIT(order[i]), &list, err);
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
    struct mq_strings list;
    struct survey found;
    mq_strings_init(&list);
    enum mq_status status = survey(raw, &found, err);
    if (status == MQ_OK) {
        bool resent = (found.roles & RESENT_RECIPIENTS) != 0;
        status = addresses_of(raw, &found, resent ? RESENT_RECIPIENTS : RECIPIENTS, &list, err);
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

enum mq_status mq_envelope_of(struct mq_str raw, struct mq_envelope *out, struct mq_error *err)
{
    char *from = NULL;
    enum mq_status status = mq_envelope_sender(raw, &from, err);
    if (status == MQ_OK) {
        status = mq_envelope_recipients(raw, &out->recipients, err);
    }
    if (status != MQ_OK) {
        free(from);
        return status;
    }
    free(out->from);
    out->from = from;
    return MQ_OK;
}
