/* Decodes a Subject. Tolerates what senders write; the result is always safe to show. */
#include "mime/subject.h"

#include <string.h>

#include "core/ascii.h"
#include "mime/wire/message.h"

/* ---- encoded words ---- */

/* An encoded word: "=?charset?encoding?text?="; `len` octets in all. */
struct word {
    struct mq_str charset, encoding, text;
    size_t len;
};

static bool find_word(struct mq_str s, struct word *word)
{
    struct mq_str rest = s;
    if (!mq_str_begins(s, "=?")) {
        return false;
    }
    mq_str_cut(&rest, 2);
    word->charset = mq_str_cut_at(&rest, '?');
    word->charset.len = mq_str_find(word->charset, '*'); /* cuts off a language: RFC 2231 */
    word->encoding = mq_str_cut_at(&rest, '?');
    word->text = mq_str_cut_at(&rest, '?');
    word->len = s.len - rest.len + 1;
    return rest.len > 0 && rest.data[0] == '=';
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

/* All Latin sets are read as ISO 8859-1, from which they differ in a few characters only. */
static const struct charset {
    const char *name;
    bool latin;
} charsets[] = {{"utf-8", false},      {"utf8", false},  {"us-ascii", false},
                {"iso-8859-1", true},  {"latin1", true}, {"iso-8859-15", true},
                {"windows-1252", true}};

static const struct charset *charset_of(struct mq_str name)
{
    for (size_t i = 0; i < sizeof charsets / sizeof *charsets; i++) {
        if (mq_str_equal_nocase(name, mq_str_of(charsets[i].name))) {
            return &charsets[i];
        }
    }
    return NULL;
}

/* Returns false if the word's character set or encoding is not known here. */
static bool decode_word(const struct word *word, struct mq_buffer *out)
{
    const struct charset *charset = charset_of(word->charset);
    bool q = mq_str_equal_nocase(word->encoding, MQ_STR("q"));
    if (charset == NULL || (!q && !mq_str_equal_nocase(word->encoding, MQ_STR("b")))) {
        return false;
    }
    struct mq_buffer octets = {0};
    (q ? decode_q : decode_b)(word->text, &octets);
    for (size_t i = 0; i < octets.len; i++) {
        unsigned char c = (unsigned char)octets.data[i];
        if (charset->latin) {
            mq_buffer_utf8(out, c);
        } else {
            mq_buffer_char(out, (char)c);
        }
    }
    out->failed = out->failed || octets.failed;
    mq_buffer_clear(&octets);
    return true;
}

/* Decodes a value. Drops its folds, and white space between encoded words (RFC 2047, 6.2). */
static void decode_words(struct mq_str s, struct mq_buffer *out)
{
    size_t before = 0; /* length of `out` after the last encoded word; 0: text followed */
    for (struct word word; s.len > 0; s = mq_str_skip(s, word.len)) {
        size_t end = out->len;
        word.len = 1;
        if (find_word(s, &word) && decode_word(&word, out)) {
            if (before > 0) {
                memmove(out->data + before, out->data + end, out->len - end);
                out->len -= end - before;
            }
            before = out->len;
            continue;
        }
        word.len = 1;
        if (s.data[0] != '\r' && s.data[0] != '\n') {
            before = mq_is_blank(s.data[0]) ? before : 0;
            mq_buffer_char(out, mq_is_blank(s.data[0]) ? ' ' : s.data[0]);
        }
    }
}

bool mq_subject_of(struct mq_str message, struct mq_buffer *out)
{
    struct mq_buffer decoded = {0};
    struct mq_buffer shown = {0};
    struct mq_str value;
    if (!mq_message_header(message, "Subject", &value)) {
        return false;
    }
    decode_words(value, &decoded);
    mq_buffer_printable(&shown, mq_buffer_view(&decoded));
    struct mq_str rest = mq_str_trim(mq_buffer_view(&shown));
    struct mq_str text = {rest.data, 0};
    for (int i = 0; i < MQ_SUBJECT_MAX && text.len < rest.len; i++) {
        text.len += mq_utf8_next(mq_str_skip(rest, text.len), NULL);
    }
    mq_buffer_str(out, text);
    out->failed = out->failed || decoded.failed || shown.failed;
    mq_buffer_clear(&decoded);
    mq_buffer_clear(&shown);
    return true;
}
