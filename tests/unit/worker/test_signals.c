/* Signals during runs that overlap, in callbacks of each other and in threads. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <unistd.h>

#include "worker/signals.h"

static volatile sig_atomic_t seen_by_others;

static void others(int signal_number)
{
    (void)signal_number;
    seen_by_others = seen_by_others + 1;
}

static bool is_others(int number)
{
    struct sigaction now;
    sigaction(number, NULL, &now);
    return now.sa_handler == others;
}

static int setup(void **state)
{
    struct sigaction action;
    (void)state;
    memset(&action, 0, sizeof(action));
    action.sa_handler = others;
    seen_by_others = 0;
    sigaction(SIGTERM, &action, NULL);
    sigaction(SIGINT, &action, NULL);
    sigaction(SIGPIPE, &action, NULL);
    return 0;
}

/* Each run counts from its own start, in whatever order they end. */
static void test_overlap(void **state)
{
    (void)state;
    int a = mq_signals_install(false);
    raise(SIGTERM);
    assert_int_equal(mq_signals_caught(a), 1);
    int b = mq_signals_install(false);
    assert_int_equal(mq_signals_caught(b), 0);
    raise(SIGINT);
    assert_int_equal(mq_signals_caught(a), 2);
    assert_int_equal(mq_signals_caught(b), 1);
    mq_signals_restore();
    raise(SIGTERM);
    raise(SIGPIPE);
    assert_int_equal(mq_signals_caught(b), 2);
    int c = mq_signals_install(false);
    mq_signals_restore();
    raise(SIGTERM);
    assert_int_equal(mq_signals_caught(c), 1);
    assert_int_equal(seen_by_others, 0);
    mq_signals_restore();
    assert_true(is_others(SIGTERM) && is_others(SIGINT) && is_others(SIGPIPE));
    raise(SIGTERM);
    assert_int_equal(seen_by_others, 1);
}

static void *one_run(void *context)
{
    (void)context;
    mq_signals_install(false);
    raise(SIGTERM);
    mq_signals_restore();
    return NULL;
}

/* PHP sets its handlers when a request begins in another thread during a run: the next run there
 * takes the signals back. A run in a callback leaves the application's handlers. */
static void test_taken(void **state)
{
    struct sigaction action = {.sa_handler = others};
    pthread_t thread;
    (void)state;
    int run = mq_signals_install(false);
    sigaction(SIGTERM, &action, NULL);
    assert_int_equal(pthread_create(&thread, NULL, one_run, NULL), 0);
    pthread_join(thread, NULL);
    assert_int_equal(mq_signals_caught(run), 1);
    assert_int_equal(seen_by_others, 0);
    raise(SIGTERM);
    assert_int_equal(mq_signals_caught(run), 2);
    sigaction(SIGTERM, &action, NULL);
    mq_signals_install(false);
    raise(SIGTERM);
    assert_int_equal(seen_by_others, 1);
    mq_signals_restore();
    mq_signals_restore();
    assert_true(is_others(SIGTERM));
}

/* SIGHUP is a daemon's, and is no reason to end. */
static void test_hangup(void **state)
{
    struct sigaction action = {.sa_handler = others};
    (void)state;
    sigaction(SIGHUP, &action, NULL);
    mq_signals_install(false);
    raise(SIGHUP);
    assert_int_equal(seen_by_others, 1);
    mq_signals_restore();
    int before = mq_signals_hangups(), run = mq_signals_install(true);
    raise(SIGHUP);
    raise(SIGHUP);
    assert_int_equal(mq_signals_hangups(), before + 2);
    assert_int_equal(mq_signals_caught(run), 0);
    mq_signals_restore();
    assert_true(is_others(SIGHUP));
    action.sa_handler = SIG_DFL;
    sigaction(SIGHUP, &action, NULL);
    assert_int_equal(seen_by_others, 1);
}

struct thread {
    pthread_t id;
    unsigned seed;
    int faults;
};

static void *come_and_go(void *context)
{
    struct thread *thread = context;
    for (int i = 0; i < 400; i++) {
        int run = mq_signals_install(false);
        int before = mq_signals_caught(run);
        thread->faults += is_others(SIGTERM) || is_others(SIGPIPE) || before < 0;
        usleep((useconds_t)(rand_r(&thread->seed) % 200));
        thread->faults += is_others(SIGTERM) || mq_signals_caught(run) < before;
        mq_signals_restore();
    }
    return NULL;
}

/* A run sees every signal while it runs, however many other runs start and end meanwhile. */
static void test_threads(void **state)
{
    struct thread threads[4];
    (void)state;
    int run = mq_signals_install(false);
    for (size_t i = 0; i < 4; i++) {
        threads[i] = (struct thread){.seed = (unsigned)i + 1};
        assert_int_equal(pthread_create(&threads[i].id, NULL, come_and_go, &threads[i]), 0);
    }
    for (int i = 1; i <= 50; i++) {
        raise(SIGTERM);
        assert_int_equal(mq_signals_caught(run), i);
        usleep(500);
    }
    for (size_t i = 0; i < 4; i++) {
        pthread_join(threads[i].id, NULL);
        assert_int_equal(threads[i].faults, 0);
    }
    assert_int_equal(mq_signals_caught(run), 50);
    assert_int_equal(seen_by_others, 0);
    assert_false(is_others(SIGTERM));
    mq_signals_restore();
    assert_true(is_others(SIGTERM));
}

/* The last of many threads restores the earlier handlers. */
static void test_all_threads(void **state)
{
    struct thread threads[4];
    (void)state;
    for (size_t i = 0; i < 4; i++) {
        threads[i] = (struct thread){.seed = (unsigned)i + 9};
        assert_int_equal(pthread_create(&threads[i].id, NULL, come_and_go, &threads[i]), 0);
    }
    for (size_t i = 0; i < 4; i++) {
        pthread_join(threads[i].id, NULL);
        assert_int_equal(threads[i].faults, 0);
    }
    assert_true(is_others(SIGTERM) && is_others(SIGINT) && is_others(SIGPIPE));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(test_overlap, setup),
        cmocka_unit_test_setup(test_taken, setup),
        cmocka_unit_test_setup(test_hangup, setup),
        cmocka_unit_test_setup(test_threads, setup),
        cmocka_unit_test_setup(test_all_threads, setup),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
