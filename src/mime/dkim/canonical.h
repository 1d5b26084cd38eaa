/* What a DKIM signature is over: canonical forms (RFC 6376, 3.4) and the choice of header fields
 * (5.4). Used by sign.c and its tests. */
#ifndef MQ_MIME_DKIM_CANONICAL_H
#define MQ_MIME_DKIM_CANONICAL_H

#include "core/buffer.h"

/* The header fields of a mail from the top, each with its folding, and where the body begins. */
struct mq_dkim_fields {
    struct mq_str *items; /* malloc'ed; they point into the mail */
    size_t count;
    size_t capacity;
    struct mq_str body;
};

/* Reads the fields of `prefix` and `message` (wire form); false without memory. Free items. */
bool mq_dkim_fields_read(struct mq_str prefix, struct mq_str message, struct mq_dkim_fields *out);
/* The first field of that name: its value as it stands. */
bool mq_dkim_fields_find(const struct mq_dkim_fields *fields, const char *name,
                         struct mq_str *value);

/* Appends what is to be signed to `text`, in canonical form, and its names to `names`, as the tag
 * h= has them ("From:From:To"): each field that is there, and once more those that nobody is to add
 * (5.4.2). */
void mq_dkim_select(const struct mq_dkim_fields *fields, struct mq_buffer *text,
                    struct mq_buffer *names);

/* Appends "name:value" CRLF in the form "relaxed" (3.4.2). */
void mq_dkim_relax_header(struct mq_buffer *out, struct mq_str field);

/* Gives the body in the form "relaxed" (3.4.4) to `take`, in pieces. */
typedef void (*mq_dkim_take)(void *context, const void *data, size_t len);
void mq_dkim_relax_body(struct mq_str body, mq_dkim_take take, void *context);

#endif
