/* Header fields that the application adds. Fields that the composer writes itself are refused. */
#include "mime/compose/own_header.h"

#include <stdio.h>
#include <string.h>

#include "core/ascii.h"
#include "mime/header.h"
#include "mime/mailbox.h"

#define NAME_MAX_OCTETS 76 /* a name and its colon fit in a line */
#define URI_MAX         900
#define FIELD_MAX       96

/* How the value of a field is written, or that the caller must not give it. */
enum kind {
    TEXT,
    MAILBOX,   /* one mailbox */
    MAILBOXES, /* one or more */
    IDS,       /* ASCII words */
    FROM_FIELD,
    REFUSED
};

static const struct rule {
    const char *name; /* if it ends with "-": the beginning of the names */
    enum kind kind;
    const char *why; /* FROM_FIELD: the field to give it in instead; REFUSED: cause and cure */
} rules[] = {
    {"Sender", MAILBOX, NULL},
    {"Disposition-Notification-To", MAILBOXES, NULL},
    {"Return-Receipt-To", MAILBOXES, NULL},
    {"Errors-To", MAILBOXES, NULL},
    {"Mail-Followup-To", MAILBOXES, NULL},
    {"Mail-Reply-To", MAILBOXES, NULL},
    {"In-Reply-To", IDS, NULL},
    {"References", IDS, NULL},
    {"From", FROM_FIELD, "from"},
    {"To", FROM_FIELD, "to"},
    {"Cc", FROM_FIELD, "cc"},
    {"Bcc", FROM_FIELD, "bcc"},
    {"Reply-To", FROM_FIELD, "reply_to"},
    {"Subject", FROM_FIELD, "subject"},
    {"Date", FROM_FIELD, "date"},
    {"Message-ID", FROM_FIELD, "message_id"},
    {"List-Unsubscribe", FROM_FIELD, "unsubscribe"},
    {"List-Unsubscribe-Post", FROM_FIELD, "unsubscribe"},
    {"MIME-Version", REFUSED, "it is written with the parts; leave it out"},
    {"Received", REFUSED, "relays write it; leave it out"},
    {"Return-Path", REFUSED, "the last relay writes it; give the envelope's sender instead"},
    {"DKIM-Signature", REFUSED, "messages are signed when they are sent; leave it out"},
    {"Content-", REFUSED, "it is written with the parts; give their type instead"},
    {"Resent-", REFUSED,
     "it belongs to mail that is sent again; leave it out, or give the complete message"},
};
enum { RULES = sizeof rules / sizeof *rules };

/* ---- own fields ---- */

static const struct rule *rule_of(struct mq_str name)
{
    static const struct rule text = {"", TEXT, NULL};
    for (size_t i = 0; i < RULES; i++) {
        size_t len = strlen(rules[i].name);
        bool whole = len == name.len || rules[i].name[len - 1] == '-';
        if (whole && mq_str_begins_nocase(name, rules[i].name)) {
            return &rules[i];
        }
    }
    return &text;
}

/* Checks a header's name: printable ASCII without the colon (RFC 5322, 3.6.8). */
static enum mq_status check_name(struct mq_str name, struct mq_error *err)
{
    bool good = name.len > 0 && name.len <= NAME_MAX_OCTETS;
    for (size_t i = 0; good && i < name.len; i++) {
        good = name.data[i] > 32 && name.data[i] < 127 && name.data[i] != ':';
    }
    if (good) {
        return MQ_OK;
    }
    char shown[NAME_MAX_OCTETS + 4];
    mq_str_printable(shown, sizeof shown, 0, name);
    return mq_error_set(err, MQ_MESSAGE, "headers",
                        "headers: \"%s\" is not a header's name; use 1 to %d printable ASCII "
                        "characters without spaces and colons",
                        shown, NAME_MAX_OCTETS);
}

static enum mq_status write_mailboxes(const struct rule *rule, struct mq_str value,
                                      const char *field, struct mq_buffer *out,
                                      struct mq_error *err)
{
    struct mq_mailboxes list = {0};
    enum mq_status status = mq_mailboxes_parse(value, field, &list, err);
    size_t count = list.addresses.count;
    if (status == MQ_OK && rule->kind == MAILBOX && count > 1) {
        status = mq_error_set(err, MQ_MESSAGE, field, "%s: %zu addresses; give one", field, count);
    }
    if (status == MQ_OK) {
        mq_mailboxes_write(out, rule->name, &list);
    }
    mq_mailboxes_clear(&list);
    return status;
}

static enum mq_status write_header(const struct mq_compose_header *header, const char *field,
                                   const struct rule *rule, struct mq_buffer *out,
                                   struct mq_error *err)
{
    char name[NAME_MAX_OCTETS + 1];
    switch (rule->kind) {
    case FROM_FIELD:
        return mq_error_set(err, MQ_MESSAGE, field,
                            "%s: it is written from the field \"%s\"; give it there", field,
                            rule->why);
    case REFUSED:
        return mq_error_set(err, MQ_MESSAGE, field, "%s: %s", field, rule->why);
    case MAILBOX:
    case MAILBOXES:
        return write_mailboxes(rule, header->value, field, out, err);
    case IDS:
        if (!mq_str_ascii(header->value)) {
            return mq_error_set(err, MQ_MESSAGE, field,
                                "%s: it has non-ASCII characters; give message ids as they are in "
                                "the Message-ID of other mails",
                                field);
        }
        break;
    case TEXT:
        break;
    }
    memcpy(name, header->name.data, header->name.len);
    name[header->name.len] = '\0';
    mq_encode_header(out, name, mq_str_trim(header->value));
    return MQ_OK;
}

enum mq_status mq_own_headers_write(const struct mq_compose_fields *fields, struct mq_buffer *out,
                                    struct mq_error *err)
{
    bool seen[RULES] = {false};
    for (size_t i = 0; i < fields->header_count; i++) {
        struct mq_compose_header header = fields->headers[i];
        struct mq_buffer spaced = {0};
        char field[FIELD_MAX];
        MQ_TRY(check_name(header.name, err));
        snprintf(field, sizeof field, "headers[%.*s]", (int)header.name.len, header.name.data);
        const struct rule *rule = rule_of(header.name);
        enum mq_status status = mq_header_text(&header.value, field, &spaced, err);
        if (status == MQ_OK) {
            status = write_header(&header, field, rule, out, err);
        }
        mq_buffer_clear(&spaced);
        MQ_TRY(status);
        if (rule->kind != TEXT && seen[rule - rules]) {
            return mq_error_set(err, MQ_MESSAGE, field, "%s: it occurs twice; give it once", field);
        }
        if (rule->kind != TEXT) {
            seen[rule - rules] = true;
        }
    }
    return MQ_OK;
}

/* ---- unsubscribing ---- */

/* Characters of RFC 3986, 2. The caller percent-encodes an IRI: only the caller knows its parts. */
static bool is_uri_char(char c)
{
    return mq_is_alnum(c) || (c != '\0' && strchr("-._~:/?#[]@!$&'()*+,;=%", c) != NULL);
}

static const char *uri_fault(struct mq_str uri, bool https)
{
    if (uri.len > URI_MAX) {
        return "has more than 900 octets; shorten it";
    }
    for (size_t i = 0; i < uri.len; i++) {
        if (!is_uri_char(uri.data[i])) {
            return "has a character that no URI has; percent-encode it";
        }
    }
    if (https ? uri.len > 8 && strchr("/?#:@", uri.data[8]) == NULL
              : mq_str_begins_nocase(uri, "mailto:") && uri.len > 7) {
        return NULL;
    }
    return "is neither https://host/… nor mailto:address; give one of these";
}

static enum mq_status check_uri(const struct mq_compose_fields *fields, size_t i, bool *https,
                                struct mq_error *err)
{
    char field[FIELD_MAX] = "unsubscribe";
    if (fields->unsubscribe_count > 1) {
        snprintf(field, sizeof field, "unsubscribe[%zu]", i);
    }
    bool is_https = mq_str_begins_nocase(fields->unsubscribe[i], "https://");
    const char *fault = uri_fault(fields->unsubscribe[i], is_https);
    if (fault == NULL && is_https && *https) {
        fault = "is a second https URI; RFC 8058 allows one; add mailto: URIs instead";
    }
    if (fault != NULL) {
        return mq_error_set(err, MQ_MESSAGE, field, "%s: the URI %s", field, fault);
    }
    *https = *https || is_https;
    return MQ_OK;
}

enum mq_status mq_unsubscribe_write(const struct mq_compose_fields *fields, struct mq_buffer *out,
                                    struct mq_error *err)
{
    size_t column = sizeof "List-Unsubscribe:" - 1;
    size_t count = fields->unsubscribe_count;
    bool https = false;
    if (count > 0) {
        mq_buffer_cstr(out, "List-Unsubscribe:");
    }
    for (size_t i = 0; i < count; i++) {
        size_t len = fields->unsubscribe[i].len + 3; /* "<…>," */
        MQ_TRY(check_uri(fields, i, &https, err));
        mq_encode_break(out, &column, i > 0 ? len : 0); /* never folds before the first */
        mq_buffer_char(out, '<');
        mq_buffer_str(out, fields->unsubscribe[i]);
        mq_buffer_append(out, ">,", i + 1 < count ? 2 : 1);
        column += len;
    }
    mq_buffer_cstr(out, count > 0 ? "\r\n" : "");
    mq_buffer_cstr(out, https ? "List-Unsubscribe-Post: List-Unsubscribe=One-Click\r\n" : "");
    return MQ_OK;
}
