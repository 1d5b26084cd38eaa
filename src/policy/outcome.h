/* What became of a recipient or of a whole job. The relay's reply, the intent record, the row and
 * the log use the same words. policy/consequence.h says what follows from each. */
#ifndef MQ_POLICY_OUTCOME_H
#define MQ_POLICY_OUTCOME_H

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
    MQ_OUTCOME_SUPPRESSED, /* all its recipients are suppressed: likewise */
    MQ_OUTCOME_COUNT,

    /* A reply can also mean one of these, which tell nothing about the recipient or the job. */
    MQ_TROUBLE_CONNECT = MQ_OUTCOME_COUNT, /* the session could not be opened */
    MQ_TROUBLE_SESSION,  /* this session ends (421, EOF before the dot); another may work */
    MQ_TROUBLE_SESSIONS, /* too many sessions or too fast: fewer sessions (policy/session_limit.h)
                          */
    MQ_TROUBLE_RELAY,    /* login, quota, configuration: pause the relay */
    MQ_TROUBLE_PROTOCOL  /* close; try once more without pipelining and parameters */
};

/* What happens to a mail if nobody knows whether the relay took it. */
enum mq_on_uncertain { MQ_UNCERTAIN_RETRY, MQ_UNCERTAIN_HOLD };

#endif
