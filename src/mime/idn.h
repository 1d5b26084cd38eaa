/* Converts internationalised domain names to A-labels (RFC 5890, 5891; UTS #46), with libidn2. */
#ifndef MQ_MIME_IDN_H
#define MQ_MIME_IDN_H

#include <stdbool.h>

#include "core/buffer.h"
#include "core/error.h"

/* Whether this build has libidn2. */
bool mq_idn_available(void);

/* Converts an address for the envelope: its domain to A-labels. An ASCII domain stays as it is, and
 * so does the local part. *out is malloc'ed and passes mq_address_check(). MQ_MESSAGE with `field`
 * for a domain that is not an IDN, or one that is not ASCII if the build has no libidn2. */
enum mq_status mq_idn_address(struct mq_str address, const char *field, char **out,
                              struct mq_error *err);

#endif
