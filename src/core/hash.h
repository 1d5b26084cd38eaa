/* FNV-1a, for names of locks and for tables. Processes of different versions store and compare the
 * values, so these never change. The hash does not resist attackers. */
#ifndef MQ_CORE_HASH_H
#define MQ_CORE_HASH_H

#include <stdint.h>

#include "core/ascii.h"
#include "core/buffer.h"

#define MQ_HASH_BEGIN UINT64_C(14695981039346656037)

/* `hash` is MQ_HASH_BEGIN, or the result for the text before `s`. */
static inline uint64_t mq_hash(uint64_t hash, struct mq_str s)
{
    for (size_t i = 0; i < s.len; i++) {
        hash = (hash ^ (unsigned char)s.data[i]) * UINT64_C(1099511628211);
    }
    return hash;
}

/* The hash of the text in small letters. */
static inline uint64_t mq_hash_lower(struct mq_str s)
{
    uint64_t hash = MQ_HASH_BEGIN;
    for (size_t i = 0; i < s.len; i++) {
        char c = mq_ascii_lower(s.data[i]);
        hash = mq_hash(hash, (struct mq_str){&c, 1});
    }
    return hash;
}

/* The variant of 32 bits. */
static inline uint32_t mq_hash_32(struct mq_str s)
{
    uint32_t hash = UINT32_C(2166136261);
    for (size_t i = 0; i < s.len; i++) {
        hash = (hash ^ (unsigned char)s.data[i]) * UINT32_C(16777619);
    }
    return hash;
}

/* Spreads the bits of x over the result: the finalizer of splitmix64. */
static inline uint64_t mq_hash_spread(uint64_t x)
{
    x = (x ^ x >> 30) * UINT64_C(0xBF58476D1CE4E5B9);
    x = (x ^ x >> 27) * UINT64_C(0x94D049BB133111EB);
    return x ^ x >> 31;
}

#endif
