/* Decides what a relay's reply means for the mail. Only the table in verdict.c decides that. */
#ifndef MQ_POLICY_VERDICT_H
#define MQ_POLICY_VERDICT_H

#include "policy/outcome.h"
#include "policy/reply.h"

enum mq_stage {
    MQ_STAGE_CONNECT, /* connect, greeting, EHLO, STARTTLS, AUTH */
    MQ_STAGE_MAIL,
    MQ_STAGE_RCPT,
    MQ_STAGE_DATA,
    MQ_STAGE_DOT
};

/* The first verdicts are a recipient's outcomes and have the same values. */
enum mq_verdict {
    MQ_VERDICT_NEXT_TRANSACTION = MQ_OUTCOME_RELEASED, /* too many recipients in this transaction */
    MQ_VERDICT_ACCEPTED = MQ_OUTCOME_DELIVERED,
    MQ_VERDICT_REFUSED = MQ_OUTCOME_REFUSED, /* this recipient is refused for good */
    MQ_VERDICT_TRY_LATER = MQ_OUTCOME_DEFERRED,
    MQ_VERDICT_DENIED = MQ_OUTCOME_DENIED,           /* refused by policy: try later */
    MQ_VERDICT_UNCERTAIN = MQ_OUTCOME_UNCERTAIN,     /* after the dot, no complete reply */
    MQ_VERDICT_UNEXPLAINED = MQ_OUTCOME_UNEXPLAINED, /* refused; the reply does not tell if the
                                                        recipient or we caused it */

    MQ_VERDICT_CONNECT_TROUBLE = MQ_OUTCOME_RECIPIENTS, /* the session could not be opened */
    MQ_VERDICT_SESSION_TROUBLE, /* this session ends (421, EOF before the dot); another may work */
    MQ_VERDICT_RELAY_TROUBLE,   /* login, quota, configuration: pause the relay */
    MQ_VERDICT_PROTOCOL_ERROR   /* close; try once more without pipelining and parameters */
};

/* `reply` is NULL or has code 0 if the connection ended or timed out at that stage. The basic code
 * wins over a contradicting enhanced code. 354 at DATA is MQ_VERDICT_ACCEPTED. */
enum mq_verdict mq_verdict_decide(enum mq_stage stage, const struct mq_reply *reply);

#endif
