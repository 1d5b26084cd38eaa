/* Bounds on the messages in memory. */
#ifndef MQ_WORKER_MEMORY_H
#define MQ_WORKER_MEMORY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct mq_deliveries;
struct mq_delivery;
struct mq_run;

struct mq_memory {
    int64_t bytes;      /* of messages in memory */
    int64_t max_bytes;  /* options->max_bytes, or less after memory was short */
    int64_t mean_bytes; /* of the last messages; 0: none was seen yet */
    int claim_max;      /* jobs per claim; less after memory was short */
    int good_claims;    /* claims since memory was short or the bounds were raised */
};

/* Whether a waiting delivery has room in memory, as far as is known. */
bool mq_run_fits(const struct mq_run *run, const struct mq_delivery *delivery);
/* Loads the message of the list's first delivery, if it has one. False: none can begin now. */
bool mq_run_load_next(struct mq_run *run, struct mq_deliveries *waiting);
/* Adds a message of that size to those in memory. */
void mq_run_count_message(struct mq_run *run, size_t octets);
/* The most jobs that the run can have at a time; INT64_MAX: no size of a message is known. */
int64_t mq_run_claims_max(const struct mq_run *run);
/* The most jobs that can wait for each route, so that one route leaves room to the others. */
int64_t mq_run_route_share(const struct mq_run *run);
/* How many more jobs to claim, judged by the size of the last messages. Jobs that wait for memory
 * hold leases that other runs could use. */
int64_t mq_run_claim_room(const struct mq_run *run);
/* Claims fewer jobs after a claim of up to `limit` lacked memory. False: fewer are not possible. */
bool mq_run_claims_less(struct mq_run *run, int limit);
/* Notes a claim that had enough memory. After a few such claims both bounds double, at most to
 * their first values. */
void mq_run_claimed(struct mq_run *run);

#endif
