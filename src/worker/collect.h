/* Takes finished mails back from the transport. */
#ifndef MQ_WORKER_COLLECT_H
#define MQ_WORKER_COLLECT_H

struct mq_run;

/* Into `done`, or into `doubted` where the failure may be the relay's. */
void mq_run_collect(struct mq_run *run);

#endif
