/* Events of a run. */
#ifndef MQ_WORKER_REPORT_H
#define MQ_WORKER_REPORT_H

#include "queue/event.h"
#include <stdint.h>

struct mq_run;

/* Tells the events collected since the last time, and counts them. */
void mq_run_tell(struct mq_run *run);
/* Adds an event that is not about one job; `reply` and `next_attempt_at` may be NULL and 0. */
void mq_run_happened(struct mq_run *run, enum mq_event_type type, const char *reply,
                     int64_t next_attempt_at);
/* The event of the run's end, with the counts as text. */
void mq_run_tell_end(struct mq_run *run);

#endif
