/* Composing a plain text message from its fields. Output is 7-bit (RFC 2045, 2047, 5322), but for
 * addresses whose local part is not (RFC 6532). */
#ifndef MQ_MIME_COMPOSE_H
#define MQ_MIME_COMPOSE_H

#include <stdint.h>

#include "core/address.h"
#include "core/buffer.h"
#include "core/error.h"

struct mq_compose_fields {
    struct mq_str from;      /* one mailbox; required */
    const struct mq_str *to; /* mailboxes; at least one */
    size_t to_count;
    struct mq_str subject;  /* UTF-8 */
    struct mq_str text;     /* UTF-8, any line ends */
    const char *message_id; /* "<…@…>", required */
    int64_t date_s;         /* UTC */
    size_t max_size;        /* of the result; 0 = no limit */
};

/* Appends the message in wire form to `out` (initialised, empty); the envelope's sender goes to
 * *envelope_from (malloc'ed) and its recipients to `recipients` (initialised, empty), as plain
 * addr-specs, each once. MQ_MESSAGE names the field: CR, LF, NUL and other controls in from, to,
 * subject; invalid UTF-8; a bad address; a NUL in the text. */
enum mq_status mq_compose_text(const struct mq_compose_fields *fields, struct mq_buffer *out,
                               char **envelope_from, struct mq_strings *recipients,
                               struct mq_error *err);

#endif
