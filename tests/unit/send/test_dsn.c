/* DSNs of transports: what each part means, and errors that name the cure. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "send/dsn.h"

static struct mq_dsn dsn;
static struct mq_error err;

static void parse(const char *text)
{
    mq_dsn_clear(&dsn);
    enum mq_status status = mq_dsn_parse(mq_str_of(text), &dsn, &err);
    if (status != MQ_OK) {
        fail_msg("%s: %s", text, err.text);
    }
}

static void assert_redacted(const char *expected)
{
    char *shown = mq_dsn_redacted(&dsn);
    assert_string_equal(shown, expected);
    free(shown);
}

static void test_plain(void **state)
{
    (void)state;
    parse("smtp://relay.example");
    assert_string_equal(dsn.scheme, "smtp");
    assert_string_equal(dsn.host, "relay.example");
    assert_null(dsn.user);
    assert_null(dsn.password);
    assert_int_equal(dsn.port, 0);
    assert_int_equal(dsn.tls, MQ_TLS_AUTO);
    assert_true(dsn.verify_peer);
    assert_null(dsn.cafile);
    assert_null(dsn.ehlo);
    assert_null(dsn.source_ip);
    assert_null(dsn.proxy);
    assert_int_equal(dsn.connect_timeout_ms, 30000);
    assert_int_equal(dsn.command_timeout_ms, 300000);
    assert_int_equal(dsn.data_timeout_ms, 120000);
    assert_int_equal(dsn.block_timeout_ms, 180000);
    assert_int_equal(dsn.final_timeout_ms, 600000);
    assert_int_equal(dsn.idle_ms, 10000);
    assert_int_equal(dsn.mails_per_connection, 100);
    assert_redacted("smtp://relay.example");
    parse("null://null");
    assert_string_equal(dsn.scheme, "null");
    parse("SMTPS://relay.example:465/");
    assert_string_equal(dsn.scheme, "smtps");
    assert_int_equal(dsn.tls, MQ_TLS_IMPLICIT);
    assert_redacted("smtps://relay.example:465");
    parse("smtp://default/?");
    assert_string_equal(dsn.host, "default");
}

static void test_sockets(void **state)
{
    (void)state;
    parse("lmtp:///run/dovecot/lmtp?max_mails=5");
    assert_string_equal(dsn.scheme, "lmtp");
    assert_string_equal(dsn.path, "/run/dovecot/lmtp");
    assert_string_equal(mq_dsn_local_path(&dsn), "/run/dovecot/lmtp");
    assert_string_equal(dsn.host, "");
    assert_int_equal(dsn.tls, MQ_TLS_NONE);
    assert_true(mq_dsn_is_loopback(&dsn));
    assert_redacted("lmtp:///run/dovecot/lmtp");
    parse("SMTP+LMTP://[::1]:2424");
    assert_string_equal(dsn.scheme, "lmtp");
    assert_int_equal(dsn.tls, MQ_TLS_NONE);
    assert_redacted("lmtp://[::1]:2424");
    parse("lmtp://mail.example?tls=none");
    assert_redacted("lmtp://mail.example");
    parse("smtp://me:secret@/run/a%20relay");
    assert_string_equal(dsn.path, "/run/a relay");
    assert_int_equal(dsn.tls, MQ_TLS_AUTO);
    assert_redacted("smtp://me:***@/run/a%20relay");
}

static void test_credentials(void **state)
{
    (void)state;
    parse("smtp://me%40example.org:p%40%3A%2F%3F%23%25w%C3%A4+@relay.example:587");
    assert_string_equal(dsn.user, "me@example.org");
    assert_string_equal(dsn.password, "p@:/?#%wä+");
    assert_int_equal(dsn.port, 587);
    assert_redacted("smtp://me%40example.org:***@relay.example:587");
    parse("smtp://user@relay.example");
    assert_string_equal(dsn.user, "user");
    assert_null(dsn.password);
    assert_redacted("smtp://user@relay.example");
    parse("smtp://user:@relay.example");
    assert_string_equal(dsn.password, "");
    assert_redacted("smtp://user:***@relay.example");
}

static void test_options(void **state)
{
    (void)state;
    parse("smtp://[2001:db8::1]:25?tls=required&cafile=%2Fetc%2Fca%20x.pem&verify_peer=0&"
          "ehlo=my.example&source_ip=192.0.2.7&proxy=socks5h://u:p@127.0.0.1:1080&"
          "connect_timeout=0.25&command_timeout=1&data_timeout=2.5&block_timeout=86400&"
          "final_timeout=0.001&idle_timeout=07.50&max_mails=1000000&connections=3");
    assert_string_equal(dsn.host, "2001:db8::1");
    assert_int_equal(dsn.port, 25);
    assert_int_equal(dsn.tls, MQ_TLS_REQUIRED);
    assert_string_equal(dsn.cafile, "/etc/ca x.pem");
    assert_false(dsn.verify_peer);
    assert_string_equal(dsn.ehlo, "my.example");
    assert_string_equal(dsn.source_ip, "192.0.2.7");
    assert_string_equal(dsn.proxy, "socks5h://u:p@127.0.0.1:1080");
    assert_int_equal(dsn.connect_timeout_ms, 250);
    assert_int_equal(dsn.command_timeout_ms, 1000);
    assert_int_equal(dsn.data_timeout_ms, 2500);
    assert_int_equal(dsn.block_timeout_ms, 86400000);
    assert_int_equal(dsn.final_timeout_ms, 1);
    assert_int_equal(dsn.idle_ms, 7500);
    assert_int_equal(dsn.mails_per_connection, 1000000);
    assert_int_equal(dsn.connections, 3);
    assert_redacted("smtp://[2001:db8::1]:25");
    parse("smtp://h?tls=none");
    assert_int_equal(dsn.tls, MQ_TLS_NONE);
    parse("smtp://h?tls=auto&verify_peer=yes&");
    assert_int_equal(dsn.tls, MQ_TLS_AUTO);
    assert_true(dsn.verify_peer);
    parse("smtps://h?tls=required");
    assert_int_equal(dsn.tls, MQ_TLS_IMPLICIT);
    assert_int_equal(dsn.pipelining, MQ_PIPELINING_LEARN);
    parse("smtp://h?pipelining=auto");
    assert_int_equal(dsn.pipelining, MQ_PIPELINING_LEARN);
    parse("smtp://h?pipelining=0");
    assert_int_equal(dsn.pipelining, MQ_PIPELINING_NONE);
    parse("smtp://h?pipelining=1");
    assert_int_equal(dsn.pipelining, MQ_PIPELINING_GROUP);
    parse("smtp://h?pipelining=dot");
    assert_int_equal(dsn.pipelining, MQ_PIPELINING_DOT);
    parse("smtp://h?ehlo=[192.0.2.1]&source_ip=::1");
    assert_string_equal(dsn.ehlo, "[192.0.2.1]");
    assert_int_equal(dsn.family, MQ_FAMILY_6);
    parse("smtp://h?source_ip=192.0.2.1");
    assert_int_equal(dsn.family, MQ_FAMILY_4);
    parse("smtp://h?family=6");
    assert_int_equal(dsn.family, MQ_FAMILY_6);
    parse("smtp://192.0.2.1?family=4&source_ip=192.0.2.2");
    assert_int_equal(dsn.family, MQ_FAMILY_4);
    parse("smtp://h?family=auto");
    assert_int_equal(dsn.family, MQ_FAMILY_ANY);
}

/* Words of Symfony Mailer. */
static void test_symfony(void **state)
{
    (void)state;
    parse("smtp://h?local_domain=my.example&restart_threshold=7&require_tls=1");
    assert_string_equal(dsn.ehlo, "my.example");
    assert_int_equal(dsn.mails_per_connection, 7);
    assert_int_equal(dsn.tls, MQ_TLS_REQUIRED);
    parse("smtp://h?auto_tls=false");
    assert_int_equal(dsn.tls, MQ_TLS_NONE);
    parse("smtp://h?auto_tls=true");
    assert_int_equal(dsn.tls, MQ_TLS_AUTO);
    parse("smtp://h?require_tls=0");
    assert_int_equal(dsn.tls, MQ_TLS_AUTO);
    parse("smtp://h?auto_tls=1&require_tls=1");
    assert_int_equal(dsn.tls, MQ_TLS_REQUIRED);
    parse("smtp://h?require_tls=1&auto_tls=1");
    assert_int_equal(dsn.tls, MQ_TLS_REQUIRED);
    parse("smtps://h?auto_tls=1");
    assert_int_equal(dsn.tls, MQ_TLS_IMPLICIT);
}

static void test_sendmail(void **state)
{
    (void)state;
    parse("sendmail://default");
    assert_string_equal(dsn.scheme, "sendmail");
    assert_string_equal(dsn.host, "default");
    assert_int_equal(dsn.command.count, 0);
    assert_null(dsn.path);
    assert_int_equal(dsn.final_timeout_ms, 600000);
    assert_redacted("sendmail://default");
    parse("Sendmail://DEFAULT/?command=/usr/sbin/sendmail%20-t%20-i&final_timeout=5");
    assert_int_equal(dsn.command.count, 3);
    assert_string_equal(dsn.command.items[0], "/usr/sbin/sendmail");
    assert_string_equal(dsn.command.items[2], "-i");
    assert_int_equal(dsn.final_timeout_ms, 5000);
    assert_redacted("sendmail://default?command=/usr/sbin/sendmail");
    parse("sendmail://default?command='/my%20dir/s%26%3F'%20-ap%20SECRET");
    assert_int_equal(dsn.command.count, 3);
    assert_string_equal(dsn.command.items[0], "/my dir/s&?");
    assert_string_equal(dsn.command.items[1], "-ap");
    assert_string_equal(dsn.command.items[2], "SECRET");
    assert_redacted("sendmail://default?command=/my%20dir/s&%3F%20***");
    assert_true(mq_dsn_is(&dsn, "sendmail"));
    assert_false(mq_dsn_is(&dsn, "smtp"));
}

static void test_file(void **state)
{
    (void)state;
    parse("file:///var/mail/queue");
    assert_string_equal(dsn.scheme, "file");
    assert_string_equal(dsn.path, "/var/mail/queue");
    assert_string_equal(dsn.host, "");
    assert_redacted("file:///var/mail/queue");
    parse("FILE://localhost/a%20b%25%23//");
    assert_string_equal(dsn.path, "/a b%#");
    assert_redacted("file:///a%20b%25%23");
    parse("file:///x?");
    assert_string_equal(dsn.path, "/x");
}

static void test_apis(void **state)
{
    (void)state;
    parse("ses+https://AKID:se%2Fcret@default?region=eu-west-1&session_token=t%2Bk%3D");
    assert_string_equal(dsn.scheme, "ses+https");
    assert_string_equal(dsn.user, "AKID");
    assert_string_equal(dsn.password, "se/cret");
    assert_string_equal(dsn.host, "default");
    assert_string_equal(dsn.region, "eu-west-1");
    assert_string_equal(dsn.session_token, "t+k=");
    assert_int_equal(dsn.tls, MQ_TLS_IMPLICIT);
    assert_int_equal(dsn.final_timeout_ms, 120000);
    assert_true(mq_dsn_is_http(&dsn));
    assert_redacted("ses+https://***:***@default?region=eu-west-1");
    parse("SES+HTTPS://AKID:secret@[::1]:8005?tls=none&final_timeout=5");
    assert_int_equal(dsn.tls, MQ_TLS_NONE);
    assert_int_equal(dsn.final_timeout_ms, 5000);
    parse("ses+https://AKID:secret@default?family=4");
    assert_int_equal(dsn.family, MQ_FAMILY_4);
    parse("SES+HTTPS://AKID:secret@[::1]:8005?tls=none&final_timeout=5");
    assert_redacted("ses+https://AKID:***@[::1]:8005");
    parse("mailgun+https://key-1:mg.example.org@default?region=eu");
    assert_string_equal(dsn.user, "key-1");
    assert_redacted("mailgun+https://***:mg.example.org@default?region=eu");
    parse("gmail+https://shop%40example.org@default?account=shop");
    assert_string_equal(dsn.account, "shop");
    assert_redacted("gmail+https://shop%40example.org@default?account=shop");
    parse("microsoftgraph+https://default?account=shop");
    assert_redacted("microsoftgraph+https://default?account=shop");
    parse("smtp://h");
    assert_false(mq_dsn_is_http(&dsn));
}

/* Limits and pauses are by this name: two accounts must not share it. */
static void test_apis_are_told_apart(void **state)
{
    (void)state;
    parse("ses+https://AKIA1:one@default?region=eu-west-1");
    assert_redacted("ses+https://AKIA1:***@default?region=eu-west-1");
    parse("ses+https://AKIA2:two@default?region=eu-west-1");
    assert_redacted("ses+https://AKIA2:***@default?region=eu-west-1");
    parse("ses+https://wJalrXUtn%2FEMI:AKIA2@default?region=eu-west-1"); /* swapped */
    assert_redacted("ses+https://***:***@default?region=eu-west-1");
    /* Temporary keys change, and the name stays. */
    parse("ses+https://ASIA1:one@default?name=a%26b%20c&region=eu-west-1&session_token=t1");
    assert_redacted("ses+https://***:***@default?region=eu-west-1&name=a%26b%20c");
    parse("ses+https://ASIA2:two@default?region=eu-west-1&session_token=t2&name=a%26b%20c");
    assert_redacted("ses+https://***:***@default?region=eu-west-1&name=a%26b%20c");
    parse("mailgun+https://key-1:one.example.org@default");
    assert_redacted("mailgun+https://***:one.example.org@default");
    parse("mailgun+https://key-1:two.example.org@default");
    assert_redacted("mailgun+https://***:two.example.org@default");
}

/* The expected part of the error's text, which names the cure. */
static void test_bad(void **state)
{
    static const struct {
        const char *text;
        const char *expected;
    } samples[] = {
        {"", "scheme"},
        {"relay.example", "scheme"},
        {"smtp:relay.example", "scheme"},
        {"smtp:/relay.example", "scheme"},
        {"http://relay.example", "smtp://"},
        {"smtp://", "host"},
        {"smtps:///x", "host"},
        {"smtp://host/x", "host"},
        {"null:///x", "host"},
        {"smtp:///x#y", "host"},
        {"smtp:///x%00y", "control"},
        {"lmtp://", "host"},
        {"lmtp://u:SECRET@localhost", "lmtp:// has no login; remove user and password"},
        {"lmtp://localhost?tls=required", "lmtp:// has no TLS; remove tls=required"},
        {"lmtp://192.0.2.1", "lmtp:// has no TLS; give a socket"},
        {"lmtp:///x?proxy=http://p:1", "unknown option \"proxy\"; lmtp:// has tls, ehlo"},
        {"lmtp:///"
         "x1234567890123456789012345678901234567890123456789012345678901234567890123456789012345678"
         "901234567890123456",
         "more than 107 octets"},
        {"smtp://user:SECRET@", "host"},
        {"smtp://re lay", "host"},
        {"smtp://relay\xC3\xA4.example", "xn--"},
        {"smtp://-relay", "host"},
        {"smtp://re%2Elay%20", "host"},
        {"smtp://relay:0", "port"},
        {"smtp://relay:65536", "port"},
        {"smtp://relay:", "port"},
        {"smtp://relay:25x", "port"},
        {"smtp://relay:-25", "port"},
        {"smtp://relay:99999999999999999999", "port"},
        {"smtp://[::1", "]"},
        {"smtp://[::1]25", "]"},
        {"smtp://[relay]", "IPv6"},
        {"smtp://[]", "IPv6"},
        {"smtp://:SECRET@relay", "user"},
        {"smtp://@relay", "user"},
        {"smtp://user:SEC@RET@relay", "%40"},
        {"smtp://user:SEC:RET@relay", "%3A"},
        {"smtp://user:SEC/RET@relay", "%2F"},
        {"smtp://user:SEC?RET@relay", "%3F"},
        {"smtp://user:1/SECRET@relay", "%2F"},
        {"smtp://user:1#SECRET@relay", "%23"},
        {"smtp://user:1?SECRET@relay", "="},
        {"smtp://user:1?SECRET=x@relay", "unknown option;"},
        {"smtp://h?max_per_second=2", "no option max_per_second; set the config key mailLimits"},
        {"smtp://h?ping_threshold=10", "leave it out"},
        {"smtp://h?peer_fingerprint=00", "cafile"},
        {"smtp://h?restart_threshold=0",
         "option restart_threshold, here max_mails must be a number"},
        {"smtp://h?require_tls=2", "option require_tls, here tls must be 1 or 0"},
        {"smtp://h?ehlo=a&local_domain=b", "option local_domain, here ehlo is given twice"},
        {"lmtp:///x?local_domain=b", "unknown option \"local_domain\""},
        {"smtp://user:SECRET%@relay", "%25"},
        {"smtp://user:SECRET%4@relay", "%25"},
        {"smtp://user:SECRET%4g@relay", "%25"},
        {"smtp://user:SECRET%0Dx@relay", "control"},
        {"smtp://user:SECRET%00x@relay", "control"},
        {"smtp://us\ner:SECRET@relay", "control"},
        {"smtp://relay/path", "path"},
        {"smtp://relay#x", "fragment"},
        {"smtp://relay?x=1", "unknown option \"x\""},
        {"smtp://relay?TLS=none", "unknown option \"TLS\""},
        {"smtp://relay?tls", "="},
        {"smtp://relay?tls=", "tls has no value"},
        {"smtp://relay?tls=none&tls=none", "tls is given twice"},
        {"smtp://relay?tls=maybe", "tls"},
        {"smtps://relay?tls=none", "contradicts"},
        {"smtp://relay?verify_peer=2", "verify_peer"},
        {"smtp://relay?ehlo=a%20b", "ehlo"},
        {"smtp://relay?ehlo=a%0Ab", "control"},
        {"smtp://relay?source_ip=relay", "source_ip"},
        {"smtp://relay?family=5", "option family must be 4, 6 or auto"},
        {"smtp://relay?family=4&source_ip=::1", "source_ip is IPv6, but family is IPv4; change"},
        {"smtp://192.0.2.1?family=6", "family is IPv6, but the host is IPv4"},
        {"smtp://[2001:db8::1]?source_ip=192.0.2.1", "source_ip is IPv4, but the host is IPv6"},
        {"smtp://relay?proxy=relay:3128", "proxy"},
        {"smtp://relay?proxy=http://", "proxy"},
        {"smtp://relay?pipelining=2", "pipelining"},
        {"file:///d?pipelining=0", "file:// has none"},
        {"smtp://relay?connect_timeout=0", "timeout"},
        {"smtp://relay?connect_timeout=-1", "timeout"},
        {"smtp://relay?connect_timeout=1s", "timeout"},
        {"smtp://relay?connect_timeout=1.", "timeout"},
        {"smtp://relay?connect_timeout=.5", "timeout"},
        {"smtp://relay?connect_timeout=1.0001", "timeout"},
        {"smtp://relay?connect_timeout=1.2.3", "timeout"},
        {"smtp://relay?connect_timeout=86401", "timeout"},
        {"smtp://relay?connect_timeout=86400.001", "timeout"},
        {"smtp://relay?connect_timeout=99999999999999999999", "timeout"},
        {"smtp://relay?connect_timeout=1e3", "timeout"},
        {"smtp://relay?max_mails=0", "max_mails"},
        {"smtp://relay?max_mails=1000001", "max_mails"},
        {"smtp://relay?max_mails=1.5", "max_mails"},
        {"smtp://relay?connections=0", "connections"},
        {"smtp://relay?connections=1001", "connections"},
        {"file:///x?connections=1", "file:// has none"},
        {"smtp://u@relay?auth=login", "auth must be"},
        {"smtp://u@relay?account=a", "auth=oauth2"},
        {"smtp://u@relay?auth=password&account=a", "auth=oauth2"},
        {"smtp://u@relay?auth=oauth2", "account=NAME"},
        {"smtp://relay?auth=xoauth2&account=a", "the mailbox as the user"},
        {"smtp://u:SECRET@relay?auth=oauth2&account=a", "remove the password"},
        {"smtp://relay?command=/x", "unknown option \"command\"; smtp:// has tls, cafile"},
        {"smtp://relay#", "fragment"},
        {"sendmail://", "sendmail://default"},
        {"sendmail:///usr/sbin/sendmail", "sendmail://default"},
        {"sendmail://localhost", "sendmail://default"},
        {"sendmail://user:SECRET@default", "sendmail://default"},
        {"sendmail://default:25", "sendmail://default"},
        {"sendmail://default/SECRET", "path"},
        {"sendmail://default?command=", "command has no value"},
        {"sendmail://default?command=%20", "empty"},
        {"sendmail://default?command=/x%20'SECRET", "not closed"},
        {"sendmail://default?command=/x%20SECRET|/y", "shell"},
        {"sendmail://default?command=/x%0A", "control"},
        {"sendmail://default?tls=none", "\"tls\"; sendmail:// has final_timeout, command"},
        {"sendmail://default?colour=red",
         "unknown option \"colour\"; sendmail:// has final_timeout"},
        {"file://", "file:///directory"},
        {"file:///", "file:///directory"},
        {"file:////x", "file:///directory"},
        {"file://var/mail", "three slashes"},
        {"file://relay/x", "three slashes"},
        {"file://user@localhost/x", "three slashes"},
        {"file:///x#y", "%23"},
        {"file:///x%00y", "control"},
        {"file:///x%y", "%25"},
        {"file:///x?final_timeout=5", "\"final_timeout\"; file:// has none"},
        {"file:///x?y=1", "file:// has none"},
        {"ses+https://AKID:SECRET@default?tls=none", "only for an API on this host"},
        {"ses+https://AKID:SECRET@default?region=eu_west", "region must be"},
        {"ses+https://AKID:SECRET@default?ehlo=x", "\"ehlo\"; ses+https:// has tls, cafile"},
        {"mailgun+https://SECRET:x@default?session_token=x", "\"session_token\"; mailgun+https://"},
        {"smtp://relay?region=eu-west-1", "unknown option \"region\""},
    };
    (void)state;
    for (size_t i = 0; i < sizeof samples / sizeof *samples; i++) {
        struct mq_dsn out = {.port = 7};
        memset(&err, 0, sizeof err);
        assert_int_equal(mq_dsn_parse(mq_str_of(samples[i].text), &out, &err), MQ_CONFIG);
        assert_string_equal(err.field, "transport");
        if (strstr(err.text, samples[i].expected) == NULL) {
            fail_msg("%s: %s", samples[i].text, err.text);
        }
        assert_null(strstr(err.text, "SEC"));
        assert_null(strstr(err.text, "RET"));
        assert_int_equal(out.port, 7);
        assert_null(out.host);
        assert_null(out.command.items);
    }
    assert_int_equal(mq_dsn_parse((struct mq_str){"smtp://re\0lay", 13}, &dsn, NULL), MQ_CONFIG);
    assert_int_equal(mq_dsn_parse((struct mq_str){"smtp://u\0:p@h", 13}, &dsn, NULL), MQ_CONFIG);
    assert_int_equal(mq_dsn_parse(mq_str_of(NULL), &dsn, NULL), MQ_CONFIG);
}

/* Nothing is read past the end: each prefix in a block of its own size, for the sanitizer. */
static void test_prefixes(void **state)
{
    static const char *const texts[] = {
        "smtp://us%41er:p%41ss@[::1]:587/?tls=none&cafile=%2Fx&max_mails=5",
        "sendmail://default/?command=/x%20'a%27%20\"b\\\"\"%20\\c&final_timeout=5",
        "file://localhost/a%20b/?", "ses+https://A:B@default?region=x&session_token=%2F"};
    (void)state;
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        for (size_t len = 0; len <= strlen(texts[i]); len++) {
            struct mq_dsn out = {0};
            char *copy = malloc(len ? len : 1);
            memcpy(copy, texts[i], len);
            mq_dsn_parse((struct mq_str){copy, len}, &out, NULL);
            free(copy);
            mq_dsn_clear(&out);
        }
    }
}

static void test_loopback(void **state)
{
    static const char *const yes[] = {"smtp://localhost", "smtp://LOCALHOST:25", "smtp://127.0.0.1",
                                      "smtp://127.255.0.9", "smtp://[::1]"};
    static const char *const no[] = {"smtp://128.0.0.1",         "smtp://127.0.0.1.example",
                                     "smtp://localhost.example", "smtp://[::2]",
                                     "smtp://126.0.0.1",         "smtp://relay"};
    (void)state;
    for (size_t i = 0; i < sizeof yes / sizeof *yes; i++) {
        parse(yes[i]);
        assert_true(mq_dsn_is_loopback(&dsn));
    }
    for (size_t i = 0; i < sizeof no / sizeof *no; i++) {
        parse(no[i]);
        assert_false(mq_dsn_is_loopback(&dsn));
    }
    mq_dsn_clear(&dsn);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_plain),    cmocka_unit_test(test_credentials),
        cmocka_unit_test(test_sockets),  cmocka_unit_test(test_options),
        cmocka_unit_test(test_symfony),  cmocka_unit_test(test_bad),
        cmocka_unit_test(test_sendmail), cmocka_unit_test(test_file),
        cmocka_unit_test(test_apis),     cmocka_unit_test(test_apis_are_told_apart),
        cmocka_unit_test(test_prefixes), cmocka_unit_test(test_loopback),
    };
    return cmocka_run_group_tests_name("dsn", tests, NULL, NULL);
}
