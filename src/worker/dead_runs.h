/* What other runs left behind: which of them are dead, and how far their mails had come. A claim
 * outside a run uses only `source`, which reads the intent record of the token that it is given. */
#ifndef MQ_WORKER_DEAD_RUNS_H
#define MQ_WORKER_DEAD_RUNS_H

#include <stddef.h>

#include "queue/recover.h"
#include "worker/lock.h"

struct mq_intent_record;

#define MQ_DEAD_MAX MQ_WORKERS_MAX /* runs recovered at a time */

struct mq_recovery {
    /* Runs that died, whose locks we hold until their leases are recovered. */
    struct {
        struct mq_intent_record *record;
        bool asked; /* this cycle met one of its jobs: there may be more */
    } dead[MQ_DEAD_MAX];
    const char *tokens[MQ_DEAD_MAX]; /* of the runs in `dead`, for the claim */
    size_t dead_count;
    struct mq_intent_record *open; /* the record last read in this cycle that is not in `dead` */
    struct mq_record_source source;
    const char *directory;
    int64_t next_scan_ms;
};

/* `directory` (the run directory) is borrowed. */
void mq_recovery_init(struct mq_recovery *recovery, const char *directory);
void mq_recovery_clear(struct mq_recovery *recovery);
/* Looks for runs that died, at most once in ten seconds. */
void mq_recovery_scan(struct mq_recovery *recovery, const char *own_token, int64_t now_ms);
/* After a cycle: closes `open` and, if `committed`, removes the files of dead runs whose jobs are
 * all recovered. */
void mq_recovery_end_cycle(struct mq_recovery *recovery, bool committed);

#endif
