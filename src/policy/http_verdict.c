/* The table from a mail API's answer to its verdict. The codes are those of the APIs' public
 * documentation. */
#include "policy/http_verdict.h"

#include <stdio.h>
#include <string.h>
#include <time.h>

#include "core/ascii.h"
#include "core/clock.h"
#include "policy/reply.h"

#define SES     MQ_HTTP_SES
#define MAILGUN MQ_HTTP_MAILGUN
#define GRAPH   MQ_HTTP_GRAPH
#define GMAIL   MQ_HTTP_GMAIL
#define ALL     (SES | MAILGUN | GRAPH | GMAIL)

struct row {
    unsigned services;
    int low, high;      /* status */
    const char *code;   /* as the API's code begins; NULL: any */
    const char *phrase; /* lower case, in the API's own words; NULL: any */
    enum mq_outcome verdict;
};

/* The first row that matches decides. Statuses of 200 … 299 and 0 do not come here. */
static const struct row rows[] = {
    /* A redirect is not followed: it would hand the key to another host. */
    {ALL, 300, 399, NULL, NULL, MQ_TROUBLE_RELAY},

    /* The account: suspended, paused, throttled; a key that is wrong, over, or may not send. */
    {SES, 400, 499, "AccountSuspended", NULL, MQ_TROUBLE_RELAY},
    {SES, 400, 499, "SendingPaused", NULL, MQ_TROUBLE_RELAY},
    {SES, 400, 499, "LimitExceeded", NULL, MQ_TROUBLE_RELAY},
    {SES, 400, 499, "TooManyRequests", NULL, MQ_TROUBLE_RELAY},
    {SES, 400, 499, "Throttling", NULL, MQ_TROUBLE_RELAY},
    {SES, 400, 499, "ExpiredToken", NULL, MQ_TROUBLE_RELAY},
    {SES, 400, 499, "UnrecognizedClient", NULL, MQ_TROUBLE_RELAY},
    {SES, 400, 499, "InvalidClientTokenId", NULL, MQ_TROUBLE_RELAY},
    {SES, 400, 499, "InvalidSignature", NULL, MQ_TROUBLE_RELAY},
    {SES, 400, 499, "IncompleteSignature", NULL, MQ_TROUBLE_RELAY},
    {SES, 400, 499, "MissingAuthentication", NULL, MQ_TROUBLE_RELAY},
    {SES, 400, 499, "AccessDenied", NULL, MQ_TROUBLE_RELAY},
    {SES, 400, 499, "NotAuthorized", NULL, MQ_TROUBLE_RELAY},
    {SES, 400, 499, "RequestExpired", NULL, MQ_TROUBLE_RELAY}, /* our clock */
    {SES, 400, 499, "NotFound", NULL, MQ_TROUBLE_RELAY},       /* the configuration set */
    {GRAPH, 400, 499, "ErrorExceededMessageLimit", NULL, MQ_TROUBLE_RELAY},
    {GRAPH, 400, 499, "ErrorMessageSubmissionBlocked", NULL, MQ_TROUBLE_RELAY},
    {GRAPH, 400, 499, "ErrorQuotaExceeded", NULL, MQ_TROUBLE_RELAY},
    {GMAIL, 400, 400, "failedPrecondition", NULL, MQ_TROUBLE_RELAY}, /* no mailbox */

    /* This mail's sender is refused, perhaps until it is verified. */
    {SES, 400, 400, "MailFromDomainNotVerified", NULL, MQ_OUTCOME_DENIED},
    {SES, 400, 400, "MessageRejected", "not verified", MQ_OUTCOME_DENIED},
    {GRAPH, 403, 403, "ErrorSendAsDenied", NULL, MQ_OUTCOME_DENIED},

    /* The API's server, while it answers with the status of a wrong request. */
    {SES, 400, 400, "ConcurrentModification", NULL, MQ_OUTCOME_DEFERRED},
    {GRAPH, 400, 499, "ErrorServerBusy", NULL, MQ_TROUBLE_RELAY},
    {GRAPH, 400, 499, "ErrorMailboxStoreUnavailable", NULL, MQ_OUTCOME_DEFERRED},
    {GRAPH, 400, 499, "ErrorInternalServerTransientError", NULL, MQ_OUTCOME_DEFERRED},
    {GRAPH, 400, 499, "ErrorTimeoutExpired", NULL, MQ_OUTCOME_DEFERRED},

    {ALL, 400, 400, NULL, NULL, MQ_OUTCOME_REFUSED},
    {ALL, 413, 413, NULL, NULL, MQ_OUTCOME_REFUSED}, /* too large */
    {ALL, 422, 422, NULL, NULL, MQ_OUTCOME_REFUSED},

    {ALL, 401, 401, NULL, NULL, MQ_TROUBLE_RELAY},
    {ALL, 403, 405, NULL, NULL, MQ_TROUBLE_RELAY}, /* also an address that the API does not have */
    {ALL, 407, 407, NULL, NULL, MQ_TROUBLE_RELAY},
    {ALL, 410, 411, NULL, NULL, MQ_TROUBLE_RELAY},
    {ALL, 415, 415, NULL, NULL, MQ_TROUBLE_RELAY},
    {ALL, 429, 429, NULL, NULL, MQ_TROUBLE_RELAY},

    /* The server did not wait for the whole request, or looks at no early data. */
    {ALL, 408, 408, NULL, NULL, MQ_TROUBLE_SESSION},
    {ALL, 421, 421, NULL, NULL, MQ_TROUBLE_SESSION},
    {ALL, 425, 425, NULL, NULL, MQ_TROUBLE_SESSION},

    {ALL, 400, 499, NULL, NULL, MQ_OUTCOME_DENIED},
    {ALL, 500, 500, NULL, NULL, MQ_OUTCOME_DEFERRED},
    /* A gateway passed the request on, and got no answer or none that it can read: nobody knows. */
    {ALL, 502, 502, NULL, NULL, MQ_OUTCOME_UNCERTAIN},
    {ALL, 504, 504, NULL, NULL, MQ_OUTCOME_UNCERTAIN},
    {ALL, 500, 599, NULL, NULL, MQ_TROUBLE_RELAY},
};

static bool matches(const struct row *row, enum mq_http_service service,
                    const struct mq_http_answer *answer, const char *words)
{
    return (row->services & service) != 0 && answer->status >= row->low &&
           answer->status <= row->high &&
           (row->code == NULL || mq_text_begins(answer->code, row->code)) &&
           (row->phrase == NULL || mq_reply_says(words, row->phrase));
}

/* A page of a proxy or a firewall on the way: it is not about the mail. */
static bool says_nothing(const struct mq_http_answer *answer)
{
    return answer->code[0] == '\0' && answer->text[0] == '\0';
}

/* What the table says; a status that no API should send tells nothing. */
static enum mq_outcome look_up(enum mq_http_service service, const struct mq_http_answer *answer)
{
    struct mq_reply reply = {.code = 500};
    char words[MQ_REPLY_TEXT_MAX];
    memcpy(reply.text, answer->text, sizeof answer->text);
    mq_reply_own_words(&reply, words);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        if (matches(&rows[i], service, answer, words)) {
            return rows[i].verdict == MQ_OUTCOME_REFUSED && says_nothing(answer) ? MQ_OUTCOME_DENIED
                                                                                 : rows[i].verdict;
        }
    }
    return MQ_OUTCOME_UNCERTAIN;
}

enum mq_outcome mq_http_decide(enum mq_http_service service, const struct mq_http_answer *answer)
{
    enum mq_outcome verdict = MQ_OUTCOME_UNCERTAIN;
    if (answer->status >= 200 && answer->status <= 299) {
        /* A server that thanks for a mail that it cannot have is not the API. */
        return !answer->whole       ? MQ_TROUBLE_RELAY
               : answer->is_receipt ? MQ_OUTCOME_DELIVERED
                                    : MQ_OUTCOME_UNCERTAIN;
    }
    if (answer->status != 0) {
        verdict = look_up(service, answer);
    }
    return verdict == MQ_OUTCOME_UNCERTAIN && !answer->whole ? MQ_TROUBLE_SESSION : verdict;
}

/* ---- Retry-After ---- */

/* Reads "Sun, 06 Nov 1994 08:49:37 GMT" (RFC 9110, 5.6.7; the older forms are not sent). */
static bool parse_date(const char *text, int64_t *utc_s)
{
    static const char months[] = "Jan Feb Mar Apr May Jun Jul Aug Sep Oct Nov Dec";
    char month[4] = "";
    int end = 0;
    struct tm tm = {0};
    int read = sscanf(text, "%*3[A-Za-z], %2d %3[A-Za-z] %4d %2d:%2d:%2d GMT%n", &tm.tm_mday, month,
                      &tm.tm_year, &tm.tm_hour, &tm.tm_min, &tm.tm_sec, &end);
    tm.tm_mon = mq_str_word(mq_str_of(month), months, mq_str_equal);
    tm.tm_year -= 1900;
    if (read != 6 || end == 0 || text[end] != '\0' || tm.tm_mon < 0) {
        return false;
    }
    *utc_s = timegm(&tm);
    return true;
}

int mq_http_retry_after_s(struct mq_str value, int64_t now_s)
{
    char text[40] = "";
    int64_t seconds = 0, until_s = 0;
    value = mq_str_trim(value);
    if (value.len == 0 || value.len >= sizeof text || memchr(value.data, '\0', value.len)) {
        return 0;
    }
    memcpy(text, value.data, value.len);
    if (parse_date(text, &until_s)) {
        seconds = until_s - now_s;
    } else {
        for (const char *p = text; *p != '\0'; p++) {
            if (!mq_is_digit(*p)) {
                return 0;
            }
            seconds = seconds < MQ_DAY_S ? seconds * 10 + (*p - '0') : seconds;
        }
    }
    return seconds < 0 ? 0 : seconds > MQ_DAY_S ? MQ_DAY_S : (int)seconds;
}
