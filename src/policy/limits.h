/* Limits in windows (config key mailLimits): "60/1h, 200/4h per sender, 500/1d mails per relay". */
#ifndef MQ_POLICY_LIMITS_H
#define MQ_POLICY_LIMITS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/buffer.h"
#include "core/error.h"

enum { MQ_LIMITS_MAX = 16, MQ_LIMITS_SLOW = 20, MQ_LIMIT_DAYS_MAX = 31, MQ_SESSIONS_N_MAX = 1000 };
#define MQ_LIMIT_N_MAX INT64_C(1000000000)

/* What has a count of its own. */
enum mq_limit_scope {
    MQ_SCOPE_ALL,
    MQ_SCOPE_RELAY,
    MQ_SCOPE_SENDER, /* the envelope's sender: a mailbox */
    MQ_SCOPE_DOMAIN, /* all mailboxes of a sender's domain together */
    MQ_SCOPE_TO      /* a domain of recipients: a mail counts in each of its own */
};

/* At most n recipients, or mails, in any length_s seconds. */
struct mq_limit {
    int64_t n;
    int64_t length_s;
    bool mails;
    bool slow;  /* of a domain that is slowed down: queue/config/slow.h */
    bool today; /* of mailWarmup: tomorrow it is higher */
    enum mq_limit_scope scope;
    struct mq_str only; /* the relay, mailbox or "@domain" that it is for; empty: any */
    struct mq_str text; /* as written */
};

struct mq_limits {
    /* Those of mailLimits, of mailWarmup, and of domains that are slowed down. */
    struct mq_limit items[2 * MQ_LIMITS_MAX + MQ_LIMITS_SLOW];
    size_t count;
};

/* Parses limits, with commas between them; an empty text is none. The views point into `text`. An
 * error has MQ_INVALID and says what is wrong; *out is then not usable. */
enum mq_status mq_limits_parse(struct mq_str text, struct mq_limits *out, struct mq_error *err);
/* Parses the sessions of domains: "5 to @example.net, 20 per recipient domain" (config key
 * mailDomainSessions). As above; n is their number. */
enum mq_status mq_sessions_parse(struct mq_str text, struct mq_limits *out, struct mq_error *err);
/* How many a domain has, which begins with an @; 0: any number. A rule that names it comes first.
 */
int64_t mq_sessions_to(const struct mq_limits *sessions, const char *domain);
/* Adds limits. Of two for one window, the lower one stays. */
void mq_limits_add(struct mq_limits *limits, const struct mq_limits *more);
/* Whether the limit holds for mail from this sender to this relay (NULL: not known), and does not
 * depend on recipients. If so, *who says whose count it is: empty if it is for all. */
bool mq_limit_holds(const struct mq_limit *limit, const char *relay, const char *from,
                    struct mq_str *who);
/* Whether it is a limit of this recipient's domain. If so, *who is that, with the @ before it. */
bool mq_limit_holds_to(const struct mq_limit *limit, const char *recipient, struct mq_str *who);

#endif
