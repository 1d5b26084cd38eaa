/* The config keys: what there is, and what a value may be. */
#include "queue/config/keys.h"

#include <string.h>

#include "core/json.h"
#include "mime/address.h"
#include "policy/bucket.h"
#include "queue/enqueue.h"

#define NUMBER_MAX  1000000000LL
#define SECONDS_MAX 253402300799LL /* the last second of the year 9999 */

static const struct mq_config_key keys[] = {
    {"mailQueueEnabled", "bool", "0 | 1", "1",
     "0 stops claims: mail is still accepted into the queue, none is sent.", false},
    {"mailMaxPerHour", "int", "0 … 1000000000", "0",
     "Recipients that may be handed to the relay in an hour; 0 sets no limit.", false},
    {"mailBurst", "int", "1 … 1000000000", "max(min(N, 5), ceil(N / 60))",
     "Recipients that may be sent at once after a quiet time.", false},
    {"mailRateMode", "enum", "average | strict", "average",
     "average: a token bucket; strict: no rolling hour on the relay's clock exceeds the limit.",
     false},
    {"mailRedirectTo", "text", "address | @domain", "",
     "Test mode: replaces every envelope recipient; @domain keeps the local part.", false},
    {"mailRedirectToSchumbi", "bool", "0 | 1", "0",
     "1 counts as @schumbi.de where mailRedirectTo is unset.", false},
    {"mailRedirectTypes", "text", "types, separated by commas", "every type but organizer",
     "The mail types that the test mode redirects.", false},
    {"mailLiveFrom", "time", "UTC seconds | ISO 8601", "",
     "From this time on the test mode is off.", false},
    {"mailLiveUntil", "time", "UTC seconds | ISO 8601", "",
     "From this time on the test mode is on again.", false},
    {"mailTokens", "number", "0 … 1000000000", "full", "Tokens in the bucket at mailLastRefill.",
     true},
    {"mailLastRefill", "time", "UTC seconds | ISO 8601", "now",
     "When the bucket was last filled up.", true},
    {"mailRelayPause", "object", "JSON object", "",
     "Relays in trouble: until when, how often, why.", true},
    {"mailRelayPipelining", "object", "JSON object", "",
     "What relays were seen to take: the next mail's commands behind a dot, or a group of one "
     "mail's.",
     true},
    {"mailLastRun", "time", "UTC seconds | ISO 8601", "", "When the last worker run ended.", true},
    {"mailQueueMovedTo", "object", "JSON object", "",
     "Job tables whose mail is moved to another database, which alone sends it.", true},
    {"mailQueueMovedFrom", "object", "JSON object", "",
     "Job tables whose mail comes from another database; none is sent before all is there.", true},
    {"mailSchemaVersion", "int", "1 …", "", "The version of the queue's tables.", true},
};
#define KEY_COUNT (sizeof(keys) / sizeof(keys[0]))

const struct mq_config_key *mq_config_keys(size_t *count)
{
    *count = KEY_COUNT;
    return keys;
}

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

static bool parse_redirect(struct mq_str text)
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
bool mq_config_parse_types(struct mq_str text, struct mq_strings *out)
{
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

static bool object_ok(struct mq_str text)
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

static bool text_ok(const char *name, struct mq_str value)
{
    return strcmp(name, "mailRedirectTypes") == 0 ? mq_config_parse_types(value, NULL)
                                                  : parse_redirect(value);
}

bool mq_config_value_ok(const struct mq_config_key *key, struct mq_str value)
{
    int64_t i;
    bool b;
    switch (key->type[0]) {
    case 'b':
        return mq_config_parse_bool(value, &b);
    case 'e':
        return mq_str_equal(value, MQ_STR("average")) || mq_str_equal(value, MQ_STR("strict"));
    case 'i':
        return mq_config_parse_int(value, &i) && i <= NUMBER_MAX &&
               i >= (key->range[0] == '1' ? 1 : 0);
    case 'n':
        return mq_bucket_parse(value, &i) && i <= NUMBER_MAX * MQ_BUCKET_UNITS;
    case 'o':
        return object_ok(value);
    case 't':
        return key->type[1] == 'i' ? mq_config_parse_time(value, &i) && i <= SECONDS_MAX
                                   : text_ok(key->name, value);
    default:
        return false;
    }
}
