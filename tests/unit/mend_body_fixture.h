/* Messages given to mq_mend_accept(), and what must come of their bodies. */
#ifndef TESTS_MEND_BODY_FIXTURE_H
#define TESTS_MEND_BODY_FIXTURE_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <cmocka.h>

#include "mime/encode.h"
#include "mime/mend.h"

#define HAVE         "Date: x\r\nMessage-ID: <a@b>\r\n"
#define COUNT(array) (sizeof(array) / sizeof *(array))
#define MULTIPART \
    HAVE "MIME-Version: 1.0\r\nContent-Type: multipart/mixed; boundary=\"=_b\"\r\n\r\n"

static const struct mq_message_options options = {.message_id = "<id@q.example>",
                                                  .date_s = 1795253700};
static struct mq_buffer raw, wanted, out;
static struct mq_message_info info;
static struct mq_error err;

static void repeat(struct mq_buffer *buffer, const char *text, size_t times)
{
    while (times-- > 0) {
        mq_buffer_cstr(buffer, text);
    }
}

/* The same text in both. */
static void both(const char *text)
{
    mq_buffer_cstr(&raw, text);
    mq_buffer_cstr(&wanted, text);
}

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

static void mend(struct mq_str text)
{
    mq_buffer_clear(&out);
    if (mq_mend_accept(text, &options, &out, &info, &err) != MQ_OK) {
        fail_msg("%s", err.text);
    }
    assert_lines(mq_buffer_view(&out));
    assert_int_equal(info.flags, mq_message_flags(mq_buffer_view(&out)));
}

/* What is in `raw` becomes what is in `wanted`, which stays. */
static void assert_mended(void)
{
    mend(mq_buffer_view(&raw));
    assert_string_equal(out.data, wanted.data);
    assert_int_equal(out.len, wanted.len);
    mend(mq_buffer_view(&wanted));
    assert_string_equal(out.data, wanted.data);
    mq_buffer_reset(&raw);
    mq_buffer_reset(&wanted);
}

static int teardown(void **state)
{
    (void)state;
    mq_buffer_clear(&raw);
    mq_buffer_clear(&wanted);
    mq_buffer_clear(&out);
    return 0;
}

/* "aaaa…" of a length, in quoted-printable. */
static void quoted(size_t len)
{
    for (; len > 76; len -= 75) {
        repeat(&wanted, "a", 75);
        mq_buffer_cstr(&wanted, "=\r\n");
    }
    repeat(&wanted, "a", len);
    mq_buffer_cstr(&wanted, "\r\n");
}

#endif
