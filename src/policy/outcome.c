/* What follows from each outcome. A new outcome needs a row here and a value in outcome.h. */
#include "policy/consequence.h"

const struct mq_outcome_facts mq_outcomes[MQ_OUTCOME_COUNT] = {
    [MQ_OUTCOME_RELEASED] = {.row = MQ_OUTCOME_RELEASED,
                             .event = MQ_EVENT_RELEASED,
                             .state = MQ_PENDING,
                             .stays = true},
    [MQ_OUTCOME_DELIVERED] = {.row = MQ_OUTCOME_DELIVERED,
                              .event = MQ_EVENT_SENT,
                              .state = MQ_STATE_COUNT,
                              .handed_over = true,
                              .weight = 1},
    [MQ_OUTCOME_REFUSED] = {.row = MQ_OUTCOME_REFUSED,
                            .event = MQ_EVENT_REFUSED,
                            .state = MQ_PARKED,
                            .weight = 5,
                            .parked_for = "refused"},
    [MQ_OUTCOME_DEFERRED] = {.row = MQ_OUTCOME_DEFERRED,
                             .event = MQ_EVENT_TRY_LATER,
                             .state = MQ_FAILED,
                             .failed = true,
                             .stays = true,
                             .weight = 2,
                             .parked_for = "exhausted"},
    [MQ_OUTCOME_DENIED] = {.row = MQ_OUTCOME_DEFERRED, .failed = true, .stays = true, .weight = 3},
    [MQ_OUTCOME_UNCERTAIN] = {.row = MQ_OUTCOME_UNCERTAIN,
                              .event = MQ_EVENT_UNCERTAIN,
                              .state = MQ_FAILED,
                              .handed_over = true,
                              .stays = true,
                              .weight = 4,
                              .parked_for = "uncertain"},
    [MQ_OUTCOME_UNEXPLAINED] = {.row = MQ_OUTCOME_DEFERRED,
                                .failed = true,
                                .stays = true,
                                .weight = 3},
    [MQ_OUTCOME_ORPHAN] = {.row = MQ_OUTCOME_RELEASED,
                           .event = MQ_EVENT_ORPHAN,
                           .state = MQ_STATE_COUNT},
    [MQ_OUTCOME_UNREADABLE] = {.row = MQ_OUTCOME_RELEASED,
                               .event = MQ_EVENT_PARKED,
                               .state = MQ_PARKED,
                               .stays = true,
                               .parked_for = "unreadable"},
};

enum mq_outcome mq_outcome_blamed(enum mq_outcome outcome, enum mq_blame blame)
{
    if (mq_outcomes[outcome].failed && blame == MQ_BLAME_RELAY) {
        return MQ_OUTCOME_RELEASED;
    }
    if (outcome == MQ_OUTCOME_UNEXPLAINED && blame == MQ_BLAME_MAIL) {
        return MQ_OUTCOME_REFUSED;
    }
    return mq_outcomes[outcome].row;
}
