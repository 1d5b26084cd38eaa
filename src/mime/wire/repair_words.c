/* Writes encoded words and folds, for header fields that an application wrote in raw UTF-8 or an
 * old charset, as mail() scripts do. */
#include <string.h>

#include "core/ascii.h"
#include "mime/header.h"
#include "mime/wire/internal.h"

enum { ENCODED_WORD_MIN = 8 }; /* "=?x?Q??=": a charset of one letter, and no text */

#define BLANKS_MAX 8 /* more spaces become one: they could fill a line */

void mq_repair_unfold(struct mq_buffer *out, struct mq_str value)
{
    for (size_t i = 0; i < value.len; i++) {
        char c = value.data[i];
        if (c != '\r' && c != '\n') {
            mq_buffer_char(out, c == '\t' ? ' ' : c);
        }
    }
}

void mq_repair_escape(struct mq_buffer *out, struct mq_str text, char mark)
{
    for (size_t i = 0; i < text.len; i++) {
        unsigned char c = (unsigned char)text.data[i];
        if (c < 0x80) {
            mq_buffer_char(out, (char)c);
        } else {
            mq_buffer_printf(out, "%c%02X", mark, c);
        }
    }
}

size_t mq_repair_blanks(struct mq_str text)
{
    size_t n = 0;
    while (n < text.len && mq_is_blank(text.data[n])) {
        n++;
    }
    return n;
}

size_t mq_repair_blanks_behind(struct mq_str text)
{
    size_t n = 0;
    while (n < text.len && mq_is_blank(text.data[text.len - 1 - n])) {
        n++;
    }
    return n;
}

size_t mq_repair_enclosed(struct mq_str text)
{
    size_t n = mq_enclosed_length(text);
    return n > 0 ? n : text.len;
}

bool mq_repair_is_encoded(struct mq_str word)
{
    return word.len >= ENCODED_WORD_MIN && mq_str_ascii(word) &&
           mq_encoded_word_length(word) == word.len;
}

/* ---- encoded words ---- */

static void put(struct mq_repair_line *line, struct mq_str text)
{
    mq_buffer_str(line->out, text);
    line->column += text.len;
}

/* Writes the spaces before a token of `len` octets. Folds first if the token would not fit, but not
 * directly after the field's name. */
static void put_blanks(struct mq_repair_line *line, struct mq_str blanks, size_t len)
{
    blanks.len = blanks.len > BLANKS_MAX ? 1 : blanks.len;
    len += line->room;
    line->room = 0;
    if (line->begun && blanks.len > 0 && line->column + blanks.len + len > MQ_LINE_MAX_WORD) {
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
    size_t whole = mq_encode_words_size(line->charset, text);
    size_t least = mq_encode_words_size(line->charset, MQ_STR("")) + MQ_WORD_SHORT;
    put_blanks(line, blanks, whole < least ? whole : least);
    line->changed = true;
    mq_encode_words(line->out, &line->column, line->charset, text);
}

/* ---- unstructured text ---- */

enum kind { NONE, PLAIN, ENCODED, RAW };

struct piece {
    struct mq_str blanks, word;
    enum kind kind;
};

static struct piece take_piece(struct mq_str *text)
{
    struct piece piece = {.blanks = mq_str_cut(text, mq_repair_blanks(*text))};
    piece.word = mq_str_cut(text, mq_str_find(*text, ' '));
    if (piece.word.len > 0) {
        piece.kind = !mq_str_ascii(piece.word)          ? RAW
                     : mq_repair_is_encoded(piece.word) ? ENCODED
                                                        : PLAIN;
    }
    return piece;
}

/* Extends a run of words that are to be encoded. Readers drop the white space between encoded
 * words, so the run includes the spaces between its words, and before an encoded word after it. */
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
