/* The grammar of limits in windows, and for whom each one holds. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "policy/limits.h"

static struct mq_limits parsed(const char *text)
{
    struct mq_limits limits;
    struct mq_error err = {0};
    if (mq_limits_parse(mq_str_of(text), &limits, &err) != MQ_OK) {
        fail_msg("%s: %s", text, err.text);
    }
    return limits;
}

static void assert_str(struct mq_str s, const char *expected)
{
    assert_true(mq_str_equal(s, mq_str_of(expected)));
}

static void test_lengths(void **state)
{
    static const struct {
        const char *text;
        int64_t n, length_s;
    } samples[] = {{"60/1h", 60, 3600},
                   {"1/1s", 1, 1},
                   {"500/1d", 500, 86400},
                   {"7/30m", 7, 1800},
                   {"3/90s", 3, 90},
                   {"1000000000/31d", 1000000000, 31 * 86400},
                   {" 5/2678400s ", 5, 2678400},
                   {"05/01h", 5, 3600}};
    (void)state;
    for (size_t i = 0; i < sizeof samples / sizeof *samples; i++) {
        struct mq_limits limits = parsed(samples[i].text);
        assert_int_equal(limits.count, 1);
        assert_int_equal(limits.items[0].n, samples[i].n);
        assert_int_equal(limits.items[0].length_s, samples[i].length_s);
        assert_false(limits.items[0].mails);
        assert_int_equal(limits.items[0].scope, MQ_SCOPE_ALL);
    }
    assert_int_equal(parsed("").count, 0);
    assert_int_equal(parsed(" ").count, 0);
}

static void test_scopes(void **state)
{
    (void)state;
    struct mq_limits limits =
        parsed("60/1h, 200/4h mails,500/1d recipients  per relay,9/1h per relay smtp.a.org, "
               "8/1h mails per sender, 7/1h per Sender shop@a.org, 6/1h per sender @a.org, "
               "5/1h per sender domain, 4/1h per sender domain @a.org, 3/1h per recipient domain, "
               "2/1h mails per recipient domain @b.org, 1/1h to @b.org");
    static const struct {
        bool mails;
        enum mq_limit_scope scope;
        const char *only;
        const char *text;
    } want[] = {
        {false, MQ_SCOPE_ALL, "", "60/1h"},
        {true, MQ_SCOPE_ALL, "", "200/4h mails"},
        {false, MQ_SCOPE_RELAY, "", "500/1d recipients  per relay"},
        {false, MQ_SCOPE_RELAY, "smtp.a.org", "9/1h per relay smtp.a.org"},
        {true, MQ_SCOPE_SENDER, "", "8/1h mails per sender"},
        {false, MQ_SCOPE_SENDER, "shop@a.org", "7/1h per Sender shop@a.org"},
        {false, MQ_SCOPE_SENDER, "@a.org", "6/1h per sender @a.org"},
        {false, MQ_SCOPE_DOMAIN, "", "5/1h per sender domain"},
        {false, MQ_SCOPE_DOMAIN, "@a.org", "4/1h per sender domain @a.org"},
        {false, MQ_SCOPE_TO, "", "3/1h per recipient domain"},
        {true, MQ_SCOPE_TO, "@b.org", "2/1h mails per recipient domain @b.org"},
        {false, MQ_SCOPE_TO, "@b.org", "1/1h to @b.org"},
    };
    assert_int_equal(limits.count, sizeof want / sizeof *want);
    for (size_t i = 0; i < limits.count; i++) {
        assert_int_equal(limits.items[i].mails, want[i].mails);
        assert_int_equal(limits.items[i].scope, want[i].scope);
        assert_str(limits.items[i].only, want[i].only);
        assert_str(limits.items[i].text, want[i].text);
    }
}

/* Each error quotes what is wrong and says what to write instead. */
static void test_errors(void **state)
{
    static const struct {
        const char *text, *quoted, *says;
    } bad[] = {
        {"60/0h", "\"60/0h\"", "from 1s to 31d"},
        {"60/1w", "\"60/1w\"", "then s, m, h or d"},
        {"60/h", "\"60/h\"", "a number above 0"},
        {"60/32d", "\"60/32d\"", "to 31d"},
        {"60/99999999999d", "\"60/99999999999d\"", "to 31d"},
        {"60/1h/2h", "\"60/1h/2h\"", "from 1s to 31d"},
        {"0/1h", "\"0/1h\"", "N must be from 1"},
        {"-1/1h", "\"-1/1h\"", "N must be from 1"},
        {"1000000001/1h", "\"1000000001/1h\"", "to 1000000000"},
        {"99999999999/1h", "\"99999999999/1h\"", "N must be from 1 to"},
        {"1000000000000/1h", "\"1000000000000/1h\"", "N must be from 1 to"},
        {"60", "\"60\"", "a slash and the window's length"},
        {"60 / 1h", "\"60\"", "a slash"},
        {"60/1h,", "\"\"", "N must be from 1"},
        {"60/1h,,5/2h", "\"\"", "N must be from 1"},
        {"60/1h messages", "\"messages\"", "is not a word of a limit"},
        {"60/1h per", "\"60/1h per\"", "needs relay, sender"},
        {"60/1h per mailbox", "\"60/1h per mailbox\"", "needs relay, sender"},
        {"60/1h per sender shop", "\"60/1h per sender shop\"", "is a mailbox"},
        {"60/1h per sender domain a.org", "\"60/1h per sender domain a.org\"", "an @ before"},
        {"60/1h per recipient", "\"60/1h per recipient\"", "or recipient domain behind it"},
        {"60/1h per recipient a@b.org", "\"60/1h per recipient a@b.org\"", "needs relay, sender"},
        {"60/1h per recipient domain x@b.org", "\"60/1h per recipient domain x@b.org\"",
         "an @ before"},
        {"60/1h to", "\"60/1h to\"", "needs a domain behind it, as @example.net"},
        {"60/1h to b.org", "\"60/1h to b.org\"", "an @ before"},
        {"60/1h to a@b.org", "\"60/1h to a@b.org\"", "an @ before"},
        {"60/1h to @", "\"60/1h to @\"", "an @ before"},
        {"60/1h to @b.org @c.org", "\"@c.org\"", "is not expected here"},
        {"60/1h to @b.org, 5/1h per recipient domain @B.org",
         "\"5/1h per recipient domain @B.org\"", "the same window"},
        {"60/1h per sender domain x@a.org", "\"60/1h per sender domain x@a.org\"", "an @ before"},
        {"60/1h per relay a b", "\"b\"", "is not expected here"},
        {"60/1h per relay mails", "\"60/1h per relay mails\"", "stands before"},
        {"60/1h, 50/60m", "\"50/60m\"", "the same window"},
        {"6/1h per sender A@b.c, 5/3600s per sender a@B.C", "\"5/3600s per sender a@B.C\"",
         "the same window"},
        {"1/1s,1/2s,1/3s,1/4s,1/5s,1/6s,1/7s,1/8s,1/9s,1/10s,1/11s,1/12s,1/13s,1/14s,1/15s,"
         "1/16s,1/17s",
         "\"1/17s\"", "more than 16"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        struct mq_limits limits;
        struct mq_error err = {0};
        enum mq_status status = mq_limits_parse(mq_str_of(bad[i].text), &limits, &err);
        if (status != MQ_INVALID || !strstr(err.text, bad[i].quoted) ||
            !strstr(err.text, bad[i].says)) {
            fail_msg("%s: %d, %s", bad[i].text, status, err.text);
        }
    }
}

/* Whose count a mail takes from; NULL: the limit does not hold for it. */
static void assert_who(const char *limit, const char *relay, const char *from, const char *expected)
{
    struct mq_limits limits = parsed(limit);
    struct mq_str who;
    bool holds = mq_limit_holds(&limits.items[0], relay, from, &who);
    assert_int_equal(holds, expected != NULL);
    if (expected) {
        assert_str(who, expected);
    }
}

static void test_who(void **state)
{
    static const char relay[] = "smtp://user%40x:***@Mail.a.org:587/?tls=required";
    (void)state;
    assert_who("1/1h", NULL, NULL, "");
    assert_who("1/1h", relay, "a@b.c", "");
    assert_who("1/1h per relay", relay, NULL, relay);
    assert_who("1/1h per relay", NULL, "a@b.c", NULL);
    assert_who("1/1h per relay mail.a.org", relay, NULL, relay);
    assert_who("1/1h per relay mail.a.org:587", relay, NULL, relay);
    assert_who("1/1h per relay mail.a.org:25", relay, NULL, NULL);
    assert_who("1/1h per relay [::1]:25", "smtp://[::1]:25", NULL, "smtp://[::1]:25");
    assert_who("1/1h per relay smtp.a.org", relay, NULL, NULL);
    assert_who("1/1h per relay ::1", "smtp://[::1]:25", NULL, "smtp://[::1]:25");
    assert_who("1/1h per relay smtp://h:25", "smtp://h:25", NULL, "smtp://h:25");
    assert_who("1/1h per relay main", "main", NULL, "main");
    assert_who("1/1h per sender", relay, "Shop@b.c", "Shop@b.c");
    assert_who("1/1h per sender", relay, NULL, NULL);
    assert_who("1/1h per sender", relay, "", NULL); /* the null reverse-path */
    assert_who("1/1h per sender shop@B.c", relay, "Shop@b.c", "Shop@b.c");
    assert_who("1/1h per sender shop@b.c", relay, "news@b.c", NULL);
    assert_who("1/1h per sender @b.c", relay, "news@b.c", "news@b.c");
    assert_who("1/1h per sender @b.c", relay, "news@x.b.c", NULL);
    assert_who("1/1h per sender domain", relay, "\"a@b\"@b.c", "@b.c");
    assert_who("1/1h per sender domain @B.C", relay, "news@b.c", "@b.c");
    assert_who("1/1h per sender domain @b.d", relay, "news@b.c", NULL);
}

static void assert_to(const char *limit, const char *recipient, const char *expected)
{
    struct mq_limits limits = parsed(limit);
    struct mq_str who;
    bool holds = mq_limit_holds_to(&limits.items[0], recipient, &who);
    assert_int_equal(holds, expected != NULL);
    assert_false(expected && mq_limit_holds(&limits.items[0], "smtp://h", recipient, &who));
    if (expected) {
        mq_limit_holds_to(&limits.items[0], recipient, &who);
        assert_str(who, expected);
    }
}

static void test_to(void **state)
{
    (void)state;
    assert_to("1/1h", "a@b.c", NULL);
    assert_to("1/1h per sender domain", "a@b.c", NULL);
    assert_to("1/1h per recipient domain", "\"a@b\"@b.c", "@b.c");
    assert_to("1/1h per recipient domain", "a", NULL);
    assert_to("1/1h to @B.c", "a@b.C", "@b.C");
    assert_to("1/1h to @b.c", "a@x.b.c", NULL);
}

static void test_sessions(void **state)
{
    static const struct {
        const char *text, *quoted, *says;
    } bad[] = {
        {"0 to @b.c", "\"0 to @b.c\"", "from 1 to 1000"},
        {"1001 to @b.c", "\"1001 to @b.c\"", "from 1 to 1000"},
        {"5/1h to @b.c", "\"5/1h to @b.c\"", "from 1 to 1000"},
        {"", "\"\"", "from 1 to 1000"},
        {"5", "\"5\"", "\"5 to @example.net\", or \"20 per recipient domain\""},
        {"5 to b.c", "\"5 to b.c\"", "sessions are N to a domain"},
        {"5 to a@b.c", "\"5 to a@b.c\"", "sessions are"},
        {"5 to @b@c", "\"5 to @b@c\"", "sessions are"},
        {"5 to @b @c", "\"5 to @b @c\"", "sessions are"},
        {"5 to @", "\"5 to @\"", "sessions are"},
        {"5 to", "\"5 to\"", "sessions are"},
        {"5 per sender", "\"5 per sender\"", "sessions are"},
        {"5 per recipient domain @b.c", "\"5 per recipient domain @b.c\"", "sessions are"},
        {"5 to @b.c, 6 to @B.c", "\"6 to @B.c\"", "keep one of the two"},
    };
    struct mq_limits sessions;
    struct mq_error err = {0};
    (void)state;
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        char text[80];
        snprintf(text, sizeof text, "7 to @x.y, %s", bad[i].text);
        enum mq_status status = mq_sessions_parse(mq_str_of(text), &sessions, &err);
        if (status != MQ_INVALID || !strstr(err.text, bad[i].quoted) ||
            !strstr(err.text, bad[i].says)) {
            fail_msg("%s: %d, %s", bad[i].text, status, err.text);
        }
    }
    assert_int_equal(
        mq_sessions_parse(MQ_STR("20 per  Recipient domain ,5 to @B.c"), &sessions, &err), MQ_OK);
    assert_int_equal(mq_sessions_to(&sessions, "@b.C"), 5);
    assert_int_equal(mq_sessions_to(&sessions, "@x.b.c"), 20);
    assert_int_equal(mq_sessions_parse(MQ_STR("1000 to @b.c"), &sessions, &err), MQ_OK);
    assert_int_equal(mq_sessions_to(&sessions, "@b.c"), 1000);
    assert_int_equal(mq_sessions_to(&sessions, "@c.c"), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_lengths), cmocka_unit_test(test_scopes),
        cmocka_unit_test(test_errors),  cmocka_unit_test(test_who),
        cmocka_unit_test(test_to),      cmocka_unit_test(test_sessions),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
