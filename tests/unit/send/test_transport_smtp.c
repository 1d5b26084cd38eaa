/* The pool over real sockets: the number of sessions, and relays in trouble. */
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>

#include <cmocka.h>

#include "transport_bench.h"

/* ---- a relay that works ---- */

static bool all_said_quit(const struct relay_counts *counts)
{
    return counts->quits == counts->connections;
}

static void serve_holding(struct relay_talk *talk)
{
    talk->holds_dot = true;
    relay_serve(talk);
}

static bool has_two_sessions(const struct relay_counts *counts)
{
    return counts->most_open > 1;
}

static void test_mails_spread_over_sessions(void **state)
{
    (void)state;
    struct bench *bench = bench_new(serve_holding, "", 4);
    struct mq_transport *transport = bench->transport;
    assert_int_equal(mq_transport_capacity(transport, false), 4);
    bench_submit(bench, 4);
    assert_int_equal(mq_transport_capacity(transport, false), 0);
    bench_until(bench, has_two_sessions);
    bench->relay.counts->go = 1;
    bench_run(bench, 0);
    bench_submit(bench, 40);
    bench_run(bench, 0);
    assert_int_equal(bench->accepted, 44);
    assert_int_equal(bench->relay.counts->mails, 44);
    assert_true(bench->relay.counts->connections <= 4);
    bench_settle(bench);
    mq_transport_quit(transport, 2000);
    bench_until(bench, all_said_quit);
    bench_free(bench);
}

static void test_no_more_sessions_than_mails(void **state)
{
    (void)state;
    struct bench *bench = bench_new(relay_serve, "", 10);
    bench_submit(bench, 1);
    bench_run(bench, 0);
    bench_submit(bench, 1);
    bench_run(bench, 0);
    assert_int_equal(bench->accepted, 2);
    assert_int_equal(bench->relay.counts->connections, 1);
    bench_free(bench);
}

static bool two_at_dot(const struct relay_counts *counts)
{
    return counts->at_dot == 2;
}

static void test_capacity_with_and_without_limit(void **state)
{
    (void)state;
    struct bench *bench = bench_new(serve_holding, "", 2);
    struct mq_transport *transport = bench->transport;
    struct mq_error err;
    bench_submit(bench, 2);
    bench_until(bench, two_at_dot);
    assert_int_equal(mq_transport_capacity(transport, true), 0);
    /* one after each dot, and one ready for each */
    assert_int_equal(mq_transport_capacity(transport, false), 4);
    bench_submit(bench, 4);
    assert_int_equal(mq_transport_capacity(transport, false), 0);
    transport->ops->step(transport, 0, &err);
    assert_int_equal(mq_transport_capacity(transport, false), 0);
    bench->relay.counts->go = 1;
    bench_run(bench, 0);
    assert_int_equal(bench->accepted, 6);
    assert_int_equal(mq_transport_capacity(transport, true), 2);
    bench_free(bench);
}

static void serve_slowly_alone(struct relay_talk *talk)
{
    talk->ehlo = "250 relay.test";
    serve_holding(talk);
}

static void test_capacity_without_pipelining(void **state)
{
    (void)state;
    struct bench *bench = bench_new(serve_slowly_alone, "", 2);
    bench_submit(bench, 2);
    bench_until(bench, two_at_dot);
    assert_int_equal(mq_transport_capacity(bench->transport, false), 0);
    bench->relay.counts->go = 1;
    bench_run(bench, 0);
    bench_free(bench);
}

static void serve_few(struct relay_talk *talk)
{
    talk->mails_max = 3;
    relay_serve(talk);
}

static void test_relay_that_takes_few_mails_a_connection(void **state)
{
    (void)state;
    struct bench *bench = bench_new(serve_few, "", 2);
    bench_submit(bench, 20);
    bench_run(bench, 20);
    assert_int_equal(bench->accepted, 20);
    assert_string_equal(bench_trouble(bench), "");
    assert_true(bench->relay.counts->connections >= 7);
    bench_free(bench);
}

/* ---- a relay that does not work ---- */

static void test_relay_down(void **state)
{
    (void)state;
    struct bench *bench = bench_new(relay_serve, "", 5);
    siginfo_t ended;
    kill(bench->relay.pid, SIGKILL);
    assert_int_equal(waitid(P_PID, (id_t)bench->relay.pid, &ended, WEXITED | WNOWAIT), 0);
    bench_submit(bench, 20);
    bench_run(bench, 0);
    assert_int_equal(bench->untouched, 20);
    assert_true(strlen(bench_trouble(bench)) > 10);
    assert_int_equal(mq_transport_capacity(bench->transport, false), 0);
    bench_submit(bench, 1); /* comes straight back */
    assert_ptr_equal(mq_transport_take_done(bench->transport), &bench->mails[20]);
    bench_free(bench);
}

static void serve_busy(struct relay_talk *talk)
{
    relay_say(talk, "421 4.3.2 closed for today, try again in 1200 seconds");
}

static void test_greeting_that_refuses(void **state)
{
    (void)state;
    struct bench *bench = bench_new(serve_busy, "", 5);
    bench_submit(bench, 20);
    bench_run(bench, 0);
    assert_int_equal(bench->untouched, 20);
    assert_int_equal(bench->relay.counts->connections, 3);
    assert_non_null(strstr(bench_trouble(bench), "closed for today"));
    assert_true(bench->transport->troubled);
    assert_int_equal(bench->transport->trouble.retry_after_s, 1200);
    bench_free(bench);
}

static void serve_421_to_mail(struct relay_talk *talk)
{
    talk->mail = "421 4.3.2 not now";
    relay_serve(talk);
}

static void test_421_to_every_mail_is_trouble_and_costs_nothing(void **state)
{
    (void)state;
    struct bench *bench = bench_new(serve_421_to_mail, "", 3);
    bench_submit(bench, 10);
    bench_run(bench, 1000);
    assert_int_equal(bench->untouched, 10);
    assert_non_null(strstr(bench_trouble(bench), "not now"));
    assert_true(bench->relay.counts->connections <= 6);
    bench_free(bench);
}

static void serve_close_at_mail(struct relay_talk *talk)
{
    relay_say(talk, "220 relay.test");
    while (relay_hear(talk) && !relay_heard(talk, "MAIL")) {
        relay_say(talk, "250 relay.test");
    }
}

static void test_hanging_up_at_mail_costs_a_few_attempts_only(void **state)
{
    (void)state;
    struct bench *bench = bench_new(serve_close_at_mail, "", 1);
    bench_submit(bench, 10);
    bench_run(bench, 0);
    assert_int_equal(bench->others, 3);
    assert_int_equal(bench->untouched, 7);
    assert_non_null(strstr(bench_trouble(bench), "closed the connection"));
    bench_free(bench);
}

static void serve_quota(struct relay_talk *talk)
{
    talk->rcpt = "550 5.4.5 daily sending limit";
    relay_serve(talk);
}

static void test_quota_stops_everything_at_once(void **state)
{
    (void)state;
    struct bench *bench = bench_new(serve_quota, "", 3);
    bench_submit(bench, 20);
    bench_run(bench, 0);
    assert_int_equal(bench->untouched, 20);
    assert_string_equal(bench_trouble(bench), "550 5.4.5 daily sending limit");
    assert_int_equal(bench->relay.counts->mails, 0);
    bench_free(bench);
}

/* The first connection: accepted up to the dot, which the relay answers late, with a temporary
 * error. The second one: before that, the whole relay is in trouble. */
static void serve_trouble_meanwhile(struct relay_talk *talk)
{
    if (talk->number == 1) {
        talk->dot = "500 5.5.2 what?";
        talk->holds_dot = true;
    } else {
        talk->mail = "530 5.7.0 log in first";
    }
    relay_serve(talk);
}

static bool one_at_dot(const struct relay_counts *counts)
{
    return counts->at_dot == 1;
}

static void test_second_try_during_trouble_comes_back(void **state)
{
    (void)state;
    struct bench *bench = bench_new(serve_trouble_meanwhile, "", 2);
    struct mq_error err;
    bench_submit(bench, 1);
    bench_until(bench, one_at_dot);
    bench_submit(bench, 1);
    while (!bench->transport->troubled) {
        assert_int_equal(bench->transport->ops->step(bench->transport, 100, &err), MQ_OK);
    }
    bench->relay.counts->go = 1;
    int64_t began_ms = bench_now_ms();
    bench_run(bench, 0);
    assert_true(bench_now_ms() - began_ms < 5000);
    assert_int_equal(bench->untouched, 2);
    assert_non_null(strstr(bench_trouble(bench), "530 5.7.0"));
    bench_free(bench);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_mails_spread_over_sessions),
        cmocka_unit_test(test_no_more_sessions_than_mails),
        cmocka_unit_test(test_capacity_with_and_without_limit),
        cmocka_unit_test(test_capacity_without_pipelining),
        cmocka_unit_test(test_relay_that_takes_few_mails_a_connection),
        cmocka_unit_test(test_relay_down),
        cmocka_unit_test(test_greeting_that_refuses),
        cmocka_unit_test(test_421_to_every_mail_is_trouble_and_costs_nothing),
        cmocka_unit_test(test_hanging_up_at_mail_costs_a_few_attempts_only),
        cmocka_unit_test(test_quota_stops_everything_at_once),
        cmocka_unit_test(test_second_try_during_trouble_comes_back),
    };
    signal(SIGPIPE, SIG_IGN);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
