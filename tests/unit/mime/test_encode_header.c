/* Encoded words and folding in header fields. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "mime/header.h"
#include "mime/mailbox.h"

static struct mq_buffer out;
static struct mq_error err;

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

static void test_check(void **state)
{
    static const struct {
        const char *text, *error;
    } samples[] = {
        {"plain", NULL},
        {"Grüße 😀 \xC2\xA0", NULL},
        {"a\rb", "subject: control character U+000D at byte 2; remove it"},
        {"ab\n", "subject: control character U+000A at byte 3"},
        {"\t\v\f\xC2\x85\xE2\x80\xA8\xE2\x80\xA9", NULL}, /* pasted separators */
        {"\x08", "U+0008 at byte 1"},
        {"ä\x7f", "U+007F at byte 3"},
        {"\xC2\x84", "U+0084 at byte 1"},
        {"ab\xFF", "subject: byte 3 is not valid UTF-8; convert"},
        {"a\xE2\x82", "byte 2 is not valid UTF-8"},
        {"\xC0\x8A", "byte 1 is not valid UTF-8"}, /* an overlong LF */
    };
    (void)state;
    for (size_t i = 0; i < sizeof samples / sizeof *samples; i++) {
        struct mq_str text = mq_str_of(samples[i].text);
        struct mq_buffer spaced = {0};
        enum mq_status status = mq_header_text(&text, "subject", &spaced, &err);
        assert_int_equal(status, samples[i].error ? MQ_MESSAGE : MQ_OK);
        if (samples[i].error != NULL) {
            assert_string_equal(err.field, "subject");
            assert_non_null(strstr(err.text, samples[i].error));
        }
        mq_buffer_clear(&spaced);
    }
    struct mq_str nul = {"a\0b", 3};
    assert_int_equal(mq_header_text(&nul, "x", &out, &err), MQ_MESSAGE);
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
    /* Plain ASCII that a reader would decode to something else. */
    assert_header(" a", "Subject: =?utf-8?Q?_a?=\r\n");
    assert_header("a ", "Subject: =?utf-8?Q?a_?=\r\n");
    assert_header("b a  ", "Subject: b =?utf-8?Q?a__?=\r\n");
    assert_header("  ", "Subject: =?utf-8?Q?__?=\r\n");
    assert_header("=?utf-8?Q?a?=", "Subject: =?utf-8?B?PT91dGYtOD9RP2E/PQ==?=\r\n");
    assert_header("a ?= b", "Subject: a =?utf-8?B?Pz0=?= b\r\n");
    assert_header("a\tb", "Subject: =?utf-8?B?YQli?=\r\n");
    assert_header(X70, "Subject: " X70 "\r\n");
    /* Uses whichever encoding is shorter. */
    assert_header("Größe", "Subject: =?utf-8?B?R3LDtsOfZQ==?=\r\n");
    assert_header("Böschungen", "Subject: =?utf-8?Q?B=C3=B6schungen?=\r\n");
    assert_header("日本", "Subject: =?utf-8?B?5pel5pys?=\r\n");
    /* Only characters that may stand in a phrase are written unencoded. */
    assert_header("aZ09!*+-/_=?,.:ä-long-word",
                  "Subject: =?utf-8?B?YVowOSEqKy0vXz0/LC46w6QtbG9uZy13b3Jk?=\r\n");
    assert_header("aZ09!*+-/_.ä-a-rather-long-word-behind-it",
                  "Subject: =?utf-8?Q?aZ09!*+-/=5F=2E=C3=A4-a-rather-long-word-behind-it?=\r\n");
}

/* Encodes only from the first word that needs it to the last one. */
static void test_header_parts(void **state)
{
    (void)state;
    assert_header("Re: [club] Böschungen (new)",
                  "Subject: Re: [club] =?utf-8?Q?B=C3=B6schungen?= (new)\r\n");
    assert_header("Re:   Böschungen   new", "Subject: Re: =?utf-8?Q?__B=C3=B6schungen?=   new\r\n");
    assert_header("a ö b ö c", "Subject: a =?utf-8?B?w7YgYiDDtg==?= c\r\n");
    assert_header("Böschungen neu", "Subject: =?utf-8?Q?B=C3=B6schungen?= neu\r\n");
    assert_header("neu Böschungen ", "Subject: neu =?utf-8?Q?B=C3=B6schungen_?=\r\n");
    /* Lines with encoded words have at most 76 characters. */
    assert_header(X60 "123 \xC3\xB6", "Subject: " X60 "123\r\n =?utf-8?B?w7Y=?=\r\n");
    assert_header("\xC3\xB6 " X10 X10 X10 X10 "1234567",
                  "Subject: =?utf-8?B?w7Y=?= " X10 X10 X10 X10 "1234567\r\n");
    assert_header("\xC3\xB6 " X10 X10 X10 X10 "12345678901",
                  "Subject: =?utf-8?B?w7Y=?=\r\n " X10 X10 X10 X10 "12345678901\r\n");
    assert_header("b " X70 "1234567 \xC3\xB6",
                  "Subject: b\r\n " X70 "1234567\r\n =?utf-8?B?w7Y=?=\r\n");
}

static void assert_whole(const char *value, const char *expected)
{
    mq_buffer_reset(&out);
    mq_encode_header(&out, "References", mq_str_of(value));
    assert_string_equal(out.data, expected);
}

/* An id is never cut or encoded while a line can hold it. */
static void test_header_whole(void **state)
{
    char id[1100];
    (void)state;
    assert_whole("<" X70 "@b>", "References: <" X70 "@b>\r\n");
    assert_whole("<a@b> <" X70 X70 "@b> <c@d>",
                 "References: <a@b>\r\n <" X70 X70 "@b>\r\n <c@d>\r\n");
    assert_whole(X70 X70 " \xC3\xB6", "References: " X70 X70 "\r\n =?utf-8?B?w7Y=?=\r\n");
    memset(id, 'x', sizeof id);
    for (size_t len = 985; len <= 1000; len++) {
        id[len] = '\0';
        mq_buffer_reset(&out);
        mq_encode_header(&out, "References", mq_str_of(id));
        assert_int_equal(strchr(out.data, '=') == NULL, len + 12 <= 998);
        id[len] = 'x';
    }
}

/* Decodes the encoded word that the text begins with; returns the rest. Handles only the encodings
 * that we write. */
static const char *decode_word(const char *word, struct mq_buffer *decoded)
{
    static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    bool q = word[8] == 'Q';
    unsigned bits = 0;
    int have = 0;
    size_t start = decoded->len;
    const char *text = word + 10;
    for (; *text != '?' && *text != '\0'; text++) {
        unsigned value = 0;
        if (!q && *text != '=') {
            bits = bits << 6 | (unsigned)(strchr(digits, *text) - digits);
            have += 6;
            if (have >= 8) {
                have -= 8;
                mq_buffer_char(decoded, (char)(bits >> have & 0xFF));
            }
        } else if (q && *text == '=') {
            assert_int_equal(sscanf(text + 1, "%2X", &value), 1);
            mq_buffer_char(decoded, (char)value);
            text += 2;
        } else if (q) {
            mq_buffer_char(decoded, *text == '_' ? ' ' : *text);
        }
    }
    assert_int_equal(strncmp(text, "?=", 2), 0);
    assert_true(text + 2 - word <= 75);
    /* Each word contains whole characters (RFC 2047, section 5). */
    assert_true(mq_utf8_valid((struct mq_str){decoded->data + start, decoded->len - start}));
    return text + 2;
}

/* Undoes folding and encoded words; drops white space between two encoded words. */
static void decode(const char *text, struct mq_buffer *decoded)
{
    while (*text != '\0') {
        if (strncmp(text, "=?", 2) == 0) {
            text = decode_word(text, decoded);
            size_t blank = strspn(text, " \r\n");
            text += strncmp(text + blank, "=?", 2) == 0 ? blank : 0;
        } else if (*text == '\r' || *text == '\n') {
            text++;
        } else {
            mq_buffer_char(decoded, *text++);
        }
    }
}

/* A line without encoded words may be as long as its longest word. */
static void assert_lines(const char *text, size_t max)
{
    while (*text != '\0') {
        const char *end = strstr(text, "\r\n");
        assert_non_null(end);
        size_t len = (size_t)(end - text);
        assert_true(len <= max || memmem(text, len, "=?", 2) == NULL);
        assert_true(strspn(text, " \t") < len);
        text = end + 2;
    }
}

/* Characters of 1 to 4 bytes at every position where a word or a line can end. */
static void test_fold_points(void **state)
{
    static const char *const units[] = {"ä",    "€",   "😀", "aä", "ä ", "x😀", "👩‍👩‍👧",
                                        "? 日", "  日"};
    struct mq_buffer value;
    struct mq_buffer decoded;
    (void)state;
    value = (struct mq_buffer){0};
    decoded = (struct mq_buffer){0};
    for (size_t unit = 0; unit < sizeof units / sizeof *units; unit++) {
        for (size_t shift = 0; shift < 160; shift++) {
            mq_buffer_reset(&value);
            mq_buffer_reset(&decoded);
            mq_buffer_reset(&out);
            for (size_t i = 0; i < shift % 80; i++) {
                mq_buffer_char(&value, shift >= 80 && i % 9 == 8 ? ' ' : 'a');
            }
            for (int i = 0; i < 40; i++) {
                mq_buffer_cstr(&value, units[unit]);
            }
            mq_encode_header(&out, "Subject", mq_buffer_view(&value));
            assert_lines(out.data, 76);
            decode(out.data + 9, &decoded);
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
    assert_phrase("azAZ09 !#$%&'*+-/=^?_`{|}~ x", 3, " azAZ09 !#$%&'*+-/=^?_`{|}~ x");
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

/* A quoted string that is too long for a line could not be folded. */
static void test_phrase_quoted(void **state)
{
    char name[61];
    (void)state;
    for (size_t len = 30; len <= 60; len++) {
        size_t column = 5;
        memset(name, '"', len);
        name[len] = '\0';
        mq_buffer_reset(&out);
        mq_buffer_cstr(&out, "From:");
        mq_encode_phrase(&out, &column, mq_str_of(name));
        assert_int_equal(out.data[out.len - 1], len <= 36 ? '"' : '=');
        mq_buffer_cstr(&out, "\r\n");
        assert_lines(out.data, 76);
    }
}

static void test_mailboxes(void **state)
{
    char *names[] = {"", "Bob, jr.", "J\xC3\xB6rg", "=?x?= (not)"};
    char *addresses[] = {"ann@example.org", "bob@example.net", "j@example.net", "k@example.net"};
    struct mq_mailboxes list = {{addresses, 1, 4}, {names, 1, 4}};
    (void)state;
    mq_mailboxes_write(&out, "To", &list);
    assert_string_equal(out.data, "To: ann@example.org\r\n");
    mq_buffer_reset(&out);
    list.addresses.count = list.names.count = 4;
    mq_mailboxes_write(&out, "To", &list);
    assert_string_equal(out.data, "To: ann@example.org, \"Bob, jr.\" <bob@example.net>, "
                                  "=?utf-8?B?SsO2cmc=?=\r\n <j@example.net>, "
                                  "=?utf-8?B?PT94Pz0gKG5vdCk=?= <k@example.net>\r\n");
    /* A long address after the name starts a new line if the limit requires it. */
    addresses[0] = X60 "12345678@x";
    list.addresses.count = list.names.count = 1;
    mq_buffer_reset(&out);
    mq_mailboxes_write(&out, "To", &list);
    assert_string_equal(out.data, "To: " X60 "12345678@x\r\n");
    mq_buffer_reset(&out);
    mq_mailboxes_write(&out, "Reply-To", &list);
    assert_string_equal(out.data, "Reply-To:\r\n " X60 "12345678@x\r\n");
    addresses[0] = X70 "12345678@x";
    mq_buffer_reset(&out);
    mq_mailboxes_write(&out, "Reply-To", &list);
    assert_string_equal(out.data, "Reply-To: " X70 "12345678@x\r\n");
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

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_check, setup, teardown),
        cmocka_unit_test_setup_teardown(test_header_plain, setup, teardown),
        cmocka_unit_test_setup_teardown(test_header_encoded, setup, teardown),
        cmocka_unit_test_setup_teardown(test_header_parts, setup, teardown),
        cmocka_unit_test_setup_teardown(test_header_whole, setup, teardown),
        cmocka_unit_test_setup_teardown(test_fold_points, setup, teardown),
        cmocka_unit_test_setup_teardown(test_phrase, setup, teardown),
        cmocka_unit_test_setup_teardown(test_phrase_quoted, setup, teardown),
        cmocka_unit_test_setup_teardown(test_mailboxes, setup, teardown),
        cmocka_unit_test_setup_teardown(test_token, setup, teardown),
    };
    return cmocka_run_group_tests_name("encode_header", tests, NULL, NULL);
}
