/* SHA-256 against known answers (FIPS 180-4's examples) and in pieces of every length. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "core/sha256.h"

static void assert_hash(struct mq_str text, size_t piece, const char *expected)
{
    struct mq_sha256 hash;
    unsigned char out[MQ_SHA256_SIZE];
    char hex[2 * MQ_SHA256_SIZE + 1];
    mq_sha256_init(&hash);
    for (size_t at = 0; at < text.len; at += piece) {
        size_t n = text.len - at < piece ? text.len - at : piece;
        mq_sha256_add(&hash, (struct mq_str){text.data + at, n});
    }
    mq_sha256_end(&hash, out);
    for (int i = 0; i < MQ_SHA256_SIZE; i++) {
        snprintf(hex + (ptrdiff_t)2 * i, 3, "%02x", out[i]);
    }
    assert_string_equal(hex, expected);
}

static void test_known(void **state)
{
    (void)state;
    static char million[1000000];
    memset(million, 'a', sizeof(million));
    assert_hash(MQ_STR(""), 1, "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
    assert_hash(MQ_STR("abc"), 3,
                "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
    assert_hash(MQ_STR("abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq"), 56,
                "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1");
    assert_hash((struct mq_str){million, sizeof(million)}, sizeof(million),
                "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0");
}

/* The padding goes into the same block up to 55 octets, into another one from 56 on. */
static void test_pieces(void **state)
{
    (void)state;
    static const char *const expected[] = {
        "9f4390f8d30c2dd92ec9f095b65e2b9ae9b0a925a5258e241c9f1e910f734318",
        "b35439a4ac6f0948b6d6f9e3c6af0f5f590ce20f1bde7090ef7970686ec6738a",
        "7d3e74a05d7db15bce4ad9ec0658ea98e3f06eeecf16b4c6fff2da457ddc2f34",
        "ffe054fe7ae0cb6dc65c3af9b61d5209f439851db43d0ba5997337df154668eb",
    };
    static const size_t lengths[] = {55, 56, 63, 64};
    char text[64];
    memset(text, 'a', sizeof(text));
    for (size_t i = 0; i < 4; i++) {
        for (size_t piece = 1; piece <= 64; piece++) {
            assert_hash((struct mq_str){text, lengths[i]}, piece, expected[i]);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_known),
        cmocka_unit_test(test_pieces),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
