/* Who is on the wire: the test mode, and how far the tokens reach. */
#ifndef MQ_QUEUE_REDIRECT_H
#define MQ_QUEUE_REDIRECT_H

#include <stdint.h>

#include "core/error.h"

struct mq_job;
struct mq_settings;

/* Sets job->targets, target_of and original_to from its recipients: at most `tokens` targets. */
enum mq_status mq_job_set_targets(struct mq_job *job, const struct mq_settings *settings,
                                  int64_t tokens, struct mq_error *err);

#endif
