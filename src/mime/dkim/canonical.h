/* What a DKIM signature is over: canonical forms (RFC 6376, 3.4) and the choice of header fields
 * (5.4). Used by sign.c, key.c and the tests. */
#ifndef MQ_MIME_DKIM_CANONICAL_H
#define MQ_MIME_DKIM_CANONICAL_H

#include "core/buffer.h"

/* Appends the fields of `prefix` and `message` (wire form) that are to be signed to `text`, in
 * canonical form, and their names to `names`, as the tag h= has them ("From:From:To", each
 * field that is there, and once more those that nobody is to add (5.4.2). */
void mq_dkim_select(struct mq_str prefix, struct mq_str message, struct mq_buffer *text,
                    struct mq_buffer *names);

/* Appends "name:value" CRLF in the form "relaxed" (3.4.2). */
void mq_dkim_relax_header(struct mq_buffer *out, struct mq_str name, struct mq_str value);

/* Gives a body in wire form to `take`, in the form "relaxed" (3.4.4), in pieces. */
typedef void (*mq_dkim_take)(void *context, const void *data, size_t len);
void mq_dkim_relax_body(struct mq_str body, mq_dkim_take take, void *context);

#endif
