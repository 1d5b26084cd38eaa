/* Encodes bodies as quoted-printable and base64 (RFC 2045, 6.7 and 6.8), and writes dates (RFC
 * 5322, 3.3). Lines end with CRLF. */
#ifndef MQ_MIME_ENCODE_H
#define MQ_MIME_ENCODE_H

#include <stdint.h>

#include "core/buffer.h"

#define MQ_LINE_MAX    998 /* octets of a line without its end: RFC 5322, 2.1.1 */
#define MQ_BASE64_LINE 57  /* bytes that give a line of 76 */

/* How a body goes over the wire (RFC 2045, section 6). */
enum mq_encoding {
    MQ_ENCODING_7BIT,
    MQ_ENCODING_8BIT,
    MQ_ENCODING_QUOTED_PRINTABLE,
    MQ_ENCODING_BASE64
};

const char *mq_encoding_name(enum mq_encoding encoding);

/* Lines of a text may end with CRLF, LF or CR, and the last one with nothing. When they are
 * encoded, they all end with CRLF. */

/* Returns 7bit for a text that relays and mailboxes leave as it is: ASCII without controls, lines
 * up to 998 octets, none that begins with "From " or ends with white space. Else returns the
 * shorter of quoted-printable and base64 (to a few percent). *size is at least the size of the
 * encoded text. */
enum mq_encoding mq_encode_text_choose(struct mq_str text, size_t *size);
void mq_encode_text(struct mq_buffer *out, struct mq_str text, enum mq_encoding encoding);

/* Writes lines of at most 76 octets. Encodes blanks at the end of a line, and "From " and "." at
 * its beginning. */
void mq_encode_quoted_printable(struct mq_buffer *out, struct mq_str text);

void mq_encode_base64(struct mq_buffer *out, struct mq_str data); /* lines of 76 */
size_t mq_encode_base64_size(struct mq_str data);                 /* reads only data.len */
/* Appends base64 without line ends; padded if len is not a multiple of 3. */
void mq_encode_base64_raw(struct mq_buffer *out, struct mq_str data);

/* "Sat, 21 Nov 2026 09:35:00 +0000" */
void mq_encode_date(struct mq_buffer *out, int64_t utc_s);

#endif
