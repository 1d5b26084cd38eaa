/* Parts that are signed or encrypted, in messages with something to repair. */
#include <time.h>

#include "repair_body_fixture.h"

static void assert_refused(const char *expected)
{
    mq_buffer_clear(&out);
    assert_int_equal(mq_repair_accept(mq_buffer_view(&raw), &options, &out, &info, &err),
                     MQ_MESSAGE);
    assert_string_equal(err.field, "message");
    assert_non_null(strstr(err.text, expected));
    assert_int_equal(out.len, 0);
    mq_buffer_reset(&raw);
    mq_buffer_reset(&wanted);
}

/* A part that would no longer verify or decrypt makes the message refused, wherever the part is. */
static void test_sealed(void **state)
{
    static const char *const heads[] = {
        "Content-Type: multipart/signed; boundary=b\n\n--b\n\n",
        "Content-Type: Multipart/Signed\n\n",
        "Content-Transfer-Encoding: base64\n"
        "Content-Type: multipart/signed; boundary=b\n\n--b\n\n",
        "Content-Type: multipart/encrypted; boundary=b\n\n--b\n\n",
        "Content-Type: multipart/mixed; boundary=m\n\n--m\n"
        "Content-Type:\n multipart/signed; boundary=b\n\n--b\n\n",
        "Content-Type: message/rfc822\n\nX: y\nContent-Type: multipart/signed; boundary=b\n\n",
        "Content-Type: application/pkcs7-mime; smime-type=signed-data\n\n",
        "Content-Type: application/x-pkcs7-mime\nContent-Transfer-Encoding: x-other\n\n",
    };
    (void)state;
    for (size_t i = 0; i < COUNT(heads); i++) {
        both(HAVE "Subject: \xC3\xB6\n");
        both(heads[i]);
        repeat(&raw, "a", 999);
        mq_buffer_cstr(&raw, "\n");
        assert_refused("signed or encrypted and has a line over 998 octets");
    }
    /* SMTP treats a lone CR as a line end, but the signer did not. */
    for (size_t i = 0; i < 6; i++) {
        if (strstr(heads[i], "encrypted") == NULL) {
            both(HAVE);
            both(heads[i]);
            both("a\rb\n");
            assert_refused("a CR alone");
        }
    }
}

/* The bytes of a signed part do not change: beside a part with long lines, after an encoded
 * subject, and with bytes over 127 in it. Neither does base64 content. */
static void test_sealed_stays(void **state)
{
    static const char part[] = "Content-Type: multipart/signed; boundary=b\r\n\r\n--b\r\n"
                               "Content-Type: text/plain\r\nX: \xC3\xB6\r\n\r\n\xC3\xB6 \r\n"
                               "--b\r\n\r\nsignature\r\n--b--\r\n";
    (void)state;
    both(HAVE "MIME-Version: 1.0\r\nContent-Type: multipart/mixed; boundary=m\r\n\r\n--m\r\n");
    both(part);
    both("--m\r\nContent-Type: text/plain\r\n");
    mq_buffer_cstr(&wanted, "Content-Transfer-Encoding: quoted-printable\r\n");
    both("\r\n");
    repeat(&raw, "a", 1000);
    quoted(1000);
    mq_buffer_cstr(&raw, "\r\n");
    both("--m--\r\n");
    assert_repaired();
    both(HAVE "MIME-Version: 1.0\r\nSubject: ");
    mq_buffer_cstr(&raw, "\xC3\xB6");
    mq_buffer_cstr(&wanted, "=?utf-8?B?w7Y=?=");
    both("\r\n");
    both(part);
    assert_repaired();
    both(HAVE "MIME-Version: 1.0\r\nContent-Type: application/pkcs7-mime\r\n"
              "Content-Transfer-Encoding: base64\r\n\r\n");
    repeat(&raw, "a", 1000);
    for (int i = 0; i < 13; i++) {
        repeat(&wanted, "a", 76);
        mq_buffer_cstr(&wanted, "\r\n");
    }
    repeat(&wanted, "a", 12);
    both("\r\n");
    assert_repaired();
    /* A lone CR where nothing is signed. */
    both(HAVE);
    both("Content-Type: text/plain\r\n\r\nContent-Type: x; multipart/signed\r\n");
    mq_buffer_cstr(&raw, "a\rb\r\n");
    mq_buffer_cstr(&wanted, "a\r\nb\r\n");
    assert_repaired();
}

/* The time of the search for signed parts grows with the message, not with its square. */
static void test_many_types(void **state)
{
    (void)state;
    both(HAVE "\na\rb\n");
    repeat(&raw, "Content-Type:x\n", 20000);
    repeat(&raw, "\n", 500000);
    clock_t began = clock();
    assert_int_equal(mq_repair_accept(mq_buffer_view(&raw), &options, &out, &info, &err), MQ_OK);
    assert_true((clock() - began) / CLOCKS_PER_SEC < 3);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(test_sealed, teardown),
        cmocka_unit_test_teardown(test_sealed_stays, teardown),
        cmocka_unit_test_teardown(test_many_types, teardown),
    };
    return cmocka_run_group_tests_name("repair_sealed", tests, NULL, NULL);
}
