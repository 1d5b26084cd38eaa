/* Headers of complete messages: lists that cannot be read, single words, charsets with characters
 * of two bytes. */
#include "repair_fixture.h"

/* Fields that are neither UTF-8 nor a list of addresses: valid addresses in them are kept, and no
 * new address arises. */
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
        /* An encoded quote no longer ends a quoted string for the next reader, so the text after it
         * must not stay in UTF-8, or that reader would change it. */
        {"To: \"a, b@\xFC\"c, d <\xC3\xB6@b.example>\r\n",
         "To: \"a, =?windows-1252?B?YkD8ImMs?= d =?windows-1252?B?PMO2QGIuZXhhbXBs?=\r\n"
         " =?windows-1252?B?ZT4=?=\r\n"},
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

#define TYPE(charset) "Content-Type: text/plain; charset=" charset "\r\n"
static void test_charset(void **state)
{
    static const struct sample samples[] = {
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
        cmocka_unit_test_teardown(test_charset, teardown),
    };
    return cmocka_run_group_tests_name("repair_list", tests, NULL, NULL);
}
