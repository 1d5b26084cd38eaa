/* Writes and reads JSON strings, and the arrays and objects of them that columns hold. */
#include "core/json.h"

#include <string.h>

#include "core/ascii.h"
#include "core/hex.h"
#include "core/json_reader.h"

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
        } else if (mq_utf8_steers(code)) { /* only C0 must be escaped, but people read logs */
            mq_buffer_printf(out, "\\u%04x", (unsigned)code);
        } else {
            mq_buffer_append(out, s.data, step);
        }
        s = mq_str_skip(s, step);
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

static void skip(struct mq_json_reader *in, size_t n)
{
    in->rest = mq_str_skip(in->rest, n);
}

bool mq_json_take(struct mq_json_reader *in, char c)
{
    in->rest = mq_str_trim(in->rest);
    bool found = in->rest.len > 0 && in->rest.data[0] == c;
    skip(in, found);
    return found;
}

static bool take_hex4(struct mq_json_reader *in, uint32_t *value)
{
    *value = 0;
    for (size_t i = 0; i < 4; i++) {
        int digit = i < in->rest.len ? mq_hex_value(in->rest.data[i]) : -1;
        if (digit < 0) {
            return false;
        }
        *value = *value << 4 | (uint32_t)digit;
    }
    skip(in, 4);
    return true;
}

/* Reads what follows "\u": one escape, or two that are a surrogate pair (RFC 8259, section 7).
 * Refuses NUL, because the lists hold C strings. */
static bool take_unicode(struct mq_json_reader *in)
{
    uint32_t code = 0;
    uint32_t low = 0;
    if (!take_hex4(in, &code) || code == 0) {
        return false;
    }
    if (code >= 0xD800 && code <= 0xDFFF) {
        bool pair = code < 0xDC00 && mq_str_begins(in->rest, "\\u");
        skip(in, pair ? 2 : 0);
        if (!pair || !take_hex4(in, &low) || low < 0xDC00 || low > 0xDFFF) {
            return false;
        }
        code = 0x10000 + ((code - 0xD800) << 10) + (low - 0xDC00);
    }
    mq_buffer_utf8(&in->text, code);
    return true;
}

/* Reads what follows a backslash. */
static bool take_escape(struct mq_json_reader *in)
{
    static const char from[] = "\"\\/bfnrt";
    static const char to[] = "\"\\/\b\f\n\r\t";
    char c = in->rest.len > 0 ? in->rest.data[0] : '\0';
    const char *found = c != '\0' ? strchr(from, c) : NULL;
    skip(in, in->rest.len > 0);
    if (found != NULL) {
        mq_buffer_char(&in->text, to[found - from]);
    }
    return found != NULL || (c == 'u' && take_unicode(in));
}

static bool is_plain(unsigned char c)
{
    return c >= 0x20 && c < 0x80 && c != '"' && c != '\\';
}

/* Takes the ASCII that the string has as it is. */
static struct mq_str take_plain(struct mq_json_reader *in)
{
    size_t n = 0;
    while (n < in->rest.len && is_plain((unsigned char)in->rest.data[n])) {
        n++;
    }
    return mq_str_cut(&in->rest, n);
}

bool mq_json_take_string(struct mq_json_reader *in)
{
    if (!mq_json_take(in, '"')) {
        return false;
    }
    while (in->rest.len > 0 && in->rest.data[0] != '"') {
        const char *at = in->rest.data;
        uint32_t code = 0;
        size_t step = mq_utf8_next(in->rest, &code);
        if (code < 0x20) { /* a control character; code is 0 if this is not UTF-8 */
            return false;
        }
        skip(in, step);
        if (code != '\\') {
            mq_buffer_append(&in->text, at, step);
            mq_buffer_str(&in->text, take_plain(in));
        } else if (!take_escape(in)) {
            return false;
        }
    }
    return mq_json_take(in, '"');
}

static enum mq_status read_item(struct mq_json_reader *in, struct mq_strings *list)
{
    mq_buffer_reset(&in->text);
    if (!mq_json_take_string(in)) {
        return MQ_INVALID;
    }
    bool added = !in->text.failed && mq_strings_add(list, mq_buffer_view(&in->text));
    return added ? MQ_OK : MQ_NOMEM;
}

/* Skips an array or an object; what is in it need not be valid. */
static bool skip_nested(struct mq_json_reader *in)
{
    size_t depth = 0;
    do {
        in->rest = mq_str_trim(in->rest);
        char c = in->rest.len > 0 ? in->rest.data[0] : '\0';
        mq_buffer_reset(&in->text);
        if (c == '"' ? !mq_json_take_string(in) : c == '\0') {
            return false;
        }
        depth += c == '{' || c == '[';
        depth -= c == '}' || c == ']';
        skip(in, c != '"');
    } while (depth > 0);
    return true;
}

static bool is_word(char c)
{
    return mq_is_alnum(c) || c == '+' || c == '-' || c == '.';
}

struct mq_str mq_json_take_word(struct mq_json_reader *in)
{
    size_t len = 0;
    while (len < in->rest.len && is_word(in->rest.data[len])) {
        len++;
    }
    return mq_str_cut(&in->rest, len);
}

/* Reads any value. One that is not a text, a number, true or false takes its key from the list. */
static enum mq_status read_value(struct mq_json_reader *in, struct mq_strings *list)
{
    in->rest = mq_str_trim(in->rest);
    char c = in->rest.len > 0 ? in->rest.data[0] : '\0';
    if (c == '"') {
        return read_item(in, list);
    }
    bool nested = c == '{' || c == '[';
    struct mq_str word = nested ? (struct mq_str){0} : mq_json_take_word(in);
    if (nested ? !skip_nested(in) : word.len == 0) {
        return MQ_INVALID;
    }
    if (nested || mq_str_equal(word, MQ_STR("null"))) {
        mq_strings_cut(list, list->count - 1);
        return MQ_OK;
    }
    return mq_strings_add(list, word) ? MQ_OK : MQ_NOMEM;
}

typedef enum mq_status read_function(struct mq_json_reader *in, struct mq_strings *list);

static enum mq_status read_all(struct mq_json_reader *in, char open, read_function *read_member,
                               struct mq_strings *list)
{
    char close = open == '{' ? '}' : ']';
    if (!mq_json_take(in, open)) {
        return MQ_INVALID;
    }
    if (mq_json_take(in, close)) {
        return MQ_OK;
    }
    do {
        MQ_TRY(read_item(in, list));
        if (open == '{') {
            MQ_TRY(mq_json_take(in, ':') ? read_member(in, list) : MQ_INVALID);
        }
    } while (mq_json_take(in, ','));
    return mq_json_take(in, close) ? MQ_OK : MQ_INVALID;
}

static enum mq_status read_text(struct mq_str text, char open, read_function *read_member,
                                struct mq_strings *list)
{
    struct mq_json_reader in = {.rest = text};
    enum mq_status status = read_all(&in, open, read_member, list);
    if (status == MQ_OK && mq_str_trim(in.rest).len > 0) {
        status = MQ_INVALID;
    }
    mq_buffer_clear(&in.text);
    if (status != MQ_OK) {
        mq_strings_clear(list);
    }
    return status;
}

enum mq_status mq_json_read(struct mq_str text, char open, struct mq_strings *list)
{
    return read_text(text, open, read_item, list);
}

enum mq_status mq_json_members(struct mq_str text, struct mq_strings *list)
{
    return read_text(text, '{', read_value, list);
}
