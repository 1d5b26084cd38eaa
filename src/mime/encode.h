/* Encodings of headers and bodies: quoted-printable and base64 (RFC 2045, 6.7 and 6.8), encoded
 * words (RFC 2047), dates (RFC 5322, 3.3). Lines end with CRLF. */
#ifndef MQ_MIME_ENCODE_H
#define MQ_MIME_ENCODE_H

#include <stdint.h>

#include "core/buffer.h"

/* Quoted-printable of text whose lines end with CRLF: lines of at most 76, space and tab at line
 * ends encoded, and "From " and "." at line begins too. */
void mq_encode_quoted_printable(struct mq_buffer *out, struct mq_str text);
size_t mq_encode_quoted_printable_size(struct mq_str text);
void mq_encode_base64(struct mq_buffer *out, struct mq_str data); /* lines of 76 */
size_t mq_encode_base64_size(struct mq_str data);
/* "Name: value" with unstructured UTF-8 text: plain when it is ASCII and folds, else encoded words
 * split between characters; folded at 78; ends with CRLF. */
void mq_encode_header(struct mq_buffer *out, const char *name, struct mq_str value);
/* Appends a space and the token to a header line, or folds the line before it when it would be over
 * 76, which is the limit where encoded words are. *column is the length of the line so far. */
void mq_encode_token(struct mq_buffer *out, size_t *column, struct mq_str token);
/* A display name as phrase, in the same way: atoms or a quoted string, folded before but not
 * inside; or encoded words, folded between them. `name` has no control characters. */
void mq_encode_phrase(struct mq_buffer *out, size_t *column, struct mq_str name);
/* "Sat, 21 Nov 2026 09:35:00 +0000" */
void mq_encode_date(struct mq_buffer *out, int64_t utc_s);

#endif
