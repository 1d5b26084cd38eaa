/* Addresses of the envelope (RFC 5321, section 4.1.2; RFC 6531) and mailboxes of headers
 * (RFC 5322, section 3.4). Linear time; nothing is ever repaired. */
#ifndef MQ_CORE_ADDRESS_H
#define MQ_CORE_ADDRESS_H

#include <stdbool.h>

#include "core/buffer.h"
#include "core/error.h"

/* Checks a plain addr-spec: dot-atom local part of at most 64 octets, no quoted string, no
 * comment, not beginning with '-'; a domain of A-labels (at most 255 octets, labels of 1 … 63) or
 * an address literal; 254 octets in all. UTF-8 is allowed in the local part (*utf8 says so, the
 * relay must offer SMTPUTF8); a domain with non-ASCII characters is refused with the advice to
 * write it in A-labels. MQ_MESSAGE with `field` otherwise. */
enum mq_status mq_address_check(struct mq_str address, const char *field, bool *utf8,
                                struct mq_error *err);

/* A mailbox as people write it: `addr`, `<addr>`, `Name <addr>`, `"Name" <addr>`.
 * name and address are malloc'ed; name is NULL when there is none, unquoted otherwise. No lists,
 * groups or comments. */
struct mq_mailbox {
    char *name;
    char *address;
    bool utf8; /* the local part is not ASCII */
};

enum mq_status mq_mailbox_parse(struct mq_str text, const char *field, struct mq_mailbox *out,
                                struct mq_error *err);
void mq_mailbox_clear(struct mq_mailbox *mailbox);

#endif
