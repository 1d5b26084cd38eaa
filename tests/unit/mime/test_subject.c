/* The subject of the queue's row: decoded, safe to print, cut to its length. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "mime/subject.h"

static void assert_shown(const char *message, size_t len, const char *expected)
{
    struct mq_buffer out;
    out = (struct mq_buffer){0};
    bool has = mq_subject_of((struct mq_str){message, len}, &out);
    if (!expected) {
        assert_false(has);
        assert_int_equal(out.len, 0);
    } else {
        assert_true(has);
        assert_string_equal(out.data ? out.data : "", expected);
    }
    mq_buffer_clear(&out);
}
#define SHOWN(message, expected) assert_shown(message, sizeof(message) - 1, expected)

static void test_field(void **state)
{
    (void)state;
    SHOWN("Subject: Hello\r\n\r\nbody", "Hello");
    SHOWN("From: a@example.org\r\nSUBJECT:Hello\r\n", "Hello");
    SHOWN("Subject: a\r\n folded\r\n\tline\r\nTo: b@example.org\r\n\r\n", "a folded line");
    SHOWN("Subject: one\r\nSubject: two\r\n\r\n", "one");
    SHOWN("X-Subject: no\r\n\r\nSubject: in the body\r\n", NULL);
    SHOWN("", NULL);
    SHOWN("Subject:\r\n", "");
    SHOWN("Subject:   \r\n\r\n", "");
    SHOWN("Subject: Gr\xc3\xbc\xc3\x9f\x65\r\n", "Gr\xc3\xbc\xc3\x9f\x65");
}

static void test_words(void **state)
{
    (void)state;
    SHOWN("Subject: =?UTF-8?Q?Gr=C3=BC=C3=9Fe_an?= alle\r\n", "Gr\xc3\xbc\xc3\x9f\x65 an alle");
    SHOWN("Subject: =?utf-8?b?R3LDvMOfZQ==?=\r\n", "Gr\xc3\xbc\xc3\x9f\x65");
    SHOWN("Subject: =?utf-8?B?R3LDvA==?=\r\n =?utf-8*de?B?w59l?=\r\n", "Gr\xc3\xbc\xc3\x9f\x65");
    /* One character split over two encoded words, which RFC 2047 forbids. */
    SHOWN("Subject: =?utf-8?Q?=C3?= =?utf-8?Q?=BC?=\r\n", "\xc3\xbc");
    SHOWN("Subject: =?ISO-8859-1?Q?=FC=DF?=\r\n", "\xc3\xbc\xc3\x9f");
    SHOWN("Subject: =?latin1?B?/A==?=\r\n", "\xc3\xbc");
    SHOWN("Subject: =?utf-8?X?a?= =?utf-8?Q?a = =?\r\n", "=?utf-8?X?a?= =?utf-8?Q?a = =?");
    SHOWN("Subject: =?utf-8?Q?a=?= =?utf-8?Q?=4?= =?utf-8?Q?=zz?=\r\n", "a==4=zz");
    SHOWN("Subject: =?utf-8?Q?a?= b =?utf-8?Q?c?=\r\n", "a b c");
    SHOWN("Subject: =?\r\n", "=?");
    SHOWN("Subject: =?utf-8?Q?\r\n", "=?utf-8?Q?");
}

/* Other character sets, by the C library. What is malformed or not known stays as it is. */
static void test_charsets(void **state)
{
    (void)state;
    SHOWN("Subject: =?koi8-r?B?8NLJ18XU?= x\r\n", "Привет x");
    SHOWN("Subject: =?WINDOWS-1251?Q?=CF=F0=E8=E2=E5=F2?=\r\n", "Привет");
    SHOWN("Subject: =?ISO-2022-JP?B?GyRCRnxLXDhsGyhC?=\r\n =?iso-2022-jp?B?GyRCRnxLXBsoQg==?=\r\n",
          "日本語日本");
    SHOWN("Subject: =?GBK?B?xOO6ww==?= =?big5?B?p0Gmbg==?=\r\n", "你好你好");
    SHOWN("Subject: =?windows-1252?Q?=80_=93a=94?=\r\n", "€ “a”");
    SHOWN("Subject: a =?gbk?B?xA==?= =?shift_jis?B?gQ==?=\r\n",
          "a =?gbk?B?xA==?= =?shift_jis?B?gQ==?=");
    SHOWN("Subject: =?gbk?Q?"
          "?= =?x-none?Q?a?= =?UTF-8//IGNORE?Q?a?=\r\n",
          "=?x-none?Q?a?= =?UTF-8//IGNORE?Q?a?=");
    SHOWN("Subject: =?us-ascii?Q?=FF?= =?utf-8-utf-8-utf-8?Q?a?= =??Q?a?=\r\n",
          "\xef\xbf\xbd =?utf-8-utf-8-utf-8?Q?a?= =??Q?a?=");
}

/* Control sequences reach neither a terminal nor a log. */
static void test_safe(void **state)
{
    (void)state;
    SHOWN("Subject: a\x1b[31mb\x7f\r\n", "a?[31mb?");
    SHOWN("Subject: =?utf-8?Q?a=0D=0Ab=00c=1B=C2=9B=E2=80=AE?=\r\n", "a??b?c???");
    SHOWN("Subject: \xff\xfe\r\n", "\xef\xbf\xbd\xef\xbf\xbd");
    SHOWN("Subject: =?utf-8?B?/w==?=\r\n", "\xef\xbf\xbd");
}

static void test_cut(void **state)
{
    (void)state;
    char message[9 + 2 * 300 + 2];
    char expected[2 * MQ_SUBJECT_MAX + 1];
    memcpy(message, "Subject: ", 9);
    for (int i = 0; i < 300; i++) {
        memcpy(message + 9 + 2 * i, "\xc3\xbc", 2);
    }
    memcpy(message + sizeof(message) - 2, "\r\n", 2);
    memcpy(expected, message + 9, sizeof(expected) - 1);
    expected[sizeof(expected) - 1] = '\0';
    assert_shown(message, sizeof(message), expected);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_field), cmocka_unit_test(test_words), cmocka_unit_test(test_charsets),
        cmocka_unit_test(test_safe),  cmocka_unit_test(test_cut),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
