/* What signatures that a message brings along forbid to change. */
#ifndef MQ_MIME_WIRE_SIGNED_H
#define MQ_MIME_WIRE_SIGNED_H

#include "core/buffer.h"

/* The header fields that mq_message_normalize() looks after. */
enum mq_field_kind {
    MQ_FIELD_ORDINARY,
    MQ_FIELD_BLIND, /* Bcc, Resent-Bcc */
    MQ_FIELD_MESSAGE_ID,
    MQ_FIELD_DATE,
    MQ_FIELD_SIGNATURE
};

enum mq_field_kind mq_field_kind_of(struct mq_str name);

/* The kinds of the fields that a DKIM-Signature's value names in its h= (RFC 6376, 3.5), whether
 * they are there or not: bits 1 << kind. All of them where it has no h=. */
unsigned mq_signed_kinds(struct mq_str value);

/* Whether a message in wire form has a part that is signed and not encoded, so that its line ends
 * are signed too (RFC 1847, 2.1): multipart/signed, at any depth. */
bool mq_signed_parts(struct mq_str wire);

#endif
