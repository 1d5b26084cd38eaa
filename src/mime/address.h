/* Checks addresses of the envelope (RFC 5321, section 4.1.2; RFC 6531). Linear time; a bad address
 * is refused, never repaired. */
#ifndef MQ_MIME_ADDRESS_H
#define MQ_MIME_ADDRESS_H

#include <stdbool.h>

#include "core/ascii.h"
#include "core/error.h"

/* atext of RFC 5322, section 3.2.3. */
static inline bool mq_is_atext(char c)
{
    return mq_is_alnum(c) || (c != '\0' && strchr("!#$%&'*+-/=?^_`{|}~", c) != NULL);
}

/* Checks a plain addr-spec of at most 254 octets. The local part is a dot-atom of at most 64 octets
 * that does not begin with '-': no quoted string, no comment. The domain is A-labels (at most 255
 * octets, labels of 1 … 63) or an address literal. UTF-8 is allowed in the local part (the relay
 * must offer SMTPUTF8); for a domain with non-ASCII characters the error says to write it in
 * A-labels. MQ_MESSAGE with `field`. */
enum mq_status mq_address_check(struct mq_str address, const char *field, struct mq_error *err);

/* Fills err with MQ_MESSAGE and "to: the address \"…\" <what>"; a long address is cut. For parsers
 * of texts that contain addresses. */
enum mq_status mq_address_bad(struct mq_str address, const char *field, const char *what,
                              struct mq_error *err);

/* Removes duplicates: keeps the first of equal addresses, and the order. Addresses are equal if
 * they differ only in the case of the domain (RFC 5321, 2.4). False: no memory. */
bool mq_addresses_once(struct mq_strings *list);

#endif
