/* Quoted-printable and base64, the choice between them, and dates. */
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
    out = (struct mq_buffer){0};
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
        {"no end", "no end\r\n"},
        {"a=b\r\n", "a=3Db\r\n"},
        {"\xC3\xA4\x7f\r\n", "=C3=A4=7F\r\n"},
        {"a \r\n", "a=20\r\n"},
        {"a\t\r\n", "a=09\r\n"},
        {"a ", "a=20\r\n"},
        {"a  b\t c\r\n", "a  b\t c\r\n"},
        {" \r\n", "=20\r\n"},
        {"\r\n\r\n", "\r\n\r\n"},
        {".\r\n..\r\na.\r\n", "=2E\r\n=2E.\r\na.\r\n"},
        {"From me\r\nFromage\r\n From x\r\nFrom \r\n",
         "=46rom me\r\nFromage\r\n From x\r\n=46rom=20\r\n"},
        {"a\rb\nc\r\r\n\n\r", "a\r\nb\r\nc\r\n\r\n\r\n\r\n"},
        /* 76 characters fit without a break; 77 need one, and its "=" must fit, too. */
        {X70 "123456\r\n", X70 "123456\r\n"},
        {X70 "1234567\r\n", X70 "12345=\r\n67\r\n"},
        {X70 "123456", X70 "123456\r\n"},
        {X70 "123=\r\n", X70 "123=3D\r\n"},
        {X70 "1234=\r\n", X70 "1234=\r\n=3D\r\n"},
        {X70 "12=x\r\n", X70 "12=3Dx\r\n"},
        {X70 "123=x\r\n", X70 "123=\r\n=3Dx\r\n"},
        {X70 "123 \r\n", X70 "123=20\r\n"},
        /* After a soft break, the rules for the beginning of a line apply. */
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
    }
    mq_buffer_reset(&out);
    mq_encode_quoted_printable(&out, (struct mq_str){"\0", 1});
    assert_string_equal(out.data, "=00\r\n");
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

static void assert_choice(struct mq_str text, enum mq_encoding encoding, const char *encoded)
{
    size_t size = 0;
    assert_string_equal(mq_encoding_name(mq_encode_text_choose(text, &size)),
                        mq_encoding_name(encoding));
    mq_buffer_reset(&out);
    mq_encode_text(&out, text, encoding);
    assert_true(out.len <= size && size <= out.len + out.len / 8 + 40);
    if (encoded != NULL) {
        assert_string_equal(out.data, encoded);
    }
}

static void test_text_choice(void **state)
{
    char line[1002];
    (void)state;
    assert_choice(MQ_STR(""), MQ_ENCODING_7BIT, "");
    assert_choice(MQ_STR("\n"), MQ_ENCODING_7BIT, "\r\n");
    assert_choice(MQ_STR(".\n..\n ~=\n"), MQ_ENCODING_7BIT, ".\r\n..\r\n ~=\r\n");
    assert_choice(MQ_STR("a\tb\nFromage\n From x\nFrom"), MQ_ENCODING_7BIT,
                  "a\tb\r\nFromage\r\n From x\r\nFrom\r\n");
    assert_choice(MQ_STR("regards\n-- \nAnn"), MQ_ENCODING_QUOTED_PRINTABLE,
                  "regards\r\n--=20\r\nAnn\r\n");
    assert_choice(MQ_STR("and a tab\t"), MQ_ENCODING_QUOTED_PRINTABLE, "and a tab=09\r\n");
    assert_choice(MQ_STR("x\nFrom here to there"), MQ_ENCODING_QUOTED_PRINTABLE,
                  "x\r\n=46rom here to there\r\n");
    assert_choice(MQ_STR("a\x1b[0m and more of it"), MQ_ENCODING_QUOTED_PRINTABLE,
                  "a=1B[0m and more of it\r\n");
    assert_choice(MQ_STR("a\x7f and more of it"), MQ_ENCODING_QUOTED_PRINTABLE,
                  "a=7F and more of it\r\n");
    assert_choice(MQ_STR("Grüße aus dem hohen Norden\r"), MQ_ENCODING_QUOTED_PRINTABLE,
                  "Gr=C3=BC=C3=9Fe aus dem hohen Norden\r\n");
    assert_choice(MQ_STR("日本\n"), MQ_ENCODING_BASE64, "5pel5pysDQo=\r\n");
    memset(line, 'x', sizeof line);
    assert_choice((struct mq_str){line, 998}, MQ_ENCODING_7BIT, NULL);
    assert_int_equal(out.len, 1000);
    assert_choice((struct mq_str){line, 999}, MQ_ENCODING_QUOTED_PRINTABLE, NULL);
}

/* All line ends become CRLF. */
static void test_text_ends(void **state)
{
    enum { BLOCK = 64 * MQ_BASE64_LINE };
    static const char *const ends[] = {"", "\r", "\n", "\r\n", "\r\r\n", "\n\r", "\r\n\r\n"};
    struct mq_buffer text;
    struct mq_buffer canonical;
    struct mq_buffer expected;
    (void)state;
    text = (struct mq_buffer){0};
    canonical = (struct mq_buffer){0};
    expected = (struct mq_buffer){0};
    for (size_t i = 0; i < 7 * 12; i++) {
        const char *end = ends[i % 7];
        mq_buffer_reset(&text);
        mq_buffer_reset(&canonical);
        mq_buffer_reset(&expected);
        mq_buffer_reset(&out);
        for (size_t n = 0; n < BLOCK - 6 + i / 7; n++) {
            mq_buffer_char(&text, 'x');
            mq_buffer_char(&canonical, 'x');
        }
        mq_buffer_cstr(&text, end);
        mq_buffer_cstr(&text, "behind");
        for (const char *c = end; *c != '\0'; c++) {
            if (*c == '\n' || c[1] != '\n') {
                mq_buffer_cstr(&canonical, "\r\n");
            }
        }
        mq_buffer_cstr(&canonical, "behind\r\n");
        mq_encode_base64(&expected, mq_buffer_view(&canonical));
        mq_encode_text(&out, mq_buffer_view(&text), MQ_ENCODING_BASE64);
        assert_string_equal(out.data, expected.data);
        mq_buffer_reset(&out);
        mq_encode_text(&out, mq_buffer_view(&text), MQ_ENCODING_7BIT);
        assert_string_equal(out.data, canonical.data);
    }
    mq_buffer_clear(&text);
    mq_buffer_clear(&canonical);
    mq_buffer_clear(&expected);
}

static void decode_quoted_printable(const char *text, struct mq_buffer *decoded)
{
    for (; *text != '\0'; text++) {
        unsigned value = 0;
        if (*text != '=') {
            mq_buffer_char(decoded, *text);
        } else if (strncmp(text, "=\r\n", 3) == 0) {
            text += 2;
        } else {
            assert_int_equal(sscanf(text, "=%2X", &value), 1);
            mq_buffer_char(decoded, (char)value);
            text += 2;
        }
    }
}

/* Chooses the shorter encoding to within 5 %, and reserves at least the size of the text. */
static void assert_shortest(struct mq_str text, size_t quoted)
{
    size_t size = 0;
    size_t base64 = mq_encode_base64_size(text);
    enum mq_encoding encoding = mq_encode_text_choose(text, &size);
    if (encoding == MQ_ENCODING_7BIT) {
        assert_int_equal(size, text.len);
    } else {
        size_t chosen = encoding == MQ_ENCODING_BASE64 ? base64 : quoted;
        size_t other = encoding == MQ_ENCODING_BASE64 ? quoted : base64;
        assert_true(chosen <= other + other / 20);
        assert_true(size >= chosen);
    }
}

/* Lines have at most 76 characters, do not end with white space, and decode to the original. */
static void test_random_texts(void **state)
{
    static const char *const pieces[] = {"a",     "word ", " ",     "\t",
                                         "=",     ".",     "From ", "\r\n",
                                         "ä",     "😀",     "\x01",  "long-word-without-end",
                                         "x\r\n."};
    struct mq_buffer text;
    struct mq_buffer decoded;
    unsigned seed = 1;
    (void)state;
    text = (struct mq_buffer){0};
    decoded = (struct mq_buffer){0};
    for (int cycle = 0; cycle < 3000; cycle++) {
        mq_buffer_reset(&text);
        mq_buffer_reset(&decoded);
        mq_buffer_reset(&out);
        for (int i = 0; i < cycle % 120; i++) {
            seed = seed * 1103515245 + 12345;
            mq_buffer_cstr(&text, pieces[seed / 65536 % (sizeof pieces / sizeof *pieces)]);
        }
        mq_buffer_cstr(&text, "end\r\n");
        mq_encode_quoted_printable(&out, mq_buffer_view(&text));
        assert_shortest(mq_buffer_view(&text), out.len);
        for (const char *line = out.data, *end; *line != '\0'; line = end + 2) {
            end = strstr(line, "\r\n");
            assert_true(end - line <= 76);
            assert_true(end == line || (end[-1] != ' ' && end[-1] != '\t'));
            assert_true(*line != '.' && strncmp(line, "From ", 5) != 0);
        }
        decode_quoted_printable(out.data, &decoded);
        assert_string_equal(decoded.data, text.data);
    }
    mq_buffer_clear(&text);
    mq_buffer_clear(&decoded);
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
        cmocka_unit_test_setup_teardown(test_text_choice, setup, teardown),
        cmocka_unit_test_setup_teardown(test_text_ends, setup, teardown),
        cmocka_unit_test_setup_teardown(test_random_texts, setup, teardown),
        cmocka_unit_test_setup_teardown(test_date, setup, teardown),
    };
    return cmocka_run_group_tests_name("encode", tests, NULL, NULL);
}
