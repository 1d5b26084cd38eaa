/* Headers of messages that come as text: lists that cannot be read, words, charsets of pairs. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "mime/mend.h"

#define HAVE         "Date: x\r\nMessage-ID: <a@b>\r\n"
#define COUNT(array) (sizeof(array) / sizeof *(array))

static const struct mq_message_options options = {.message_id = "<id@q.example>",
                                                  .date_s = 1795253700};
static struct mq_buffer out;
static struct mq_message_info info;
static struct mq_error err;

static enum mq_status mend(struct mq_str raw)
{
    mq_buffer_clear(&out);
    info = (struct mq_message_info){0};
    /* In a block of its own size, so that the sanitizer sees a byte read behind the end. */
    char *copy = malloc(raw.len ? raw.len : 1);
    memcpy(copy, raw.data, raw.len);
    enum mq_status status =
        mq_mend_accept((struct mq_str){copy, raw.len}, &options, &out, &info, &err);
    free(copy);
    return status;
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

/* Mends fields, and what comes of them again, and compares. */
static void assert_fields(const char *fields, const char *expected)
{
    struct mq_buffer raw = {0};
    struct mq_buffer wanted = {0};
    mq_buffer_printf(&raw, "%s" HAVE "\r\ntext\r\n", fields);
    mq_buffer_printf(&wanted, "%s" HAVE "\r\ntext\r\n", expected);
    for (int i = 0; i < 2; i++) {
        if (mend(mq_buffer_view(i == 0 ? &raw : &wanted)) != MQ_OK) {
            fail_msg("%s: %s", fields, err.text);
        }
        assert_string_equal(out.data, wanted.data);
        assert_int_equal(out.len, wanted.len);
        assert_lines(mq_buffer_view(&out));
        assert_int_equal(info.flags, mq_message_flags(mq_buffer_view(&out)));
        assert_true(mq_str_equal(info.message_id, MQ_STR("<a@b>")));
        assert_true(info.message_id.data > out.data && info.message_id.data < out.data + out.len);
    }
    mq_buffer_clear(&raw);
    mq_buffer_clear(&wanted);
}

struct sample {
    const char *fields, *expected;
};

static void assert_samples(const struct sample *samples, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        assert_fields(samples[i].fields, samples[i].expected);
    }
}

static int teardown(void **state)
{
    (void)state;
    mq_buffer_clear(&out);
    return 0;
}

/* Fields that are no UTF-8 and no list of addresses either: what is one stays one, and nothing
 * becomes one. */
static void test_broken_addresses(void **state)
{
    static const struct sample samples[] = {
        {"Reply-To: J\xFCrgen<j@x.example>;\r\n",
         "Reply-To: =?windows-1252?Q?J=FCrgen?= <j@x.example>;\r\n"},
        {"To: M\xFCller<a@b.example>,Hans<broken>,c@d.example\r\n",
         "To: =?windows-1252?Q?M=FCller?= <a@b.example>,Hans<broken>,c@d.example\r\n"},
        {"To: J\xFCrgen M\xFCller, c@d.example\r\n",
         "To: =?windows-1252?Q?J=FCrgen_M=FCller?=, c@d.example\r\n"},
        {"To: a <\xFC@b.example>, c@d.example, \xFC x@b.example\r\n",
         "To: a <=?windows-1252?B?/EBiLmV4YW1wbGU=?=>, c@d.example,\r\n"
         " =?windows-1252?Q?=FC?= x@b.example\r\n"},
        {"To: a@b.example (\xFC (b) c\r\n", "To: a@b.example (=?windows-1252?Q?=FC?= (b) c\r\n"},
        {"To: a@b.example, c (\xFC) <\r\n", "To: a@b.example, c (=?windows-1252?Q?=FC?=) <\r\n"},
    };
    (void)state;
    assert_samples(samples, COUNT(samples));
}

static void test_keywords(void **state)
{
    static const struct sample samples[] = {
        {"Keywords: \xC3\x84, b c, \xC3\x96 d,\xC3\xBC\r\n",
         "Keywords: =?utf-8?B?w4Q=?=, b c, =?utf-8?Q?=C3=96_d?=,=?utf-8?B?w7w=?=\r\n"},
        {"Keywords: \"\xFC, b\", \xFC@b\r\n",
         "Keywords: =?windows-1252?Q?=FC=2C_b?=, =?windows-1252?B?/EBi?=\r\n"},
    };
    (void)state;
    assert_samples(samples, COUNT(samples));
}

/* In charsets whose pairs of bytes may end in a backslash, this one quotes nothing. */
#define TYPE(charset) "Content-Type: text/plain; charset=" charset "\r\n"
static void test_pairs(void **state)
{
    static const struct sample samples[] = {
        {TYPE("Shift_JIS") "To: \"\x95\x5C\x8E\xA6\" <a@b.example>\r\n",
         TYPE("Shift_JIS") "To: =?Shift_JIS?B?lVyOpg==?= <a@b.example>\r\n"},
        {TYPE("Shift_JIS") "To: \"\x95\x5C\" <a@b.example>, c@d.example\r\n",
         TYPE("Shift_JIS") "To: =?Shift_JIS?B?lVw=?= <a@b.example>, c@d.example\r\n"},
        {TYPE("Shift_JIS") "Cc: a@b.example (\x95\x5C (\x95\x5C\\)))\r\n",
         TYPE("Shift_JIS") "Cc: a@b.example (=?Shift_JIS?B?lVw=?= (=?Shift_JIS?B?lVwp?=))\r\n"},
        {TYPE("Big5") "Content-Disposition: attachment; filename=\"\xA5\x5C\"; x=y\r\n",
         TYPE("Big5") "Content-Disposition: attachment; filename*=Big5''%A5%5C; x=y\r\n"},
        /* Not in quotes; behind one that does; behind a letter that is no first of a pair. */
        {TYPE("GBK") "To: \x81\x5C\x81\x40 \"\\\"\x81\x5C\\\x81\x5C\" <a@b.example>\r\n",
         TYPE("GBK") "To: =?GBK?B?gVyBQCAigVyBXA==?= <a@b.example>\r\n"},
        {TYPE("Shift_JIS") "To: \"\xB1\\\"\" <a@b.example>\r\n",
         TYPE("Shift_JIS") "To: =?Shift_JIS?B?sSI=?= <a@b.example>\r\n"},
        {TYPE("iso-8859-1") "To: \"\xE4\\\"\" <a@b.example>\r\n",
         TYPE("iso-8859-1") "To: =?iso-8859-1?B?5CI=?= <a@b.example>\r\n"},
    };
    (void)state;
    assert_samples(samples, COUNT(samples));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(test_broken_addresses, teardown),
        cmocka_unit_test_teardown(test_keywords, teardown),
        cmocka_unit_test_teardown(test_pairs, teardown),
    };
    return cmocka_run_group_tests_name("mend_list", tests, NULL, NULL);
}
