/* A run's end. */
#ifndef MQ_WORKER_STOP_H
#define MQ_WORKER_STOP_H

#include "worker/worker.h"
#include <stdbool.h>
#include <stdint.h>

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

/* Ends the run in order. The first reason stays. */
void mq_run_stop(struct mq_run *run, enum mq_run_end end);
/* The same for a failure; the first one is what mq_worker_run() returns. */
void mq_run_fail(struct mq_run *run, enum mq_status status, const struct mq_error *err);

#endif
