/* The names of verdicts and stages, as tests print them. */
#include "verdict_names.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

const char *verdict_name(enum mq_outcome verdict)
{
    static const char *const names[] = {
        [MQ_OUTCOME_DELIVERED] = "accepted",
        [MQ_OUTCOME_UNCERTAIN] = "uncertain",
        [MQ_TROUBLE_CONNECT] = "connect trouble",
        [MQ_TROUBLE_SESSION] = "session trouble",
        [MQ_TROUBLE_SESSIONS] = "fewer sessions",
        [MQ_TROUBLE_RELAY] = "relay trouble",
        [MQ_OUTCOME_RELEASED] = "next transaction",
        [MQ_OUTCOME_REFUSED] = "refused",
        [MQ_OUTCOME_UNEXPLAINED] = "unexplained",
        [MQ_TROUBLE_PROTOCOL] = "protocol error",
        [MQ_OUTCOME_DENIED] = "denied",
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

struct mq_verdict verdict_of_line(enum mq_stage stage, const char *line)
{
    struct mq_reply_reader reader;
    struct mq_reply reply = {0};
    struct mq_error err;
    bool complete = false;
    char text[1024];
    if (line[0] == '\0') {
        return mq_verdict_decide(NULL, "", stage, NULL);
    }
    int n = snprintf(text, sizeof text, "%s\r\n", line);
    struct mq_str data = {text, (size_t)n};
    memset(&reader, 0, sizeof reader);
    assert_int_equal(mq_reply_read(&reader, &data, &complete, &reply, &err), MQ_OK);
    assert_true(complete);
    return mq_verdict_decide(NULL, "", stage, &reply);
}

void check_samples(const struct sample *samples, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        enum mq_outcome got = verdict_of_line(samples[i].stage, samples[i].line).outcome;
        if (got != samples[i].verdict) {
            fail_msg("%s \"%s\": %s, expected %s", stage_name(samples[i].stage), samples[i].line,
                     verdict_name(got), verdict_name(samples[i].verdict));
        }
    }
}
