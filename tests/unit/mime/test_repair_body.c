/* Bodies with lines over 998 octets: which parts are encoded, wrapped or cut, and that nothing else
 * changes. tests/message/repair.phpt decodes them with Python. */
#include "repair_body_fixture.h"

/* A body of one long line: only the missing header fields are added. */
static void test_text(void **state)
{
    static const struct {
        const char *fields, *expected;
    } samples[] = {
        {"", "MIME-Version: 1.0\r\nContent-Transfer-Encoding: quoted-printable\r\n"},
        {"Content-Transfer-Encoding: 7bit\r\nX: y\r\ncontent-transfer-encoding: 8bit\r\n z\r\n",
         "Content-Transfer-Encoding: quoted-printable\r\nX: y\r\nMIME-Version: 1.0\r\n"},
        {"Content-Type: text/html\r\nmime-version: 1.0\r\nContent-Transfer-Encoding: BINARY\r\n",
         "Content-Type: text/html\r\nmime-version: 1.0\r\n"
         "Content-Transfer-Encoding: quoted-printable\r\n"},
        {"Content-Type: image/svg+xml\r\n", "Content-Type: image/svg+xml\r\nMIME-Version: 1.0\r\n"
                                            "Content-Transfer-Encoding: quoted-printable\r\n"},
    };
    (void)state;
    for (size_t i = 0; i < COUNT(samples); i++) {
        both(HAVE);
        mq_buffer_cstr(&raw, samples[i].fields);
        mq_buffer_cstr(&wanted, samples[i].expected);
        mq_buffer_cstr(&raw, "\r\nx = y \r\n");
        mq_buffer_cstr(&wanted, "\r\nx =3D y=20\r\n");
        repeat(&raw, "a", 999);
        quoted(999);
        mq_buffer_cstr(&raw, "\r\n.\r\n");
        mq_buffer_cstr(&wanted, "=2E\r\n");
        assert_repaired();
    }
    /* 998 octets are not too long. */
    both(HAVE "\r\n");
    repeat(&raw, "a", 998);
    repeat(&wanted, "a", 998);
    both("\r\n");
    assert_repaired();
}

/* The charset of a text without a type; base64 where that is shorter. */
static void test_charset(void **state)
{
    static const struct {
        const char *text, *charset;
    } samples[] = {{"\xC3\xB6\xC3\xB6", "utf-8"}, {"\xF6\xF6\xF6\xF6", "windows-1252"}};
    (void)state;
    for (size_t i = 0; i < COUNT(samples); i++) {
        both(HAVE);
        mq_buffer_cstr(&raw, "\r\n");
        size_t begin = raw.len;
        repeat(&raw, samples[i].text, 500);
        mq_buffer_cstr(&raw, "\r\n");
        mq_buffer_printf(&wanted,
                         "MIME-Version: 1.0\r\nContent-Type: text/plain; charset=%s\r\n"
                         "Content-Transfer-Encoding: base64\r\n\r\n",
                         samples[i].charset);
        mq_encode_base64(&wanted, (struct mq_str){raw.data + begin, raw.len - begin});
        assert_repaired();
        assert_int_equal(info.flags, 0);
    }
}

/* An encoded part stays as it is. */
static void test_encoded(void **state)
{
    (void)state;
    both(HAVE "Content-Transfer-Encoding: Base64\r\n\r\nQQ==\r\n");
    repeat(&raw, "QUJD", 250);
    repeat(&wanted, "QUJD", 19);
    for (int i = 0; i < 12; i++) {
        mq_buffer_cstr(&wanted, "\r\n");
        repeat(&wanted, "QUJD", 19);
    }
    mq_buffer_cstr(&wanted, "\r\nQUJDQUJDQUJD");
    both("\r\n");
    assert_repaired();
    /* No soft break within "=C3" or before "--"; white space at the end of a line is encoded. */
    both(HAVE "Content-Transfer-Encoding: quoted-printable\r\n\r\n=3D \r\n");
    repeat(&raw, "=C3", 400);
    mq_buffer_cstr(&raw, "=20 \t");
    for (int i = 0; i < 16; i++) {
        repeat(&wanted, "=C3", 25);
        mq_buffer_cstr(&wanted, "=\r\n");
    }
    mq_buffer_cstr(&wanted, "=20");
    both("\r\nx");
    repeat(&raw, "=C3", 24);
    repeat(&wanted, "=C3", 24);
    mq_buffer_cstr(&wanted, "=\r\n");
    mq_buffer_cstr(&raw, "=C3x--b");
    mq_buffer_cstr(&wanted, "=C3x--b");
    repeat(&raw, "a", 1000);
    repeat(&wanted, "a", 68);
    mq_buffer_cstr(&wanted, "=\r\n");
    quoted(932);
    mq_buffer_cstr(&raw, "\r\n");
    assert_repaired();
    for (size_t before = 73; before <= 74; before++) {
        both(HAVE "Content-Transfer-Encoding: quoted-printable\r\n\r\n");
        repeat(&raw, "a", before);
        repeat(&wanted, "a", before);
        mq_buffer_cstr(&raw, "=C3");
        mq_buffer_cstr(&wanted, "=\r\n=C3");
        repeat(&raw, "a", 1000);
        repeat(&wanted, "a", 72);
        mq_buffer_cstr(&wanted, "=\r\n");
        quoted(928);
        mq_buffer_cstr(&raw, "\r\n");
        assert_repaired();
    }
    both(HAVE "Content-Transfer-Encoding: quoted-printable\r\n\r\n");
    repeat(&raw, "a", 74);
    repeat(&wanted, "a", 73);
    mq_buffer_cstr(&wanted, "=\r\n");
    mq_buffer_cstr(&raw, "---");
    mq_buffer_cstr(&wanted, "a---");
    repeat(&raw, "a", 71 + 1000);
    repeat(&wanted, "a", 71);
    mq_buffer_cstr(&wanted, "=\r\n");
    quoted(1000);
    mq_buffer_cstr(&raw, "\r\n");
    assert_repaired();
}

/* A rule of "-" behind "=C3" fills lines: not even then does a soft break cut "=C3". */
static void test_rule(void **state)
{
    (void)state;
    for (size_t before = 0; before <= 1; before++) {
        both(HAVE "Content-Transfer-Encoding: quoted-printable\r\n\r\n");
        both(before > 0 ? "a=C3" : "=C3");
        repeat(&raw, "-", 72 - before + 14 * 73);
        repeat(&wanted, "-", 72 - before);
        for (int i = 0; i < 14; i++) {
            mq_buffer_cstr(&wanted, "=\r\n=2D");
            repeat(&wanted, "-", 72);
        }
        both("\r\n");
        assert_repaired();
    }
}

/* Where encoding is not allowed, lines are cut, as relays do. */
static void test_cut(void **state)
{
    static const char *const heads[] = {
        "Content-Type: multipart/mixed\r\n\r\n--b\r\n\r\n",
        "Content-Type: multipart/mixed; boundary=c\r\n\r\n--b\r\n\r\n",
        "Content-Type: message/delivery-status\r\n\r\n",
        "Content-Type: message/rfc822\r\n\r\nno header\r\n",
        "Content-Transfer-Encoding: x-uuencode\r\n\r\n",
    };
    (void)state;
    for (size_t i = 0; i < COUNT(heads); i++) {
        both(HAVE);
        both(heads[i]);
        mq_buffer_cstr(&raw, "a");
        mq_buffer_cstr(&wanted, "a");
        repeat(&raw, "\xC3\xB6", 999);
        repeat(&wanted, "\xC3\xB6", 498);
        mq_buffer_cstr(&wanted, "\r\n");
        repeat(&wanted, "\xC3\xB6", 499);
        mq_buffer_cstr(&wanted, "\r\n\xC3\xB6\xC3\xB6");
        both("\r\n");
        /* No line begins with text that could be a boundary. */
        repeat(&raw, "\xF6", 998);
        repeat(&wanted, "\xF6", 997);
        mq_buffer_cstr(&wanted, "\r\n\xF6");
        both("--b--\r\n");
        assert_repaired();
    }
}

/* Only the parts with long lines change. */
static void test_multipart(void **state)
{
    (void)state;
    both(MULTIPART
         "preamble\r\n--=_b \r\nContent-Type: text/plain\r\n\r\nshort\xF6\r\n\r\n--=_b\r\n"
         "Content-Type: text/html\r\n");
    mq_buffer_cstr(&wanted, "Content-Transfer-Encoding: quoted-printable\r\n");
    both("\r\n");
    repeat(&raw, "a", 1000);
    quoted(1000);
    mq_buffer_cstr(&raw, "\r\n");
    /* The line end before a boundary belongs to the boundary: content that ends with a line end,
     * and content that does not. */
    both("\r\n--=_b\r\n");
    mq_buffer_cstr(&raw, "\r\n");
    mq_buffer_cstr(&wanted, "Content-Type: text/plain; charset=utf-8\r\n"
                            "Content-Transfer-Encoding: base64\r\n\r\n");
    size_t begin = raw.len;
    repeat(&raw, "\xC3\xB6", 500);
    mq_encode_base64(&wanted, (struct mq_str){raw.data + begin, 1000});
    mq_buffer_cstr(&raw, "\r\n");
    both("--=_b\r\n");
    mq_buffer_cstr(&raw, "\r\n");
    mq_buffer_cstr(&wanted, "Content-Type: text/plain; charset=utf-8\r\n"
                            "Content-Transfer-Encoding: base64\r\n\r\n");
    begin = raw.len;
    repeat(&raw, "\xC3\xB6", 500);
    mq_buffer_cstr(&raw, "\r\n");
    mq_encode_base64(&wanted, (struct mq_str){raw.data + begin, 1002});
    mq_buffer_cstr(&raw, "\r\n");
    both("--=_b--\r\nepilogue\r\n--=_b\r\n\r\n");
    repeat(&raw, "e", 1000);
    repeat(&wanted, "e", 998);
    mq_buffer_cstr(&wanted, "\r\nee");
    both("\r\n");
    assert_repaired();
    assert_int_equal(info.flags, MQ_MESSAGE_8BIT);
}

/* An encoding of a multipart is forbidden, and readers ignore it. */
static void test_multipart_encoded(void **state)
{
    static const char *const encodings[] = {"quoted-printable", "base64", "x-other"};
    (void)state;
    for (size_t i = 0; i < COUNT(encodings); i++) {
        both(HAVE "MIME-Version: 1.0\r\nContent-Transfer-Encoding: ");
        both(encodings[i]);
        both("\r\nContent-Type: multipart/mixed; boundary=b\r\n"
             "\r\n--b\r\nContent-Type: text/plain\r\n");
        mq_buffer_cstr(&wanted, "Content-Transfer-Encoding: quoted-printable\r\n");
        both("\r\n");
        repeat(&raw, "a", 1000);
        quoted(1000);
        mq_buffer_cstr(&raw, "\r\n");
        both("--b--\r\n");
        assert_repaired();
    }
}

/* Parts in parts, an attached message, one in a digest, a header line of a part. */
static void test_nested(void **state)
{
    (void)state;
    both(MULTIPART "--=_b\r\nContent-Type: multipart/alternative;\r\n boundary=c\r\n\r\n--c\r\n");
    mq_buffer_cstr(&wanted, "Content-Transfer-Encoding: quoted-printable\r\n");
    both("\r\n");
    repeat(&raw, "a", 1000);
    quoted(1000);
    mq_buffer_cstr(&raw, "\r\n");
    both("--c--\r\n--=_b\r\nContent-Type: message/rfc822\r\n\r\nSubject: x\r\n");
    mq_buffer_cstr(&wanted, "MIME-Version: 1.0\r\nContent-Transfer-Encoding: quoted-printable\r\n");
    both("\r\n");
    repeat(&raw, "a", 1000);
    quoted(1000);
    mq_buffer_cstr(&raw, "\r\n");
    both("--=_b\r\nContent-Type: multipart/digest; boundary=d\r\n\r\n--d\r\n\r\nSubject: y\r\n");
    mq_buffer_cstr(&wanted, "MIME-Version: 1.0\r\nContent-Transfer-Encoding: quoted-printable\r\n");
    both("\r\n");
    repeat(&raw, "a", 1000);
    quoted(1000);
    mq_buffer_cstr(&raw, "\r\n");
    both("--d--\r\n--=_b\r\nX: y");
    repeat(&raw, " 23456789", 111);
    repeat(&wanted, " 23456789", 110);
    mq_buffer_cstr(&wanted, "\r\n 23456789");
    both("\r\n\r\nshort\r\n--=_b--\r\n");
    assert_repaired();
}

/* A text that contains a boundary is not encoded in a way that moves it to the start of a line. */
static void test_boundary_inside(void **state)
{
    (void)state;
    both(MULTIPART "--=_b\r\n");
    mq_buffer_cstr(&wanted, "Content-Transfer-Encoding: base64\r\n");
    both("\r\n");
    size_t begin = raw.len;
    repeat(&raw, "a", 75);
    mq_buffer_cstr(&raw, "--=_b--");
    repeat(&raw, "a", 1000);
    mq_encode_base64(&wanted, (struct mq_str){raw.data + begin, raw.len - begin});
    mq_buffer_cstr(&raw, "\r\n");
    both("--=_b--\r\n");
    assert_repaired();
}

/* In a line of dashes, the text after a cut begins with dashes, but the new line must not. */
static void test_dashes(void **state)
{
    (void)state;
    both(HAVE "MIME-Version: 1.0\r\nContent-Type: multipart/mixed; boundary=b\r\n\r\n");
    repeat(&raw, "-", 998 + 997);
    mq_buffer_cstr(&raw, "--b");
    repeat(&wanted, "-", 998);
    mq_buffer_cstr(&wanted, "\r\n ");
    repeat(&wanted, "-", 997);
    mq_buffer_cstr(&wanted, "\r\n --b");
    both("\r\n--b\r\nContent-Transfer-Encoding: quoted-printable\r\n\r\n");
    repeat(&raw, "-", 75 + 13 * 73 + 61);
    mq_buffer_cstr(&raw, "b");
    repeat(&wanted, "-", 75);
    for (int i = 0; i < 13; i++) {
        mq_buffer_cstr(&wanted, "=\r\n=2D");
        repeat(&wanted, "-", 72);
    }
    mq_buffer_cstr(&wanted, "=\r\n=2D");
    repeat(&wanted, "-", 60);
    mq_buffer_cstr(&wanted, "b");
    both("\r\n--b--\r\n");
    assert_repaired();
}

/* Boundaries that occur only in a quoted-printable text, and one that never occurs. */
static void test_boundary_quoted(void **state)
{
    static const struct {
        const char *boundary;
        bool base64;
    } samples[] = {{"=3D", true},  {"a=C3=B6", true}, {"a=20b=", true}, {"=_3D", false},
                   {"=3D=", true}, {"=3d", false},    {"=3D=4", false}};
    (void)state;
    for (size_t i = 0; i < COUNT(samples); i++) {
        mq_buffer_printf(&raw,
                         HAVE "MIME-Version: 1.0\r\nContent-Type: multipart/mixed;"
                              " boundary=\"%s\"\r\n\r\n--%s\r\n\r\n--=\r\n",
                         samples[i].boundary, samples[i].boundary);
        repeat(&raw, "a", 1000);
        mq_buffer_printf(&raw, "\r\n--%s--\r\n", samples[i].boundary);
        repair(mq_buffer_view(&raw));
        mq_buffer_reset(&raw);
        assert_int_equal(strstr(out.data, "Encoding: base64") != NULL, samples[i].base64);
    }
}

/* A part that its multipart does not end; parts nested deeper than anyone writes are not cut. */
static void test_broken(void **state)
{
    (void)state;
    both(MULTIPART "--=_b\r\n");
    mq_buffer_cstr(&wanted, "Content-Transfer-Encoding: quoted-printable\r\n");
    both("\r\n");
    repeat(&raw, "a", 1000);
    quoted(1000);
    mq_buffer_cstr(&raw, "\r\n");
    assert_repaired();
    both(HAVE);
    for (int i = 0; i < 32; i++) {
        both("Content-Type: message/rfc822\r\n\r\n");
    }
    both("A: b\r\n");
    mq_buffer_cstr(&wanted, "MIME-Version: 1.0\r\nContent-Transfer-Encoding: quoted-printable\r\n");
    mq_buffer_cstr(&raw, "\r\n");
    mq_buffer_cstr(&wanted, "\r\n");
    repeat(&raw, "a", 1000);
    quoted(1000);
    mq_buffer_cstr(&raw, "\r\n");
    assert_repaired();
    both(HAVE);
    for (int i = 0; i < 33; i++) {
        both("Content-Type: message/rfc822\r\n\r\n");
    }
    both("A: b\r\n\r\nshort\r\n");
    assert_repaired(); /* nothing needs a change */
    mq_buffer_cstr(&raw, HAVE);
    for (int i = 0; i < 33; i++) {
        mq_buffer_cstr(&raw, "Content-Type: message/rfc822\r\n\r\n");
    }
    mq_buffer_cstr(&raw, "A: b\r\n\r\n");
    repeat(&raw, "a", 1000);
    mq_buffer_cstr(&raw, "\r\n");
    mq_buffer_clear(&out);
    assert_int_equal(mq_repair_accept(mq_buffer_view(&raw), &options, &out, &info, &err),
                     MQ_MESSAGE);
    assert_non_null(strstr(err.text, "nested more than 32 deep"));
    assert_int_equal(out.len, 0);
}

static double seconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

/* Thousands of parts and of boundary lines, in multiparts as deep as they are read. */
static void test_linear(void **state)
{
    (void)state;
    mq_buffer_cstr(&raw, HAVE);
    for (int i = 0; i < 16; i++) {
        mq_buffer_printf(&raw, "Content-Type: multipart/mixed; boundary=b%d\r\n\r\n--b%d\r\n", i,
                         i);
    }
    for (int i = 0; i < 100000; i++) {
        mq_buffer_printf(&raw, "\r\n--b%d\r\n", 15 - i % 2);
    }
    repeat(&raw, "a", 1000);
    double begin = seconds();
    repair(mq_buffer_view(&raw));
    assert_true(seconds() - begin < 5); /* minutes if the time is quadratic */
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(test_text, teardown),
        cmocka_unit_test_teardown(test_charset, teardown),
        cmocka_unit_test_teardown(test_encoded, teardown),
        cmocka_unit_test_teardown(test_rule, teardown),
        cmocka_unit_test_teardown(test_cut, teardown),
        cmocka_unit_test_teardown(test_multipart, teardown),
        cmocka_unit_test_teardown(test_multipart_encoded, teardown),
        cmocka_unit_test_teardown(test_nested, teardown),
        cmocka_unit_test_teardown(test_boundary_inside, teardown),
        cmocka_unit_test_teardown(test_dashes, teardown),
        cmocka_unit_test_teardown(test_boundary_quoted, teardown),
        cmocka_unit_test_teardown(test_broken, teardown),
        cmocka_unit_test_teardown(test_linear, teardown),
    };
    return cmocka_run_group_tests_name("repair_body", tests, NULL, NULL);
}
