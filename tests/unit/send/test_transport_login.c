/* How EHLO and AUTH affect mails, and how sending ends early. */
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/time.h>
#include <unistd.h>

#include <cmocka.h>

#include "mime/wire/message.h"
#include "transport_bench.h"

/* ---- replies to EHLO and AUTH ---- */

static void serve_login_refused(struct relay_talk *talk)
{
    relay_say(talk, "220 relay.test");
    while (relay_hear(talk)) {
        relay_say(talk, relay_heard(talk, "EHLO") ? "250-relay.test\r\n250 AUTH PLAIN"
                                                  : "535 5.7.8 wrong password");
    }
}

static void test_refused_login_is_tried_once(void **state)
{
    (void)state;
    struct bench *bench = bench_new(serve_login_refused, "me:geheim@", 3);
    bench_submit(bench, 5);
    bench_run(bench, 0);
    assert_int_equal(bench->untouched, 5);
    assert_int_equal(bench->relay.counts->connections, 1);
    assert_non_null(strstr(bench_trouble(bench), "535 5.7.8 wrong password"));
    assert_null(strstr(bench_trouble(bench), "geheim"));
    assert_null(strstr(bench->transport->name, "geheim"));
    bench_free(bench);
}

static void test_no_login_offered(void **state)
{
    (void)state;
    struct bench *bench = bench_new(relay_serve, "me:geheim@", 3);
    bench_submit(bench, 5);
    bench_run(bench, 0);
    assert_int_equal(bench->untouched, 5);
    assert_int_equal(bench->relay.counts->mails, 0);
    assert_non_null(strstr(bench_trouble(bench), "login"));
    bench_free(bench);
}

static void serve_login(struct relay_talk *talk)
{
    talk->ehlo = "250-relay.test\r\n250-PIPELINING\r\n250 AUTH PLAIN LOGIN";
    relay_serve(talk);
}

static bool all_logged_in(const struct relay_counts *counts)
{
    return counts->logins == counts->connections;
}

static void test_login(void **state)
{
    (void)state;
    struct bench *bench = bench_new(serve_login, "me:geheim@", 2);
    bench_submit(bench, 10);
    bench_run(bench, 0);
    assert_int_equal(bench->accepted, 10);
    bench_until(bench, all_logged_in);
    bench_free(bench);
}

static void serve_helo_only(struct relay_talk *talk)
{
    talk->ehlo = "502 5.5.1 what is EHLO? 250-PIPELINING";
    relay_serve(talk);
}

static void test_helo_means_no_extensions(void **state)
{
    (void)state;
    struct bench *bench = bench_new(serve_helo_only, "", 2);
    bench->mails[1].transfer.flags = MQ_MESSAGE_8BIT;
    bench_submit(bench, 3);
    bench_run(bench, 0);
    assert_int_equal(bench->accepted, 2);
    assert_int_equal(bench->mails[1].target.result, MQ_OUTCOME_REFUSED);
    assert_int_equal(bench->relay.counts->commands_plain, 2);
    bench_free(bench);
}

static void serve_no_parameters(struct relay_talk *talk)
{
    talk->mail_parameters = "555 5.5.4 unsupported option";
    relay_serve(talk);
}

static void test_parameters_that_are_refused_are_left_out(void **state)
{
    (void)state;
    struct bench *bench = bench_new(serve_no_parameters, "", 1);
    bench_submit(bench, 10);
    bench_run(bench, 0);
    assert_int_equal(bench->accepted, 10);
    assert_int_equal(bench->relay.counts->connections, 2); /* the second one knew it */
    bench_free(bench);
}

/* ---- ending ---- */

static void serve_holding(struct relay_talk *talk)
{
    talk->holds_dot = true;
    relay_serve(talk);
}

static bool one_at_dot(const struct relay_counts *counts)
{
    return counts->at_dot == 1;
}

static void test_abort_with_the_dot_out(void **state)
{
    (void)state;
    struct bench *bench = bench_new(serve_holding, "", 1);
    struct mq_transport *transport = bench->transport;
    bench_submit(bench, 3); /* one at the dot, one after it, one waiting */
    bench_until(bench, one_at_dot);
    mq_transport_abort(transport);
    bench_run(bench, 0);
    assert_int_equal(bench->mails[0].target.result, MQ_OUTCOME_UNCERTAIN);
    assert_int_equal(bench->mails[0].transfer.end, MQ_TRANSFER_DONE);
    assert_int_equal(bench->untouched, 2);
    bench_free(bench);
}

static void test_wind_down_finishes_what_has_its_turn(void **state)
{
    (void)state;
    struct bench *bench = bench_new(serve_holding, "", 1);
    struct mq_transport *transport = bench->transport;
    bench_submit(bench, 4); /* one at the dot, one after it, two waiting */
    bench_until(bench, one_at_dot);
    mq_transport_wind_down(transport);
    bench_submit(bench, 1);
    bench->relay.counts->go = 1;
    bench_run(bench, 0);
    assert_int_equal(bench->mails[0].target.result, MQ_OUTCOME_DELIVERED);
    assert_int_equal(bench->accepted, 1);
    assert_int_equal(bench->untouched, 4);
    assert_int_equal(bench->relay.counts->mails, 1);
    assert_string_equal(bench_trouble(bench), "");
    bench_free(bench);
}

static void on_alarm(int signal_number)
{
    (void)signal_number;
}

static void test_step_returns_on_a_signal(void **state)
{
    (void)state;
    struct bench *bench = bench_new(relay_serve, "", 1);
    struct mq_error err;
    struct sigaction action = {.sa_handler = on_alarm};
    /* Repeated: the first signal may come before the step waits. */
    struct itimerval timer = {.it_value.tv_usec = 50000, .it_interval.tv_usec = 50000};
    struct itimerval none = {.it_value.tv_usec = 0};
    sigaction(SIGALRM, &action, NULL);
    setitimer(ITIMER_REAL, &timer, NULL);
    int64_t began_ms = bench_now_ms();
    assert_int_equal(bench->transport->ops->step(bench->transport, 5000, &err), MQ_OK);
    assert_true(bench_now_ms() - began_ms < 4000);
    setitimer(ITIMER_REAL, &none, NULL);
    bench_free(bench);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_refused_login_is_tried_once),
        cmocka_unit_test(test_no_login_offered),
        cmocka_unit_test(test_login),
        cmocka_unit_test(test_helo_means_no_extensions),
        cmocka_unit_test(test_parameters_that_are_refused_are_left_out),
        cmocka_unit_test(test_abort_with_the_dot_out),
        cmocka_unit_test(test_wind_down_finishes_what_has_its_turn),
        cmocka_unit_test(test_step_returns_on_a_signal),
    };
    signal(SIGPIPE, SIG_IGN);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
