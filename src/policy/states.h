/* The states of a job and the moves between them. */
#ifndef MQ_POLICY_STATES_H
#define MQ_POLICY_STATES_H

#include <stdbool.h>

#include "core/buffer.h"

enum mq_state { MQ_PENDING, MQ_SENDING, MQ_FAILED, MQ_PARKED, MQ_HELD, MQ_STATE_COUNT };

const char *mq_state_name(enum mq_state state); /* "pending", …: the text in the table */
bool mq_state_parse(struct mq_str text, enum mq_state *state);
/* Whether a job may go from one state to the other. The only place that knows. */
bool mq_state_may(enum mq_state from, enum mq_state to);

/* The states of a job that a claim takes, as SQL: one literal, spelled the same in index and
 * queries, for SQLite matches a partial index by its text. */
#define MQ_CLAIMABLE_STATES "status IN ('pending','failed')"

#endif
