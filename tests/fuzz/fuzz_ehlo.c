/* The relay's replies before the first mail: greeting, EHLO, STARTTLS, AUTH, line by line. */
#include "fuzz.h"

#include <string.h>

#include "send/smtp/capabilities.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct mq_str text = {(const char *)data, size};
    struct mq_greeting greeting = {0};
    while (text.len > 0) {
        mq_greeting_line(&greeting, fuzz_cut(&text, '\n'));
        REQUIRE(memchr(greeting.refusal, '\0', sizeof greeting.refusal) != NULL);
        REQUIRE(mq_utf8_valid(mq_str_of(greeting.refusal)));
        REQUIRE(strpbrk(greeting.refusal, "\r\n\x1b\x7f") == NULL);
        REQUIRE(greeting.caps.size || greeting.caps.size_max == 0);
    }
    return 0;
}
