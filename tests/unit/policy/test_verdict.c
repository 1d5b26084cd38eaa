/* What a reply means: single cases in the words of real servers, and every code at every stage
 * against the rules, which are here a second time, as prose. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "policy/verdict.h"
#include "verdict_names.h"

#define CONNECT MQ_STAGE_CONNECT
#define MAIL    MQ_STAGE_MAIL
#define RCPT    MQ_STAGE_RCPT
#define DATA    MQ_STAGE_DATA
#define DOT     MQ_STAGE_DOT

#define ACCEPTED  MQ_OUTCOME_DELIVERED
#define UNCERTAIN MQ_OUTCOME_UNCERTAIN
#define CONNECTS  MQ_TROUBLE_CONNECT
#define SESSION   MQ_TROUBLE_SESSION
#define FEWER     MQ_TROUBLE_SESSIONS
#define RELAY     MQ_TROUBLE_RELAY
#define NEXT      MQ_OUTCOME_RELEASED
#define REFUSED   MQ_OUTCOME_REFUSED
#define UNSAID    MQ_OUTCOME_UNEXPLAINED
#define PROTOCOL  MQ_TROUBLE_PROTOCOL
#define DENIED    MQ_OUTCOME_DENIED
#define LATER     MQ_OUTCOME_DEFERRED

static void test_connect(void **state)
{
    static const struct sample samples[] = {
        {CONNECT, "220 mail.example ESMTP", ACCEPTED},
        {CONNECT, "235 2.7.0 Authentication successful", ACCEPTED},
        {CONNECT, "", CONNECTS},
        {CONNECT, "421 4.7.0 try again later", CONNECTS},
        {CONNECT, "454 4.7.0 Temporary authentication failure", CONNECTS},
        {CONNECT, "500 5.5.1 EHLO unknown", CONNECTS},
        {CONNECT, "535 5.7.8 authentication failed", CONNECTS},
        {CONNECT, "550 5.1.1 whatever", CONNECTS},
        {CONNECT, "554 5.7.1 no service", CONNECTS},
        {CONNECT, "334 VXNlcm5hbWU6", CONNECTS},
    };
    (void)state;
    CHECK(samples);
}

static void test_positive_and_lost(void **state)
{
    static const struct sample samples[] = {
        {MAIL, "250 2.1.0 Ok", ACCEPTED},
        {RCPT, "250 2.1.5 Ok", ACCEPTED},
        {RCPT, "251 will forward", ACCEPTED},
        {RCPT, "252 cannot verify", ACCEPTED},
        {DATA, "354 go ahead", ACCEPTED},
        {DOT, "250 2.0.0 queued as 1234", ACCEPTED},
        {DOT, "250", ACCEPTED},
        {MAIL, "", SESSION},
        {RCPT, "", SESSION},
        {DATA, "", SESSION},
        {DOT, "", UNCERTAIN},
        /* Nonsense after the dot tells no more than silence; before the dot the session is out of
         * step. */
        {DOT, "354 go ahead", UNCERTAIN},
        {MAIL, "354 go ahead", PROTOCOL},
        {RCPT, "334 ", PROTOCOL},
        {DATA, "250 2.0.0 Ok", PROTOCOL},
        {DATA, "334 ", PROTOCOL},
        {MAIL, "421 4.3.0 closing", SESSION},
        {RCPT, "421 4.7.0 rate limit, too many messages", FEWER},
        {DATA, "421 4.3.2 shutting down", SESSION},
        {RCPT, "421", SESSION},
        {DOT, "421 4.3.0 closing", SESSION},
        {DOT, "421", SESSION},
    };
    (void)state;
    CHECK(samples);
}

static void test_relay_codes(void **state)
{
    static const struct sample samples[] = {
        {MAIL, "530 5.7.0 Must issue a STARTTLS command first", RELAY},
        {RCPT, "530 authentication required", RELAY},
        {MAIL, "534 5.7.9 mechanism too weak", RELAY},
        {MAIL, "535 5.7.8 credentials invalid", RELAY},
        {DATA, "538 5.7.11 encryption required", RELAY},
        {DOT, "530 5.7.1 not authenticated", RELAY},
        {RCPT, "530 5.1.1 whatever", RELAY},
        {MAIL, "531 what", DENIED},
        {MAIL, "533 what", DENIED},
        {MAIL, "536 what", DENIED},
        {MAIL, "537 what", DENIED},
        {MAIL, "539 what", DENIED},
        {MAIL, "454 4.7.0 Temporary authentication failure", RELAY},
        {DOT, "454 4.7.0 later", RELAY},
        {MAIL, "454 TLS not available", LATER},
        {MAIL, "454 4.7.1 later", LATER},
        {MAIL, "453 4.7.0 later", LATER},
        {MAIL, "452 4.3.1 Insufficient system storage", RELAY},
        {RCPT, "452 4.3.1 Insufficient system storage", RELAY},
        {DOT, "552 5.3.1 mail system full", RELAY},
        {RCPT, "451 4.3.2 not accepting network messages", RELAY},
        {DOT, "554 5.3.2 not accepting network messages", RELAY},
        {RCPT, "451 4.3.0 trouble", LATER},
        {RCPT, "451 4.3.3 trouble", LATER},
        {MAIL, "452 insufficient system storage", RELAY},
        {MAIL, "452", RELAY},
        {MAIL, "452 5.3.0 contradicting", RELAY},
        {MAIL, "452 4.5.3 too many recipients", LATER},
        {MAIL, "452 4.2.2 over quota", LATER},
        {RCPT, "452 insufficient system storage", LATER},
        {DATA, "452 what", LATER},
        {DOT, "452 what", LATER},
        {MAIL, "550 5.4.5 Daily limit", RELAY},
        {RCPT, "550-5.4.5 Daily user sending limit exceeded.\r\n550 5.4.5 see support", RELAY},
        {DOT, "550 5.4.5", RELAY},
        {DOT, "554 5.4.5 congestion", DENIED},
        {DOT, "550 5.4.4 route", DENIED},
    };
    (void)state;
    CHECK(samples);
}

static void test_sender_limits(void **state)
{
    static const struct sample samples[] = {
        {RCPT, "450 4.7.1 Error: too much mail from 192.0.2.1", RELAY},
        {RCPT, "450 4.7.1 Error: too many recipients from 192.0.2.1", RELAY},
        {DOT, "450 4.7.1 <END-OF-MESSAGE>: End-of-data rejected: Number messages per hour exceeded",
         RELAY},
        {RCPT, "451 4.7.1 Ratelimit \"user\" exceeded", RELAY},
        {RCPT, "450 4.7.1 Rate limit exceeded", RELAY},
        {RCPT,
         "550 Email account a@example.org is sending too many emails - rate overlimit = 83.6 "
         "/ 1h",
         RELAY},
        {RCPT, "451 Sender rate 101.2 / 1h", RELAY},
        {RCPT,
         "550 Domain example.org has exceeded the max emails per hour (126/125 (100%)) "
         "allowed. Message discarded.",
         RELAY},
        {RCPT, "550 Domain example.org has exceeded the max defers and failures per hour (5/5)",
         RELAY},
        {DOT,
         "450-Requested mail action not taken: mailbox unavailable\r\n450 Mail send limit "
         "exceeded.",
         RELAY},
        {RCPT, "550 5.7.1 Your mail limit has been reached.", RELAY},
        {RCPT, "550 5.7.1 sorry, too many emails", RELAY},
        {RCPT, "450 4.7.1 message count quota exceeded", RELAY},
        {DOT, "454 Throttling failure: Maximum sending rate exceeded.", RELAY},
        {DOT, "454 Throttling failure: Daily message quota exceeded.", RELAY},
        {MAIL, "550 User has exceeded outgoing email quota", RELAY},
        {RCPT,
         "554 5.7.1 <a@example.org>: Recipient address rejected: You have exceeded your "
         "Outmail quota",
         RELAY},
        {RCPT, "451 4.7.1 Hourly limit exceeded", RELAY},
        {DATA, "550 The limit on the number of allowed outgoing messages was exceeded.", RELAY},
        {MAIL, "452 4.7.0 TOO MANY MESSAGES", RELAY},
        {DOT, "550 5.7.233 tenant exceeded its daily limit", RELAY},
        {DOT, "451 Authentication failed: Maximum credits exceeded", RELAY},
        {RCPT, "550 quota exceeded", RELAY},
        {MAIL,
         "451 4.4.2 Message submission rate for this client has exceeded the configured limit",
         RELAY},
    };
    (void)state;
    CHECK(samples);
}

/* Texts about limits that are not this sender's: one full mailbox must not stop a queue. */
static void test_limits_of_others(void **state)
{
    static const struct sample samples[] = {
        {RCPT, "452 4.2.2 The email account that you tried to reach is over quota", LATER},
        {RCPT, "452 4.2.2 quota exceeded", LATER},
        {RCPT, "552 5.2.2 mailbox full, quota exceeded", LATER},
        {RCPT,
         "450 4.2.1 The user you are trying to contact is receiving mail too quickly; rate "
         "limit",
         LATER},
        {RCPT, "450 4.1.1 rate limit exceeded", LATER},
        {RCPT, "550 5.1.1 sending limit", REFUSED},
        {RCPT, "550 5.2.1 too many messages", REFUSED},
        {RCPT, "450 5.2.2 quota exceeded", LATER},
        {RCPT, "550 4.2.2 quota exceeded", REFUSED},
        {RCPT, "552 mailbox quota exceeded", DENIED},
        {RCPT, "450 Recipient's daily limit", LATER},
        {RCPT, "452 user has too many messages on the server", LATER},
        {DOT, "552 message size quota exceeded", DENIED},
        {RCPT, "451 too many messages in this session", LATER},
        {RCPT, "450 4.7.1 greylisted, try again in 300 seconds", LATER},
        {RCPT, "450 limit", LATER},
    };
    (void)state;
    CHECK(samples);
}

static void test_too_many_recipients(void **state)
{
    static const struct sample samples[] = {
        {RCPT, "452 4.5.3 Too many recipients", NEXT},
        {RCPT, "452 4.5.3 Error: too many recipients", NEXT},
        {RCPT, "452 4.5.3 try this recipient in a separate transaction", NEXT},
        {RCPT, "452 too many recipients", NEXT},
        {RCPT, "552 too many recipients", NEXT},
        {RCPT, "552 Too Many Recipients for this message", NEXT},
        {RCPT, "552 5.5.3 whatever", NEXT},
        {RCPT, "452 4.5.2 whatever", LATER},
        {RCPT, "451 4.5.3 too many recipients", LATER},
        {RCPT, "550 5.5.3 too many recipients", DENIED},
        {RCPT, "552 storage exceeded", DENIED},
        {DATA, "452 4.5.3 Too many recipients", LATER},
        {DOT, "552 too many recipients", DENIED},
        {RCPT, "552 too many recipients per hour", RELAY},
    };
    (void)state;
    CHECK(samples);
}

static void test_refused(void **state)
{
    static const struct sample samples[] = {
        {RCPT, "550 5.1.1 User unknown", REFUSED},
        {RCPT, "550 5.1.0 address", REFUSED},
        {RCPT, "501 5.1.3 Bad recipient address syntax", REFUSED},
        {RCPT, "550 5.1.6 moved", REFUSED},
        {RCPT, "550 5.1.9 what", REFUSED},
        {RCPT, "556 5.1.10 null MX", REFUSED},
        {DOT, "554 5.1.1 unknown", REFUSED},
        {RCPT, "550 5.1.7 bad sender", DENIED},
        {RCPT, "550 5.1.8 bad sender's system", DENIED},
        {DOT, "550 5.1.90 daily limit for message recipients", DENIED},
        {RCPT, "550 5.2.1 disabled", REFUSED},
        {RCPT, "550 5.2.0 what", REFUSED},
        {RCPT, "552 5.2.3 too long", REFUSED},
        {RCPT, "552 5.2.2 full", LATER},
        {DOT, "552 5.2.2 full", LATER},
        {MAIL, "552 5.3.4 too big", REFUSED},
        {DOT, "552 5.3.4 too big", REFUSED},
        {DOT, "554 5.3.3 what", DENIED},
        {DOT, "554 5.3.5 what", DENIED},
        {DOT, "554 5.6.0 malformed", REFUSED},
        {MAIL, "555 5.6.7 UTF-8 addresses", REFUSED},
        {RCPT, "550 no such user", REFUSED},
        {RCPT, "551 User not local; please try <x@example.org>", REFUSED},
        {RCPT, "553 sorry, no mailbox here by that name (#5.7.17)", DENIED},
        {RCPT, "550 sorry, no mailbox here by that name. (#5.1.1)", REFUSED},
        {RCPT, "553 name not allowed", UNSAID},
        {RCPT, "550", UNSAID},
        {RCPT, "550 rejected", UNSAID},
        {RCPT, "550 Administrative prohibition", UNSAID},
        {RCPT, "552 bare", DENIED},
        {RCPT, "554 bare", DENIED},
        {RCPT, "549 bare", DENIED},
        {RCPT, "550 5.0.0 says nothing", DENIED},
        {DATA, "550 bare", DENIED},
        {DOT, "550 bare", DENIED},
        {DOT, "553 bare", DENIED},
        /* The basic code wins. */
        {RCPT, "450 5.1.1 User unknown", LATER},
        {RCPT, "451 5.6.0 bad", LATER},
        {RCPT, "550 4.2.1 disabled", REFUSED},
        {RCPT, "554 4.1.1 unknown", DENIED},
        {RCPT, "550 2.1.5 ok?", UNSAID},
        {RCPT, "250 5.1.1 User unknown", ACCEPTED},
        {DOT, "250 5.6.0 bad", ACCEPTED},
        {RCPT, "450 4.1.1 unknown", LATER},
    };
    (void)state;
    CHECK(samples);
}

static void test_protocol_denied_later(void **state)
{
    static const struct sample samples[] = {
        {MAIL, "500 5.5.2 syntax", PROTOCOL},
        {MAIL, "501 5.5.4 syntax", PROTOCOL},
        {MAIL, "501 5.1.7 Bad sender address syntax", PROTOCOL},
        {DATA, "502 5.5.1 not implemented", PROTOCOL},
        {RCPT, "503 5.5.1 MAIL first", PROTOCOL},
        {DATA, "503 bad sequence", PROTOCOL},
        {MAIL, "504 parameter", PROTOCOL},
        {MAIL, "505 what", DENIED},
        {MAIL, "555 parameters not recognized", PROTOCOL},
        {MAIL, "556 what", DENIED},
        {MAIL, "554 bare", DENIED},
        {RCPT, "554 5.7.1 Relay access denied", DENIED},
        {RCPT, "550 5.7.1 relaying denied", DENIED},
        {DOT, "554 5.7.1 spam", DENIED},
        {DATA, "554 5.5.1 no valid recipients", DENIED},
        {DATA, "550 5.4.6 loop", DENIED},
        {MAIL, "553 5.7.1 sender not owned by user", DENIED},
        {MAIL, "550 5.1.8 sender's domain not found", LATER},
        {MAIL, "553 5.1.7 bad sender", LATER},
        {MAIL, "550 sender rejected", LATER},
        {MAIL, "551 sender rejected", LATER},
        {MAIL, "553 sender rejected", LATER},
        {MAIL, "552 sender", DENIED},
        {MAIL, "550 5.7.1 denied", DENIED},
        {MAIL, "451 4.7.1 greylisted", LATER},
        {RCPT, "450 4.2.0 greylisted", LATER},
        {DATA, "451 4.3.0 trouble", LATER},
        {DOT, "451 4.7.1 try later", LATER},
    };
    (void)state;
    CHECK(samples);
}

struct facts {
    enum mq_stage stage;
    int code, class, subject, detail; /* class 0: no enhanced code */
    bool too_many, limit, crowd;      /* the meaning of the text */
    bool time, grey, slow;
};

/* Whether the code is about an address, a mailbox or the recipients of one message. */
static bool about_one(const struct facts *f)
{
    return f->subject == 1 || f->subject == 2 || (f->subject == 5 && f->detail == 3);
}

static enum mq_outcome oracle_421(const struct facts *f)
{
    bool usable = f->class == 4;
    bool congested =
        usable && ((f->subject == 4 && f->detail == 5) || (f->subject == 7 && f->detail == 28));
    if (congested || (!about_one(f) && f->limit)) {
        return FEWER;
    }
    return f->time && !f->grey && !about_one(f) ? RELAY : SESSION;
}

/* The rules up to the refusals, in their order; false when none decides. */
static bool oracle_first(const struct facts *f, enum mq_outcome *verdict)
{
    bool usable = f->class != 0 && f->class == f->code / 100;
    bool bare = !usable;
    bool positive = f->code / 100 == 2;
    bool crowd = f->crowd && f->code >= 400 && !about_one(f);
    if (f->stage == CONNECT) {
        *verdict = positive ? ACCEPTED : crowd ? FEWER : CONNECTS;
    } else if (f->stage == DOT && f->code < 400) {
        *verdict = positive ? ACCEPTED : UNCERTAIN;
    } else if (f->code == 0) {
        *verdict = SESSION;
    } else if (crowd) {
        *verdict = FEWER;
    } else if (f->code == 421) {
        *verdict = oracle_421(f);
    } else if ((f->stage == MAIL || f->stage == RCPT) && positive) {
        *verdict = ACCEPTED;
    } else if (f->stage == DATA && f->code == 354) {
        *verdict = ACCEPTED;
    } else if (f->code < 400) {
        *verdict = PROTOCOL;
    } else if (f->code == 530 || f->code == 534 || f->code == 535 || f->code == 538) {
        *verdict = RELAY;
    } else if (usable && f->subject == 3 && (f->detail == 1 || f->detail == 2)) {
        *verdict = RELAY;
    } else if (f->code == 454 && usable && f->subject == 7 && f->detail == 0) {
        *verdict = RELAY;
    } else if (f->stage == MAIL && f->code == 452 && bare) {
        *verdict = RELAY;
    } else if (f->code == 550 && usable && f->subject == 4 && f->detail == 5) {
        *verdict = RELAY;
    } else if (f->limit && !about_one(f)) {
        *verdict = RELAY;
    } else if (f->stage == RCPT && (f->code == 452 || f->code == 552) &&
               ((usable && f->subject == 5 && f->detail == 3) ||
                (f->too_many && (bare || f->code == 552)))) {
        *verdict = NEXT;
    } else {
        return false;
    }
    return true;
}

static enum mq_outcome oracle(const struct facts *f)
{
    enum mq_outcome verdict;
    bool usable = f->class != 0 && f->class == f->code / 100;
    bool bad_sender = f->subject == 1 && (f->detail == 7 || f->detail == 8);
    bool bare_name = !usable && (f->code == 550 || f->code == 551 || f->code == 553);
    if (oracle_first(f, &verdict)) {
        return verdict;
    }
    if (f->code < 500) {
        bool all = f->time && !f->grey && !about_one(f) && (f->stage == MAIL || f->slow);
        return all ? RELAY : LATER;
    }
    if (usable && f->subject == 1 && !bad_sender && f->detail != 90) {
        return REFUSED;
    }
    if (usable && ((f->subject == 2 && f->detail != 2) || (f->subject == 3 && f->detail == 4) ||
                   f->subject == 6)) {
        return REFUSED;
    }
    if (f->stage == RCPT && bare_name) {
        /* "too many recipients" is about recipients. */
        return about_one(f) || f->too_many ? REFUSED : UNSAID;
    }
    if (f->code <= 504 || f->code == 555) {
        return PROTOCOL;
    }
    if (usable && f->subject == 2 && f->detail == 2) {
        return LATER;
    }
    if (f->stage == MAIL && ((usable && bad_sender) || bare_name)) {
        return LATER;
    }
    return DENIED;
}

static void compare(const struct facts *f, const char *text)
{
    struct mq_reply reply = {
        .code = f->code, .enhanced = {f->class, f->subject, f->detail}, .lines = 1};
    snprintf(reply.text, sizeof reply.text, "%s", text);
    enum mq_outcome got = mq_verdict_decide(NULL, "", f->stage, &reply).outcome;
    enum mq_outcome expected = oracle(f);
    if (got != expected) {
        fail_msg("%s %d %d.%d.%d %s: %s, expected %s", stage_name(f->stage), f->code, f->class,
                 f->subject, f->detail, text, verdict_name(got), verdict_name(expected));
    }
}

static void all_texts(struct facts f)
{
    compare(&f, "no");
    f.too_many = true;
    compare(&f, "too many recipients");
    f.too_many = false;
    f.limit = true;
    compare(&f, "Daily sending quota exceeded");
    f.limit = false;
    f.crowd = true;
    compare(&f, "Too many concurrent connections");
    f.crowd = false;
    f.time = true;
    compare(&f, "try again in 30 seconds");
    f.slow = true;
    compare(&f, "slow down, try again in 30 seconds");
    f.grey = true;
    compare(&f, "greylisted, slow down, try again in 30 seconds");
}

static void test_everything(void **state)
{
    static const int details[] = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 22, 90};
    (void)state;
    for (int stage = CONNECT; stage <= DOT; stage++) {
        all_texts((struct facts){.stage = (enum mq_stage)stage});
        for (int code = 200; code < 600; code++) {
            all_texts((struct facts){.stage = (enum mq_stage)stage, .code = code});
            for (int i = 0; i < 8 * (int)(sizeof details / sizeof *details); i++) {
                struct facts f = {.stage = (enum mq_stage)stage,
                                  .code = code,
                                  .class = code % 7 == 0 ? 9 - code / 100 : code / 100,
                                  .subject = i % 8,
                                  .detail = details[i / 8]};
                all_texts(f);
            }
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_connect),          cmocka_unit_test(test_positive_and_lost),
        cmocka_unit_test(test_relay_codes),      cmocka_unit_test(test_sender_limits),
        cmocka_unit_test(test_limits_of_others), cmocka_unit_test(test_too_many_recipients),
        cmocka_unit_test(test_refused),          cmocka_unit_test(test_protocol_denied_later),
        cmocka_unit_test(test_everything),
    };
    return cmocka_run_group_tests_name("verdict", tests, NULL, NULL);
}
