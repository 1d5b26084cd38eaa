/* A run's end, and what it tells. */
#ifndef MQ_WORKER_REPORT_H
#define MQ_WORKER_REPORT_H

#include "worker/worker.h"

struct mq_run;

/* Times are CLOCK_BOOTTIME in ms. */
struct mq_stop {
    bool begun; /* no claims, nothing begins; what waits is released */
    int64_t begun_ms;
    int64_t signal_ms;     /* of the first signal; 0: none came */
    bool recalled;         /* what had no body out after the grace period came back */
    bool aborted;          /* the transport is closed */
    bool gave_up;          /* outcomes stay unsettled */
    enum mq_status status; /* why the run ends early; MQ_OK: no failure */
    struct mq_error error;
};

/* Notes that the run ends; the loop then releases what waits. The first reason stays. */
void mq_run_stop(struct mq_run *run, enum mq_run_end end);
/* The same for a failure; the first one is what mq_worker_run() returns. */
void mq_run_fail(struct mq_run *run, enum mq_status status, const struct mq_error *err);

/* Tells the events collected since the last time, and counts them. */
void mq_run_tell(struct mq_run *run);
/* The event of the run's end, with the counts as text. */
void mq_run_tell_end(struct mq_run *run);

#endif
