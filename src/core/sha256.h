/* SHA-256 (FIPS 180-4): tells rows of two databases apart. */
#ifndef MQ_CORE_SHA256_H
#define MQ_CORE_SHA256_H

#include <stdint.h>

#include "core/buffer.h"

#define MQ_SHA256_SIZE 32

struct mq_sha256 {
    uint32_t state[8];
    uint64_t bytes;
    unsigned char block[64];
};

void mq_sha256_init(struct mq_sha256 *hash);
void mq_sha256_add(struct mq_sha256 *hash, struct mq_str s);
void mq_sha256_end(struct mq_sha256 *hash, unsigned char out[MQ_SHA256_SIZE]);

#endif
