/* What a DKIM signature covers: canonical forms (RFC 6376, 3.4) and the choice of header fields
 * (5.4). Used by sign.c, dkim_key.c and the tests. */
#ifndef MQ_MIME_DKIM_CANONICAL_H
#define MQ_MIME_DKIM_CANONICAL_H

#include "core/buffer.h"

/* Chooses the fields of `prefix` and `message` (wire form) to sign. Appends them in canonical form
 * to `text`, and their names as in the tag h= to `names`: "From:From:To". A name occurs once for
 * each such field, and often once more, so that none can be added later (5.4.2). */
void mq_dkim_select(struct mq_str prefix, struct mq_str message, struct mq_buffer *text,
                    struct mq_buffer *names);

/* Appends "name:value" CRLF in the form "relaxed" (3.4.2). */
void mq_dkim_relax_header(struct mq_buffer *out, struct mq_str name, struct mq_str value);

/* Passes a body in wire form to `take`, in the form "relaxed" (3.4.4), in pieces. */
typedef void (*mq_dkim_take)(void *context, const void *data, size_t len);
void mq_dkim_relax_body(struct mq_str body, mq_dkim_take take, void *context);

#endif
