#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "mime/encode.h"

static struct mq_buffer out;

static int setup(void **state)
{
    (void)state;
    mq_buffer_init(&out);
    mq_buffer_append(&out, "", 0);
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    mq_buffer_clear(&out);
    return 0;
}

#define X10 "xxxxxxxxxx"
#define X60 X10 X10 X10 X10 X10 X10
#define X70 X60 X10

static void test_quoted_printable(void **state)
{
    static const struct {
        const char *text, *encoded;
    } samples[] = {
        {"", ""},
        {"plain\r\n", "plain\r\n"},
        {"no end", "no end"},
        {"a=b\r\n", "a=3Db\r\n"},
        {"\xC3\xA4\x7f\r\n", "=C3=A4=7F\r\n"},
        {"a \r\n", "a=20\r\n"},
        {"a\t\r\n", "a=09\r\n"},
        {"a ", "a=20"},
        {"a  b\t c\r\n", "a  b\t c\r\n"},
        {" \r\n", "=20\r\n"},
        {"\r\n\r\n", "\r\n\r\n"},
        {".\r\n..\r\na.\r\n", "=2E\r\n=2E.\r\na.\r\n"},
        {"From me\r\nFromage\r\n From x\r\nFrom \r\n",
         "=46rom me\r\nFromage\r\n From x\r\n=46rom=20\r\n"},
        {"a\rb\nc\r\r\n", "a=0Db=0Ac=0D\r\n"},
        /* 76 fit without a break, 77 need one, whose "=" must fit too. */
        {X70 "123456\r\n", X70 "123456\r\n"},
        {X70 "1234567\r\n", X70 "12345=\r\n67\r\n"},
        {X70 "123456", X70 "123456"},
        {X70 "123=\r\n", X70 "123=3D\r\n"},
        {X70 "1234=\r\n", X70 "1234=\r\n=3D\r\n"},
        {X70 "12=x\r\n", X70 "12=3Dx\r\n"},
        {X70 "123=x\r\n", X70 "123=\r\n=3Dx\r\n"},
        {X70 "123 \r\n", X70 "123=20\r\n"},
        /* What comes to a line's begin by a soft break is at a line's begin. */
        {X70 "12345.6\r\n", X70 "12345=\r\n=2E6\r\n"},
        {X70 "12345From \xC3\r\n", X70 "12345=\r\n=46rom =C3\r\n"},
        {X70 "1234 6\r\n", X70 "1234 6\r\n"},
        {X70 "1234 67\r\n", X70 "1234 =\r\n67\r\n"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof samples / sizeof *samples; i++) {
        mq_buffer_reset(&out);
        mq_encode_quoted_printable(&out, mq_str_of(samples[i].text));
        assert_string_equal(out.data, samples[i].encoded);
        assert_int_equal(mq_encode_quoted_printable_size(mq_str_of(samples[i].text)), out.len);
    }
    mq_buffer_reset(&out);
    mq_encode_quoted_printable(&out, (struct mq_str){"\0", 1});
    assert_string_equal(out.data, "=00");
}

static void test_base64(void **state)
{
    /* RFC 4648, section 10. */
    static const char *const vectors[][2] = {{"", ""},
                                             {"f", "Zg=="},
                                             {"fo", "Zm8="},
                                             {"foo", "Zm9v"},
                                             {"foob", "Zm9vYg=="},
                                             {"fooba", "Zm9vYmE="},
                                             {"foobar", "Zm9vYmFy"}};
    (void)state;
    for (size_t i = 0; i < sizeof vectors / sizeof *vectors; i++) {
        char expected[32];
        snprintf(expected, sizeof expected, "%s%s", vectors[i][1], i ? "\r\n" : "");
        mq_buffer_reset(&out);
        mq_encode_base64(&out, mq_str_of(vectors[i][0]));
        assert_string_equal(out.data, expected);
    }
    for (size_t len = 0; len <= 300; len++) {
        char *data = calloc(len ? len : 1, 1); /* of its own size, for the sanitizer */
        mq_buffer_reset(&out);
        mq_encode_base64(&out, (struct mq_str){data, len});
        free(data);
        assert_int_equal(out.len, mq_encode_base64_size((struct mq_str){NULL, len}));
        size_t lines = 0;
        for (const char *at = out.data; *at != '\0'; lines++) {
            const char *end = strstr(at, "\r\n");
            assert_non_null(end);
            assert_true(end - at <= 76 && end > at);
            at = end + 2;
        }
        assert_int_equal(lines, (len + 56) / 57);
    }
}

static void assert_header(const char *value, const char *expected)
{
    mq_buffer_reset(&out);
    mq_encode_header(&out, "Subject", mq_str_of(value));
    assert_string_equal(out.data, expected);
}

static void test_header_plain(void **state)
{
    (void)state;
    assert_header("", "Subject: \r\n");
    assert_header("Hello, (a) <b> \"c\": x=y?", "Subject: Hello, (a) <b> \"c\": x=y?\r\n");
    assert_header(X60 "123456789", "Subject: " X60 "123456789\r\n"); /* 78 */
    assert_header(X60 "1234567 b", "Subject: " X60 "1234567 b\r\n");
    assert_header(X60 "12345678 b", "Subject: " X60 "12345678\r\n b\r\n");
    assert_header("a   " X60 "1234   b", "Subject: a   " X60 "1234\r\n   b\r\n");
    assert_header("a " X70 "1234567 b", "Subject: a\r\n " X70 "1234567\r\n b\r\n");
}

static void test_header_encoded(void **state)
{
    (void)state;
    /* Plain ASCII that would not come back as it is. */
    assert_header(" a", "Subject: =?utf-8?Q?_a?=\r\n");
    assert_header("a ", "Subject: =?utf-8?Q?a_?=\r\n");
    assert_header("=?utf-8?Q?a?=", "Subject: =?utf-8?B?PT91dGYtOD9RP2E/PQ==?=\r\n");
    assert_header("a\tb", "Subject: =?utf-8?B?YQli?=\r\n");
    assert_header(X70, "Subject: =?utf-8?Q?" X10 X10 X10 X10 X10 "xxxxx?=\r\n"
                       " =?utf-8?Q?" X10 "xxxxx?=\r\n");
    /* Whichever is shorter. */
    assert_header("Größe der neuen Jacke",
                  "Subject: =?utf-8?Q?Gr=C3=B6=C3=9Fe_der_neuen_Jacke?=\r\n");
    assert_header("日本", "Subject: =?utf-8?B?5pel5pys?=\r\n");
}

/* Undoes encoded words of base64 or Q: enough for what is written here. */
static void decode_words(const char *text, struct mq_buffer *decoded)
{
    static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    while ((text = strstr(text, "=?utf-8?")) != NULL) {
        bool q = text[8] == 'Q';
        unsigned bits = 0;
        int have = 0;
        size_t start = decoded->len;
        const char *word = text;
        for (text += 10; *text != '?' && *text != '\0'; text++) {
            unsigned value = 0;
            if (!q && *text != '=') {
                bits = bits << 6 | (unsigned)(strchr(digits, *text) - digits);
                have += 6;
                if (have >= 8) {
                    have -= 8;
                    mq_buffer_char(decoded, (char)(bits >> have & 0xFF));
                }
            } else if (q && *text == '=') {
                sscanf(text + 1, "%2x", &value);
                mq_buffer_char(decoded, (char)value);
                text += 2;
            } else if (q) {
                mq_buffer_char(decoded, *text == '_' ? ' ' : *text);
            }
        }
        assert_true(text + 2 - word <= 75);
        assert_int_equal(strncmp(text, "?=", 2), 0);
        /* Each word has whole characters (RFC 2047, section 5). */
        assert_true(mq_utf8_valid((struct mq_str){decoded->data + start, decoded->len - start}));
    }
}

static void assert_lines(const char *text, size_t max)
{
    while (*text != '\0') {
        const char *end = strstr(text, "\r\n");
        assert_non_null(end);
        assert_true((size_t)(end - text) <= max);
        assert_true(strspn(text, " \t") < (size_t)(end - text));
        text = end + 2;
    }
}

/* Characters of 1 to 4 bytes at every place where a word or a line may end. */
static void test_fold_points(void **state)
{
    static const char *const units[] = {"ä",   "€", "😀", "aä", "ä ", "x😀", "👩‍👩‍👧",
                                        "? 日"};
    struct mq_buffer value;
    struct mq_buffer decoded;
    (void)state;
    mq_buffer_init(&value);
    mq_buffer_init(&decoded);
    for (size_t unit = 0; unit < sizeof units / sizeof *units; unit++) {
        for (int shift = 0; shift < 80; shift++) {
            mq_buffer_reset(&value);
            mq_buffer_reset(&decoded);
            mq_buffer_reset(&out);
            for (int i = 0; i < shift; i++) {
                mq_buffer_char(&value, 'a');
            }
            for (int i = 0; i < 40; i++) {
                mq_buffer_cstr(&value, units[unit]);
            }
            mq_encode_header(&out, "Subject", mq_buffer_view(&value));
            assert_lines(out.data, 76);
            decode_words(out.data, &decoded);
            assert_string_equal(decoded.data, value.data);
        }
    }
    mq_buffer_clear(&value);
    mq_buffer_clear(&decoded);
}

static void assert_phrase(const char *name, size_t column, const char *expected)
{
    size_t start = column;
    mq_buffer_reset(&out);
    mq_encode_phrase(&out, &column, mq_str_of(name));
    assert_string_equal(out.data, expected);
    const char *last = strrchr(out.data, '\n');
    assert_int_equal(column, last ? strlen(last + 1) : start + out.len);
}

static void test_phrase(void **state)
{
    (void)state;
    assert_phrase("Ann Example", 3, " Ann Example");
    assert_phrase("Ann  Example", 3, " \"Ann  Example\"");
    assert_phrase("azAZ09 !#$%&'*+-/?=^_`{|}~ x", 3, " azAZ09 !#$%&'*+-/?=^_`{|}~ x");
    assert_phrase("J. Doe", 3, " \"J. Doe\"");
    assert_phrase("a \"b\" \\ c", 3, " \"a \\\"b\\\" \\\\ c\"");
    assert_phrase("Müller, Ann", 3, " =?utf-8?B?TcO8bGxlciwgQW5u?=");
    assert_phrase("=?x", 3, " =?utf-8?B?PT94?=");
    assert_phrase("Ann Example", 65, "\r\n Ann Example");
    assert_phrase("Ann Example", 64, " Ann Example");
    assert_phrase("Ä", 60, "\r\n =?utf-8?B?w4Q=?=");
    assert_phrase("Ä", 50, " =?utf-8?B?w4Q=?=");
    assert_phrase(X60, 3, " " X60);
    assert_phrase(X60 "y", 3, " =?utf-8?Q?" X60 "?=\r\n =?utf-8?Q?y?=");
}

static void test_token(void **state)
{
    size_t column = 3;
    (void)state;
    mq_encode_token(&out, &column, MQ_STR("<" X60 X10 ">"));
    assert_string_equal(out.data, " <" X60 X10 ">");
    assert_int_equal(column, 76);
    mq_encode_token(&out, &column, MQ_STR("b"));
    assert_string_equal(out.data, " <" X60 X10 ">\r\n b");
    assert_int_equal(column, 2);
}

static void test_date(void **state)
{
    static const struct {
        int64_t utc_s;
        const char *text;
    } samples[] = {
        {0, "Thu, 01 Jan 1970 00:00:00 +0000"},
        {-1, "Wed, 31 Dec 1969 23:59:59 +0000"},
        {951782399, "Mon, 28 Feb 2000 23:59:59 +0000"},
        {951782400, "Tue, 29 Feb 2000 00:00:00 +0000"},
        {951868800, "Wed, 01 Mar 2000 00:00:00 +0000"},
        {1795253700, "Sat, 21 Nov 2026 09:35:00 +0000"},
        {1830297599, "Fri, 31 Dec 2027 23:59:59 +0000"},
        {4107542400, "Mon, 01 Mar 2100 00:00:00 +0000"},
        {4107542399, "Sun, 28 Feb 2100 23:59:59 +0000"},
        {253402300799, "Fri, 31 Dec 9999 23:59:59 +0000"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof samples / sizeof *samples; i++) {
        mq_buffer_reset(&out);
        mq_encode_date(&out, samples[i].utc_s);
        assert_string_equal(out.data, samples[i].text);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_quoted_printable, setup, teardown),
        cmocka_unit_test_setup_teardown(test_base64, setup, teardown),
        cmocka_unit_test_setup_teardown(test_header_plain, setup, teardown),
        cmocka_unit_test_setup_teardown(test_header_encoded, setup, teardown),
        cmocka_unit_test_setup_teardown(test_fold_points, setup, teardown),
        cmocka_unit_test_setup_teardown(test_phrase, setup, teardown),
        cmocka_unit_test_setup_teardown(test_token, setup, teardown),
        cmocka_unit_test_setup_teardown(test_date, setup, teardown),
    };
    return cmocka_run_group_tests_name("encode", tests, NULL, NULL);
}
