/* Encodes bodies as base64 or quoted-printable, whichever is shorter. */
#include "mime/encode.h"

#include <string.h>

#include "core/ascii.h"

#define LINE_OCTETS_MAX 998 /* RFC 5322, 2.1.1 */
#define LINE_MAX_QP     76  /* RFC 2045, 6.7 */
#define QP_SHORT        300 /* bytes of a line that is not measured before it is encoded */
#define QP_SHORT_SIZE   950 /* what it makes at most */
#define BASE64_BLOCK    (64 * MQ_BASE64_LINE)

const char *mq_encoding_name(enum mq_encoding encoding)
{
    static const char *const names[] = {"7bit", "8bit", "quoted-printable", "base64"};
    return names[encoding];
}

/* ---- lines ---- */

/* What a byte means for the choice of an encoding. */
enum {
    ENDS = 1,   /* a line */
    UNSAFE = 2, /* not to be sent as it is */
    CODED = 4   /* three characters in quoted-printable, unless it ends a line */
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

/* Whether eight bytes are all of 32 … 126 and no '='; a tab is none of these, though it is plain.
 */
static inline bool is_simple(uint64_t word)
{
    /* Adding 1 moves 127 over the bound; what was over it is there already. */
    bool high = ((word | (word + EACH_BYTE(1))) & EACH_BYTE(0x80)) != 0;
    return !high && !has_below(word, ' ') && !has_below(word ^ EACH_BYTE('='), 1);
}

/* Length of the line that the text begins with, without its end, but at most `most`. */
static size_t line_length(struct mq_str text, size_t most)
{
    size_t n = 0;
    most = text.len < most ? text.len : most;
    while (n < most) {
        if (most - n >= 8 && !has_below(load(text.data + n), '\r' + 1)) {
            n += 8;
        } else if (class_of(text.data[n]) == ENDS) {
            break;
        } else {
            n++;
        }
    }
    return n;
}

/* Takes a line of `len` and its end off a text. */
static struct mq_str take(struct mq_str *text, size_t len)
{
    struct mq_str line = {text->data, len};
    if (len < text->len) {
        bool crlf = text->data[len] == '\r' && len + 1 < text->len && text->data[len + 1] == '\n';
        len += crlf ? 2 : 1;
    }
    text->data += len;
    text->len -= len;
    return line;
}

static struct mq_str take_line(struct mq_str *text)
{
    return take(text, line_length(*text, SIZE_MAX));
}

/* The same; *seen are the classes met, *coded is how many bytes need three characters in
 * quoted-printable wherever they stand. */
static struct mq_str take_counted_line(struct mq_str *text, unsigned *seen, size_t *coded)
{
    unsigned all = 0;
    size_t many = 0;
    size_t n = 0;
    size_t next_look = 0; /* not at eight bytes that are known not to be simple */
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
        all |= class;
        many += class / CODED;
        n++;
    }
    *seen = all;
    *coded = many;
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

/* "From " is changed by mailboxes in mbox form, a dot by relays that stuff badly. */
static bool is_changed_at_begin(struct mq_str line)
{
    return line.len > 0 && (line.data[0] == '.' || begins_with_from(line));
}

/* How many bytes from `at` stand for themselves wherever they stand but at the ends of a line. */
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

/* The bytes from `at` that stand for themselves and fit behind `column`; *full: more would not. */
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
        return run; /* behind which there is no break */
    }
    *full = run > room;
    return *full ? room : run;
}

/* Encodes a line without its end. With `out` NULL it only counts; the compiler makes two functions
 * of it. */
static inline __attribute__((always_inline)) size_t encode_line(struct mq_str line, char *out)
{
    static const char hex[] = "0123456789ABCDEF";
    size_t size = 0;
    size_t column = 0;
    for (size_t at = 0; at < line.len;) {
        bool full = false;
        bool coded = (class_of(line.data[at]) & CODED) != 0;
        size_t run = coded ? 0 : plain_part(line, at, column, &full);
        if (out != NULL) {
            memcpy(out + size, line.data + at, run);
        }
        at += run;
        size += run;
        column += run;
        if (at == line.len) {
            break;
        }
        /* A coded byte at the line's end may fill it. */
        if (full || column + 3 > LINE_MAX_QP - (at + 1 < line.len)) {
            if (out != NULL) {
                memcpy(out + size, "=\r\n", 3);
            }
            size += 3;
            column = 0;
        } else {
            unsigned char c = (unsigned char)line.data[at++];
            if (out != NULL) {
                out[size] = '=';
                out[size + 1] = hex[c >> 4];
                out[size + 2] = hex[c & 15];
            }
            size += 3;
            column += 3;
        }
    }
    return size;
}

static size_t qp_line_size(struct mq_str line, size_t coded)
{
    /* The ends of a line may cost two more each. */
    if (line.len + 2 * coded + 4 > LINE_MAX_QP) {
        return encode_line(line, NULL);
    }
    return line.len + 2 * coded + (ends_with_blank(line) ? 2 : 0) +
           (is_changed_at_begin(line) ? 2 : 0);
}

static void qp_line(struct mq_buffer *out, struct mq_str line)
{
    mq_buffer_reserve(out, 2 + (line.len > QP_SHORT ? encode_line(line, NULL) : QP_SHORT_SIZE));
    if (!out->failed) {
        out->len += encode_line(line, out->data + out->len);
        mq_buffer_append(out, "\r\n", 2);
    }
}

void mq_encode_quoted_printable(struct mq_buffer *out, struct mq_str text)
{
    while (text.len > 0 && !out->failed) {
        qp_line(out, take_line(&text));
    }
}

size_t mq_encode_quoted_printable_size(struct mq_str text)
{
    size_t size = 0;
    while (text.len > 0) {
        unsigned seen;
        size_t coded;
        struct mq_str line = take_counted_line(&text, &seen, &coded);
        size += qp_line_size(line, coded) + 2;
    }
    return size;
}

/* ---- base64 ---- */

/* Returns the end of what it wrote: four characters for every three bytes or the rest of them. */
static char *base64(char *out, struct mq_str data)
{
    static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    const unsigned char *in = (const unsigned char *)data.data;
    size_t i = 0;
    for (; i + 3 <= data.len; i += 3) {
        unsigned bits = (unsigned)in[i] << 16 | (unsigned)in[i + 1] << 8 | in[i + 2];
        out[0] = digits[bits >> 18];
        out[1] = digits[bits >> 12 & 63];
        out[2] = digits[bits >> 6 & 63];
        out[3] = digits[bits & 63];
        out += 4;
    }
    if (i < data.len) {
        bool two = data.len - i == 2;
        unsigned bits = (unsigned)in[i] << 16 | (two ? (unsigned)in[i + 1] << 8 : 0);
        out[0] = digits[bits >> 18];
        out[1] = digits[bits >> 12 & 63];
        out[2] = two ? digits[bits >> 6 & 63] : '=';
        out[3] = '=';
        out += 4;
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
        data.data += n;
        data.len -= n;
    }
    out->len = (size_t)(end - out->data);
    *end = '\0';
}

size_t mq_encode_base64_size(struct mq_str data)
{
    size_t lines = data.len / MQ_BASE64_LINE + (data.len % MQ_BASE64_LINE != 0);
    return (data.len / 3 + (data.len % 3 != 0)) * 4 + lines * 2;
}

/* The next line, or as much of it as `room` takes; *whole says which. */
static struct mq_str take_at_most(struct mq_str *text, size_t room, bool *whole)
{
    struct mq_str part = {text->data, line_length(*text, room + 1)};
    *whole = part.len <= room;
    if (*whole) {
        return take(text, part.len);
    }
    part.len = room;
    text->data += room;
    text->len -= room;
    return part;
}

static size_t move(char *block, struct mq_str *from, size_t room)
{
    size_t n = from->len < room ? from->len : room;
    memcpy(block, from->data, n);
    from->data += n;
    from->len -= n;
    return n;
}

/* Takes up to `room` bytes of a text with CRLF line ends; a line end may be cut, and *owed is what
 * is still to come of it. */
static size_t take_canonical(struct mq_str *text, struct mq_str *owed, char *block, size_t room)
{
    size_t n = move(block, owed, room);
    while (n < room && text->len > 0) {
        bool whole;
        struct mq_str line = take_at_most(text, room - n, &whole);
        n += move(block + n, &line, room - n);
        *owed = whole ? MQ_STR("\r\n") : *owed;
        n += move(block + n, owed, room - n);
    }
    return n;
}

static void base64_text(struct mq_buffer *out, struct mq_str text)
{
    char block[BASE64_BLOCK];
    struct mq_str owed = MQ_STR("");
    size_t n;
    while ((n = take_canonical(&text, &owed, block, sizeof block)) > 0) {
        mq_encode_base64(out, (struct mq_str){block, n});
    }
}

/* ---- texts ---- */

/* What lines make in quoted-printable. */
struct qp_bounds {
    size_t least; /* without what the ends and breaks of lines cost */
    size_t most;
};

static void add_bounds(struct qp_bounds *bounds, struct mq_str line, size_t coded)
{
    size_t size = line.len + 2 * coded + 2;
    bounds->least += size;
    /* Between two breaks there are 73 at least. One costs three, and two for what it brings to a
     * line's begin. */
    bounds->most += size + 4 + (size + 4) / 68 * 5;
}

enum mq_encoding mq_encode_text_choose(struct mq_str text, size_t *size)
{
    bool safe = true;
    size_t plain = 0;
    struct qp_bounds quoted = {0, 0};
    for (struct mq_str rest = text; rest.len > 0;) {
        unsigned seen;
        size_t coded;
        struct mq_str line = take_counted_line(&rest, &seen, &coded);
        safe = safe && (seen & UNSAFE) == 0 && line.len <= LINE_OCTETS_MAX &&
               !begins_with_from(line) && !ends_with_blank(line);
        plain += line.len + 2;
        add_bounds(&quoted, line, coded);
    }
    *size = plain;
    if (safe) {
        return MQ_ENCODING_7BIT;
    }
    size_t base64_size = mq_encode_base64_size((struct mq_str){NULL, plain});
    if (quoted.least <= base64_size && quoted.most > base64_size) {
        quoted.least = quoted.most = mq_encode_quoted_printable_size(text);
    }
    *size = quoted.most <= base64_size ? quoted.most : base64_size;
    return quoted.most <= base64_size ? MQ_ENCODING_QUOTED_PRINTABLE : MQ_ENCODING_BASE64;
}

void mq_encode_text(struct mq_buffer *out, struct mq_str text, enum mq_encoding encoding)
{
    if (encoding == MQ_ENCODING_QUOTED_PRINTABLE) {
        mq_encode_quoted_printable(out, text);
    } else if (encoding == MQ_ENCODING_BASE64) {
        base64_text(out, text);
    } else {
        while (text.len > 0 && !out->failed) {
            mq_buffer_str(out, take_line(&text));
            mq_buffer_append(out, "\r\n", 2);
        }
    }
}

/* ---- dates ---- */

void mq_encode_date(struct mq_buffer *out, int64_t utc_s)
{
    static const char days[] = "ThuFriSatSunMonTueWed"; /* the first day of 1970 was a Thursday */
    static const char months[] = "JanFebMarAprMayJunJulAugSepOctNovDec";
    int64_t day = utc_s / 86400;
    int64_t second = utc_s % 86400;
    if (second < 0) {
        second += 86400;
        day--;
    }
    int weekday = (int)((day % 7 + 7) % 7);
    /* The civil date in the proleptic Gregorian calendar, in eras of 400 years that begin in March,
     * so that the leap day is the last of its year. */
    int64_t shifted = day + 719468;
    int64_t era = (shifted >= 0 ? shifted : shifted - 146096) / 146097;
    int64_t of_era = shifted - era * 146097;
    int64_t year_of_era = (of_era - of_era / 1460 + of_era / 36524 - of_era / 146096) / 365;
    int64_t of_year = of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    int64_t march_month = (5 * of_year + 2) / 153;
    int day_of_month = (int)(of_year - (153 * march_month + 2) / 5 + 1);
    int month = (int)(march_month < 10 ? march_month + 2 : march_month - 10);
    int64_t year = year_of_era + era * 400 + (month < 2);
    mq_buffer_printf(out, "%.3s, %02d %.3s %04lld %02d:%02d:%02d +0000", days + 3 * weekday,
                     day_of_month, months + 3 * month, (long long)year, (int)(second / 3600),
                     (int)(second / 60 % 60), (int)(second % 60));
}
