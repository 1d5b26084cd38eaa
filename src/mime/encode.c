#include "mime/encode.h"

#include <string.h>

#define LINE_MAX_QP   76 /* RFC 2045, 6.7 */
#define BASE64_BYTES  57 /* give 76 characters */
#define LINE_MAX_FOLD 78 /* RFC 5322, 2.1.1 */
#define LINE_MAX_WORD 76 /* RFC 2047, 2: of lines with encoded words */
#define WORD_MAX      75 /* RFC 2047, 2 */
#define WORD_FRAME    12 /* "=?utf-8?Q?" and "?=" */
#define PHRASE_PLAIN  60 /* a longer name is made foldable as encoded words */

static const char hex[] = "0123456789ABCDEF";

/* ---- quoted-printable ---- */

/* Writes to a buffer, or only counts when there is none. */
struct sink {
    struct mq_buffer *out;
    size_t size;
};

static void put(struct sink *sink, const char *data, size_t len)
{
    sink->size += len;
    if (sink->out != NULL) {
        mq_buffer_append(sink->out, data, len);
    }
}

static bool at_line_end(struct mq_str text, size_t i)
{
    return i == text.len || (i + 1 < text.len && text.data[i] == '\r' && text.data[i + 1] == '\n');
}

static bool qp_literal(struct mq_str text, size_t i, size_t column)
{
    unsigned char c = (unsigned char)text.data[i];
    if (c == ' ' || c == '\t') {
        return !at_line_end(text, i + 1);
    }
    if (c < 33 || c > 126 || c == '=') {
        return false;
    }
    if (column > 0) {
        return true;
    }
    /* "From " is changed by mailboxes in mbox form, a dot by relays that stuff badly. */
    return c != '.' && !(text.len - i >= 5 && memcmp(text.data + i, "From ", 5) == 0);
}

static void quoted_printable(struct sink *sink, struct mq_str text)
{
    size_t column = 0;
    for (size_t i = 0; i < text.len; i++) {
        if (at_line_end(text, i)) {
            put(sink, "\r\n", 2);
            column = 0;
            i++;
            continue;
        }
        /* A soft break's "=" must fit too, unless the line ends here anyway. */
        size_t limit = at_line_end(text, i + 1) ? LINE_MAX_QP : LINE_MAX_QP - 1;
        if (column + (qp_literal(text, i, column) ? 1 : 3) > limit) {
            put(sink, "=\r\n", 3);
            column = 0;
        }
        if (qp_literal(text, i, column)) {
            put(sink, text.data + i, 1);
            column++;
        } else {
            unsigned char c = (unsigned char)text.data[i];
            char encoded[3] = {'=', hex[c >> 4], hex[c & 15]};
            put(sink, encoded, 3);
            column += 3;
        }
    }
}

void mq_encode_quoted_printable(struct mq_buffer *out, struct mq_str text)
{
    struct sink sink = {out, 0};
    quoted_printable(&sink, text);
}

size_t mq_encode_quoted_printable_size(struct mq_str text)
{
    struct sink sink = {NULL, 0};
    quoted_printable(&sink, text);
    return sink.size;
}

/* ---- base64 ---- */

static void base64(struct mq_buffer *out, struct mq_str data)
{
    static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    const unsigned char *in = (const unsigned char *)data.data;
    for (size_t i = 0; i < data.len; i += 3) {
        size_t n = data.len - i < 3 ? data.len - i : 3;
        unsigned bits = (unsigned)in[i] << 16;
        bits |= n > 1 ? (unsigned)in[i + 1] << 8 : 0;
        bits |= n > 2 ? in[i + 2] : 0;
        char quad[4] = {digits[bits >> 18], digits[bits >> 12 & 63],
                        n > 1 ? digits[bits >> 6 & 63] : '=', n > 2 ? digits[bits & 63] : '='};
        mq_buffer_append(out, quad, sizeof quad);
    }
}

void mq_encode_base64(struct mq_buffer *out, struct mq_str data)
{
    mq_buffer_reserve(out, mq_encode_base64_size(data));
    while (data.len > 0) {
        size_t n = data.len < BASE64_BYTES ? data.len : BASE64_BYTES;
        base64(out, (struct mq_str){data.data, n});
        mq_buffer_append(out, "\r\n", 2);
        data.data += n;
        data.len -= n;
    }
}

size_t mq_encode_base64_size(struct mq_str data)
{
    size_t lines = data.len / BASE64_BYTES + (data.len % BASE64_BYTES != 0);
    return (data.len / 3 + (data.len % 3 != 0)) * 4 + lines * 2;
}

/* ---- headers ---- */

static bool is_alnum(unsigned char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
}

/* What may stand for itself in an encoded word within a phrase, where the fewest may (RFC 2047,
 * section 5, rule 3). */
static bool word_literal(unsigned char c)
{
    return is_alnum(c) || (c != '\0' && strchr("!*+-/", c) != NULL);
}

static size_t q_size(struct mq_str text)
{
    size_t size = 0;
    for (size_t i = 0; i < text.len; i++) {
        unsigned char c = (unsigned char)text.data[i];
        size += word_literal(c) || c == ' ' ? 1 : 3;
    }
    return size;
}

static size_t b_size(struct mq_str text)
{
    return (text.len + 2) / 3 * 4;
}

/* Length of the longest prefix, whole characters, whose encoding has at most `room`. */
static size_t word_prefix(struct mq_str text, bool q, size_t room)
{
    size_t taken = 0;
    while (taken < text.len) {
        struct mq_str rest = {text.data + taken, text.len - taken};
        size_t step = mq_utf8_next(rest, NULL);
        step = step ? step : 1;
        struct mq_str longer = {text.data, taken + step};
        if ((q ? q_size(longer) : b_size(longer)) > room) {
            break;
        }
        taken += step;
    }
    return taken;
}

static void fold(struct mq_buffer *out, size_t *column)
{
    mq_buffer_cstr(out, "\r\n ");
    *column = 1;
}

static void put_word(struct mq_buffer *out, struct mq_str text, bool q)
{
    mq_buffer_cstr(out, q ? "=?utf-8?Q?" : "=?utf-8?B?");
    if (!q) {
        base64(out, text);
    }
    for (size_t i = 0; q && i < text.len; i++) {
        unsigned char c = (unsigned char)text.data[i];
        if (c == ' ') {
            mq_buffer_char(out, '_');
        } else if (word_literal(c)) {
            mq_buffer_char(out, (char)c);
        } else {
            char encoded[3] = {'=', hex[c >> 4], hex[c & 15]};
            mq_buffer_append(out, encoded, sizeof encoded);
        }
    }
    mq_buffer_cstr(out, "?=");
}

/* Text as encoded words, each after a space or a fold. Between two of them white space is not part
 * of the text, so that the text's own spaces are inside. */
static void encoded_words(struct mq_buffer *out, size_t *column, struct mq_str text)
{
    bool q = q_size(text) <= b_size(text);
    while (text.len > 0) {
        size_t frame = 1 + WORD_FRAME; /* with the space before it */
        size_t room = *column + frame < LINE_MAX_WORD ? LINE_MAX_WORD - *column - frame : 0;
        size_t n = word_prefix(text, q, room);
        /* A word of a few characters at a line's end helps nobody. */
        if (n == 0 || (room < 16 && n < text.len)) {
            fold(out, column);
            n = word_prefix(text, q, WORD_MAX - WORD_FRAME);
        } else {
            mq_buffer_char(out, ' ');
            ++*column;
        }
        size_t before = out->len;
        put_word(out, (struct mq_str){text.data, n}, q);
        *column += out->len - before;
        text.data += n;
        text.len -= n;
    }
}

static bool is_printable_ascii(struct mq_str text)
{
    for (size_t i = 0; i < text.len; i++) {
        if (text.data[i] < 32 || text.data[i] > 126) {
            return false;
        }
    }
    return true;
}

/* "=?" would be read as the begin of an encoded word. */
static bool looks_encoded(struct mq_str text)
{
    for (size_t i = 0; i + 1 < text.len; i++) {
        if (text.data[i] == '=' && text.data[i + 1] == '?') {
            return true;
        }
    }
    return false;
}

/* Length of the next piece that a fold may stand before: spaces and the word behind them. */
static size_t piece(struct mq_str text)
{
    size_t i = 0;
    while (i < text.len && text.data[i] == ' ') {
        i++;
    }
    while (i < text.len && text.data[i] != ' ') {
        i++;
    }
    return i;
}

static bool is_foldable(struct mq_str text, size_t column)
{
    if (!is_printable_ascii(text) || looks_encoded(text)) {
        return false;
    }
    if (text.len > 0 && (text.data[0] == ' ' || text.data[text.len - 1] == ' ')) {
        return false; /* would be taken for folding or trimmed */
    }
    size_t room = LINE_MAX_FOLD - column - 1;
    while (text.len > 0) {
        size_t n = piece(text);
        if (n > room) {
            return false;
        }
        text.data += n;
        text.len -= n;
        room = LINE_MAX_FOLD;
    }
    return true;
}

void mq_encode_header(struct mq_buffer *out, const char *name, struct mq_str value)
{
    size_t column = strlen(name) + 1;
    mq_buffer_cstr(out, name);
    mq_buffer_char(out, ':');
    if (!is_foldable(value, column)) {
        encoded_words(out, &column, value);
        mq_buffer_cstr(out, "\r\n");
        return;
    }
    mq_buffer_char(out, ' ');
    column++;
    while (value.len > 0) {
        size_t n = piece(value);
        if (column + n > LINE_MAX_FOLD) {
            mq_buffer_cstr(out, "\r\n"); /* the piece brings its space */
            column = 0;
        }
        mq_buffer_append(out, value.data, n);
        column += n;
        value.data += n;
        value.len -= n;
    }
    mq_buffer_cstr(out, "\r\n");
}

void mq_encode_token(struct mq_buffer *out, size_t *column, struct mq_str token)
{
    if (*column + 1 + token.len > LINE_MAX_WORD && *column > 1) {
        fold(out, column);
    } else {
        mq_buffer_char(out, ' ');
        ++*column;
    }
    mq_buffer_str(out, token);
    *column += token.len;
}

/* Atoms with single spaces between them (RFC 5322, 3.2.3). */
static bool is_atoms(struct mq_str name)
{
    for (size_t i = 0; i < name.len; i++) {
        unsigned char c = (unsigned char)name.data[i];
        bool space = c == ' ' && i > 0 && i + 1 < name.len && name.data[i + 1] != ' ';
        if (!space && !is_alnum(c) && (c == '\0' || strchr("!#$%&'*+-/=?^_`{|}~", c) == NULL)) {
            return false;
        }
    }
    return true;
}

void mq_encode_phrase(struct mq_buffer *out, size_t *column, struct mq_str name)
{
    char quoted[2 * PHRASE_PLAIN + 2];
    size_t n = 0;
    if (name.len > PHRASE_PLAIN || !is_printable_ascii(name) || looks_encoded(name)) {
        encoded_words(out, column, name);
        return;
    }
    if (name.len > 0 && is_atoms(name)) {
        mq_encode_token(out, column, name);
        return;
    }
    quoted[n++] = '"';
    for (size_t i = 0; i < name.len; i++) {
        if (name.data[i] == '"' || name.data[i] == '\\') {
            quoted[n++] = '\\';
        }
        quoted[n++] = name.data[i];
    }
    quoted[n++] = '"';
    mq_encode_token(out, column, (struct mq_str){quoted, n});
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
