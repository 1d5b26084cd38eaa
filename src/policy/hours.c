/* Parses sending hours, and decides by them. */
#include "policy/hours.h"

#include <stdlib.h>
#include <string.h>

#include "core/ascii.h"
#include "policy/types.h"

#define DAY_MINUTES 1440
#define EN_DASH     "\xe2\x80\x93"
#define RULES_MAX   100
#define SHOWN       40 /* octets of a word in an error's text */

/* One rule while it is parsed. */
struct reading {
    struct mq_hours_rule *rule;
    unsigned days; /* a bit for each day named since the last times */
    bool timed;    /* these days have times already */
    bool any;      /* the rule has days or times */
};

static const char *const day_names[][7] = {
    {"monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday"},
    {"montag", "dienstag", "mittwoch", "donnerstag", "freitag", "samstag", "sonntag"},
};

static enum mq_status fault(struct mq_error *err, struct mq_str word, const char *why)
{
    char shown[SHOWN + 1];
    mq_str_printable(shown, sizeof shown, 0, word);
    return mq_error_set(err, MQ_INVALID, NULL, "\"%s\" %s", shown, why);
}

/* ---- days ---- */

static int day_of(struct mq_str word)
{
    for (int i = 0; word.len >= 2 && i < 14; i++) {
        struct mq_str name = mq_str_of(day_names[i / 7][i % 7]);
        name.len = word.len < name.len ? word.len : name.len;
        if (mq_str_equal_nocase(name, word)) {
            return i % 7;
        }
    }
    return -1;
}

/* Reads "Mo" or "Mo-Fr", also over the end of the week, into a bit for each day; 0: neither. */
static unsigned days_of(struct mq_str word)
{
    struct mq_str rest = word;
    int first = day_of(mq_str_cut_at(&rest, '-'));
    int last = mq_str_find(word, '-') < word.len ? day_of(rest) : first;
    unsigned days = 0;
    if (first < 0 || last < 0) {
        return 0;
    }
    for (int day = first;; day = (day + 1) % 7) {
        days |= 1U << day;
        if (day == last) {
            return days;
        }
    }
}

/* ---- times ---- */

/* Takes "8:00", "08:00" or "24:00" off *text; -1: something else. */
static int take_clock(struct mq_str *text)
{
    int hour = 0;
    int minute = 0;
    size_t i = 0;
    while (i < text->len && i < 2 && mq_is_digit(text->data[i])) {
        hour = hour * 10 + (text->data[i++] - '0');
    }
    if (i == 0 || text->len < i + 3 || text->data[i] != ':' || !mq_is_digit(text->data[i + 1]) ||
        !mq_is_digit(text->data[i + 2])) {
        return -1;
    }
    minute = (text->data[i + 1] - '0') * 10 + (text->data[i + 2] - '0');
    *text = mq_str_skip(*text, i + 3);
    return minute < 60 && hour * 60 + minute <= DAY_MINUTES ? hour * 60 + minute : -1;
}

/* Reads "22:00-06:00" into minutes of the day; *to can be after the day's end. */
static bool times_of(struct mq_str word, int *from, int *to)
{
    *from = take_clock(&word);
    bool dash = word.len > 0 && *word.data == '-';
    word = mq_str_skip(word, dash);
    *to = take_clock(&word);
    if (*from < 0 || *from == DAY_MINUTES || *to < 0 || !dash || word.len > 0) {
        return false;
    }
    *to += *to <= *from ? DAY_MINUTES : 0;
    return true;
}

/* Opens these minutes of each day. False if they are open already. */
static bool open_minutes(struct mq_hours_rule *rule, unsigned days, int from, int to)
{
    for (int day = 0; day < 7; day++) {
        for (int i = from; days & 1U << day && i < to; i++) {
            int minute = (day * DAY_MINUTES + i) % MQ_WEEK_MINUTES;
            unsigned char bit = (unsigned char)(1U << minute % 8);
            if (rule->open[minute / 8] & bit) {
                return false;
            }
            rule->open[minute / 8] |= bit;
        }
    }
    return true;
}

/* ---- one rule ---- */

/* Days that got no times are open all day. */
static bool end_days(struct reading *reading)
{
    unsigned days = reading->timed ? 0 : reading->days;
    reading->days = 0;
    reading->timed = false;
    return open_minutes(reading->rule, days, 0, DAY_MINUTES);
}

static enum mq_status read_word(struct reading *reading, struct mq_str word, struct mq_error *err)
{
    const char *overlap = "opens what other hours of the rule open, too: name each hour once";
    int from = 0;
    int to = 0;
    unsigned days = days_of(word);
    if (days && reading->timed && !end_days(reading)) {
        return fault(err, word, overlap);
    }
    reading->any = true;
    if (days) {
        bool twice = reading->days & days;
        reading->days |= days;
        return twice ? fault(err, word, overlap) : MQ_OK;
    }
    if (!times_of(word, &from, &to)) {
        return fault(err, word,
                     "is neither days (Mo-Fr) nor a time (08:00-18:00), and only the last word of "
                     "a rule is its time zone (Europe/Berlin)");
    }
    if (!reading->days) {
        reading->days = 0x7f;
    }
    reading->timed = true;
    return open_minutes(reading->rule, reading->days, from, to) ? MQ_OK : fault(err, word, overlap);
}

static bool separates(char c)
{
    return mq_is_space(c) || c == ',';
}

static struct mq_str next_word(struct mq_str *text)
{
    while (text->len > 0 && separates(*text->data)) {
        *text = mq_str_skip(*text, 1);
    }
    size_t len = 0;
    while (len < text->len && !separates(text->data[len])) {
        len++;
    }
    return mq_str_cut(text, len);
}

static enum mq_status read_zone(struct mq_hours_rule *rule, struct mq_str word,
                                struct mq_error *err)
{
    int from = 0;
    int to = 0;
    if (!mq_zone_is_name(word) || days_of(word) || times_of(word, &from, &to)) {
        return fault(err, word,
                     "is not followed by a time zone: end the rule with one, such as "
                     "Europe/Berlin or UTC");
    }
    memcpy(rule->zone, word.data, word.len);
    return MQ_OK;
}

/* Reads days, times and the zone. */
static enum mq_status read_times(struct mq_hours_rule *rule, struct mq_str text,
                                 struct mq_error *err)
{
    struct reading reading = {.rule = rule};
    struct mq_str all = mq_str_trim(text);
    struct mq_str word = next_word(&text);
    for (struct mq_str next = next_word(&text); next.len > 0; next = next_word(&text)) {
        MQ_TRY(read_word(&reading, word, err));
        word = next;
    }
    MQ_TRY(read_zone(rule, word, err));
    if (!reading.any) {
        return fault(err, all, "has no days and no times");
    }
    return end_days(&reading) ? MQ_OK : fault(err, all, "opens the same hours twice");
}

/* Where the colon after the types is, or the text's length: a colon of a time is before a digit. */
static size_t types_end(struct mq_str text)
{
    size_t i = mq_str_find(text, ':');
    while (i + 1 < text.len && mq_is_digit(text.data[i + 1])) {
        i += 1 + mq_str_find(mq_str_skip(text, i + 1), ':');
    }
    return i;
}

static enum mq_status read_types(struct mq_hours_rule *rule, struct mq_str text,
                                 struct mq_error *err)
{
    rule->all_but = mq_str_equal(text, MQ_STR("*"));
    if (rule->all_but) {
        return MQ_OK;
    }
    if (!mq_types_parse(text, &rule->types, &rule->all_but) ||
        mq_strings_contains(&rule->types, "*")) {
        return fault(err, text, "is not a list of types: write a, b or *, or every type but a, b");
    }
    return MQ_OK;
}

static enum mq_status read_rule(struct mq_hours_rule *rule, struct mq_str text,
                                struct mq_error *err)
{
    struct mq_str types = {text.data, types_end(text)};
    rule->all_but = types.len == text.len;
    if (!rule->all_but) {
        MQ_TRY(read_types(rule, mq_str_trim(types), err));
        text = mq_str_skip(text, types.len + 1);
    }
    return read_times(rule, text, err);
}

/* ---- all rules ---- */

/* Copies the text with "-" for each dash, and without spaces around it. */
static void copy_plainly(struct mq_str text, struct mq_buffer *out)
{
    for (size_t i = 0; i < text.len && !out->failed; i++) {
        bool dash = mq_str_begins(mq_str_skip(text, i), EN_DASH);
        i += dash ? sizeof(EN_DASH) - 2 : 0;
        if (dash || text.data[i] == '-') {
            while (out->len > 0 && mq_is_space(out->data[out->len - 1])) {
                out->len--;
            }
            mq_buffer_char(out, '-');
        } else if (!mq_is_space(text.data[i]) || out->len == 0 || out->data[out->len - 1] != '-') {
            mq_buffer_char(out, text.data[i]);
        }
    }
}

/* A type may be in one rule only, so that the order of the rules does not count. */
static enum mq_status check_types(const struct mq_hours *hours, const struct mq_hours_rule *rule,
                                  struct mq_error *err)
{
    for (size_t i = 0; i < hours->count; i++) {
        const struct mq_hours_rule *other = &hours->rules[i];
        if (rule->all_but && other->all_but) {
            return fault(err, MQ_STR("*"), "has two rules: name the types of one of them");
        }
        for (size_t n = 0; !rule->all_but && !other->all_but && n < rule->types.count; n++) {
            if (mq_strings_contains(&other->types, rule->types.items[n])) {
                return fault(err, mq_str_of(rule->types.items[n]),
                             "is a type in two rules: write all its hours into one");
            }
        }
    }
    return MQ_OK;
}

static enum mq_status add_rule(struct mq_hours *hours, struct mq_str text, struct mq_error *err)
{
    if (hours->count == RULES_MAX) {
        return fault(err, text, "is one rule too many: 100 are allowed");
    }
    struct mq_hours_rule *rules = realloc(hours->rules, (hours->count + 1) * sizeof(*rules));
    if (!rules) {
        return mq_error_nomem(err);
    }
    hours->rules = rules;
    struct mq_hours_rule *rule = &rules[hours->count];
    *rule = (struct mq_hours_rule){0};
    enum mq_status status = read_rule(rule, text, err);
    status = status == MQ_OK ? check_types(hours, rule, err) : status;
    if (status == MQ_OK) {
        hours->count++;
    } else {
        mq_strings_clear(&rule->types);
    }
    return status;
}

static enum mq_status read_rules(struct mq_hours *hours, struct mq_str text, struct mq_error *err)
{
    text = mq_str_trim(text);
    do {
        MQ_TRY(add_rule(hours, mq_str_trim(mq_str_cut_at(&text, ';')), err));
        text = mq_str_trim(text);
    } while (text.len > 0);
    return MQ_OK;
}

enum mq_status mq_hours_parse(struct mq_str text, struct mq_hours *out, struct mq_error *err)
{
    struct mq_hours hours = {0};
    struct mq_buffer plain = {0};
    copy_plainly(text, &plain);
    enum mq_status status =
        plain.failed ? mq_error_nomem(err) : read_rules(&hours, mq_buffer_view(&plain), err);
    mq_buffer_clear(&plain);
    if (status == MQ_OK && out) {
        *out = hours;
    } else {
        mq_hours_clear(&hours);
    }
    return status;
}

void mq_hours_clear(struct mq_hours *hours)
{
    for (size_t i = 0; i < hours->count; i++) {
        mq_strings_clear(&hours->rules[i].types);
    }
    free(hours->rules);
    *hours = (struct mq_hours){0};
}

/* ---- decisions ---- */

int mq_hours_rule_of(const struct mq_hours *hours, const char *type)
{
    int all = -1;
    for (size_t i = 0; i < hours->count; i++) {
        const struct mq_hours_rule *rule = &hours->rules[i];
        bool named = mq_strings_contains(&rule->types, type);
        if (named && !rule->all_but) {
            return (int)i;
        }
        all = rule->all_but && !named ? (int)i : all;
    }
    return all;
}

/* Minutes of the week until the first that is open, from the local time on; -1: none is. */
static int minutes_to_open(const struct mq_hours_rule *rule, int64_t minute)
{
    for (int i = 0; i < MQ_WEEK_MINUTES; i++) {
        int64_t at = (minute + i) % MQ_WEEK_MINUTES;
        if (rule->open[at / 8] & 1U << at % 8) {
            return i;
        }
    }
    return -1;
}

/* Seconds since Monday 00:00 on the zone's clocks. 1970 began on a Thursday. */
static int64_t second_of_week(int64_t local_s)
{
    int64_t second = (local_s + 3 * (int64_t)MQ_DAY_S) % (7 * (int64_t)MQ_DAY_S);
    return second < 0 ? second + 7 * (int64_t)MQ_DAY_S : second;
}

/* Each stretch between two shifts is searched by itself: within it the clocks run evenly. */
int64_t mq_hours_next(const struct mq_hours_rule *rule, const struct mq_zone *zone, int64_t at_s)
{
    int64_t from_s = at_s;
    for (size_t i = mq_zone_at(zone, at_s); i < zone->count; i++) {
        int64_t end_s = i + 1 < zone->count ? zone->shifts[i + 1].from_s : zone->until_s;
        int64_t second = second_of_week(from_s + zone->shifts[i].east_s);
        int wait = minutes_to_open(rule, second / 60);
        int64_t open_s = wait <= 0 ? from_s : from_s - second % 60 + wait * (int64_t)60;
        if (wait >= 0 && open_s < end_s) {
            return open_s;
        }
        from_s = end_s > from_s ? end_s : from_s;
    }
    return from_s > at_s ? from_s : at_s;
}
