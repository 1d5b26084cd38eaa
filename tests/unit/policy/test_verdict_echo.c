/* A relay repeats addresses in its replies: a stranger who registers an address must not decide
 * what the reply means. When the whole text was searched, each address below caused relay trouble,
 * or a wait of its choice. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "policy/verdict.h"
#include "verdict_names.h"

static struct mq_reply read_reply(const char *lines)
{
    struct mq_reply_reader reader;
    struct mq_reply reply = {0};
    struct mq_error err;
    bool complete = false;
    char text[2048];
    int n = snprintf(text, sizeof text, "%s\r\n", lines);
    struct mq_str data = {text, (size_t)n};
    memset(&reader, 0, sizeof reader);
    assert_int_equal(mq_reply_read(&reader, &data, &complete, &reply, &err), MQ_OK);
    assert_true(complete);
    return reply;
}

static void expect(enum mq_stage stage, const char *lines, enum mq_outcome verdict)
{
    struct mq_reply reply = read_reply(lines);
    enum mq_outcome got = mq_verdict_decide(NULL, "", stage, &reply).outcome;
    if (got != verdict) {
        fail_msg("%s: %s, expected %s", lines, verdict_name(got), verdict_name(verdict));
    }
}

/* Refused, whether the relay gives a reason or not. */
static void expect_refused(const char *lines)
{
    struct mq_reply reply = read_reply(lines);
    enum mq_outcome got = mq_verdict_decide(NULL, "", MQ_STAGE_RCPT, &reply).outcome;
    if (got != MQ_OUTCOME_REFUSED && got != MQ_OUTCOME_UNEXPLAINED) {
        fail_msg("%s: %s", lines, verdict_name(got));
    }
}

static void test_recipients_do_not_stop_the_queue(void **state)
{
    static const char *const lines[] = {
        "550-Verification failed for <ratelimit@gone.example>\r\n550 Unrouteable address",
        "550 <x@ratelimit.example> no such host",
        "550 ratelimit@gone.example is not known here",
        "550 (ratelimit@gone.example): not known here",
        "550 to=ratelimit@gone.example,x@example.org refused",
        "550 <RateLimit@gone.example>... no",
        "550 <\"sending limit\"@gone.example> refused",
        "550 \"over sending limit quota\"@gone.example refused",
        "550 Unrouteable host \"ratelimit.example\"",
        "550 no mail for [ratelimit.example] here",
        "550 no mail for mx.RateLimit.Example, sorry",
        "550 ratelimit.example. has no MX",
        "550 <ratelimit> refused",
        "550 \"ratelimit\" refused",
        "550 'ratelimit' refused",
        "550 unknown user ratelimit",
        "550 no such account: submissionquotaexceeded",
        "550 ratelimit does not exist",
        "550-<an.address.that.the.relay.wraps.ratelimit\r\n550 @gone.example> refused",
        /* Replies of the recipient's own server. */
        "550-Callout verification failed:\r\n550-Response: 550 sending limit exceeded\r\n550 no",
        "550 unverified: host mx.gone.example[192.0.2.1] said: 550 you have exceeded your limit "
        "(in reply to RCPT TO command)",
    };
    (void)state;
    for (size_t i = 0; i < sizeof lines / sizeof *lines; i++) {
        expect_refused(lines[i]);
    }
    expect(MQ_STAGE_DOT, "554 5.7.1 <ratelimit@gone.example> denied", MQ_OUTCOME_DENIED);
    expect(MQ_STAGE_RCPT, "451 4.7.1 <ratelimit@gone.example> greylisted", MQ_OUTCOME_DEFERRED);
    expect(MQ_STAGE_MAIL, "450 4.7.0 <s@y> not for ratelimit@gone.example", MQ_OUTCOME_DEFERRED);
}

/* The sender's limits without an enhanced code: the repeated address does not count. */
static void test_bare_denials(void **state)
{
    static const char *const denials[] = {
        "550 relay not permitted",
        "550 Please turn on SMTP Authentication in your mail client",
        "550 rejected because your IP is in an RBL",
        "553 sorry, that domain isn't in my list of allowed rcpthosts (#5.7.1)",
        "550 Relaying denied",
        "550 5.7.1 Relaying denied",
        "550 Sender verify failed",
    };
    (void)state;
    for (size_t i = 0; i < sizeof denials / sizeof *denials; i++) {
        expect(MQ_STAGE_RCPT, denials[i], MQ_OUTCOME_DENIED);
    }
    expect(MQ_STAGE_RCPT, "550 <relay@example.org> user unknown", MQ_OUTCOME_REFUSED);
    expect(MQ_STAGE_RCPT, "550 <user@example.org>: rejected", MQ_OUTCOME_UNEXPLAINED);
}

/* A truncated reply can end within an address. */
static void test_cut_address(void **state)
{
    char lines[1024] = "550 ";
    size_t len = strlen(lines);
    (void)state;
    while (len < 4 + MQ_REPLY_TEXT_MAX - 14) {
        lines[len] = len % 8 == 0 ? ' ' : 'x';
        len++;
    }
    strcpy(lines + len, " <ratelimit-and-much-more@gone.example>");
    expect_refused(lines);
    strcpy(lines + len, " ratelimit-and-much-more@gone.example");
    expect_refused(lines);
}

/* The relay's own words beside an address count, including words that would not count within the
 * address. */
static void test_the_relays_words_count(void **state)
{
    static const char *const lines[] = {
        "451 4.7.1 Ratelimit \"user\" exceeded",
        "451 4.7.1 ratelimit",
        "450 4.7.1 <mailbox@example.org>: rate limit exceeded",
        "450 4.7.1 user@recipient.example: too many messages",
        "550 a@example.org hits the sending limit",
        "550 <a@example.org>: sending quota of <s@y> is used up",
        "550 Daily limit for host mailbox@x <y> reached: sending limit",
        "450 4.7.1 Quota exceeded.Please wait",
        "450 can't take it, the server's sending limit 'is' reached",
        "450 limit < 5: sending limit",
    };
    (void)state;
    for (size_t i = 0; i < sizeof lines / sizeof *lines; i++) {
        expect(MQ_STAGE_RCPT, lines[i], MQ_TROUBLE_RELAY);
    }
    expect(MQ_STAGE_RCPT, "452 <a@example.org> too many recipients", MQ_OUTCOME_RELEASED);
    expect(MQ_STAGE_RCPT, "552 <\"too many recipients\"@x.example> full", MQ_OUTCOME_DENIED);
}

static void test_waiting_times(void **state)
{
    static const struct {
        const char *lines;
        int seconds;
    } samples[] = {
        {"452 4.3.1 <wait86400@gone.example> no space", 0},
        {"452 4.3.1 x@wait86400.example no space", 0},
        {"452 4.3.1 no space for wait86400.example", 0},
        {"452 4.3.1 \"wait86400\" no space", 0},
        {"452 4.3.1 <wait86400@gone.example> try again in 300 seconds", 300},
        {"450 4.7.1 please wait 60s.", 60},
    };
    (void)state;
    for (size_t i = 0; i < sizeof samples / sizeof *samples; i++) {
        struct mq_reply reply = read_reply(samples[i].lines);
        int got = mq_reply_retry_after_s(&reply);
        if (got != samples[i].seconds) {
            fail_msg("%s: %d", samples[i].lines, got);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_recipients_do_not_stop_the_queue),
        cmocka_unit_test(test_bare_denials),
        cmocka_unit_test(test_cut_address),
        cmocka_unit_test(test_the_relays_words_count),
        cmocka_unit_test(test_waiting_times),
    };
    return cmocka_run_group_tests_name("verdict_echo", tests, NULL, NULL);
}
