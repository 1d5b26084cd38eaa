/* The table of config keys, and the parsers of their values. */
#include "queue/config/keys.h"

#include <stdio.h>
#include <string.h>
#include <time.h>

#include "core/ascii.h"
#include "core/error.h"
#include "core/json.h"
#include "mime/address.h"
#include "policy/bucket.h"
#include "policy/hours.h"
#include "policy/limits.h"
#include "policy/types.h"
#include "policy/warmup.h"

#define NUMBER_MAX  1000000000
#define SECONDS_MAX 253402300799LL /* the last second of the year 9999 */

static bool parse_bool(struct mq_str text, int64_t *value)
{
    int word = mq_str_word(text, "0 1 false true no yes off on", mq_str_equal_nocase);
    *value = word & 1;
    return word >= 0;
}

bool mq_config_parse_int(struct mq_str text, int64_t *value)
{
    int64_t sum = 0;
    size_t i = 0;
    text = mq_str_trim(text);
    for (; i < text.len && i < 18 && mq_is_digit(text.data[i]); i++) {
        sum = sum * 10 + (text.data[i] - '0');
    }
    if (i == 0 || i < text.len) {
        return false;
    }
    *value = sum;
    return true;
}

static bool parse_mode(struct mq_str text, int64_t *value)
{
    *value = mq_str_word(text, "average strict", mq_str_equal); /* as enum mq_rate_mode */
    return *value >= 0;
}

/* Parses an offset into seconds east of UTC: nothing, Z, +HH:MM, +HHMM or +HH. */
static bool parse_offset(const char *text, int *seconds)
{
    char sign[2] = "";
    int hour = 0;
    int minute = 0;
    int used = 0;
    if (!*text || strcmp(text, "Z") == 0) {
        return true;
    }
    sscanf(text, "%1[+-]%2d%n", sign, &hour, &used);
    text += used;
    if (used && *text) {
        text += *text == ':';
        used = 0;
        sscanf(text, "%2d%n", &minute, &used);
        text += used;
    }
    *seconds = (*sign == '-' ? -60 : 60) * (hour * 60 + minute);
    return used && !*text && hour >= 0 && hour <= 23 && minute >= 0 && minute <= 59;
}

/* Parses seconds since 1970, or ISO 8601 with "T" or a space. Without an offset it is UTC. */
static bool parse_time(struct mq_str value, int64_t *at_s)
{
    char text[40];
    struct tm given = {0};
    int east = 0;
    int used = 0;
    int n = 0;
    if (mq_config_parse_int(value, at_s)) {
        return true;
    }
    snprintf(text, sizeof text, "%.*s", (int)value.len, value.len ? value.data : "");
    sscanf(text, "%4d-%2d-%2d%n", &given.tm_year, &given.tm_mon, &given.tm_mday, &used);
    if (used && text[used]) {
        sscanf(text + used, "%*1[T ]%2d:%2d%n:%2d%n", &given.tm_hour, &given.tm_min, &n,
               &given.tm_sec, &n);
        used = n ? used + n : 0;
    }
    if (!used || !parse_offset(text + used, &east) || given.tm_year < 1970) {
        return false;
    }
    given.tm_year -= 1900;
    given.tm_mon -= 1;
    struct tm real = given; /* timegm() turns the 30th of February into a day of March */
    *at_s = (int64_t)timegm(&real) - east;
    return real.tm_mon == given.tm_mon && real.tm_mday == given.tm_mday &&
           real.tm_hour == given.tm_hour && real.tm_min == given.tm_min &&
           real.tm_sec == given.tm_sec;
}

static bool parse_redirect(struct mq_str text, int64_t *value)
{
    char address[256];
    /* A domain alone gets a local part for the check. */
    int len = snprintf(address, sizeof address, "%s%.*s", mq_str_begins(text, "@") ? "x" : "",
                       (int)text.len, text.data);
    (void)value;
    return len < (int)sizeof address &&
           mq_address_check((struct mq_str){address, (size_t)len}, "mailRedirectTo", NULL) == MQ_OK;
}

bool mq_config_parse_redirects(struct mq_str list, struct mq_strings *out)
{
    int64_t unused;
    bool ok = true;
    while (ok && list.len > 0) {
        struct mq_str one = mq_str_trim(mq_str_cut_at(&list, ','));
        ok = parse_redirect(one, &unused) && mq_strings_add(out, one);
    }
    return ok;
}

static bool parse_types(struct mq_str text, int64_t *value)
{
    bool but;
    (void)value;
    return mq_types_parse(text, NULL, &but);
}

static bool parse_warmup(struct mq_str text, int64_t *value)
{
    (void)value;
    return mq_warmup_parse(text, NULL, NULL) == MQ_OK;
}

static void why_not_warmup(struct mq_str text, struct mq_error *why)
{
    mq_warmup_parse(text, NULL, why);
}

static bool parse_hours(struct mq_str text, int64_t *value)
{
    (void)value;
    return mq_hours_parse(text, NULL, NULL) == MQ_OK;
}

static void why_not_hours(struct mq_str text, struct mq_error *why)
{
    mq_hours_parse(text, NULL, why);
}

static bool parse_object(struct mq_str text, int64_t *value)
{
    struct mq_strings pairs = {0};
    (void)value;
    bool ok = mq_json_read(text, '{', &pairs) == MQ_OK;
    mq_strings_clear(&pairs);
    return ok;
}

static void why_not_limits(struct mq_str text, struct mq_error *why)
{
    struct mq_limits limits;
    mq_limits_parse(text, &limits, why);
}

static bool parse_limits(struct mq_str text, int64_t *value)
{
    struct mq_limits limits;
    (void)value;
    return mq_limits_parse(text, &limits, NULL) == MQ_OK;
}

static void why_not_sessions(struct mq_str text, struct mq_error *why)
{
    struct mq_limits sessions;
    mq_sessions_parse(text, &sessions, why);
}

static bool parse_sessions(struct mq_str text, int64_t *value)
{
    struct mq_limits sessions;
    (void)value;
    return mq_sessions_parse(text, &sessions, NULL) == MQ_OK;
}

bool mq_config_parse(const struct mq_config_kind *kind, struct mq_str text, int64_t *value)
{
    int64_t parsed = 0;
    if ((kind->parse && !kind->parse(text, &parsed)) || parsed < kind->min || parsed > kind->max) {
        return false;
    }
    *value = parsed;
    return true;
}

void mq_config_why(const struct mq_config_key *key, struct mq_str text, struct mq_error *why)
{
    struct mq_error found = {.text = ""};
    if (key->why) {
        key->why(text, &found);
    }
    mq_error_set(why, MQ_INVALID, NULL, "%s%sallowed values: %s", found.text,
                 found.text[0] ? "; " : "", key->kind->range);
}

#define NUMBERS    " … " MQ_DIGITS(NUMBER_MAX)
#define AMOUNT_MAX ((int64_t)NUMBER_MAX * MQ_BUCKET_UNITS)

static const struct mq_config_kind yes_no = {"bool", "0 | 1", parse_bool, 0, 1};
static const struct mq_config_kind mode = {"enum", "average | strict", parse_mode, 0, 1};
static const struct mq_config_kind number = {"int", "0" NUMBERS, mq_config_parse_int, 0,
                                             NUMBER_MAX};
static const struct mq_config_kind positive = {"int", "1" NUMBERS, mq_config_parse_int, 1,
                                               NUMBER_MAX};
static const struct mq_config_kind days = {"int", "0 … 3650", mq_config_parse_int, 0, 3650};
static const struct mq_config_kind workers = {"int", "1 … 64", mq_config_parse_int, 1, 64};
static const struct mq_config_kind percent = {"int", "0 … 100", mq_config_parse_int, 0, 100};
static const struct mq_config_kind version = {"int", "1 …", mq_config_parse_int, 1, NUMBER_MAX};
static const struct mq_config_kind amount = {"number", "0" NUMBERS, mq_bucket_parse, 0, AMOUNT_MAX};
static const struct mq_config_kind moment = {"time", "UTC seconds | ISO 8601", parse_time, 0,
                                             SECONDS_MAX};
static const struct mq_config_kind redirect = {"text", "address | @domain", parse_redirect, 0, 0};
static const struct mq_config_kind types = {"text", "types, separated by commas", parse_types, 0,
                                            0};
static const struct mq_config_kind warmup = {"text", "DATE: N, N, … [per …]; …", parse_warmup, 0,
                                             0};
static const struct mq_config_kind hours = {"text", "[types:] days times zone; …", parse_hours, 0,
                                            0};
static const struct mq_config_kind limits = {"text", "N/LENGTH, separated by commas", parse_limits,
                                             0, 0};
static const struct mq_config_kind sessions = {"text", "N to @DOMAIN, N per recipient domain",
                                               parse_sessions, 0, 0};
static const struct mq_config_kind object = {"object", "JSON object of strings", parse_object, 0,
                                             0};
static const struct mq_config_kind secret = {"secret", "96 hexadecimal digits", NULL, 0, 0};
static const struct mq_config_kind record = {"object", "JSON object", NULL, 0, 0};

const struct mq_config_key mq_config_keys[MQ_KEY_COUNT] = {
    [MQ_KEY_ENABLED] = {"mailQueueEnabled", &yes_no, "1",
                        "0 stops claims: mail is still accepted into the queue, none is sent.",
                        .in_claims = true},
    [MQ_KEY_MAX_PER_HOUR] = {"mailMaxPerHour", &number, "0",
                             "Recipients that may be handed to the relay in an hour; 0 sets no "
                             "limit.",
                             .in_claims = true},
    [MQ_KEY_BURST] = {"mailBurst", &positive, "max(min(N, 5), ceil(N / 60))",
                      "Recipients that may be sent at once after a quiet time.", .computed = true,
                      .in_claims = true},
    [MQ_KEY_RESERVE] = {"mailReserve", &number, "half the burst",
                        "Recipients of each limit that mail of a priority below 0, such as a "
                        "campaign's, leaves to other mail.",
                        .computed = true, .in_claims = true},
    [MQ_KEY_LIMITS] =
        {"mailLimits", &limits, "",
         "Limits in windows, such as 60/1h, 200/4h, 500/1d: of recipients or mails, for all mail, "
         "or behind each limit \"per relay\", \"per sender\" or \"per recipient domain\".",
         .why = why_not_limits, .in_claims = true},
    [MQ_KEY_DOMAIN_SESSIONS] =
        {"mailDomainSessions", &sessions, "",
         "How many mails to a domain of recipients each run sends at a time: 5 to @example.net, 20 "
         "per recipient domain.",
         .why = why_not_sessions, .in_claims = true},
    [MQ_KEY_RATE_MODE] = {"mailRateMode", &mode, "average",
                          "average: a token bucket; strict: no rolling hour or window on the "
                          "relay's clock exceeds its limit.",
                          .in_claims = true},
    [MQ_KEY_REDIRECT_TO] = {"mailRedirectTo", &redirect, "",
                            "Test mode: replaces every envelope recipient; @domain keeps the "
                            "local part.",
                            .in_claims = true},
    [MQ_KEY_REDIRECT_ALIAS] = {"mailRedirectToSchumbi", &yes_no, "0",
                               "If mailRedirectTo is unset, 1 means @schumbi.de.",
                               .in_claims = true, .alias = "@schumbi.de",
                               .alias_of = MQ_KEY_REDIRECT_TO},
    [MQ_KEY_REDIRECT_TYPES] =
        {"mailRedirectTypes", &types, MQ_TYPES_EVERY_BUT "organizer",
         "The mail types that the test mode redirects, or \"every type but\" a list of them.",
         .in_claims = true},
    [MQ_KEY_LIVE_FROM] = {"mailLiveFrom", &moment, "", "From this time on the test mode is off.",
                          .in_claims = true},
    [MQ_KEY_LIVE_UNTIL] = {"mailLiveUntil", &moment, "",
                           "From this time on the test mode is on again.", .in_claims = true},
    [MQ_KEY_WARMUP] = {"mailWarmup", &warmup, "",
                       "Limits that grow from day to day, for a new relay or sender.",
                       .why = why_not_warmup, .in_claims = true},
    [MQ_KEY_HOURS] = {"mailHours", &hours, "",
                      "When mail of which types may be sent; types that no rule names always may.",
                      .why = why_not_hours, .in_claims = true},
    [MQ_KEY_SLOWDOWN] = {"mailSlowdown", &percent, "25",
                         "Slows mail to a domain down if more than so many percent of its recent "
                         "recipients are deferred or refused; 0: never.",
                         .in_claims = true},
    [MQ_KEY_HISTORY_DAYS] = {"mailHistoryDays", &days, "0",
                             "For how many days the worker keeps a row for each attempt; 0: none.",
                             .in_claims = true},
    [MQ_KEY_STALE_AFTER] = {"mailStaleAfter", &number, "3600",
                            "After so many seconds without a worker while mail is due, enqueue() "
                            "writes a line into PHP's error log, once an hour; 0: never.",
                            .in_claims = false},
    [MQ_KEY_MAX_WORKERS] = {"mailMaxWorkers", &workers, "64",
                            "How many runs of the worker can go at a time, on all hosts together; "
                            "--workers of a run can only lower it.",
                            .in_claims = false},
    [MQ_KEY_TOKENS] = {"mailTokens", &amount, "full", "Tokens in the bucket at mailLastRefill.",
                       .computed = true, .internal = true, .in_claims = true},
    [MQ_KEY_LAST_REFILL] = {"mailLastRefill", &moment, "now", "When the bucket was last filled up.",
                            .computed = true, .internal = true, .in_claims = true},
    [MQ_KEY_RELAY_PAUSE] = {"mailRelayPause", &object, "",
                            "Relays in trouble: until when, how often, why.", .internal = true,
                            .in_claims = true},
    [MQ_KEY_RELAY_PIPELINING] = {"mailRelayPipelining", &object, "",
                                 "What each relay was found to accept: the next mail's commands "
                                 "after a dot, or only one mail's commands as a group.",
                                 .internal = true},
    [MQ_KEY_RELAY_ROUTES] = {"mailRelayRoutes", &object, "",
                             "Which relays the last run had, for mail of which job table.",
                             .internal = true},
    [MQ_KEY_SLOW_DOMAINS] = {"mailSlowDomains", &object, "",
                             "Domains whose recipients fail: how often, and how much mail to them "
                             "is slowed down.",
                             .internal = true, .in_claims = true},
    [MQ_KEY_HOURS_KEPT] = {"mailHoursKept", &object, "",
                           "By which mailHours and limits mail of which job table was put back.",
                           .internal = true, .in_claims = true},
    [MQ_KEY_LAST_RUN] = {"mailLastRun", &moment, "", "When a worker last ran.", .internal = true},
    [MQ_KEY_SUPPRESSED] = {"mailSuppressed", &number, "",
                           "The number of the newest suppression; 0: none was ever made.",
                           .internal = true, .in_claims = true},
    [MQ_KEY_SUPPRESSION_KEY] = {"mailSuppressionKey", &secret, "",
                                "The key by which suppressed addresses are found and links to "
                                "unsubscribe are signed.",
                                .internal = true, .in_claims = true},
    [MQ_KEY_CAMPAIGNS] = {"mailCampaigns", &number, "",
                          "1 while a campaign runs or is to start: claims feed it.",
                          .internal = true, .in_claims = true},
    [MQ_KEY_MOVED_TO] = {"mailQueueMovedTo", &object, "",
                         "Job tables whose mail is moved to another database, which alone sends "
                         "it.",
                         .internal = true, .in_claims = true},
    [MQ_KEY_MOVED_FROM] = {"mailQueueMovedFrom", &object, "",
                           "Job tables whose mail comes from another database; nothing is "
                           "sent until all of it has arrived.",
                           .internal = true, .in_claims = true},
    [MQ_KEY_SCHEMA_VERSION] = {"mailSchemaVersion", &version, "",
                               "The version of the queue's tables.", .internal = true},
    [MQ_KEY_ADOPTED] = {"mailQueueAdopted", &record, "",
                        "What `mailqueue adopt` did, for `mailqueue adopt --undo`.",
                        .internal = true},
};

const struct mq_config_key *mq_config_key(const char *name)
{
    for (size_t i = 0; i < MQ_KEY_COUNT; i++) {
        if (strcmp(mq_config_keys[i].name, name) == 0) {
            return &mq_config_keys[i];
        }
    }
    return NULL;
}
