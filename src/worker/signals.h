/* SIGTERM and SIGINT as a count, for the time of a run. */
#ifndef MQ_WORKER_SIGNALS_H
#define MQ_WORKER_SIGNALS_H

/* Handlers without SA_RESTART: what waits returns at once, in the thread that the signal came to;
 * others look at the count in each round. SIGPIPE is ignored, and SIGXFSZ, so that a limit on the
 * size of files is an error that can be told. Safe in threads. Returns how many signals the process
 * had caught before. */
int mq_signals_install(void);
int mq_signals_caught(int before); /* since then */
void mq_signals_restore(void);     /* once for each time that they were installed */

#endif
