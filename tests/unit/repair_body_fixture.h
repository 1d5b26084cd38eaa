/* Messages given to mq_repair_accept(), and the bodies that it must produce. */
#ifndef TESTS_MEND_BODY_FIXTURE_H
#define TESTS_MEND_BODY_FIXTURE_H

#include <time.h>

#include "mime/encode.h"
#include "repair_common.h"

#define MULTIPART \
    HAVE "MIME-Version: 1.0\r\nContent-Type: multipart/mixed; boundary=\"=_b\"\r\n\r\n"

static struct mq_buffer raw, wanted;

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

static void repair(struct mq_str text)
{
    mq_buffer_clear(&out);
    if (mq_repair_accept(text, &options, &out, &info, &err) != MQ_OK) {
        fail_msg("%s", err.text);
    }
    assert_lines(mq_buffer_view(&out));
    assert_int_equal(info.flags, mq_message_flags(mq_buffer_view(&out)));
}

/* Repairs `raw` into `wanted`, which a second repair must not change. */
static void assert_repaired(void)
{
    repair(mq_buffer_view(&raw));
    assert_string_equal(out.data, wanted.data);
    assert_int_equal(out.len, wanted.len);
    repair(mq_buffer_view(&wanted));
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

/* "aaaa…" of this length, in quoted-printable. */
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
