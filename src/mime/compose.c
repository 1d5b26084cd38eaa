#include "mime/compose.h"

#include <stdlib.h>
#include <string.h>

#include "mime/encode.h"

#define LINE_OCTETS_MAX 998 /* RFC 5322, 2.1.1 */

/* Everything that a message is made of, checked. */
struct parts {
    struct mq_mailbox from;
    struct mq_mailbox *to; /* `to_count` of them */
    size_t to_count;
    struct mq_buffer text; /* with CRLF line ends */
};

static void parts_clear(struct parts *parts)
{
    mq_mailbox_clear(&parts->from);
    for (size_t i = 0; i < parts->to_count; i++) {
        mq_mailbox_clear(&parts->to[i]);
    }
    free(parts->to);
    mq_buffer_clear(&parts->text);
}

/* ---- checks ---- */

static enum mq_status check_subject(struct mq_str subject, struct mq_error *err)
{
    for (size_t i = 0; i < subject.len;) {
        struct mq_str rest = {subject.data + i, subject.len - i};
        uint32_t code = 0;
        size_t step = mq_utf8_next(rest, &code);
        if (step == 0) {
            return mq_error_set(err, MQ_MESSAGE, "subject",
                                "subject: byte %zu is not valid UTF-8; convert the text", i + 1);
        }
        if (code < 0x20 || (code >= 0x7F && code < 0xA0) || code == 0x2028 || code == 0x2029) {
            return mq_error_set(err, MQ_MESSAGE, "subject",
                                "subject: control character U+%04X at byte %zu; remove it (a "
                                "subject is one line)",
                                (unsigned)code, i + 1);
        }
        i += step;
    }
    return MQ_OK;
}

static enum mq_status check_text(struct mq_str text, struct mq_error *err)
{
    const char *nul = text.len > 0 ? memchr(text.data, '\0', text.len) : NULL;
    if (nul != NULL) {
        return mq_error_set(err, MQ_MESSAGE, "text", "text: a NUL at byte %zu; remove it",
                            (size_t)(nul - text.data) + 1);
    }
    struct mq_str rest = text;
    while (rest.len > 0) {
        size_t step = mq_utf8_next(rest, NULL);
        if (step == 0) {
            return mq_error_set(err, MQ_MESSAGE, "text",
                                "text: byte %zu is not valid UTF-8; convert the text",
                                (size_t)(rest.data - text.data) + 1);
        }
        rest.data += step;
        rest.len -= step;
    }
    return MQ_OK;
}

/* The queue makes it itself, from the row; anything else would be header injection. */
static enum mq_status check_message_id(const char *message_id, struct mq_error *err)
{
    struct mq_str id = mq_str_of(message_id);
    bool good = id.len > 4 && id.len < 900 && id.data[0] == '<' && id.data[id.len - 1] == '>';
    for (size_t i = 0; good && i < id.len; i++) {
        good = id.data[i] > 32 && id.data[i] < 127;
    }
    if (!good) {
        return mq_error_set(err, MQ_MESSAGE, "message_id",
                            "message_id: it must be \"<unique@domain>\" in printable ASCII");
    }
    return MQ_OK;
}

/* CRLF, LF and CR alone all become CRLF, which ends the last line too. */
static void normalize_text(struct mq_buffer *out, struct mq_str text)
{
    mq_buffer_reserve(out, text.len + text.len / 32 + 2);
    while (text.len > 0) {
        size_t n = 0;
        while (n < text.len && text.data[n] != '\r' && text.data[n] != '\n') {
            n++;
        }
        mq_buffer_append(out, text.data, n);
        mq_buffer_append(out, "\r\n", 2);
        if (n < text.len) {
            n += n + 1 < text.len && text.data[n] == '\r' && text.data[n + 1] == '\n' ? 2 : 1;
        }
        text.data += n;
        text.len -= n;
    }
}

static enum mq_status parse_recipients(const struct mq_compose_fields *fields, struct parts *parts,
                                       struct mq_error *err)
{
    if (fields->to_count == 0) {
        return mq_error_set(err, MQ_MESSAGE, "to", "to: it is empty; give at least one address");
    }
    parts->to = calloc(fields->to_count, sizeof *parts->to);
    if (parts->to == NULL) {
        return mq_error_nomem(err);
    }
    for (size_t i = 0; i < fields->to_count; i++) {
        enum mq_status status = mq_mailbox_parse(fields->to[i], "to", &parts->to[i], err);
        if (status != MQ_OK) {
            return status;
        }
        parts->to_count++;
    }
    return MQ_OK;
}

static enum mq_status check(const struct mq_compose_fields *fields, struct parts *parts,
                            struct mq_error *err)
{
    enum mq_status status = mq_mailbox_parse(fields->from, "from", &parts->from, err);
    if (status == MQ_OK) {
        status = parse_recipients(fields, parts, err);
    }
    if (status == MQ_OK) {
        status = check_subject(fields->subject, err);
    }
    if (status == MQ_OK) {
        status = check_text(fields->text, err);
    }
    if (status == MQ_OK) {
        status = check_message_id(fields->message_id, err);
    }
    return status;
}

/* ---- headers ---- */

/* " Name <address>" or " address", and a comma when another follows. */
static void put_mailbox(struct mq_buffer *out, size_t *column, const struct mq_mailbox *mailbox,
                        bool last)
{
    struct mq_buffer token;
    mq_buffer_init(&token);
    if (mailbox->name != NULL) {
        mq_encode_phrase(out, column, mq_str_of(mailbox->name));
        mq_buffer_printf(&token, "<%s>", mailbox->address);
    } else {
        mq_buffer_cstr(&token, mailbox->address);
    }
    if (!last) {
        mq_buffer_char(&token, ',');
    }
    mq_encode_token(out, column, mq_buffer_view(&token));
    out->failed = out->failed || token.failed;
    mq_buffer_clear(&token);
}

static void put_mailboxes(struct mq_buffer *out, const char *name, const struct mq_mailbox *list,
                          size_t count)
{
    size_t column = strlen(name) + 1;
    mq_buffer_printf(out, "%s:", name);
    for (size_t i = 0; i < count; i++) {
        put_mailbox(out, &column, &list[i], i + 1 == count);
    }
    mq_buffer_cstr(out, "\r\n");
}

static void put_headers(struct mq_buffer *out, const struct mq_compose_fields *fields,
                        const struct parts *parts)
{
    mq_buffer_cstr(out, "Date: ");
    mq_encode_date(out, fields->date_s);
    mq_buffer_cstr(out, "\r\n");
    put_mailboxes(out, "From", &parts->from, 1);
    put_mailboxes(out, "To", parts->to, parts->to_count);
    mq_encode_header(out, "Subject", fields->subject);
    mq_buffer_printf(out, "Message-ID: %s\r\n", fields->message_id);
    mq_buffer_cstr(out, "MIME-Version: 1.0\r\n"
                        "Content-Type: text/plain; charset=utf-8\r\n");
}

/* ---- body ---- */

/* Whether one line may go as it is: what relays and mailboxes have been seen to change is encoded
 * (trailing white space, "From ", controls). */
static bool is_safe_line(struct mq_str line)
{
    if (line.len > LINE_OCTETS_MAX || (line.len >= 5 && memcmp(line.data, "From ", 5) == 0)) {
        return false;
    }
    for (size_t i = 0; i < line.len; i++) {
        unsigned char c = (unsigned char)line.data[i];
        if ((c < 32 && c != '\t') || c > 126) {
            return false;
        }
    }
    return line.len == 0 || (line.data[line.len - 1] != ' ' && line.data[line.len - 1] != '\t');
}

static bool is_safe(struct mq_str text)
{
    while (text.len > 0) {
        const char *lf = memchr(text.data, '\n', text.len);
        size_t len = (size_t)(lf - text.data) + 1; /* the text ends with CRLF */
        if (!is_safe_line((struct mq_str){text.data, len - 2})) {
            return false;
        }
        text.data += len;
        text.len -= len;
    }
    return true;
}

static void put_body(struct mq_buffer *out, struct mq_str text)
{
    if (is_safe(text)) {
        mq_buffer_cstr(out, "Content-Transfer-Encoding: 7bit\r\n\r\n");
        mq_buffer_str(out, text);
    } else if (mq_encode_quoted_printable_size(text) <= mq_encode_base64_size(text)) {
        mq_buffer_cstr(out, "Content-Transfer-Encoding: quoted-printable\r\n\r\n");
        mq_encode_quoted_printable(out, text);
    } else {
        mq_buffer_cstr(out, "Content-Transfer-Encoding: base64\r\n\r\n");
        mq_encode_base64(out, text);
    }
}

/* ---- envelope ---- */

/* Equal addresses differ at most in the case of the domain (RFC 5321, 2.4). */
static int compare_addresses(const char *a, const char *b)
{
    const char *at = strrchr(a, '@');
    size_t local = (size_t)(at - a) + 1;
    int order = strncmp(a, b, local);
    for (size_t i = local; order == 0; i++) {
        unsigned char x = (unsigned char)a[i];
        unsigned char y = (unsigned char)b[i];
        x = x >= 'A' && x <= 'Z' ? (unsigned char)(x | 0x20) : x;
        y = y >= 'A' && y <= 'Z' ? (unsigned char)(y | 0x20) : y;
        order = (int)x - (int)y;
        if (x == '\0' || y == '\0') {
            break;
        }
    }
    return order;
}

/* By address, then by place, so that of equal ones the first is met first. */
static int compare_mailboxes(const void *a, const void *b)
{
    const struct mq_mailbox *x = *(const struct mq_mailbox *const *)a;
    const struct mq_mailbox *y = *(const struct mq_mailbox *const *)b;
    int order = compare_addresses(x->address, y->address);
    return order != 0 ? order : (x > y) - (x < y);
}

/* Adds each address once, in the order of the list. */
static enum mq_status collect(const struct parts *parts, struct mq_strings *recipients,
                              struct mq_error *err)
{
    enum mq_status status = MQ_OK;
    const struct mq_mailbox **sorted = calloc(parts->to_count, sizeof *sorted);
    bool *again = calloc(parts->to_count, sizeof *again);
    if (sorted == NULL || again == NULL) {
        status = mq_error_nomem(err);
        goto out;
    }
    for (size_t i = 0; i < parts->to_count; i++) {
        sorted[i] = &parts->to[i];
    }
    qsort(sorted, parts->to_count, sizeof *sorted, compare_mailboxes);
    for (size_t i = 1; i < parts->to_count; i++) {
        again[sorted[i] - parts->to] =
            compare_addresses(sorted[i - 1]->address, sorted[i]->address) == 0;
    }
    for (size_t i = 0; i < parts->to_count; i++) {
        if (!again[i] && !mq_strings_add(recipients, mq_str_of(parts->to[i].address))) {
            status = mq_error_nomem(err);
            goto out;
        }
    }
out:
    free(sorted);
    free(again);
    return status;
}

enum mq_status mq_compose_text(const struct mq_compose_fields *fields, struct mq_buffer *out,
                               char **envelope_from, struct mq_strings *recipients,
                               struct mq_error *err)
{
    struct parts parts = {0};
    struct mq_strings addresses;
    mq_strings_init(&addresses);
    enum mq_status status = check(fields, &parts, err);
    if (status != MQ_OK) {
        goto out;
    }
    normalize_text(&parts.text, fields->text);
    put_headers(out, fields, &parts);
    put_body(out, mq_buffer_view(&parts.text));
    if (out->failed || parts.text.failed) {
        status = mq_error_nomem(err);
        goto out;
    }
    if (fields->max_size > 0 && out->len > fields->max_size) {
        status =
            mq_error_set(err, MQ_MESSAGE, "text",
                         "text: the message has %zu bytes, allowed are %zu; make it smaller or "
                         "raise the limit",
                         out->len, fields->max_size);
        goto out;
    }
    status = collect(&parts, &addresses, err);
    if (status != MQ_OK) {
        goto out;
    }
    *envelope_from = parts.from.address;
    parts.from.address = NULL;
    mq_strings_clear(recipients);
    *recipients = addresses;
    mq_strings_init(&addresses);
out:
    if (status != MQ_OK) {
        mq_buffer_reset(out);
    }
    mq_strings_clear(&addresses);
    parts_clear(&parts);
    return status;
}
