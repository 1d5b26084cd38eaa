/* The run's transactions: cycles, renewals, upkeep, and what the run does when they fail. */
#ifndef MQ_WORKER_DATABASE_H
#define MQ_WORKER_DATABASE_H

#include "queue/claim.h"

struct mq_run;

/* Times are CLOCK_BOOTTIME in ms. */
struct mq_database {
    int64_t failing_ms; /* since when transactions fail; 0: they do not */
    bool lost;          /* the connection is lost and not opened again yet */
    int64_t slot_ms;    /* since when a new connection lacks the worker slot; 0: it does not */
    int64_t retry_ms;
    int64_t retry_wait_ms;
    int64_t free_until_ms; /* until then the write lock is left to others */
    int64_t next_maintain_ms;
    int64_t next_sweep_ms;
    struct mq_sweep sweep;
};

/* What the last claim said; `any` and `total` are about all claims of the run. */
struct mq_claims {
    enum mq_claim_end end;
    bool fresh;      /* no outcome was settled after that claim */
    bool any;        /* a claim was made */
    bool limited;    /* a limit is set */
    bool spare;      /* as in struct mq_claim */
    bool pays_later; /* as in struct mq_claim */
    int64_t total;
    int64_t next_ms;   /* before then, no cycle runs only to claim */
    int64_t locked_ms; /* since when claims fail, as another program has a lock; 0: they do not */
    int64_t pause_ms;  /* this and the next two are of a daemon that rests: rest.c */
    bool listens;      /* new mail is told, */
    bool told;         /* and was, so that the next claim was due */
    char full[256];    /* the limit of mailLimits that ended the last claim; "": none did */
    int64_t token_ms;  /* when the next token is expected */
    int64_t resume_s;
};

struct mq_leases {
    int64_t renew_ms; /* the next renewal */
    int64_t low_s;    /* UTC; no lease that the run holds ends before then */
};

bool mq_run_cycle_due(const struct mq_run *run, int64_t now_ms);
/* In one transaction: settles what is done, recovers leases of dead runs, claims jobs. */
void mq_run_cycle(struct mq_run *run);
/* Renews the leases of all jobs that the run holds, when that is due. */
void mq_run_renew(struct mq_run *run);

/* Notes that a transaction failed, and reopens the database, waits or gives up. */
void mq_run_database_failed(struct mq_run *run, enum mq_status status, const struct mq_error *err);
/* Must be called before a transaction. Takes the worker slot again if it went with a lost
 * connection. False: the run has no slot. */
bool mq_run_has_slot(struct mq_run *run);
/* After a long transaction, such as one that deleted large messages: leaves the write lock free for
 * other processes, for as long as this run held it. begun_ms: when it got the lock. */
void mq_run_leave_free(struct mq_run *run, int64_t begun_ms);
/* When the next piece of the sweep is due; INT64_MAX: none is. */
int64_t mq_run_sweep_ms(const struct mq_run *run);
/* Does a piece of the sweep and of the database's upkeep, when they are due. */
void mq_run_upkeep(struct mq_run *run);

#endif
