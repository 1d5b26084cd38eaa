/* SipHash-2-4 against the vectors of its authors: the key 00 … 0f, the texts 00 01 02 … */
#include "core/siphash.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

static void test_vectors(void **state)
{
    static const struct {
        size_t len;
        uint64_t hash;
    } known[] = {{0, UINT64_C(0x726fdb47dd0e0e31)},
                 {1, UINT64_C(0x74f839c593dc67fd)},
                 {8, UINT64_C(0x93f5f5799a932462)},
                 {15, UINT64_C(0xa129ca6149be45e5)}};
    unsigned char key[MQ_SIPHASH_KEY], text[16];
    (void)state;
    for (size_t i = 0; i < sizeof text; i++) {
        key[i] = text[i] = (unsigned char)i;
    }
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        assert_int_equal(mq_siphash(key, (struct mq_str){(char *)text, known[i].len}),
                         known[i].hash);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_vectors)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
