/* What EHLO's lines tell about the relay. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "send/smtp/capabilities.h"

/* One letter for each extension after these lines: P 8 U D S, and A after a login. */
static const char *caps_after(const char *const *lines, struct mq_greeting *greeting)
{
    static char letters[9];
    memset(greeting, 0, sizeof *greeting);
    for (; *lines != NULL; lines++) {
        mq_greeting_line(greeting, mq_str_of(*lines));
    }
    snprintf(letters, sizeof letters, "%s%s%s%s%s%s", greeting->caps.pipelining ? "P" : "",
             greeting->caps.eightbit ? "8" : "", greeting->caps.smtputf8 ? "U" : "",
             greeting->caps.dsn ? "D" : "", greeting->caps.size ? "S" : "",
             greeting->logged_in ? "A" : "");
    return letters;
}

static void test_mechanisms(void **state)
{
    (void)state;
    static const struct {
        const char *lines[8];
        const char *mechanisms;
    } cases[] = {
        {{"220 x", "250-x", "250-AUTH GSSAPI NTLM", "250 SIZE"}, "GSSAPI NTLM"},
        {{"220 x", "250-x", "250 AUTH XOAUTH2 OAUTHBEARER"}, "XOAUTH2 OAUTHBEARER"},
        {{"220 x", "250-x", "250 auth gssapi plain"}, "gssapi plain"},
        {{"220 x", "250-x", "250-AUTH=LOGIN", "250 AUTH LOGIN"}, "LOGIN LOGIN"},
        {{"220 x", "250-x", "250-AUTH=PLAINX", "250 AUTHX PLAIN"}, "PLAINX"},
        {{"220 x", "250-x", "250-AUTH", "250 SIZE"}, ""},
        /* Only lines received under TLS count. */
        {{"220 x", "250-x", "250-AUTH NTLM", "250 STARTTLS", "220 go", "250-x", "250 AUTH PLAIN"},
         "PLAIN"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct mq_greeting greeting;
        caps_after(cases[i].lines, &greeting);
        assert_string_equal(greeting.mechanisms, cases[i].mechanisms);
    }
}

static void test_greetings(void **state)
{
    (void)state;
    static const struct {
        const char *lines[16];
        const char *letters;
        size_t size_max;
    } cases[] = {
        {{"220 x ESMTP\r\n", "250-x\r\n", "250-PIPELINING\r\n", "250-8BITMIME\r\n",
          "250-SMTPUTF8\r\n", "250 SIZE 1000\r\n"},
         "P8US",
         1000},
        {{"220-x\r\n", "220 y\r\n", "250-x\r\n", "250-pipelining\r\n", "250 size\r\n"}, "PS", 0},
        /* The first line is the relay's name, even if it looks like an extension. */
        {{"220 x", "250-PIPELINING", "250 8BITMIME"}, "8", 0},
        {{"220 x", "250 PIPELINING"}, "", 0},
        {{"220 x", "250-x", "250-dsn", "250 SIZE 5"}, "DS", 5},
        {{"220 x", "250-x", "250-DSNX", "250 SIZE 5"}, "S", 5},
        {{"220 x", "250-x", "250-PIPELININGX", "250-X-SIZE 5", "250 8BITMIME=1"}, "", 0},
        {{"220 x", "250-x", "250 SIZE 99999999999999999999999"}, "S", SIZE_MAX / 10},
        /* Only lines received under TLS count. */
        {{"220 x", "250-x", "250-PIPELINING", "250 STARTTLS", "220 go", "250-x", "250 SIZE 7"},
         "S",
         7},
        {{"220 x", "250-x", "250-PIPELINING", "250 STARTTLS", "220 go"}, "", 0},
        /* HELO's reply has no extensions, however many lines it has. */
        {{"220 x", "502 5.5.1 no EHLO", "250-x", "250-PIPELINING", "250 SIZE 5"}, "", 0},
        {{"220 x", "250-x", "250 PIPELINING", "334 xyz", "235 2.7.0 welcome", "250-x",
          "250 SIZE 5"},
         "PA",
         0},
        {{"HTTP/1.1 200 OK", "", "2", "250", "600-x", "220 x", "250-x", "250 SIZE 5 6"}, "S", 5},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct mq_greeting greeting;
        assert_string_equal(caps_after(cases[i].lines, &greeting), cases[i].letters);
        if (cases[i].size_max == SIZE_MAX / 10) {
            assert_true(greeting.caps.size_max >= cases[i].size_max);
        } else {
            assert_int_equal(greeting.caps.size_max, cases[i].size_max);
        }
    }
}

static void test_refusal_is_kept_printable(void **state)
{
    (void)state;
    static const char *const lines[] = {"220 x", "535 5.7.8 \x1b[31mno\xff\r\n", NULL};
    struct mq_greeting greeting;
    caps_after(lines, &greeting);
    assert_null(strchr(greeting.refusal, '\x1b'));
    assert_memory_equal(greeting.refusal, "535 5.7.8 ?[31mno", 17);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_mechanisms),
        cmocka_unit_test(test_greetings),
        cmocka_unit_test(test_refusal_is_kept_printable),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
