/* SipHash-2-4 (Aumasson, Bernstein, 2012): a hash of 64 bits that nobody can compute without the
 * key. The values are stored, so they never change. */
#ifndef MQ_CORE_SIPHASH_H
#define MQ_CORE_SIPHASH_H

#include <stdint.h>

#include "core/buffer.h"

#define MQ_SIPHASH_KEY 16 /* octets */

uint64_t mq_siphash(const unsigned char key[MQ_SIPHASH_KEY], struct mq_str s);

#endif
