/* Writes parameters of Content-Type and Content-Disposition, long and non-ASCII ones by RFC 2231.
 */
#include "mime/param.h"

#include <stdio.h>
#include <string.h>

#include "core/ascii.h"
#include "core/hex.h"
#include "mime/header.h"

#define PARAMS_MAX    900 /* octets of a type with its parameters: they fit in a line of 998 */
#define TYPE_PART_MAX 127 /* RFC 6838, 4.2 */
#define SECTION_MIN   12  /* octets of one UTF-8 character, percent-encoded */

/* ---- media types ---- */

/* RFC 2045, 5.1: no tspecials, no controls. */
static bool is_token_char(char c)
{
    return c > 32 && c < 127 && strchr("()<>@,;:\\\"/[]?=", c) == NULL;
}

/* Takes a token off the text. Returns an empty one if the text does not begin with a token. */
static struct mq_str take_token(struct mq_str *text)
{
    struct mq_str token = {text->data, 0};
    while (token.len < text->len && is_token_char(text->data[token.len])) {
        token.len++;
    }
    *text = mq_str_skip(*text, token.len);
    return token;
}

/* Takes a quoted string off the text. Returns an empty one if none begins or it does not end. */
static struct mq_str take_quoted(struct mq_str *text)
{
    bool quoted = text->len > 0 && text->data[0] == '"';
    return mq_str_cut(text, quoted ? mq_enclosed_length(*text) : 0);
}

/* Takes `; name=value`, whose parts may have spaces around them. The value keeps its quotes. */
static bool take_param(struct mq_str *text, struct mq_str *name, struct mq_str *value)
{
    *text = mq_str_trim(mq_str_skip(*text, 1));
    *name = take_token(text);
    *text = mq_str_trim(*text);
    if (name->len == 0 || text->len == 0 || text->data[0] != '=') {
        return false;
    }
    *text = mq_str_trim(mq_str_skip(*text, 1));
    *value = take_token(text);
    if (value->len == 0) {
        *value = take_quoted(text);
    }
    *text = mq_str_trim(*text);
    return value->len > 0;
}

/* Whether a parameter is "name", also as name*, name*0 or name*0* (RFC 2231). */
static bool is_name(struct mq_str attribute)
{
    const char *star = memchr(attribute.data, '*', attribute.len);
    attribute.len = star != NULL ? (size_t)(star - attribute.data) : attribute.len;
    return mq_str_equal_nocase(attribute, MQ_STR("name"));
}

const char *mq_media_type_parse(struct mq_str text, struct mq_media_type *out)
{
    static const char form[] = "is not of the form type/subtype; give it like image/png, or like "
                               "text/csv; charset=utf-8";
    struct mq_media_type found = {.has_name = false};
    struct mq_str rest = mq_str_trim(text);
    if (rest.len > PARAMS_MAX) {
        return "has more than 900 octets; shorten it";
    }
    for (size_t i = 0; i < text.len; i++) {
        if (text.data[i] < ' ' || text.data[i] > '~') {
            return "is not a type; types are printable ASCII";
        }
    }
    found.type = take_token(&rest);
    if (rest.len == 0 || rest.data[0] != '/') {
        return form;
    }
    rest = mq_str_skip(rest, 1);
    found.subtype = take_token(&rest);
    rest = mq_str_trim(rest);
    if (found.type.len == 0 || found.subtype.len == 0 || found.type.len > TYPE_PART_MAX ||
        found.subtype.len > TYPE_PART_MAX) {
        return form;
    }
    found.params = rest;
    while (rest.len > 0) {
        struct mq_str name;
        struct mq_str value;
        if (rest.data[0] != ';' || !take_param(&rest, &name, &value)) {
            return form;
        }
        found.has_name = found.has_name || is_name(name);
    }
    *out = found;
    return NULL;
}

/* ---- writing ---- */

/* Writes ";", and a space or a fold before a parameter of `len` octets. */
static void begin(struct mq_buffer *out, size_t *column, size_t len)
{
    mq_buffer_char(out, ';');
    ++*column;
    mq_encode_break(out, column, len);
}

static void put(struct mq_buffer *out, size_t *column, struct mq_str text)
{
    mq_buffer_str(out, text);
    *column += text.len;
}

void mq_media_type_write(struct mq_buffer *out, size_t *column, const struct mq_media_type *type)
{
    struct mq_str rest = type->params;
    mq_encode_break(out, column, type->type.len + 1 + type->subtype.len);
    put(out, column, type->type);
    put(out, column, MQ_STR("/"));
    put(out, column, type->subtype);
    while (rest.len > 0) {
        struct mq_str name;
        struct mq_str value;
        if (!take_param(&rest, &name, &value)) {
            return;
        }
        begin(out, column, name.len + 1 + value.len + 1);
        put(out, column, name);
        put(out, column, MQ_STR("="));
        put(out, column, value);
    }
}

/* Whether an extended value has a character unencoded: attribute-char of RFC 2231, 7. */
static bool is_literal(char c)
{
    return is_token_char(c) && c != '*' && c != '\'' && c != '%';
}

/* Writes one section of an extended value: whole characters, percent-encoded, in at most `room`
 * octets. Returns how many bytes of the value it took. */
static size_t put_section(struct mq_buffer *out, size_t *column, struct mq_str value, size_t room)
{
    size_t taken = 0;
    while (taken < value.len) {
        char coded[SECTION_MIN];
        size_t n = 0;
        size_t step = mq_utf8_next(mq_str_skip(value, taken), NULL);
        step = step ? step : 1;
        for (size_t i = taken; i < taken + step; i++) {
            unsigned char c = (unsigned char)value.data[i];
            if (is_literal((char)c)) {
                coded[n++] = (char)c;
            } else {
                coded[n++] = '%';
                mq_hex_put(coded + n, c);
                n += 2;
            }
        }
        if (n > room) {
            break;
        }
        put(out, column, (struct mq_str){coded, n});
        room -= n;
        taken += step;
    }
    return taken;
}

static size_t extended_length(struct mq_str value)
{
    size_t n = 0;
    for (size_t i = 0; i < value.len; i++) {
        n += is_literal(value.data[i]) ? 1 : 3;
    }
    return n;
}

void mq_param_extended(struct mq_buffer *out, size_t *column, struct mq_str charset,
                       struct mq_str name, struct mq_str value)
{
    char begins[128];
    size_t coded = extended_length(value);
    size_t n = name.len + strlen("*=''") + charset.len;
    bool whole = n + coded + 2 <= MQ_LINE_MAX_WORD;
    for (int section = 0; section == 0 || value.len > 0; section++) {
        char number[16] = "";
        if (!whole) {
            snprintf(number, sizeof number, "%d*", section);
        }
        n = (size_t)snprintf(begins, sizeof begins, "%.*s*%s=%.*s%s", (int)name.len, name.data,
                             number, section == 0 ? (int)charset.len : 0, charset.data,
                             section == 0 ? "''" : "");
        begin(out, column, whole ? n + coded + 1 : MQ_LINE_MAX_WORD - 1);
        put(out, column, (struct mq_str){begins, n});
        size_t used = *column + 1;
        size_t room = used + SECTION_MIN < MQ_LINE_MAX_WORD ? MQ_LINE_MAX_WORD - used : SECTION_MIN;
        value = mq_str_skip(value, put_section(out, column, value, room));
    }
}

/* Writes name="…" if the value is plain and the parameter with its escapes and a ';' fits in a
 * line. Else writes nothing and returns false. */
static bool put_plain(struct mq_buffer *out, size_t *column, const char *name, struct mq_str value)
{
    size_t length = strlen(name) + 1 + mq_quoted_size(value) + 1;
    if (value.len == 0 || length >= MQ_LINE_MAX_WORD || !mq_header_plain(value)) {
        return false;
    }
    begin(out, column, length);
    mq_buffer_printf(out, "%s=", name);
    mq_encode_quoted(out, value);
    *column += length - 1;
    return true;
}

void mq_param_filename(struct mq_buffer *out, size_t *column, const char *name, struct mq_str value)
{
    if (!put_plain(out, column, name, value)) {
        mq_param_extended(out, column, MQ_STR(MQ_HEADER_UTF8), mq_str_of(name), value);
    }
}

/* ---- for readers without RFC 2231 ---- */

/* Writes a value in ASCII. One "_" replaces a run of characters that are not ASCII, or that would
 * end quotes or encoded words. */
static void put_ascii(struct mq_buffer *out, struct mq_str value)
{
    bool gap = false;
    for (size_t i = 0; i < value.len; i++) {
        char c = value.data[i];
        bool kept = c >= ' ' && c < 127 && strchr("\"\\?", c) == NULL;
        if (kept || !gap) {
            mq_buffer_char(out, kept ? c : '_');
        }
        gap = !kept;
    }
}

void mq_param_fallback(struct mq_buffer *out, size_t *column, const char *name, struct mq_str value)
{
    struct mq_buffer ascii = {0};
    if (put_plain(out, column, name, value)) {
        return;
    }
    put_ascii(&ascii, value);
    size_t room = MQ_LINE_MAX_WORD - 1 - strlen(name) - strlen("=\"\";");
    size_t cut = ascii.len > room ? ascii.len - room : 0; /* programs look at a name's extension */
    begin(out, column, MQ_LINE_MAX_WORD - 1);             /* on a new line */
    size_t before = out->len;
    mq_buffer_printf(out, "%s=", name);
    mq_encode_quoted(out, mq_str_skip(mq_buffer_view(&ascii), cut));
    *column += out->len - before;
    out->failed = out->failed || ascii.failed;
    mq_buffer_clear(&ascii);
}
