/* The table from a reply to its verdict, and the phrases that relays use. test_verdict.c has the
 * same rules as prose. */
#include "policy/verdict.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "policy/rules.h"

#define ON(stage)  (1u << (stage))
#define MAIL       ON(MQ_STAGE_MAIL)
#define RCPT       ON(MQ_STAGE_RCPT)
#define DATA       ON(MQ_STAGE_DATA)
#define DOT        ON(MQ_STAGE_DOT)
#define CONNECT    ON(MQ_STAGE_CONNECT)
#define OPEN       (MAIL | RCPT | DATA) /* the session is open, the dot not sent */
#define AFTER_MAIL (RCPT | DATA | DOT)
#define ANY        (OPEN | DOT)

/* What a row requires of the enhanced code. A code whose class contradicts the basic code counts as
 * absent. */
enum wanted {
    WHATEVER,
    BARE,    /* no enhanced code */
    SUBJECT, /* x.subject.*, except for the details in `except` */
    EXACT    /* x.subject.detail */
};

/* Tests of a reply's text. `words` is that text after mq_reply_own_words(). */
static bool is_sender_limit(const struct mq_reply *reply, const char *words);
static bool is_too_many(const struct mq_reply *reply, const char *words);
static bool is_crowded(const struct mq_reply *reply, const char *words);
static bool names_time(const struct mq_reply *reply, const char *words);
static bool throttles_us(const struct mq_reply *reply, const char *words);

struct row {
    unsigned stages;
    int low, high; /* basic codes */
    enum wanted wanted;
    int subject, detail;
    int except[3];                                                 /* zeros: none */
    bool (*says)(const struct mq_reply *reply, const char *words); /* NULL: any text */
    enum mq_outcome verdict;
};

/* The first row that matches decides. */
static const struct row rows[] = {
    {.stages = CONNECT, .low = 200, .high = 299, .verdict = MQ_OUTCOME_DELIVERED},
    {CONNECT, 400, 599, WHATEVER, 0, 0, {0}, is_crowded, MQ_TROUBLE_SESSIONS},
    {.stages = CONNECT, .low = 0, .high = 999, .verdict = MQ_TROUBLE_CONNECT},

    {.stages = DOT, .low = 200, .high = 299, .verdict = MQ_OUTCOME_DELIVERED},
    /* No complete reply, or a code that RFC 5321 does not allow here: nobody knows. */
    {.stages = DOT, .low = 0, .high = 399, .verdict = MQ_OUTCOME_UNCERTAIN},

    {.stages = OPEN, .low = 0, .high = 0, .verdict = MQ_TROUBLE_SESSION},

    /* Too many sessions at a time, whatever the code: 432 4.3.2 (Exchange Online, at DATA or the
     * dot), 421 (nearly all), 550 5.5.0 (Orange). */
    {ANY, 400, 599, WHATEVER, 0, 0, {0}, is_crowded, MQ_TROUBLE_SESSIONS},
    /* 421 ends this session. It also ends others, or is about our rate, if it says so: a sender's
     * limit (Exchange: 421 4.4.2 "submission rate"), RFC 3463's "mail system congestion" (Gmail,
     * Exchange: 421 4.4.5 "server busy"), Gmail's unusual rate (421 4.7.28). Fewer sessions are
     * slower, too. */
    {ANY, 421, 421, WHATEVER, 0, 0, {0}, is_sender_limit, MQ_TROUBLE_SESSIONS},
    {ANY, 421, 421, EXACT, 4, 5, {0}, NULL, MQ_TROUBLE_SESSIONS},
    {ANY, 421, 421, EXACT, 7, 28, {0}, NULL, MQ_TROUBLE_SESSIONS},
    /* A relay that names a time means all sessions. Other 421s are this session's own end: it was
     * idle, has carried enough mails, made errors, or the server stops. */
    {ANY, 421, 421, WHATEVER, 0, 0, {0}, names_time, MQ_TROUBLE_RELAY},
    {.stages = ANY, .low = 421, .high = 421, .verdict = MQ_TROUBLE_SESSION},

    {.stages = MAIL | RCPT, .low = 200, .high = 299, .verdict = MQ_OUTCOME_DELIVERED},
    {.stages = DATA, .low = 354, .high = 354, .verdict = MQ_OUTCOME_DELIVERED},

    /* RFC 4954, section 6: authentication required, too weak, invalid, encryption required. */
    {.stages = ANY, .low = 530, .high = 530, .verdict = MQ_TROUBLE_RELAY},
    {.stages = ANY, .low = 534, .high = 535, .verdict = MQ_TROUBLE_RELAY},
    {.stages = ANY, .low = 538, .high = 538, .verdict = MQ_TROUBLE_RELAY},
    {ANY, 454, 454, EXACT, 7, 0, {0}, NULL, MQ_TROUBLE_RELAY},
    /* RFC 3463: mail system full, system not accepting network messages. */
    {ANY, 400, 599, EXACT, 3, 1, {0}, NULL, MQ_TROUBLE_RELAY},
    {ANY, 400, 599, EXACT, 3, 2, {0}, NULL, MQ_TROUBLE_RELAY},
    {MAIL, 452, 452, BARE, 0, 0, {0}, NULL, MQ_TROUBLE_RELAY},
    {ANY, 550, 550, EXACT, 4, 5, {0}, NULL, MQ_TROUBLE_RELAY}, /* Gmail's daily limit */
    {ANY, 400, 599, WHATEVER, 0, 0, {0}, is_sender_limit, MQ_TROUBLE_RELAY},

    /* RFC 5321, 4.5.3.1.10: 552 is to be taken as 452 here. Exim says 452 without enhanced code. */
    {RCPT, 452, 452, EXACT, 5, 3, {0}, NULL, MQ_OUTCOME_RELEASED},
    {RCPT, 452, 452, BARE, 0, 0, {0}, is_too_many, MQ_OUTCOME_RELEASED},
    {RCPT, 552, 552, EXACT, 5, 3, {0}, NULL, MQ_OUTCOME_RELEASED},
    {RCPT, 552, 552, WHATEVER, 0, 0, {0}, is_too_many, MQ_OUTCOME_RELEASED},

    /* Bad address, bad mailbox, message too big, bad content. Other rows have: bad sender (5.1.7,
     * 5.1.8), the sender's daily limit (5.1.90, Exchange Online), mailbox full (5.2.2). */
    {ANY, 500, 599, SUBJECT, 1, 0, {7, 8, 90}, NULL, MQ_OUTCOME_REFUSED},
    {ANY, 500, 599, SUBJECT, 2, 0, {2}, NULL, MQ_OUTCOME_REFUSED},
    {ANY, 500, 599, EXACT, 3, 4, {0}, NULL, MQ_OUTCOME_REFUSED},
    {ANY, 500, 599, SUBJECT, 6, 0, {0}, NULL, MQ_OUTCOME_REFUSED},
    /* The text may say more, see explain(). */
    {RCPT, 550, 551, BARE, 0, 0, {0}, NULL, MQ_OUTCOME_UNEXPLAINED},
    {RCPT, 553, 553, BARE, 0, 0, {0}, NULL, MQ_OUTCOME_UNEXPLAINED},

    {.stages = ANY, .low = 500, .high = 504, .verdict = MQ_TROUBLE_PROTOCOL},
    {.stages = ANY, .low = 555, .high = 555, .verdict = MQ_TROUBLE_PROTOCOL},

    /* Mailbox full, or the sender is refused: later attempts may succeed. */
    {ANY, 500, 599, EXACT, 2, 2, {0}, NULL, MQ_OUTCOME_DEFERRED},
    {MAIL, 500, 599, EXACT, 1, 7, {0}, NULL, MQ_OUTCOME_DEFERRED},
    {MAIL, 500, 599, EXACT, 1, 8, {0}, NULL, MQ_OUTCOME_DEFERRED},
    {MAIL, 550, 551, BARE, 0, 0, {0}, NULL, MQ_OUTCOME_DEFERRED},
    {MAIL, 553, 553, BARE, 0, 0, {0}, NULL, MQ_OUTCOME_DEFERRED},

    {.stages = ANY, .low = 500, .high = 599, .verdict = MQ_OUTCOME_DENIED},

    /* A time that the relay names. At MAIL no recipient is known yet, so it is about us, and all
     * mail waits. Later it is about us only if it speaks of our rate, our host or its own load. All
     * other words may be greylisting, which only this mail passes by waiting: if all mail waited,
     * one mail in each pause would get through. But if the replies to several mails in a row are
     * like that, and none is accepted, they are about us after all. */
    {MAIL, 400, 499, WHATEVER, 0, 0, {0}, names_time, MQ_TROUBLE_RELAY},
    {AFTER_MAIL, 400, 499, WHATEVER, 0, 0, {0}, throttles_us, MQ_TROUBLE_RELAY},
    {AFTER_MAIL, 400, 499, WHATEVER, 0, 0, {0}, names_time, MQ_OUTCOME_DEFERRED},
    {.stages = ANY, .low = 400, .high = 499, .verdict = MQ_OUTCOME_DEFERRED},
    /* A code that servers must not send here: replies and commands are out of step. */
    {.stages = ANY, .low = 0, .high = 999, .verdict = MQ_TROUBLE_PROTOCOL},
};

#define ROWS ((int)(sizeof rows / sizeof *rows))

/* Phrases that servers in use send when this sender has reached a limit. They are searched for in
 * mq_reply_own_words() only: an address that contains one must not stop the queue. */
static const char *const sender_limits[] = {
    /* Gmail, Google Workspace, Mailgun, SendGrid */
    "sending limit", "sending quota", "smtp relay limit", "messaging limits", "credits exceeded",
    /* Amazon SES, Exchange, IONOS, StartMail */
    "sending rate", "throttling failure", "daily message quota", "submission rate",
    "submission quota", "send limit exceeded", "mail limit has been reached",
    /* Postfix, postfwd, policyd, Exim, HestiaCP, DirectAdmin */
    "too much mail from", "too many recipients from", "messages per hour", "recipients per hour",
    "message count quota", "sender rate", "rate overlimit", "sending too much", "sending too many",
    "sent too many",
    /* cPanel, Plesk, hosters and SMTP services */
    "emails per hour", "mails per hour", "emails per day", "messages per day",
    "defers and failures per hour", "allowed outgoing messages", "outgoing email quota",
    "outgoing mail quota", "exceeded hour limit", "ratelimit exceeded", "you have exceeded your",
    "you have reached your", NULL};
/* These can also be about the recipient's mailbox or one message, or be a local part that the relay
 * repeats without its domain. They count only without a word of `about_others`: one full mailbox
 * must not stop the queue. From Exim, Exchange Online, mailcow, rspamd, OVH, policyd and others. */
static const char *const ambiguous_limits[] = {"ratelimit",         "submissionquotaexceeded",
                                               "hourly limit",      "hourly quota",
                                               "daily limit",       "daily quota",
                                               "rate limit",        "rate exceeded",
                                               "too many messages", "too many emails",
                                               "quota exceeded",    NULL};
static const char *const about_others[] = {
    "mailbox", "recipient",   "user",       "inbox",   "storage", "disk",      "size", "connection",
    "session", "unrouteable", "unroutable", "unknown", "no such", "not exist", NULL,
};

/* Phrases about the number of sessions, or of new ones in a time. Not "too many" alone: messages,
 * recipients or errors in one session are that session's. */
static const char *const crowds[] = {
    /* Postfix, Exim, Sendmail, postscreen */
    "too many connections", "too many concurrent", "too many new tls", "too many open conn",
    "connection rate", "server ports are busy",
    /* Exchange and Exchange Online, Dovecot, Gmail's login */
    "concurrent conn", "number of concurrent", "sender thread limit", "maximum number of conn",
    "too many login",
    /* providers and hosters: Comcast, Orange, QQ and others */
    "too many sessions", "too many smtp", "too many simultaneous", "too many parallel",
    "connection limit", "connections limit", "concurrency limit", "concurrent session",
    "connection frequency", NULL};

/* Words of a wait that is about us or about the relay itself, and not about this mail. */
static const char *const throttles[] = {"throttl",  "slow down",  "too fast",  "too quickly",
                                        "too many", "too busy",   "overload",  "load too high",
                                        "your ip",  "ip address", "your host", "your server",
                                        "busy",     NULL};
/* Words of a wait that only this mail needs, because its sender, its recipient and our host are new
 * together. */
static const char *const greylists[] = {"greylist",  "graylist",  "grey list", "gray list",
                                        "grey-list", "gray-list", "greytrap",  NULL};

/* Words of refusals without an enhanced code, as servers in use write them. These are about the
 * sender: any other recipient would be refused too. */
static const char *const about_us[] = {
    "relay",      "rcpthosts", "authenti",   "authoriz",   "authoris",    "log in",      "login",
    "rbl",        "dnsbl",     "blacklist",  "black list", "blocklist",   "block list",  "spamhaus",
    "reputation", "your ip",   "ip address", "your host",  "your server", "reverse dns", "rdns",
    "ptr record", "sender",    "helo",       "ehlo",       "spf",         NULL};
/* These are about the recipient. */
static const char *const about_them[] = {
    "mailbox", "recipient", "user",      "inbox",     "unrouteable", "unroutable", "unknown",
    "no such", "not exist", "not known", "not found", "address",     "account",    NULL};

static bool says_any(const char *words, const char *const *phrases)
{
    while (*phrases && !mq_reply_says(words, *phrases)) {
        phrases++;
    }
    return *phrases != NULL;
}

/* Finds the words of another server, NULL: none. A relay quotes them if it asks the recipient's own
 * server: "host mx.example said: …" (Postfix), "Response: …" (Exim). */
static char *others_words(const char *words)
{
    char *said = strcasestr(words, " said: ");
    char *response = strcasestr(words, "response: ");
    return said == NULL || (response != NULL && response < said) ? response : said;
}

/* Whether the relay's own words have one of the phrases. */
static bool says_itself(const char *words, const char *const *phrases)
{
    char own[MQ_REPLY_TEXT_MAX];
    char *others = others_words(words);
    size_t len = others != NULL ? (size_t)(others - words) : strlen(words);
    memcpy(own, words, len);
    own[len] = '\0';
    return says_any(own, phrases);
}

/* Whether the enhanced code is about an address (x.1.*), a mailbox (x.2.*) or the recipients of one
 * message (x.5.3). A code whose class contradicts the basic code counts here, too. */
static bool about_recipient(const struct mq_reply *reply)
{
    int subject = reply->enhanced[1];
    int detail = reply->enhanced[2];
    const char *text = reply->text;
    if (reply->enhanced[0] == 0 && (text[0] == '4' || text[0] == '5') && text[1] == '.') {
        char *end = NULL;
        subject = (int)strtol(text + 2, &end, 10);
        detail = *end == '.' ? (int)strtol(end + 1, NULL, 10) : -1;
    }
    return subject == 1 || subject == 2 || (subject == 5 && detail == 3);
}

static bool is_sender_limit(const struct mq_reply *reply, const char *words)
{
    return !about_recipient(reply) &&
           (says_itself(words, sender_limits) ||
            (says_itself(words, ambiguous_limits) && !says_itself(words, about_others)));
}

static bool is_too_many(const struct mq_reply *reply, const char *words)
{
    (void)reply;
    return mq_reply_says(words, "too many recipients");
}

static bool is_crowded(const struct mq_reply *reply, const char *words)
{
    return !about_recipient(reply) && says_itself(words, crowds);
}

static bool names_time(const struct mq_reply *reply, const char *words)
{
    return mq_reply_retry_after_s(reply) > 0 && !about_recipient(reply) &&
           others_words(words) == NULL && !says_any(words, greylists);
}

static bool throttles_us(const struct mq_reply *reply, const char *words)
{
    return names_time(reply, words) && says_any(words, throttles) && !says_any(words, about_others);
}

static bool enhanced_matches(const struct row *row, const struct mq_reply *reply)
{
    bool usable = reply->enhanced[0] != 0 && reply->enhanced[0] == reply->code / 100;
    switch (row->wanted) {
    case WHATEVER:
        return true;
    case BARE:
        return !usable;
    case EXACT:
        return usable && reply->enhanced[1] == row->subject && reply->enhanced[2] == row->detail;
    case SUBJECT:
        break;
    }
    if (!usable || reply->enhanced[1] != row->subject) {
        return false;
    }
    for (size_t i = 0; i < sizeof row->except / sizeof *row->except; i++) {
        if (row->except[i] != 0 && row->except[i] == reply->enhanced[2]) {
            return false;
        }
    }
    return true;
}

/* Returns the subject of an enhanced code as qmail writes it, 7 for "(#5.7.1)"; 0 without one. */
static int subject_in_text(const char *words)
{
    const char *at = strstr(words, "#5.");
    return at != NULL && at[3] >= '1' && at[3] <= '9' && at[4] == '.' ? at[3] - '0' : 0;
}

/* Decides what a refused RCPT without a usable enhanced code is about. If its words do not tell,
 * the worker compares it with the replies for other recipients. */
static enum mq_outcome explain(const struct mq_reply *reply, const char *words)
{
    int subject = subject_in_text(words);
    if (about_recipient(reply) || subject == 1 || subject == 2) {
        return MQ_OUTCOME_REFUSED;
    }
    if (subject == 7 || says_any(words, about_us)) {
        return MQ_OUTCOME_DENIED;
    }
    return says_any(words, about_them) ? MQ_OUTCOME_REFUSED : MQ_OUTCOME_UNEXPLAINED;
}

static bool matches(const struct row *row, enum mq_stage stage, const struct mq_reply *reply,
                    const char *words)
{
    return (row->stages & ON(stage)) != 0 && reply->code >= row->low && reply->code <= row->high &&
           enhanced_matches(row, reply) && (!row->says || row->says(reply, words));
}

/* Returns the first row that matches; the last matches any reply. */
static int find_row(enum mq_stage stage, const struct mq_reply *reply, const char *words)
{
    int i = 0;
    while (i < ROWS - 1 && !matches(&rows[i], stage, reply, words)) {
        i++;
    }
    return i;
}

static void decide_by_table(struct mq_verdict *verdict, enum mq_stage stage,
                            const struct mq_reply *reply, const char *words)
{
    verdict->row = find_row(stage, reply, words);
    const struct row *row = &rows[verdict->row];
    verdict->outcome =
        row->verdict == MQ_OUTCOME_UNEXPLAINED ? explain(reply, words) : row->verdict;
    verdict->throttled = row->verdict == MQ_OUTCOME_DEFERRED && row->says == names_time;
}

struct mq_verdict mq_verdict_decide(const struct mq_rules *rules, const char *host,
                                    enum mq_stage stage, const struct mq_reply *reply)
{
    static const struct mq_reply none;
    char words[MQ_REPLY_TEXT_MAX] = "";
    struct mq_verdict verdict = {.wait_s = 0};
    reply = reply ? reply : &none;
    if (reply->code >= 400) { /* the text of other replies does not matter */
        mq_reply_own_words(reply, words);
        verdict.wait_s = mq_reply_retry_after_s(reply);
        verdict.rule = mq_rules_find(rules, host, stage, reply, words);
    }
    if (verdict.rule == NULL) {
        decide_by_table(&verdict, stage, reply, words);
        return verdict;
    }
    verdict.outcome = verdict.rule->verdict;
    if (verdict.rule->pause_s > 0) {
        verdict.wait_s = verdict.rule->pause_s;
    }
    return verdict;
}

/* ---- for people ---- */

/* What a row's test of the text looks for. */
static const char *text_of(const struct row *row)
{
    static const struct {
        bool (*says)(const struct mq_reply *reply, const char *words);
        const char *text;
    } texts[] = {{is_sender_limit, "a limit of this sender"},
                 {is_too_many, "too many recipients"},
                 {is_crowded, "too many sessions"},
                 {names_time, "a time, no greylisting"},
                 {throttles_us, "a time, and our rate or host or its load"}};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        if (row->says == texts[i].says) {
            return texts[i].text;
        }
    }
    return "any";
}

static void write_stages(unsigned stages, char *out, size_t size)
{
    struct mq_str names = MQ_STR(MQ_STAGE_NAMES);
    size_t used = 0;
    out[0] = '\0';
    for (unsigned stage = 0; names.len > 0; stage++) {
        size_t len = strcspn(names.data, " ");
        if ((stages & ON(stage)) != 0) {
            used += (size_t)snprintf(out + used, size - used, "%s%.*s", used > 0 ? ", " : "",
                                     (int)len, names.data);
        }
        len += names.data[len] == ' ';
        names = (struct mq_str){names.data + len, names.len - len};
    }
}

static void write_enhanced(const struct row *row, char *out, size_t size)
{
    size_t used = 0;
    if (row->wanted == WHATEVER || row->wanted == BARE) {
        snprintf(out, size, "%s", row->wanted == BARE ? "none" : "any");
        return;
    }
    if (row->wanted == EXACT) {
        snprintf(out, size, "x.%d.%d", row->subject, row->detail);
        return;
    }
    used = (size_t)snprintf(out, size, "x.%d.*", row->subject);
    for (size_t i = 0; i < 3 && row->except[i] != 0; i++) {
        used += (size_t)snprintf(out + used, size - used, "%s x.%d.%d", i == 0 ? " but not" : ",",
                                 row->subject, row->except[i]);
    }
}

bool mq_verdict_row(int row, char out[MQ_VERDICT_ROW_MAX])
{
    char stages[40], codes[16], enhanced[60];
    if (row < 0 || row >= ROWS) {
        return false;
    }
    const struct row *it = &rows[row];
    write_stages(it->stages, stages, sizeof stages);
    write_enhanced(it, enhanced, sizeof enhanced);
    if (it->high == 0) {
        snprintf(codes, sizeof codes, "no reply");
    } else if (it->low == it->high) {
        snprintf(codes, sizeof codes, "%d", it->low);
    } else {
        snprintf(codes, sizeof codes, "%d–%d", it->low, it->high);
    }
    snprintf(out, MQ_VERDICT_ROW_MAX, "%s | %s | %s | %s | %s", stages, codes, enhanced,
             text_of(it), mq_verdict_name(it->verdict));
    return true;
}
