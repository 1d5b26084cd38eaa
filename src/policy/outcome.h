/* What became of a recipient, or of a whole job: one set of words from the relay's reply over the
 * intent record and the row to the log. What follows from each is in the table of outcome.c. */
#ifndef MQ_POLICY_OUTCOME_H
#define MQ_POLICY_OUTCOME_H

#include <stdbool.h>

/* Recipients first: an intent record keeps their values, and the next version reads the records of
 * this one (send/intent/format.h). Job outcomes stand for every recipient that the claim reached.
 */
enum mq_outcome {
    MQ_OUTCOME_RELEASED = 0, /* not tried, or taken back: as before the claim, nothing counted */
    MQ_OUTCOME_DELIVERED,    /* the relay has accepted it */
    MQ_OUTCOME_REFUSED,      /* for good */
    MQ_OUTCOME_DEFERRED,     /* an attempt failed; another follows */
    MQ_OUTCOME_DENIED,      /* deferred by policy, or the connection ended in its transaction before
                               the dot: perhaps the relay's trouble */
    MQ_OUTCOME_UNCERTAIN,   /* its dot got no reply: nobody knows */
    MQ_OUTCOME_UNEXPLAINED, /* refused, and no word says whether for the recipient's sake or ours */
    MQ_OUTCOME_RECIPIENTS,  /* how many a recipient can have */

    MQ_OUTCOME_ORPHAN = MQ_OUTCOME_RECIPIENTS, /* what it refers to is gone: the job is deleted */
    MQ_OUTCOME_UNREADABLE, /* nobody could be sent it as the row has it: parked, nothing counted */
    MQ_OUTCOME_COUNT
};

/* What happens to a mail of which nobody knows whether the relay took it. */
enum mq_on_uncertain { MQ_UNCERTAIN_RETRY, MQ_UNCERTAIN_HOLD };

/* Whose fault a failure is: what it costs the mail. */
enum mq_blame {
    MQ_BLAME_MAIL,   /* the relay works: what was replied stands */
    MQ_BLAME_NOBODY, /* not known: an attempt counts, nobody is refused by what says nothing */
    MQ_BLAME_RELAY   /* as if it had not been tried */
};

struct mq_outcome_facts {
    enum mq_outcome row; /* which of released, delivered, refused, deferred and uncertain the row
                            gets while the blame is not known: the next attempt tells more */
    bool failed;         /* perhaps by the relay's fault: the worker waits for an acceptance */
    bool handed_over;    /* its token of the hourly limit is spent */
    bool stays;          /* in the row's list of recipients */
    int weight; /* what a person reads first: for good, then for now, then what went well */
    const char *parked_for; /* why the row is parked, once it is for this; NULL: never */
};
extern const struct mq_outcome_facts mq_outcomes[MQ_OUTCOME_COUNT];

/* What the row gets when it is known whose fault a failure is. */
enum mq_outcome mq_outcome_blamed(enum mq_outcome outcome, enum mq_blame blame);

#endif
