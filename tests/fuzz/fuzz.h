/* Shared by the fuzz targets: an assertion, and checks of the bytes on the wire. */
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

/* Removes from *text everything up to the first `end`, and `end` itself; all of it if there is
 * none. Returns the part before `end`. */
struct mq_str fuzz_cut(struct mq_str *text, char end);
bool fuzz_contains(struct mq_str text, const char *part); /* ASCII, ignoring case */

/* Appends the input; a byte 0x01 stands for 300 times the byte after it, so that a small input has
 * long lines. At most about 200,000 bytes. */
void fuzz_repeat(struct mq_str input, struct mq_buffer *out);
int fuzz_base64_digit(char c); /* -1: none */

/* A plain addr-spec with an ASCII domain: nothing in it could end a command or a header, or be
 * taken for an option. */
void fuzz_require_address(const char *address);
/* Requires that each is an address, and occurs once. */
void fuzz_require_recipients(const struct mq_strings *list);
/* Requires that all lines, also the last one, end with CRLF, have at most 998 octets, and contain
 * no CR, LF or NUL. */
void fuzz_require_lines(struct mq_str text);
/* Requires that, and a header section without Bcc, with one Message-ID and one Date; and that
 * mq_repair_accept() changes nothing. */
void fuzz_require_message(struct mq_str message);

/* Text of a header field's value: unfolded, and encoded words read (RFC 2047). Requires that each
 * encoded word is UTF-8 by itself and has at most 75 characters. */
void fuzz_decode_header(struct mq_str value, struct mq_buffer *out);

#endif
