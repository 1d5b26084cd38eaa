/* The pool of a relay that allows fewer sessions than are configured. */
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "transport_bench.h"

/* Lets connects that are under way end. */
static void settle(struct bench *bench)
{
    struct mq_error err;
    for (int i = 0; i < 10; i++) {
        bench->transport->ops->step(bench->transport, 20, &err);
    }
}

static void serve_two_at_once(struct relay_talk *talk)
{
    if (talk->open > 2) {
        relay_say(talk, "421 4.7.0 too many connections");
        return;
    }
    talk->dot_delay_ms = 20;
    relay_serve(talk);
}

static int tried; /* connections, while the relay refuses most */

static bool more_are_tried(const struct relay_counts *counts)
{
    return counts->connections > tried;
}

static void test_refused_connects_shrink_the_pool(void **state)
{
    (void)state;
    struct bench *bench = bench_new(serve_two_at_once, "", 8);
    struct mq_transport *transport = bench->transport;
    bench_submit(bench, 10);
    bench_run(bench, 0);
    assert_int_equal(bench->accepted, 10);
    assert_string_equal(bench_trouble(bench), "");
    settle(bench);
    assert_non_null(strstr(transport->note, "2 of 8 sessions: "));
    assert_non_null(strstr(transport->note, "421 4.7.0 too many connections"));
    transport->note[0] = '\0';
    tried = bench->relay.counts->connections;
    assert_true(tried > 2 && tried <= 8);
    assert_int_equal(mq_transport_capacity(transport, true), 2);
    /* Half a minute later, one more is tried, and this is not told again. */
    bench_ahead_ms += 31000;
    bench_submit(bench, 10);
    bench_run(bench, 0);
    bench_submit(bench, 10);
    bench_run(bench, 0);
    bench_until(bench, more_are_tried); /* the relay may be slower */
    settle(bench);
    assert_int_equal(bench->accepted, 30);
    assert_int_equal(bench->relay.counts->connections, tried + 1);
    assert_int_equal(mq_transport_capacity(transport, true), 2);
    assert_string_equal(transport->note, "");
    bench_free(bench);
}

static void serve_two_until_go(struct relay_talk *talk)
{
    if (talk->open > 2 && !talk->counts->go) {
        relay_say(talk, "421 4.7.0 too many connections");
        return;
    }
    talk->dot_delay_ms = 20;
    relay_serve(talk);
}

static void test_sessions_come_back(void **state)
{
    (void)state;
    struct bench *bench = bench_new(serve_two_until_go, "", 6);
    struct mq_transport *transport = bench->transport;
    bench_submit(bench, 10);
    bench_run(bench, 0);
    settle(bench);
    assert_int_equal(mq_transport_capacity(transport, true), 2);
    bench->relay.counts->go = 1;
    transport->note[0] = '\0';
    for (int i = 0; i < 7 && transport->note[0] == '\0'; i++) {
        bench_ahead_ms += 3000; /* less than the idle time */
        bench_submit(bench, 7);
        bench_run(bench, 0);
    }
    assert_string_equal(transport->note, "all 6 sessions again");
    assert_int_equal(mq_transport_capacity(transport, true), 6);
    assert_string_equal(bench_trouble(bench), "");
    bench_free(bench);
}

static void serve_two_at_dot(struct relay_talk *talk)
{
    if (talk->open > 2) {
        talk->dot = "432 4.3.2 Concurrent connections limit exceeded";
    }
    talk->dot_delay_ms = 20;
    relay_serve(talk);
}

/* As Exchange Online does: it says so at the end of the message. */
static void test_sessions_that_are_too_many_end(void **state)
{
    (void)state;
    struct bench *bench = bench_new(serve_two_at_dot, "", 8);
    bench_submit(bench, 60);
    bench_run(bench, 20);
    assert_int_equal(bench->accepted, 60);
    assert_int_equal(bench->relay.counts->mails, 60);
    assert_string_equal(bench_trouble(bench), "");
    settle(bench);
    assert_non_null(strstr(bench->transport->note, " of 8 sessions: 432 4.3.2 Concurrent"));
    assert_true(mq_transport_capacity(bench->transport, true) <= 4);
    bench_free(bench);
}

#define BURST 10

/* Only the first connection gets mail. The relay ends the others while they wait for mail: one by a
 * 421, the next without a word. */
static void serve_ends_unused(struct relay_talk *talk)
{
    struct relay_counts *counts = talk->counts;
    if (talk->number == 1) {
        talk->dot_delay_ms = 20;
        relay_serve(talk);
        return;
    }
    while (__atomic_load_n(&counts->mails, __ATOMIC_SEQ_CST) < BURST) {
        usleep(1000);
    }
    relay_say(talk, "220 relay.test ESMTP");
    relay_hear(talk);
    relay_say(talk, "250 relay.test");
    fflush(talk->out);
    __atomic_add_fetch(&counts->hellos, 1, __ATOMIC_SEQ_CST);
    while (!__atomic_load_n(&counts->go, __ATOMIC_SEQ_CST)) {
        usleep(1000);
    }
    if (talk->number % 2 == 0) {
        relay_say(talk, "421 4.4.2 idle for too long");
    }
}

static bool one_is_open(const struct relay_counts *counts)
{
    return counts->open == 1;
}

static void test_the_end_of_unused_sessions_is_no_refusal(void **state)
{
    (void)state;
    struct bench *bench = bench_new(serve_ends_unused, "", 4);
    bench_submit(bench, BURST);
    bench_run(bench, 0);
    assert_int_equal(bench->accepted, BURST);
    bench_settle(bench);
    assert_true(bench->relay.counts->connections > 2);
    bench->relay.counts->go = 1;
    bench_until(bench, one_is_open);
    settle(bench);
    assert_string_equal(bench->transport->note, "");
    assert_int_equal(mq_transport_capacity(bench->transport, true), 4);
    bench_free(bench);
}

static void serve_throttle(struct relay_talk *talk)
{
    talk->mail = "450 4.7.1 try again in 30 seconds";
    relay_serve(talk);
}

static void test_throttle_at_mail_pauses_the_relay(void **state)
{
    (void)state;
    struct bench *bench = bench_new(serve_throttle, "", 3);
    bench_submit(bench, 20);
    bench_run(bench, 0);
    assert_int_equal(bench->untouched, 20);
    assert_string_equal(bench_trouble(bench), "450 4.7.1 try again in 30 seconds");
    assert_int_equal(bench->transport->trouble.retry_after_s, 30);
    bench_free(bench);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_refused_connects_shrink_the_pool),
        cmocka_unit_test(test_sessions_come_back),
        cmocka_unit_test(test_sessions_that_are_too_many_end),
        cmocka_unit_test(test_the_end_of_unused_sessions_is_no_refusal),
        cmocka_unit_test(test_throttle_at_mail_pauses_the_relay),
    };
    signal(SIGPIPE, SIG_IGN);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
