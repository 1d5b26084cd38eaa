/* Shared by the tests of mq_repair_accept(). */
#ifndef TESTS_MEND_COMMON_H
#define TESTS_MEND_COMMON_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "mime/wire/repair.h"

#define HAVE         "Date: x\r\nMessage-ID: <a@b>\r\n"
#define COUNT(array) (sizeof(array) / sizeof *(array))

static const struct mq_message_options options = {.message_id = "<id@q.example>",
                                                  .date_s = 1795253700};
static struct mq_buffer out;
static struct mq_message_info info;
static struct mq_error err;

static void assert_lines(struct mq_str text)
{
    while (text.len > 0) {
        const char *end = memchr(text.data, '\n', text.len);
        assert_non_null(end);
        size_t n = (size_t)(end - text.data) + 1;
        assert_true(n >= 2 && n <= 1000 && end[-1] == '\r');
        text.data += n;
        text.len -= n;
    }
}

#endif
