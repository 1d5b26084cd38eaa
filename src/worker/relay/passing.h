/* What the run's routes have room for at a claim, and from where each is to go on. */
#ifndef MQ_WORKER_RELAY_PASSING_H
#define MQ_WORKER_RELAY_PASSING_H

#include <stdbool.h>

struct mq_run;
struct mq_turns;

/* The turns of the next claim; NULL: no mail is passed over. */
struct mq_turns *mq_run_turns(struct mq_run *run);
/* After the commit. Returns whether the next claim goes on where this one stopped. */
bool mq_run_take_turns(struct mq_run *run);

#endif
