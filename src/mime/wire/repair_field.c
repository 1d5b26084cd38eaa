/* For programs that write headers in UTF-8 or an older charset, such as scripts that call mail():
 * chooses by a field's name how its bytes over 127 are encoded. */
#include <string.h>

#include "core/ascii.h"
#include "mime/wire/internal.h"
#include "mime/wire/message.h"

#define CHARSET_MAX 40 /* octets; leaves room for text in encoded words and parameters */

enum kind { TEXT, ADDRESSES, LIST, PARAMS, URIS, KEPT, ESCAPED };

/* Returns how a field's bytes over 127 are encoded. KEPT: they stay if the field is UTF-8. */
static enum kind kind_of(struct mq_str name)
{
    static const char *const special[] = {
        [ADDRESSES] = "From Sender Reply-To To Cc Resent-From Resent-Sender Resent-Reply-To "
                      "Resent-To Resent-Cc Return-Receipt-To Disposition-Notification-To Errors-To "
                      "Mail-Followup-To Mail-Reply-To",
        [LIST] = "Keywords",
        [PARAMS] = "Content-Type Content-Disposition",
        [URIS] = "List-Unsubscribe List-Help List-Subscribe List-Post List-Owner List-Archive",
        [KEPT] = "Message-ID Resent-Message-ID Content-ID References In-Reply-To Date Resent-Date "
                 "Received Return-Path MIME-Version Content-Transfer-Encoding "
                 "List-Unsubscribe-Post"};
    for (enum kind kind = ADDRESSES; kind <= KEPT; kind++) {
        if (mq_str_word(name, special[kind], mq_str_equal_nocase) >= 0) {
            return kind;
        }
    }
    return TEXT;
}

/* Whether bytes that are not UTF-8 may be in this charset, and encoded words may name it. Not if it
 * is one of `others`: ASCII has no bytes over 127, UTF-8 would be valid, and text in the rest looks
 * different. */
static bool is_charset(struct mq_str name)
{
    static const char *const others[] = {"utf-8", "utf8",   "us-ascii", "ascii",
                                         "utf-7", "utf-16", "utf-32",   "iso-2022-"};
    for (size_t i = 0; i < name.len; i++) {
        char c = name.data[i];
        if (!mq_is_alnum(c) && c != '-' && c != '_') {
            return false;
        }
    }
    for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
        if (mq_str_begins_nocase(name, others[i])) {
            return false;
        }
    }
    return name.len > 0 && name.len <= CHARSET_MAX;
}

struct mq_str mq_repair_charset(struct mq_str head, struct mq_buffer *scratch)
{
    struct mq_buffer type = {0};
    struct mq_str value;
    if (mq_message_header(head, "Content-Type", &value)) {
        mq_repair_unfold(&type, value);
        mq_repair_param_find(mq_buffer_view(&type), MQ_STR("charset"), scratch);
    }
    scratch->failed = scratch->failed || type.failed;
    mq_buffer_clear(&type);
    struct mq_str found = mq_buffer_view(scratch);
    return !scratch->failed && is_charset(found) ? found : MQ_STR("windows-1252");
}

/* ---- one field ---- */

struct field {
    struct mq_str text; /* with its line end */
    struct mq_str name;
    struct mq_str charset; /* of its bytes over 127 */
    bool utf8;
};

/* Rewrites a value by the rules of a kind. False if it cannot be read. */
static bool put_value(struct mq_repair_line *line, enum kind kind, struct mq_str value)
{
    switch (kind) {
    case TEXT:
        mq_repair_text(line, value);
        return true;
    case ADDRESSES:
        return mq_repair_addresses(line, value);
    case LIST:
        mq_repair_list(line, value);
        return true;
    case PARAMS:
        return mq_repair_params(line, value);
    default:
        return false;
    }
}

/* Writes a field by the rules of a kind, in lines of any length. False if that cannot be done. */
static bool put_field(struct mq_buffer *out, const struct field *field, enum kind kind)
{
    struct mq_buffer value = {0};
    size_t name = field->name.len + 1;
    /* RFC 3987, 3.1 for URIs. An atom may have "=", so an id stays an id. */
    if (kind == URIS || kind == ESCAPED) {
        mq_repair_escape(out, field->text, kind == URIS ? '%' : '=');
        return true;
    }
    mq_buffer_char(&value, ' ');
    mq_repair_unfold(&value,
                     mq_str_trim((struct mq_str){field->text.data + name, field->text.len - name}));
    struct mq_repair_line line = {.out = out, .column = name, .charset = field->charset};
    mq_buffer_append(out, field->text.data, name);
    bool read = put_value(&line, kind, mq_buffer_view(&value));
    bool good = read && line.changed && mq_utf8_valid(mq_buffer_view(out));
    if (good) {
        mq_buffer_append(out, "\r\n", 2);
    } else {
        out->len = 0;
        good = field->utf8 && (read || kind != ADDRESSES);
        mq_buffer_str(out, good ? field->text : MQ_STR(""));
    }
    out->failed = out->failed || value.failed;
    mq_buffer_clear(&value);
    return good;
}

/* Replaces the contents of `out` by the field, written by the rules of a kind and folded. Returns
 * false if these rules do not fit the field. */
static bool put_form(struct mq_buffer *out, const struct field *field, enum kind kind)
{
    static const struct mq_repair_head nothing = {0};
    struct mq_buffer lines = {0};
    out->len = 0;
    bool good = put_field(&lines, field, kind);
    mq_repair_fold(out, mq_buffer_view(&lines), &nothing);
    out->failed = out->failed || lines.failed;
    mq_buffer_clear(&lines);
    return good;
}

/* Returns the kind to try next when a field cannot be written by the rules of this one. The last
 * kind, ESCAPED, gives ASCII only. */
static enum kind next_kind(enum kind kind)
{
    return kind == ADDRESSES ? LIST : kind == LIST ? TEXT : ESCAPED;
}

/* Whether a second repair would leave a repaired field as it is. It may not if the field could not
 * be parsed and still has bytes over 127: the first repair may have encoded a character that ended
 * a quoted string or a comment, so that the rest is now read differently. */
static bool is_settled(struct mq_str text, struct mq_str name, bool *failed)
{
    struct field field = {text, name, MQ_STR("utf-8"), true};
    struct mq_buffer again = {0};
    if (mq_str_ascii(text)) {
        return true;
    }
    enum kind kind = kind_of(name);
    while (!put_form(&again, &field, kind)) {
        kind = next_kind(kind);
    }
    bool same = mq_str_equal(text, mq_buffer_view(&again));
    *failed = *failed || again.failed;
    mq_buffer_clear(&again);
    return same;
}

static void repair(struct mq_buffer *out, const struct field *field)
{
    struct mq_buffer form = {0};
    bool failed = false;
    enum kind kind = kind_of(field->name);
    while (!put_form(&form, field, kind) ||
           !is_settled(mq_buffer_view(&form), field->name, &failed)) {
        kind = next_kind(kind);
    }
    mq_buffer_str(out, mq_buffer_view(&form));
    out->failed = out->failed || form.failed || failed;
    mq_buffer_clear(&form);
}

void mq_repair_fields(struct mq_buffer *out, struct mq_str head, struct mq_str charset)
{
    struct mq_message_fields fields = {.rest = head, .end = '\n'};
    struct mq_str before = head;
    while (mq_message_fields_next(&fields)) {
        struct mq_str field = {before.data, before.len - fields.rest.len};
        if (fields.name.len == 0 || mq_str_ascii(field)) {
            mq_buffer_str(out, field);
        } else {
            bool utf8 = mq_utf8_valid(field);
            struct field one = {field, fields.name, utf8 ? MQ_STR("utf-8") : charset, utf8};
            repair(out, &one);
        }
        before = fields.rest;
    }
}
