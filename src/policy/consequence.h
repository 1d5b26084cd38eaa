/* What follows from an outcome: its event, the row's state, what it costs. The table is in
 * outcome.c. */
#ifndef MQ_POLICY_CONSEQUENCE_H
#define MQ_POLICY_CONSEQUENCE_H

#include <stdbool.h>

#include "policy/event_type.h"
#include "policy/job_state.h"
#include "policy/outcome.h"

/* Whose fault a failure is. This decides what it costs the mail. */
enum mq_blame {
    MQ_BLAME_MAIL,   /* the relay works, so its reply stands */
    MQ_BLAME_NOBODY, /* not known: an attempt counts, but UNEXPLAINED does not become REFUSED */
    MQ_BLAME_RELAY   /* the mail goes back as if it had not been tried */
};

struct mq_outcome_facts {
    enum mq_outcome row; /* what the row gets while the blame is not known: released, delivered,
                            refused, deferred or uncertain */
    enum mq_event_type event; /* `event` and `state` are those of the outcomes in `row`, and of */
    enum mq_state state;      /* a job's; MQ_STATE_COUNT: the row is deleted */
    bool failed;              /* perhaps the relay's fault: the worker waits for an acceptance */
    bool handed_over;         /* its token of the hourly limit is spent */
    bool stays;               /* the recipient stays in the row's list */
    int weight;               /* the reply of the greatest weight is shown for the job */
    const char *parked_for; /* the row's reason if this outcome parks a job; NULL: it never does */
};
extern const struct mq_outcome_facts mq_outcomes[MQ_OUTCOME_COUNT];

/* Returns the outcome that the row gets once it is known whose fault the failure is. */
enum mq_outcome mq_outcome_blamed(enum mq_outcome outcome, enum mq_blame blame);

#endif
