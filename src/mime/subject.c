/* Decodes a Subject. Tolerates what senders write; the result is always safe to show. */
#include "mime/subject.h"

#if defined(__linux__) || defined(__FreeBSD__)
#include <iconv.h>
#endif
#include <stdio.h>
#include <string.h>

#include "core/ascii.h"
#include "core/hex.h"
#include "mime/header.h"
#include "mime/wire/message.h"

/* ---- encoded words ---- */

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

static const char unicode[] = "utf-8 utf8 us-ascii";
static const char latin[] = "iso-8859-1 latin1 iso-8859-15 windows-1252";
/* Others that mail is written in. Not all that iconv(3) knows, because some of its converters have
 * had faults with hostile text. */
static const char others[] =
    "iso-8859-2 iso-8859-3 iso-8859-4 iso-8859-5 iso-8859-7 iso-8859-8 iso-8859-9 iso-8859-13 "
    "windows-1250 windows-1251 windows-1253 windows-1254 windows-1255 windows-1256 windows-1257 "
    "koi8-r koi8-u iso-2022-jp shift_jis euc-jp euc-kr gb2312 gbk gb18030 big5";

/* Appends text of a charset as UTF-8. Returns false, and appends nothing, if it is malformed or
 * this system cannot convert it. */
static bool convert(struct mq_str charset, struct mq_str text, struct mq_buffer *out)
{
#if defined(__linux__) || defined(__FreeBSD__)
    struct mq_buffer utf8 = {0};
    char *from = (char *)(uintptr_t)text.data; /* iconv() does not change it */
    size_t room = 4 * text.len;                /* no octet becomes more than one character */
    char name[16];
    snprintf(name, sizeof name, "%.*s", (int)charset.len, charset.data);
    iconv_t conversion = iconv_open("UTF-8", name);
    mq_buffer_reserve(&utf8, room);
    char *to = utf8.data;
    bool done = conversion != (iconv_t)-1 && !utf8.failed &&
                iconv(conversion, &from, &text.len, &to, &room) != (size_t)-1 &&
                iconv(conversion, NULL, NULL, &to, &room) != (size_t)-1;
    if (done) {
        mq_buffer_append(out, utf8.data, (size_t)(to - utf8.data));
    }
    if (conversion != (iconv_t)-1) {
        iconv_close(conversion);
    }
    mq_buffer_clear(&utf8);
    return done;
#else
    (void)charset, (void)text, (void)out;
    return false;
#endif
}

static bool is_among(struct mq_str charset, const char *names)
{
    return mq_str_word(charset, names, mq_str_equal_nocase) >= 0;
}

/* Appends nothing and returns false if the text cannot be decoded here. */
static bool to_utf8(struct mq_str charset, struct mq_str text, struct mq_buffer *out)
{
    bool is_latin = is_among(charset, latin);
    if (is_among(charset, unicode)) {
        mq_buffer_str(out, text);
        return true;
    }
    if ((is_latin || is_among(charset, others)) && convert(charset, text, out)) {
        return true;
    }
    for (size_t i = 0; i < text.len && is_latin; i++) {
        mq_buffer_utf8(out, (unsigned char)text.data[i]); /* the sets differ in few characters */
    }
    return is_latin;
}

static bool decode_word(const struct mq_encoded_word *word, struct mq_buffer *out)
{
    struct mq_buffer octets = {0};
    bool q = mq_str_equal_nocase(word->encoding, MQ_STR("q"));
    if (!q && !mq_str_equal_nocase(word->encoding, MQ_STR("b"))) {
        return false;
    }
    (q ? decode_q : decode_b)(word->text, &octets);
    bool known = to_utf8(word->charset, mq_buffer_view(&octets), out);
    out->failed = out->failed || octets.failed;
    mq_buffer_clear(&octets);
    return known;
}

/* Decodes a value. Drops its folds, and white space between encoded words (RFC 2047, 6.2). */
static void decode_words(struct mq_str s, struct mq_buffer *out)
{
    size_t before = 0; /* length of `out` after the last encoded word; 0: text followed */
    for (struct mq_encoded_word word; s.len > 0; s = mq_str_skip(s, word.len)) {
        size_t end = out->len;
        word.len = 1;
        if (mq_encoded_word_read(s, &word) && decode_word(&word, out)) {
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
