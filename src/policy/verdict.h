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
#define MQ_STAGE_NAMES "connect mail rcpt data dot" /* in this order */

struct mq_rule;
struct mq_rules; /* policy/rules.h */

struct mq_verdict {
    enum mq_outcome outcome;
    int wait_s;     /* how long the reply asks to wait; 0: it does not say */
    bool throttled; /* deferred for wait_s, in words that can mean this mail or all mail. If several
                       mails in a row are throttled and none is accepted, they mean all mail */
    const struct mq_rule *rule; /* that decided; NULL: the table */
    int row;                    /* that decided, if no rule did */
};

/* `rules` stand before the table; NULL: none. `host` is the relay's. `reply` is NULL or has code 0
 * if the connection ended or timed out at that stage. The basic code wins over a contradicting
 * enhanced code. MQ_OUTCOME_DELIVERED: the command was accepted, also by 354 at DATA.
 * MQ_OUTCOME_RELEASED: too many recipients in this transaction. */
struct mq_verdict mq_verdict_decide(const struct mq_rules *rules, const char *host,
                                    enum mq_stage stage, const struct mq_reply *reply);

/* ---- for rules, and for people ---- */

/* An outcome's name as a verdict: "deferred"; NULL: it is not one. */
const char *mq_verdict_name(enum mq_outcome outcome);
/* The stages at which a rule may give this verdict, as bits 1 << enum mq_stage. */
unsigned mq_verdict_stages(enum mq_outcome outcome);
bool mq_verdict_waits(enum mq_outcome outcome); /* whether a rule may give it a pause */
#define MQ_RULE_VERDICTS \
    "next, refused, deferred, denied, unexplained, connect, session, sessions, relay and protocol"

#define MQ_VERDICT_ROW_MAX 200
/* Describes a row of the table as "stages | codes | enhanced | text | verdict". Returns false
 * after the last row. */
bool mq_verdict_row(int row, char out[MQ_VERDICT_ROW_MAX]);

#endif
