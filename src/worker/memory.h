/* Bounds on the messages in memory. */
#ifndef MQ_WORKER_MEMORY_H
#define MQ_WORKER_MEMORY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct mq_run;

struct mq_memory {
    int64_t bytes;      /* of messages in memory */
    int64_t max_bytes;  /* options->max_bytes, less once memory was short */
    int64_t mean_bytes; /* of the last messages; 0: none was seen yet */
    int claim_max;      /* jobs a claim: less once memory was short */
    int good_claims;    /* since it was short, or more was allowed again */
};

/* Whether the next one (there is one that waits) has room in memory, as far as is known. */
bool mq_run_fits_next(const struct mq_run *run);
/* Loads the next one's message, if it has one. False: none can begin now. */
bool mq_run_load_next(struct mq_run *run);
/* A message of so many octets has come into memory. */
void mq_run_count_message(struct mq_run *run, size_t octets);
/* How many more may be claimed, by the size of the last ones: those that wait for memory hold
 * leases that other runs could use. */
int64_t mq_run_claim_room(const struct mq_run *run);
/* A claim of up to `limit` lacked memory: fewer at a time from now on. False: none can be made. */
bool mq_run_claims_less(struct mq_run *run, int limit);
/* A claim of some jobs had memory. After a few such claims both bounds double, up to what was
 * asked for. */
void mq_run_claimed(struct mq_run *run);

#endif
