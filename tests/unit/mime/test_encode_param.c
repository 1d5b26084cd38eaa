/* Parameters of MIME fields: media types and file names (RFC 2231). */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "mime/param.h"

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

static void test_media_types(void **state)
{
    static const struct {
        const char *text, *written;
    } samples[] = {
        {"image/png", " image/png"},
        {" Text/CSV ;charset = utf-8;header=present ", " Text/CSV; charset=utf-8; header=present"},
        {"a/b; c=\"d;\\\" e\"", " a/b; c=\"d;\\\" e\""},
        {"application/vnd.openxmlformats-officedocument.wordprocessingml.document; a=b",
         "\r\n application/vnd.openxmlformats-officedocument.wordprocessingml.document;\r\n a=b"},
        {"a/b; long=" X60 "; c=d", " a/b;\r\n long=" X60 "; c=d"},
        {"", NULL},
        {"image", NULL},
        {"image/", NULL},
        {"/png", NULL},
        {"image/png; ", NULL},
        {"image/png;a", NULL},
        {"image/png;a=", NULL},
        {"image/png;a=\"b", NULL},
        {"image/png a=b", NULL},
        {"image/png;a=b c=d", NULL},
        {"image/png/x", NULL},
        {"im age/png", NULL},
        {"image/p\xC3\xB6g", NULL},
        {"image/png;a=\"b\\\"", NULL},
    };
    (void)state;
    for (size_t i = 0; i < sizeof samples / sizeof *samples; i++) {
        struct mq_media_type type = {.has_name = false};
        const char *fault = mq_media_type_parse(mq_str_of(samples[i].text), &type);
        if ((fault == NULL) != (samples[i].written != NULL)) {
            fail_msg("%s: %s", samples[i].text, fault ? fault : "was taken");
        }
        if (fault == NULL) {
            size_t column = sizeof "Content-Type:" - 1;
            mq_buffer_reset(&out);
            mq_media_type_write(&out, &column, &type);
            assert_string_equal(out.data, samples[i].written);
        }
    }
}

static void test_media_type_limits(void **state)
{
    struct mq_media_type type;
    char text[1000];
    (void)state;
    memset(text, 'x', sizeof text);
    text[127] = '/';
    assert_null(mq_media_type_parse((struct mq_str){text, 255}, &type));
    assert_non_null(mq_media_type_parse((struct mq_str){text, 256}, &type));
    text[127] = 'x';
    text[128] = '/';
    assert_non_null(mq_media_type_parse((struct mq_str){text, 200}, &type));
    memcpy(text, "a/b;c=", 6);
    text[128] = 'x';
    assert_null(mq_media_type_parse((struct mq_str){text, 900}, &type));
    assert_non_null(mq_media_type_parse((struct mq_str){text, 901}, &type));
    assert_null(mq_media_type_parse(MQ_STR("a/b; NAME=x"), &type));
    assert_true(type.has_name);
    assert_null(mq_media_type_parse(MQ_STR("a/b; c=d; name*0*=utf-8''x; e=f"), &type));
    assert_true(type.has_name);
    assert_null(mq_media_type_parse(MQ_STR("a/b; filename=x; names=y; nam*=z"), &type));
    assert_false(type.has_name);
}

typedef void (*writer)(struct mq_buffer *out, size_t *column, const char *name,
                       struct mq_str value);

static void assert_name(writer write, const char *name, const char *expected)
{
    size_t column = sizeof "Content-Disposition: attachment" - 1;
    mq_buffer_reset(&out);
    write(&out, &column, "filename", mq_str_of(name));
    assert_string_equal(out.data, expected);
    const char *last = strrchr(out.data, '\n');
    assert_int_equal(column, last ? strlen(last + 1) : 31 + out.len);
}

/* A short, plain name needs no second form for old readers. */
static void test_plain(void **state)
{
    static const writer writers[] = {mq_param_filename, mq_param_fallback};
    (void)state;
    for (size_t i = 0; i < 2; i++) {
        assert_name(writers[i], "a.pdf", "; filename=\"a.pdf\"");
        assert_name(writers[i], "a (1); b='c' %20*.pdf", "; filename=\"a (1); b='c' %20*.pdf\"");
        assert_name(writers[i], "why?", "; filename=\"why?\"");
        assert_name(writers[i], "say \"a\".txt", "; filename=\"say \\\"a\\\".txt\"");
        assert_name(writers[i], X10 X10 "1234567.pdf", "; filename=\"" X10 X10 "1234567.pdf\"");
        /* A parameter that fits in a line of 76, with a ';' after it, stays plain. */
        assert_name(writers[i], X10 X10 X10 "1.pdf", ";\r\n filename=\"" X10 X10 X10 "1.pdf\"");
        assert_name(writers[i], X60 "123", ";\r\n filename=\"" X60 "123\"");
    }
}

static void test_filename(void **state)
{
    (void)state;
    assert_name(mq_param_filename, X60 "1234",
                ";\r\n filename*0*=utf-8''" X10 X10 X10 X10 X10 "xxxxx;\r\n filename*1*=xxxxx1234");
    /* A name that is not ASCII, or that a reader would decode. */
    assert_name(mq_param_filename, "Größe.pdf", "; filename*=utf-8''Gr%C3%B6%C3%9Fe.pdf");
    assert_name(mq_param_filename, "=?a", "; filename*=utf-8''%3D%3Fa");
    assert_name(mq_param_filename, "日本 'a'*.50%",
                ";\r\n filename*=utf-8''%E6%97%A5%E6%9C%AC%20%27a%27%2A.50%25");
}

#define FALLBACK(text) ";\r\n filename=\"" text "\""

static void test_fallback(void **state)
{
    (void)state;
    assert_name(mq_param_fallback, "Größe.pdf", FALLBACK("Gr_e.pdf"));
    assert_name(mq_param_fallback, "日本 (2)😀.docx", FALLBACK("_ (2)_.docx"));
    /* The plain form contains nothing that needs a backslash or looks like an encoded word. */
    assert_name(mq_param_fallback, "=?utf-8?Q?\"ö\\?=", FALLBACK("=_utf-8_Q_="));
    /* It can be given any bytes. */
    assert_name(mq_param_fallback, "a\r\nb\x7F\xF6.txt", FALLBACK("a_b_.txt"));
    /* Of a long name it keeps the end. */
    assert_name(mq_param_fallback, X60 "1234", FALLBACK(X10 X10 X10 X10 X10 "xxxxxxxxx1234"));
    assert_name(mq_param_fallback, "ä" X60 ".pdf", FALLBACK(X10 X10 X10 X10 X10 "xxxxxxxxx.pdf"));
}

static void test_name_of_type(void **state)
{
    size_t column = sizeof "Content-Type: a/b" - 1;
    (void)state;
    mq_param_fallback(&out, &column, "name", MQ_STR("日本.b"));
    mq_param_fallback(&out, &column, "name", MQ_STR(X60 "ß12345678"));
    assert_string_equal(out.data, ";\r\n name=\"_.b\";\r\n name=\"" X10 X10 X10 X10 X10
                                  "xxxxxxxx_12345678\"");
}

static void assert_lines(const char *text)
{
    for (const char *end; (end = strstr(text, "\r\n")) != NULL; text = end + 2) {
        assert_true(end - text <= 78);
    }
    assert_true(strlen(text) <= 78);
}

/* Joins filename*0*=utf-8''…; filename*1*=…, and checks that each has whole characters. */
static void decode_sections(const char *text, struct mq_buffer *decoded)
{
    for (int section = 0; (text = strstr(text, " filename*")) != NULL; section++) {
        char begin[32];
        snprintf(begin, sizeof begin, " filename*%d*=", section);
        bool alone = section == 0 && strncmp(text, " filename*=", 11) == 0;
        assert_true(alone || strncmp(text, begin, strlen(begin)) == 0);
        text += alone ? 11 : strlen(begin);
        assert_true(section > 0 || strncmp(text, "utf-8''", 7) == 0);
        text += section == 0 ? 7 : 0;
        size_t start = decoded->len;
        for (; *text != '\0' && *text != ';'; text++) {
            unsigned value = (unsigned char)*text;
            if (*text == '%') {
                assert_int_equal(sscanf(text + 1, "%2X", &value), 1);
                text += 2;
            }
            mq_buffer_char(decoded, (char)value);
        }
        assert_true(decoded->len > start);
        assert_true(mq_utf8_valid((struct mq_str){decoded->data + start, decoded->len - start}));
    }
}

/* Sections of names of all lengths: lines of at most 78, whole characters in each, the original
 * decoded. */
static void test_sections(void **state)
{
    static const char *const units[] = {"ä", "€", "😀", "aä", "x", "a b"};
    struct mq_buffer name;
    struct mq_buffer decoded;
    (void)state;
    name = (struct mq_buffer){0};
    decoded = (struct mq_buffer){0};
    for (size_t cycle = 0; cycle < 6 * 90; cycle++) {
        size_t column = 31;
        mq_buffer_reset(&name);
        mq_buffer_cstr(&name, "ü");
        for (size_t i = 0; i < cycle / 6 * 3; i++) {
            mq_buffer_cstr(&name, units[cycle % 6]);
        }
        mq_buffer_reset(&out);
        mq_param_filename(&out, &column, "filename", mq_buffer_view(&name));
        mq_buffer_reset(&decoded);
        assert_lines(out.data);
        decode_sections(out.data, &decoded);
        assert_string_equal(decoded.data, name.data);
    }
    mq_buffer_clear(&name);
    mq_buffer_clear(&decoded);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_media_types, setup, teardown),
        cmocka_unit_test_setup_teardown(test_media_type_limits, setup, teardown),
        cmocka_unit_test_setup_teardown(test_plain, setup, teardown),
        cmocka_unit_test_setup_teardown(test_filename, setup, teardown),
        cmocka_unit_test_setup_teardown(test_fallback, setup, teardown),
        cmocka_unit_test_setup_teardown(test_name_of_type, setup, teardown),
        cmocka_unit_test_setup_teardown(test_sections, setup, teardown),
    };
    return cmocka_run_group_tests_name("encode_param", tests, NULL, NULL);
}
