/* Brings complete messages to wire form: CRLF, no Bcc, a Message-ID and a Date, no repeated To. */
#include "mime/wire/message.h"

#include <string.h>

#include "core/ascii.h"
#include "mime/encode.h"
#include "mime/wire/internal.h"

#define ID_OCTETS_MAX 980 /* octets of a Message-ID, if repair.h will rewrite its field */

/* Kinds of header fields, by what is done with them. */
enum kind { ORDINARY, BLIND, MESSAGE_ID, DATE, SIGNATURE, SUBJECT, TO, CC, REPLY_TO };

#define BIT(kind) (1u << (kind))
#define ALL_KINDS (~0u)
#define JOINED    (BIT(SUBJECT) | BIT(TO) | BIT(CC) | BIT(REPLY_TO)) /* see join_repeated() */

/* The state of one call of mq_message_normalize(). */
struct work {
    struct mq_str rest; /* the unread rest of the message */
    bool ascii;         /* the whole message is ASCII */
    char end;           /* last byte of every line: LF, or CR */
    size_t line;        /* number of the current line */
    struct mq_buffer *out;
    struct mq_error *err;
    bool has_crlf, has_lf, has_cr; /* line ends seen; CR counts as LF if all lines end so */
    unsigned found;                /* kinds of fields that were kept */
    unsigned repeated;             /* those of JOINED that were found more than once */
    unsigned changes;              /* kinds of fields that were added or taken out */
    unsigned covered;              /* kinds of fields that signatures cover */
    bool raw_headers, body_8bit, long_lines;
    size_t bad_line; /* first line that is an error if the message is signed; 0: none */
    const char *bad; /* what is wrong with it */
};

static enum mq_status bad_line(const struct work *work, size_t line, const char *what)
{
    return mq_error_set(work->err, MQ_MESSAGE, "message", "message: line %zu: %s", line, what);
}

/* Remembers the first line that repair.h must change, which is an error in a signed message. */
static void note(struct work *work, const char *what)
{
    if (work->bad_line == 0) {
        work->bad_line = work->line;
        work->bad = what;
    }
}

static enum mq_status check_nul(const struct work *work)
{
    size_t before = mq_str_find(work->rest, '\0');
    size_t line = 1;
    if (before == work->rest.len) {
        return MQ_OK;
    }
    for (const char *p = work->rest.data; p < work->rest.data + before; p++) {
        line += p[0] == '\n' || (p[0] == '\r' && p[1] != '\n');
    }
    return bad_line(work, line, "it has a NUL; encode the part as base64");
}

/* Appends one line of the result. */
static void put_line(struct work *work, struct mq_str line)
{
    if (line.len > MQ_LINE_MAX) {
        work->long_lines = true;
        note(work, "it has more than 998 octets, and its DKIM-Signature forbids changing it; break "
                   "it or encode it (quoted-printable or base64) before signing");
    }
    /* Most lines already have CRLF after them in the input: copy it with the line. */
    size_t behind = (size_t)(work->rest.data - line.data) - line.len;
    if (behind == 2 && memcmp(line.data + line.len, "\r\n", 2) == 0) {
        line.len += 2;
        mq_buffer_str(work->out, line);
    } else {
        mq_buffer_str(work->out, line);
        mq_buffer_append(work->out, "\r\n", 2);
    }
}

/* Takes the next line, without its line end. *ended: it had one. */
static struct mq_str take_line(struct work *work, bool *ended)
{
    size_t len = work->rest.len;
    struct mq_str line = mq_str_cut_at(&work->rest, work->end);
    work->line++;
    *ended = line.len < len - work->rest.len;
    if (*ended && line.len > 0 && line.data[line.len - 1] == '\r') {
        line.len--;
        work->has_crlf = true;
    } else if (*ended) {
        work->has_lf = true;
    }
    return line;
}

/* ---- headers ---- */

static enum kind kind_of(struct mq_str name)
{
    static const char special[] =
        "Bcc Resent-Bcc Message-ID Date DKIM-Signature Subject To Cc Reply-To";
    static const enum kind kinds[] = {BLIND,   BLIND, MESSAGE_ID, DATE,    SIGNATURE,
                                      SUBJECT, TO,    CC,         REPLY_TO};
    int word = mq_str_word(name, special, mq_str_equal_nocase);
    return word < 0 ? ORDINARY : kinds[word];
}

/* Returns the kinds of the fields that a DKIM-Signature names in its h= (RFC 6376, 3.5), whether
 * the message has them or not; all kinds if there is no h=. */
static unsigned covered_kinds(struct mq_str value)
{
    unsigned kinds = 0;
    while (value.len > 0) {
        struct mq_str tag = mq_str_trim(mq_str_cut_at(&value, ';'));
        struct mq_str name = mq_str_trim(mq_str_cut_at(&tag, '='));
        while (tag.len > 0 && mq_str_equal_nocase(name, MQ_STR("h"))) {
            kinds |= BIT(kind_of(mq_str_trim(mq_str_cut_at(&tag, ':'))));
        }
    }
    return kinds != 0 ? kinds : ALL_KINDS;
}

/* Takes the next header line, or the empty line that ends the header section. */
static enum mq_status take_header_line(struct work *work, struct mq_str *line)
{
    bool ended;
    *line = take_line(work, &ended);
    return mq_str_find(*line, '\r') == line->len
               ? MQ_OK
               : bad_line(work, work->line,
                          "a CR in the headers is not followed by LF; end lines with CRLF");
}

static const char *fault_of_name(const struct work *work, struct mq_str name, struct mq_str line)
{
    if (name.len == 0) {
        return mq_is_blank(line.data[0])
                   ? "the message begins with a space; it must begin with a header"
               : work->line > 1 ? "no header and no continuation; write \"Name: value\", and an "
                                  "empty line before the text"
                                : "the message does not begin with a header \"Name: value\"";
    }
    return name.len < MQ_LINE_MAX ? NULL
                                  : "the name of the header has more than 997 octets; shorten it";
}

/* Returns the fault of a Message-ID, or NULL. `rewritten`: repair.h will write the field again. */
static const char *fault_of_id(struct mq_str id, bool rewritten)
{
    size_t size = id.len; /* with each byte over 127 as "=XX" */
    for (size_t i = 0; i < id.len; i++) {
        unsigned char c = (unsigned char)id.data[i];
        size += c >= 0x80 ? 2 : 0;
        if (c < 0x20 || c == 0x7f) {
            return "the Message-ID is broken over lines or has a control character; write "
                   "\"Message-ID: <unique@example.org>\", or leave it out";
        }
    }
    return rewritten && size > ID_OCTETS_MAX
               ? "the Message-ID fits in no line; write \"Message-ID: <unique@example.org>\", or "
                 "leave it out"
               : NULL;
}

/* Whether a field is kept: each except Bcc; of Message-ID and Date only the first that has a
 * value. */
static bool is_kept(const struct work *work, enum kind kind, struct mq_str value)
{
    bool once = kind == MESSAGE_ID || kind == DATE;
    return kind != BLIND && !(once && (value.len == 0 || (work->found & BIT(kind)) != 0));
}

/* Appends a field's lines. Sets *raw for bytes over 127, *is_long for a line over 998 octets. */
static enum mq_status put_field(struct work *work, const struct mq_message_fields *field, bool *raw,
                                bool *is_long)
{
    for (size_t i = 0; i <= field->folds; i++) {
        struct mq_str line;
        MQ_TRY(take_header_line(work, &line));
        const char *fault = i == 0 ? fault_of_name(work, field->name, line) : NULL;
        if (fault != NULL) {
            return bad_line(work, work->line, fault);
        }
        bool line_raw = !work->ascii && !mq_str_ascii(line);
        if (line_raw && !mq_utf8_valid(line)) {
            note(work, "a header has bytes that are not UTF-8, and its DKIM-Signature forbids "
                       "changing it; encode it (RFC 2047) before signing");
        }
        *raw = *raw || line_raw;
        *is_long = *is_long || line.len > MQ_LINE_MAX;
        put_line(work, line);
    }
    return MQ_OK;
}

static enum mq_status take_field(struct work *work, const struct mq_message_fields *field)
{
    size_t at = work->out->len;
    enum kind kind = kind_of(field->name);
    bool raw = false;
    bool is_long = false;
    MQ_TRY(put_field(work, field, &raw, &is_long));
    if (!is_kept(work, kind, field->value)) {
        work->out->len = work->out->failed ? work->out->len : at;
        work->changes |= BIT(kind);
        return MQ_OK;
    }
    if (kind == MESSAGE_ID) {
        struct mq_str text = {field->name.data, (size_t)(work->rest.data - field->name.data)};
        const char *fault = fault_of_id(mq_message_id(text), raw || is_long);
        if (fault != NULL) {
            return bad_line(work, field->line, fault);
        }
    }
    work->raw_headers = work->raw_headers || raw;
    work->repeated |= BIT(kind) & JOINED & work->found;
    work->found |= BIT(kind);
    work->covered |= kind == SIGNATURE ? covered_kinds(field->value) : 0;
    return MQ_OK;
}

/* What counts of a field of JOINED: addresses without commas behind the last one. */
static struct mq_str value_of(const struct mq_message_fields *field)
{
    struct mq_str value = field->value;
    bool is_list = kind_of(field->name) != SUBJECT;
    while (is_list && value.len > 0 && memchr(", \t\r\n", value.data[value.len - 1], 5)) {
        value.len--;
    }
    return value;
}

/* Appends a field, and the addresses of the later fields of its kind. */
static void put_joined(struct mq_buffer *out, struct mq_message_fields fields)
{
    enum kind kind = kind_of(fields.name);
    struct mq_str value = value_of(&fields);
    const char *end = value.data + value.len;
    mq_buffer_append(out, fields.name.data, (size_t)(end - fields.name.data));
    while (kind != SUBJECT && mq_message_fields_next(&fields)) {
        value = value_of(&fields);
        if (kind_of(fields.name) == kind && value.len > 0) {
            mq_buffer_cstr(out, ",\r\n ");
            mq_buffer_str(out, value);
        }
    }
    mq_buffer_append(out, "\r\n", 2);
}

/* A message may have each field of JOINED only once (RFC 5322, 3.6), and Gmail refuses others. Old
 * scripts pass mail() a second To, and some programs write one To for each recipient. Puts all
 * addresses into the first field that has a value, and keeps the first Subject that has one. */
static void join_repeated(struct work *work)
{
    struct mq_buffer joined = {.failed = work->out->failed};
    struct mq_message_fields fields = {.rest = mq_buffer_view(work->out), .end = '\n'};
    unsigned done = 0;
    mq_buffer_reserve(&joined, work->out->capacity);
    while (mq_message_fields_next(&fields)) {
        unsigned bit = BIT(kind_of(fields.name)) & work->repeated;
        if (bit == 0) {
            const char *begin = fields.name.data;
            mq_buffer_append(&joined, begin, (size_t)(fields.rest.data - begin));
        } else if ((done & bit) == 0 && value_of(&fields).len > 0) {
            put_joined(&joined, fields);
            done |= bit;
        }
    }
    mq_buffer_clear(work->out);
    *work->out = joined;
    work->raw_headers = !mq_str_ascii(mq_buffer_view(&joined));
    work->long_lines = mq_repair_has_long(mq_buffer_view(&joined));
}

/* Adds the fields that every message must have. Their values come from the job's row, so they are
 * the same at every attempt. */
static void add_missing(struct work *work, const struct mq_message_options *options)
{
    unsigned missing = (BIT(DATE) | BIT(MESSAGE_ID)) & ~work->found;
    if ((missing & BIT(DATE)) != 0) {
        mq_buffer_cstr(work->out, "Date: ");
        mq_encode_date(work->out, options->date_s);
        mq_buffer_cstr(work->out, "\r\n");
    }
    if ((missing & BIT(MESSAGE_ID)) != 0) {
        mq_buffer_printf(work->out, "Message-ID: %s\r\n", options->message_id);
    }
    work->changes |= missing;
}

static enum mq_status take_headers(struct work *work, const struct mq_message_options *options)
{
    struct mq_message_fields fields;
    struct mq_str empty;
    mq_message_fields_init(&fields, work->rest);
    work->end = fields.end;
    while (mq_message_fields_next(&fields)) {
        MQ_TRY(take_field(work, &fields));
    }
    if (work->line == 0) {
        return bad_line(work, 1,
                        "the message has no headers; it must begin with \"Name: value\" lines");
    }
    if (work->repeated != 0 && (work->found & BIT(SIGNATURE)) == 0) {
        join_repeated(work);
    }
    add_missing(work, options);
    mq_buffer_append(work->out, "\r\n", 2);
    return work->rest.len > 0 ? take_header_line(work, &empty) : MQ_OK;
}

/* ---- body ---- */

static void take_body(struct work *work)
{
    while (work->rest.len > 0) {
        bool ended;
        struct mq_str line = take_line(work, &ended);
        work->body_8bit = work->body_8bit || (!work->ascii && !mq_str_ascii(line));
        /* A lone CR becomes a line end too: some receivers treat it as one, and a dot after it
         * would then end the message. */
        for (size_t n; (n = mq_str_find(line, '\r')) < line.len;) {
            put_line(work, mq_str_cut(&line, n));
            line = mq_str_skip(line, 1);
            work->has_cr = true;
            work->line++;
        }
        if (ended || line.len > 0) {
            put_line(work, line);
        }
    }
}

/* Whether a message in wire form has a multipart/signed, at any depth. Such a part is not encoded,
 * so its line ends are signed too (RFC 1847, 2.1). */
static bool has_signed_part(struct mq_str wire)
{
    static const char field[] = "Content-Type:";
    while (wire.len > 0) {
        bool is_type = mq_str_begins_nocase(wire, field);
        struct mq_str value = mq_str_skip(wire, is_type ? sizeof field - 1 : 0);
        while (is_type && value.len > 0 && mq_is_space(*value.data)) {
            value = mq_str_skip(value, 1);
        }
        if (is_type && mq_str_begins_nocase(value, "multipart/signed")) {
            return true;
        }
        mq_str_cut_at(&wire, '\n');
    }
    return false;
}

enum mq_status mq_message_check_size(size_t size, size_t max, struct mq_error *err)
{
    if (max > 0 && size > max) {
        return mq_error_set(err, MQ_MESSAGE, "message",
                            "message: it has %zu bytes, at most %zu are allowed; make it smaller "
                            "or raise the limit",
                            size, max);
    }
    return MQ_OK;
}

static enum mq_status check_result(const struct work *work, size_t max_size)
{
    if (work->out->failed) {
        return mq_error_nomem(work->err);
    }
    bool is_signed = (work->found & BIT(SIGNATURE)) != 0;
    bool mixed = work->has_cr || (work->has_crlf && work->has_lf);
    if (is_signed && ((work->changes & work->covered) != 0 || mixed)) {
        return mq_error_set(work->err, MQ_MESSAGE, "message",
                            "message: it has a DKIM-Signature that would break: %s",
                            mixed ? "its line ends are mixed; sign it with CRLF throughout"
                                  : "it needs a Message-ID and a Date, each once, and no Bcc, as "
                                    "far as its h= covers them; correct that before signing");
    }
    if (is_signed && work->bad_line > 0) {
        return bad_line(work, work->bad_line, work->bad);
    }
    if (work->has_cr && has_signed_part(mq_buffer_view(work->out))) {
        return mq_error_set(work->err, MQ_MESSAGE, "message",
                            "message: a CR alone, which SMTP does not carry, and a part that is "
                            "signed (S/MIME, PGP); sign it with CRLF throughout");
    }
    return mq_message_check_size(work->out->len, max_size, work->err);
}

static unsigned flags_of(const struct work *work)
{
    unsigned flags = 0;
    flags |= work->body_8bit ? MQ_MESSAGE_8BIT : 0;
    flags |= work->raw_headers ? MQ_MESSAGE_UTF8_HEADERS : 0;
    if ((work->found & BIT(SIGNATURE)) == 0) {
        flags |= work->long_lines ? MQ_MESSAGE_LONG_LINES : 0;
        flags |= work->raw_headers ? MQ_MESSAGE_RAW_HEADERS : 0;
    }
    return flags;
}

enum mq_status mq_message_normalize(struct mq_str raw, const struct mq_message_options *options,
                                    struct mq_buffer *out, struct mq_message_info *info,
                                    struct mq_error *err)
{
    struct work work = {.rest = raw, .ascii = mq_str_ascii(raw), .out = out, .err = err};
    mq_buffer_reserve(out, raw.len + raw.len / 32 + 128);
    enum mq_status status = check_nul(&work);
    if (status == MQ_OK) {
        status = take_headers(&work, options);
    }
    if (status == MQ_OK) {
        take_body(&work);
        status = check_result(&work, options->max_size);
    }
    if (status != MQ_OK) {
        mq_buffer_reset(out);
        return status;
    }
    out->data[out->len] = '\0';
    info->flags = flags_of(&work);
    info->message_id = mq_message_id(mq_buffer_view(out));
    return MQ_OK;
}
