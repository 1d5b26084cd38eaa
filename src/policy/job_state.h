/* The states of a job and the transitions between them. */
#ifndef MQ_POLICY_JOB_STATE_H
#define MQ_POLICY_JOB_STATE_H

#include <stdbool.h>

struct mq_str;

enum mq_state { MQ_PENDING, MQ_SENDING, MQ_FAILED, MQ_PARKED, MQ_HELD, MQ_STATE_COUNT };

const char *mq_state_name(enum mq_state state); /* "pending", …: the text in the table */
bool mq_state_parse(struct mq_str text, enum mq_state *state);
/* Whether a job may change from one state to the other. Only this function decides it. */
bool mq_state_may(enum mq_state from, enum mq_state to);

/* A job in `sending` has the claim token of its run: 128 random bits, in hex. One claim reaches at
 * most this many recipients (RFC 5321, 4.5.3.1.8); later claims reach the others. */
#define MQ_TOKEN_HEX      32
#define MQ_RECIPIENTS_MAX 100

/* The condition in SQL for the jobs that a claim takes. The index and the queries share this
 * literal, because SQLite matches a partial index by its text. */
#define MQ_CLAIMABLE_STATES "status IN ('pending','failed')"

#endif
