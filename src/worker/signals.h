/* Counts SIGTERM and SIGINT during a run, and SIGHUP during a daemon's. */
#ifndef MQ_WORKER_SIGNALS_H
#define MQ_WORKER_SIGNALS_H

#include <stdbool.h>

/* Installs handlers without SA_RESTART: a system call that waits returns at once in the thread that
 * gets the signal; other threads look at the count in each round. Ignores SIGPIPE, and SIGXFSZ, so
 * that a limit on file sizes is an error that can be reported. Thread-safe. `daemon`: counts SIGHUP
 * too, with SA_RESTART, since that ends nothing. Returns how many signals the process had caught
 * before. */
int mq_signals_install(bool daemon);
int mq_signals_caught(int before); /* since mq_signals_install() returned `before` */
int mq_signals_hangups(void);      /* SIGHUPs that the process has caught */
void mq_signals_restore(void);     /* once for each mq_signals_install() */

#endif
