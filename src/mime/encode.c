/* Encodes bodies as base64 or quoted-printable, whichever is shorter. */
#include "mime/encode.h"

#include <string.h>
#include <time.h>

#include "core/ascii.h"
#include "core/hex.h"

#define LINE_MAX_QP 76 /* RFC 2045, 6.7 */
#define LINE_MIN_QP 68 /* a line has at least this many octets of text before a soft break */

const char *mq_encoding_name(enum mq_encoding encoding)
{
    static const char *const names[] = {"7bit", "8bit", "quoted-printable", "base64"};
    return names[encoding];
}

/* ---- lines ---- */

/* What a byte means for the choice of an encoding. */
enum {
    ENDS = 1,   /* ends a line */
    UNSAFE = 2, /* must be encoded */
    CODED = 4   /* is "=XX" in quoted-printable */
};

static const unsigned char classes[256] = {[0x00 ... 0x08] = UNSAFE | CODED, ['\n'] = ENDS,
                                           [0x0B ... 0x0C] = UNSAFE | CODED, ['\r'] = ENDS,
                                           [0x0E ... 0x1F] = UNSAFE | CODED, ['='] = CODED,
                                           [0x7F ... 0xFF] = UNSAFE | CODED};

static unsigned class_of(char c)
{
    return classes[(unsigned char)c];
}

#define EACH_BYTE(byte) (UINT64_C(0x0101010101010101) * (byte))

static inline uint64_t load(const char *data)
{
    uint64_t word;
    memcpy(&word, data, sizeof word);
    return word;
}

/* Whether one of eight bytes is below n (1 … 128); bytes over 127 do not count. */
static inline bool has_below(uint64_t word, unsigned n)
{
    return ((word - EACH_BYTE(n)) & ~word & EACH_BYTE(0x80)) != 0;
}

/* Whether all eight bytes are in 32 … 126 and none is '='. False for a tab, though it is plain. */
static inline bool is_simple(uint64_t word)
{
    /* Adding 1 sets the high bit of 127; bytes over 127 have it already. */
    bool high = ((word | (word + EACH_BYTE(1))) & EACH_BYTE(0x80)) != 0;
    return !high && !has_below(word, ' ') && !has_below(word ^ EACH_BYTE('='), 1);
}

/* Takes a line of `len` octets and its line end off a text. */
static struct mq_str take(struct mq_str *text, size_t len)
{
    struct mq_str line = {text->data, len};
    bool crlf = text->len - len > 1 && memcmp(text->data + len, "\r\n", 2) == 0;
    *text = mq_str_skip(*text, len + (len < text->len) + crlf);
    return line;
}

static struct mq_str take_line(struct mq_str *text)
{
    size_t n = 0;
    while (text->len - n >= 8 && !has_below(load(text->data + n), '\r' + 1)) {
        n += 8;
    }
    while (n < text->len && class_of(text->data[n]) != ENDS) {
        n++;
    }
    return take(text, n);
}

/* Takes a line as take_line() does. Sets *seen to the classes of its bytes, and *coded to how many
 * of them become "=XX" in quoted-printable wherever they are in the line. */
static struct mq_str take_counted_line(struct mq_str *text, unsigned *seen, size_t *coded)
{
    size_t n = 0;
    size_t next_look = 0; /* is_simple() failed for the bytes before this index */
    *seen = 0;
    *coded = 0;
    while (n < text->len) {
        if (n >= next_look && text->len - n >= 8) {
            if (is_simple(load(text->data + n))) {
                n += 8;
                continue;
            }
            next_look = n + 8;
        }
        unsigned class = class_of(text->data[n]);
        if (class == ENDS) {
            break;
        }
        *seen |= class;
        *coded += class / CODED;
        n++;
    }
    return take(text, n);
}

static bool ends_with_blank(struct mq_str line)
{
    return line.len > 0 && mq_is_blank(line.data[line.len - 1]);
}

static bool begins_with_from(struct mq_str line)
{
    return line.len >= 5 && memcmp(line.data, "From ", 5) == 0;
}

/* ---- quoted-printable ---- */

/* Whether mbox files ("From ") or relays whose dot-stuffing is wrong could change the line. */
static bool is_changed_at_begin(struct mq_str line)
{
    return line.len > 0 && (line.data[0] == '.' || begins_with_from(line));
}

/* Returns how many bytes from `at` on (at most `most`) need no encoding in the middle of a line. */
static size_t plain_run(struct mq_str line, size_t at, size_t most)
{
    size_t n = 0;
    most = line.len - at < most ? line.len - at : most;
    while (n < most) {
        if (most - n >= 8 && is_simple(load(line.data + at + n))) {
            n += 8;
        } else if ((class_of(line.data[at + n]) & CODED) != 0) {
            break;
        } else {
            n++;
        }
    }
    return n;
}

/* Returns how many bytes from `at` on need no encoding and fit after `column`. *full: the plain
 * bytes go on, but the line has no room for them. */
static size_t plain_part(struct mq_str line, size_t at, size_t column, bool *full)
{
    size_t room = LINE_MAX_QP - 1 - column; /* a soft break's "=" must fit too */
    struct mq_str rest = {line.data + at, line.len - at};
    *full = false;
    if (column == 0 && is_changed_at_begin(rest)) {
        return 0;
    }
    size_t run = plain_run(line, at, room + 1);
    if (run == rest.len && ends_with_blank(rest)) {
        run--;
    } else if (run == rest.len) {
        return run; /* the line ends here, without a soft break */
    }
    *full = run > room;
    return *full ? room : run;
}

static void qp_line(struct mq_buffer *out, struct mq_str line)
{
    size_t column = 0;
    mq_buffer_reserve(out, line.len + LINE_MAX_QP);
    for (size_t at = 0; at < line.len && !out->failed;) {
        bool full = false;
        bool is_coded = (class_of(line.data[at]) & CODED) != 0;
        size_t run = is_coded ? 0 : plain_part(line, at, column, &full);
        char *to = out->data + out->len;
        memcpy(to, line.data + at, run);
        to += run;
        at += run;
        column += run;
        /* The last byte of a line, if coded, needs no room for the "=" of a soft break. */
        if (at < line.len && (full || column + 3 > LINE_MAX_QP - (at + 1 < line.len))) {
            memcpy(to, "=\r\n", 3);
            to += 3;
            column = 0;
        } else if (at < line.len) {
            *to = '=';
            to = mq_hex_put(to + 1, (unsigned char)line.data[at++]);
            column += 3;
        }
        out->len = (size_t)(to - out->data);
        if (out->capacity - out->len < LINE_MAX_QP + line.len - at) {
            mq_buffer_reserve(out, LINE_MAX_QP + line.len - at);
        }
    }
    mq_buffer_append(out, "\r\n", 2);
}

void mq_encode_quoted_printable(struct mq_buffer *out, struct mq_str text)
{
    while (text.len > 0 && !out->failed) {
        qp_line(out, take_line(&text));
    }
}

/* Returns how many octets a line takes in quoted-printable at most. */
static size_t qp_line_size(struct mq_str line, size_t coded)
{
    size_t size = line.len + 2 * coded + (ends_with_blank(line) ? 2 : 0) +
                  (is_changed_at_begin(line) ? 2 : 0);
    /* A soft break costs three octets, and two more if the next line begins with "." or "From ". */
    return size + (size > LINE_MAX_QP ? (size + 4) / LINE_MIN_QP * 5 : 0) + 2;
}

/* ---- base64 ---- */

static inline char *put_quad(char *out, const unsigned char in[3])
{
    static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    unsigned bits = (unsigned)in[0] << 16 | (unsigned)in[1] << 8 | in[2];
    out[0] = digits[bits >> 18];
    out[1] = digits[bits >> 12 & 63];
    out[2] = digits[bits >> 6 & 63];
    out[3] = digits[bits & 63];
    return out + 4;
}

/* Writes four characters for every three bytes, and for the rest. Returns the end of the output. */
static char *base64(char *out, struct mq_str data)
{
    for (; data.len >= 3; data = mq_str_skip(data, 3)) {
        out = put_quad(out, (const unsigned char *)data.data);
    }
    if (data.len > 0) {
        unsigned char rest[3] = {0};
        memcpy(rest, data.data, data.len);
        out = put_quad(out, rest);
        memset(out - 3 + data.len, '=', 3 - data.len);
    }
    return out;
}

void mq_encode_base64_raw(struct mq_buffer *out, struct mq_str data)
{
    mq_buffer_reserve(out, (data.len + 2) / 3 * 4);
    if (!out->failed && data.len > 0) {
        char *end = base64(out->data + out->len, data);
        out->len = (size_t)(end - out->data);
        *end = '\0';
    }
}

void mq_encode_base64(struct mq_buffer *out, struct mq_str data)
{
    mq_buffer_reserve(out, mq_encode_base64_size(data));
    if (out->failed || data.len == 0) {
        return;
    }
    char *end = out->data + out->len;
    while (data.len > 0) {
        size_t n = data.len < MQ_BASE64_LINE ? data.len : MQ_BASE64_LINE;
        end = base64(end, (struct mq_str){data.data, n});
        *end++ = '\r';
        *end++ = '\n';
        data = mq_str_skip(data, n);
    }
    out->len = (size_t)(end - out->data);
    *end = '\0';
}

size_t mq_encode_base64_size(struct mq_str data)
{
    size_t lines = data.len / MQ_BASE64_LINE + (data.len % MQ_BASE64_LINE != 0);
    return (data.len / 3 + (data.len % 3 != 0)) * 4 + lines * 2;
}

/* ---- texts ---- */

enum mq_encoding mq_encode_text_choose(struct mq_str text, size_t *size)
{
    bool safe = true;
    size_t plain = 0;
    size_t quoted = 0;
    for (struct mq_str rest = text; rest.len > 0;) {
        unsigned seen;
        size_t coded;
        struct mq_str line = take_counted_line(&rest, &seen, &coded);
        safe = safe && (seen & UNSAFE) == 0 && line.len <= MQ_LINE_MAX && !begins_with_from(line) &&
               !ends_with_blank(line);
        plain += line.len + 2;
        quoted += qp_line_size(line, coded);
    }
    *size = plain;
    if (safe) {
        return MQ_ENCODING_7BIT;
    }
    size_t base64_size = mq_encode_base64_size((struct mq_str){NULL, plain});
    *size = quoted <= base64_size ? quoted : base64_size;
    return quoted <= base64_size ? MQ_ENCODING_QUOTED_PRINTABLE : MQ_ENCODING_BASE64;
}

static void with_crlf(struct mq_buffer *out, struct mq_str text)
{
    while (text.len > 0 && !out->failed) {
        mq_buffer_str(out, take_line(&text));
        mq_buffer_append(out, "\r\n", 2);
    }
}

void mq_encode_text(struct mq_buffer *out, struct mq_str text, enum mq_encoding encoding)
{
    struct mq_buffer lines = {0};
    if (encoding == MQ_ENCODING_QUOTED_PRINTABLE) {
        mq_encode_quoted_printable(out, text);
    } else if (encoding == MQ_ENCODING_BASE64) {
        with_crlf(&lines, text);
        mq_encode_base64(out, mq_buffer_view(&lines));
        out->failed = out->failed || lines.failed;
    } else {
        with_crlf(out, text);
    }
    mq_buffer_clear(&lines);
}

/* ---- dates ---- */

void mq_encode_date(struct mq_buffer *out, int64_t utc_s)
{
    static const char days[] = "SunMonTueWedThuFriSat"; /* strftime() depends on the locale */
    static const char months[] = "JanFebMarAprMayJunJulAugSepOctNovDec";
    time_t time = (time_t)utc_s;
    struct tm t = {.tm_mday = 1};
    gmtime_r(&time, &t);
    mq_buffer_printf(out, "%.3s, %02d %.3s %04d %02d:%02d:%02d +0000", days + (size_t)3 * t.tm_wday,
                     t.tm_mday, months + (size_t)3 * t.tm_mon, t.tm_year + 1900, t.tm_hour,
                     t.tm_min, t.tm_sec);
}
