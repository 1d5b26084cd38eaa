/* Addresses of the envelope (RFC 5321, section 4.1.2; RFC 6531). Linear time; nothing is ever
 * repaired. */
#ifndef MQ_MIME_ADDRESS_H
#define MQ_MIME_ADDRESS_H

#include <stdbool.h>

#include "core/buffer.h"
#include "core/error.h"

/* Checks a plain addr-spec: dot-atom local part of at most 64 octets, no quoted string, no
 * comment, not beginning with '-'; a domain of A-labels (at most 255 octets, labels of 1 … 63) or
 * an address literal; 254 octets in all. UTF-8 is allowed in the local part (the relay must offer
 * SMTPUTF8); a domain with non-ASCII characters is refused with the advice to write it in A-labels.
 * MQ_MESSAGE with `field` otherwise. */
enum mq_status mq_address_check(struct mq_str address, const char *field, struct mq_error *err);

/* Fills err with MQ_MESSAGE and "to: the address \"…\" <what>", of a long address its begin. For
 * parsers of whatever has addresses in it. */
enum mq_status mq_address_bad(struct mq_str address, const char *field, const char *what,
                              struct mq_error *err);

/* Leaves the first of equal addresses, in their order. They differ at most in the case of the
 * domain (RFC 5321, 2.4). False: no memory. */
bool mq_addresses_once(struct mq_strings *list);

#endif
