/* Decoding a Subject: what senders write is tolerated, what comes out is always safe to show. */
#include "mime/subject.h"

#include <string.h>

#include "core/ascii.h"

/* ---- the field ---- */

/* The line that begins at *at, without its end; *at is the next one's begin. */
static struct mq_str take_line(struct mq_str message, size_t *at)
{
    const char *begin = message.data + *at;
    const char *end = memchr(begin, '\n', message.len - *at);
    size_t len = end ? (size_t)(end - begin) : message.len - *at;
    *at += len + (end != NULL);
    if (len > 0 && begin[len - 1] == '\r') {
        len--;
    }
    return (struct mq_str){begin, len};
}

/* The field's body without its line ends; false: the message lacks it. */
static bool unfold(struct mq_str message, struct mq_buffer *out)
{
    static const char name[] = "subject:";
    bool within = false;
    for (size_t at = 0; at < message.len;) {
        struct mq_str line = take_line(message, &at);
        bool continued = line.len > 0 && (line.data[0] == ' ' || line.data[0] == '\t');
        if (line.len == 0 || (within && !continued)) {
            break;
        }
        if (within) {
            mq_buffer_str(out, line);
        } else if (mq_str_begins_nocase(line, name)) {
            within = true;
            mq_buffer_append(out, line.data + strlen(name), line.len - strlen(name));
        }
    }
    return within;
}

/* ---- encoded words ---- */

/* "=?charset?encoding?text?="; `len` octets in all. */
struct word {
    struct mq_str charset;
    char encoding;
    struct mq_str text;
    size_t len;
};

static bool find_word(struct mq_str s, struct word *word)
{
    if (s.len < 2 || s.data[0] != '=' || s.data[1] != '?') {
        return false;
    }
    const char *end = s.data + s.len;
    const char *charset = s.data + 2;
    const char *mark = memchr(charset, '?', (size_t)(end - charset));
    if (!mark || mark == charset || end - mark < 4 || mark[2] != '?') {
        return false;
    }
    const char *text = mark + 3;
    const char *close = memchr(text, '?', (size_t)(end - text));
    if (!close || close + 1 == end || close[1] != '=') {
        return false;
    }
    const char *star = memchr(charset, '*', (size_t)(mark - charset)); /* a language: RFC 2231 */
    word->charset = (struct mq_str){charset, (size_t)((star ? star : mark) - charset)};
    word->encoding = mark[1];
    word->text = (struct mq_str){text, (size_t)(close - text)};
    word->len = (size_t)(close + 2 - s.data);
    return true;
}

static void decode_q(struct mq_str text, struct mq_buffer *out)
{
    for (size_t i = 0; i < text.len; i++) {
        bool coded = text.data[i] == '=' && i + 2 < text.len;
        int high = coded ? mq_hex_value(text.data[i + 1]) : -1;
        int low = coded ? mq_hex_value(text.data[i + 2]) : -1;
        if (high >= 0 && low >= 0) {
            mq_buffer_char(out, (char)(high * 16 + low));
            i += 2;
        } else {
            mq_buffer_char(out, text.data[i] == '_' ? ' ' : text.data[i]);
        }
    }
}

static void decode_b(struct mq_str text, struct mq_buffer *out)
{
    static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    unsigned bits = 0;
    int count = 0;
    for (size_t i = 0; i < text.len; i++) {
        const char *digit = text.data[i] ? strchr(digits, text.data[i]) : NULL;
        if (!digit) {
            continue;
        }
        bits = (bits << 6 | (unsigned)(digit - digits)) & 0xffff;
        count += 6;
        if (count >= 8) {
            count -= 8;
            mq_buffer_char(out, (char)(bits >> count & 0xff));
        }
    }
}

enum charset { CHARSET_OTHER, CHARSET_UTF8, CHARSET_LATIN };

static enum charset charset_of(struct mq_str name)
{
    static const char *const utf8[] = {"utf-8", "utf8", "us-ascii", "ascii"};
    static const char *const latin[] = {"iso-8859-1", "latin1", "iso-8859-15", "windows-1252",
                                        "cp1252"};
    for (size_t i = 0; i < sizeof(utf8) / sizeof(utf8[0]); i++) {
        if (mq_str_equal_nocase(name, mq_str_of(utf8[i]))) {
            return CHARSET_UTF8;
        }
    }
    for (size_t i = 0; i < sizeof(latin) / sizeof(latin[0]); i++) {
        if (mq_str_equal_nocase(name, mq_str_of(latin[i]))) {
            return CHARSET_LATIN;
        }
    }
    return CHARSET_OTHER;
}

/* The few characters in which Latin sets differ come out as those of ISO 8859-1. */
static void append_latin(struct mq_buffer *out, struct mq_str octets)
{
    for (size_t i = 0; i < octets.len; i++) {
        unsigned char c = (unsigned char)octets.data[i];
        if (c >= 0x80) {
            mq_buffer_char(out, (char)(0xc0 | c >> 6));
        }
        mq_buffer_char(out, (char)(c < 0x80 ? c : 0x80 | (c & 0x3f)));
    }
}

/* False: it is of a character set or an encoding that is not known here. */
static bool decode_word(const struct word *word, struct mq_buffer *out)
{
    enum charset charset = charset_of(word->charset);
    bool is_q = word->encoding == 'Q' || word->encoding == 'q';
    bool is_b = word->encoding == 'B' || word->encoding == 'b';
    if (charset == CHARSET_OTHER || (!is_q && !is_b)) {
        return false;
    }
    struct mq_buffer octets;
    mq_buffer_init(&octets);
    (is_q ? decode_q : decode_b)(word->text, &octets);
    if (charset == CHARSET_LATIN) {
        append_latin(out, mq_buffer_view(&octets));
    } else {
        mq_buffer_append(out, octets.data, octets.len);
    }
    out->failed = out->failed || octets.failed;
    mq_buffer_clear(&octets);
    return true;
}

/* White space between two encoded words is not shown (RFC 2047, 6.2). */
static void decode_words(struct mq_str s, struct mq_buffer *out)
{
    size_t before = 0; /* length of `out` behind the last encoded word; 0: something followed */
    for (size_t at = 0; at < s.len;) {
        struct word word;
        struct mq_buffer decoded;
        mq_buffer_init(&decoded);
        if (find_word((struct mq_str){s.data + at, s.len - at}, &word) &&
            decode_word(&word, &decoded)) {
            out->len = before ? before : out->len;
            mq_buffer_append(out, decoded.data, decoded.len);
            before = out->len;
            at += word.len;
        } else {
            bool blank = s.data[at] == ' ' || s.data[at] == '\t';
            before = blank ? before : 0;
            mq_buffer_char(out, blank ? ' ' : s.data[at]);
            at++;
        }
        mq_buffer_clear(&decoded);
    }
}

/* ---- what is shown ---- */

static struct mq_str trim(struct mq_str s)
{
    while (s.len > 0 && s.data[0] == ' ') {
        s.data++, s.len--;
    }
    while (s.len > 0 && s.data[s.len - 1] == ' ') {
        s.len--;
    }
    return s;
}

/* The begin of valid UTF-8, up to MQ_SUBJECT_MAX characters. */
static struct mq_str cut(struct mq_str s)
{
    size_t len = 0;
    uint32_t code;
    for (int i = 0; i < MQ_SUBJECT_MAX && len < s.len; i++) {
        len += mq_utf8_next((struct mq_str){s.data + len, s.len - len}, &code);
    }
    return (struct mq_str){s.data, len};
}

bool mq_subject_of(struct mq_str message, struct mq_buffer *out)
{
    struct mq_buffer raw, decoded, shown;
    mq_buffer_init(&raw);
    mq_buffer_init(&decoded);
    mq_buffer_init(&shown);
    bool found = unfold(message, &raw);
    decode_words(mq_buffer_view(&raw), &decoded);
    mq_buffer_printable(&shown, mq_buffer_view(&decoded));
    mq_buffer_str(out, cut(trim(mq_buffer_view(&shown))));
    out->failed = out->failed || raw.failed || decoded.failed || shown.failed;
    mq_buffer_clear(&raw);
    mq_buffer_clear(&decoded);
    mq_buffer_clear(&shown);
    return found;
}
