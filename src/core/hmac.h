/* HMAC-SHA256 (RFC 2104, FIPS 180-4), for tokens. The core has it of its own because OpenSSL is
 * optional. */
#ifndef MQ_CORE_HMAC_H
#define MQ_CORE_HMAC_H

#include "core/buffer.h"

#define MQ_HMAC_OCTETS 32

/* The key has at most 64 octets. */
void mq_hmac_sha256(struct mq_str key, struct mq_str text, unsigned char out[MQ_HMAC_OCTETS]);

#endif
