/* A daemon rests while it holds nothing and its last claim found nothing. */
#ifndef MQ_WORKER_REST_H
#define MQ_WORKER_REST_H

#include <stdint.h>

#define MQ_RUN_PAUSE_MS 5000 /* longest pause between claims: they also read the settings */

struct mq_run;

/* After a claim: plans the next one of a daemon that rests. `wait_ms`: until the next mail is due.
 */
void mq_run_plan_rest(struct mq_run *run, int64_t now_ms, int64_t wait_ms);
/* Waits up to ms. If it learns of new mail meanwhile, a claim is due. */
void mq_run_rest(struct mq_run *run, int64_t ms);

#endif
