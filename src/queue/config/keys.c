/* The config keys: what there is, and what a value may be. */
#include "queue/config/keys.h"

#include <string.h>

#include "core/ascii.h"
#include "core/json.h"
#include "mime/address.h"
#include "policy/bucket.h"
#include "queue/enqueue.h"

#define NUMBER_MAX    1000000000
#define SECONDS_MAX   253402300799LL /* the last second of the year 9999 */
#define DIGITS(macro) TEXT_OF(macro)
#define TEXT_OF(text) #text
#define EVERY_BUT     "every type but "

bool mq_config_parse_bool(struct mq_str text, bool *value)
{
    static const char *const words[][2] = {
        {"0", "1"}, {"false", "true"}, {"no", "yes"}, {"off", "on"}};
    for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
        for (int b = 0; b < 2; b++) {
            if (mq_str_equal_nocase(text, mq_str_of(words[i][b]))) {
                *value = b;
                return true;
            }
        }
    }
    return false;
}

bool mq_config_parse_int(struct mq_str text, int64_t *value)
{
    int64_t sum = 0;
    text = mq_str_trim(text);
    if (text.len == 0 || text.len > 18) {
        return false;
    }
    for (size_t i = 0; i < text.len; i++) {
        if (text.data[i] < '0' || text.data[i] > '9') {
            return false;
        }
        sum = sum * 10 + (text.data[i] - '0');
    }
    *value = sum;
    return true;
}

/* ---- times: UTC seconds, or ISO 8601 ---- */

struct cursor {
    struct mq_str text;
    size_t at;
};

static bool eat(struct cursor *c, char wanted)
{
    if (c->at < c->text.len && c->text.data[c->at] == wanted) {
        c->at++;
        return true;
    }
    return false;
}

static bool digits(struct cursor *c, int count, int *value)
{
    *value = 0;
    for (int i = 0; i < count; i++) {
        if (c->at >= c->text.len || c->text.data[c->at] < '0' || c->text.data[c->at] > '9') {
            return false;
        }
        *value = *value * 10 + (c->text.data[c->at++] - '0');
    }
    return true;
}

static bool leap(int year)
{
    return (year % 4 == 0 && year % 100 != 0) || year % 400 == 0;
}

static bool date(struct cursor *c, int64_t *days)
{
    static const int before[13] = {0, 31, 59, 90, 120, 151, 181, 212, 243, 273, 304, 334, 365};
    int year;
    int month;
    int day;
    if (!digits(c, 4, &year) || !eat(c, '-') || !digits(c, 2, &month) || !eat(c, '-') ||
        !digits(c, 2, &day) || year < 1970 || month < 1 || month > 12 || day < 1) {
        return false;
    }
    int february = month == 2 && leap(year);
    if (day > before[month] - before[month - 1] + february) {
        return false;
    }
    int past = year - 1; /* whole years of the calendar before this one; 719162 days to 1970 */
    *days = past * 365LL + past / 4 - past / 100 + past / 400 - 719162 + before[month - 1] +
            (month > 2 && leap(year)) + day - 1;
    return true;
}

/* HH:MM[:SS]; seconds up to 59: UTC seconds know no leap second. */
static bool clock_time(struct cursor *c, int64_t *seconds)
{
    int hour;
    int minute;
    int second = 0;
    if (!digits(c, 2, &hour) || !eat(c, ':') || !digits(c, 2, &minute)) {
        return false;
    }
    if (eat(c, ':') && !digits(c, 2, &second)) {
        return false;
    }
    *seconds = hour * 3600LL + minute * 60 + second;
    return hour <= 23 && minute <= 59 && second <= 59;
}

/* Nothing, Z, +HH:MM, +HHMM or +HH. */
static bool offset(struct cursor *c, int64_t *seconds)
{
    int hour;
    int minute = 0;
    *seconds = 0;
    if (c->at == c->text.len || eat(c, 'Z')) {
        return true;
    }
    int sign = eat(c, '-') ? -1 : 1;
    if (sign > 0 && !eat(c, '+')) {
        return false;
    }
    if (!digits(c, 2, &hour)) {
        return false;
    }
    if (c->at < c->text.len) {
        eat(c, ':');
        if (!digits(c, 2, &minute)) {
            return false;
        }
    }
    *seconds = sign * (hour * 3600LL + minute * 60);
    return hour <= 23 && minute <= 59;
}

bool mq_config_parse_time(struct mq_str text, int64_t *at_s)
{
    struct cursor c = {mq_str_trim(text), 0};
    int64_t days;
    int64_t seconds = 0;
    int64_t east = 0;
    if (mq_config_parse_int(c.text, at_s)) {
        return true;
    }
    if (!date(&c, &days)) {
        return false;
    }
    if (c.at < c.text.len) {
        if ((!eat(&c, 'T') && !eat(&c, ' ')) || !clock_time(&c, &seconds) || !offset(&c, &east)) {
            return false;
        }
    }
    if (c.at != c.text.len) {
        return false;
    }
    *at_s = days * 86400 + seconds - east;
    return true;
}

/* ---- values ---- */

static bool is_redirect(struct mq_str text)
{
    char address[256] = "x";
    size_t skip = text.len > 0 && text.data[0] == '@'; /* a domain alone gets a local part */
    if (text.len == 0 || text.len + skip >= sizeof(address)) {
        return false;
    }
    memcpy(address + skip, text.data, text.len);
    bool utf8 = false;
    struct mq_error why;
    struct mq_str whole = {address, text.len + skip};
    return mq_address_check(whole, "mailRedirectTo", &utf8, &why) == MQ_OK;
}

static bool type_ok(struct mq_str type)
{
    if (type.len == 0 || type.len > MQ_TYPE_MAX || !mq_utf8_valid(type)) {
        return false;
    }
    for (size_t i = 0; i < type.len; i++) {
        unsigned char c = (unsigned char)type.data[i];
        if (c < 0x20 || c == 0x7f) {
            return false;
        }
    }
    return true;
}

/* Without memory false as well: the claim stops, and nothing goes to the wrong place. */
bool mq_config_parse_types(struct mq_str text, struct mq_strings *out, bool *but)
{
    *but = mq_str_begins(text, EVERY_BUT);
    if (*but) {
        text.data += sizeof(EVERY_BUT) - 1;
        text.len -= sizeof(EVERY_BUT) - 1;
    }
    while (text.data) {
        const char *comma = memchr(text.data, ',', text.len);
        size_t n = comma ? (size_t)(comma - text.data) : text.len;
        struct mq_str type = mq_str_trim((struct mq_str){text.data, n});
        if (!type_ok(type) || (out && !mq_strings_add(out, type))) {
            return false;
        }
        text = comma ? (struct mq_str){comma + 1, text.len - n - 1} : (struct mq_str){NULL, 0};
    }
    return true;
}

/* ---- kinds ---- */

static bool is_bool(struct mq_str value)
{
    bool b;
    return mq_config_parse_bool(value, &b);
}

static bool is_mode(struct mq_str value)
{
    return mq_str_equal(value, MQ_STR("average")) || mq_str_equal(value, MQ_STR("strict"));
}

static bool is_number(struct mq_str value)
{
    int64_t i;
    return mq_config_parse_int(value, &i) && i <= NUMBER_MAX;
}

static bool is_positive(struct mq_str value)
{
    int64_t i;
    return mq_config_parse_int(value, &i) && i >= 1 && i <= NUMBER_MAX;
}

static bool is_amount(struct mq_str value)
{
    int64_t units;
    return mq_bucket_parse(value, &units) && units <= (int64_t)NUMBER_MAX * MQ_BUCKET_UNITS;
}

static bool is_time(struct mq_str value)
{
    int64_t at_s;
    return mq_config_parse_time(value, &at_s) && at_s <= SECONDS_MAX;
}

static bool is_list_of_types(struct mq_str value)
{
    bool but;
    return mq_config_parse_types(value, NULL, &but);
}

static bool is_object(struct mq_str text)
{
    struct mq_strings names;
    struct mq_strings values;
    struct mq_error why;
    mq_strings_init(&names);
    mq_strings_init(&values);
    bool ok = mq_json_read_object(text, &names, &values, &why) == MQ_OK;
    mq_strings_clear(&names);
    mq_strings_clear(&values);
    return ok;
}

static const struct mq_config_kind yes_no = {"bool", "0 | 1", is_bool};
static const struct mq_config_kind mode = {"enum", "average | strict", is_mode};
static const struct mq_config_kind number = {"int", "0 … " DIGITS(NUMBER_MAX), is_number};
static const struct mq_config_kind positive = {"int", "1 … " DIGITS(NUMBER_MAX), is_positive};
static const struct mq_config_kind version = {"int", "1 …", is_positive};
static const struct mq_config_kind amount = {"number", "0 … " DIGITS(NUMBER_MAX), is_amount};
static const struct mq_config_kind moment = {"time", "UTC seconds | ISO 8601", is_time};
static const struct mq_config_kind redirect = {"text", "address | @domain", is_redirect};
static const struct mq_config_kind types = {"text", "types, separated by commas", is_list_of_types};
static const struct mq_config_kind object = {"object", "JSON object", is_object};

const struct mq_config_key mq_config_keys[MQ_KEY_COUNT] = {
    [MQ_KEY_ENABLED] = {"mailQueueEnabled", &yes_no, "1",
                        "0 stops claims: mail is still accepted into the queue, none is sent.",
                        .in_claims = true},
    [MQ_KEY_MAX_PER_HOUR] = {"mailMaxPerHour", &number, "0",
                             "Recipients that may be handed to the relay in an hour; 0 sets no "
                             "limit.",
                             .in_claims = true},
    [MQ_KEY_BURST] = {"mailBurst", &positive, "max(min(N, 5), ceil(N / 60))",
                      "Recipients that may be sent at once after a quiet time.", .in_claims = true},
    [MQ_KEY_RATE_MODE] = {"mailRateMode", &mode, "average",
                          "average: a token bucket; strict: no rolling hour on the relay's clock "
                          "exceeds the limit.",
                          .in_claims = true},
    [MQ_KEY_REDIRECT_TO] = {"mailRedirectTo", &redirect, "",
                            "Test mode: replaces every envelope recipient; @domain keeps the "
                            "local part.",
                            .in_claims = true},
    [MQ_KEY_REDIRECT_ALIAS] = {"mailRedirectToSchumbi", &yes_no, "0",
                               "1 counts as @schumbi.de where mailRedirectTo is unset.",
                               .in_claims = true, .alias = "@schumbi.de"},
    [MQ_KEY_REDIRECT_TYPES] =
        {"mailRedirectTypes", &types, EVERY_BUT "organizer",
         "The mail types that the test mode redirects, or \"every type but\" a list of them.",
         .in_claims = true},
    [MQ_KEY_LIVE_FROM] = {"mailLiveFrom", &moment, "", "From this time on the test mode is off.",
                          .in_claims = true},
    [MQ_KEY_LIVE_UNTIL] = {"mailLiveUntil", &moment, "",
                           "From this time on the test mode is on again.", .in_claims = true},
    [MQ_KEY_TOKENS] = {"mailTokens", &amount, "full", "Tokens in the bucket at mailLastRefill.",
                       .internal = true, .in_claims = true},
    [MQ_KEY_LAST_REFILL] = {"mailLastRefill", &moment, "now", "When the bucket was last filled up.",
                            .internal = true, .in_claims = true},
    [MQ_KEY_RELAY_PAUSE] = {"mailRelayPause", &object, "",
                            "Relays in trouble: until when, how often, why.", .internal = true,
                            .in_claims = true},
    [MQ_KEY_RELAY_PIPELINING] = {"mailRelayPipelining", &object, "",
                                 "What relays were seen to take: the next mail's commands behind "
                                 "a dot, or a group of one mail's.",
                                 .internal = true},
    [MQ_KEY_LAST_RUN] = {"mailLastRun", &moment, "", "When the last worker run ended.",
                         .internal = true},
    [MQ_KEY_MOVED_TO] = {"mailQueueMovedTo", &object, "",
                         "Job tables whose mail is moved to another database, which alone sends "
                         "it.",
                         .internal = true, .in_claims = true},
    [MQ_KEY_MOVED_FROM] = {"mailQueueMovedFrom", &object, "",
                           "Job tables whose mail comes from another database; none is sent "
                           "before all is there.",
                           .internal = true, .in_claims = true},
    [MQ_KEY_SCHEMA_VERSION] = {"mailSchemaVersion", &version, "",
                               "The version of the queue's tables.", .internal = true},
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
