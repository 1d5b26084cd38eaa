/* Internationalised domain names to A-labels (RFC 5890, 5891; UTS #46), by libidn2. */
#ifndef MQ_MIME_IDN_H
#define MQ_MIME_IDN_H

#include <stdbool.h>

#include "core/buffer.h"
#include "core/error.h"

/* Whether this build can. */
bool mq_idn_available(void);

/* The address as the envelope takes it: its domain in A-labels; an ASCII domain stays as it is, and
 * so does the local part. *out is malloc'ed. The result is checked (mq_address_check()). MQ_MESSAGE
 * with `field`: a domain that is not an IDN, or a non-ASCII one where the build cannot. */
enum mq_status mq_idn_address(struct mq_str address, const char *field, char **out,
                              struct mq_error *err);

#endif
