/* Replies about the number of our sessions and about our rate, in the words of real servers, and
 * those that only look like that. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "verdict_names.h"

#define CONNECT MQ_STAGE_CONNECT
#define MAIL    MQ_STAGE_MAIL
#define RCPT    MQ_STAGE_RCPT
#define DATA    MQ_STAGE_DATA
#define DOT     MQ_STAGE_DOT

#define CONNECTS MQ_TROUBLE_CONNECT
#define SESSION  MQ_TROUBLE_SESSION
#define FEWER    MQ_TROUBLE_SESSIONS
#define RELAY    MQ_TROUBLE_RELAY
#define NEXT     MQ_OUTCOME_RELEASED
#define DENIED   MQ_OUTCOME_DENIED
#define LATER    MQ_OUTCOME_DEFERRED

/* The relay wants fewer sessions, at the connect, the login, or in a session. */
static void test_too_many_sessions(void **state)
{
    static const struct sample samples[] = {
        /* Postfix (smtpd_client_connection_count_limit, _rate_limit, new TLS sessions), postscreen
         */
        {CONNECT, "421 4.7.0 mx.example.org Error: too many connections from 192.0.2.1", FEWER},
        {CONNECT, "421 4.7.0 mx.example.org Error: too many new TLS sessions from 192.0.2.1",
         FEWER},
        {CONNECT, "421 4.3.2 All server ports are busy", FEWER},
        /* Exim (smtp_accept_max, smtp_accept_max_per_host) */
        {CONNECT, "421 Too many concurrent SMTP connections; please try again later.", FEWER},
        {CONNECT,
         "421 Too many concurrent SMTP connections from this IP address; please try again later.",
         FEWER},
        /* Sendmail */
        {CONNECT, "421 4.3.2 Connection rate limit exceeded.", FEWER},
        {CONNECT, "421 4.3.2 Too many open connections.", FEWER},
        /* Exchange, Exchange Online */
        {CONNECT,
         "421 4.3.2 The maximum number of concurrent connections has exceeded a limit, closing "
         "transmission channel",
         FEWER},
        {CONNECT, "432 4.3.2 Concurrent connections limit exceeded", FEWER},
        {MAIL, "432 4.3.2 Concurrent connections limit exceeded", FEWER},
        {DATA,
         "432 4.3.2 Concurrent connections limit exceeded. Visit "
         "https://aka.ms/concurrent_sending for more information.",
         FEWER},
        {DOT, "432 4.3.2 STOREDRV.ClientSubmit; sender thread limit exceeded", FEWER},
        {MAIL,
         "421 4.4.2 Message submission rate for this client has exceeded the configured limit",
         FEWER},
        {RCPT, "421 4.4.5 Server busy, try again later.", FEWER},
        /* Gmail, Amazon SES, Dovecot's submission service, Comcast, Orange, QQ, hosters */
        {CONNECT, "454 4.7.0 Too many login attempts, please try again later.", FEWER},
        {DOT,
         "421-4.7.28 Gmail has detected an unusual rate of mail\r\n421 4.7.28 originating from "
         "your network.",
         FEWER},
        {CONNECT, "421 Too many concurrent SMTP connections", FEWER},
        {CONNECT, "421 4.7.0 Maximum number of connections from user+IP exceeded", FEWER},
        {CONNECT, "421 4.3.2 mx.example.org Too many sessions opened", FEWER},
        {MAIL, "550 5.5.0 Too many connections, slow down. OFR005_104", FEWER},
        {CONNECT, "550 Connection frequency limited", FEWER},
        {CONNECT, "554-mx.example.org\r\n554 too many connections, closing", FEWER},
        {MAIL, "421 too many connections, try again in 60 seconds", FEWER},
    };
    (void)state;
    CHECK(samples);
    assert_int_equal(
        verdict_of_line(MAIL, "421 too many connections, try again in 60 seconds").wait_s, 60);
}

/* One session's own end, and words about others. */
static void test_a_sessions_own_end(void **state)
{
    static const struct sample samples[] = {
        {MAIL, "421 4.4.2 mx.example.org Error: timeout exceeded", SESSION},
        {MAIL, "421 4.7.0 mx.example.org Error: too many errors", SESSION},
        {MAIL, "421 mx.example.org: SMTP command timeout - closing connection", SESSION},
        {MAIL, "421 too many messages in this connection", SESSION},
        {MAIL, "421 4.7.0 too many messages in this session", SESSION},
        {RCPT, "421 4.4.2 Connection dropped due to SocketError", SESSION},
        {MAIL, "421 4.4.1 Connection timed out", SESSION},
        {MAIL, "421 4.3.2 Service not available", SESSION},
        {MAIL, "421 4.4.7 Connection expired, try reconnecting", SESSION},
        {MAIL, "421 4.3.0 Temporary System Problem. Try again later", SESSION},
        {RCPT, "421 4.7.0 greylisted, retry in 5 minutes", SESSION},
        {RCPT,
         "450 4.0.0 <a@x>: Recipient address rejected: host mx.example said: 421 too many "
         "connections",
         LATER},
        {RCPT, "450 4.1.1 too many connections to the recipient's server", LATER},
        {RCPT, "450 4.2.1 too many connections", LATER},
        {RCPT, "452 4.5.3 Your message has too many recipients", NEXT},
        {CONNECT, "421 4.3.2 Service not available, closing transmission channel", CONNECTS},
        {CONNECT, "421 4.4.2 mx.example.org Error: timeout exceeded", CONNECTS},
        {CONNECT, "454 4.7.0 Temporary authentication failure", CONNECTS},
        {CONNECT, "554 5.7.1 Service unavailable; Client host [192.0.2.1] blocked", CONNECTS},
    };
    (void)state;
    CHECK(samples);
}

/* A time that the relay names: for all mail, for this one, or either. */
static void test_named_times(void **state)
{
    static const struct {
        enum mq_stage stage;
        const char *line;
        enum mq_outcome verdict;
        int wait_s;
        bool throttled;
    } samples[] = {
        {MAIL, "450 4.7.1 try again in 30 seconds", RELAY, 30, false},
        {MAIL, "451 4.7.1 please retry in 5 minutes", RELAY, 300, false},
        {MAIL, "451 Retry after 60", RELAY, 60, false},
        {MAIL, "421 4.7.0 try again in 2 minutes", RELAY, 120, false},
        {DOT, "421 4.3.2 shutting down, back in 10 minutes", RELAY, 600, false},
        {RCPT, "450 4.7.1 slow down, try again in 30 seconds", RELAY, 30, false},
        {RCPT, "451 4.7.1 you are sending too fast, retry in 60 s", RELAY, 60, false},
        {DOT, "451 4.7.0 throttled, retry after 90 seconds", RELAY, 90, false},
        {DATA, "451 4.3.0 server too busy, try again in 1 minute", RELAY, 60, false},
        {RCPT, "450 4.7.1 your IP address is blocked for 600 seconds", RELAY, 600, false},
        /* greylisting */
        {RCPT, "450 4.7.1 greylisted, try again in 300 seconds", LATER, 300, false},
        {RCPT, "450 4.2.0 <a@x>: Recipient address rejected: Greylisted for 300 seconds", LATER,
         300, false},
        {RCPT, "451 4.7.1 Greylisting in action, please come back in 00:05:00", LATER, 300, false},
        {DOT, "451 4.7.1 greylisted, your IP is new, retry in 60 seconds", LATER, 60, false},
        {MAIL, "450 4.7.1 Graylisted, try again in 300 seconds", LATER, 300, false},
        /* a mailbox, a recipient, a sender, another server */
        {RCPT, "450 4.2.2 too many mails in the mailbox, retry in 60 minutes", LATER, 3600, false},
        {RCPT, "450 too many mails for this user, retry in 5 minutes", LATER, 300, true},
        {MAIL, "450 4.1.8 sender's domain not found, retry in 5 minutes", LATER, 300, false},
        {RCPT, "451 4.0.0 host mx.example said: 451 throttled, try again in 30 seconds", LATER, 30,
         false},
        /* either */
        {RCPT, "450 4.7.1 try again in 30 seconds", LATER, 30, true},
        {DOT, "451 4.7.1 please retry in 5 minutes", LATER, 300, true},
        /* no time */
        {MAIL, "450 4.7.1 try again later", LATER, 0, false},
        {RCPT, "450 4.7.1 try again later", LATER, 0, false},
        {MAIL, "550 5.7.1 try again in 30 seconds", DENIED, 30, false},
    };
    (void)state;
    for (size_t i = 0; i < sizeof samples / sizeof *samples; i++) {
        struct mq_verdict got = verdict_of_line(samples[i].stage, samples[i].line);
        if (got.outcome != samples[i].verdict || got.wait_s != samples[i].wait_s ||
            got.throttled != samples[i].throttled) {
            fail_msg("%s \"%s\": %s, %d s%s", stage_name(samples[i].stage), samples[i].line,
                     verdict_name(got.outcome), got.wait_s, got.throttled ? ", throttled" : "");
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_too_many_sessions),
        cmocka_unit_test(test_a_sessions_own_end),
        cmocka_unit_test(test_named_times),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
