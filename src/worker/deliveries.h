/* The claimed jobs of a run. Each is in one of the four lists of struct mq_run. */
#ifndef MQ_WORKER_DELIVERIES_H
#define MQ_WORKER_DELIVERIES_H

#include "queue/job.h"
#include "send/transfer.h"
#include "worker/worker.h"

struct mq_deliveries;
struct mq_run;
struct mq_settlement;

struct mq_delivery {
    struct mq_run *run;
    struct mq_job job;
    int slot;             /* in the intent file; -1 before it has begun */
    int64_t lease_end_ms; /* CLOCK_BOOTTIME; nothing may leave after it. 0: known to be lost */
    struct mq_composed composed;
    struct mq_buffer converted; /* the message, where the relay takes 7 bits only */
    char *original_to;          /* header line before the message, or NULL */
    char *prefix;               /* that and signatures before it, or NULL */
    struct mq_transfer transfer;
    struct mq_target *targets;

    /* The outcome, once it is in `done` or `doubted`. */
    enum mq_outcome outcome; /* of the whole job, unless … */
    bool by_recipient;       /* … it differs: `results` say it */
    unsigned char *results;  /* enum mq_outcome, one a recipient */
    const char **replies;    /* one a recipient, pointing into targets */
    int64_t back_after_s;    /* where no attempt counts: not due again before; -1: as it was */
    char error[MQ_ERROR_TEXT_MAX];

    struct mq_deliveries *list; /* which it is in; NULL: none */
    struct mq_delivery *prev, *next;
    struct mq_delivery *chain; /* in its bucket */
};

/* Whether it goes back as it was. */
static inline bool mq_delivery_goes_back(const struct mq_delivery *delivery)
{
    return !delivery->by_recipient && delivery->outcome == MQ_OUTCOME_RELEASED;
}

/* From its list to the end of another. */
void mq_delivery_move(struct mq_delivery *delivery, struct mq_deliveries *list);

/* Takes over the contents of `job`, which is initialised afterwards; into `waiting`. NULL without
 * memory, job untouched. */
struct mq_delivery *mq_delivery_new(struct mq_run *run, struct mq_job *job, int64_t lease_end_ms);
/* Its message is not needed any more. */
void mq_delivery_drop_message(struct mq_delivery *delivery);
/* Its slot stays as it is: evidence, if nobody settles it. */
void mq_delivery_free(struct mq_delivery *delivery);
/* The same after its outcome's commit: the slot is free again. */
void mq_delivery_settled(struct mq_delivery *delivery);
struct mq_delivery *mq_delivery_find(struct mq_run *run, int64_t job_id);
/* Into `done`, with the outcome that is set. */
void mq_delivery_done(struct mq_delivery *delivery);
/* The same with an outcome for the whole job. */
void mq_delivery_end(struct mq_delivery *delivery, enum mq_outcome outcome, const char *error);
/* What waits goes back. */
void mq_deliveries_release_waiting(struct mq_run *run);

/* Whether a waiting delivery could begin now. */
bool mq_run_can_start(const struct mq_run *run);
/* Begins it: composes, pays, hands to the transport. False when that took time or cannot be now
 * (run->no_slot): look after the others first. */
bool mq_delivery_start(struct mq_delivery *delivery);

/* Fills outcome, results and error from the targets' results. */
void mq_delivery_map(struct mq_delivery *delivery, enum mq_blame blame);
/* UTC now, as far as the hourly limit is concerned. */
int64_t mq_run_limit_s(struct mq_run *run);
void mq_delivery_settlement(const struct mq_delivery *delivery, struct mq_settlement *out);

#endif
