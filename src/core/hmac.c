/* SHA-256 as FIPS 180-4 writes it, and HMAC over it. */
#include "core/hmac.h"

#include <string.h>

#define BLOCK 64

struct sha256 {
    uint32_t h[8];
    uint64_t octets;
    unsigned char block[BLOCK]; /* what is not processed yet */
};

static const uint32_t k[64] = {
    0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5,
    0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174,
    0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da,
    0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967,
    0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85,
    0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070,
    0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3,
    0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2,
};

static uint32_t rotate(uint32_t x, int bits)
{
    return x >> bits | x << (32 - bits);
}

static void expand(const unsigned char *block, uint32_t w[64])
{
    for (int i = 0; i < 16; i++, block += 4) {
        w[i] = (uint32_t)block[0] << 24 | (uint32_t)block[1] << 16 | (uint32_t)block[2] << 8 |
               block[3];
    }
    for (int i = 16; i < 64; i++) {
        uint32_t a = w[i - 15], b = w[i - 2];
        w[i] = w[i - 16] + w[i - 7] + (rotate(a, 7) ^ rotate(a, 18) ^ a >> 3) +
               (rotate(b, 17) ^ rotate(b, 19) ^ b >> 10);
    }
}

static void process(struct sha256 *sha)
{
    uint32_t w[64], *s = sha->h;
    uint32_t a = s[0], b = s[1], c = s[2], d = s[3], e = s[4], f = s[5], g = s[6], h = s[7];
    expand(sha->block, w);
    for (int i = 0; i < 64; i++) {
        uint32_t t1 =
            h + (rotate(e, 6) ^ rotate(e, 11) ^ rotate(e, 25)) + ((e & f) ^ (~e & g)) + k[i] + w[i];
        uint32_t t2 =
            (rotate(a, 2) ^ rotate(a, 13) ^ rotate(a, 22)) + ((a & b) ^ (a & c) ^ (b & c));
        h = g, g = f, f = e, e = d + t1;
        d = c, c = b, b = a, a = t1 + t2;
    }
    s[0] += a, s[1] += b, s[2] += c, s[3] += d;
    s[4] += e, s[5] += f, s[6] += g, s[7] += h;
}

static void begin(struct sha256 *sha)
{
    *sha = (struct sha256){.h = {0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a, 0x510e527f,
                                 0x9b05688c, 0x1f83d9ab, 0x5be0cd19}};
}

static void add(struct sha256 *sha, const void *data, size_t len)
{
    const unsigned char *octets = data;
    while (len > 0) {
        size_t at = sha->octets % BLOCK, n = len < BLOCK - at ? len : BLOCK - at;
        memcpy(sha->block + at, octets, n);
        sha->octets += n;
        octets += n;
        len -= n;
        if (at + n == BLOCK) {
            process(sha);
        }
    }
}

static void end(struct sha256 *sha, unsigned char out[MQ_HMAC_OCTETS])
{
    uint64_t bits = sha->octets * 8;
    unsigned char length[8];
    add(sha, "\x80", 1);
    while (sha->octets % BLOCK != BLOCK - sizeof length) {
        add(sha, "", 1);
    }
    for (int i = 0; i < 8; i++) {
        length[i] = (unsigned char)(bits >> (56 - 8 * i));
    }
    add(sha, length, sizeof length);
    for (int i = 0; i < MQ_HMAC_OCTETS; i++) {
        out[i] = (unsigned char)(sha->h[i / 4] >> (24 - 8 * (i % 4)));
    }
}

static void begin_padded(struct sha256 *sha, struct mq_str key, unsigned char pad)
{
    unsigned char block[BLOCK];
    for (size_t i = 0; i < BLOCK; i++) {
        block[i] = (unsigned char)((i < key.len ? key.data[i] : 0) ^ pad);
    }
    begin(sha);
    add(sha, block, BLOCK);
}

void mq_hmac_sha256(struct mq_str key, struct mq_str text, unsigned char out[MQ_HMAC_OCTETS])
{
    struct sha256 sha;
    begin_padded(&sha, key, 0x36);
    add(&sha, text.data, text.len);
    end(&sha, out);
    begin_padded(&sha, key, 0x5C);
    add(&sha, out, MQ_HMAC_OCTETS);
    end(&sha, out);
}
