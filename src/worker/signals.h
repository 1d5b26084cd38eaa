/* SIGTERM and SIGINT as a count, for the time of a run. */
#ifndef MQ_WORKER_SIGNALS_H
#define MQ_WORKER_SIGNALS_H

#include <stdbool.h>

struct mq_signals {
    int before; /* all that the process had caught when the run began */
    bool installed;
};

/* Handlers without SA_RESTART: what waits returns at once, in the thread that the signal came to;
 * others look at the count in each round. SIGPIPE is ignored, and SIGXFSZ, so that a limit on the
 * size of files is an error that can be told. Safe in threads. */
void mq_signals_install(struct mq_signals *signals);
int mq_signals_caught(const struct mq_signals *signals); /* since installed */
void mq_signals_restore(struct mq_signals *signals);

#endif
