/* SipHash-2-4: two rounds for each word of the text, four at the end. */
#include "core/siphash.h"

struct state {
    uint64_t v0, v1, v2, v3;
};

static uint64_t rotate(uint64_t x, int bits)
{
    return x << bits | x >> (64 - bits);
}

/* Reads up to eight octets, the least significant one first. */
static uint64_t read_word(const unsigned char *octets, size_t count)
{
    uint64_t word = 0;
    for (size_t i = 0; i < count; i++) {
        word |= (uint64_t)octets[i] << (8 * i);
    }
    return word;
}

static void mix(struct state *s, int rounds)
{
    for (int i = 0; i < rounds; i++) {
        s->v0 += s->v1;
        s->v2 += s->v3;
        s->v1 = rotate(s->v1, 13) ^ s->v0;
        s->v3 = rotate(s->v3, 16) ^ s->v2;
        s->v0 = rotate(s->v0, 32) + s->v3;
        s->v2 += s->v1;
        s->v1 = rotate(s->v1, 17) ^ s->v2;
        s->v3 = rotate(s->v3, 21) ^ s->v0;
        s->v2 = rotate(s->v2, 32);
    }
}

static void take(struct state *s, uint64_t word)
{
    s->v3 ^= word;
    mix(s, 2);
    s->v0 ^= word;
}

uint64_t mq_siphash(const unsigned char key[MQ_SIPHASH_KEY], struct mq_str s)
{
    const unsigned char *octets = (const unsigned char *)s.data;
    uint64_t k0 = read_word(key, 8), k1 = read_word(key + 8, 8);
    struct state state = {k0 ^ UINT64_C(0x736f6d6570736575), k1 ^ UINT64_C(0x646f72616e646f6d),
                          k0 ^ UINT64_C(0x6c7967656e657261), k1 ^ UINT64_C(0x7465646279746573)};
    size_t whole = s.len - s.len % 8;
    for (size_t i = 0; i < whole; i += 8) {
        take(&state, read_word(octets + i, 8));
    }
    uint64_t last = whole < s.len ? read_word(octets + whole, s.len - whole) : 0;
    take(&state, last | (uint64_t)s.len << 56);
    state.v2 ^= 0xFF;
    mix(&state, 4);
    return state.v0 ^ state.v1 ^ state.v2 ^ state.v3;
}
