/* The verdicts' names, and at which stages a rule of a file may give them. They are apart from the
 * table because the parser of rules needs them, and the table asks the rules. */
#include "policy/verdict.h"

#include <stddef.h>

#define ON(stage) (1U << (stage))
#define RCPT      ON(MQ_STAGE_RCPT)
#define CONNECT   ON(MQ_STAGE_CONNECT)
#define ANY       (ON(MQ_STAGE_MAIL) | RCPT | ON(MQ_STAGE_DATA) | ON(MQ_STAGE_DOT))

/* The verdicts, and the stages at which a rule may give them. */
static const struct {
    const char *name;
    unsigned stages;
    bool waits;
} kinds[MQ_TROUBLE_PROTOCOL + 1] = {
    [MQ_OUTCOME_DELIVERED] = {"accepted", 0, false},
    [MQ_OUTCOME_UNCERTAIN] = {"uncertain", 0, false},
    [MQ_OUTCOME_RELEASED] = {"next", RCPT, false},
    [MQ_OUTCOME_REFUSED] = {"refused", ANY, false},
    [MQ_OUTCOME_DEFERRED] = {"deferred", ANY, true},
    [MQ_OUTCOME_DENIED] = {"denied", ANY, false},
    [MQ_OUTCOME_UNEXPLAINED] = {"unexplained", RCPT, false},
    [MQ_TROUBLE_CONNECT] = {"connect", CONNECT, true},
    [MQ_TROUBLE_SESSION] = {"session", ANY, false},
    [MQ_TROUBLE_SESSIONS] = {"sessions", ANY | CONNECT, true},
    [MQ_TROUBLE_RELAY] = {"relay", ANY | CONNECT, true},
    [MQ_TROUBLE_PROTOCOL] = {"protocol", ANY, false},
};

const char *mq_verdict_name(enum mq_outcome outcome)
{
    return kinds[outcome].name;
}

unsigned mq_verdict_stages(enum mq_outcome outcome)
{
    return kinds[outcome].stages;
}

bool mq_verdict_waits(enum mq_outcome outcome)
{
    return kinds[outcome].waits;
}
