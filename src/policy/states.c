#include "policy/states.h"

static const char *const names[MQ_STATE_COUNT] = {
    [MQ_PENDING] = "pending", [MQ_SENDING] = "sending", [MQ_FAILED] = "failed",
    [MQ_PARKED] = "parked",   [MQ_HELD] = "held",
};

/* legal[from][to], in the order of the enumeration. */
static const bool legal[MQ_STATE_COUNT][MQ_STATE_COUNT] = {
    [MQ_PENDING] =
        {
            [MQ_SENDING] = true, /* claim */
            [MQ_PARKED] = true,  /* hold */
        },
    [MQ_SENDING] =
        {
            [MQ_PENDING] = true, /* release or recovery of a first attempt */
            [MQ_FAILED] = true,  /* settle; release or recovery of a later attempt */
            [MQ_PARKED] = true,  /* attempts used up, refused, uncertain and to be held */
        },
    [MQ_FAILED] =
        {
            [MQ_SENDING] = true, /* claim */
            [MQ_PENDING] = true, /* retry by a person */
            [MQ_PARKED] = true,  /* hold */
        },
    [MQ_PARKED] =
        {
            [MQ_PENDING] = true, /* retry by a person */
        },
    [MQ_HELD] =
        {
            [MQ_PENDING] = true, /* the campaign feeds it */
        },
};

static bool known(enum mq_state state)
{
    return (unsigned)state < MQ_STATE_COUNT;
}

const char *mq_state_name(enum mq_state state)
{
    return known(state) ? names[state] : "unknown";
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
    return known(from) && known(to) && legal[from][to];
}
