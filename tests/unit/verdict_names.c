/* The names of verdicts and stages, as tests print them. */
#include "verdict_names.h"

const char *verdict_name(enum mq_outcome verdict)
{
    static const char *const names[] = {
        [MQ_OUTCOME_DELIVERED] = "accepted",      [MQ_OUTCOME_UNCERTAIN] = "uncertain",
        [MQ_TROUBLE_CONNECT] = "connect trouble", [MQ_TROUBLE_SESSION] = "session trouble",
        [MQ_TROUBLE_RELAY] = "relay trouble",     [MQ_OUTCOME_RELEASED] = "next transaction",
        [MQ_OUTCOME_REFUSED] = "refused",         [MQ_OUTCOME_UNEXPLAINED] = "unexplained",
        [MQ_TROUBLE_PROTOCOL] = "protocol error", [MQ_OUTCOME_DENIED] = "denied",
        [MQ_OUTCOME_DEFERRED] = "try later",
    };
    return (size_t)verdict < sizeof names / sizeof *names ? names[verdict] : "unknown";
}

const char *stage_name(enum mq_stage stage)
{
    static const char *const names[] = {
        [MQ_STAGE_CONNECT] = "connect", [MQ_STAGE_MAIL] = "MAIL",       [MQ_STAGE_RCPT] = "RCPT",
        [MQ_STAGE_DATA] = "DATA",       [MQ_STAGE_DOT] = "end of data",
    };
    return (size_t)stage < sizeof names / sizeof *names ? names[stage] : "unknown";
}
