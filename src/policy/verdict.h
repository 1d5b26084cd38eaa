/* What a relay's reply means for the mail: the one table in which that is decided. */
#ifndef MQ_POLICY_VERDICT_H
#define MQ_POLICY_VERDICT_H

#include "policy/reply.h"

enum mq_stage {
    MQ_STAGE_CONNECT, /* connect, greeting, EHLO, STARTTLS, AUTH */
    MQ_STAGE_MAIL,
    MQ_STAGE_RCPT,
    MQ_STAGE_DATA,
    MQ_STAGE_DOT
};

enum mq_verdict {
    MQ_VERDICT_ACCEPTED,
    MQ_VERDICT_UNCERTAIN,        /* after the dot, no complete reply: nobody knows */
    MQ_VERDICT_CONNECT_TROUBLE,  /* the session could not be opened */
    MQ_VERDICT_SESSION_TROUBLE,  /* this session ends (421, EOF before the dot); another may work */
    MQ_VERDICT_RELAY_TROUBLE,    /* login, quota, configuration: pause the relay */
    MQ_VERDICT_NEXT_TRANSACTION, /* too many recipients: this one goes in another transaction */
    MQ_VERDICT_REFUSED,          /* this recipient, for good */
    MQ_VERDICT_UNEXPLAINED,      /* refused, and no word says whether for the recipient's sake or
                                    for ours */
    MQ_VERDICT_PROTOCOL_ERROR,   /* close; once more without pipelining and parameters */
    MQ_VERDICT_DENIED,           /* by policy: try later */
    MQ_VERDICT_TRY_LATER
};

/* reply NULL or code 0: the connection ended or timed out at that stage. The basic code wins over
 * a contradicting enhanced code. 354 at DATA is MQ_VERDICT_ACCEPTED. */
enum mq_verdict mq_verdict_decide(enum mq_stage stage, const struct mq_reply *reply);

#endif
