/* Where a mail API is: the URL of a DSN, with the host that "default" means. The hosts and paths
 * are those of the APIs' public documentation. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "send/dsn.h"
#include "send/http/api.h"

#define SES    "ses+https://KEY:SECRET@default?region="
#define MAILS  "/v2/email/outbound-emails"
#define DOMAIN "mailgun+https://KEY:mg.example.org@default"
#define GRAPH  "https://graph.microsoft.com"
#define GMAIL  "https://gmail.googleapis.com"
#define UPLOAD "/messages/send?uploadType=media"

static const struct {
    const char *dsn, *mail, *probe;
} cases[] = {
    {SES "eu-west-1", "https://email.eu-west-1.amazonaws.com" MAILS,
     "https://email.eu-west-1.amazonaws.com/v2/email/account"},
    {SES "cn-north-1", "https://email.cn-north-1.amazonaws.com.cn" MAILS,
     "https://email.cn-north-1.amazonaws.com.cn/v2/email/account"},
    {DOMAIN, "https://api.mailgun.net/v3/mg.example.org/messages.mime",
     "https://api.mailgun.net/v3/domains/mg.example.org"},
    {DOMAIN "?region=us", "https://api.mailgun.net/v3/mg.example.org/messages.mime",
     "https://api.mailgun.net/v3/domains/mg.example.org"},
    {DOMAIN "?region=eu", "https://api.eu.mailgun.net/v3/mg.example.org/messages.mime",
     "https://api.eu.mailgun.net/v3/domains/mg.example.org"},
    /* A token that may only send may read nothing, so these have no probe. */
    {"microsoftgraph+https://default?account=a", GRAPH "/v1.0/me/sendMail", GRAPH},
    {"microsoftgraph+https://shop%40example.org@default?account=a",
     GRAPH "/v1.0/users/shop%40example.org/sendMail", GRAPH},
    {"gmail+https://default?account=a", GMAIL "/upload/gmail/v1/users/me" UPLOAD, GMAIL},
    {"gmail+https://shop%40example.org@default?account=a",
     GMAIL "/upload/gmail/v1/users/shop%40example.org" UPLOAD, GMAIL},
    /* A host of one's own, such as a proxy's. */
    {"gmail+https://[::1]:8443?account=a", "https://[::1]:8443/upload/gmail/v1/users/me" UPLOAD,
     "https://[::1]:8443"},
};

static void assert_url(const char *text, bool probe, const char *expected)
{
    struct mq_dsn dsn = {0};
    struct mq_error err = {0};
    if (mq_dsn_parse(mq_str_of(text), &dsn, &err) != MQ_OK) {
        fail_msg("%s: %s", text, err.text);
    }
    const struct mq_http_api *api = mq_http_api_of(&dsn);
    assert_int_equal(api->check(&dsn, &err), MQ_OK);
    char *url = mq_http_url(api, &dsn, probe);
    assert_string_equal(url, expected);
    free(url);
    mq_dsn_clear(&dsn);
}

static void test_urls(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        assert_url(cases[i].dsn, false, cases[i].mail);
        assert_url(cases[i].dsn, true, cases[i].probe);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_urls)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
