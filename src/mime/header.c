/* Writes header fields with folds and encoded words, and measures the pieces that readers must not
 * split. The composer's hot path; measure with tools/bench compose. */
#include "mime/header.h"

#include <string.h>

#include "core/ascii.h"
#include "core/hex.h"
#include "mime/address.h"
#include "mime/encode.h"

#define LINE_MAX_FOLD  78 /* RFC 5322, 2.1.1 */
#define WORD_MAX       75 /* RFC 2047, 2 */
#define WORD_FRAME     7  /* "=?", "?Q?" and "?=" */
#define CHAR_MAX_CODED 12 /* octets of one UTF-8 character in Q encoding */
#define PHRASE_PLAIN   60 /* octets; a longer name becomes encoded words, which can be folded */

/* Whether a character is one that programs write where a person pressed tab, or began a line in a
 * paragraph: HTAB, VT, FF, NEL, LINE or PARAGRAPH SEPARATOR. CR and LF are not among them, because
 * attackers inject headers with these. */
static bool is_separator(uint32_t code)
{
    return code == 0x09 || code == 0x0B || code == 0x0C || code == 0x85 || code == 0x2028 ||
           code == 0x2029;
}

enum mq_status mq_header_text(struct mq_str *text, const char *field, struct mq_buffer *spaced,
                              struct mq_error *err)
{
    size_t copied = 0;
    for (size_t i = 0; i < text->len;) {
        struct mq_str rest = {text->data + i, text->len - i};
        uint32_t code = 0;
        size_t step = mq_utf8_next(rest, &code);
        if (step == 0) {
            return mq_error_set(err, MQ_MESSAGE, field,
                                "%s: byte %zu is not valid UTF-8; convert the text", field, i + 1);
        }
        if (is_separator(code)) {
            mq_buffer_append(spaced, text->data + copied, i - copied);
            mq_buffer_char(spaced, ' ');
            copied = i + step;
        } else if (code < 0x20 || (code >= 0x7F && code < 0xA0)) {
            return mq_error_set(err, MQ_MESSAGE, field,
                                "%s: control character U+%04X at byte %zu; remove it (headers are "
                                "one line, folded where they are written)",
                                field, (unsigned)code, i + 1);
        }
        i += step;
    }
    if (copied > 0) {
        mq_buffer_append(spaced, text->data + copied, text->len - copied);
        *text = mq_buffer_view(spaced);
        return spaced->failed ? mq_error_nomem(err) : MQ_OK;
    }
    return MQ_OK;
}

bool mq_header_plain(struct mq_str text)
{
    for (size_t i = 0; i < text.len; i++) {
        char c = text.data[i];
        char next = i + 1 < text.len ? text.data[i + 1] : '\0';
        if (c < 32 || c > 126 || (c == '=' && next == '?') || (c == '?' && next == '=')) {
            return false;
        }
    }
    return true;
}

/* ---- encoded words ---- */

/* Returns how many characters a byte takes in Q encoding. Of all places, phrases allow the fewest
 * unencoded characters, and only those stay unencoded (RFC 2047, section 5, rule 3). */
static size_t q_width(unsigned char c)
{
    return mq_is_alnum((char)c) || (c != '\0' && strchr(" !*+-/", c) != NULL) ? 1 : 3;
}

static size_t q_size(struct mq_str text)
{
    size_t size = 0;
    for (size_t i = 0; i < text.len; i++) {
        size += q_width((unsigned char)text.data[i]);
    }
    return size;
}

static size_t b_size(struct mq_str text)
{
    return (text.len + 2) / 3 * 4;
}

static bool is_single_byte(struct mq_str charset)
{
    return mq_str_begins_nocase(charset, "iso-8859-") ||
           mq_str_begins_nocase(charset, "windows-125") || mq_str_begins_nocase(charset, "koi8-") ||
           mq_str_begins_nocase(charset, "cp125") || mq_str_begins_nocase(charset, "latin");
}

/* Returns where to cut text of an unknown charset, whose characters may be pairs of bytes: at `max`
 * or earlier, before an ASCII byte below "0" (never the second of a pair), or between pairs. */
static size_t cut_between_pairs(struct mq_str text, size_t max)
{
    size_t begin = max; /* where the run of bytes over 127 before `max` begins */
    for (size_t n = max; n > 0; n--) {
        unsigned char c = (unsigned char)text.data[n];
        if (c < '0') {
            return n;
        }
        begin = begin == n && (text.data[n - 1] & 0x80) != 0 ? n - 1 : begin;
    }
    size_t pairs = (max - begin) / 2 * 2;
    return begin + pairs > 0 ? begin + pairs : max;
}

/* Returns the length of the longest prefix of whole characters whose encoding fits in `room`. */
static size_t word_prefix(struct mq_str text, struct mq_str charset, bool q, size_t room)
{
    size_t n = q ? 0 : room / 4 * 3;
    for (size_t used = 0; q && n < text.len; n++) {
        used += q_width((unsigned char)text.data[n]);
        if (used > room) {
            break;
        }
    }
    if (n >= text.len) {
        return text.len;
    }
    return n == 0 || is_single_byte(charset)               ? n
           : mq_str_begins_nocase(charset, MQ_HEADER_UTF8) ? mq_utf8_cut(text, n)
                                                           : cut_between_pairs(text, n);
}

static void fold(struct mq_buffer *out, size_t *column)
{
    mq_buffer_append(out, "\r\n ", 3);
    *column = 1;
}

static void put_word(struct mq_buffer *out, struct mq_str charset, struct mq_str text, bool q)
{
    char word[3 * WORD_MAX];
    size_t n = 0;
    mq_buffer_append(out, "=?", 2);
    mq_buffer_str(out, charset);
    mq_buffer_append(out, q ? "?Q?" : "?B?", 3);
    if (!q) {
        mq_encode_base64_raw(out, text);
    }
    for (size_t i = 0; q && i < text.len; i++) {
        unsigned char c = (unsigned char)text.data[i];
        if (q_width(c) == 1) {
            word[n++] = c == ' ' ? '_' : (char)c;
        } else {
            word[n++] = '=';
            mq_hex_put(word + n, c);
            n += 2;
        }
    }
    mq_buffer_append(out, word, n);
    mq_buffer_append(out, "?=", 2);
}

size_t mq_encode_words_size(struct mq_str charset, struct mq_str text)
{
    size_t q = q_size(text);
    size_t b = b_size(text);
    return WORD_FRAME + charset.len + (q < b ? q : b);
}

void mq_encode_words(struct mq_buffer *out, size_t *column, struct mq_str charset,
                     struct mq_str text)
{
    bool q = q_size(text) <= b_size(text);
    while (text.len > 0 && !out->failed) {
        size_t used = *column + WORD_FRAME + charset.len;
        size_t room = used < MQ_LINE_MAX_WORD ? MQ_LINE_MAX_WORD - used : 0;
        struct mq_str part = mq_str_cut(&text, word_prefix(text, charset, q, room));
        size_t before = out->len;
        if (part.len > 0) {
            put_word(out, charset, part, q);
            *column += out->len - before;
        }
        if (text.len > 0) {
            fold(out, column);
        }
    }
}

static bool is_behind_name(const struct mq_buffer *out)
{
    return out->len > 0 && out->data[out->len - 1] == ':';
}

/* Writes encoded words after a space, or after a fold if only a few characters would fit. Fewer
 * are enough after the field's name: some readers treat a fold there as part of the value. */
static void put_words(struct mq_buffer *out, size_t *column, struct mq_str text)
{
    const struct mq_str charset = MQ_STR(MQ_HEADER_UTF8);
    size_t whole = mq_encode_words_size(charset, text);
    size_t least =
        WORD_FRAME + charset.len + (is_behind_name(out) ? CHAR_MAX_CODED : MQ_WORD_SHORT);
    mq_encode_break(out, column, whole < least ? whole : least);
    mq_encode_words(out, column, charset, text);
}

/* ---- unstructured fields ---- */

/* Returns the length of the next piece: spaces and the word after them. A fold can be before each
 * piece. If the word ends at `last`, the piece includes the spaces after the word. */
static size_t piece_length(struct mq_str text, size_t at, size_t last)
{
    size_t i = at;
    while (i < text.len && text.data[i] == ' ') {
        i++;
    }
    while (i < text.len && text.data[i] != ' ') {
        i++;
    }
    return (i == last ? text.len : i) - at;
}

/* Finds the part that has to be encoded. It extends from the first to the last word that is not
 * plain or is too long for a line, without the space before the first. */
static struct mq_str find_coded(struct mq_str value, size_t column)
{
    struct mq_str found = {NULL, 0};
    size_t last = value.len;
    while (last > 0 && value.data[last - 1] == ' ') {
        last--;
    }
    for (size_t at = 0, n; at < value.len; at += n) {
        n = piece_length(value, at, last);
        struct mq_str piece = {value.data + at, n};
        /* Readers would treat white space at the value's ends as folding, or trim it. */
        bool blank_end = (at == 0 && piece.data[0] == ' ') || piece.data[n - 1] == ' ';
        size_t length = at == 0 ? column + 1 + n : n;
        if (blank_end || length > MQ_LINE_MAX || !mq_header_plain(piece)) {
            found.data = found.data ? found.data : piece.data + (at > 0);
            found.len = (size_t)(piece.data + n - found.data);
        }
    }
    return found;
}

static void put_plain(struct mq_buffer *out, size_t *column, struct mq_str text, size_t line_max)
{
    if (is_behind_name(out)) {
        mq_buffer_char(out, ' ');
        ++*column;
    }
    for (size_t at = 0, n; at < text.len; at += n) {
        n = piece_length(text, at, text.len);
        if (text.data[at] == ' ' && *column + n > line_max) {
            mq_buffer_append(out, "\r\n", 2); /* the piece begins with the space of the fold */
            *column = 0;
        }
        mq_buffer_append(out, text.data + at, n);
        *column += n;
    }
}

void mq_encode_header(struct mq_buffer *out, const char *name, struct mq_str value)
{
    size_t column = strlen(name) + 1;
    mq_buffer_cstr(out, name);
    mq_buffer_char(out, ':');
    struct mq_str coded = find_coded(value, column);
    if (coded.data == NULL) {
        put_plain(out, &column, value, LINE_MAX_FOLD);
    } else {
        size_t before = (size_t)(coded.data - value.data);
        size_t behind = value.len - before - coded.len;
        if (before > 0) {
            put_plain(out, &column, (struct mq_str){value.data, before - 1}, MQ_LINE_MAX_WORD);
        }
        put_words(out, &column, coded);
        put_plain(out, &column, (struct mq_str){coded.data + coded.len, behind}, MQ_LINE_MAX_WORD);
    }
    mq_buffer_append(out, "\r\n", 2);
}

/* ---- structured fields ---- */

bool mq_encoded_word_read(struct mq_str in, struct mq_encoded_word *word)
{
    struct mq_str rest = in;
    if (!mq_str_begins(in, "=?")) {
        return false;
    }
    mq_str_cut(&rest, 2);
    word->charset = mq_str_cut_at(&rest, '?');
    word->charset.len = mq_str_find(word->charset, '*'); /* cuts off a language: RFC 2231 */
    word->encoding = mq_str_cut_at(&rest, '?');
    word->text = mq_str_cut_at(&rest, '?');
    word->len = in.len - rest.len + 1;
    return rest.len > 0 && rest.data[0] == '=';
}

size_t mq_encoded_word_length(struct mq_str text)
{
    struct mq_encoded_word word;
    bool found = mq_encoded_word_read(text, &word);
    for (size_t i = 0; found && i < word.len; i++) {
        found = (unsigned char)text.data[i] > ' ';
    }
    return found ? word.len : 0;
}

size_t mq_enclosed_length(struct mq_str text)
{
    char open = text.data[0];
    char close = open == '(' ? ')' : open == '[' ? ']' : '"';
    size_t depth = 1;
    for (size_t i = 1; i < text.len; i++) {
        char c = text.data[i];
        if (c == close && --depth == 0) {
            return i + 1;
        }
        depth += c == '(' && open == '(';
        i += c == '\\' && open != '[';
    }
    return 0;
}

void mq_encode_break(struct mq_buffer *out, size_t *column, size_t len)
{
    if (*column + 1 + len > MQ_LINE_MAX_WORD &&
        (!is_behind_name(out) || 1 + len <= MQ_LINE_MAX_WORD)) {
        fold(out, column);
    } else {
        mq_buffer_char(out, ' ');
        ++*column;
    }
}

void mq_encode_token(struct mq_buffer *out, size_t *column, struct mq_str token)
{
    mq_encode_break(out, column, token.len);
    mq_buffer_str(out, token);
    *column += token.len;
}

/* Whether a name is atoms with single spaces between them (RFC 5322, 3.2.3). */
static bool is_atoms(struct mq_str name)
{
    for (size_t i = 0; i < name.len; i++) {
        char c = name.data[i];
        bool space = c == ' ' && i > 0 && i + 1 < name.len && name.data[i + 1] != ' ';
        if (!space && !mq_is_atext(c)) {
            return false;
        }
    }
    return name.len > 0;
}

size_t mq_quoted_size(struct mq_str text)
{
    size_t size = text.len + 2;
    for (size_t i = 0; i < text.len; i++) {
        size += text.data[i] == '"' || text.data[i] == '\\';
    }
    return size;
}

void mq_encode_quoted(struct mq_buffer *out, struct mq_str text)
{
    mq_buffer_char(out, '"');
    for (size_t i = 0; i < text.len; i++) {
        if (text.data[i] == '"' || text.data[i] == '\\') {
            mq_buffer_char(out, '\\');
        }
        mq_buffer_char(out, text.data[i]);
    }
    mq_buffer_char(out, '"');
}

void mq_encode_phrase(struct mq_buffer *out, size_t *column, struct mq_str name)
{
    size_t size = mq_quoted_size(name);
    if (name.len > PHRASE_PLAIN || size >= MQ_LINE_MAX_WORD || !mq_header_plain(name)) {
        put_words(out, column, name);
    } else if (is_atoms(name)) {
        mq_encode_token(out, column, name);
    } else {
        mq_encode_break(out, column, size);
        mq_encode_quoted(out, name);
        *column += size;
    }
}
