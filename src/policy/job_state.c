/* The names of the states, and the table of the legal transitions. */
#include "policy/job_state.h"

#include "core/buffer.h"

static const char *const names[MQ_STATE_COUNT] = {
    [MQ_PENDING] = "pending", [MQ_SENDING] = "sending", [MQ_FAILED] = "failed",
    [MQ_PARKED] = "parked",   [MQ_HELD] = "held",
};

#define TO(state) (1u << MQ_##state)

/* The states that a job may change to. The comments say what changes it, in the same order. */
static const unsigned legal[MQ_STATE_COUNT] = {
    /* claim; hold, or unfit at the claim (claim.c); its campaign pauses */
    [MQ_PENDING] = TO(SENDING) | TO(PARKED) | TO(HELD),
    /* To pending: release or recovery of a first attempt. To failed: settle; release or recovery of
     * a later attempt. To parked: attempts used up, refused, unreadable, uncertain with hold. */
    [MQ_SENDING] = TO(PENDING) | TO(FAILED) | TO(PARKED),
    /* claim; retry by a person; as above; its campaign pauses */
    [MQ_FAILED] = TO(SENDING) | TO(PENDING) | TO(PARKED) | TO(HELD),
    [MQ_PARKED] = TO(PENDING),            /* retry by a person */
    [MQ_HELD] = TO(PENDING) | TO(FAILED), /* its campaign goes on */
};

const char *mq_state_name(enum mq_state state)
{
    return names[state];
}

bool mq_state_parse(struct mq_str text, enum mq_state *state)
{
    for (int i = 0; i < MQ_STATE_COUNT; i++) {
        if (mq_str_equal(text, mq_str_of(names[i]))) {
            *state = (enum mq_state)i;
            return true;
        }
    }
    return false;
}

bool mq_state_may(enum mq_state from, enum mq_state to)
{
    return (legal[from] & (1u << to)) != 0;
}
