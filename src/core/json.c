/* Writes and reads JSON strings, arrays and objects of strings, as columns hold them. */
#include "core/json.h"

#include <string.h>

#include "core/ascii.h"

void mq_json_string(struct mq_buffer *out, struct mq_str s)
{
    mq_buffer_char(out, '"');
    while (s.len > 0) {
        uint32_t code = 0;
        size_t step = mq_utf8_next(s, &code);
        if (step == 0) {
            mq_buffer_cstr(out, "\xEF\xBF\xBD");
            step = 1;
        } else if (code == '"' || code == '\\') {
            mq_buffer_char(out, '\\');
            mq_buffer_char(out, (char)code);
        } else if (code == '\n') {
            mq_buffer_cstr(out, "\\n");
        } else if (mq_utf8_steers(code)) { /* JSON asks it for C0 only; logs are for people */
            mq_buffer_printf(out, "\\u%04x", (unsigned)code);
        } else {
            mq_buffer_append(out, s.data, step);
        }
        s.data += step;
        s.len -= step;
    }
    mq_buffer_char(out, '"');
}

void mq_json_strings(struct mq_buffer *out, const struct mq_strings *list)
{
    mq_buffer_char(out, '[');
    for (size_t i = 0; i < list->count; i++) {
        if (i > 0) {
            mq_buffer_char(out, ',');
        }
        mq_json_string(out, mq_str_of(list->items[i]));
    }
    mq_buffer_char(out, ']');
}

struct cursor {
    const char *at;
    const char *end;
    struct mq_error *err;
    const char *start;
};

static enum mq_status invalid(const struct cursor *in, const char *what)
{
    return mq_error_set(in->err, MQ_INVALID, "", "invalid JSON at byte %zu: %s",
                        (size_t)(in->at - in->start) + 1, what);
}

static void skip_space(struct cursor *in)
{
    while (in->at < in->end && strchr(" \t\r\n", *in->at) != NULL && *in->at != '\0') {
        in->at++;
    }
}

/* Takes c, after white space, if it is next. */
static bool accept(struct cursor *in, char c)
{
    skip_space(in);
    if (in->at < in->end && *in->at == c) {
        in->at++;
        return true;
    }
    return false;
}

static bool read_hex4(struct cursor *in, uint32_t *value)
{
    if (in->end - in->at < 4) {
        return false;
    }
    uint32_t v = 0;
    for (int i = 0; i < 4; i++) {
        int digit = mq_hex_value(in->at[i]);
        if (digit < 0) {
            return false;
        }
        v = v << 4 | (uint32_t)digit;
    }
    in->at += 4;
    *value = v;
    return true;
}

/* What follows "\u": one escape, or two that are a surrogate pair (RFC 8259, section 7). */
static enum mq_status read_unicode(struct cursor *in, struct mq_buffer *out)
{
    uint32_t code = 0;
    if (!read_hex4(in, &code)) {
        return invalid(in, "\\u needs four hex digits");
    }
    if (code >= 0xD800 && code <= 0xDFFF) {
        uint32_t low = 0;
        bool pair = code < 0xDC00 && in->end - in->at >= 6 && in->at[0] == '\\' && in->at[1] == 'u';
        if (pair) {
            in->at += 2;
            pair = read_hex4(in, &low) && low >= 0xDC00 && low <= 0xDFFF;
        }
        if (!pair) {
            return invalid(in, "half of a surrogate pair");
        }
        code = 0x10000 + ((code - 0xD800) << 10) + (low - 0xDC00);
    }
    if (code == 0) {
        return invalid(in, "a NUL in a string"); /* the lists hold C strings */
    }
    mq_buffer_utf8(out, code);
    return MQ_OK;
}

static enum mq_status read_escape(struct cursor *in, struct mq_buffer *out)
{
    static const char from[] = "\"\\/bfnrt";
    static const char to[] = "\"\\/\b\f\n\r\t";
    char c = in->at < in->end ? *in->at : '\0';
    if (c == 'u') {
        in->at++;
        return read_unicode(in, out);
    }
    const char *found = c != '\0' ? strchr(from, c) : NULL;
    if (found == NULL) {
        return invalid(in, "an unknown escape");
    }
    in->at++;
    mq_buffer_char(out, to[found - from]);
    return MQ_OK;
}

/* The rest of a string, behind its opening quote. */
static enum mq_status read_string(struct cursor *in, struct mq_buffer *out)
{
    while (in->at < in->end && *in->at != '"') {
        if (*in->at == '\\') {
            in->at++;
            enum mq_status status = read_escape(in, out);
            if (status != MQ_OK) {
                return status;
            }
            continue;
        }
        struct mq_str rest = {in->at, (size_t)(in->end - in->at)};
        size_t step = mq_utf8_next(rest, NULL);
        if (step == 0) {
            return invalid(in, "malformed UTF-8");
        }
        if ((unsigned char)*in->at < 0x20) {
            return invalid(in, "a control character in a string");
        }
        mq_buffer_append(out, in->at, step);
        in->at += step;
    }
    if (in->at == in->end) {
        return invalid(in, "a string without its end");
    }
    in->at++;
    return MQ_OK;
}

static bool is_digit(const struct cursor *in)
{
    return in->at < in->end && mq_is_digit(*in->at);
}

static bool skip_digits(struct cursor *in)
{
    if (!is_digit(in)) {
        return false;
    }
    while (is_digit(in)) {
        in->at++;
    }
    return true;
}

static bool skip_number(struct cursor *in)
{
    if (in->at < in->end && *in->at == '-') {
        in->at++;
    }
    if (in->at < in->end && *in->at == '0') {
        in->at++; /* no leading zeros */
    } else if (!skip_digits(in)) {
        return false;
    }
    if (in->at < in->end && *in->at == '.') {
        in->at++;
        if (!skip_digits(in)) {
            return false;
        }
    }
    if (in->at < in->end && (*in->at == 'e' || *in->at == 'E')) {
        in->at++;
        if (in->at < in->end && (*in->at == '+' || *in->at == '-')) {
            in->at++;
        }
        return skip_digits(in);
    }
    return true;
}

/* A number or a literal, as its text. */
static enum mq_status read_plain(struct cursor *in, struct mq_buffer *out)
{
    static const char *const literals[] = {"true", "false", "null"};
    const char *start = in->at;
    for (size_t i = 0; i < sizeof literals / sizeof *literals; i++) {
        size_t len = strlen(literals[i]);
        if ((size_t)(in->end - in->at) >= len && memcmp(in->at, literals[i], len) == 0) {
            in->at += len;
            mq_buffer_append(out, start, len);
            return MQ_OK;
        }
    }
    if (!skip_number(in)) {
        return invalid(in, "a string or number was expected; lists and objects cannot be nested");
    }
    mq_buffer_append(out, start, (size_t)(in->at - start));
    return MQ_OK;
}

/* Reads one string (or, where allowed, plain value) and adds it to the list. */
static enum mq_status read_item(struct cursor *in, bool plain, struct mq_buffer *scratch,
                                struct mq_strings *list)
{
    enum mq_status status;
    mq_buffer_reset(scratch);
    if (accept(in, '"')) {
        status = read_string(in, scratch);
    } else if (plain) {
        status = read_plain(in, scratch);
    } else {
        status = invalid(in, "a string was expected");
    }
    if (status != MQ_OK) {
        return status;
    }
    if (scratch->failed || !mq_strings_add(list, mq_buffer_view(scratch))) {
        return mq_error_nomem(in->err);
    }
    return MQ_OK;
}

static enum mq_status read_pair(struct cursor *in, struct mq_buffer *scratch,
                                struct mq_strings *keys, struct mq_strings *values)
{
    enum mq_status status = read_item(in, false, scratch, keys);
    if (status == MQ_OK && !accept(in, ':')) {
        status = invalid(in, "':' was expected");
    }
    if (status == MQ_OK) {
        status = read_item(in, true, scratch, values);
    }
    return status;
}

/* keys NULL: an array of strings; else an object. */
static enum mq_status read_all(struct cursor *in, struct mq_strings *keys,
                               struct mq_strings *values)
{
    char open = keys ? '{' : '[';
    char close = keys ? '}' : ']';
    struct mq_buffer scratch;
    mq_buffer_init(&scratch);
    enum mq_status status = MQ_OK;
    if (!accept(in, open)) {
        status = invalid(in, keys ? "an object was expected" : "an array was expected");
        goto out;
    }
    if (!accept(in, close)) {
        do {
            status = keys ? read_pair(in, &scratch, keys, values)
                          : read_item(in, false, &scratch, values);
        } while (status == MQ_OK && accept(in, ','));
        if (status == MQ_OK && !accept(in, close)) {
            status = invalid(in, "',' or the end was expected");
        }
    }
    skip_space(in);
    if (status == MQ_OK && in->at != in->end) {
        status = invalid(in, "something follows the end");
    }
out:
    mq_buffer_clear(&scratch);
    return status;
}

static struct cursor cursor_of(struct mq_str text, struct mq_error *err)
{
    const char *data = text.data ? text.data : "";
    return (struct cursor){data, data + text.len, err, data};
}

enum mq_status mq_json_read_strings(struct mq_str text, struct mq_strings *out,
                                    struct mq_error *err)
{
    struct cursor in = cursor_of(text, err);
    struct mq_strings values;
    mq_strings_init(&values);
    enum mq_status status = read_all(&in, NULL, &values);
    if (status != MQ_OK) {
        mq_strings_clear(&values);
        return status;
    }
    mq_strings_clear(out);
    *out = values;
    return MQ_OK;
}

enum mq_status mq_json_read_object(struct mq_str text, struct mq_strings *keys,
                                   struct mq_strings *values, struct mq_error *err)
{
    struct cursor in = cursor_of(text, err);
    struct mq_strings names;
    struct mq_strings contents;
    mq_strings_init(&names);
    mq_strings_init(&contents);
    enum mq_status status = read_all(&in, &names, &contents);
    if (status != MQ_OK) {
        mq_strings_clear(&names);
        mq_strings_clear(&contents);
        return status;
    }
    mq_strings_clear(keys);
    mq_strings_clear(values);
    *keys = names;
    *values = contents;
    return MQ_OK;
}
