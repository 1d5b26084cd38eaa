/* The test redirect: which addresses an attempt sends to. */
#ifndef MQ_QUEUE_REDIRECT_H
#define MQ_QUEUE_REDIRECT_H

#include <stdint.h>

#include "core/error.h"

struct mq_job;
struct mq_settings;

/* Sets the addresses that this attempt sends to (targets, target_of, original_to), after the test
 * redirect and with at most `tokens` targets. */
enum mq_status mq_job_set_targets(struct mq_job *job, const struct mq_settings *settings,
                                  int64_t tokens, struct mq_error *err);

/* How many recipients one attempt reaches at most; a mail that is not composed yet: 0. */
int64_t mq_job_reach(const struct mq_job *job);

#endif
