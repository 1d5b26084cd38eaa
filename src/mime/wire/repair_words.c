/* Encoded words and folding for header fields that an application wrote in raw UTF-8 or an old
 * charset, as mail() scripts do. */
#include <string.h>

#include "core/ascii.h"
#include "mime/encode.h"
#include "mime/wire/internal.h"

#define LINE_MAX_WORD 76 /* RFC 2047, 2: of lines with encoded words */
#define WORD_FRAME    7  /* "=?", "?Q?" and "?=" */
#define WORD_SHORT    16 /* characters that are worth a word at a line's end */
#define BLANKS_MAX    8  /* more of them could fill a line */

void mq_repair_unfold(struct mq_buffer *out, struct mq_str value)
{
    for (size_t i = 0; i < value.len; i++) {
        char c = value.data[i];
        if (c != '\r' && c != '\n') {
            mq_buffer_char(out, c == '\t' ? ' ' : c);
        }
    }
}

bool mq_repair_is_encoded(struct mq_str word)
{
    size_t marks = 0;
    if (word.len < 8 || memcmp(word.data, "=?", 2) != 0 ||
        memcmp(word.data + word.len - 2, "?=", 2) != 0) {
        return false;
    }
    for (size_t i = 2; i < word.len; i++) {
        unsigned char c = (unsigned char)word.data[i];
        marks += c == '?';
        if (c <= 32 || c > 126) {
            return false;
        }
    }
    return marks == 3;
}

/* ---- encoded words ---- */

static bool stands_for_itself(char c)
{
    return mq_is_alnum(c) || (c != '\0' && strchr(" !*+-/", c) != NULL);
}

static size_t q_size(struct mq_str text)
{
    size_t size = 0;
    for (size_t i = 0; i < text.len; i++) {
        size += stands_for_itself(text.data[i]) ? 1 : 3;
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

/* Where text of an unknown charset may be cut, at most at `max`: before an ASCII byte that is the
 * second of no pair (these are all from "0" on), else between pairs. */
static size_t cut_between_pairs(struct mq_str text, size_t max)
{
    size_t begin = max; /* of the bytes over 127 that end there */
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

/* Length of the longest prefix, whole characters, whose encoding has at most `room`. */
static size_t word_prefix(struct mq_str text, struct mq_str charset, bool q, size_t room)
{
    size_t n = 0;
    size_t used = 0;
    while (n < text.len) {
        used = q ? used + (stands_for_itself(text.data[n]) ? 1 : 3)
                 : b_size((struct mq_str){NULL, n + 1});
        if (used > room) {
            break;
        }
        n++;
    }
    if (n == 0 || n == text.len || is_single_byte(charset)) {
        return n;
    }
    return mq_str_begins_nocase(charset, "utf-8") ? mq_utf8_cut(text, n)
                                                  : cut_between_pairs(text, n);
}

static void put_word(struct mq_repair_line *line, struct mq_str text, bool q)
{
    static const char hex[] = "0123456789ABCDEF";
    size_t before = line->out->len;
    mq_buffer_append(line->out, "=?", 2);
    mq_buffer_str(line->out, line->charset);
    mq_buffer_append(line->out, q ? "?Q?" : "?B?", 3);
    if (!q) {
        mq_encode_base64_raw(line->out, text);
    }
    for (size_t i = 0; q && i < text.len; i++) {
        unsigned char c = (unsigned char)text.data[i];
        if (c == ' ') {
            mq_buffer_char(line->out, '_');
        } else if (stands_for_itself((char)c)) {
            mq_buffer_char(line->out, (char)c);
        } else {
            char coded[] = {'=', hex[c >> 4], hex[c & 15]};
            mq_buffer_append(line->out, coded, sizeof coded);
        }
    }
    mq_buffer_append(line->out, "?=", 2);
    line->column += line->out->len - before;
}

static void put(struct mq_repair_line *line, struct mq_str text)
{
    mq_buffer_str(line->out, text);
    line->column += text.len;
}

/* Writes the spaces before something of `len`, behind a fold where it would not fit otherwise; a
 * field's name does not stay alone in its line. */
static void put_blanks(struct mq_repair_line *line, struct mq_str blanks, size_t len)
{
    blanks.len = blanks.len > BLANKS_MAX ? 1 : blanks.len;
    len += line->room;
    line->room = 0;
    if (line->begun && blanks.len > 0 && line->column + blanks.len + len > LINE_MAX_WORD) {
        mq_buffer_append(line->out, "\r\n", 2);
        line->column = 0;
    }
    put(line, blanks);
    line->begun = true;
}

void mq_repair_put(struct mq_repair_line *line, struct mq_str blanks, struct mq_str token)
{
    put_blanks(line, blanks, token.len);
    put(line, token);
}

void mq_repair_encode(struct mq_repair_line *line, struct mq_str blanks, struct mq_str text)
{
    size_t frame = WORD_FRAME + line->charset.len;
    size_t size = q_size(text);
    bool q = size <= b_size(text);
    size = q ? size : b_size(text);
    put_blanks(line, blanks, frame + (size < WORD_SHORT ? size : WORD_SHORT));
    line->changed = true;
    while (text.len > 0 && !line->out->failed) {
        size_t used = line->column + frame;
        size_t room = used < LINE_MAX_WORD ? LINE_MAX_WORD - used : 0;
        size_t n = word_prefix(text, line->charset, q, room);
        if (n > 0) {
            put_word(line, (struct mq_str){text.data, n}, q);
            text.data += n;
            text.len -= n;
        }
        if (text.len > 0) {
            mq_buffer_append(line->out, "\r\n ", 3);
            line->column = 1;
        }
    }
}

/* ---- unstructured text ---- */

enum kind { NONE, PLAIN, ENCODED, RAW };

struct piece {
    struct mq_str blanks, word;
    enum kind kind;
};

static struct piece take_piece(struct mq_str *text)
{
    struct piece piece = {.blanks = {text->data, 0}};
    if (text->len == 0) {
        return piece; /* NULL + 0 is undefined */
    }
    while (piece.blanks.len < text->len && text->data[piece.blanks.len] == ' ') {
        piece.blanks.len++;
    }
    size_t end = piece.blanks.len;
    while (end < text->len && text->data[end] != ' ') {
        end++;
    }
    piece.word = (struct mq_str){text->data + piece.blanks.len, end - piece.blanks.len};
    text->data += end;
    text->len -= end;
    if (piece.word.len > 0) {
        piece.kind = !mq_str_ascii(piece.word)          ? RAW
                     : mq_repair_is_encoded(piece.word) ? ENCODED
                                                        : PLAIN;
    }
    return piece;
}

/* Readers drop the white space between encoded words: where words are encoded, or are so already,
 * next to each other, it goes into them. */
static void extend(struct mq_str *run, struct mq_str *text)
{
    for (;;) {
        struct mq_str rest = *text;
        struct piece next = take_piece(&rest);
        if (next.kind == RAW) {
            run->len = (size_t)(next.word.data + next.word.len - run->data);
            *text = rest;
            continue;
        }
        if (next.kind == ENCODED) {
            run->len = (size_t)(next.word.data - run->data);
        }
        return;
    }
}

void mq_repair_text(struct mq_repair_line *line, struct mq_str text)
{
    enum kind before = NONE;
    while (!line->out->failed) {
        struct piece piece = take_piece(&text);
        if (piece.kind == NONE) {
            return;
        }
        if (piece.kind != RAW) {
            mq_repair_put(line, before == RAW && piece.kind == ENCODED ? MQ_STR(" ") : piece.blanks,
                          piece.word);
            before = piece.kind;
            continue;
        }
        struct mq_str run = piece.word;
        if (before == ENCODED) {
            run = (struct mq_str){piece.blanks.data, piece.blanks.len + piece.word.len};
            piece.blanks = MQ_STR(" ");
        }
        extend(&run, &text);
        mq_repair_encode(line, piece.blanks, run);
        before = RAW;
    }
}
