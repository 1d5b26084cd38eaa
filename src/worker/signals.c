/* Signal handlers that only count: the run looks at the count in each round. */
#include "worker/signals.h"

#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>

_Static_assert(ATOMIC_INT_LOCK_FREE == 2, "a signal handler counts");

/* Handlers belong to the process, and runs can overlap: in each other's callbacks, or in threads.
 * The first run sets the handlers, and the last one restores what was there. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int runs;
static _Thread_local int runs_here; /* of this thread */
static atomic_int caught;
static struct {
    int number;
    struct sigaction before;
} held[] = {{.number = SIGTERM}, {.number = SIGINT}, {.number = SIGPIPE}, {.number = SIGXFSZ}};

#define HELD_COUNT (sizeof(held) / sizeof(held[0]))

static void count(int signal_number)
{
    (void)signal_number;
    atomic_fetch_add(&caught, 1);
}

static void set_handlers(bool keeps_before)
{
    struct sigaction counts = {.sa_handler = count}, ignores = {.sa_handler = SIG_IGN};
    sigemptyset(&counts.sa_mask);
    sigemptyset(&ignores.sa_mask);
    /* Each handler masks the other signal, so that two at once count as two. */
    sigaddset(&counts.sa_mask, SIGTERM);
    sigaddset(&counts.sa_mask, SIGINT);
    for (size_t i = 0; i < HELD_COUNT; i++) {
        bool stops = held[i].number == SIGTERM || held[i].number == SIGINT;
        sigaction(held[i].number, stops ? &counts : &ignores,
                  keeps_before ? &held[i].before : NULL);
    }
}

int mq_signals_install(void)
{
    pthread_mutex_lock(&lock);
    /* A thread-safe PHP sets its handlers again when a thread's request begins, even during runs of
     * other threads: each thread's first run sets ours. A nested run does not: the application may
     * have set handlers. */
    if (runs == 0 || runs_here == 0) {
        set_handlers(runs == 0);
    }
    runs++;
    runs_here++;
    int before = atomic_load(&caught);
    pthread_mutex_unlock(&lock);
    return before;
}

int mq_signals_caught(int before)
{
    return atomic_load(&caught) - before;
}

void mq_signals_restore(void)
{
    pthread_mutex_lock(&lock);
    runs_here--;
    if (--runs == 0) {
        for (size_t i = 0; i < HELD_COUNT; i++) {
            sigaction(held[i].number, &held[i].before, NULL);
        }
    }
    pthread_mutex_unlock(&lock);
}
