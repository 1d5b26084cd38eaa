/* The names of verdicts and stages, as tests print them. */
#include "verdict_names.h"

const char *verdict_name(enum mq_verdict verdict)
{
    static const char *const names[] = {
        [MQ_VERDICT_ACCEPTED] = "accepted",
        [MQ_VERDICT_UNCERTAIN] = "uncertain",
        [MQ_VERDICT_CONNECT_TROUBLE] = "connect trouble",
        [MQ_VERDICT_SESSION_TROUBLE] = "session trouble",
        [MQ_VERDICT_RELAY_TROUBLE] = "relay trouble",
        [MQ_VERDICT_NEXT_TRANSACTION] = "next transaction",
        [MQ_VERDICT_REFUSED] = "refused",
        [MQ_VERDICT_UNEXPLAINED] = "unexplained",
        [MQ_VERDICT_PROTOCOL_ERROR] = "protocol error",
        [MQ_VERDICT_DENIED] = "denied",
        [MQ_VERDICT_TRY_LATER] = "try later",
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
