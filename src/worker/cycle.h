/* The run's transactions and the leases they give. */
#ifndef MQ_WORKER_CYCLE_H
#define MQ_WORKER_CYCLE_H

#include "queue/claim.h"
#include <stdbool.h>
#include <stdint.h>

struct mq_run;

/* Of the last claim, if not said otherwise. Times are CLOCK_BOOTTIME in ms. */
struct mq_claims {
    enum mq_claim_end end;
    bool fresh;   /* nothing was settled since without a claim */
    bool any;     /* there was one */
    bool limited; /* by the hourly limit */
    int64_t total;
    int64_t next_ms;  /* no claim of its own before */
    int64_t token_ms; /* when it expected a token */
    int64_t resume_s;
};

struct mq_leases {
    int64_t renew_ms; /* the next renewal */
    int64_t low_s;    /* UTC; no lease held ends before it */
};

bool mq_run_cycle_due(const struct mq_run *run, int64_t now_ms);
/* One transaction: what is done is settled, leases of the dead are recovered, jobs are claimed. */
void mq_run_cycle(struct mq_run *run);
/* Renews the leases of all that is held when it is time. */
void mq_run_renew(struct mq_run *run);

#endif
