/* What follows from each outcome. A new outcome needs a row here and a value in outcome.h. */
#include "policy/consequence.h"

/* What the row gets, what is told, and what the row becomes. */
#define IN_ROW(outcome, type, becomes) \
    .row = MQ_OUTCOME_##outcome, .event = MQ_EVENT_##type, .state = MQ_##becomes
#define TRIED_AGAIN .failed = true, .stays = true
#define MQ_DELETED  MQ_STATE_COUNT

const struct mq_outcome_facts mq_outcomes[MQ_OUTCOME_COUNT] = {
    [MQ_OUTCOME_RELEASED] = {IN_ROW(RELEASED, RELEASED, PENDING), .stays = true},
    [MQ_OUTCOME_DELIVERED] = {IN_ROW(DELIVERED, SENT, DELETED), .handed_over = true, .weight = 1},
    [MQ_OUTCOME_REFUSED] = {IN_ROW(REFUSED, REFUSED, PARKED), .weight = 5, .parked_for = "refused"},
    [MQ_OUTCOME_DEFERRED] = {IN_ROW(DEFERRED, TRY_LATER, FAILED), TRIED_AGAIN, .weight = 2,
                             .parked_for = "exhausted"},
    [MQ_OUTCOME_DENIED] = {.row = MQ_OUTCOME_DEFERRED, TRIED_AGAIN, .weight = 3},
    [MQ_OUTCOME_UNCERTAIN] = {IN_ROW(UNCERTAIN, UNCERTAIN, FAILED), .handed_over = true,
                              .stays = true, .weight = 4, .parked_for = "uncertain"},
    [MQ_OUTCOME_UNEXPLAINED] = {.row = MQ_OUTCOME_DEFERRED, TRIED_AGAIN, .weight = 3},
    [MQ_OUTCOME_ORPHAN] = {IN_ROW(RELEASED, ORPHAN, DELETED)},
    [MQ_OUTCOME_UNREADABLE] = {IN_ROW(RELEASED, PARKED, PARKED), .stays = true,
                               .parked_for = "unreadable"},
    [MQ_OUTCOME_SUPPRESSED] = {IN_ROW(RELEASED, SUPPRESSED, PARKED), .stays = true,
                               .parked_for = "suppressed"},
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
