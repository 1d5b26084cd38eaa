/* What a mail API's answer means: single cases from the APIs' documentation, and rules for every
 * status. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "policy/http_verdict.h"

#define SES     MQ_HTTP_SES
#define MAILGUN MQ_HTTP_MAILGUN
#define GRAPH   MQ_HTTP_GRAPH
#define GMAIL   MQ_HTTP_GMAIL

#define RELAY     MQ_TROUBLE_RELAY
#define SESSION   MQ_TROUBLE_SESSION
#define REFUSED   MQ_OUTCOME_REFUSED
#define DENIED    MQ_OUTCOME_DENIED
#define LATER     MQ_OUTCOME_DEFERRED
#define UNCERTAIN MQ_OUTCOME_UNCERTAIN
#define DELIVERED MQ_OUTCOME_DELIVERED

static enum mq_outcome decide(enum mq_http_service service, int status, const char *code,
                              const char *text)
{
    struct mq_http_answer answer = {.status = status, .whole = true, .is_receipt = true};
    snprintf(answer.code, sizeof answer.code, "%s", code);
    snprintf(answer.text, sizeof answer.text, "%s", text);
    return mq_http_decide(service, &answer);
}

static void test_documented(void **state)
{
    static const struct {
        enum mq_http_service service;
        int status;
        const char *code, *text;
        enum mq_outcome verdict;
    } samples[] = {
        {SES, 200, "", "MessageId 1", DELIVERED},
        {SES, 400, "BadRequestException", "", REFUSED},
        {SES, 400, "MessageRejected", "Email content is invalid", REFUSED},
        {SES, 400, "MessageRejected",
         "Email address is not verified. The following identities failed the check", DENIED},
        /* An address that the API repeats is not the API's words. */
        {SES, 400, "MessageRejected", "Bad address <not verified@example.com>", REFUSED},
        {SES, 400, "AccountSuspendedException", "", RELAY},
        {SES, 400, "SendingPausedException", "", RELAY},
        {SES, 400, "LimitExceededException", "", RELAY},
        {SES, 400, "MailFromDomainNotVerifiedException", "", DENIED},
        {SES, 403, "SignatureDoesNotMatch", "", RELAY},
        {SES, 403, "AccessDeniedException", "", RELAY},
        {SES, 400, "AccessDeniedException", "", RELAY},
        {SES, 400, "NotAuthorized", "", RELAY},
        {SES, 400, "RequestExpired", "", RELAY},
        {SES, 404, "NotFoundException", "", RELAY},
        {SES, 429, "TooManyRequestsException", "", RELAY},
        {MAILGUN, 400, "", "'to' parameter is not a valid address", REFUSED},
        {MAILGUN, 400, "AccountSuspended", "", REFUSED}, /* a code of another API */
        {MAILGUN, 401, "", "Forbidden", RELAY},
        {MAILGUN, 402, "", "", DENIED},
        {MAILGUN, 404, "", "Domain not found: example.org", RELAY},
        {MAILGUN, 413, "", "Message exceeds the maximum size", REFUSED},
        {GRAPH, 202, "", "", DELIVERED},
        {GRAPH, 400, "ErrorInvalidRecipients", "", REFUSED},
        {GRAPH, 401, "InvalidAuthenticationToken", "", RELAY},
        {GRAPH, 403, "ErrorAccessDenied", "", RELAY},
        {GRAPH, 403, "ErrorSendAsDenied", "", DENIED},
        {GRAPH, 429, "ApplicationThrottled", "", RELAY},
        {GRAPH, 503, "serviceNotAvailable", "", RELAY},
        {GMAIL, 400, "invalidArgument", "Recipient address required", REFUSED},
        {GMAIL, 400, "failedPrecondition", "Mail service not enabled", RELAY},
        {GMAIL, 403, "rateLimitExceeded", "", RELAY},
        {GMAIL, 500, "backendError", "", LATER},
    };
    (void)state;
    for (size_t i = 0; i < sizeof samples / sizeof *samples; i++) {
        enum mq_outcome got =
            decide(samples[i].service, samples[i].status, samples[i].code, samples[i].text);
        if (got != samples[i].verdict) {
            fail_msg("%d %s %s: %d", samples[i].status, samples[i].code, samples[i].text, got);
        }
    }
}

/* The rules once more, in another form: ranges of statuses without a code. */
static const struct {
    int low, high;
    enum mq_outcome verdict;
} rules[] = {
    {200, 299, DELIVERED}, {300, 399, RELAY},                          /* to another address */
    {400, 400, REFUSED},   {413, 413, REFUSED},   {422, 422, REFUSED}, /* the mail */
    {401, 401, RELAY},     {407, 407, RELAY},                          /* the key */
    {403, 405, RELAY},     {410, 411, RELAY},     {415, 415, RELAY}, /* the address, the account */
    {429, 429, RELAY},                                               /* quota */
    {408, 408, SESSION},   {421, 421, SESSION},   {425, 425, SESSION}, /* the connection */
    {500, 500, LATER},                                                 /* the server, this time */
    {502, 502, UNCERTAIN}, {504, 504, UNCERTAIN},                      /* it does not know itself */
    {500, 599, RELAY},     {400, 499, DENIED},    {0, 999, UNCERTAIN},
};

static enum mq_outcome rule(int status)
{
    size_t i = 0;
    while (status < rules[i].low || status > rules[i].high) {
        i++;
    }
    return rules[i].verdict;
}

static void test_every_status(void **state)
{
    static const enum mq_http_service services[] = {SES, MAILGUN, GRAPH, GMAIL};
    (void)state;
    for (int status = 0; status < 1000; status++) {
        for (size_t i = 0; i < 4; i++) {
            enum mq_outcome silent = rule(status) == REFUSED ? DENIED : rule(status);
            assert_int_equal(decide(services[i], status, "", ""), silent);
            assert_int_equal(decide(services[i], status, "", "no"), rule(status));
            assert_int_equal(decide(services[i], status, "No", ""), rule(status));
        }
    }
}

/* Without the whole request, the server cannot have the mail, whatever it says. */
static void test_not_whole(void **state)
{
    (void)state;
    for (int status = 0; status < 1000; status++) {
        struct mq_http_answer answer = {.status = status, .is_receipt = true};
        enum mq_outcome got = mq_http_decide(SES, &answer);
        assert_int_not_equal(got, DELIVERED);
        assert_int_not_equal(got, UNCERTAIN);
    }
    struct mq_http_answer answer = {0};
    assert_int_equal(mq_http_decide(SES, &answer), SESSION);
    answer.status = 413;
    assert_int_equal(mq_http_decide(SES, &answer), DENIED); /* a proxy's: no code, no words */
    strcpy(answer.text, "too large");
    assert_int_equal(mq_http_decide(SES, &answer), REFUSED);
}

static void test_no_receipt(void **state)
{
    struct mq_http_answer answer = {.status = 200, .whole = true};
    (void)state;
    assert_int_equal(mq_http_decide(SES, &answer), UNCERTAIN);
}

static int after(const char *value)
{
    return mq_http_retry_after_s(mq_str_of(value), 784111777); /* Sun, 06 Nov 1994 08:49:37 GMT */
}

static void test_retry_after(void **state)
{
    (void)state;
    assert_int_equal(after("120"), 120);
    assert_int_equal(after(" 7 "), 7);
    assert_int_equal(after("0"), 0);
    assert_int_equal(after("99999999999999999999999"), 86400);
    assert_int_equal(after("Sun, 06 Nov 1994 08:50:07 GMT"), 30);
    assert_int_equal(after("Mon, 07 Nov 1994 08:49:38 GMT"), 86400);
    assert_int_equal(after("Sun, 06 Nov 1994 08:49:30 GMT"), 0);
    static const char *const bad[] = {"",
                                      "-1",
                                      "1.5",
                                      "soon",
                                      "12s",
                                      "Sun, 06 Nov 1994 08:50:07",
                                      "Sun, 06 Nox 1994 08:50:07 GMT",
                                      "Sun, 06 Nov 1994 08:50:07 GMT or later",
                                      "Sunday, 06-Nov-94 08:49:37 GMT"};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        assert_int_equal(after(bad[i]), 0);
    }
    assert_int_equal(mq_http_retry_after_s((struct mq_str){"1\0002", 3}, 0), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_documented),  cmocka_unit_test(test_every_status),
        cmocka_unit_test(test_not_whole),   cmocka_unit_test(test_no_receipt),
        cmocka_unit_test(test_retry_after),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
