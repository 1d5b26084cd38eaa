/* Signal handlers that only count: the run looks at the count in each round. */
#include "worker/signals.h"

#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>

_Static_assert(ATOMIC_INT_LOCK_FREE == 2, "a signal handler counts");

/* Handlers belong to the process, and runs can overlap: in each other's callbacks, or in threads.
 * The first run sets the handlers, and the last one restores what was there. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int runs;
static _Thread_local int runs_here; /* of this thread */
static atomic_int caught, hangups;
static struct {
    int number;
    struct sigaction before;
} held[] = {{.number = SIGTERM},
            {.number = SIGINT},
            {.number = SIGPIPE},
            {.number = SIGXFSZ},
            {.number = SIGHUP}};

#define HELD_COUNT (sizeof(held) / sizeof(held[0]))

static void count(int signal_number)
{
    atomic_fetch_add(signal_number == SIGHUP ? &hangups : &caught, 1);
}

static void set_handlers(bool keeps_before, bool daemon)
{
    struct sigaction counts = {.sa_handler = count}, ignores = {.sa_handler = SIG_IGN};
    struct sigaction restarts = {.sa_handler = count, .sa_flags = SA_RESTART};
    sigemptyset(&counts.sa_mask);
    sigemptyset(&ignores.sa_mask);
    sigemptyset(&restarts.sa_mask);
    /* Each handler masks the other signal, so that two at once count as two. */
    sigaddset(&counts.sa_mask, SIGTERM);
    sigaddset(&counts.sa_mask, SIGINT);
    for (size_t i = 0; i < HELD_COUNT; i++) {
        int number = held[i].number;
        const struct sigaction *action = number == SIGTERM || number == SIGINT ? &counts : &ignores;
        if (number == SIGHUP) { /* it ends a run that is not a daemon */
            action = daemon ? &restarts : NULL;
        }
        sigaction(number, action, keeps_before ? &held[i].before : NULL);
    }
}

int mq_signals_install(bool daemon)
{
    pthread_mutex_lock(&lock);
    /* A thread-safe PHP sets its handlers again when a thread's request begins, even during runs of
     * other threads: each thread's first run sets ours. A nested run does not: the application may
     * have set handlers. */
    if (runs == 0 || runs_here == 0) {
        set_handlers(runs == 0, daemon);
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

int mq_signals_hangups(void)
{
    return atomic_load(&hangups);
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
