/* SIGTERM and SIGINT as a count, for the time of a run. */
#ifndef MQ_WORKER_SIGNALS_H
#define MQ_WORKER_SIGNALS_H

#include <signal.h>
#include <stdbool.h>

struct mq_signals {
    struct sigaction term, interrupt, pipe, file_size; /* as they were */
    int caught_before; /* a run inside a run has a count of its own */
    bool installed;
};

/* Handlers without SA_RESTART: what waits returns at once. SIGPIPE is ignored, and SIGXFSZ,
 * so that a limit on the size of files is an error that can be told. */
void mq_signals_install(struct mq_signals *signals);
int mq_signals_caught(void); /* since installed */
void mq_signals_restore(struct mq_signals *signals);

#endif
