/* The subject of a message as people read it: for lists and logs, never for the wire. */
#ifndef MQ_MIME_SUBJECT_H
#define MQ_MIME_SUBJECT_H

#include <stdbool.h>

#include "core/buffer.h"

#define MQ_SUBJECT_MAX 255 /* characters */

/* Appends the first Subject field of a message in wire form: unfolded, its encoded words (RFC 2047)
 * decoded, valid UTF-8 without control characters, at most MQ_SUBJECT_MAX characters. An encoded
 * word that is malformed, or in a character set that is not known here, stays as it is. False: the
 * message has no Subject. */
bool mq_subject_of(struct mq_str message, struct mq_buffer *out);

#endif
