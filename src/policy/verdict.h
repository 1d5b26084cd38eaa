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

struct mq_verdict {
    enum mq_outcome outcome;
    int wait_s;     /* how long the reply asks to wait; 0: it does not say */
    bool throttled; /* deferred for wait_s, in words that fit all mail as well as this one: if
                       several mails in a row are, and none is accepted, the relay is meant */
};

/* `reply` is NULL or has code 0 if the connection ended or timed out at that stage. The basic code
 * wins over a contradicting enhanced code. MQ_OUTCOME_DELIVERED: the command was accepted, also by
 * 354 at DATA. MQ_OUTCOME_RELEASED: too many recipients in this transaction. */
struct mq_verdict mq_verdict_decide(enum mq_stage stage, const struct mq_reply *reply);

#endif
