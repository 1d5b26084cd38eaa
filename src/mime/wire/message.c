/* Reads complete messages and brings them to wire form: CRLF, no Bcc, a Message-ID and a Date. */
#include "mime/wire/message.h"

#include <string.h>

#include "core/ascii.h"
#include "mime/encode.h"
#include "mime/wire/signed.h"

#define LINE_OCTETS_MAX 998 /* RFC 5322, 2.1.1 */
#define ID_OCTETS_MAX   980 /* of a Message-ID whose field has to be written again */

/* One normalising in progress. */
struct work {
    struct mq_str raw;
    bool ascii, has_nul; /* all of raw is; it has one somewhere */
    char end;            /* what ends its lines: LF, or CR where it has no LF */
    size_t at;           /* in raw */
    size_t line;         /* number of the one being read */
    const struct mq_message_options *options;
    struct mq_buffer *out;
    struct mq_error *err;
    size_t field_at;                      /* where the current field begins in out */
    size_t field_line;                    /* number of its first line */
    enum mq_field_kind kind;              /* its kind */
    bool in_field, field_raw, field_long; /* has bytes over 127; a line over 998 */
    bool has_crlf, has_lf, has_cr; /* line ends met; has_lf: or CR throughout, has_cr: a lone one */
    unsigned changes;              /* kinds of fields that were added or taken out */
    unsigned covered;              /* kinds of fields that signatures cover */
    bool has_date, has_signature;
    size_t id_at, id_len; /* value of Message-ID in out; len 0: none */
    bool raw_headers, body_8bit, long_lines;
    size_t bad_line; /* number of the first that a signed message must not have; 0: none */
    const char *bad; /* what is wrong with it */
};

static enum mq_status bad_line(const struct work *work, const char *what)
{
    return mq_error_set(work->err, MQ_MESSAGE, "message", "message: line %zu: %s", work->line,
                        what);
}

/* Notes what repair.h can take care of, if nothing forbids it. */
static void note(struct work *work, const char *what)
{
    if (work->bad_line == 0) {
        work->bad_line = work->line;
        work->bad = what;
    }
}

/* Checks and appends one line of the result. */
static enum mq_status put_line(struct work *work, struct mq_str line)
{
    if (line.len > LINE_OCTETS_MAX) {
        work->long_lines = work->field_long = true;
        note(work, "it has more than 998 octets, and a DKIM-Signature forbids to change it; break "
                   "it or encode it (quoted-printable or base64) before signing");
    }
    if (work->has_nul && line.len > 0 && memchr(line.data, '\0', line.len) != NULL) {
        return bad_line(work, "it has a NUL; encode the part as base64");
    }
    /* Most lines have it behind them already. */
    if ((size_t)(work->raw.data + work->raw.len - line.data) >= line.len + 2 &&
        memcmp(line.data + line.len, "\r\n", 2) == 0) {
        line.len += 2;
        mq_buffer_str(work->out, line);
        return MQ_OK;
    }
    mq_buffer_str(work->out, line);
    mq_buffer_append(work->out, "\r\n", 2);
    return MQ_OK;
}

/* What ends the lines of a message: a CR only where it is used throughout, as by some old systems.
 */
static char line_end(struct mq_str raw)
{
    bool lf = raw.len > 0 && memchr(raw.data, '\n', raw.len) != NULL;
    return !lf && raw.len > 0 && memchr(raw.data, '\r', raw.len) != NULL ? '\r' : '\n';
}

/* Takes the next line off *rest, with its line end if it has one. */
static struct mq_str cut_line(struct mq_str *rest, char end)
{
    const char *found = rest->len > 0 ? memchr(rest->data, end, rest->len) : NULL;
    struct mq_str line = {rest->data, found ? (size_t)(found - rest->data) + 1 : rest->len};
    rest->data += line.len;
    rest->len -= line.len;
    return line;
}

/* The next line without its line end; *ended: it had one. */
static struct mq_str take_line(struct work *work, bool *ended)
{
    struct mq_str rest = {work->raw.data + work->at, work->raw.len - work->at};
    struct mq_str line = cut_line(&rest, work->end);
    work->at += line.len;
    work->line++;
    *ended = line.len > 0 && line.data[line.len - 1] == work->end;
    if (!*ended) {
        return line;
    }
    line.len--;
    if (line.len > 0 && line.data[line.len - 1] == '\r') {
        line.len--;
        work->has_crlf = true;
    } else {
        work->has_lf = true;
    }
    return line;
}

/* ---- headers ---- */

/* Length of the field name that a line begins with (RFC 5322, 3.6.8); 0 when it begins with none.
 */
static size_t name_length(struct mq_str line)
{
    size_t n = 0;
    while (n < line.len && line.data[n] > 32 && line.data[n] < 127 && line.data[n] != ':') {
        n++;
    }
    return n < line.len && line.data[n] == ':' ? n : 0;
}

/* Value of the field that begins at `at` and ends at the end of out. */
static struct mq_str field_value(const struct work *work, size_t at)
{
    struct mq_str field = {work->out->data + at, work->out->len - at};
    size_t colon = name_length(field) + 1;
    return mq_str_trim((struct mq_str){field.data + colon, field.len - colon});
}

/* The id without the comments that may follow it (RFC 5322, 3.6.4). */
static struct mq_str id_of(struct mq_str value)
{
    const char *end = value.data[0] == '<' ? memchr(value.data, '>', value.len) : NULL;
    return (struct mq_str){value.data, end ? (size_t)(end - value.data) + 1 : value.len};
}

static enum mq_status take_id(struct work *work, struct mq_str id)
{
    size_t size = id.len; /* escaped */
    for (size_t i = 0; i < id.len; i++) {
        unsigned char c = (unsigned char)id.data[i];
        size += c >= 0x80 ? 2 : 0;
        if (c < 0x20 || c == 0x7f) {
            work->line = work->field_line;
            return bad_line(work, "the Message-ID is broken over lines or has a control character; "
                                  "write \"Message-ID: <unique@example.org>\", or leave it out");
        }
    }
    if (size > ID_OCTETS_MAX && (work->field_long || work->field_raw)) {
        work->line = work->field_line;
        return bad_line(work, "the Message-ID fits in no line; write \"Message-ID: "
                              "<unique@example.org>\", or leave it out");
    }
    work->id_at = (size_t)(id.data - work->out->data);
    work->id_len = id.len;
    return MQ_OK;
}

/* The current field is complete in out: keeps it or takes it out again. */
static enum mq_status end_field(struct work *work)
{
    if (!work->in_field || work->out->failed) {
        return MQ_OK;
    }
    enum mq_status status = MQ_OK;
    work->in_field = false;
    struct mq_str value = field_value(work, work->field_at);
    bool keep = true;
    switch (work->kind) {
    case MQ_FIELD_ORDINARY:
        break;
    case MQ_FIELD_SIGNATURE:
        work->has_signature = true;
        work->covered |= mq_signed_kinds(value);
        break;
    case MQ_FIELD_BLIND:
        keep = false;
        break;
    case MQ_FIELD_MESSAGE_ID:
        keep = value.len > 0 && work->id_len == 0;
        status = keep ? take_id(work, id_of(value)) : MQ_OK;
        break;
    case MQ_FIELD_DATE:
        keep = value.len > 0 && !work->has_date;
        work->has_date = work->has_date || keep;
        break;
    }
    if (keep) {
        work->raw_headers = work->raw_headers || work->field_raw;
    } else {
        work->out->len = work->field_at;
        work->changes |= 1u << work->kind;
    }
    return status;
}

static enum mq_status take_header_line(struct work *work, struct mq_str line)
{
    const char *cr = line.len > 0 ? memchr(line.data, '\r', line.len) : NULL;
    if (cr != NULL) {
        return bad_line(work, "a CR in the headers is not followed by LF; end lines with CRLF");
    }
    bool raw = !work->ascii && !mq_str_ascii(line);
    if (raw && !mq_utf8_valid(line)) {
        note(work, "a header has bytes that are not UTF-8, and a DKIM-Signature forbids to change "
                   "it; encode it (RFC 2047) before signing");
    }
    if (mq_is_blank(line.data[0])) {
        if (!work->in_field) {
            return bad_line(work, "the message begins with a space; it must begin with a header");
        }
        work->field_raw = work->field_raw || raw;
        return put_line(work, line);
    }
    size_t name = name_length(line);
    if (name == 0) {
        return bad_line(work, work->in_field
                                  ? "no header and no continuation; write \"Name: value\", and an "
                                    "empty line before the text"
                                  : "the message does not begin with a header \"Name: value\"");
    }
    enum mq_status status = end_field(work);
    if (status != MQ_OK) {
        return status;
    }
    if (name >= LINE_OCTETS_MAX) {
        return bad_line(work, "the name of the header has more than 997 octets; shorten it");
    }
    work->in_field = true;
    work->field_raw = raw;
    work->field_long = false;
    work->field_at = work->out->len;
    work->field_line = work->line;
    work->kind = mq_field_kind_of((struct mq_str){line.data, name});
    return put_line(work, line);
}

/* Fields that every message has; the same for every attempt, since they come from the row. */
static void add_missing(struct work *work)
{
    if (!work->has_date) {
        mq_buffer_cstr(work->out, "Date: ");
        mq_encode_date(work->out, work->options->date_s);
        mq_buffer_cstr(work->out, "\r\n");
        work->changes |= 1u << MQ_FIELD_DATE;
    }
    if (work->id_len == 0) {
        mq_buffer_cstr(work->out, "Message-ID: ");
        work->id_at = work->out->len;
        mq_buffer_cstr(work->out, work->options->message_id);
        work->id_len = work->out->len - work->id_at;
        mq_buffer_cstr(work->out, "\r\n");
        work->changes |= 1u << MQ_FIELD_MESSAGE_ID;
    }
}

static enum mq_status take_headers(struct work *work)
{
    bool ended;
    while (work->at < work->raw.len) {
        struct mq_str line = take_line(work, &ended);
        if (line.len == 0) {
            break;
        }
        enum mq_status status = take_header_line(work, line);
        if (status != MQ_OK) {
            return status;
        }
    }
    if (!work->in_field) {
        work->line = 1;
        return bad_line(work,
                        "the message has no headers; it must begin with \"Name: value\" lines");
    }
    enum mq_status status = end_field(work);
    if (status != MQ_OK) {
        return status;
    }
    add_missing(work);
    mq_buffer_append(work->out, "\r\n", 2);
    return MQ_OK;
}

/* ---- body ---- */

static enum mq_status take_body(struct work *work)
{
    while (work->at < work->raw.len) {
        bool ended;
        struct mq_str line = take_line(work, &ended);
        work->body_8bit = work->body_8bit || (!work->ascii && !mq_str_ascii(line));
        /* A lone CR ends a line too: some receivers take it for one, and then a dot behind it for
         * the end of the message. */
        const char *cr = line.len > 0 ? memchr(line.data, '\r', line.len) : NULL;
        while (cr != NULL) {
            struct mq_str head = {line.data, (size_t)(cr - line.data)};
            enum mq_status status = put_line(work, head);
            if (status != MQ_OK) {
                return status;
            }
            work->has_cr = true;
            work->line++;
            line.data = cr + 1;
            line.len -= head.len + 1;
            cr = line.len > 0 ? memchr(line.data, '\r', line.len) : NULL;
        }
        if (!ended && line.len == 0) {
            break; /* the text ended with a lone CR */
        }
        enum mq_status status = put_line(work, line);
        if (status != MQ_OK) {
            return status;
        }
    }
    return MQ_OK;
}

enum mq_status mq_message_check_size(size_t size, size_t max, struct mq_error *err)
{
    if (max > 0 && size > max) {
        return mq_error_set(err, MQ_MESSAGE, "message",
                            "message: it has %zu bytes, allowed are %zu; make it smaller or raise "
                            "the limit",
                            size, max);
    }
    return MQ_OK;
}

static enum mq_status check_result(struct work *work)
{
    if (work->out->failed) {
        return mq_error_nomem(work->err);
    }
    bool mixed = work->has_cr || (work->has_crlf && work->has_lf);
    if (work->has_signature && ((work->changes & work->covered) != 0 || mixed)) {
        return mq_error_set(work->err, MQ_MESSAGE, "message",
                            "message: it has a DKIM-Signature that would break: %s",
                            mixed ? "its line ends are mixed; sign it with CRLF throughout"
                                  : "it needs a Message-ID and a Date, each once, and no Bcc, as "
                                    "far as its h= covers them; correct that before signing");
    }
    if (work->has_signature && work->bad_line > 0) {
        work->line = work->bad_line;
        return bad_line(work, work->bad);
    }
    if (work->has_cr && mq_signed_parts(mq_buffer_view(work->out))) {
        return mq_error_set(work->err, MQ_MESSAGE, "message",
                            "message: a CR alone, which SMTP does not carry, and a part that is "
                            "signed (S/MIME, PGP); sign it with CRLF throughout");
    }
    return mq_message_check_size(work->out->len, work->options->max_size, work->err);
}

static unsigned flags_of(const struct work *work)
{
    unsigned flags = 0;
    flags |= work->body_8bit ? MQ_MESSAGE_8BIT : 0;
    flags |= work->raw_headers ? MQ_MESSAGE_UTF8_HEADERS : 0;
    if (!work->has_signature) {
        flags |= work->long_lines ? MQ_MESSAGE_LONG_LINES : 0;
        flags |= work->raw_headers ? MQ_MESSAGE_RAW_HEADERS : 0;
    }
    return flags;
}

enum mq_status mq_message_normalize(struct mq_str raw, const struct mq_message_options *options,
                                    struct mq_buffer *out, struct mq_message_info *info,
                                    struct mq_error *err)
{
    struct work work = {.raw = raw,
                        .ascii = mq_str_ascii(raw),
                        .has_nul = raw.len > 0 && memchr(raw.data, '\0', raw.len) != NULL,
                        .end = line_end(raw),
                        .options = options,
                        .out = out,
                        .err = err};
    mq_buffer_reserve(out, raw.len + raw.len / 32 + 128);
    enum mq_status status = take_headers(&work);
    if (status == MQ_OK) {
        status = take_body(&work);
    }
    if (status == MQ_OK) {
        status = check_result(&work);
    }
    if (status != MQ_OK) {
        mq_buffer_reset(out);
        return status;
    }
    out->data[out->len] = '\0';
    info->flags = flags_of(&work);
    info->message_id = (struct mq_str){out->data + work.id_at, work.id_len};
    return MQ_OK;
}

/* ---- reading ---- */

void mq_message_fields_init(struct mq_message_fields *fields, struct mq_str message)
{
    *fields = (struct mq_message_fields){.rest = message, .end = line_end(message)};
}

/* Whether the next line is a field or the continuation of one. */
static bool has_line(struct mq_str rest, char end)
{
    return rest.len > 0 && rest.data[0] != end &&
           !(rest.data[0] == '\r' && (rest.len == 1 || rest.data[1] == '\n'));
}

bool mq_message_fields_next(struct mq_message_fields *fields)
{
    struct mq_str *rest = &fields->rest;
    fields->line += 1 + fields->folds;
    fields->folds = 0;
    if (!has_line(*rest, fields->end)) {
        return false;
    }
    struct mq_str all = cut_line(rest, fields->end);
    size_t name = name_length(all);
    while (rest->len > 0 && mq_is_blank(rest->data[0])) {
        all.len += cut_line(rest, fields->end).len;
        fields->folds++;
    }
    fields->name = (struct mq_str){all.data, name};
    size_t colon = name > 0 ? name + 1 : 0;
    fields->value = mq_str_trim((struct mq_str){all.data + colon, all.len - colon});
    return true;
}

struct mq_str mq_message_head(struct mq_str message, struct mq_str *body)
{
    struct mq_message_fields fields = {.rest = message, .end = '\n'};
    while (mq_message_fields_next(&fields)) {
    }
    *body = fields.rest;
    cut_line(body, '\n');
    return (struct mq_str){message.data, message.len - fields.rest.len};
}

unsigned mq_message_flags(struct mq_str message)
{
    struct mq_str body;
    if (mq_str_ascii(message)) {
        return 0;
    }
    struct mq_str head = mq_message_head(message, &body);
    return (mq_str_ascii(body) ? 0u : MQ_MESSAGE_8BIT) |
           (mq_str_ascii(head) ? 0u : MQ_MESSAGE_UTF8_HEADERS);
}

bool mq_message_header(struct mq_str message, const char *name, struct mq_str *value)
{
    struct mq_message_fields fields = {.rest = message, .end = '\n'};
    struct mq_str wanted = mq_str_of(name);
    while (mq_message_fields_next(&fields)) {
        if (mq_str_equal_nocase(fields.name, wanted)) {
            *value = fields.value;
            return true;
        }
    }
    return false;
}

struct mq_str mq_message_id(struct mq_str message)
{
    struct mq_str value = {NULL, 0};
    if (!mq_message_header(message, "Message-ID", &value) || value.len == 0) {
        return (struct mq_str){NULL, 0};
    }
    return id_of(value);
}
