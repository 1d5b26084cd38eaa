/* 8-bit messages for relays that take 7 bits only. What readers make of them is in
 * tests/smtp/seven_bit.phpt. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "mime/wire/repair.h"

#define TYPE "Content-Type: text/plain; charset=utf-8\r\n"

static void assert_converted(const char *wire, const char *expected)
{
    struct mq_error err = {0};
    struct mq_buffer out, twice;
    out = (struct mq_buffer){0};
    twice = (struct mq_buffer){0};
    assert_int_equal(mq_repair_7bit(mq_str_of(wire), &out, &err), MQ_OK);
    assert_string_equal(out.data, expected);
    assert_int_equal(mq_repair_7bit(mq_buffer_view(&out), &twice, &err), MQ_OK);
    assert_string_equal(twice.data, expected);
    mq_buffer_clear(&out);
    mq_buffer_clear(&twice);
}

static void assert_refused(const char *wire, const char *why)
{
    struct mq_error err = {0};
    struct mq_buffer out;
    out = (struct mq_buffer){0};
    assert_int_equal(mq_repair_7bit(mq_str_of(wire), &out, &err), MQ_MESSAGE);
    assert_string_equal(err.text, why);
    assert_int_equal(out.len, 0);
    mq_buffer_clear(&out);
}

static void test_texts(void **state)
{
    (void)state;
    assert_converted("Subject: x\r\n\r\nGr\xC3\xB6\xC3\x9F"
                     "e of it, and many more words\r\n",
                     "Subject: x\r\nMIME-Version: 1.0\r\n" TYPE
                     "Content-Transfer-Encoding: quoted-printable\r\n\r\n"
                     "Gr=C3=B6=C3=9F"
                     "e of it, and many more words\r\n");
    assert_converted("MIME-Version: 1.0\r\n" TYPE "Content-Transfer-Encoding: 8bit\r\n"
                     "Subject: x\r\n\r\n.caf\xC3\xA9 and many more words\r\n",
                     "MIME-Version: 1.0\r\n" TYPE "Content-Transfer-Encoding: quoted-printable\r\n"
                     "Subject: x\r\n\r\n=2Ecaf=C3=A9 and many more words\r\n");
    /* encoded already, but with a byte that the encoding does not allow */
    assert_converted("MIME-Version: 1.0\r\n" TYPE "Content-Transfer-Encoding: quoted-printable\r\n"
                     "\r\na=\r\nb=3D\xC3\xA9\r\n",
                     "MIME-Version: 1.0\r\n" TYPE "Content-Transfer-Encoding: quoted-printable\r\n"
                     "\r\na=\r\nb=3D=C3=A9\r\n");
    assert_converted("Subject: x\r\nContent-Transfer-Encoding: base64\r\n\r\nQU\xFFJD\r\n",
                     "Subject: x\r\nContent-Transfer-Encoding: base64\r\n\r\nQUJD\r\n");
}

#define MULTI "MIME-Version: 1.0\r\nContent-Type: multipart/mixed; boundary=qq\r\n"

static void test_parts(void **state)
{
    (void)state;
    assert_converted(MULTI "Content-Transfer-Encoding: 8bit\r\n\r\nf\xC3\xBCr\r\n"
                           "--qq\r\n\r\nplain\r\n--qq\r\n" TYPE
                           "\r\n\xC3\xA9t\xC3\xA9 is here, with many more words\r\n"
                           "--qq--\r\n",
                     MULTI "Content-Transfer-Encoding: 7bit\r\n\r\nf**r\r\n"
                           "--qq\r\n\r\nplain\r\n--qq\r\n" TYPE
                           "Content-Transfer-Encoding: quoted-printable\r\n\r\n"
                           "=C3=A9t=C3=A9 is here, with many more words\r\n--qq--\r\n");
    /* An attached message must not be encoded as a whole (RFC 2046, 5.2.1). */
    assert_converted(
        MULTI
        "\r\n--qq\r\nContent-Type: message/rfc822\r\n"
        "Content-Transfer-Encoding: 8bit\r\n\r\nSubject: \xC3\xA9\r\n\r\n"
        "\xC3\xA9 and many, many more words that have to be said to be long enough\r\n--qq--\r\n",
        MULTI
        "\r\n--qq\r\nContent-Type: message/rfc822\r\n"
        "Content-Transfer-Encoding: 7bit\r\n\r\nSubject: =?utf-8?B?w6k=?=\r\n"
        "MIME-Version: 1.0\r\n" TYPE "Content-Transfer-Encoding: quoted-printable\r\n\r\n"
        "=C3=A9 and many, many more words that have to be said to be long enough\r\n--qq--\r\n");
}

/* A line that would become a boundary line, once its bytes over 127 are removed or encoded. */
static void test_no_boundary_is_made(void **state)
{
#define TWO                                                                               \
    "MIME-Version: 1.0\r\nContent-Type: multipart/mixed; boundary=\"=C3?\"\r\n\r\n%s\r\n" \
    "--=C3?\r\nContent-Transfer-Encoding: quoted-printable\r\n\r\n%s\r\n"                 \
    "--=C3?\r\nContent-Transfer-Encoding: base64\r\n\r\n%s\r\n--=C3?--\r\n"
    char wire[500], expected[500];
    (void)state;
    snprintf(wire, sizeof wire, TWO, "--=C3\xC3", "--\xC3?", "\xFF--=C3?\r\nQUJD");
    snprintf(expected, sizeof expected, TWO, "--=C3*", "=2D-=C3?", "=C3?\r\nQUJD");
    assert_converted(wire, expected);
}

static void test_what_must_not_be_changed(void **state)
{
    (void)state;
    assert_refused("DKIM-Signature: v=1\r\n\r\n\xC3\xA9\r\n",
                   "its DKIM-Signature forbids changing it");
    assert_refused("Content-Type: multipart/signed; boundary=qq\r\n\r\n--qq\r\n\r\n\xC3\xA9\r\n"
                   "--qq--\r\n",
                   "a part of it is signed or encrypted");
    assert_refused("Content-Type: message/delivery-status\r\n\r\nReason: \xC3\xA9\r\n",
                   "a part of it must not be encoded");
    assert_refused("Content-Transfer-Encoding: x-uue\r\n\r\n\xC3\xA9\r\n",
                   "a part of it has an unknown encoding");
    assert_refused(MULTI "\r\n--qq\r\nno field \xC3\xA9\r\n--qq--\r\n",
                   "a part of it has no readable header section");
    char deep[2000] = "";
    for (int i = 0; i < 33; i++) {
        strcat(deep, "Content-Type: message/rfc822\r\n\r\n");
    }
    strcat(deep, "Subject: x\r\n\r\n\xC3\xA9\r\n");
    assert_refused(deep, "a part of it is nested more than 32 deep");
    /* A signed part of 7 bits stays as it is, beside parts that are converted. */
    assert_converted(MULTI "\r\n--qq\r\nContent-Type: multipart/signed; boundary=s\r\n\r\n--s\r\n"
                           "\r\nascii\r\n--s--\r\n--qq\r\n" TYPE
                           "\r\nno \xC3\xA9t\xC3\xA9 yet, nor many more words\r\n"
                           "--qq--\r\n",
                     MULTI "\r\n--qq\r\nContent-Type: multipart/signed; boundary=s\r\n\r\n--s\r\n"
                           "\r\nascii\r\n--s--\r\n--qq\r\n" TYPE
                           "Content-Transfer-Encoding: quoted-printable\r\n\r\n"
                           "no =C3=A9t=C3=A9 yet, nor many more words\r\n--qq--\r\n");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_texts),
        cmocka_unit_test(test_parts),
        cmocka_unit_test(test_no_boundary_is_made),
        cmocka_unit_test(test_what_must_not_be_changed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
