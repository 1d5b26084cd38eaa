/* Writes header fields with folds (RFC 5322, 2.2.3) and encoded words (RFC 2047), token by token
 * after "Name:"; *column is the length of the line so far. Also measures quoted strings, comments,
 * literals and encoded words. */
#ifndef MQ_MIME_HEADER_H
#define MQ_MIME_HEADER_H

#include "core/buffer.h"
#include "core/error.h"

#define MQ_HEADER_UTF8   "utf-8" /* the charset of encoded words */
#define MQ_WORD_SHORT    16      /* least room for the text of an encoded word at a line's end */
#define MQ_LINE_MAX_WORD 76      /* of lines with encoded words: RFC 2047, 2 */

/* Checks UTF-8 text of a header. Replaces the separators that pasted text may have (tab, vertical
 * tab, form feed, U+0085, U+2028, U+2029) by spaces: *text then points into `spaced` (initialised,
 * empty). MQ_MESSAGE with `field` for invalid UTF-8, CR, LF, NUL and the other controls. */
enum mq_status mq_header_text(struct mq_str *text, const char *field, struct mq_buffer *spaced,
                              struct mq_error *err);
/* Whether all characters are in 32 … 126, without "=?" and "?=" of encoded words. */
bool mq_header_plain(struct mq_str text);

/* Appends "Name: value" CRLF with unstructured UTF-8 text, folded at 78. From the first word that
 * is not plain to the last such word, the text becomes encoded words, split between characters.
 * Plain words stay whole if a line can hold them (998): readers do not decode ids and URIs. */
void mq_encode_header(struct mq_buffer *out, const char *name, struct mq_str value);
/* Appends a display name as phrase: atoms or a quoted string, with a fold only before it; or
 * encoded words, with folds between them. `name` has no control characters. */
void mq_encode_phrase(struct mq_buffer *out, size_t *column, struct mq_str name);
/* Appends text as encoded words, split between characters of the charset, with folds between the
 * words. */
void mq_encode_words(struct mq_buffer *out, size_t *column, struct mq_str charset,
                     struct mq_str text);
/* Returns the size of the text as a single encoded word, however long. */
size_t mq_encode_words_size(struct mq_str charset, struct mq_str text);
/* Appends text as a quoted string (RFC 5322, 3.2.4); mq_quoted_size() is the size of that. */
void mq_encode_quoted(struct mq_buffer *out, struct mq_str text);
size_t mq_quoted_size(struct mq_str text);

/* An encoded word: "=?charset?encoding?text?="; `len` octets in all. */
struct mq_encoded_word {
    struct mq_str charset, encoding, text;
    size_t len;
};
/* Reads the encoded word that `in` begins with; false: there is none. */
bool mq_encoded_word_read(struct mq_str in, struct mq_encoded_word *word);
/* Returns the length of the encoded word that text begins with, 0 if there is none, or a space is
 * in it. It may have commas, brackets and the like in it, which many programs do not encode. */
size_t mq_encoded_word_length(struct mq_str text);
/* Returns the length of the quoted string, comment (with the comments nested in it) or literal in
 * brackets that text begins with. Returns 0 if its end is missing. */
size_t mq_enclosed_length(struct mq_str text);

/* Appends a space; or folds, if a token of `len` would pass column 76, the limit of lines with
 * encoded words. Folds after the field's name only if the token fits in the new line. */
void mq_encode_break(struct mq_buffer *out, size_t *column, size_t len);
/* Calls mq_encode_break() and appends the token. */
void mq_encode_token(struct mq_buffer *out, size_t *column, struct mq_str token);

#endif
