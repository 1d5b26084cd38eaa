/* The run's transactions: cycles, renewals, upkeep, and what it does when they fail. */
#ifndef MQ_WORKER_DATABASE_H
#define MQ_WORKER_DATABASE_H

#include "queue/claim.h"

struct mq_run;

/* Times are CLOCK_BOOTTIME in ms. */
struct mq_database {
    int64_t failing_ms; /* since when a transaction fails; 0: none does */
    bool lost;          /* the connection is, and was not opened again yet */
    int64_t slot_ms;    /* since when the new one lacks the old one's slot; 0: it does not */
    int64_t retry_ms;
    int64_t retry_wait_ms;
    int64_t free_until_ms; /* the write lock is others' until then */
    int64_t next_maintain_ms;
    int64_t next_sweep_ms;
    struct mq_sweep sweep;
};

/* Of the last claim, if not said otherwise. */
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

/* Notes that a transaction failed and handles it as far as can be: reopens, waits, gives up. */
void mq_run_database_failed(struct mq_run *run, enum mq_status status, const struct mq_error *err);
/* Before a transaction: whether it may be made. A slot that went with a lost connection is taken
 * again. */
bool mq_run_has_slot(struct mq_run *run);
/* A transaction was long, perhaps for large messages that it deleted: those who enqueue get the
 * write lock for as long as we had it, since begun_ms. */
void mq_run_leave_free(struct mq_run *run, int64_t begun_ms);
/* When the next piece of the sweep is due. */
int64_t mq_run_sweep_ms(const struct mq_run *run);
/* A piece of the sweep and of the database's upkeep, when it is time. */
void mq_run_upkeep(struct mq_run *run);

#endif
