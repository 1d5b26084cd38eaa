/* Header fields: folding (RFC 5322, 2.2.3), encoded words (RFC 2047) and what is enclosed. A field
 * is written token by token behind its "Name:"; *column is the length of the line so far. */
#ifndef MQ_MIME_HEADER_H
#define MQ_MIME_HEADER_H

#include "core/buffer.h"
#include "core/error.h"

#define MQ_HEADER_UTF8   "utf-8" /* the charset of encoded words */
#define MQ_WORD_SHORT    16      /* characters that are worth an encoded word at a line's end */
#define MQ_LINE_MAX_WORD 76      /* of lines with encoded words: RFC 2047, 2 */

/* Checks UTF-8 text of a header. What people write and paste may have tabs, vertical tabs, form
 * feeds, U+0085, U+2028 and U+2029: each is a space in what *text is afterwards, which is in
 * `spaced` then (initialised, empty). MQ_MESSAGE with `field`: CR, LF, NUL and the other
 * controls. */
enum mq_status mq_header_text(struct mq_str *text, const char *field, struct mq_buffer *spaced,
                              struct mq_error *err);
/* All characters of 32 … 126, and nothing that is the begin or end of an encoded word. */
bool mq_header_plain(struct mq_str text);

/* "Name: value" with unstructured UTF-8 text, folded at 78; ends with CRLF. From the first word
 * that is not plain to the last one, it is made of encoded words, split between characters. Plain
 * words of any length that a line may have (998) stay whole: ids and URIs are not decoded. */
void mq_encode_header(struct mq_buffer *out, const char *name, struct mq_str value);
/* A display name as phrase: atoms or a quoted string, folded before but not inside; or encoded
 * words, folded between them. `name` has no control characters. */
void mq_encode_phrase(struct mq_buffer *out, size_t *column, struct mq_str name);
/* Encoded words, folded between them and between the characters of the charset. */
void mq_encode_words(struct mq_buffer *out, size_t *column, struct mq_str charset,
                     struct mq_str text);
/* What the text takes as a single encoded word, however long. */
size_t mq_encode_words_size(struct mq_str charset, struct mq_str text);
/* A quoted string (RFC 5322, 3.2.4), and how long it is. */
void mq_encode_quoted(struct mq_buffer *out, struct mq_str text);
size_t mq_quoted_size(struct mq_str text);

/* Length of the encoded word that text begins with, 0 when there is none. Many programs leave
 * commas, brackets and the like in them as they are. */
size_t mq_encoded_word_length(struct mq_str text);
/* Length of the quoted string, comment (which may have others in it) or literal in brackets that
 * text begins with, 0 when it does not end. */
size_t mq_enclosed_length(struct mq_str text);

/* Appends a space, or folds where a token of `len` would pass 76 otherwise, which is the limit of
 * lines with encoded words. Behind the field's name only where the line then keeps the limit. */
void mq_encode_break(struct mq_buffer *out, size_t *column, size_t len);
/* That, and the token. */
void mq_encode_token(struct mq_buffer *out, size_t *column, struct mq_str token);

#endif
