/* What the transport finds its relay to be able to do. */
#ifndef MQ_WORKER_FINDING_H
#define MQ_WORKER_FINDING_H

#include <stdint.h>

struct mq_run;

struct mq_finding {
    const char *kept; /* as the queue has it */
    int64_t retry_ms; /* when to try again to keep another one */
    int64_t until_s;  /* UTC; believed so long */
};

/* Tells the transport what earlier runs have found. */
void mq_run_remember(struct mq_run *run);
/* Keeps what this one has found. */
void mq_run_keep_finding(struct mq_run *run);

#endif
