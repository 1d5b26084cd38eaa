/* Decides what a mail API's answer means for the mail, as verdict.h does for SMTP. Only the table
 * in http_verdict.c decides that. */
#ifndef MQ_POLICY_HTTP_VERDICT_H
#define MQ_POLICY_HTTP_VERDICT_H

#include <stdbool.h>

#include "core/buffer.h"
#include "policy/outcome.h"

#define MQ_HTTP_TEXT_MAX 256

enum mq_http_service { MQ_HTTP_SES = 1, MQ_HTTP_MAILGUN = 2, MQ_HTTP_GRAPH = 4, MQ_HTTP_GMAIL = 8 };

struct mq_http_answer {
    int status;                  /* 0: no answer came, or none that can be read */
    bool whole;                  /* the whole request may have left before it came */
    bool is_receipt;             /* of a 2xx: it says that the API has the mail */
    char code[64];               /* the API's own word for an error; "" none */
    char text[MQ_HTTP_TEXT_MAX]; /* its words */
};

/* MQ_OUTCOME_DELIVERED: the API has the mail. MQ_TROUBLE_SESSION: the mail was not taken, but
 * another connection may do. MQ_TROUBLE_RELAY: key, quota, configuration. Never MQ_TROUBLE_CONNECT.
 */
enum mq_outcome mq_http_decide(enum mq_http_service service, const struct mq_http_answer *answer);

/* Reads the field Retry-After (RFC 9110, 10.2.3): seconds or a date. Returns seconds from now_s on,
 * at most a day; 0 if it cannot be read or is over. */
int mq_http_retry_after_s(struct mq_str value, int64_t now_s);

#endif
