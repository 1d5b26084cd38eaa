/* The steps of a cycle's transaction, and others within one. */
#ifndef MQ_QUEUE_STEPS_H
#define MQ_QUEUE_STEPS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/error.h"
#include "policy/outcome.h"
#include "queue/event.h"

struct mq_claim;
struct mq_claim_request;
struct mq_ids;
struct mq_job;
struct mq_settlement;
struct mq_tx;

/* Settles one outcome within a transaction; `back` is the event for a job that is released. */
enum mq_status mq_settle_one(struct mq_tx *tx, struct mq_settlement *outcome,
                             enum mq_event_type back, struct mq_error *err);
/* Whether settling this outcome only deletes the row. */
bool mq_settle_deletes(const struct mq_settlement *outcome);
/* Settles the outcomes of a cycle. */
enum mq_status mq_settle_all(struct mq_tx *tx, struct mq_settlement *outcomes, size_t count,
                             struct mq_error *err);

struct mq_recovered {
    int64_t count;
    bool more; /* MQ_ROWS_A_CYCLE or MQ_DROPPED_BYTES was reached: there may be more */
};
/* Recovers leases that were over at now_s, and leases of the request's dead tokens. */
enum mq_status mq_recover(struct mq_tx *tx, const struct mq_claim_request *request, int64_t now_s,
                          struct mq_recovered *recovered, struct mq_error *err);
enum mq_status mq_claim_take(struct mq_tx *tx, const struct mq_claim_request *request,
                             struct mq_claim *claim, struct mq_error *err);
/* Parks a job, which is claimable or in sending. If `error` is NULL, the row keeps its last_error.
 */
enum mq_status mq_job_park(struct mq_tx *tx, const struct mq_job *job, enum mq_outcome why,
                           const char *error, struct mq_error *err);
/* Parks an unreadable job, which is claimable or in sending. */
enum mq_status mq_job_park_unreadable(struct mq_tx *tx, const struct mq_job *job,
                                      struct mq_error *err);
/* mq_queue_retry() within a transaction. */
enum mq_status mq_retry_within(struct mq_tx *tx, const struct mq_ids *ids, bool reset,
                               int64_t *changed, struct mq_error *err);

#endif
