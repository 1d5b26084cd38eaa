#include "worker/signals.h"

#include <string.h>

static volatile sig_atomic_t caught;

static void count(int signal_number)
{
    (void)signal_number;
    if (caught < 1000) {
        caught = caught + 1;
    }
}

void mq_signals_install(struct mq_signals *signals)
{
    struct sigaction action;

    memset(&action, 0, sizeof(action));
    sigemptyset(&action.sa_mask);
    /* Each masks the other, so that two at once count as two. */
    sigaddset(&action.sa_mask, SIGTERM);
    sigaddset(&action.sa_mask, SIGINT);
    action.sa_handler = count;
    signals->caught_before = caught;
    caught = 0;
    sigaction(SIGTERM, &action, &signals->term);
    sigaction(SIGINT, &action, &signals->interrupt);
    action.sa_handler = SIG_IGN;
    sigaction(SIGPIPE, &action, &signals->pipe);
    sigaction(SIGXFSZ, &action, &signals->file_size);
    signals->installed = true;
}

int mq_signals_caught(void)
{
    return caught;
}

void mq_signals_restore(struct mq_signals *signals)
{
    if (!signals->installed) {
        return;
    }
    sigaction(SIGTERM, &signals->term, NULL);
    sigaction(SIGINT, &signals->interrupt, NULL);
    sigaction(SIGPIPE, &signals->pipe, NULL);
    sigaction(SIGXFSZ, &signals->file_size, NULL);
    caught = signals->caught_before;
    signals->installed = false;
}
