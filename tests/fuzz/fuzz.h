/* What the fuzz targets share: an assertion, and checks of what goes over the wire. */
#ifndef MQ_TESTS_FUZZ_H
#define MQ_TESTS_FUZZ_H

#include <stdint.h>

#include "core/buffer.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Ends the run with a report when the condition does not hold. */
#define REQUIRE(condition)                             \
    do {                                               \
        if (!(condition)) {                            \
            fuzz_fail(#condition, __FILE__, __LINE__); \
        }                                              \
    } while (0)
void fuzz_fail(const char *condition, const char *file, int line) __attribute__((noreturn));

/* Takes what is before the first `end` off *text, and that itself; all of it where there is none.
 */
struct mq_str fuzz_cut(struct mq_str *text, char end);
bool fuzz_contains(struct mq_str text, const char *part); /* ASCII, whatever the case */

/* Appends the input, with a byte 0x01 for 300 times the one after it: so a small one has long
 * lines. At most about 200,000 bytes. */
void fuzz_repeat(struct mq_str input, struct mq_buffer *out);
int fuzz_base64_digit(char c); /* -1: none */

/* A plain addr-spec with an ASCII domain: nothing in it could end a command or a header, or be
 * taken for an option. */
void fuzz_require_address(const char *address);
/* Each is one, and is there once. */
void fuzz_require_recipients(const struct mq_strings *list);
/* Lines end with CRLF, the last one too, have at most 998 octets, and neither CR, LF nor NUL. */
void fuzz_require_lines(struct mq_str text);
/* That, a header section without Bcc, with one Message-ID and one Date; and mq_repair_accept()
 * leaves it as it is. */
void fuzz_require_message(struct mq_str message);

/* Text of a header field's value: unfolded, and encoded words read (RFC 2047). Requires that each
 * encoded word is UTF-8 by itself and has at most 75 characters. */
void fuzz_decode_header(struct mq_str value, struct mq_buffer *out);

#endif
