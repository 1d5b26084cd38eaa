/* The number of sessions against relays that allow a number of their own, by a simulated clock. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "policy/session_limit.h"

static void test_a_refused_session_leaves_those_that_work(void **state)
{
    (void)state;
    struct mq_sessions s;
    mq_sessions_init(&s, 50);
    assert_int_equal(s.allowed, 50);
    mq_sessions_refused(&s, 7, 900, 1000, 0);
    assert_int_equal(s.allowed, 7);
    /* Others of the same burst: one more refusal, and three that had been accepted before it. */
    mq_sessions_refused(&s, 7, 1000, 1001, 0);
    mq_sessions_opened(&s, 8);
    mq_sessions_opened(&s, 9);
    mq_sessions_opened(&s, 10);
    assert_int_equal(s.allowed, 10);
    mq_sessions_raise(&s, 1999);
    assert_int_equal(s.allowed, 10);
    mq_sessions_raise(&s, 2000);
    assert_int_equal(s.allowed, 11);
}

static void test_a_reply_in_a_session_halves_once(void **state)
{
    (void)state;
    struct mq_sessions s;
    mq_sessions_init(&s, 50);
    assert_true(mq_sessions_crowded(&s, 20, 900, 1000, 0));
    assert_int_equal(s.allowed, 10);
    assert_true(mq_sessions_crowded(&s, 20, 1000, 1100, 0)); /* began before the fall */
    assert_int_equal(s.allowed, 10);
    mq_sessions_opened(&s, 21); /* was connecting: it is one too many, too */
    assert_int_equal(s.allowed, 10);
    assert_true(mq_sessions_crowded(&s, 10, 1050, 1200, 0));
    assert_int_equal(s.allowed, 5);
    assert_true(mq_sessions_crowded(&s, 5, 1250, 1300, 0));
    assert_true(mq_sessions_crowded(&s, 2, 1350, 1400, 0));
    assert_int_equal(s.allowed, 1);
    assert_false(mq_sessions_crowded(&s, 1, 1450, 1500, 0));
    assert_int_equal(s.allowed, 1);
}

static void test_a_try_of_one_more_is_taken_back(void **state)
{
    (void)state;
    struct mq_sessions s;
    mq_sessions_init(&s, 50);
    assert_true(mq_sessions_crowded(&s, 11, 900, 1000, 0));
    for (int i = 1; i <= 6; i++) {
        mq_sessions_raise(&s, 1000 + 1000 * i);
    }
    assert_int_equal(s.allowed, 11);
    assert_true(mq_sessions_crowded(&s, 11, 7500, 7600, 0));
    assert_int_equal(s.allowed, 10);
    /* Ten are too many as well: the relay allows fewer than before. */
    assert_true(mq_sessions_crowded(&s, 10, 7700, 7800, 0));
    assert_int_equal(s.allowed, 5);
}

static void test_waits_as_long_as_the_relay_says(void **state)
{
    (void)state;
    struct mq_sessions s;
    mq_sessions_init(&s, 10);
    mq_sessions_refused(&s, 3, 900, 1000, 60);
    mq_sessions_raise(&s, 60999);
    assert_int_equal(s.allowed, 3);
    mq_sessions_raise(&s, 61000);
    assert_int_equal(s.allowed, 4);
}

/* A relay that allows `most` sessions, and says so at the connect or to the mails of a session that
 * is too many. Runs for `s` seconds; returns the mean number that worked, in hundredths. */
struct relay {
    struct mq_sessions sessions;
    int64_t now_ms;
    bool at_connect;
    size_t open;
    int refusals;
};

static int64_t run(struct relay *relay, size_t most, int64_t s)
{
    int64_t worked = 0;
    for (int64_t end_ms = relay->now_ms + s * 1000; relay->now_ms < end_ms; relay->now_ms += 100) {
        struct mq_sessions *sessions = &relay->sessions;
        mq_sessions_raise(sessions, relay->now_ms);
        relay->open = relay->open > sessions->allowed ? sessions->allowed : relay->open;
        while (relay->open < sessions->allowed) {
            if (relay->at_connect && relay->open >= most) {
                mq_sessions_refused(sessions, relay->open, relay->now_ms, relay->now_ms + 10, 0);
                relay->refusals++;
                break;
            }
            mq_sessions_opened(sessions, ++relay->open);
        }
        if (!relay->at_connect && relay->open > most) {
            mq_sessions_crowded(sessions, relay->open, relay->now_ms, relay->now_ms + 10, 0);
            relay->refusals++;
        }
        worked += (int64_t)(relay->open < most ? relay->open : most);
    }
    return worked * 10 / s;
}

static void follows(bool at_connect, size_t configured, size_t most, int refusals)
{
    struct relay relay = {.now_ms = 5000, .at_connect = at_connect};
    mq_sessions_init(&relay.sessions, configured);
    run(&relay, most, 120);
    relay.refusals = 0;
    int64_t mean = run(&relay, most, 600);
    assert_true(mean >= (int64_t)most * 90);
    assert_true(relay.refusals <= refusals);
    /* The relay allows all again. */
    run(&relay, configured, 120);
    assert_int_equal(relay.open, configured);
    /* And then fewer than before. */
    run(&relay, 2, 120);
    assert_true(run(&relay, 2, 600) >= 180);
}

static void test_follows_what_the_relay_allows(void **state)
{
    (void)state;
    for (int at_connect = 0; at_connect < 2; at_connect++) {
        /* At most one refusal in half a minute. */
        follows(at_connect, 50, 10, 20);
        follows(at_connect, 10, 3, 20);
        follows(at_connect, 1000, 100, 20);
        follows(at_connect, 4, 3, 20);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_refused_session_leaves_those_that_work),
        cmocka_unit_test(test_a_reply_in_a_session_halves_once),
        cmocka_unit_test(test_a_try_of_one_more_is_taken_back),
        cmocka_unit_test(test_waits_as_long_as_the_relay_says),
        cmocka_unit_test(test_follows_what_the_relay_allows),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
