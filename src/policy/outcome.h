/* What became of a recipient or of a whole job. The relay's reply, the intent record, the row and
 * the log use the same words. The table in outcome.c says what follows from each. */
#ifndef MQ_POLICY_OUTCOME_H
#define MQ_POLICY_OUTCOME_H

#include <stdbool.h>

/* The outcomes of a recipient come first. Intent records contain their values, and later versions
 * read these records (send/intent/format.h). A job's outcome holds for all claimed recipients. */
enum mq_outcome {
    MQ_OUTCOME_RELEASED = 0, /* not tried, or taken back: the row is as before the claim */
    MQ_OUTCOME_DELIVERED,    /* the relay has accepted it */
    MQ_OUTCOME_REFUSED,      /* refused for good */
    MQ_OUTCOME_DEFERRED,     /* an attempt failed; another follows */
    MQ_OUTCOME_DENIED, /* refused by policy, or its connection ended before the dot: tried again, as
                          it may be the relay's trouble */
    MQ_OUTCOME_UNCERTAIN,   /* no reply to its dot: nobody knows if it was accepted */
    MQ_OUTCOME_UNEXPLAINED, /* refused; the reply does not tell if the recipient or we caused it */
    MQ_OUTCOME_RECIPIENTS,  /* how many outcomes a recipient can have */

    MQ_OUTCOME_ORPHAN = MQ_OUTCOME_RECIPIENTS, /* the job's reference is gone: the job is deleted */
    MQ_OUTCOME_UNREADABLE, /* the row cannot be sent as it is: parked, no attempt counts */
    MQ_OUTCOME_COUNT
};

/* What happens to a mail if nobody knows whether the relay took it. */
enum mq_on_uncertain { MQ_UNCERTAIN_RETRY, MQ_UNCERTAIN_HOLD };

/* Whose fault a failure is. This decides what it costs the mail. */
enum mq_blame {
    MQ_BLAME_MAIL,   /* the relay works, so its reply stands */
    MQ_BLAME_NOBODY, /* not known: an attempt counts, but UNEXPLAINED does not become REFUSED */
    MQ_BLAME_RELAY   /* the mail goes back as if it had not been tried */
};

struct mq_outcome_facts {
    enum mq_outcome row;    /* what the row gets while the blame is not known: released, delivered,
                               refused, deferred or uncertain */
    bool failed;            /* perhaps the relay's fault: the worker waits for an acceptance */
    bool handed_over;       /* its token of the hourly limit is spent */
    bool stays;             /* the recipient stays in the row's list */
    int weight;             /* the reply of the greatest weight is shown for the job */
    const char *parked_for; /* the row's reason if this outcome parks a job; NULL: it never does */
};
extern const struct mq_outcome_facts mq_outcomes[MQ_OUTCOME_COUNT];

/* Returns the outcome that the row gets once it is known whose fault the failure is. */
enum mq_outcome mq_outcome_blamed(enum mq_outcome outcome, enum mq_blame blame);

#endif
